"""Frobenius: which constraints linear in the velocities are position constraints in disguise.

The constraints give forms ω_k = Σ a_kj dq_j + b_k dt. The motions they allow span the distribution D = {X :
ω_k(X) = 0}. The forms are integrable together iff D is closed under Lie brackets; if not, the forms that
vanish on the smallest closed distribution containing D are the largest integrable part (the last of the
derived systems). How large it is and what is in it is decided at random points (`frobenius`); symbols serve to write
the integrals down, where they stay small.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import sympy as sp

from dalembert.mechanics.algebra.tidy import Budget, tidy
from dalembert.mechanics.classify.frobenius import Found, integrable_part
from dalembert.mechanics.classify.integrals import Form, integral_of
from dalembert.mechanics.classify.problem import Problem
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.fundamental import null_space
from dalembert.mechanics.standard_form import diff, is_long, slopes
from dalembert.model.constraints import is_linear
from dalembert.model.language.contents import contents
from dalembert.model.language.symbols import t
from dalembert.model.system import System

# Fields and forms are scaled to unit length before ranks and products are taken, so this is an angle;
# rounding through a few brackets stays below 1e-11, and generic points show true angles.
ANGLE = 1e-8
POINTS = 6
# Points at which jets decide. One would do but for chance.
DECIDING = 3
# Operations in one component of a bracket. Beyond, the integrable part is not written down.
LARGEST = 400
# Operations of all forms together, and of one, up to which integrals are looked for.
LARGEST_SET = 300
LARGEST_FORM = 80


@dataclass(frozen=True)
class Pfaffian:
    """The forms of a system: `rows` over `variables` (coordinates, and t where it matters), `names` of their
    constraints.

    `position` marks rows that are differentials of position constraints.
    """

    system: System
    variables: tuple[sp.Symbol, ...]
    names: tuple[str, ...]
    position: tuple[bool, ...]
    rows: tuple[Form, ...]


@dataclass(frozen=True)
class Integral:
    """f(q, t) = constant follows from the constraints; `constraint` is the one it integrates, with `factor`,
    if it is one.
    """

    expression: sp.Expr
    constraint: str | None = None
    factor: sp.Expr | None = None


@dataclass(frozen=True)
class Integrability:
    """`member`: for each linear constraint, whether it is in the integrable part (None: not decided).
    `dimension` of that part; `unwritten` of its dimensions have no integral that was found.
    """

    member: dict[str, bool | None]
    dimension: int
    integrals: tuple[Integral, ...]
    unwritten: int = 0


def pfaffian(system: System) -> Pfaffian:
    """The forms of the position constraints and of the velocity constraints that are linear in the
    velocities.
    """
    names, position, rows = [], [], []
    for constraint in system.constraints:
        expression = constraint.expression
        if constraint.level == "position":
            rows.append(slopes(expression, (*system.coordinates, t)))
        elif constraint.level == "velocity" and is_linear([expression], system.velocities):
            rows.append(linear_row(expression, system.velocities))
        else:
            continue
        names.append(constraint.name)
        position.append(constraint.level == "position")
    timed = any(row[-1] != 0 for row in rows) or t in contents(*(a for row in rows for a in row)).symbols
    variables = (*system.coordinates, t) if timed else system.coordinates
    return Pfaffian(
        system, variables, tuple(names), tuple(position), tuple(tuple(row[: len(variables)]) for row in rows)
    )


def linear_row(expression: sp.Expr, unknowns: tuple[sp.Symbol, ...]) -> list[sp.Expr]:
    """The coefficients of an expression linear in the unknowns, and what is left without them."""
    none = dict.fromkeys(unknowns, sp.S.Zero)
    rest = expression.xreplace(none)
    if not is_long(expression):
        return [*(sp.expand(a, power_exp=False) for a in slopes(expression, unknowns)), rest]
    # Shorter than a derivative, which keeps all factors of a product of sums.
    present = expression.free_symbols
    row = [expression.xreplace({**none, u: sp.S.One}) - rest if u in present else sp.S.Zero for u in unknowns]
    return [*row, rest]


class Integrator:
    """Decides integrability of the forms of one system and looks for the integrals."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self.forms = pfaffian(sampler.system)
        self.points: list[Sample] = sampler.states(POINTS, velocities=False)
        self.budget = Budget(20_000)
        self.constants: dict[sp.Symbol, sp.Expr] = {}  # of integration, with the functions that are constant

    def zero(self, expression: sp.Expr) -> bool:
        return self.sampler.vanishes(expression.xreplace(self.constants), self.points)

    @cached_property
    def _found(self) -> Found | None:
        """What jets say at random points of the constraints' surface."""
        forms, system, known = self.forms, self.sampler.system, self.sampler.stood_in
        problem = Problem(
            variables=forms.variables,
            conditions=tuple(known(c.expression) for c in system.constraints if c.level == "position"),
            forms=tuple(
                tuple(map(known, row)) for row, given in zip(forms.rows, forms.position, strict=True) if not given
            ),
            asked=(),
            values=self.sampler.parameters,
        )
        points = [dict(zip((*system.coordinates, t), (*p.q, p.t), strict=True)) for p in self.points[:DECIDING]]
        return integrable_part(problem, points)

    def verdict(self) -> Integrability:
        """What is integrable, without the integrals."""
        forms = self.forms
        member: dict[str, bool | None] = {
            name: True if given else None for name, given in zip(forms.names, forms.position, strict=True)
        }
        if all(forms.position):
            return Integrability(member, self._rank(forms.rows), ())
        if not self.points:
            return Integrability(member, sum(forms.position), ())
        found = self._found
        if found is None:
            if not self.frobenius():
                return Integrability(member, sum(forms.position), ())
            return Integrability(dict.fromkeys(forms.names, True), self._rank(forms.rows), ())
        moving = [name for name, given in zip(forms.names, forms.position, strict=True) if not given]
        member |= dict(zip(moving, found.members, strict=True))
        return Integrability(member, found.conditions + found.integrable, (), found.integrable)

    def integrability(self) -> Integrability:
        """What is integrable, and its integrals as far as they are found."""
        result = self.verdict()
        given = sum(self.forms.position)
        if given == len(self.forms.names) or not self.points or (self._found is not None and not result.unwritten):
            return result
        sizes = [sum(int(sp.count_ops(a)) for a in row) for row in self.forms.rows]
        part: Sequence[Form] = ()
        if sum(sizes) <= LARGEST_SET:
            if all(result.member.values()):
                part = self._echelon(self.forms.rows)
            elif (fields := self.closure()) is not None:
                part = tuple(self._annihilator(fields))
                if self._found is None:
                    member: dict[str, bool | None] = dict(
                        zip(self.forms.names, (self._annihilates(r, fields) for r in self.forms.rows), strict=True)
                    )
                    result = Integrability(member, len(part), ())
        short = {name for name, size in zip(self.forms.names, sizes, strict=True) if size <= LARGEST_FORM}
        integrals = self._integrals(part, short)
        return replace(result, integrals=integrals, unwritten=max(0, result.unwritten - len(integrals)))

    def frobenius(self, rows: Sequence[Form] | None = None) -> bool:
        """Nᵀ(J_k − J_kᵀ)N = 0 for each form, with J_k = ∂ω_k/∂z and N a basis of the directions on which all
        forms vanish.
        """
        rows, z = self.forms.rows if rows is None else rows, self.forms.variables
        size = len(z)
        flat = [a for row in rows for a in row]
        entries = [*flat, *(diff(a, other) for a in flat for other in z)]
        for numbers in self.sampler.values([entry.xreplace(self.constants) for entry in entries], self.points):
            N = null_space(numbers[: len(flat)].reshape(-1, size), ANGLE)
            for J in numbers[len(flat) :].reshape(-1, size, size):
                twist = N.T @ (J - J.T) @ N
                if np.max(np.abs(twist), initial=0.0) > ANGLE * float(np.max(np.abs(J))):
                    return False
        return True

    def closure(self) -> list[Form] | None:
        """Vector fields spanning the smallest involutive distribution that contains the allowed motions."""
        fields = self._annihilator(self.forms.rows)
        rank, fresh = self._rank(fields), list(fields)
        while fresh:
            added: list[Form] = []
            for X, Y in [*combinations(fresh, 2), *((X, Y) for X in fresh for Y in fields if Y not in fresh)]:
                bracket = self._bracket(X, Y)
                if max((sp.count_ops(c) for c in bracket), default=0) > LARGEST:
                    return None
                if self._rank([*fields, *added, bracket]) > rank:
                    rank += 1
                    added.append(bracket)
                if rank == len(self.forms.variables):
                    return [*fields, *added]
            fields, fresh = [*fields, *added], added
        return fields

    def _bracket(self, X: Form, Y: Form) -> Form:
        z = self.forms.variables

        def component(i: int) -> sp.Expr:
            return sp.Add(*(X[j] * diff(Y[i], z[j]) - Y[j] * diff(X[i], z[j]) for j in range(len(z))))

        return tuple(self._clean(component(i)) for i in range(len(z)))

    def _clean(self, expression: sp.Expr) -> sp.Expr:
        if expression == 0 or self.zero(expression):
            return sp.S.Zero
        return tidy(expression, self.budget)

    # -- linear algebra over functions, pivots chosen by numbers

    def _numbers(self, rows: Sequence[Form]) -> np.ndarray:
        table = self.sampler.values([a for row in rows for a in row], self.points)
        table = table.reshape(len(table), len(rows), len(rows[0]) if rows else 0)  # there may be no points
        largest = np.abs(table).max(axis=2, keepdims=True, initial=0.0)
        table = table / np.where(largest > 0, largest, 1.0)  # squares of large powers would have no value
        length = np.linalg.norm(table, axis=2, keepdims=True)
        return table / np.where(length > 0, length, 1.0)

    def _rank(self, rows: Sequence[Form]) -> int:
        if not rows:
            return 0
        return max((int(np.linalg.matrix_rank(W, tol=ANGLE)) for W in self._numbers(rows)), default=0)

    def _annihilates(self, row: Form, fields: Sequence[Form]) -> bool:
        together = self._numbers([row, *fields])
        return bool(np.all(np.abs(np.einsum("pi,pki->pk", together[:, 0], together[:, 1:])) < ANGLE))

    def _echelon(self, rows: Sequence[Form], reverse: bool = False) -> tuple[Form, ...]:
        """Reduced row echelon form; columns in order, or from the last to the first."""
        work = [list(row) for row in rows]
        width = len(self.forms.variables)
        done: list[list[sp.Expr]] = []
        for column in sorted(range(width), reverse=reverse):
            usable = [row for row in work if row[column] != 0 and not self.zero(row[column])]
            if not usable:
                continue
            pivot = min(usable, key=lambda row: sp.count_ops(row[column]))
            work = [row for row in work if row is not pivot]
            pivot = [self._clean(a / pivot[column]) for a in pivot]
            work, done = ([self._eliminated(row, pivot, column) for row in group] for group in (work, done))
            done.append(pivot)
        return tuple(tuple(row) for row in done)

    def _eliminated(self, row: list[sp.Expr], pivot: list[sp.Expr], column: int) -> list[sp.Expr]:
        if row[column] == 0:
            return row
        return [self._clean(a - row[column] * p) for a, p in zip(row, pivot, strict=True)]

    def _annihilator(self, rows: Sequence[Form]) -> list[Form]:
        """A basis of the vectors (or forms) on which all rows vanish."""
        width = len(self.forms.variables)
        reduced = self._echelon(rows)
        pivots = [next(c for c in range(width) if row[c] != 0) for row in reduced]
        basis = []
        for free in (c for c in range(width) if c not in pivots):
            vector = [sp.S.Zero] * width
            vector[free] = sp.S.One
            for row, pivot in zip(reduced, pivots, strict=True):
                vector[pivot] = -row[free]
            basis.append(tuple(vector))
        return basis

    # -- integrals

    def _integrals(self, part: Sequence[Form], short: Collection[str]) -> tuple[Integral, ...]:
        """Integrals of the integrable part, one after the other; of single constraints, of the short ones.

        Each one found (the given position constraints first) is solved for a coordinate in which it is
        linear, and that coordinate is put into the forms that remain: after φ' = 0, cos φ is a constant.
        """
        forms, variables = self.forms, self.forms.variables
        rows = dict(zip(forms.names, forms.rows, strict=True))
        pending: list[tuple[str | None, Form]] = [
            (name, rows[name])
            for name, given in zip(forms.names, forms.position, strict=True)
            if not given and name in short
        ]
        pending += [(None, row) for row in (*part, *self._echelon(part, reverse=True))]
        found: list[Integral] = []
        closed = [row for row, given in zip(forms.rows, forms.position, strict=True) if given]
        for constraint in forms.system.constraints:
            if constraint.level == "position":
                pending = self._substitute(constraint.expression, sp.S.Zero, pending)
        whole_rank = self._rank(part)
        progress = True
        while progress:
            progress = False
            for entry in pending:
                name, form = entry
                # The other rows serve only to find what the constraints one by one do not give.
                if name is None and self._rank(closed) >= whole_rank:
                    return tuple(found)
                if all(self.zero(a) for a in form) or not self.frobenius([form]):
                    continue
                result = integral_of(form, variables, self.zero)
                if result is None:
                    continue
                f, factor = result
                whole = tidy(f.xreplace(self.constants))
                gradient = tuple(diff(whole, z) for z in variables)
                if name is None and self._rank([*closed, gradient]) == self._rank(closed):
                    continue
                found.append(Integral(whole, name, tidy(factor.xreplace(self.constants)) if name else None))
                closed.append(gradient)
                constant = sp.Dummy("constant", real=True)
                self.constants[constant] = whole
                pending = self._substitute(f, constant, [other for other in pending if other is not entry])
                progress = True
                break
        return tuple(found)

    def _substitute(
        self, f: sp.Expr, constant: sp.Expr, pending: Sequence[tuple[str | None, Form]]
    ) -> list[tuple[str | None, Form]]:
        """The forms with one coordinate eliminated by f = constant; unchanged where f is linear in none."""
        variables = self.forms.variables
        for k, z in enumerate(variables):
            slope = diff(f, z)
            if z == t or slope == 0 or z in slope.free_symbols or self.zero(slope):
                continue
            solution = tidy((constant - f.xreplace({z: sp.S.Zero})) / slope)
            result = []
            for name, form in pending:
                row = [
                    sp.S.Zero if j == k else tidy((form[j] + form[k] * diff(solution, other)).xreplace({z: solution}))
                    for j, other in enumerate(variables)
                ]
                result.append((name, tuple(row)))
            return result
        return list(pending)
