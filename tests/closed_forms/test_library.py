"""The library as a whole: every system starts on its constraints, runs, and survives as a document."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.model.language.symbols import t as time

NAMES = da.library.names()


def constraint_residuals(system: da.System) -> list[float]:
    """φ, dφ/dt and ψ at the initial state, straight from the expressions; of one-sided constraints how far φ, or dφ/dt
    where it touches, is negative.
    """
    q, v, start = system.initial_values()
    state = dict(zip(system.coordinates, q, strict=True)) | dict(zip(system.velocities, v, strict=True))
    state |= dict(zip(system.parameter_symbols, system.parameter_values(), strict=True)) | {time: start}
    found = []
    for constraint in system.constraints:
        if constraint.level == "acceleration":
            continue
        expressions = [constraint.expression]
        if constraint.level == "position":
            rate = sum(constraint.expression.diff(x) * x.d for x in system.coordinates)
            clock = sp.Symbol("clock")  # by t itself SymPy's derivative would take coordinates for constants
            expressions.append(rate + constraint.expression.subs(time, clock).diff(clock).subs(clock, time))
        values = [float(expression.subs(state)) for expression in expressions]
        if constraint.one_sided:
            values = [min(values[0], 0.0)] if values[0] > 0 else [min(value, 0.0) for value in values]
        found += values
    return found


@pytest.mark.parametrize("name", NAMES)
def test_initial_state_satisfies_the_constraints(name: str) -> None:
    # 1e-13: rounding in initial values of size up to 40 and their squares
    assert np.abs(constraint_residuals(da.library.get(name))).max(initial=0.0) < 1e-13


@pytest.mark.parametrize("name", NAMES)
def test_runs_as_it_stands_and_is_certified(name: str) -> None:
    system = da.library.get(name)
    motion = system.simulate()
    assert len(motion.t) == system.settings["samples"]
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("name", NAMES)
def test_is_described(name: str) -> None:
    assert da.library.example(name).summary
    assert da.library.get(name).description.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_has_a_closed_form_of_its_motion_or_of_its_forces(name: str) -> None:
    assert da.library.exact(name) or da.library.forces(name)


@pytest.mark.parametrize("name", NAMES)
def test_survives_being_written_as_a_document(name: str) -> None:
    system = da.library.get(name)
    again = da.loads(da.dumps(system))
    assert [c.expression for c in again.constraints] == [c.expression for c in system.constraints]
    for mine, other in zip(system.initial_values(), again.initial_values(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-15, atol=0)


def test_is_found_by_name_and_as_a_function() -> None:
    assert da.library.get("spherical-pendulum").name == da.library.spherical_pendulum().name
    assert float(da.library.get("pendulum", l=2.0).parameters[da.parameters("l")[0]]) == 2.0


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(da.ModelError, match="Did you mean 'pendulum'"):
        da.library.get("pendulun")


@pytest.mark.parametrize("name", [name for name in NAMES if da.library.exact(name)])
def test_closed_form_starts_at_the_initial_state(name: str) -> None:
    system = da.library.get(name)
    q, v, start = system.initial_values()
    found = da.library.exact(name)(system, np.array([start]))
    for coordinate, position, velocity in zip(system.coordinates, q, v, strict=True):
        # 1e-12: in some closed forms the roots of a cubic and elliptic integrals stand between
        assert found[coordinate.name][0] == pytest.approx(position, abs=1e-12)
        assert found[coordinate.d.name][0] == pytest.approx(velocity, abs=1e-12)
