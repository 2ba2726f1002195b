"""Events of large systems: located on the dense output, as in small ones."""

from __future__ import annotations

import numpy as np
import pytest
from large_systems import chain, rods

import dalembert as da
from dalembert.motion.large import size as module
from dalembert.motion.large.events import are_plain


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 4)


EVENTS = {"level": "y4 + 4.4", "still": da.Event("x4'", terminal=2), "late": "t - 0.05"}


def test_two_formulations_meet_the_same_events(monkeypatch: pytest.MonkeyPatch):
    """Of definitions and of coordinates; and the small way, which locates them in C."""
    found = [system.simulate(2, events=EVENTS, samples=9) for system in (chain(5), rods(5))]
    monkeypatch.setattr(module, "LARGE", 1000)
    found.append(rods(5).simulate(2, events=EVENTS, samples=9))
    names = [[event["name"] for event in motion.events] for motion in found]
    assert names[0] == names[1] == names[2]
    assert {"level", "still", "late"} == set(names[0])
    for motion in found:
        assert motion.certificate.holds, motion.certificate.text()
        assert motion.ended_by == "still"
        # rtol 1e-9 over motions whose errors grow some hundredfold.
        assert [e["t"] for e in motion.events] == pytest.approx([e["t"] for e in found[2].events], abs=1e-6)
    ours, theirs = (motion.events[0] for motion in found[1:])
    assert ours["direction"] == theirs["direction"]
    assert ours["state"] == pytest.approx(theirs["state"], abs=1e-6)
    assert found[1].t[-1] == found[1].events[-1]["t"]


def test_a_passage_has_its_closed_form():
    """A dozen oscillators, each by itself: the k-th passes zero at a quarter of its period."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(12)))
    stiffness = 1.0 + np.arange(12)
    system = da.System(
        "oscillators",
        coordinates=list(q),
        kinetic=sum(x.d**2 for x in q) / 2,
        potential=sum(k * x**2 for k, x in zip(stiffness, q, strict=True)) / 2,
        initial=dict.fromkeys(q, 0.1) | {x.d: 0 for x in q},
    )
    motion = system.simulate(1.6, events={"slow": q[0], "fast": da.Event(q[11], direction="rising")}, samples=5)
    at = {name: [event["t"] for event in motion.events if event["name"] == name] for name in ("slow", "fast")}
    assert at["slow"] == pytest.approx([np.pi / 2], abs=1e-7)  # rtol 1e-9
    assert at["fast"] == pytest.approx([1.5 * np.pi / np.sqrt(12)], abs=1e-7)


def test_events_with_kinks_take_the_small_way():
    bent, plain = ({"far": text} for text in ("abs(x0 - 1) - 0.5", "x0 - 0.5"))
    assert not are_plain(rods(5).replace(events=bent))
    assert are_plain(rods(5).replace(events=plain))
    times = [[e["t"] for e in rods(5).simulate(0.5, events=events, samples=3).events] for events in (bent, plain)]
    assert times[0] == pytest.approx(times[1], abs=1e-7)  # x0 stays below 1: one and the same passage
    assert len(times[0]) == 1
