"""Motions that have come to their end: what is held in every direction, and depends on no time, stays where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.contacts.run import legs

MU, G, V = 0.5, 9.81, 2.0
STOPS = V / (MU * G)


def thrown(**given: Any) -> da.System:
    """A block thrown along the ground, which stops at STOPS."""
    return da.System(
        "thrown block",
        **{
            "coordinates": "x y",
            "kinetic": "(x'^2 + y'^2)/2",
            "potential": "g*y",
            "constraints": {"ground": "y = 0"},
            "nonideal": [da.Coulomb("ground", "mu", point=("x", "y"))],
            "parameters": {"g": G, "mu": MU},
            "initial": {"x": 0, "y": 0, "x'": V, "y'": 0},
        }
        | given,
    )


@pytest.fixture
def stood(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When motions were seen to stand for ever."""
    seen: list[float] = []

    def standing(before: Any, times: np.ndarray, *rest: Any) -> Any:
        seen.append(float(times[0]))
        return made(before, times, *rest)

    made = legs.standing
    monkeypatch.setattr(legs, "standing", standing)
    return seen


def test_a_block_that_has_stopped_stays(stood: list[float]) -> None:
    motion = thrown().simulate(1.0, samples=101)
    assert stood == pytest.approx([STOPS], abs=1e-9)  # as exactly as events are located
    late = motion.t > STOPS
    assert late.any()
    np.testing.assert_allclose(motion["x"][late], V**2 / (2 * MU * G), atol=1e-9)  # the tolerance of the motion
    assert not motion.v[late].any()
    assert (motion.contacts["ground"].state[late] == "stick").all()
    np.testing.assert_allclose(motion.contacts["ground"].normal[late], G, rtol=1e-9)
    assert motion.work[-1, 2] == pytest.approx(-(V**2) / 2, abs=1e-9)
    assert motion.certificate.holds


def test_forces_that_grow_set_it_off_again(stood: list[float]) -> None:
    motion = thrown(forces={"x": "k*t"}, parameters={"g": G, "mu": MU, "k": 4.0}).simulate(2.0, samples=101)
    assert not stood
    slips = [event["t"] for event in motion.events if event["name"] == "slip"]
    assert slips == pytest.approx([MU * G / 4.0], abs=1e-9)
    assert motion.certificate.holds


def test_energy_that_changes_by_itself_is_counted(stood: list[float]) -> None:
    """A potential that only rises makes no force; its power is work all the same."""
    motion = thrown(potential="g*y + c*t", parameters={"g": G, "mu": MU, "c": 3.0}).simulate(1.0, samples=11)
    assert not stood
    assert motion.work[-1, 0] == pytest.approx(3.0, abs=1e-9)
    assert motion.certificate.holds


def test_events_of_the_user_are_still_found(stood: list[float]) -> None:
    motion = thrown().simulate(1.0, samples=11, events={"late": "t - 0.9"})
    assert not stood
    assert [event["t"] for event in motion.events if event["name"] == "late"] == pytest.approx([0.9])


def test_ground_that_moves_carries_it_on(stood: list[float]) -> None:
    nonideal = [da.Coulomb("ground", "mu", point=("x - 0.3*t", "y"))]
    motion = thrown(nonideal=nonideal).simulate(1.0, samples=11)
    assert not stood
    np.testing.assert_allclose(motion["x'"][-1], 0.3, rtol=1e-9)


def test_a_stop_in_a_plane_is_as_right_as_asked_for() -> None:
    """At coarse tolerances a slip ends where its velocity has no meaning: the place is right to the tolerance, and
    the steps that only followed the speed to zero are not taken.
    """
    system = da.System(
        "particle on a slope",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="g*z",
        constraints={"slope": "z - s*x = 0"},
        nonideal=[da.Coulomb("slope", "mu", point=("x", "y", "z"))],
        parameters={"g": G, "s": 0.2, "mu": MU},
        initial={"x": 0, "y": 0, "z": 0, "x'": 0, "y'": 1, "z'": 0},
    )
    coarse, fine = (system.simulate(1.0, samples=3, rtol=rtol) for rtol in (1e-4, 1e-10))
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=1e-5)  # a tenth of what was asked for
    assert [event["name"] for event in coarse.events] == [event["name"] for event in fine.events] == ["stick"]
    assert coarse.events[0]["t"] == pytest.approx(fine.events[0]["t"], abs=1e-5)
    assert coarse.certificate.holds
