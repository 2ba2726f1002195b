"""The accelerations of a large system as a list of small steps, whose number grows with its size and no faster.

Unknowns are the accelerations of the coordinates and of the defined quantities, and one multiplier per constraint. The
least of Gauss's function over them, with d̈ = J z̈ + γ for each defined quantity, is found by leaving out one unknown
after the other: a defined quantity is replaced by what defines it, once nothing else is defined by it; a coordinate is
solved for, once no definition needs it; a multiplier, once its coordinates are gone. For a tree, in the order from its
tips, no step involves more than the neighbours.

A step is a code (what is computed, the same for all steps that look alike) and places in one array of numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from dalembert.graph.structure.derive import Contribution, Derivatives
from dalembert.graph.structure.templates import Instance

NONE = -1


@dataclass(frozen=True)
class Structured:
    """A system as instances of templates. Quantities 0 … n − 1 are coordinates, those after them defined ones."""

    coordinates: int
    definitions: Sequence[Instance]
    energies: Sequence[Instance]
    forces: Sequence[tuple[int, Instance]]
    constraints: Sequence[tuple[str, Instance]]
    parameters: int
    derivatives: Derivatives


@dataclass(frozen=True)
class Step:
    code: tuple[object, ...]
    places: tuple[int, ...]


@dataclass
class Program:
    """Steps in their order, how many numbers they work on, and where in them things stand."""

    quantities: int
    parameters: int
    steps: list[Step] = field(default_factory=list)
    data: list[tuple[int, float]] = field(default_factory=list)
    size: int = 0
    accelerations: list[int] = field(default_factory=list)
    multipliers: list[int] = field(default_factory=list)
    pivots: list[tuple[int, int]] = field(default_factory=list)
    contributions: dict[tuple[object, ...], Contribution] = field(default_factory=dict)

    def place(self) -> int:
        self.size += 1
        return self.size - 1


def program_of(system: Structured) -> Program:
    return _Builder(system).build()


class _Builder:
    def __init__(self, system: Structured) -> None:
        self.system = system
        self.nz = system.coordinates + len(system.definitions)
        self.m = len(system.constraints)
        self.out = Program(self.nz, system.parameters)
        self.out.size = 2 * self.nz + 1 + system.parameters
        self.time = 2 * self.nz
        self.constants: dict[float, int] = {}
        count = self.nz + self.m
        # The symmetric matrix of the unknowns: the places of its entries, and of the right-hand side.
        self.beside: list[dict[int, int]] = [{} for _ in range(count)]
        self.own = [NONE] * count
        self.right = [NONE] * count
        self.slopes: list[tuple[tuple[int, int | float], ...]] = []
        self.bias: list[int | float | None] = []

    def build(self) -> Program:
        for k, instance in enumerate(self.system.definitions):
            self._define(k, instance)
        by_template = sorted(self.system.energies, key=lambda instance: instance.template)
        for instance in by_template:
            self._add_energy(instance)
        for target, instance in sorted(self.system.forces, key=lambda pair: pair[1].template):
            self._add_force(target, instance)
        for k, (level, instance) in enumerate(self.system.constraints):
            self._add_constraint(k, level, instance)
        self._eliminate()
        return self.out

    # -- what the model says

    def _inputs(self, instance: Instance) -> list[int]:
        given = []
        for value in instance.given:
            if isinstance(value, float):
                if value not in self.constants:
                    self.constants[value] = self.out.place()
                    self.out.data.append((self.constants[value], value))
                given.append(self.constants[value])
            else:
                given.append(2 * self.nz + 1 + value)
        z = instance.quantities
        return [*z, *(self.nz + i for i in z), *given, self.time]

    def _emit(self, role: str, instance: Instance, made: Contribution, into: list[int], flags: tuple[bool, ...]) -> None:
        code = (role, instance.template, flags)
        self.out.contributions.setdefault(code, made)
        self.out.steps.append(Step(code, (*self._inputs(instance), *into)))

    def _define(self, k: int, instance: Instance) -> None:
        made, me = self.system.derivatives.definition(instance.template), self.system.coordinates + k
        into: list[int] = []
        slopes: list[tuple[int, int | float]] = []
        bias: int | float | None = None
        for target in made.into:
            if target == "value":
                into.append(me)
            elif target == "rate":
                into.append(self.nz + me)
            else:
                into.append(self.out.place())
                if target == "bias":
                    bias = into[-1]
                elif isinstance(target, tuple):
                    slopes.append((instance.quantities[target[1]], into[-1]))
        for target, value in made.literal.items():
            if target == "bias":
                bias = value
            elif isinstance(target, tuple):
                slopes.append((instance.quantities[target[1]], value))
            else:  # a value or a rate that is a number
                into.append(me if target == "value" else self.nz + me)
        self._emit("definition", instance, made, into, ())
        self.slopes.append(tuple(sorted(slopes)))
        self.bias.append(bias)

    def _right(self, i: int) -> tuple[int, bool]:
        new = self.right[i] == NONE
        if new:
            self.right[i] = self.out.place()
        return self.right[i], new

    def _entry(self, i: int, j: int) -> tuple[int, bool]:
        if i == j:
            new = self.own[i] == NONE
            if new:
                self.own[i] = self.out.place()
            return self.own[i], new
        found = self.beside[i].get(j)
        if found is None:
            found = self.beside[i][j] = self.beside[j][i] = self.out.place()
            return found, True
        return found, False

    def _add_energy(self, instance: Instance) -> None:
        made, z = self.system.derivatives.energy(instance.template), instance.quantities
        into, flags = [], []
        for target in (*made.into, *made.literal):
            assert isinstance(target, tuple)
            where = self._right(z[target[1]]) if target[0] == "force" else self._entry(z[target[1]], z[target[2]])
            into.append(where[0])
            flags.append(where[1])
        self._emit("energy", instance, made, into, tuple(flags))

    def _add_force(self, target: int, instance: Instance) -> None:
        made = self.system.derivatives.force(instance.template)
        place, new = self._right(target)
        self._emit("force", instance, made, [place], (new,))

    def _add_constraint(self, k: int, level: str, instance: Instance) -> None:
        derivatives = self.system.derivatives
        made = derivatives.position(instance.template) if level == "position" else derivatives.velocity(instance.template)
        into, flags = [], []
        for target in (*made.into, *made.literal):
            if target == "residual":
                where = self.out.place(), True
            elif target == "bias":
                where = self._right(self.nz + k)
            else:
                assert isinstance(target, tuple)
                where = self._entry(self.nz + k, instance.quantities[target[1]])
            into.append(where[0])
            flags.append(where[1])
        self._emit(level, instance, made, into, tuple(flags))

    # -- one unknown after the other

    def _eliminate(self) -> None:
        n, nz, m = self.system.coordinates, self.nz, self.m
        waiting = [0] * (nz + m)
        for slopes in self.slopes:
            for i, _ in slopes:
                waiting[i] += 1
        rows: list[list[int]] = [[] for _ in range(nz)]
        for k in range(nz, nz + m):
            for i in self.beside[k]:
                rows[i].append(k)
                waiting[k] += 1

        def rank(i: int) -> tuple[bool, int, int]:
            """Solving for a coordinate forgets it; replacing a defined quantity hands its neighbours on. So that comes
            later, or all coordinates of a chain would come to be neighbours; and what was defined last is replaced
            first, body by body from the tips.
            """
            return (True, -i, i) if n <= i < nz else (False, len(self.beside[i]), i)

        heap = [rank(i) for i in range(nz + m) if not waiting[i]]
        heapq.heapify(heap)
        done = [False] * (nz + m)
        back: list[Step] = []
        self.out.accelerations = [self.out.place() for _ in range(nz)]
        self.out.multipliers = [self.out.place() for _ in range(m)]
        solution = self.out.accelerations + self.out.multipliers
        while heap:
            first = heapq.heappop(heap)
            i = first[2]
            if done[i]:
                continue
            if first != rank(i):
                heapq.heappush(heap, rank(i))
                continue
            done[i] = True
            touched: list[int]
            if n <= i < nz:
                back.append(self._substitute(i, solution))
                touched = [j for j, _ in self.slopes[i - n]]
                for row in rows[i]:
                    # The row now has the quantities that define this one.
                    for j in touched:
                        if row not in rows[j] and not done[j]:
                            rows[j].append(row)
                            waiting[row] += 1
            else:
                back.append(self._solve_for(i, solution))
                touched = []
            if i < nz:
                touched = [*touched, *rows[i]]
            for j in touched:
                waiting[j] -= 1
                if not waiting[j]:
                    heapq.heappush(heap, rank(j))
        self.out.steps.extend(reversed(back))

    def _leave(self, i: int) -> list[tuple[int, int]]:
        """The neighbours of an unknown with the places of the entries, after it is taken out."""
        around = sorted(self.beside[i].items())
        for j, _ in around:
            del self.beside[j][i]
        return around

    def _substitute(self, i: int, solution: list[int]) -> Step:
        """d̈ = Σ J z̈ + γ in place of an unknown."""
        slopes, bias = self.slopes[i - self.system.coordinates], self.bias[i - self.system.coordinates]
        around = self._leave(i)
        own, right = self.own[i], self.right[i]
        literal = tuple(value if isinstance(value, float) else None for _, value in slopes)
        gamma = bias if isinstance(bias, float) else None if bias is None else "place"
        places = [place for _, place in slopes if not isinstance(place, float)]
        if gamma == "place":
            places.append(int(bias))  # type: ignore[arg-type]
        places += [place for place in (own, right) if place != NONE]
        places += [place for _, place in around]
        news: list[bool] = []
        pairs: list[tuple[object, ...]] = []

        def target(where: tuple[int, bool], *what: object) -> None:
            places.append(where[0])
            news.append(where[1])
            pairs.append(what)

        if right != NONE or (own != NONE and gamma is not None):
            for a, (j, _) in enumerate(slopes):
                target(self._right(j), "right by slope", a)
        if gamma is not None:
            for b, (j, _) in enumerate(around):
                target(self._right(j), "right by entry", b)
        entries: dict[tuple[int, int], list[tuple[object, ...]]] = {}
        if own != NONE:
            for a, (j, _) in enumerate(slopes):
                for c, (k, _) in enumerate(slopes[: a + 1]):
                    entries.setdefault((max(j, k), min(j, k)), []).append(("own", a, c))
        for a, (j, _) in enumerate(slopes):
            for b, (k, _) in enumerate(around):
                entries.setdefault((max(j, k), min(j, k)), []).append(("twice" if j == k else "once", a, b))
        for (j, k), sums in entries.items():
            target(self._entry(j, k), "entry", tuple(sums))
        shape = (literal, gamma, own != NONE, right != NONE, len(around))
        self.out.steps.append(Step(("substitute", shape, tuple(pairs), tuple(news)), tuple(places)))
        known = [place for _, place in slopes if not isinstance(place, float)]
        if gamma == "place":
            known.append(int(bias))  # type: ignore[arg-type]
        known += [solution[j] for j, _ in slopes] + [solution[i]]
        return Step(("follow", literal, gamma), tuple(known))

    def _solve_for(self, i: int, solution: list[int]) -> Step:
        around = self._leave(i)
        own, right = self.own[i], self.right[i]
        if own == NONE:
            raise ZeroDivisionError(i)
        places = [own, *([right] if right != NONE else []), *(place for _, place in around)]
        news = []
        if right != NONE:
            for j, _ in around:
                place, new = self._right(j)
                places.append(place)
                news.append(new)
        for a, (j, _) in enumerate(around):
            for k, _ in around[: a + 1]:
                place, new = self._entry(j, k)
                places.append(place)
                news.append(new)
        degree = len(around)
        self.out.steps.append(Step(("solve", degree, right != NONE, tuple(news)), tuple(places)))
        known = [own, *([right] if right != NONE else []), *(place for _, place in around)]
        known += [solution[j] for j, _ in around] + [solution[i]]
        return Step(("back", degree, right != NONE), tuple(known))
