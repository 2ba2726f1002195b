"""Energies and powers of a large system: sums over its instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dalembert.graph.structure.derive import MOVING
from dalembert.graph.structure.steps import Program, Structured
from dalembert.graph.structure.templates import Instance


@dataclass(frozen=True, eq=False)
class Sums:
    """energy, kinetic, power: places of the energy, of its kinetic part, and of its rate through explicit dependence on
    time. forces: places of nonpotential forces with the coordinates they act on, in rows. reach: of each constraint,
    what A v is; gaps: φ, rate_gaps: φ̇ or ψ. What is zero everywhere has a place that is never written.
    """

    program: Program
    energy: int
    kinetic: int
    power: int
    forces: np.ndarray
    reach: np.ndarray
    gaps: np.ndarray
    rate_gaps: np.ndarray


def sums_of(system: Structured) -> Sums:
    # Where definitions move by themselves, each quantity is followed by one more, which says how fast it does so.
    program = Program(system.quantities * (2 if system.moving else 1), system.parameters)
    prefix = MOVING if system.moving else ""

    def contribute(role: str, instance: Instance, into: Callable[[str], int], new: bool | None) -> None:
        made = system.derivatives.of(prefix + role, instance.template)
        if system.moving:
            of_time = (system.quantities + z for z in instance.quantities)
            instance = replace(instance, quantities=(*instance.quantities, *of_time))
        places = [into(str(target[0])) for target in (*made.into, *(target for target, _ in made.literal))]
        if places or new is not False:
            program.contribute(prefix + role, instance, made, places, [] if new is None else [new] * len(places))

    energy, kinetic, power = program.place(), program.place(), program.place()
    for k, instance in enumerate(system.definitions):
        role = "moved definition" if system.has_value(k) else "moved rate definition"
        own = system.coordinates + k
        home = {"value": own, "moved": system.quantities + own}
        home |= {"rate": program.quantities + own, "changed": program.quantities + system.quantities + own}
        contribute(role, instance, home.__getitem__, None)
    program.step("clear", at=(energy,))
    program.step("clear", at=(power,))
    for role, instances in (("kinetic energy", system.kinetic), ("potential energy", system.potential)):
        if role == "potential energy":
            program.step("copy", at=(energy, kinetic))
        for instance in sorted(instances, key=lambda instance: instance.template):
            contribute(role, instance, {"energy": energy, "power": power}.__getitem__, False)
    forces = []
    for coordinate, instance in system.forces:
        place = program.place()
        forces.append((place, coordinate))
        contribute("force", instance, {"force": place}.__getitem__, True)
    found: dict[str, list[int]] = {"reach": [], "gap": [], "rate": []}
    for on_rates, instance in system.constraints:
        role = "values of a velocity" if on_rates else "values of a position"
        here = {name: program.place() for name in found}
        for name, place in here.items():
            found[name].append(place)
        contribute(role, instance, here.__getitem__, True)
    reach, gaps, rates = (np.array(places, dtype=np.intc) for places in found.values())
    return Sums(program, energy, kinetic, power, np.array(forces, dtype=np.intc).reshape(-1, 2), reach, gaps, rates)
