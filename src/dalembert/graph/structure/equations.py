"""The linear equations of a large system's unknowns, entry by entry: a symmetric matrix, right-hand sides, and for each
defined quantity d̈ = J z̈ + γ.

The unknowns are the accelerations of the quantities, and one multiplier (with the sign turned, so that the matrix is
symmetric) for each constraint. The same equations with gaps of the constraints for right-hand sides return a state to
the constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dalembert.graph.structure.steps import Program, Structured
from dalembert.graph.structure.templates import Instance

NONE = -1
# What is solved for, and from what right-hand sides.
ACCELERATIONS, POSITIONS, VELOCITIES = "accelerations", "positions", "velocities"


@dataclass
class Equations:
    """Places of entries: `own` on the diagonal, `beside` off it, `right`; NONE where an entry is zero. slopes: for each
    defined quantity, pairs of a quantity and the place of its slope, or the slope where it is a number; bias likewise.
    pulled: of forces that the model impresses, where they are kept apart.
    """

    program: Program
    own: list[int]
    beside: list[dict[int, int]]
    right: list[int]
    pulled: list[int]
    slopes: list[tuple[tuple[int, int | float], ...]] = field(default_factory=list)
    bias: list[int | float | None] = field(default_factory=list)

    def at_right(self, i: int) -> tuple[int, bool]:
        """The place of a right-hand side, and whether it is new."""
        new = self.right[i] == NONE
        if new:
            self.right[i] = self.program.place()
        return self.right[i], new

    def at_pulled(self, i: int) -> tuple[int, bool]:
        new = self.pulled[i] == NONE
        if new:
            self.pulled[i] = self.program.place()
        return self.pulled[i], new

    def entry(self, i: int, j: int) -> tuple[int, bool]:
        """The place of an entry of the matrix, and whether it is new."""
        if i == j:
            new = self.own[i] == NONE
            if new:
                self.own[i] = self.program.place()
            return self.own[i], new
        found = self.beside[i].get(j)
        if found is None:
            found = self.beside[i][j] = self.beside[j][i] = self.program.place()
            return found, True
        return found, False


def equations_of(system: Structured, wanted: str, apart: bool = False) -> Equations:
    """Steps that compute all entries. apart: impressed forces are kept apart from those of inertia."""
    count = system.quantities + len(system.constraints)
    program = Program(system.quantities, system.parameters)
    made = Equations(program, [NONE] * count, [{} for _ in range(count)], [NONE] * count, [NONE] * count)
    for k, instance in enumerate(system.definitions):
        role = "definition" if system.has_value(k) else "rate definition"
        _define(made, system, k, instance, role if wanted == ACCELERATIONS else f"placed {role}")
    for instance in _alike(system.kinetic):
        _add(made, system, "kinetic" if wanted == ACCELERATIONS else "masses", instance, instance.quantities)
    if wanted == ACCELERATIONS:
        for instance in _alike(system.potential):
            _add(made, system, "pull", instance, instance.quantities, apart)
        for target, instance in sorted(system.forces, key=lambda pair: pair[1].template):
            _add(made, system, "force", instance, (target,), apart)
    for k, (on_rates, instance) in enumerate(system.constraints):
        if not (wanted == POSITIONS and on_rates):
            _constrain(made, system, system.quantities + k, instance, _role(wanted, on_rates))
    return made


def _alike(instances: Sequence[Instance]) -> list[Instance]:
    """Those of one template one after the other, so that they make a loop."""
    return sorted(instances, key=lambda instance: instance.template)


def _role(wanted: str, on_rates: bool) -> str:
    if wanted == ACCELERATIONS:
        return "velocity" if on_rates else "position"
    if wanted == POSITIONS:
        return "position gap"
    return "rate gap of a velocity" if on_rates else "rate gap of a position"


def _define(made: Equations, system: Structured, k: int, instance: Instance, role: str) -> None:
    contribution, me = system.derivatives.of(role, instance.template), system.coordinates + k
    home = {"value": me, "rate": system.quantities + me}
    into: list[int] = []
    slopes: list[tuple[int, int | float]] = []
    bias: int | float | None = None
    for target in contribution.into:
        place = home.get(str(target[0]))
        into.append(made.program.place() if place is None else place)
        if target[0] == "bias":
            bias = into[-1]
        elif target[0] == "slope":
            slopes.append((instance.quantities[int(target[1])], into[-1]))
    for target, value in contribution.literal:
        if target[0] == "bias":
            bias = value
        elif target[0] == "slope":
            slopes.append((instance.quantities[int(target[1])], value))
        else:
            into.append(home[str(target[0])])
    made.program.contribute(role, instance, contribution, into)
    made.slopes.append(tuple(sorted(slopes)))
    made.bias.append(bias)


def _add(
    made: Equations, system: Structured, role: str, instance: Instance, at: Sequence[int], apart: bool = False
) -> None:
    contribution = system.derivatives.of(role, instance.template)
    into, news = [], []
    for target in (*contribution.into, *(target for target, _ in contribution.literal)):
        i = at[int(target[1])]
        if target[0] == "mass":
            place, new = made.entry(i, at[int(target[2])])
        else:
            place, new = made.at_pulled(i) if apart else made.at_right(i)
        into.append(place)
        news.append(new)
    if into:
        made.program.contribute(role, instance, contribution, into, news)


def _constrain(made: Equations, system: Structured, row: int, instance: Instance, role: str) -> None:
    contribution = system.derivatives.of(role, instance.template)
    into, news = [], []
    for target in (*contribution.into, *(target for target, _ in contribution.literal)):
        bias = target[0] == "bias"
        place, new = made.at_right(row) if bias else made.entry(row, instance.quantities[int(target[1])])
        into.append(place)
        news.append(new)
    made.program.contribute(role, instance, contribution, into, news)
