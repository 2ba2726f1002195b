"""Poincaré sections: the states at which a motion passes an event, in a plane of two of their numbers."""

from __future__ import annotations

import numpy as np

from dalembert.errors import OutputError
from dalembert.model.language.suggest import suggest
from dalembert.model.units import unit_of
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import phrase, symbol, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import nothing

HOW = 'a section is asked for by an event and two numbers of the state: "section EVENT, x, x\'"'


def section(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """Of an event, "section EVENT, x, x'"; where it is not named, of the first of the system, and of the coordinate
    that changes most there.
    """
    events = [event for event in along.motion.events if "state" in event]
    known = list(dict.fromkeys([*(event.name for event in along.system.events), *(str(e["name"]) for e in events)]))
    if not known:
        return nothing("section", "this system has no events to cut the motion by")
    wanted = of[0] if of else known[0]
    if wanted not in known:
        raise OutputError(f"panel 'section': {wanted!r} is no event of this motion.{suggest(wanted, known)} {HOW}")
    passed = [event["state"] for event in events if event["name"] == wanted]
    title = f"section at {phrase(wanted)}"
    if not passed:
        return nothing(title, "the motion does not pass this event")
    across, up = _plane(along, of[1:], passed)
    x, y = (np.array([state[name] for state in passed]) for name in (across, up))
    label, other = (with_unit(symbol(name), unit_of(along.system, name)) for name in (across, up))
    count = f"{title}: {len(passed)} passage{'s' if len(passed) > 1 else ''}"
    return [Panel("", count, label, other, (Curve("", x, y, "points"),), over_time=False)]


def _plane(along: Along, given: tuple[str, ...], passed: list[dict[str, float]]) -> tuple[str, str]:
    """The two numbers of the state that are drawn."""
    known = [*along.coordinates, *(f"{name}'" for name in along.coordinates)]
    if not given:
        spread = {name: np.ptp([state[name] for state in passed]) for name in along.coordinates}
        first = max(spread, key=lambda name: float(spread[name]))
        return first, f"{first}'"
    for name in given:
        if name not in known:
            raise OutputError(f"panel 'section': {name!r} is no coordinate or velocity.{suggest(name, known)} {HOW}")
    if len(given) != 2:
        raise OutputError(f"panel 'section': {HOW}; got {len(given)} of the state")
    return given[0], given[1]
