"""Frobenius at a point: how much of a set of Pfaffian forms is integrable on a manifold, decided by jets.

The forms ω_k = Σ a_kj(z) dz_j, taken on the manifold g(z) = 0, leave the directions D = {X : dg(X) = 0, ω_k(X) = 0}.
The smallest distribution that holds D and is closed under Lie brackets,

    D ⊂ D + [D, D] ⊂ D + [D, D] + [D, [D, D]] ⊂ …

is tangent to the surfaces in which the motions stay; what vanishes on it is the integrable part of the forms. Its
dimension is the same at almost all points, so random points decide: a bracket that leaves D at one of them proves that
the forms are not integrable, and brackets that stay, to ninety digits, at several leave no doubt but that of chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import sympy as sp

from dalembert.mechanics.algebra.jets import BITS, UNIT, Jet, Jets, NoJet, fixed_point
from dalembert.mechanics.classify.problem import Problem, apart

# What is smaller than this beside the terms it is a sum of is zero. Rounding leaves 1e-90 of them; parameters given as
# floating-point numbers, 1e-16: lengths that fit a mechanism only to rounding must count as fitting.
ZERO = 10**12
# Beyond what rounding is measured against terms: times ZERO it is 1e-50 of the fields, far above 1e-90.
ROUNDING = 10**38
# Newton's method ends here; conditions left above it contradict each other.
SOLVED = UNIT >> (BITS - 60)
# Coefficients in a jet. Depth costs: brackets of brackets need higher orders. Beyond, the question is left open.
LARGEST_JET = 900
DEEPEST = 12

Matrix = list[list[Jet]]


@dataclass(frozen=True)
class Found:
    """At one point: `conditions` and `forms` that are independent, `integrable` how many dimensions of the forms are,
    `members` which forms are in the integrable part, `asked` the same of the further rows. `contact`: how many
    combinations of contact forms are, which is the number of position constraints that follow.
    """

    conditions: int
    forms: int
    integrable: int
    members: tuple[bool, ...]
    asked: tuple[bool, ...]
    contact: int


def integrable_part(problem: Problem, points: Sequence[Mapping[sp.Symbol, float]]) -> Found | None:
    """What holds at generic points. None where no point has power series, or brackets of too high an order count.
    Parts that share no variables are decided each by itself: brackets of their fields with each other vanish.
    """
    parts = apart(problem)
    if len(parts) < 2:
        return _connected(problem, points)
    members, asked = [True] * len(problem.forms), [True] * len(problem.asked)  # those in no part are zero
    conditions = independent = integrable = 0
    for part, forms, rows in parts:
        found = _connected(part, points)
        if found is None:
            return None
        conditions += found.conditions
        independent += found.forms
        integrable += found.integrable
        for places, verdicts, into in ((forms, found.members, members), (rows, found.asked, asked)):
            for place, verdict in zip(places, verdicts, strict=True):
                into[place] = verdict
    return Found(conditions, independent, integrable, tuple(members), tuple(asked), 0)


def _connected(problem: Problem, points: Sequence[Mapping[sp.Symbol, float]]) -> Found | None:
    """Of one part."""
    found: list[Found] = []
    for point in points:
        try:
            found.append(_at(problem, point))
        except NoJet:
            continue
    if not found:
        return None
    # Special points have smaller ranks: the generic ones are the largest, of the forms and then of the closure.
    rank = max(entry.forms for entry in found)
    generic = [entry for entry in found if entry.forms == rank]
    least = min(generic, key=lambda entry: entry.integrable)
    return Found(
        least.conditions,
        rank,
        least.integrable,
        tuple(all(column) for column in zip(*(entry.members for entry in generic), strict=True)),
        tuple(all(column) for column in zip(*(entry.asked for entry in generic), strict=True)),
        min(entry.contact for entry in generic),
    )


def _at(problem: Problem, point: Mapping[sp.Symbol, float]) -> Found:
    every = (*problem.conditions, *(a for row in (*problem.forms, *problem.asked) for a in row))
    present = set().union(*(e.free_symbols for e in every)) if every else set()
    active = [k for k, z in enumerate(problem.variables) if z in present]
    start = [fixed_point(point[z]) for z in problem.variables]
    place, dependent, rank = _on_manifold(problem, active, start)
    free = [k for k in active if k not in dependent]
    if not (problem.forms or problem.asked):
        return Found(rank, 0, 0, (), (), 0)
    for order in range(1, DEEPEST + 1):
        if comb(len(free) + order, order) > LARGEST_JET:
            break
        found = _Local(problem, place, dependent, free, order).closure()
        if found is not None:
            return Found(rank, *found)
    raise NoJet("brackets of a higher order would have to be looked at")


def _on_manifold(problem: Problem, active: list[int], start: list[int]) -> tuple[list[int], list[int], int]:
    """The point moved onto the manifold along as many variables as it has conditions, and which those are."""
    if not problem.conditions:
        return start, [], 0
    jets, place = Jets(len(active), 1), list(start)
    dependent: list[int] = []
    rows: list[int] = []
    for turn in range(60):
        values = _symbols(problem, jets, place, {k: i for i, k in enumerate(active)})
        table = jets.of(problem.conditions, values)
        if not rows:
            scaled = [[jet[1 + i] * _size(start[k]) >> BITS for i, k in enumerate(active)] for jet in table]
            pivots = _pivots(scaled)
            rows, dependent = [r for r, _ in pivots], [active[c] for _, c in pivots]
        if max(abs(jet[0]) for jet in table) <= SOLVED:
            return place, dependent, len(rows)
        if turn == 59:
            break
        matrix = [[table[r][1 + active.index(c)] for c in dependent] for r in rows]
        step = _solve(matrix, [-table[r][0] for r in rows])
        for k, change in zip(dependent, step, strict=True):
            place[k] += change
    raise NoJet("no point that satisfies the conditions was found")


def _symbols(problem: Problem, jets: Jets, place: list[int], which: Mapping[int, int]) -> dict[sp.Symbol, Jet]:
    """The jets of all symbols; `which` variables are those of the series."""
    values = {symbol: jets.constant(fixed_point(value)) for symbol, value in problem.values.items()}
    for k, z in enumerate(problem.variables):
        values[z] = jets.variable(which[k], place[k]) if k in which else jets.constant(place[k])
    return values


class _Local:
    """The forms as jets at a point of the manifold, in the variables that are free there."""

    def __init__(self, problem: Problem, place: list[int], dependent: list[int], free: list[int], order: int) -> None:
        self.problem, self.place, self.dependent = problem, place, dependent
        self.jets = Jets(len(free), order)
        # Variables of the series are numbered by `free`; coordinates on the manifold are all but the dependent ones.
        self.which = {k: i for i, k in enumerate(free)}
        self.base = [k for k in range(len(problem.variables)) if k not in dependent]
        self.size = [_size(place[k]) for k in self.base]
        self.values = _symbols(problem, self.jets, place, self.which)
        self._implicit()
        # Differentiation leaves the highest order unknown; so many differentiations are left.
        self.left = order - (1 if dependent else 0)

    def _implicit(self) -> None:
        """The dependent variables as functions of the others: each step of Newton's method gains an order."""
        if not self.dependent:
            return
        problem, jets = self.problem, self.jets
        slopes = Jets(len(self.dependent), 1)
        numbers = _symbols(problem, slopes, self.place, {k: i for i, k in enumerate(self.dependent)})
        table = slopes.of(problem.conditions, numbers)
        rows = [r for r, _ in _pivots([jet[1:] for jet in table])]
        J = [table[r][1:] for r in rows]
        names = [problem.variables[k] for k in self.dependent]
        for _ in range(jets.order):
            g = jets.of([problem.conditions[r] for r in rows], self.values)
            columns = [_solve(J, [-jet[i] for jet in g]) for i in range(jets.size)]
            for k, name in enumerate(names):
                self.values[name] = jets.add(self.values[name], [column[k] for column in columns])

    def _pulled_back(self, rows: Sequence[Sequence[sp.Expr]]) -> tuple[Matrix, list[int]]:
        """Rows over all variables as rows over those of the manifold, and the size each had."""
        jets, problem = self.jets, self.problem
        width = len(problem.variables)
        flat = jets.of([a for row in rows for a in row], self.values)
        table = [flat[k * width : (k + 1) * width] for k in range(len(rows))]
        slopes = {
            k: {
                b: jets.derivative(self.values[problem.variables[k]], self.which[b])
                for b in self.base
                if b in self.which
            }
            for k in self.dependent
        }
        found = []
        for row in table:
            new = []
            for b in self.base:
                total = row[b]
                for k in self.dependent:
                    if b in slopes[k] and any(row[k]):
                        total = jets.add(total, jets.multiply(row[k], slopes[k][b]))
                new.append(total)
            found.append(new)
        sizes = [
            max(abs(jet[0]) * _size(value) >> BITS for jet, value in zip(row, self.place, strict=True)) for row in table
        ]
        return found, sizes

    def closure(self) -> tuple[int, int, tuple[bool, ...], tuple[bool, ...], int] | None:
        """The parts of `Found` after the first, or None where the order is too low."""
        if self.left < 0:
            return None
        rows, sizes = self._pulled_back(self.problem.forms)
        asked, asked_sizes = self._pulled_back(self.problem.asked)
        fields, rank = self._allowed(rows, sizes)
        spanned = _Span(self.size)
        for field in fields:
            spanned.add([jet[0] for jet in field], None)
        fresh, left = list(fields), self.left
        while fresh and len(spanned) < len(self.base):
            if left == 0:
                return None
            left -= 1
            added = []
            for number, X in enumerate(fields):
                for Y in fresh if fresh is not fields else fields[number + 1 :]:
                    bracket, scale = self._bracket(X, Y)
                    if spanned.add([jet[0] for jet in bracket], scale):
                        added.append(bracket)
            fresh = added
        vectors, contact = spanned.vectors, self.problem.contact
        moving, rank_of_contact = _part_annihilated(rows[:contact], vectors)
        return (
            rank,
            len(self.base) - len(spanned),
            tuple(_vanishes(row, size, moving) for row, size in zip(rows, sizes, strict=True)),
            tuple(_vanishes(row, size, vectors) for row, size in zip(asked, asked_sizes, strict=True)),
            contact - rank_of_contact,
        )

    def _allowed(self, rows: Matrix, scales: list[int]) -> tuple[Matrix, int]:
        """Fields that span the directions on which all rows vanish, and how many rows are independent."""
        jets, width = self.jets, len(self.base)
        work = [list(row) for row in rows]
        done: list[tuple[int, list[Jet]]] = []
        left = set(range(len(work)))
        while left:
            choices = [
                (abs(work[r][c][0]) * self.size[c] // scales[r], r, c) for r in left for c in range(width) if scales[r]
            ]
            share, r, c = max(choices, default=(0, 0, 0))
            if share * ZERO <= UNIT:
                break
            left.remove(r)
            inverse = jets.inverse(work[r][c])
            pivot = [jets.multiply(jet, inverse) if any(jet) else jet for jet in work[r]]
            done = [(column, self._eliminated(row, pivot, c)) for column, row in done]
            for other in left:
                work[other] = self._eliminated(work[other], pivot, c)
            done.append((c, pivot))
        pivots = {column for column, _ in done}
        fields = []
        for f in (c for c in range(width) if c not in pivots):
            field = [jets.constant(UNIT if c == f else 0) for c in range(width)]
            for column, row in done:
                field[column] = [-value for value in row[f]]
            fields.append(field)
        return fields, len(done)

    def _eliminated(self, row: list[Jet], pivot: list[Jet], column: int) -> list[Jet]:
        factor = row[column]
        if not any(factor):
            return row
        jets = self.jets
        return [jets.subtract(a, jets.multiply(factor, p)) if any(p) else a for a, p in zip(row, pivot, strict=True)]

    def _bracket(self, X: list[Jet], Y: list[Jet]) -> tuple[list[Jet], int]:
        """[X, Y] = (X·∂)Y − (Y·∂)X, and the size of the terms that it is a sum of."""
        jets, scale, found = self.jets, 0, []
        for i, s in enumerate(self.size):
            total, terms = [0] * jets.size, 0
            for j, b in enumerate(self.base):
                if b not in self.which:
                    continue
                for field, other, sign in ((X, Y, 1), (Y, X, -1)):
                    if any(field[j]) and any(other[i][1:]):
                        term = jets.multiply(field[j], jets.derivative(other[i], self.which[b]))
                        terms += abs(term[0])
                        total = [a + sign * c for a, c in zip(total, term, strict=True)]
            scale = max(scale, (terms << BITS) // s)
            found.append(total)
        # A derivative that is zero leaves the rounding of what it is a derivative of, and nothing to compare it with.
        natural = self._reach(X) * self._reach(Y) >> BITS
        return found, max(scale, natural // ROUNDING)

    def _reach(self, field: list[Jet]) -> int:
        return max((abs(jet[0]) << BITS) // s for jet, s in zip(field, self.size, strict=True))


def _vanishes(row: list[Jet], size: int, vectors: Sequence[Sequence[int]]) -> bool:
    """Whether a row annihilates all vectors, which have components of the sizes of the variables."""
    for vector in vectors:
        terms = [jet[0] * x >> BITS for jet, x in zip(row, vector, strict=True)]
        if abs(sum(terms)) * ZERO > max(sum(map(abs, terms)), size // ROUNDING):
            return False
    return True


def _part_annihilated(rows: Matrix, vectors: list[list[int]]) -> tuple[list[list[int]], int]:
    """Of the span of the vectors, what the rows annihilate, and the rank of the rows on it."""
    work = [list(vector) for vector in vectors]
    rank = 0
    for row in rows:
        products = [[jet[0] * x >> BITS for jet, x in zip(row, vector, strict=True)] for vector in work]
        sizes = [sum(terms) for terms in products]
        best = max(range(len(work)), key=lambda k: abs(sizes[k]), default=None)
        if best is None or abs(sizes[best]) * ZERO <= max(UNIT // ROUNDING, *(sum(map(abs, p)) for p in products)):
            continue
        rank += 1
        pivot, size = work.pop(best), sizes.pop(best)
        for k, other in enumerate(sizes):
            factor = (other << BITS) // size
            work[k] = [a - (factor * b >> BITS) for a, b in zip(work[k], pivot, strict=True)]
    return work, rank


class _Span:
    """Vectors in reduced form: whether another one lies in their span. Components are measured in units of `size`."""

    def __init__(self, size: Sequence[int]) -> None:
        self.size = size
        self.rows: list[tuple[int, list[int]]] = []

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def vectors(self) -> list[list[int]]:
        return [[x * s >> BITS for x, s in zip(row, self.size, strict=True)] for _, row in self.rows]

    def add(self, vector: Sequence[int], scale: int | None) -> bool:
        """Adds a vector unless the others span it. scale: the size of the terms it is a sum of."""
        new = [(x << BITS) // s for x, s in zip(vector, self.size, strict=True)]
        largest = max(map(abs, new), default=0)
        scale = largest if scale is None else max(scale, largest)
        for column, row in self.rows:
            if new[column]:
                factor = new[column]
                new = [a - (factor * b >> BITS) for a, b in zip(new, row, strict=True)]
        column = max(range(len(new)), key=lambda c: abs(new[c]), default=0)
        if not new or abs(new[column]) * ZERO <= scale:
            return False
        pivot = new[column]
        new = [(x << BITS) // pivot for x in new]
        self.rows = [
            (place, [a - (row[column] * b >> BITS) for a, b in zip(row, new, strict=True)]) for place, row in self.rows
        ]
        self.rows.append((column, new))
        return True


def _size(value: int) -> int:
    """The size of a coordinate, at least a thousandth: weights that make the choice of units immaterial."""
    return max(abs(value), UNIT // 1000)


def _pivots(table: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Rows and columns of a regular part of a matrix of numbers, as large as there is."""
    work = [list(row) for row in table]
    scales = [max(map(abs, row), default=0) for row in work]
    left, found = set(range(len(work))), []
    while left:
        choices = [(abs(x) * UNIT // scales[r], r, c) for r in left if scales[r] for c, x in enumerate(work[r])]
        share, r, c = max(choices, default=(0, 0, 0))
        if share * ZERO <= UNIT:
            break
        left.remove(r)
        found.append((r, c))
        for other in left:
            if work[other][c]:
                factor = (work[other][c] << BITS) // work[r][c]
                work[other] = [a - (factor * b >> BITS) for a, b in zip(work[other], work[r], strict=True)]
    return found


def _solve(matrix: Sequence[Sequence[int]], right: Sequence[int]) -> list[int]:
    """x with matrix·x = right, by elimination with pivots."""
    size = len(right)
    work = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for c in range(size):
        best = max(range(c, size), key=lambda r: abs(work[r][c]))
        work[c], work[best] = work[best], work[c]
        if work[c][c] == 0:
            raise NoJet("conditions that are not independent")
        for r in range(size):
            if r != c and work[r][c]:
                factor = (work[r][c] << BITS) // work[c][c]
                work[r] = [a - (factor * b >> BITS) for a, b in zip(work[r], work[c], strict=True)]
    return [(work[r][size] << BITS) // work[r][r] for r in range(size)]
