"""Bounces that rise by rounding are left out: by that of their own gap, whatever else is large beside it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, Mode
from dalembert.motion.contacts.run.legs import RISING, _Run
from dalembert.motion.contacts.run.transitions import Transitions

G, E, MU = 9.81, 0.6, 0.1


def ball(length: float, **initial: float) -> da.System:
    """It falls from nine radii, whose unit is a tenth of the length, and spins."""
    return da.System(
        "ball",
        coordinates="x y a",
        kinetic="(x'^2 + y'^2)/2 + r^2*a'^2/5",
        potential="g*y",
        constraints=[da.Constraint("floor", "y - r", one_sided=True, restitution=E)],
        nonideal=[da.Coulomb("floor", MU, slide=("x' + r*a'",))],
        parameters={"g": G * length, "r": 0.1 * length},
        initial={"x": 0, "y": length, "a": 0, "x'": length, "y'": 0, "a'": 3} | initial,
    )


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(("length", "place"), [(1.0, {"x": 1e6}), (1.0, {"a": 1e6}), (1e-3, {"a": 1e4})])
def test_what_no_gap_depends_on_ends_no_bounces(length: float, place: dict[str, float], backend: str) -> None:
    """Far along the floor, or turned often, it bounces until its speed is 1e-5 of the first, after √(2 h/g) (1 + e)/(1
    − e): it lay still from a hundredth of that on, and its certificate failed. rtol 1e-9 of places 1e6 away.
    """
    motion = ball(length, **place).simulate(2.5, samples=26, backend=backend)
    falls = np.sqrt(2 * 0.9 / G)
    assert motion.events[-1]["name"] == "contact"
    assert motion.events[-1]["t"] == pytest.approx(falls * (1 + E) / (1 - E), rel=2e-5)
    # It slips at the first bounces, and grips at one of them.
    speed, rim, down = 1.0, 0.3, G * falls
    while down > 1e-12:
        push = min(MU * (1 + E) * down, 2 / 7 * (speed + rim))
        speed, rim, down = speed - push, rim - 2.5 * push, E * down
    assert motion["x'"][-1] / length == pytest.approx(speed, rel=1e-8)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_a_slope_far_from_the_origin(far: float, backend: str) -> None:
    """Its gap is a difference of large numbers: bounces of a hundredth of the first rise by no more than its rounding
    may be, are left out, and the certificate knows. Where it stops is a closed form, without the last bounces too.
    """
    slope, e, mu = 0.3, 0.5, 0.4
    motion = da.System(
        "particle on a slope",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints=[da.Constraint("slope", "y*cos(s) - x*sin(s)", one_sided=True, restitution=e)],
        nonideal=[da.Coulomb("slope", mu)],
        parameters={"s": slope},
        initial={"x": far, "y": far * np.tan(slope) + 0.5, "x'": 1.0, "y'": 0.0},
    ).simulate(3.0, samples=31, backend=backend)
    down, along = G * np.cos(slope), G * np.sin(slope)
    lifts, place, speed = -np.sin(slope), 0.5 * np.sin(slope), np.cos(slope)  # from its own place on the slope
    height = 0.5 * np.cos(slope)
    falls = (lifts + np.sqrt(lifts**2 + 2 * down * height)) / down
    place, speed = place + speed * falls - along * falls**2 / 2, speed - along * falls
    push = down * falls - lifts
    while push > 1e-12:
        speed, push = speed - np.sign(speed) * min(abs(speed), mu * (1 + e) * push), e * push
        falls = 2 * push / down
        place, speed = place + speed * falls - along * falls**2 / 2, speed - along * falls
    place += np.sign(speed) * speed**2 / (2 * (mu * down + np.sign(speed) * along))
    assert (motion["x"][-1] - far) / np.cos(slope) == pytest.approx(place, abs=1e-8)
    assert motion.certificate.holds, motion.certificate


def test_what_stops_just_above_a_floor_has_not_bounced():
    """A body that friction stops at the top of a tiny bounce moves up by rounding alone. Taken for a bounce, it had
    steps as short as it would be, 1e-16, and the motion ended there.
    """
    contacts = Contacts(ball(1.0))
    between, q = Transitions(contacts), np.array([0.0, 0.1, 0.0])
    between.start(q, np.array([0.0, -3.0, 0.0]), 0.0, 1.0)
    flying = Mode((OPEN,), (1,), (1,), (False,), contacts.frames_at(q, q, 0.0))
    run = SimpleNamespace(contacts=contacts, between=between)
    up = np.array([0.0, 1.8, 0.0])
    assert _Run._rising(run, flying, 0.0, q, up) == pytest.approx(RISING * 1.8 / G, rel=1e-12)
    assert _Run._rising(run, flying, 0.0, q + 1e-10 * up, 1e-16 * up) == 0.0
