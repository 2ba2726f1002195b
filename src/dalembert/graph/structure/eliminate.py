"""Leaving out one unknown after the other, in an order in which no step involves more than neighbours.

A defined quantity is replaced by what defines it, once nothing else is defined by it; a coordinate is solved for, once
no definition needs it; a multiplier, once its coordinates are gone. From the tips of a tree to its root, that takes as
many steps as the tree has joints, and so does the way back, in which the unknowns are found.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from dalembert.errors import DalembertError
from dalembert.graph.structure.equations import NONE, Equations
from dalembert.graph.structure.step_list import StepList
from dalembert.graph.structure.steps import Program


class NotEliminated(DalembertError):
    """An unknown that stands in no equation by which it could be left out."""


class TooWide(NotEliminated):
    """A constraint that has come to stand beside many others, as in a net: multipliers are better left together."""


# A constraint of a chain stands beside a few others when its multiplier is left out, one of a row of four-bar linkages
# beside up to ten: one after the other takes half the time of all multipliers together there.
WIDEST = 12


@dataclass(frozen=True, eq=False)
class Solution:
    """A program that solves equations, and where it leaves the accelerations (or changes) of all quantities, and the
    multipliers with their signs turned: at `unknowns` and after it. inverses: places of inverse pivots of coordinates;
    pivots: for each constraint those of its inverse pivot and of what the pivot was made of before others were taken
    from it (NONE where none was), in rows; early: whether it was left out while definitions still stood beside it, and
    the pivot was made of what these would add, too.
    """

    program: Program
    unknowns: int
    inverses: np.ndarray
    pivots: np.ndarray
    early: np.ndarray


@dataclass(frozen=True, eq=False)
class Condensed:
    """Two programs on the same numbers. The first leaves out all quantities, so that S λ = r is left for multipliers, S
    = A M⁻¹ Aᵀ; `back` finds the quantities once −λ is known: all of them at `unknowns` and after it, −λ at `first`.

    entries: for each entry of −S, on its diagonal or below, its constraints and its place; right: places of r (NONE
    where it is zero); inverses: as of a `Solution`. cleared: places that must be zero before: entries are sums begun
    with zero, so that all steps look alike, and make loops.
    """

    program: Program
    back: Program
    unknowns: int
    first: int
    entries: np.ndarray
    right: np.ndarray
    inverses: np.ndarray
    cleared: np.ndarray


def solution_of(equations: Equations, coordinates: int, early: bool = False) -> Solution:
    """early: a constraint is left out as soon as a coordinate by which it can be met is gone. So the knife edge of a
    trailer goes with its heading; left until the place of the car is gone, to which all trailers lead, it stands beside
    the edges of all others.
    """
    return _Elimination(equations, coordinates, early=early).run()


def condensed_of(equations: Equations, coordinates: int) -> Condensed:
    return _Elimination(equations, coordinates, condense=True).condense()


class _Elimination:
    def __init__(self, equations: Equations, coordinates: int, condense: bool = False, early: bool = False) -> None:
        self.equations, self.program, self.condenses, self.early = equations, equations.program, condense, early
        self.left_early: set[int] = set()
        self.cleared: list[int] = []
        self.n, self.nz = coordinates, coordinates + len(equations.slopes)
        self.count = len(equations.own)
        self.before = [NONE] * self.count
        self.back = StepList()  # the way back, from its end
        self.unknowns = self.program.size
        self.program.size += self.count

    def rank(self, i: int) -> tuple[bool, int, int]:
        """Solving for a coordinate forgets it; replacing a defined quantity hands its neighbours on. So that comes
        later, or all coordinates of a chain would come to be neighbours; and what was defined last is replaced
        first, body by body from the tips.
        """
        return (True, -i, i) if self.n <= i < self.nz else (False, len(self.equations.beside[i]), i)

    def run(self) -> Solution:
        self._leave_out(self.count)
        self.program.steps.add_backwards(self.back)
        own = self.equations.own
        return Solution(
            self.program,
            self.unknowns,
            np.array(own[: self.n], dtype=np.intc),
            np.array([own[self.nz :], self.before[self.nz :]], dtype=np.intc).T,
            np.array([k in self.left_early for k in range(self.nz, self.count)], dtype=bool),
        )

    def condense(self) -> Condensed:
        self._leave_out(self.nz)
        back = Program(self.program.quantities, self.program.parameters)
        back.steps.add_backwards(self.back)
        back.size, made = self.program.size, self.equations
        entries = [(k, k, made.own[k]) for k in range(self.nz, self.count) if made.own[k] != NONE]
        entries += [(k, j, place) for k in range(self.nz, self.count) for j, place in made.beside[k].items() if j < k]
        return Condensed(
            self.program,
            back,
            self.unknowns,
            self.unknowns + self.nz,
            np.array([(k - self.nz, j - self.nz, place) for k, j, place in entries], dtype=np.int64).reshape(-1, 3),
            np.array(made.right[self.nz :], dtype=np.int64),
            np.array(made.own[: self.n], dtype=np.intc),
            np.array(self.cleared, dtype=np.intc),
        )

    def _leave_out(self, count: int) -> None:
        """Leaves out the first so many unknowns."""
        waiting, rows = self._waiting()
        heap = [self.rank(i) for i in range(count) if not waiting[i]]
        heapq.heapify(heap)
        done = [False] * self.count
        while heap:
            first = heapq.heappop(heap)
            i = first[2]
            if done[i]:
                continue
            if first != self.rank(i):
                heapq.heappush(heap, self.rank(i))
                continue
            if waiting[i] and not self._can_go(i):
                continue  # other coordinates have come to stand beside it
            done[i] = True
            touched: list[int] = []
            if self.n <= i < self.nz:
                self._replace(i)
                touched = [j for j, _ in self.equations.slopes[i - self.n]]
                for row in rows[i]:
                    for j in touched:  # the row now has the quantities that define this one
                        if row not in rows[j]:
                            rows[j].append(row)
                            waiting[row] += 1
            elif i < self.nz or self.equations.beside[i] or self.equations.own[i] != NONE:
                if waiting[i]:
                    self._note_early(i)
                    for j in self.equations.beside[i]:
                        if j < self.nz and i in rows[j]:
                            rows[j].remove(i)
                self._solve_for(i)
            if i < self.nz:
                touched = [*touched, *rows[i]]
            for j in touched:
                waiting[j] -= 1
                ready = not waiting[j] or (self.early and i < self.n and j >= self.nz and self._can_go(j))
                if ready and j < count:
                    heapq.heappush(heap, self.rank(j))

    def _waiting(self) -> tuple[list[int], list[list[int]]]:
        """For how many others each unknown waits, and the constraints that hold each quantity."""
        waiting = [0] * self.count
        for slopes in self.equations.slopes:
            for i, _ in slopes:
                waiting[i] += 1
        rows: list[list[int]] = [[] for _ in range(self.nz)]
        for k in range(self.nz, self.count):
            for i in self.equations.beside[k]:
                rows[i].append(k)
                waiting[k] += 1
        return waiting, rows

    def _can_go(self, row: int) -> bool:
        """Whether a constraint has a pivot, and only definitions beside it."""
        has_pivot = self.equations.own[row] != NONE
        return has_pivot and all(j >= self.n for j in self.equations.beside[row])

    def _note_early(self, row: int) -> None:
        """What the pivot is measured against: what the definitions beside it would still add, each by itself."""
        made = self.equations
        around = [(j, place) for j, place in sorted(made.beside[row].items()) if j < self.nz]
        if any(made.own[j] == NONE for j, _ in around):
            raise TooWide(f"constraint {row - self.nz} holds what has no mass")
        base = made.own[row] if self.before[row] == NONE else self.before[row]
        self.before[row] = self.program.place()
        self.left_early.add(row)
        places = [base, *(place for _, place in around), *(made.own[j] for j, _ in around), self.before[row]]
        self.program.step("gauge", len(around), at=places)

    def _leave(self, i: int) -> list[tuple[int, int]]:
        """The neighbours of an unknown with the places of the entries, after it is taken out."""
        around = sorted(self.equations.beside[i].items())
        for j, _ in around:
            del self.equations.beside[j][i]
        return around

    def _replace(self, i: int) -> None:
        """J z̈ + γ in place of the acceleration of a defined quantity."""
        made = self.equations
        slopes, bias = made.slopes[i - self.n], made.bias[i - self.n]
        around = self._leave(i)
        own, right = made.own[i], made.right[i]
        literal = tuple(value if isinstance(value, float) else None for _, value in slopes)
        gamma = bias if bias is None or isinstance(bias, float) else "place"
        known = [place for _, place in slopes if not isinstance(place, float)]
        if isinstance(bias, int):
            known.append(bias)
        places = [*known, *(place for place in (own, right) if place != NONE), *(place for _, place in around)]
        sums: list[tuple[object, ...]] = []
        news: list[bool] = []

        def target(where: tuple[int, bool], *what: object) -> None:
            places.append(where[0])
            news.append(where[1])
            sums.append(what)

        if right != NONE or (own != NONE and gamma is not None):
            for a, (j, _) in enumerate(slopes):
                target(made.at_right(j), "right by slope", a)
        if gamma is not None:
            for b, (j, _) in enumerate(around):
                target(made.at_right(j), "right by entry", b)
        entries: dict[tuple[int, int], list[tuple[object, ...]]] = {}
        if own != NONE:
            for a, (j, _) in enumerate(slopes):
                for c, (k, _) in enumerate(slopes[: a + 1]):
                    entries.setdefault((max(j, k), min(j, k)), []).append(("own", a, c))
        for a, (j, _) in enumerate(slopes):
            for b, (k, _) in enumerate(around):
                entries.setdefault((max(j, k), min(j, k)), []).append(("twice" if j == k else "once", a, b))
        for (j, k), parts in entries.items():
            target(made.entry(j, k), "entry", tuple(parts))
        if sums:
            shape = (literal, gamma, own != NONE, right != NONE, len(around))
            self.program.step("replace", shape, tuple(sums), tuple(news), at=places)
        known += [self.unknowns + j for j, _ in slopes]
        self.back.add(("follow", literal, gamma), (*known, self.unknowns + i))

    def _solve_for(self, i: int) -> None:
        made = self.equations
        around = self._leave(i)
        own, right = made.own[i], made.right[i]
        if own == NONE:
            raise NotEliminated(f"unknown {i} has no equation of its own")
        rows = sum(j >= self.nz for j, _ in around)
        if i < self.nz and rows > WIDEST + 1 and not self.condenses:
            # From here on they stand beside each other, and none of them can go before.
            raise TooWide(f"unknown {i} has {rows} constraints beside it")
        if i >= self.nz:
            if len(around) > WIDEST:
                raise TooWide(f"constraint {i - self.nz} has {len(around)} beside it")
            for j, _ in around:  # what is taken from the pivots of other constraints shows whether they depend on it
                if j >= self.nz and self.before[j] == NONE and made.own[j] != NONE:
                    self.before[j] = self.program.place()
                    self.program.step("copy", at=(made.own[j], self.before[j]))
        known = [own, *([right] if right != NONE else []), *(place for _, place in around)]
        places, news = list(known), []
        if right != NONE:
            for j, _ in around:
                place, new = made.at_right(j)
                places.append(place)
                news.append(new)
        for a, (j, _) in enumerate(around):
            for k, _ in around[: a + 1]:
                place, new = made.entry(j, k)
                if new and self.condenses and k >= self.nz:
                    self.cleared.append(place)
                    new = False
                places.append(place)
                news.append(new)
        self.program.step("solve", len(around), right != NONE, tuple(news), at=places)
        known += [self.unknowns + j for j, _ in around]
        self.back.add(("back", len(around), right != NONE), (*known, self.unknowns + i))
