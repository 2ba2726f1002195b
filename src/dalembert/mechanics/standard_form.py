"""The standard form of a system, M q̈ = Q with A q̈ = b and the vector C, as symbolic matrices.

    M = ∂²L/∂q̇²      Q = Q_np + ∂L/∂q − (∂²L/∂q̇∂q) q̇ − ∂²L/∂q̇∂t

or M and Q as given. Nothing is simplified here: this is the raw material of every other form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import sympy as sp

from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.rates import partial
from dalembert.model.language.symbols import Coordinate, Reaction, t
from dalembert.model.system import System


@dataclass(frozen=True)
class StandardForm:
    """M (n×n), Q (n×1), A (m×n), b (m×1), C (n×1) of `system`; the rows of A and b are its constraints in the
    order given.

    `nonlinear` names the constraints that are nonlinear in q̈: there A = ∂h/∂q̈ and b = A q̈ − h hold
    accelerations, and A q̈ = b says h = 0. C may hold `ideal(x)`, `actual(x)` and `multiplier(NAME)`; of dry
    friction it holds the force while sliding. One-sided constraints count as holding.
    """

    system: System
    M: sp.ImmutableMatrix
    Q: sp.ImmutableMatrix
    A: sp.ImmutableMatrix
    b: sp.ImmutableMatrix
    C: sp.ImmutableMatrix
    nonlinear: tuple[str, ...]

    @property
    def reactions(self) -> frozenset[Reaction]:
        """The constraint forces that appear in C."""
        return frozenset(self.C.atoms(Reaction))


@lru_cache(maxsize=16)  # systems are frozen; every formulation of one asks for it again
def standard_form(system: System) -> StandardForm:
    """M, Q, A, b, C of a system, whichever way it gives its inertia (T and V, L, or M) and whatever the levels of its
    constraints.

    >>> import dalembert as da
    >>> x, = da.coordinates("x")
    >>> m, k = da.parameters("m k")
    >>> form = standard_form(da.System("spring", coordinates=[x], kinetic=m*x.d**2/2, potential=k*x**2/2))
    >>> form.M[0], form.Q[0]
    (m, -x*k)
    """
    M, Q = _inertia(system)
    rows = [constraint_row(constraint, system.coordinates) for constraint in system.constraints]
    n, m = len(system.coordinates), len(rows)
    return StandardForm(
        system,
        M,
        Q,
        sp.ImmutableMatrix(m, n, [entry for row, _ in rows for entry in row]),
        sp.ImmutableMatrix(m, 1, [right for _, right in rows]),
        sp.ImmutableMatrix(n, 1, system.sliding_C),
        nonlinear_constraints(system),
    )


def nonlinear_constraints(system: System) -> tuple[str, ...]:
    """The names of the constraints that are nonlinear in q̈."""
    return tuple(c.name for c in system.constraints if not is_linear([c.expression], system.accelerations))


def constraint_row(constraint: Constraint, coordinates: tuple[Coordinate, ...]) -> tuple[list[sp.Expr], sp.Expr]:
    """One row of A and entry of b: the constraint differentiated until it holds the accelerations."""
    expression = constraint.expression
    accelerations = [q.dd for q in coordinates]
    if constraint.level == "acceleration":
        row = slopes(expression, accelerations)
        if is_linear([expression], accelerations):
            # b = A q̈ − h must not depend on q̈, and setting q̈ = 0 leaves no trace of it.
            return row, -expression.xreplace(dict.fromkeys(accelerations, sp.S.Zero))
        return row, sp.Add(*(a * q2 for a, q2 in zip(row, accelerations, strict=True))) - expression
    if constraint.level == "position":
        expression = time_derivative(expression, coordinates)
    changes = zip(slopes(expression, coordinates), coordinates, strict=True)
    row = slopes(expression, [q.d for q in coordinates])
    return row, -(diff(expression, t) + sp.Add(*(slope * q.d for slope, q in changes)))


def time_derivative(expression: sp.Expr, coordinates: tuple[Coordinate, ...]) -> sp.Expr:
    """d/dt along a motion: ∂/∂t + q̇ ∂/∂q + q̈ ∂/∂q̇. The expression holds no accelerations."""
    present = symbols_in(expression)
    parts = [diff(expression, t)]
    for q in coordinates:
        parts += [diff(expression, z) * z.d for z in (q, q.d) if z in present]
    return sp.Add(*parts)


def diff(expression: sp.Expr, symbol: sp.Symbol) -> sp.Expr:
    """∂/∂symbol. Where sign(…) jumps, the derivative is that of its sides: no motion stays on the jump."""
    return _slope(expression, symbol) if is_long(expression) else partial(expression, symbol)


def slopes(expression: sp.Expr, symbols: Sequence[sp.Symbol]) -> list[sp.Expr]:
    """∂/∂symbol for each of them. Most constraints of a large system hold a few of its coordinates only."""
    present = symbols_in(expression)
    return [diff(expression, symbol) if symbol in present else sp.S.Zero for symbol in symbols]


def is_long(expression: sp.Expr, nodes: int = 120) -> bool:
    """Whether an expression has more than so many parts, without counting all of them."""
    walk = sp.preorder_traversal(expression)
    return next(islice(walk, nodes, None), None) is not None


@lru_cache(maxsize=60_000)  # entries are small and shared; a bicycle needs ten thousand
def _slope(e: sp.Expr, symbol: sp.Symbol) -> sp.Expr:
    """The same part by part, each part once. Long expressions hold the same parts many times over, and SymPy, which
    looks through all that is below at each step, takes fifteen times as long.
    """
    if e.is_Atom:
        return sp.S.One if e == symbol else sp.S.Zero
    if not (e.is_Add or e.is_Mul or (e.is_Pow and e.exp.is_number)):
        if len(e.args) != 1 or not isinstance(e, sp.Function):
            return partial(e, symbol)
        inner = _slope(e.args[0], symbol)
        w = sp.Dummy(real=True)
        return sp.S.Zero if inner == 0 else partial(e.func(w), w).xreplace({w: e.args[0]}) * inner
    slopes = [_slope(part, symbol) for part in e.args]
    if e.is_Add:
        return sp.Add(*slopes)
    if e.is_Pow:
        return sp.S.Zero if slopes[0] == 0 else e.exp * e.base ** (e.exp - 1) * slopes[0]
    products = [sp.Mul(*e.args[:k], slope, *e.args[k + 1 :]) for k, slope in enumerate(slopes) if slope != 0]
    return sp.Add(*products)


def lagrangian(system: System) -> sp.Expr:
    """L = T − V. For a system given by its mass matrix, T = ½ q̇ᵀM q̇."""
    if system.lagrangian is not None:
        return system.lagrangian
    potential = system.potential if system.potential is not None else sp.S.Zero
    if system.kinetic is not None:
        return system.kinetic - potential
    assert system.mass is not None
    return quadratic(system.mass, system.velocities) / 2 - potential


def impressed_forces(system: System) -> sp.ImmutableMatrix:
    """The impressed forces, those of the potential among them, n×1: F − ∂V/∂q, or F + ∂L/∂q at q̇ = 0 where only L is
    known. The rest of Q is inertial (centrifugal, Coriolis). With M given, all of Q is impressed.
    """
    if system.lagrangian is not None:
        rest = system.lagrangian.xreplace(dict.fromkeys(system.velocities, sp.S.Zero))
    else:
        rest = -system.potential if system.potential is not None else sp.S.Zero
    forces = [system.forces.get(q, sp.S.Zero) + diff(rest, q) for q in system.coordinates]
    return sp.ImmutableMatrix(len(forces), 1, forces)


def quadratic(matrix: sp.Matrix, vector: tuple[Coordinate, ...]) -> sp.Expr:
    """vᵀ matrix v."""
    n = len(vector)
    return sp.Add(*(matrix[i, j] * vector[i] * vector[j] for i in range(n) for j in range(n)))


def _inertia(system: System) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
    q, v, n = system.coordinates, system.velocities, len(system.coordinates)
    forces = [system.forces.get(c, sp.S.Zero) for c in q]
    if system.mass is not None:
        # The forces are all of Q, velocity terms included; only a potential is added to them.
        potential = system.potential if system.potential is not None else sp.S.Zero
        return system.mass, sp.ImmutableMatrix(n, 1, [f - diff(potential, c) for f, c in zip(forces, q, strict=True)])
    L = lagrangian(system)
    momenta = [diff(L, velocity) for velocity in v]
    M = sp.zeros(n, n)
    for i in range(n):
        for j in range(i, n):
            M[i, j] = M[j, i] = diff(momenta[i], v[j])
    Q = [
        forces[i] + diff(L, q[i]) - sp.Add(*(diff(momenta[i], c) * c.d for c in q)) - diff(momenta[i], t)
        for i in range(n)
    ]
    return sp.ImmutableMatrix(M), sp.ImmutableMatrix(n, 1, Q)
