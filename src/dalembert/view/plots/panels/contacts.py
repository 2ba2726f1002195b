"""What contacts do, as bands over time: slip, stick, open; of one-sided constraints without friction, closed and
open.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from dalembert.motion.result.jumps import BothSides
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import phrase
from dalembert.view.plots.panel import Band, Panel
from dalembert.view.plots.panels.choose import choose_names, nothing

# What a contact does after an event of its own, where no output lies between it and the next.
AFTER = {"stick": "stick", "slip": "slip", "reversal": "slip", "release": "open", "impact": "open"}


def contacts(along: Along, of: tuple[str, ...]) -> list[Panel]:
    states = _states(along)
    names = choose_names("contacts", of, list(states), "contact")
    if not names:
        return nothing("contacts", "this system has no contacts with friction, and no one-sided constraints")
    bands = tuple(band for row, name in enumerate(names) for band in _bands(along, row, name, states[name]))
    rows = tuple(map(phrase, names))
    return [Panel("", "contacts", along.names.time, "contact", bands=bands, rows=rows)]


def _states(along: Along) -> dict[str, np.ndarray]:
    """The state of each contact at the outputs."""
    motion = along.motion
    found = {name: history.state for name, history in motion.contacts.items()}
    if motion.acting is None:
        return found
    # A law of friction may have the name of its constraint; those that have none are shown by themselves.
    rubbing = {part for name in found for part in name.split(" + ")}
    for k, constraint in enumerate(motion.system.constraints):
        if constraint.one_sided and constraint.name not in rubbing:
            found[constraint.name] = np.where(motion.acting[:, k], "closed", "open")
    return found


def _bands(along: Along, row: int, name: str, states: np.ndarray) -> list[Band]:
    """Stretches of one state each."""
    found: list[Band] = []
    for start, end, state in _legs(along, name, states):
        if found and found[-1].state == state:
            found[-1] = Band(row, found[-1].start, end, state)
        elif end > start:
            found.append(Band(row, start, end, state))
    return found


def _legs(along: Along, name: str, states: np.ndarray) -> Iterator[tuple[float, float, str]]:
    """From jump to jump: the state that outputs there have, or that follows from the event before."""
    motion, points = along.motion, along.points
    assert isinstance(points, BothSides)  # of a motion with contacts
    edges = [float(motion.t[0]), *(jump.t for jump in points.jumps), float(motion.t[-1])]
    told = {event["t"]: event["name"] for event in motion.events if event.get("contact") == name}
    state = str(states[0])
    for leg, (start, end) in enumerate(pairwise(edges)):
        inside = points.source[(points.leg == leg) & (points.source >= 0)]
        if inside.size:
            state = str(states[inside[inside.size // 2]])
        else:
            state = AFTER.get(told.get(start, ""), state)
        yield start, end, state
