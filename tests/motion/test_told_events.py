"""Certificates see events of a system, and ranks, that a motion tells wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.certificate.certify import certify

EVENTS = {"low": "x", "half": "y + 0.5", "turn": da.Event("x'", direction="falling")}


def swing(**more) -> da.System:
    return da.System(
        "pendulum",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
        **{"constraints": {"rod": "x^2 + y^2 = 1"}, "events": EVENTS, **more},
    )


def bouncing() -> da.System:
    return da.System(
        "ball",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints=[da.Constraint("floor", "y >= 0", restitution=0.7)],
        initial={"x": 0, "y": 1, "x'": 1, "y'": 0},
        events={"top": "y'", "wall": "x - 1", "third": da.Event("y - 0.3", terminal=3)},
    )


def with_event(motion: da.Motion, number: int, **changed) -> da.Motion:
    events = list(motion.events)
    events[number] = {**events[number], **changed}
    return replace(motion, events=tuple(events))


@pytest.mark.parametrize("samples", [5, 61, 1001])
@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
@pytest.mark.parametrize("model", [swing, bouncing])
def test_events_told_right_are_certified(model, samples, rtol):
    """Those whose velocity jumps over zero in a blow among them: y′ of the ball."""
    motion = model().simulate(3, samples=samples, rtol=rtol)
    assert len(motion.events) > 5
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("samples", [5, 61, 1001])
def test_a_wrong_time_is_seen(samples):
    motion = swing().simulate(3, samples=samples)
    for number, event in enumerate(motion.events):
        wrong = with_event(motion, number, t=event["t"] + 0.01 * (-1) ** number)
        assert "repeat" in certify(wrong).failures, event


@pytest.mark.parametrize("samples", [5, 61])
@pytest.mark.parametrize("model", [swing, bouncing])
def test_a_state_at_which_nothing_is_passed_is_seen(model, samples):
    motion = model().simulate(3, samples=samples)
    for number, event in enumerate(motion.events):
        if event["name"] in {e.name for e in motion.system.events} and event["name"] != "top":
            state = {name: 1.001 * value for name, value in event["state"].items()}
            shifted = {**state, "x": state["x"] + 0.001, "y": state["y"] + 0.001}
            assert "repeat" in certify(with_event(motion, number, state=shifted)).failures, event


def test_a_function_that_jumps_over_zero_has_none_there():
    """An angle that jumps from π to −π is an event as one that passes zero; told a little later, it is none."""
    spring = da.System(
        "spring",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="(x^2 + y^2)/2",
        initial={"x": 1, "y": 0.1, "x'": 0, "y'": 1},
        events={"axis": "atan2(y, x)"},
    )
    motion = spring.simulate(7, samples=31)
    # y = 0.1 cos t + sin t vanishes where tan t = −0.1: x = cos t is negative there, then positive.
    assert [event["t"] for event in motion.events] == pytest.approx(np.array([1, 2]) * np.pi - np.arctan(0.1))
    assert motion.certificate.holds
    first = motion.events[0]["state"]
    wrong = with_event(motion, 0, state={**first, "y": first["y"] + 0.001})
    assert "repeat" in certify(wrong).failures


def test_an_end_told_wrong_is_seen():
    motion = bouncing().simulate(3, samples=61)
    assert motion.ended_by == "third"
    assert motion.certificate.holds
    for told in (None, "wall", "top"):
        assert "repeat" in certify(replace(motion, ended_by=told)).failures
    whole = swing().simulate(3, samples=61)
    assert "repeat" in certify(replace(whole, ended_by="low")).failures


@pytest.mark.parametrize("samples", [2, 61])
def test_a_rank_told_wrong_is_seen(samples):
    twice = swing(constraints={"rod": "x^2 + y^2 = 1", "again": "2*x^2 + 2*y^2 = 2"}, events={})
    for model in (swing(), twice, bouncing()):
        motion = model.simulate(1, samples=samples)
        assert motion.certificate.holds
        for k in range(0, motion.t.size, 7):
            for off in (-1, 1):
                rank = motion.rank.copy()
                rank[k] += off
                assert "acceleration" in certify(replace(motion, rank=rank)).failures, (model.name, k, off)


def test_ranks_of_a_motion_that_passes_a_singular_configuration():
    """A parallelogram through its flat position, with an output there: of rank two for one instant."""
    flat = da.System(
        "parallelogram",
        coordinates="x y u w",
        kinetic="(x'^2 + y'^2)/2 + (u'^2 + w'^2)/2",
        constraints={"crank": "x^2 + y^2 = 1", "other": "(u-1)^2 + w^2 = 1", "coupler": "(u-x)^2 + (w-y)^2 = 1"},
        initial={"x": 1, "y": 0, "u": 2, "w": 0, "x'": 0, "y'": 1, "u'": 0, "w'": 1},
    )
    motion = flat.simulate(1, samples=11)
    assert np.array_equal(motion.rank, [2] + [3] * 10)
    assert motion.certificate.failures == ()
    for k in range(11):
        rank = motion.rank.copy()
        rank[k] = 5 - rank[k]
        assert "acceleration" in certify(replace(motion, rank=rank)).failures, k
