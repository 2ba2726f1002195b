"""Maupertuis' principle in Jacobi's form: (21), (22) of Somani 2019.

At a given energy E the path makes the abbreviated action stationary, which is its length in Jacobi's metric:

    S₀ = ∫ Σ p_i dq_i = ∫ √(2(E − V) m_ij dq_i dq_j)        ds² = g_ij dq_i dq_j,  g_ij = 2(E − V) m_ij

Its geodesics on the constraints are g q'' + c = Aᵀμ, A q'' + B = 0, with c_i = [jk,i] q'_j q'_k of the metric g. Time
follows from dt = √(m_ij dq_i dq_j / 2(E − V)) = ds/2(E − V): with ṡ = 2(E − V), q̈ = q''ṡ² + q's̈ and the constraints'
force is ṡ Aᵀμ. `System.path` finds the path between two points.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.tidy import exact, tidy, tidy_matrix
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.typeset import PAGE, width
from dalembert.mechanics.principles.hertz import by_arc, form_of, geodesic, line_element, readable_inverse
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    does_work,
    first,
    has_modes,
    no_energies,
    nonholonomic,
    nonpotential,
    rheonomic,
)
from dalembert.mechanics.principles.shared.page_marks import differential
from dalembert.mechanics.principles.shared.powers_of_velocity import gradient_and_bend, powers_of, why_unnatural
from dalembert.mechanics.principles.shared.vanishing_gradients import at_rest, vanishing_gradients
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff
from dalembert.model.language.symbols import Parameter
from dalembert.model.system import System


def applies(system: System) -> str:
    return first(
        has_modes(system),
        no_energies(system),
        rheonomic(system),
        nonholonomic(system),
        nonpotential(system),
        does_work(system),
    ) or why_unnatural(system)


def state_size(system: System) -> int:
    """q and dq/ds, the multipliers, and the time, which is not part of the path."""
    return 2 * len(system.coordinates) + len(system.constraints) + 1


# -- numbers


def prepare(system: System, sampler: Sampler) -> Solver:
    powers = powers_of(system)
    assert powers is not None
    q, v, V = system.coordinates, system.velocities, -powers.rest
    n, m = len(q), len(system.constraints)
    rows = [gradient_and_bend(constraint, system, v) for constraint in system.constraints]
    metric = sampler.function(
        [*powers.metric, *(diff(entry, c) for entry in powers.metric for c in q), *(diff(V, c) for c in q)]
    )
    constraints = sampler.function([*(entry for row, _ in rows for entry in row), *(bend for _, bend in rows)])

    require_gradients = vanishing_gradients(sampler)

    def solve(state: Sample, C: Array) -> Answer:
        require_gradients(state)
        mass, slopes, slope = np.split(metric(state), np.cumsum([n * n, n * n * n]))
        mass = mass.reshape(n, n)
        if at_rest(mass, constraints(state)[: m * n].reshape(m, n), state.v):
            raise NotHere("the system is at rest: E = V, where Jacobi's metric vanishes")
        # E − V is the kinetic energy of the state: so the energy, and with it the metric, is that of this motion.
        left = float(state.v @ mass @ state.v) / 2
        g = 2 * left * mass
        by_q = 2 * left * slopes.reshape(n, n, n) - 2 * mass[:, :, None] * slope  # ∂g_ij/∂q_k
        pace = 2 * left  # ds/dt
        rates = state.v / pace
        c = np.einsum("ijk,j,k->i", by_q, rates, rates) - np.einsum("jki,j,k->i", by_q, rates, rates) / 2
        values = constraints(Sample(state.q, rates, state.t, state.p))
        A, bend = values[: m * n].reshape(m, n), values[m * n :]
        turn, reaction = _on_constraints(g, c, A, bend)
        return Answer(turn * pace**2 - rates * 2 * float(slope @ state.v), pace * reaction)

    return solve


def _on_constraints(g: Array, c: Array, A: Array, bend: Array) -> tuple[Array, Array]:
    """q'' and Aᵀμ of g q'' + c = Aᵀμ, A q'' + bend = 0, every coordinate in units of √g_jj and every row of length one.

    Of all μ that redundant rows leave, lstsq takes the smallest; Aᵀμ is the same for all.
    """
    n, m = c.size, bend.size
    unit = 1 / np.sqrt(np.where(np.diag(g) > 0, np.diag(g), np.max(np.diag(g))))
    rows = A * unit
    length = np.linalg.norm(rows, axis=1)
    length = np.where(length > 0, length, 1.0)
    rows = rows / length[:, None]
    matrix = np.block([[g * np.outer(unit, unit), -rows.T], [rows, np.zeros((m, m))]])
    found = np.linalg.lstsq(matrix, -np.concatenate([c * unit, bend / length]), rcond=1e-12)[0]
    return unit * found[:n], rows.T @ found[n:] / unit


# -- on a page


def derive(system: System) -> Equations:
    """Jacobi's metric, its geodesics, and the time along them."""
    powers, budget = powers_of(system), budget_for(system)
    assert powers is not None
    taken = {symbol.name for symbol in (*system.coordinates, *system.parameter_symbols)}
    E = Parameter.named("E" if "E" not in taken else "E_0")
    V = tidy(exact(-powers.rest), budget)
    mass = tidy_matrix(powers.metric.applyfunc(exact), budget)
    metric = sp.ImmutableMatrix(2 * (E - V) * mass)
    element, form = line_element(mass, system, budget), form_of(mass, by_arc(system, 1), budget)
    ds, d_sigma, sigma_s = differential(sp.Symbol("s")), differential(sp.Symbol("sigma")), sp.Symbol("sigma_s")
    # A sum inside a product cannot be broken: where the line is too wide it gets one of its own.
    named = width(2 * (E - V)) + width(element) > PAGE
    # Written as products: the conformal factor stays apart from the masses.
    lines = [Line(ds**2, (("", sp.Mul(2 * (E - V), d_sigma**2 if named else element, evaluate=False)),))]
    lines += [Line(d_sigma**2, (("", element),))] if named else []
    F = sp.Mul(E - V, sigma_s**2 if named else form, evaluate=False)
    path = geodesic(system, metric, readable_inverse(metric, budget), "g", F, budget)
    if named and path[0].left == sp.Symbol("F"):
        path = (path[0], Line(sigma_s**2, (("", form),)), *path[1:])
    label = "the constraint forces are A^T mu/t_s" if system.constraints else ""
    time = Line(sp.Symbol("t_s"), (("", 1 / (2 * (E - V))),), label)
    sections = [
        Section("Jacobi's line element at the energy " + E.name, tuple(lines)),
        Section("geodesics, x_s = dx/ds", path),
    ]
    rows = [Line(sp.S.Zero, (("", c.expression),), c.name) for c in system.constraints]
    sections += [Section("constraints", tuple(rows))] if rows else []
    sections.append(Section("time", (time,)))
    return Equations(
        system=system,
        form="maupertuis",
        explicit=False,
        reason="",
        title="the integral of sqrt(2 (E - V) m_ij dq_i dq_j) is stationary, Somani (22)",
        sections=tuple(sections),
    )
