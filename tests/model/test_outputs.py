"""Named outputs of a system: read, refused, written into documents."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.result.energies import energy_names

x, y = da.coordinates("x y")
m, g, l = da.parameters("m g l")


def pendulum(**outputs) -> da.System:
    return da.System(
        "pendulum", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"rod": x**2 + y**2 - l**2}, parameters={m: 2, g: 9.81, l: 0.5},
        initial={x: 0.3, y: -0.4, x.d: 0.8, y.d: 0.6}, outputs=outputs,
    )  # fmt: skip


def test_a_motion_has_them_as_columns():
    """The tension of the rod by its components, by its multiplier and by Newton: m(v²/l − g y/l)."""
    system = pendulum(
        pull="sqrt(ideal(x)^2 + ideal(y)^2)",
        again=-2 * l * da.multiplier("rod"),
        hand="m*(x'^2 + y'^2 - g*y)/l",
        radial=(x * x.dd + y * y.dd) / l,
        time=da.t,
        one=1,
    )
    motion = system.simulate(1.0, samples=11)
    np.testing.assert_allclose(motion["pull"], motion["hand"], rtol=1e-12)
    np.testing.assert_allclose(motion["again"], motion["hand"], rtol=1e-12)
    # the constraint twice differentiated: r·a = −v²
    np.testing.assert_allclose(motion["radial"], -(motion.v**2).sum(axis=1) / 0.5, rtol=1e-12)
    np.testing.assert_array_equal(motion["time"], motion.t)
    np.testing.assert_array_equal(motion["one"], np.ones(11))
    assert system.at().outputs["hand"] == pytest.approx(2 * (1.0 + 9.81 * 0.4) / 0.5, rel=1e-14)
    assert system.at().outputs["pull"] == pytest.approx(system.at().outputs["hand"], rel=1e-14)


def test_they_do_not_change_the_motion():
    plain, named = pendulum().simulate(1.0), pendulum(height="abs(y)", angle="atan2(x, -y)").simulate(1.0)
    np.testing.assert_array_equal(plain.q, named.q)


def test_a_document_keeps_them(tmp_path):
    system = pendulum(pull="sqrt(ideal(x)^2 + ideal(y)^2)", rod=da.multiplier("rod"))
    again = da.loads(da.dumps(system))
    assert dict(again.outputs) == dict(system.outputs)
    motion = system.simulate(0.5, samples=5)
    motion.save(tmp_path / "motion.nc")
    np.testing.assert_array_equal(da.Motion.load(tmp_path / "motion.nc")["pull"], motion["pull"])
    np.testing.assert_array_equal(motion.to_xarray()["outputs"].sel(output="pull"), motion["pull"])
    motion.save(tmp_path / "motion.csv")
    assert (tmp_path / "motion.csv").read_text().splitlines()[0].endswith(",pull,rod")


def test_a_value_that_does_not_exist_is_nan_or_infinite():
    motion = pendulum(none="sqrt(y - l)", far="1/t^2").simulate(0.5, samples=3)
    assert np.all(np.isnan(motion["none"]))
    assert np.isinf(motion["far"][0])


@pytest.mark.parametrize(
    ("name", "expression", "message"),
    [
        ("x", "y", "a motion has a column of this name by itself"),
        ("x''", "y", "a motion has a column of this name by itself"),
        ("ideal x", "y", "a motion has a column of this name by itself"),
        ("energy", "y", "a motion has a column of this name by itself"),
        ("p_x", "y", "a motion has a column of this name by itself"),
        ("L", "y", "a motion has a column of this name by itself"),
        ("", "y", "one line of printable text"),
        ("n", None, "no expression given"),
        ("n", "zz", "unknown name 'zz'"),
        ("n", "actual(x)", "may use ideal"),
        ("n", "multiplier(rope)", "'rope' is not a constraint"),
        ("n", "ideal(q)", "'q' is not a coordinate"),
    ],
)
def test_faults(name, expression, message):
    with pytest.raises(da.ModelError, match=message):
        pendulum(**{name: expression})
    with pytest.raises(da.ModelError, match="a mapping from names"):
        pendulum().replace(outputs=["y"])


def test_an_output_that_names_another_is_told_of_definitions():
    with pytest.raises(da.ModelError, match=r"output 'b': unknown name 'a'.* write it under definitions"):
        pendulum(a="2*x", b="a + 1")


def test_no_output_hides_what_a_motion_has_by_itself():
    """Every name that a motion knows is refused: columns, and the energies and momenta that it computes when asked."""
    motion = pendulum().simulate(0.1, samples=3)
    for name in [*motion.columns(), *energy_names(motion.system)]:
        with pytest.raises(da.ModelError, match="a motion has a column of this name by itself"):
            pendulum(**{name: "y"})


@pytest.mark.parametrize("name", ["knife edge", "left-hand wheel", "2nd rod", "rod"])
def test_multipliers_of_constraints_with_names_of_several_words(name):
    """As texts, in Python and in documents; the value is that of the multiplier column."""
    system = pendulum().replace(constraints={name: x**2 + y**2 - l**2}, outputs={"pull": f"-2*l*multiplier({name})"})
    assert system.outputs["pull"] == -2 * l * da.multiplier(name)
    again = da.loads(da.dumps(system))
    assert again.outputs == system.outputs
    now = again.at()
    assert now.outputs["pull"] == pytest.approx(-2 * 0.5 * now.multipliers[0], rel=1e-14)


def test_a_name_that_cannot_be_spoken_is_told():
    system = pendulum().replace(constraints={"rod (left)": x**2 + y**2 - l**2})
    with pytest.raises(da.ModelError, match="in words of letters and digits"):
        system.replace(outputs={"pull": "multiplier(rod (left))"})
    with pytest.raises(da.ModelError, match=r"'rod' is not a constraint\. Known here: rod \(left\)"):
        system.replace(outputs={"pull": "multiplier(rod)"})
    with pytest.raises(da.ModelError, match="in words of letters and digits, not 'rod \\(left\\)'"):
        da.dumps(system.replace(outputs={"pull": da.multiplier("rod (left)")}))


def test_an_output_with_the_name_of_a_definition_is_that_definition():
    """`motion["reach"]` would be the one and `motion.evaluate("reach")` the other."""
    system = pendulum().replace(definitions={"reach": "x + y"})
    assert set(system.replace(outputs={"reach": "reach", "reach'": "reach'"}).outputs) == {"reach", "reach'"}
    for name in ("reach", "reach'", "reach''"):
        with pytest.raises(da.ModelError, match=f"output .*{name}.*: {name} is a definition or its rate"):
            system.replace(outputs={name: "2*x"})
