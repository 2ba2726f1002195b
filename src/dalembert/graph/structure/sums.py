"""Energies and powers of a large system: sums over its instances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.graph.structure.steps import Program, Structured


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
    program = Program(system.quantities, system.parameters)
    energy, kinetic, power = program.place(), program.place(), program.place()
    for k, instance in enumerate(system.definitions):
        role = "moved definition" if system.has_value(k) else "moved rate definition"
        made = system.derivatives.of(role, instance.template)
        home = {"value": system.coordinates + k, "rate": system.quantities + system.coordinates + k}
        targets = (*made.into, *(target for target, _ in made.literal))
        program.contribute(role, instance, made, [home[str(target[0])] for target in targets])
    program.step("clear", at=(energy,))
    program.step("clear", at=(power,))
    for role, instances in (("kinetic energy", system.kinetic), ("potential energy", system.potential)):
        if role == "potential energy":
            program.step("copy", at=(energy, kinetic))
        for instance in sorted(instances, key=lambda instance: instance.template):
            made = system.derivatives.of(role, instance.template)
            targets = (*made.into, *(target for target, _ in made.literal))
            into = [energy if target[0] == "energy" else power for target in targets]
            if into:
                program.contribute(role, instance, made, into, [False] * len(into))
    forces = []
    for coordinate, instance in system.forces:
        made = system.derivatives.of("force", instance.template)
        forces.append((program.place(), coordinate))
        program.contribute("force", instance, made, [forces[-1][0]], [True])
    found: dict[str, list[int]] = {"reach": [], "gap": [], "rate": []}
    for on_rates, instance in system.constraints:
        role = "values of a velocity" if on_rates else "values of a position"
        made = system.derivatives.of(role, instance.template)
        here = {name: program.place() for name in found}
        for name, place in here.items():
            found[name].append(place)
        targets = (*made.into, *(target for target, _ in made.literal))
        program.contribute(role, instance, made, [here[str(target[0])] for target in targets], [True] * len(targets))
    reach, gaps, rates = (np.array(places, dtype=np.intc) for places in found.values())
    return Sums(program, energy, kinetic, power, np.array(forces, dtype=np.intc).reshape(-1, 2), reach, gaps, rates)
