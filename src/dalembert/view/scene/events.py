"""What happened along a motion, for flashes and marks on a time line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.motion.result.motion import Motion
from dalembert.view.scene.forces import Anchor
from dalembert.view.scene.frames import Frames
from dalembert.view.scene.values import Values

KINDS = {"impact": "impact", "contact": "impact", "stick": "stick", "slip": "slip", "reversal": "slip"}
MOST = 500  # a ball may bounce infinitely often: the first so many are marked


def events_of(motion: Motion, anchors: Sequence[Anchor]) -> list[dict[str, Any]]:
    """Each with its time, name, kind, and the place of the body that it is about, where that can be said."""
    given = [event for event in motion.events if "t" in event][:MOST]
    places = _places(motion, given, anchors)
    found = []
    for event, place in zip(given, places, strict=True):
        name = str(event["name"])
        label = f"{name}: {event['contact']}" if "contact" in event else name
        kind = KINDS.get(name, "event") if "contact" in event else "event"
        found.append({"time": float(event["t"]), "name": label, "position": place, "kind": kind})
    return found


def _places(motion: Motion, events: Sequence[Any], anchors: Sequence[Anchor]) -> list[list[float] | None]:
    names = [q.name for q in motion.system.coordinates]
    known = [k for k, event in enumerate(events) if "state" in event and all(name in event["state"] for name in names)]
    found: list[list[float] | None] = [None] * len(events)
    if not anchors or not known:
        return found
    system = motion.system.as_written
    states = [events[k]["state"] for k in known]
    q = np.array([[state[name] for name in names] for state in states])
    v = np.array([[state[f"{name}'"] for name in names] for state in states])
    t = np.array([float(events[k]["t"]) for k in known])
    none, empty = np.full_like(q, np.nan), np.full((len(known), len(system.constraints)), np.nan)
    frames = Frames(system, t, q, v, none, none, none, none, empty)
    values = Values(frames, [entry for anchor in anchors for entry in anchor.place])
    places = [values.rows(anchor.place) for anchor in anchors]
    for row, k in enumerate(known):
        place = places[_body(events[k], system, anchors)][row]
        found[k] = place.tolist() if np.all(np.isfinite(place)) else None
    return found


def _body(event: Any, system: Any, anchors: Sequence[Anchor]) -> int:
    """The first body whose coordinates stand in the constraint that an event is about; else the first of all."""
    about = str(event.get("contact", ""))
    for constraint in system.constraints:
        if constraint.name in about:
            for k, anchor in enumerate(anchors):
                if not constraint.expression.free_symbols.isdisjoint(anchor.of):
                    return k
    return 0
