"""Contacts at single states and along many: the mode of a state, and solutions all at once."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK
from dalembert.motion.contacts.run.mode_of_state import initial_mode, mode_of

G = 9.81


def incline(angle: float, mu: float, along: float = 0.0, level: str = "= 0") -> da.System:
    """A block on a plane that falls towards x."""
    c, s = np.cos(angle), np.sin(angle)
    return da.System(
        "incline",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints={"plane": f"x*sin(th) + y*cos(th) {level}"},
        nonideal=[da.Coulomb("plane", "mu")],
        parameters={"m": 2, "g": G, "mu": mu, "th": angle},
        initial={"x": 0, "y": 0, "x'": along * c, "y'": -along * s},
    )


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_block_at_rest_sticks_within_its_cone_only(mu: float) -> None:
    contacts = Contacts(incline(0.4, mu))
    here = mode_of(contacts, np.zeros(2), np.zeros(2), 0.0)
    holds = np.tan(0.4) <= mu
    assert here.mode.states == (STICK if holds else SLIP,)
    expected = 0.0 if holds else G * (np.sin(0.4) - mu * np.cos(0.4))
    # A closed form; a few operations of rounding.
    assert np.linalg.norm(here.solution.acceleration) == pytest.approx(expected, abs=1e-13)
    assert here.solution.normal == pytest.approx([2 * G * np.cos(0.4)], rel=1e-13)


def test_what_meets_has_its_impact_first() -> None:
    """Falling onto the plane without friction, e = 0: what is left of the velocity is its part along the plane."""
    system = incline(0.4, 0.0, level=">= 0")
    here = mode_of(Contacts(system), np.zeros(2), np.array([0.0, -1.0]), 0.0)
    assert here.mode.closed == (True,)
    assert here.v == pytest.approx(np.sin(0.4) * np.array([np.cos(0.4), -np.sin(0.4)]), rel=1e-13)


def test_what_was_asked_before_changes_nothing() -> None:
    """Another state, a thousand times as fast, and a mode of its own in between."""
    contacts = Contacts(incline(0.4, 0.5))
    slow = np.array([np.cos(0.4), -np.sin(0.4)]) * 1e-3
    first = mode_of(contacts, np.zeros(2), slow, 0.0)
    mode_of(contacts, np.zeros(2), 1e3 * slow, 1.0)
    again = mode_of(contacts, np.zeros(2), slow, 0.0)
    assert again.mode == first.mode
    assert (again.solution.acceleration == first.solution.acceleration).all()


def test_the_initial_mode_is_a_system_of_its_own() -> None:
    smooth = initial_mode(incline(0.4, 0.2, along=1.0))
    assert not smooth.contacts
    rate = smooth.at().acceleration
    assert rate @ [np.cos(0.4), -np.sin(0.4)] == pytest.approx(G * (np.sin(0.4) - 0.2 * np.cos(0.4)), rel=1e-12)


def test_points_in_modes_of_their_own_are_solved_as_one_by_one() -> None:
    """On a bowl, where the directions in the tangent plane turn: slipping and sticking points side by side."""
    system = da.System(
        "bowl",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="g*z",
        constraints={"bowl": "z - (x^2 + 2*y^2)/4"},
        nonideal=[da.Coulomb("bowl", "mu")],
        parameters={"g": G, "mu": 0.3},
        initial={"x": 0.1, "y": 0.1, "z": 0.0075, "x'": 0, "y'": 0, "z'": 0},
    )
    contacts, rng = Contacts(system), np.random.default_rng(1)
    places = rng.uniform(-0.3, 0.3, (6, 2))
    q = np.column_stack([places, (places[:, 0] ** 2 + 2 * places[:, 1] ** 2) / 4])
    flat = rng.uniform(-1, 1, (6, 2)) * np.array([0, 1, 0, 1, 1, 0])[:, None]
    v = np.column_stack([flat, flat[:, 0] * places[:, 0] / 2 + flat[:, 1] * places[:, 1]])
    t = np.zeros(6)
    modes = [mode_of(contacts, *state).mode for state in zip(q, v, t.tolist(), strict=True)]
    assert {state for mode in modes for state in mode.states} == {SLIP, STICK}
    found, rates = contacts.solve_along(modes, q, v, t), contacts.accelerations(modes, q, v, t)
    assert found is not None
    assert rates is not None
    assert found.served.all()
    for k, mode in enumerate(modes):
        one = contacts.solve(mode, q[k], v[k], 0.0)
        # The same equations: rounding of an elimination.
        assert rates[k] == pytest.approx(one.acceleration, abs=1e-12)
        assert found.friction[k] == pytest.approx(one.friction, abs=1e-12)
        assert found.normal[k] == pytest.approx(one.normal, rel=1e-12)
        assert found.C[k] == pytest.approx(one.C, abs=1e-12)


def test_redundant_points_are_not_served() -> None:
    """A constraint that stands twice, beside none: elimination must say where it does not serve."""
    system = incline(0.4, 0.2, along=1.0)
    twice = system.replace(
        constraints=[*system.constraints, da.Constraint("again", system.constraints[0].expression)],
    )
    contacts = Contacts(twice)
    q, v, t = twice.initial_values()
    mode = mode_of(contacts, q, v, t).mode
    rates = contacts.accelerations([mode, mode], np.stack([q, q]), np.stack([v, v]), np.array([t, t]))
    assert rates is not None
    assert np.isnan(rates).all()
    assert contacts.solve(mode, q, v, t).redundant


def test_systems_of_one_structure_have_modes_of_their_own() -> None:
    """Blocks on springs that slip: x″ = −k x/m − μ g, each with its own k and x."""

    def block(k: float, x: float) -> da.System:
        return da.System(
            "block", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="k*x^2/2 + 9.81*y",
            constraints={"floor": "y = 0"}, nonideal=[da.Coulomb("floor", 0.3)],
            parameters={"k": k}, initial={"x": x, "y": 0, "x'": 1, "y'": 0},
        )  # fmt: skip

    for k, x in ((3.0, 0.1), (500.0, 5.0)):
        found = initial_mode(block(k, x)).at().acceleration[0]
        assert found == pytest.approx(-k * x - 0.3 * 9.81, rel=1e-12)  # rounding
