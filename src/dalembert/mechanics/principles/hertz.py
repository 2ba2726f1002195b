"""Hertz's principle of least curvature: (8), (9) of Somani 2019.

Where nothing is impressed and the constraints leave the speed alone, the path is, of all that the constraints admit
with the same direction, the one of least curvature in the metric of the masses:

    ds² = q̇ᵀM q̇ dt²      K = (q'' + Γ)ᵀM (q'' + Γ), least over q'' = d²q/ds² with A q'' + B = 0

where Γ_i = Γ^i_jk q'_j q'_k. √K is the curvature. For particles of one mass m this is Somani's K = Σ|d²r/ds²|²
divided by m, because ds² is without the mass there: K = mG/(2T)² with G = mΣ|r̈|² (printed as G/2T). The
minimum is where M q'' + c = Aᵀμ, c_i = [jk,i] q'_j q'_k: a geodesic, on the constraints. Time follows from ṡ = √2T,
which is constant: q̈ = q''ṡ² + q's̈ with s̈ = 0, and the constraints' force is ṡ²Aᵀμ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp
from scipy.linalg import null_space

from dalembert.arrays import Array
from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy, tidy_matrix
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import latex
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    does_work,
    first,
    has_modes,
    no_energies,
    nonpotential,
    rheonomic,
)
from dalembert.mechanics.principles.shared.page_marks import differential, mark
from dalembert.mechanics.principles.shared.powers_of_velocity import (
    acts,
    christoffel,
    gradient_and_bend,
    powers_of,
    why_unnatural,
)
from dalembert.mechanics.principles.shared.vanishing_gradients import at_rest, vanishing_gradients
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.mechanics.standard_form import diff, standard_form
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System

# A constraint force does no work where its power is below this fraction of |A||q̇|: sampled states satisfy the
# constraints to 1e-12.
POWER = 1e-9
# Rows of A whose singular values are below this fraction of the largest are dependent: rounding leaves 1e-15.
DEPENDENT = 1e-11
# Christoffel's symbols of the second kind are shown where the metric has no more operations than this.
READABLE = 100
# A line of more operations than this is not read: geodesics are then left as the equations of Euler and Lagrange.
LONG = 120


def applies(system: System) -> str:
    plain = first(
        has_modes(system), no_energies(system), rheonomic(system), why_unnatural(system), nonpotential(system)
    )
    return plain or first(acts(system), does_work(system)) or _not_about_directions(system)


def state_size(system: System) -> int:
    return 2 * len(system.coordinates) + len(system.constraints)


def _not_about_directions(system: System) -> str:
    """Constraints on accelerations, and those that tell speeds: which paths they admit depends on the speed."""
    levels = [c.name for c in system.constraints if c.level == "acceleration"]
    if levels:
        return f"a constraint on accelerations: {', '.join(levels)}"
    curved = [c for c in system.constraints if c.level == "velocity"]
    sampler = Sampler(standard_form(system))
    states = sampler.states(4)
    for constraint in curved:
        slopes = sampler.function([diff(constraint.expression, v) for v in system.velocities])
        for state in states:
            row = slopes(state)
            if not abs(row @ state.v) <= POWER * np.linalg.norm(row) * np.linalg.norm(state.v):
                return f"not homogeneous in the velocities: {constraint.name} is about speeds, not about paths alone"
    return ""


# -- numbers


def prepare(system: System, sampler: Sampler) -> Solver:
    powers = powers_of(system)
    assert powers is not None
    n, m, v = len(system.coordinates), len(system.constraints), system.velocities
    rows = [gradient_and_bend(c, system, v) for c in system.constraints]
    metric = sampler.function(list(powers.metric))
    # The rates in these are those by arc length: they are evaluated at q' in place of q̇.
    path = sampler.function(
        [*christoffel(powers.metric, system, v), *(e for row, _ in rows for e in row), *(bend for _, bend in rows)]
    )

    require_gradients = vanishing_gradients(sampler)

    def solve(state: Sample, C: Array) -> Answer:
        require_gradients(state)
        M = metric(state).reshape(n, n)
        if at_rest(M, path(state)[n : n + m * n].reshape(m, n), state.v):
            raise NotHere("the system is at rest: a path that is not traversed has no curvature")
        speed = np.sqrt(float(state.v @ M @ state.v))
        along = Sample(state.q, state.v / speed, state.t, state.p)
        c, A, bend = np.split(path(along), np.cumsum([n, m * n]))
        turn = least_curvature(M, c, A.reshape(m, n), bend)
        return Answer(turn * speed**2, (M @ turn + c) * speed**2)

    return solve


def least_curvature(M: Array, c: Array, A: Array, bend: Array) -> Array:
    """The q'' of least K = (M q'' + c)ᵀM⁻¹(M q'' + c) with A q'' + bend = 0.

    Where M is singular, M + AᵀA takes its place: along the constraints it measures the same.
    """
    length = np.linalg.norm(A, axis=1)
    length = np.where(length > 0, length, 1.0)
    A, bend = A / length[:, None], bend / length
    unit = 1 / mass_scale(M)
    M, c, A = M * np.outer(unit, unit), c * unit, A * unit
    if np.linalg.eigvalsh(M)[0] <= DEPENDENT:
        M, c = M + A.T @ A, c + A.T @ bend
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise NotHere("mass and constraints together leave a direction without inertia") from None
    particular = np.linalg.lstsq(A, -bend, rcond=DEPENDENT)[0]
    free = null_space(A, rcond=DEPENDENT) if A.shape[0] else np.eye(M.shape[0])
    bent = L.T @ particular + np.linalg.solve(L, c)
    steps = np.linalg.lstsq(L.T @ free, -bent, rcond=None)[0] if free.shape[1] else np.zeros(0)
    return np.asarray(unit * (particular + free @ steps))


# -- on a page


def by_arc(system: System, times: int) -> tuple[Coordinate, ...]:
    """Symbols for dq/ds (x_s) or d²q/ds² (x_ss)."""
    return tuple(Coordinate.named(f"{q.name}_{'s' * times}") for q in system.coordinates)


def line_element(metric: sp.ImmutableMatrix, system: System, budget: Budget) -> sp.Expr:
    """m_ij dq_i dq_j."""
    return form_of(metric, [differential(q) for q in system.coordinates], budget)


def form_of(metric: sp.ImmutableMatrix, steps: Sequence[sp.Symbol], budget: Budget) -> sp.Expr:
    """m_ij u_i u_j."""
    n = len(steps)
    entries = [(i, j, tidy(metric[i, j], budget)) for i in range(n) for j in range(i, n)]
    return sp.Add(*((1 if i == j else 2) * entry * steps[i] * steps[j] for i, j, entry in entries))


def derive(system: System) -> Equations:
    """The metric, its geodesics by arc length, and the time."""
    powers, budget = powers_of(system), budget_for(system)
    assert powers is not None
    metric = tidy_matrix(powers.metric.applyfunc(exact), budget)
    rates = by_arc(system, 1)
    s, T = Coordinate.named("s"), sp.Symbol("T")
    element = Line(differential(s) ** 2, (("", line_element(metric, system, budget)),))
    inverse = readable_inverse(metric, budget)
    sections = [Section("line element", (element,))]
    if inverse is not None and (K := _curvature(system, metric, inverse, budget)) is not None:
        sections.append(Section("squared curvature, x_s = dx/ds", (Line(sp.Symbol("K"), (("", K),)),)))
        # ds² holds the masses here; for particles of one mass m (9) of Somani 2019, without them, is m K.
        own = Line(sp.Symbol("K_Somani"), (("", sp.Symbol("m") * sp.Symbol("K")),), "(9), particles of one mass m")
        bend = Line(sp.Symbol("kappa"), (("", sp.sqrt(sp.Symbol("K"))),), "curvature")
        sections.append(Section("conventions", (bend, own)))
    F = form_of(metric, rates, budget) / 2
    lines = geodesic(system, metric, inverse, "M", F, budget)
    sections.append(Section("geodesics: K is least, x_s = dx/ds", lines))
    swap = dict(zip(system.velocities, rates, strict=True))
    rows = [Line(sp.S.Zero, (("", tidy(c.expression.xreplace(swap), budget)),), c.name) for c in system.constraints]
    sections += [Section("constraints", tuple(rows))] if rows else []
    label = "constant; the constraint forces are s'^2 A^T mu" if rows else "constant"
    sections.append(Section("time", (Line(s.d**2, (("", 2 * T),), label),)))
    return Equations(
        system=system,
        form="hertz",
        explicit=False,
        reason="",
        title="K = (q_ss + Gamma)^T M (q_ss + Gamma) is least, Somani (9)",
        sections=tuple(sections),
    )


def readable_inverse(metric: sp.ImmutableMatrix, budget: Budget) -> sp.ImmutableMatrix | None:
    """The inverse of a metric where it fits on a page; none of a singular one."""
    if sum(map(sp.count_ops, metric)) > READABLE:
        return None
    try:
        inverse = inverse_of(metric, budget)
    except TooLarge:
        return None
    return None if inverse.has(sp.zoo, sp.nan) else inverse


def _curvature(
    system: System, metric: sp.ImmutableMatrix, inverse: sp.ImmutableMatrix, budget: Budget
) -> sp.Expr | None:
    """K in q' and q'', or None where it does not fit on a page."""
    bend = inverse * sp.Matrix(christoffel(metric, system, by_arc(system, 1)))
    turn = [q2 + tidy(c, budget) for q2, c in zip(by_arc(system, 2), bend, strict=True)]
    n = len(turn)
    K = sp.Add(*(metric[i, j] * turn[i] * turn[j] * (1 if i == j else 2) for i in range(n) for j in range(i, n)))
    return K if sp.count_ops(K) <= READABLE else None


def geodesic(
    system: System,
    metric: sp.ImmutableMatrix,
    inverse: sp.ImmutableMatrix | None,
    name: str,
    F: sp.Expr,
    budget: Budget,
) -> tuple[Line, ...]:
    """q'' = −Γ + M⁻¹Aᵀμ where the inverse is given, else M q'' = −c + Aᵀμ; `name` is that of the metric. Where a line
    of them is long, what they come from: d/ds ∂F/∂q' − ∂F/∂q = Aᵀμ with F = ½ m_ij q'_i q'_j.
    """
    rates, turns = by_arc(system, 1), sp.Matrix(by_arc(system, 2))
    bend = sp.Matrix([tidy(-c, budget) for c in christoffel(metric, system, rates)])
    reaction = sp.zeros(len(rates), 1)
    for k, constraint in enumerate(system.constraints):
        row, _ = gradient_and_bend(constraint, system, rates)
        reaction += sp.Symbol(f"mu_{k + 1}", real=True) * sp.Matrix(row)
    plain = reaction
    if inverse is None:
        left, labels = metric * turns, ("-c", r"A^T\mu")
    else:
        left, labels = turns, (r"-\Gamma", rf"{name}^{{-1}}A^T\mu")
        bend, reaction = inverse * bend, inverse * reaction
    lines = []
    for i in range(len(rates)):
        parts = zip(labels, (tidy(bend[i], budget), tidy(reaction[i], budget)), strict=True)
        shown = tuple((label, part) for label, part in parts if part != 0) or (("", sp.S.Zero),)
        lines.append(Line(left[i], shown if len(shown) > 1 else (("", shown[0][1]),)))
    if all(sp.count_ops(line.left) + sum(sp.count_ops(part) for _, part in line.terms) <= LONG for line in lines):
        return tuple(lines)
    unknowns = zip(system.coordinates, rates, plain, strict=True)
    short = [Line(_euler(q, u), (("", tidy(part, budget)),)) for q, u, part in unknowns]
    return Line(sp.Symbol("F"), (("", F),)), *short


def _euler(q: sp.Symbol, rate: sp.Symbol) -> sp.Symbol:
    up, along = rf"\frac{{\partial F}}{{\partial {latex(rate)}}}", rf"\frac{{\partial F}}{{\partial {latex(q)}}}"
    return mark(f"d/ds(dF/d{rate.name}) - dF/d{q.name}", rf"\frac{{d}}{{ds}}{up} - {along}")
