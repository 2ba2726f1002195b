"""`replace` with other numbers is quick, and gives what a system made anew would be."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

pendulum = da.library.pendulum()


def anew(system: da.System) -> da.System:
    return da.System(**system._arguments())


def test_values_are_those_of_a_system_made_anew():
    other = pendulum.replace(parameters={"m": 3, "g": np.float64(1.62)}, initial={"x'": 0.5})
    assert other.structure is pendulum.structure
    made = anew(other)
    assert made.structure == other.structure
    np.testing.assert_array_equal(other.parameter_values(), made.parameter_values())
    for one, two in zip(other.initial_values(), made.initial_values(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert dict(other.parameters) == dict(made.parameters)
    assert dict(other.initial) == dict(made.initial)
    before = dict(zip((p.name for p in pendulum.parameter_symbols), pendulum.parameter_values(), strict=True))
    assert before["m"] != 3  # the old one is as it was
    with pytest.raises(TypeError):
        other.parameters["m"] = 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, True, "one", 1j])
def test_what_is_no_finite_number_is_refused_as_before(value):
    with pytest.raises(da.ModelError):
        pendulum.replace(parameters={"m": value})


def test_unknown_names_are_refused():
    with pytest.raises(da.ModelError, match="neither a coordinate nor a velocity"):
        pendulum.replace(initial={"w": 1})
    with pytest.raises(da.ModelError, match=r"there is no parameter 'M'\. Did you mean 'm'\?"):
        pendulum.replace(parameters={"M": 1})
    with pytest.raises(da.ModelError, match="there is no parameter 'M'"):  # nor is it where contacts are looked at
        da.library.get("bouncing_ball").replace(parameters={"M": 1})
    with pytest.raises(da.ModelError, match="there is no parameter 'K'"):
        pendulum.at(parameters={"K": 1})


def test_parameters_that_come_with_a_change_are_known():
    assert pendulum.replace(potential="k*y", parameters={"k": 2}).parameters[da.parameters("k")[0]] == 2
    x, y = da.coordinates("x y")
    (r,) = da.parameters("r")
    assert pendulum.replace(initial={x: r, y: 0}, parameters={r: 1}).initial_values()[0].tolist() == [1.0, 0.0]


def test_initial_values_in_terms_of_parameters_follow_them():
    x, y = da.coordinates("x y")
    (l,) = da.parameters("l")
    system = pendulum.replace(initial={x: l, y: 0}, parameters={"l": 2})
    assert system.replace(parameters={"l": 5}).initial_values()[0].tolist() == [5.0, 0.0]
    system = pendulum.replace(initial={x: 3 * l / 5, y: -4 * l / 5})
    assert system.replace(parameters={"l": 5}).initial_values()[0] == pytest.approx([3.0, -4.0], rel=1e-15)
