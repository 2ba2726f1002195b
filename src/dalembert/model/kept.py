"""What was kept of a system that was read before: names and numbers. Motions are made of it without SymPy.

Only of systems that are plain in this sense: no laws of nonideal constraints, no one-sided ones, no kinks, all values
given. Their motions ask for names, for numbers, and for the functions of their graph, which are kept too
(`motion.kept_models`). Whoever asks for more gets it from the system as it was written, which is read then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model.verbs import Verbs

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class KeptName:
    """Stands for a coordinate, a velocity or a parameter."""

    name: str


@dataclass(frozen=True)
class KeptConstraint:
    """Stands for a constraint, which holds on both sides."""

    name: str
    level: str
    one_sided: bool = False


@dataclass(frozen=True)
class KeptEvent:
    """Stands for an event; its function is among those of the graph."""

    name: str
    direction: int
    terminal: int


@dataclass(frozen=True, eq=False, repr=False)
class KeptSystem(Verbs):
    """Stands for a system. `structure` names it among all that were kept; `read` gives the system itself.

    values: of the parameters. start: of (q, q̇, t). output_function(q, v, a, t, p, ideal, multipliers): the outputs.
    """

    name: str
    coordinates: tuple[KeptName, ...]
    parameter_symbols: tuple[KeptName, ...]
    constraints: tuple[KeptConstraint, ...]
    events: tuple[KeptEvent, ...]
    outputs: tuple[str, ...]
    settings: Mapping[str, Any]
    values: Array
    start: Array
    structure: tuple[str, str]
    output_function: Any
    read: Callable[[], System]
    depends: tuple[tuple[str, ...], ...] = ()  # of each number of the start: parameters that it is made of
    units: Mapping[str, str] = field(default_factory=dict)
    cartesian_points: tuple[tuple[str, ...], ...] = ()
    has_plain_kinetic: bool = True
    has_particles: bool = False

    may_have_kinks = False
    nonideal = works = contacts = definitions = ()

    @cached_property
    def as_written(self) -> System:
        return self.read()

    def __getattr__(self, name: str) -> Any:
        """Only asked for what is not kept."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.as_written, name)

    def __getstate__(self) -> dict[str, Any]:
        """Without what was made of it, which may belong to this process."""
        return {name: value for name, value in vars(self).items() if name not in ("kept", "shared")}

    @cached_property
    def velocities(self) -> tuple[KeptName, ...]:
        return tuple(KeptName(f"{q.name}'") for q in self.coordinates)

    def parameter_values(self) -> Array:
        return self.values.copy()

    def initial_values(self) -> tuple[Array, Array, float]:
        n = len(self.coordinates)
        return self.start[:n].copy(), self.start[n : 2 * n].copy(), float(self.start[-1])


def with_numbers(
    system: KeptSystem, parameters: Mapping[str, float], initial: Mapping[str, float], read: Callable[[], System]
) -> KeptSystem | None:
    """The same with other numbers, by names that it has; None where a number of the start would have to be computed
    anew. read: gives that system itself.
    """
    names = [*(q.name for q in system.coordinates), *(v.name for v in system.velocities), "t"]
    if any(parameters.keys() & used for name, used in zip(names, system.depends, strict=True) if name not in initial):
        return None
    values, start = system.values.copy(), system.start.copy()
    for k, symbol in enumerate(system.parameter_symbols):
        values[k] = parameters.get(symbol.name, values[k])
    for k, name in enumerate(names):
        start[k] = initial.get(name, start[k])
    return replace(system, values=values, start=start, read=read)


def kept_parts(system: System) -> dict[str, Any]:
    """Names and numbers of a system in values that JSON has."""
    from dalembert.model.language.symbols import t as time  # needs SymPy, which has read the system

    q, v, t = system.initial_values()
    return {
        "name": system.name,
        "coordinates": [coordinate.name for coordinate in system.coordinates],
        "parameters": [symbol.name for symbol in system.parameter_symbols],
        "constraints": [[constraint.name, constraint.level] for constraint in system.constraints],
        "events": [[event.name, int(event.direction), int(event.terminal)] for event in system.events],
        "outputs": list(system.outputs),
        "units": dict(system.units),
        "cartesian_points": system.cartesian_points,
        "has_plain_kinetic": system.has_plain_kinetic,
        "has_particles": system.has_particles,
        "settings": dict(system.settings),
        "values": system.parameter_values().tolist(),
        "start": np.concatenate([q, v, [t]]).tolist(),
        "depends": [_parameters_of(system, name) for name in (*system.coordinates, *system.velocities, time)],
    }


def _parameters_of(system: System, symbol: Any) -> list[str]:
    """What the initial value of a coordinate, a velocity or the time is made of."""
    value = system.initial.get(symbol)
    return [] if value is None else sorted(parameter.name for parameter in value.free_symbols)


def from_parts(
    parts: Mapping[str, Any], structure: tuple[str, str], output_function: Any, read: Callable[[], System]
) -> KeptSystem:
    """The system again from what `kept_parts` gave."""
    return KeptSystem(
        name=parts["name"],
        coordinates=tuple(map(KeptName, parts["coordinates"])),
        parameter_symbols=tuple(map(KeptName, parts["parameters"])),
        constraints=tuple(KeptConstraint(*part) for part in parts["constraints"]),
        events=tuple(KeptEvent(*part) for part in parts["events"]),
        outputs=tuple(parts["outputs"]),
        settings=parts["settings"],
        values=np.array(parts["values"], dtype=float),
        start=np.array(parts["start"], dtype=float),
        structure=structure,
        output_function=output_function,
        read=read,
        depends=tuple(map(tuple, parts["depends"])),
        units=parts["units"],
        cartesian_points=tuple(map(tuple, parts["cartesian_points"])),
        has_plain_kinetic=parts["has_plain_kinetic"],
        has_particles=parts["has_particles"],
    )
