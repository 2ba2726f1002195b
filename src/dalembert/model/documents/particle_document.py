"""`[[particles]]` in model documents: material particles at positions in the generalized coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.errors import counted
from dalembert.model.constraints import Constraint
from dalembert.model.events import Event
from dalembert.model.friction.laws import Law
from dalembert.model.particles.particles import Particle, Particles
from dalembert.model.system import System

PARTICLE = ("name", "mass", "position", "force")


def particle_faults(place: str, entry: Mapping[str, Any]) -> list[str]:
    """What is wrong with the shape of one particle, besides entries that are unknown or missing."""
    faults = []
    if "mass" in entry and not _is_value(entry["mass"]):
        faults.append(f"{place}: 'mass' is a number or a text, got {entry['mass']!r}")
    for key in ("position", "force"):
        value = entry.get(key, ["0"])
        if not isinstance(value, list) or not 1 <= len(value) <= 3 or not all(map(_is_value, value)):
            faults.append(f"{place}: {key!r} is a list of one to three components, numbers or texts, got {value!r}")
    lengths = [len(entry[key]) for key in ("position", "force") if isinstance(entry.get(key), list)]
    if len(set(lengths)) > 1:
        faults.append(f"{place}: {counted(lengths[1], 'component')} of the force, but {lengths[0]} of the position")
    if isinstance(entry.get("name"), str) and not entry["name"].isidentifier():
        faults.append(f"{place}: the name has letters, digits and _ only, got {entry['name']!r}")
    return faults


def clashes(data: Mapping[str, Any]) -> list[str]:
    """What a document says beside `[[particles]]` that follows from them, or has no meaning with them."""
    if not data.get("particles"):
        return ["[[particles]]: there are none; write [[particles]] before each"] if "particles" in data else []
    faults = []
    energy = data.get("energy")
    for key in ("kinetic", "lagrangian"):
        if isinstance(energy, Mapping) and key in energy:
            faults.append(f"[energy]: {key} follows from [[particles]]: leave it out")
    if "mass" in data:
        faults.append("[mass]: the masses are those of [[particles]]: leave it out")
    if "forces" in data:
        faults.append('[forces]: forces act on particles: write force = ["…", "…"] in [[particles]]')
    if "definitions" in data:
        faults.append("[definitions]: positions of particles are written in coordinates: leave it out")
    if "impacts" in data:
        faults.append("impacts: particles have constraints that hold at all times: leave it out")
    return faults


def system_of_particles(
    data: Mapping[str, Any], constraints: list[Constraint], laws: list[Law], events: list[Event]
) -> System:
    """The motion in generalized coordinates; its `particles` are those of the document."""
    given = Particles(
        data["name"],
        coordinates=data["coordinates"],
        particles=[
            Particle(entry["name"], entry["mass"], entry["position"], entry.get("force", ()))
            for entry in data["particles"]
        ],
        constraints=constraints,
        potential=data.get("energy", {}).get("potential"),
        nonideal=laws,
        parameters=data.get("parameters", {}),
        initial=data.get("initial", {}),
        settings=data.get("simulate", {}),
        description=data.get("description", ""),
        functions=data.get("functions", ()),
    )
    outputs, units = data.get("outputs"), data.get("units")
    if not (events or outputs or units):
        return given.system
    return given.system.replace(events=events, outputs=outputs or {}, units=units or {})


def _is_value(value: Any) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)
