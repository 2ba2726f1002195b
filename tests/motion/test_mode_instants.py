"""The instant in a mode by elimination, against algebra that reveals the rank and shares no line with it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dalembert as da
from dalembert.library import get
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode
from dalembert.motion.contacts.modes.regular_instant import solve_regular


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
            found = solve_regular(evaluation, q, v, 0.3)
            right = evaluation.solve(q, v, 0.3)
            acting = int(np.any(right.A, axis=1).sum())
            # More rows than directions: elimination must not serve.
            assert (found is None) == (int(right.rank) < acting)
            if found is None:
                continue
            checked += 1
            # Rounding, times conditions up to 1e4 of rows a thousand times apart in units.
            size = np.abs(right.acceleration).max() + 1.0
            assert np.abs(found.acceleration - right.acceleration).max() <= 1e-11 * size
            force = np.abs(right.A.T * right.multipliers).max(initial=1.0)
            assert np.abs(right.A.T @ (found.multipliers - right.multipliers)).max(initial=0.0) <= 1e-11 * force
            assert (found.dependent == ~np.any(right.A, axis=1)).all()
            assert (found.multipliers[found.dependent] == 0.0).all()
            regular = np.linalg.solve(right.M, right.Q)
            assert np.abs(found.unconstrained - regular).max() <= 1e-11 * np.abs(regular).max(initial=1.0)
    assert checked > 0
