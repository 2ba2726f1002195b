"""Quasi-velocities: independent velocities u that the constraints leave, and how everything else follows from them.

    q̇ = N u + n,      q̈ = N u̇ + n₀,      N = ∂q̇/∂u = ∂q̈/∂u̇,   A N = 0

N holds the partial velocities. The u are some of the velocities q̇ themselves, found by pivoting, or what the user
names: any expressions u_r(q, q̇, t). Constraints nonlinear in q̇ give q̈ in the same way; q̇ is then not solved for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import sympy as sp
from scipy.linalg import qr
from sympy import ImmutableMatrix as Matrix

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.mechanics.algebra.cofactors import LARGEST_BLOCK, determinant, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy, tidy_matrix
from dalembert.mechanics.explicit.held_coordinates import held_coordinates
from dalembert.mechanics.page.equations import Line, Section
from dalembert.mechanics.page.parts import Parts, is_long_model
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of
from dalembert.mechanics.principles.shared.read_quasi_velocities import read_quasi_velocities
from dalembert.mechanics.principles.shared.scaled_constraints import column_scale, independent, unit_rows
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import diff, standard_form, time_derivative
from dalembert.model.constraints import is_linear
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System

# Sets of dependent velocities that are looked through for the simplest; where there are more, QR with pivoting chooses.
MOST_SETS = 2000
# A set may have a determinant this much below the best one if it reads better. The choice is for the eye: states at
# which it is singular are named, and numbers do not depend on it.
NEARLY = 0.05
# Determinants are written out to see which of so many sets is never singular.
MOST_DETERMINANTS = 60


@dataclass(frozen=True)
class Quasi:
    """`symbols` u and `rates` u̇, with the `definitions` of u in q, q̇, t. `velocities` are q̇ in q, u, t, or None where
    they are not solved for; `accelerations` are q̈ in u̇ and u (or q̇). `partial` is N, n×p.

    `dropped` names redundant constraints, `singular` vanishes where these u do not determine q̇, `held` gives the
    coordinates that a constraint fixes. `parts`: for long models the names of what all this is made of; then q̇ stay in
    q̈ as they are.
    """

    system: System
    symbols: tuple[Coordinate, ...]
    rates: tuple[Coordinate, ...]
    definitions: tuple[sp.Expr, ...]
    velocities: tuple[sp.Expr, ...] | None
    accelerations: tuple[sp.Expr, ...]
    partial: Matrix
    dropped: tuple[str, ...]
    singular: sp.Expr
    held: Mapping[sp.Symbol, sp.Expr]
    parts: Parts | None = None

    def on_motion(self, expression: sp.Expr, budget: Budget) -> sp.Expr:
        """An expression in q, q̇, q̈ as the quasi-velocities give it."""
        found = exact(expression).xreplace(dict(zip(self.system.accelerations, self.accelerations, strict=True)))
        if self.parts is not None:
            return found
        if self.velocities is not None:
            found = found.xreplace(dict(zip(self.system.velocities, self.velocities, strict=True)))
        return tidy(found.xreplace(dict(self.held)), budget)

    def along(self, forces: list[sp.Expr], budget: Budget) -> list[sp.Expr]:
        """Generalized forces, in q and q̇, on the quasi-velocities: Nᵀ of them."""
        columns = (self.partial.col(r) for r in range(self.partial.cols))
        return [self.on_motion(sp.Add(*(a * f for a, f in zip(col, forces, strict=True))), budget) for col in columns]

    @property
    def note(self) -> str:
        """When equations in these quasi-velocities hold, and what was left out, in words."""
        notes = []
        if self.dropped:
            notes.append(f"redundant, follows from the others and is left out: {', '.join(self.dropped)}")
        if _state(self.singular) and self.parts is None:
            notes.append(f"these quasi-velocities determine the motion where {plain(self.singular)} is not zero")
        fixed = [f"{q.name} = {plain(value)}" for q, value in self.held.items() if q in self.system.coordinates]
        notes += [f"at {', '.join(fixed)}, as the constraints demand"] if fixed else []
        return "; ".join(notes)


def freedom(system: System) -> int:
    """How many quasi-velocities there are: n less the rank of the constraints at a generic state."""
    _, _, kept = _at_states(system, _gradients(accelerations_of(system), system.accelerations))
    return len(system.coordinates) - len(kept)


def choose(system: System, given: Mapping[str, Any] | None, budget: Budget) -> Quasi:
    """The quasi-velocities of a system, its own or those given by name. `TooLarge` where they cannot be written out."""
    if given is None and is_long_model(system):
        return _by_parts(system)
    held = held_coordinates(system, system.expressions())
    every = [exact(h) for h in accelerations_of(system)]
    gradients = _gradients(every, system.accelerations)
    sampler, table, kept = _at_states(system, gradients)
    n, m = len(system.coordinates), len(kept)
    named = read_quasi_velocities(system, given, n - m) if given is not None else None
    A = tidy_matrix(gradients.extract(kept, range(n)).xreplace(held), budget)
    dependent = _dependent(A, [numbers[kept] for numbers in table])
    free = [j for j in range(n) if j not in dependent]
    A_D = A.extract(range(m), dependent)
    inverse = inverse_of(A_D, budget) if m else Matrix(sp.zeros(0, 0))

    def dependents(rest: list[sp.Expr]) -> Matrix:
        """n×1: zero for the free, −A_D⁻¹ rest for the dependent."""
        column, values = sp.zeros(n, 1), -inverse * sp.Matrix(m, 1, rest) if m else []
        for j, value in zip(dependent, values, strict=True):
            column[j] = value
        return Matrix(column)

    N = sp.zeros(n, n - m)
    for r, j in enumerate(free):
        N[j, r] = 1
        for d, value in zip(dependent, -inverse * A[:, j] if m else [], strict=True):
            N[d, r] = value
    N = tidy_matrix(N, budget)
    none = dict.fromkeys((*system.accelerations, *system.velocities), sp.S.Zero)
    at_rest = dict.fromkeys(system.accelerations, sp.S.Zero)
    shift = dependents([every[k].xreplace(at_rest).xreplace(held) for k in kept])
    symbols = [system.velocities[j] for j in free]
    rates = [system.accelerations[j] for j in free]
    definitions, singular = list(symbols), determinant(A_D)
    back = sp.eye(n - m)
    if named is not None:
        symbols = [Coordinate.named(name) for name in named]
        rates, definitions = [u.d for u in symbols], [exact(u) for u in named.values()]
        U = _gradients(definitions, system.velocities).xreplace(held)
        T = tidy_matrix(U * N, budget)
        _require_independent(system, sampler, T, list(named))
        back = inverse_of(T, budget)
        singular, N = singular * determinant(T), tidy_matrix(N * back, budget)
        drift = [time_derivative(u, system.coordinates).xreplace(at_rest).xreplace(held) for u in definitions]
        shift = shift - N * (U * shift + sp.Matrix(drift))
    velocities = None
    firsts = _first_order(system, kept)
    if firsts is not None and is_linear([*firsts, *definitions], system.velocities):
        offset = dependents([exact(g).xreplace(none).xreplace(held) for g in firsts])
        u = sp.Matrix(n - m, 1, symbols)
        if named is not None:
            u = u - U * offset - sp.Matrix([d.xreplace(none).xreplace(held) for d in definitions])
        velocities = list(tidy_matrix(offset + N * u, budget))
        swap = dict(zip(system.velocities, velocities, strict=True))
        accelerations = [
            _derivative(system, v, symbols, rates).xreplace(_others(swap, symbols)).xreplace(held) for v in velocities
        ]
    else:
        accelerations = list(N * sp.Matrix(n - m, 1, rates) + shift)
    names = [c.name for c in system.constraints]
    return Quasi(
        system=system,
        symbols=tuple(symbols),
        rates=tuple(rates),
        definitions=tuple(definitions),
        velocities=None if velocities is None else tuple(velocities),
        accelerations=tuple(tidy(a, budget) for a in accelerations),
        partial=N,
        dropped=tuple(name for k, name in enumerate(names) if k not in kept),
        singular=_without_constants(tidy(singular, budget)),
        held=held,
    )


def _by_parts(system: System) -> Quasi:
    """The quasi-velocities of a long model: entries of A have names, and so has what is made of them."""
    every = accelerations_of(system)
    gradients = _gradients(every, system.accelerations)
    _, table, kept = _at_states(system, gradients)
    n, m = len(system.coordinates), len(kept)
    # The choice is made by numbers, between entries of which only is known whether they depend on the state.
    raw = gradients.extract(kept, range(n))
    dependent = _dependent(raw, [numbers[kept] for numbers in table], written=False)
    free = [j for j in range(n) if j not in dependent]
    parts, none = Parts(), Budget(0)
    A = parts.matrix(raw)
    A_D = A.extract(range(m), dependent)
    inverse = parts.matrix(inverse_of(A_D, none)) if m else Matrix(sp.zeros(0, 0))

    def dependents(rest: list[sp.Expr]) -> list[sp.Expr]:
        column = [sp.S.Zero] * n
        for j, value in zip(dependent, -inverse * sp.Matrix(m, 1, rest) if m else [], strict=True):
            column[j] = parts.name(value)
        return column

    N = sp.zeros(n, n - m)
    for r, j in enumerate(free):
        for i, value in enumerate(dependents(list(A.col(j)))):
            N[i, r] = sp.S.One if i == j else value
    at_rest = dict.fromkeys(system.accelerations, sp.S.Zero)
    shift = dependents([parts.name(every[k].xreplace(at_rest)) for k in kept])
    symbols, rates = [system.velocities[j] for j in free], [system.accelerations[j] for j in free]
    velocities = None
    firsts = _first_order(system, kept)
    if firsts is not None and is_linear(firsts, system.velocities):
        still = dict.fromkeys(system.velocities, sp.S.Zero)
        offset = dependents([parts.name(g.xreplace(still)) for g in firsts])
        velocities = tuple(N * sp.Matrix(n - m, 1, symbols) + sp.Matrix(n, 1, offset))
    names = [c.name for c in system.constraints]
    return Quasi(
        system=system,
        symbols=tuple(symbols),
        rates=tuple(rates),
        definitions=tuple(symbols),
        velocities=velocities,
        accelerations=tuple(N * sp.Matrix(n - m, 1, rates) + sp.Matrix(n, 1, shift)),
        partial=Matrix(N),
        dropped=tuple(name for k, name in enumerate(names) if k not in kept),
        singular=parts.name(determinant(A_D)),
        held={},
        parts=parts,
    )


def kinematics(quasi: Quasi) -> list[Section]:
    """How the velocities, or where these are not solved for the accelerations, follow from the quasi-velocities."""
    sections = []
    own = [(u, d) for u, d in zip(quasi.symbols, quasi.definitions, strict=True) if u != d]
    if own:
        sections.append(Section("quasi-velocities", tuple(Line(u, (("", d),)) for u, d in own)))
    names, values = quasi.system.velocities, quasi.velocities
    if values is None:
        names, values = quasi.system.accelerations, quasi.accelerations
    lines = [Line(v, (("", value),)) for v, value in zip(names, values, strict=True) if v != value]
    title = "velocities" if quasi.velocities is not None else "accelerations"
    sections += [Section(f"{title} that the constraints allow", tuple(lines))] if lines else []
    if quasi.parts is not None and quasi.singular.free_symbols:
        line = Line(sp.Symbol("det", real=True), (("", quasi.singular),))
        sections.append(Section("these quasi-velocities determine the motion where this is not zero", (line,)))
    return sections


def _gradients(expressions: list[sp.Expr], variables: tuple[Coordinate, ...]) -> Matrix:
    return Matrix(len(expressions), len(variables), [diff(e, v) for e in expressions for v in variables])


def _state(expression: sp.Expr) -> list[sp.Symbol]:
    return [s for s in expression.free_symbols if isinstance(s, Coordinate) or s == t]


def _without_constants(expression: sp.Expr) -> sp.Expr:
    return sp.Mul(*(factor for factor in sp.Mul.make_args(sp.factor_terms(expression)) if _state(factor)))


def _derivative(system: System, v: sp.Expr, symbols: list[Coordinate], rates: list[Coordinate]) -> sp.Expr:
    """d/dt of q̇(q, u, t); the velocities that appear are still those of the model."""
    parts = [diff(v, t), *(diff(v, q) * q.d for q in system.coordinates)]
    return sp.Add(*parts, *(diff(v, u) * rate for u, rate in zip(symbols, rates, strict=True)))


def _others(swap: dict[Coordinate, sp.Expr], symbols: list[Coordinate]) -> dict[Coordinate, sp.Expr]:
    return {velocity: value for velocity, value in swap.items() if velocity not in symbols}


def _first_order(system: System, kept: list[int]) -> list[sp.Expr] | None:
    """The kept constraints on velocities, φ̇ and ψ; None where one is on accelerations."""
    found = []
    for k in kept:
        constraint = system.constraints[k]
        if constraint.level == "acceleration":
            return None
        is_position = constraint.level == "position"
        expression = constraint.expression
        found.append(time_derivative(expression, system.coordinates) if is_position else expression)
    return found


# -- choices that numbers make


def _at_states(system: System, A: Matrix) -> tuple[Sampler, list[Array], list[int]]:
    """A at generic states, mass-scaled, its rows of length one; and the rows that are independent there."""
    sampler = Sampler(standard_form(system))
    n, m = len(system.coordinates), A.rows
    values = sampler.values([*A, *sampler.form.M], sampler.states(4) or [sampler.start() for _ in range(4)])
    if not len(values):
        raise ModelError(system.name, ["the constraints have no finite value at the states tried"])
    table: list[Array] = []
    kept: list[int] = []
    for row in values:
        numbers, M = row[: m * n].reshape(m, n), row[m * n :].reshape(n, n)
        scaled, _ = unit_rows(numbers * column_scale(M, numbers), np.zeros(m))
        table.append(scaled)
        rows = _first_independent(scaled)
        kept = rows if len(rows) > len(kept) else kept
    return sampler, table, kept


def _first_independent(A: Array) -> list[int]:
    """Of dependent rows the first are kept, as a person would."""
    kept: list[int] = []
    for k in range(len(A)):
        if len(independent(A[[*kept, k]])) > len(kept):
            kept.append(k)
    return kept


def _dependent(A: Matrix, table: list[Array], written: bool = True) -> list[int]:
    """The velocities that the others determine: of all sets that do well at the states, the simplest. written: whether
    determinants may be written out to see that.
    """
    m, n = A.shape
    if comb(n, m) > MOST_SETS:
        return sorted(int(j) for j in qr(table[0], mode="economic", pivoting=True)[2][:m])
    sets = list(combinations(range(n), m))
    sizes = np.array([[abs(np.linalg.det(numbers[:, list(s)])) for s in sets] for numbers in table])
    worst = np.min(sizes / np.max(sizes, axis=1, keepdims=True), axis=0)

    good = [k for k in range(len(sets)) if worst[k] >= NEARLY * np.max(worst)]
    small = written and m <= LARGEST_BLOCK and len(good) <= MOST_DETERMINANTS

    operations_of = {entry: int(sp.count_ops(entry)) for entry in A}

    def reading(k: int) -> tuple[bool, int, int, float, tuple[int, ...]]:
        block = A.extract(range(m), list(sets[k]))
        # A set that is nowhere singular comes first: its determinant is free of the state.
        size = tidy(determinant(block)) if small else sp.Add(*(entry**2 for entry in block))
        variables = {symbol for entry in block for symbol in _state(entry)}
        operations = sum(operations_of[entry] for entry in block)
        return bool(_state(size)), len(variables), operations, -round(float(worst[k]), 6), sets[k]

    return list(sets[min(good, key=reading)])


def _require_independent(system: System, sampler: Sampler, T: Matrix, names: list[str]) -> None:
    """That the quasi-velocities given determine those that are free."""
    size = T.rows
    values = sampler.values(list(T), sampler.states(4) or [sampler.start()])
    if any(len(independent(unit_rows(row.reshape(size, size), np.zeros(size))[0])) == size for row in values):
        return
    raise ModelError(
        system.name, [f"{', '.join(names)}: together with the constraints they do not determine the velocities"]
    )
