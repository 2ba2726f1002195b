"""The panels of a motion by name, one file for each kind. A new one is a function here, named in `PANELS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from dalembert.errors import OutputError
from dalembert.model.language.suggest import suggest
from dalembert.motion.result.motion import Motion
from dalembert.view.plots.along import Along
from dalembert.view.plots.panel import Panel
from dalembert.view.plots.panels.certificate import certificate
from dalembert.view.plots.panels.contacts import contacts
from dalembert.view.plots.panels.energy import energy
from dalembert.view.plots.panels.forces import forces, multipliers
from dalembert.view.plots.panels.free import deviation, extent
from dalembert.view.plots.panels.outputs import outputs
from dalembert.view.plots.panels.paths import paths
from dalembert.view.plots.panels.section import section
from dalembert.view.plots.panels.states import coordinates, phase, velocities

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


def make_panels(motion: Motion, names: Sequence[str] | None = None) -> list[Panel]:
    """The panels of these names, in their order; `panel.panels_of` says the rest."""
    along = Along(motion)
    if names is None:
        found = {name: [panel for panel in _made(along, name) if not panel.text] for name in STANDARD}
        if not found["paths"]:
            found["paths"] = [panel for panel in _made(along, "phase") if not panel.text]
        return [panel for name in STANDARD for panel in found[name]]
    asked = [names] if isinstance(names, str) else list(names)
    return [panel for name in asked for panel in _made(along, name)]


def _made(along: Along, asked: str) -> list[Panel]:
    if not isinstance(asked, str):
        raise OutputError(f"a panel is asked for by its name, got {asked!r}. There are: {', '.join(PANELS)}")
    name, _, rest = asked.strip().partition(" ")
    if name not in PANELS:
        raise OutputError(f"there is no panel {asked!r}.{suggest(name, PANELS)} There are: {', '.join(PANELS)}")
    of = tuple(part.strip() for part in rest.split(",") if part.strip())
    panels = [replace(panel, name=name) for panel in PANELS[name](along, of)]
    return [panel if panel.text else _linked(panel, along) for panel in panels]


def _linked(panel: Panel, along: Along) -> Panel:
    """A panel over time with the marks of events; another one with the times of the points of its curves."""
    if panel.over_time:
        return replace(panel, marks=along.marks)
    times = {each.size: each for each in (along.motion.t, along.t)}  # at outputs, or with both sides of every jump
    timed = (replace(c, t=times.get(c.x.size)) if c.role == "line" else c for c in panel.curves)
    return replace(panel, curves=tuple(timed))
