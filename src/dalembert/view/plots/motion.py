"""One picture of a motion: its panels by name, and what draws them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from dalembert.errors import OutputError
from dalembert.model.language.suggest import suggest
from dalembert.motion.result.jumps import BothSides
from dalembert.motion.result.motion import Motion
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import names_of, phrase
from dalembert.view.plots.panel import Mark, Panel
from dalembert.view.plots.panels.certificate import certificate
from dalembert.view.plots.panels.contacts import contacts
from dalembert.view.plots.panels.free import deviation, extent
from dalembert.view.plots.panels.over_time import coordinates, energy, forces, multipliers, outputs, velocities
from dalembert.view.plots.panels.paths import paths
from dalembert.view.plots.panels.phase import phase
from dalembert.view.plots.panels.section import section

#: Each makes panels of a motion: of all that it concerns, or of what is named after its own name ("forces x").
Maker = Callable[[Along, tuple[str, ...]], list[Panel]]
PANELS: Mapping[str, Maker] = MappingProxyType(
    {
        "paths": paths,
        "coordinates": coordinates,
        "velocities": velocities,
        "phase": phase,
        "forces": forces,
        "multipliers": multipliers,
        "energy": energy,
        "contacts": contacts,
        "outputs": outputs,
        "certificate": certificate,
        "section": section,
        "extent": extent,
        "deviation": deviation,
    }
)
STANDARD = ("paths", "coordinates", "forces", "energy", "contacts")


def plot(
    motion: Motion,
    path: str | os.PathLike[str] | None = None,
    *,
    panels: str | Sequence[str] | None = None,
    axes: Any = None,
    style: str = "light",
    interactive: bool = False,
    free: bool = False,
    outputs: bool = False,
) -> Any:
    """Draw a motion; `Motion.plot` says what may be asked for."""
    if interactive and axes is not None:
        raise OutputError("an interactive picture makes its own axes: leave axes out, or interactive")
    shown = make_panels(motion, panels)
    more = [*(("extent", "deviation") if free else ()), *(("outputs",) if outputs else ())]
    shown += make_panels(motion, more) if more else []
    verdict = "certificate holds" if motion.certificate.holds else "certificate DOES NOT HOLD"
    title = f"{motion.system.name}   ·   {verdict}"
    if interactive:
        from dalembert.view.plots.interactive import interactive_figure, write_page

        return write_page(interactive_figure(shown, style, title), path)
    from dalembert.view.figures import finish
    from dalembert.view.plots.figure import draw_panels  # Matplotlib is not asked for panels alone

    return finish(draw_panels(shown, axes, style, title), path)


def make_panels(motion: Motion, names: str | Sequence[str] | None = None) -> list[Panel]:
    """The panels of these names, in their order; `panel.panels_of` says the rest."""
    along = _along(motion)
    if names is None:
        # Most motions have no contacts, and many no path.
        wanted = [name for name in STANDARD if name != "contacts" or motion.acting is not None]
        found = {name: [panel for panel in PANELS[name](along, ()) if not panel.text] for name in wanted}
        if not found["paths"]:
            wanted[0], found["phase"] = "phase", [panel for panel in phase(along, ()) if not panel.text]
        made = [(name, panel) for name in wanted for panel in found[name]]
    else:
        asked = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
        made = [panel for name in asked for panel in _panels_called(along, name)]
    return [panel if panel.text else _linked(panel, along) for panel in (replace(p, name=name) for name, p in made)]


def _linked(panel: Panel, along: Along) -> Panel:
    """A panel over time with the marks of events; another one with the times of the points of its curves."""
    if panel.over_time:
        return replace(panel, marks=along.marks)
    times = {each.size: each for each in (along.motion.t, along.points.t)}  # at outputs, or with both sides of jumps
    timed = (replace(c, t=times.get(c.x.size)) if c.role == "line" else c for c in panel.curves)
    return replace(panel, curves=tuple(timed))


def _along(motion: Motion) -> Along:
    """What panels see of a motion."""
    system = motion.system
    marks = tuple(
        Mark(float(event["t"]), phrase(f"{event['name']}: {event['contact']}"), str(event["name"]))
        if "contact" in event
        else Mark(float(event["t"]), phrase(str(event["name"])), "event")
        for event in motion.events
    )
    points = motion if motion.acting is None else BothSides(motion)
    coordinates = tuple(coordinate.name for coordinate in system.coordinates)
    constraints = tuple(constraint.name for constraint in system.constraints)
    return Along(motion, system, points, coordinates, constraints, names_of(system), marks)


def _panels_called(along: Along, asked: str) -> list[tuple[str, Panel]]:
    """What is asked for by one name, with the name of its panels."""
    if not isinstance(asked, str):
        raise OutputError(f"a panel is asked for by its name, got {asked!r}. There are: {', '.join(PANELS)}")
    name, _, rest = asked.strip().partition(" ")
    if name not in PANELS:
        raise OutputError(f"there is no panel {asked!r}.{suggest(name, PANELS)} There are: {', '.join(PANELS)}")
    of = tuple(part.strip() for part in rest.split(",") if part.strip())
    return [(name, panel) for panel in PANELS[name](along, of)]
