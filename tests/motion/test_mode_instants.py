"""The instant in a mode by elimination, against algebra that reveals the rank and shares no line with it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dalembert as da
from dalembert.library import get
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode
from dalembert.motion.contacts.modes.regular_instant import solve_regular
from dalembert.motion.contacts.modes.small_instant import Instant, small_instant, solution_of
from dalembert.motion.state.project import relative_residual, size_of


def rod_with_feet() -> da.System:
    """Masses that do not stand alone, in units a thousand times apart; one-sided, with friction at both feet."""
    return da.System(
        "rod with feet",
        coordinates="x y th",
        kinetic="m*(x'^2 + y'^2)/2 + J*th'^2/2 + c*x'*th'",
        potential="m*g*y",
        constraints=[
            da.Constraint("left", "y - a*sin(th) >= 0"),
            da.Constraint("right", "1000*(y + a*sin(th)) >= 0"),
        ],
        nonideal=[
            da.Coulomb("left", "mu", point=("x - a*cos(th)", "y - a*sin(th)")),
            da.Coulomb("right", "mu", point=("x + a*cos(th)", "y + a*sin(th)")),
        ],
        parameters={"m": 2, "J": 1e-3, "c": 0.01, "g": 9.81, "a": 0.3, "mu": 0.2},
        initial={"x": 0, "y": 0, "th": 0, "x'": 1, "y'": 0, "th'": 0},
    )


SYSTEMS = (get("stick_slip"), get("bouncing_ball"), get("stacked_blocks"), rod_with_feet())


@pytest.mark.parametrize("system", SYSTEMS, ids=[system.name for system in SYSTEMS])
def test_elimination_agrees_with_the_null_space(system: da.System) -> None:
    contacts = Contacts(system)
    rng = np.random.default_rng(7)
    checked = 0
    for closed in product((True, False), repeat=len(contacts.one_sided)):
        for states in product((SLIP, STICK), repeat=len(contacts.contacts)):
            own = [
                OPEN if k is not None and not closed[k] else state
                for k, state in zip(contacts.carrier, states, strict=True)
            ]
            ones = (1,) * len(own)
            mode = Mode(tuple(own), ones, ones, closed)
            q, v = rng.normal(size=contacts.n), rng.normal(size=contacts.n)
            evaluation = contacts.evaluation(mode)
            right = evaluation.solve(q, v, 0.3)
            acting = int(np.any(right.A, axis=1).sum())
            small = small_instant(evaluation, contacts.graph, q, v, 0.3)
            roads = solve_regular(evaluation, q, v, 0.3), None if small is None else solution_of(small)
            # More rows than directions: elimination must not serve.
            assert [road is None for road in roads] == [int(right.rank) < acting] * 2
            if small is not None:
                checked += 1
                require_same_contacts(contacts, mode, small, q, v)
            for found in filter(None, roads):
                require_same_instant(found, right)
    assert checked > 0


def require_same_instant(found: Fundamental, right: Fundamental) -> None:
    # Rounding, times conditions up to 1e4 of rows a thousand times apart in units.
    size = np.abs(right.acceleration).max() + 1.0
    assert np.abs(found.acceleration - right.acceleration).max() <= 1e-11 * size
    force = np.abs(right.A.T * right.multipliers).max(initial=1.0)
    assert np.abs(right.A.T @ (found.multipliers - right.multipliers)).max(initial=0.0) <= 1e-11 * force
    assert (found.dependent == ~np.any(right.A, axis=1)).all()
    assert (found.multipliers[found.dependent] == 0.0).all()
    regular = np.linalg.solve(right.M, right.Q)
    assert np.abs(found.unconstrained - regular).max() <= 1e-11 * np.abs(regular).max(initial=1.0)


def require_same_contacts(contacts: Contacts, mode: Mode, small: Instant, q: np.ndarray, v: np.ndarray) -> None:
    """What comes with the instant of a small system is what its parts say, one by one."""
    own = small.multipliers[: contacts.m]
    for name, values in vars(contacts.at(q, v, 0.3, small.acceleration, own, mode.frames)).items():
        # Rounding of sums of numbers of size ten to a thousand.
        np.testing.assert_allclose(getattr(small.state, name), values, rtol=1e-12, atol=1e-10, err_msg=name)
    M, _, A, _ = contacts.whole.dynamics(q, v, 0.3)
    np.testing.assert_allclose(small.steep, np.linalg.norm(A, axis=1), rtol=1e-14)  # rounding
    alone = np.count_nonzero(M) == M.shape[0]
    assert small.masses_alone == alone
    F = contacts.forces(q, v, 0.3, mode.frames)
    assert small.is_apart == (alone and not ((small.A[: contacts.m] / M.diagonal()) @ F).any())
    evaluation, off = contacts.evaluation(mode), 0.0
    for (value, slope), size in (
        (evaluation.position(q, 0.3), size_of(q, v)),
        (evaluation.velocity(q, v, 0.3), size_of(v, q)),
    ):
        off = max(off, float(relative_residual(value, slope, size).max(initial=0.0)))
    assert small.off == pytest.approx(off, rel=1e-12)
