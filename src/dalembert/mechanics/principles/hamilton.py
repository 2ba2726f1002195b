"""Hamilton's canonical equations: (11)–(19) of Somani 2019, with forces that have no potential and the constraints'.

    p = ∂L/∂q̇   (11)      H(q,p,t) = q̇ᵀp − L      q̇ = ∂H/∂p,  ṗ = −∂H/∂q + Q_np + C + Aᵀλ   (14)

For L = L₀ + aᵀq̇ + ½ q̇ᵀm q̇ the procedure there gives H = ½ (p − a)ᵀm⁻¹(p − a) − L₀ (17). A coordinate that is not
in L is not in H (18): it is cyclic, and its momentum is constant where no force acts along it. dH/dt = −∂L/∂t (19), to
which such forces add their power.

Numbers: ṗ and λ come from the canonical equations and the constraints along them, and the acceleration is
q̈ = d/dt ∂H/∂p = H_pq q̇ + H_pp ṗ + H_pt. Where m has no inverse that fits on a page, or L is not quadratic, the
derivatives of H are those of L by the theorem of implicit functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy, tidy_matrix
from dalembert.mechanics.page.equations import Equations
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    first,
    has_modes,
    no_energies,
    nonlinear_in_acceleration,
)
from dalembert.mechanics.principles.shared.powers_of_velocity import Powers, momenta_of, powers_of, why_singular
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, lagrangian
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System

# H with more operations than this is neither read nor worth differentiating twice: 300 fill a third of a page.
LARGEST = 300
# Metrics are inverted up to this many operations: three links in relative angles have 459, which take 7 s, and their H
# is too long to be read.
LARGEST_METRIC = 300


@dataclass(frozen=True)
class Hamiltonian:
    """H as an expression in q, p, t, and the velocities ∂H/∂p that go with it."""

    momenta: tuple[Coordinate, ...]
    H: sp.Expr
    velocities: tuple[sp.Expr, ...]


def applies(system: System) -> str:
    return first(has_modes(system), no_energies(system), nonlinear_in_acceleration(system)) or why_singular(system)


def state_size(system: System) -> int:
    """q and p, and the multipliers."""
    return 2 * len(system.coordinates) + len(system.constraints)


def derive(system: System) -> Equations:
    """Momenta, H, the canonical equations, cyclic coordinates, and what H is."""
    from dalembert.mechanics.principles.hamilton_page import show  # it needs the numbers of this module

    return show(system)


def momentum_symbols(system: System) -> tuple[Coordinate, ...]:
    """p_x for x; P_x where the model itself has a p_x."""
    taken = {s.name for s in (*system.coordinates, *system.parameter_symbols)}
    mark = "p" if not any(f"p_{q.name}" in taken for q in system.coordinates) else "P"
    return tuple(Coordinate.named(f"{mark}_{q.name}") for q in system.coordinates)


def hamiltonian(system: System, budget: Budget | None = None) -> Hamiltonian | str:
    """H(q,p,t) by (17) as a person reads it, or why there is none in closed form."""
    powers = powers_of(system)
    if powers is not None:
        linear = tuple(exact(a) for a in powers.linear)
        powers = Powers(exact(powers.rest), linear, powers.metric.applyfunc(exact))
    return _closed_form(system, powers, budget or Budget())


def _closed_form(system: System, powers: Powers | None, budget: Budget) -> Hamiltonian | str:
    if powers is None:
        return "L is not quadratic in the velocities, and p = dL/dq' is not solved for them in closed form"
    p = momentum_symbols(system)
    if (size := sum(map(sp.count_ops, powers.metric))) > LARGEST_METRIC:
        return f"M has {size} operations; it is inverted up to {LARGEST_METRIC}"
    try:
        inverse = inverse_of(tidy_matrix(powers.metric, budget), budget)
    except TooLarge as limit:
        return str(limit)
    excess = sp.Matrix([symbol - tidy(a, budget) for symbol, a in zip(p, powers.linear, strict=True)])
    rates = inverse * excess
    H = (excess.T * rates)[0] / 2 - powers.rest
    if (size := sp.count_ops(H)) > LARGEST:
        return f"H has {size} operations; it is shown up to {LARGEST}"
    return Hamiltonian(p, H, tuple(rates))


# -- numbers


@dataclass(frozen=True)
class Slopes:
    """At a state (q, p): q̇ = H_p, H_q (n); H_pp, H_pq (n×n), H_pt (n)."""

    p: Array
    q: Array
    pp: Array
    pq: Array
    pt: Array


def prepare(system: System, sampler: Sampler) -> Solver:
    n, m = len(system.coordinates), len(system.constraints)
    found = _closed_form(system, powers_of(system), Budget(0))  # as it comes: nobody reads it
    slopes_at = _implicit(system, sampler) if isinstance(found, str) else _symbolic(system, sampler, found)
    impressed = sampler.function([system.forces.get(q, sp.S.Zero) for q in system.coordinates])
    rows = [_row(system, k) for k in range(m)]
    constraints = sampler.function([*(entry for row, _ in rows for entry in row), *(rest for _, rest in rows)])

    def solve(state: Sample, C: Array) -> Answer:
        H = slopes_at(state)
        if not all(np.isfinite(part).all() for part in (H.p, H.q, H.pp, H.pq, H.pt)):
            raise NotHere("M is singular at this state: the momenta do not determine the velocities")
        # From here on all that is known of the state is (q, p): velocities are those that H gives.
        here = Sample(state.q, H.p, state.t, state.p)
        values = constraints(here)
        A, rest = values[: m * n].reshape(m, n), values[m * n :]
        free = -H.q + impressed(here) + C
        drift = H.pq @ H.p + H.pt
        # ṗ − Aᵀλ = free, A (H_pp ṗ + drift) + rest = 0, each momentum in units of √m_jj and each row of length one.
        # Of all λ that redundant rows leave, lstsq takes the smallest; Aᵀλ is the same for all.
        unit = 1 / np.sqrt(np.abs(np.diag(H.pp)))
        rate = A @ H.pp * unit
        length = np.linalg.norm(rate, axis=1)
        length = np.where(length > 0, length, 1.0)
        matrix = np.block([[np.eye(n), -(A / unit).T / length], [rate / length[:, None], np.zeros((m, m))]])
        right = np.concatenate([free / unit, -(A @ drift + rest) / length])
        p_dot = unit * np.linalg.lstsq(matrix, right, rcond=1e-12)[0][:n]
        return Answer(drift + H.pp @ p_dot, p_dot - free + C)

    return solve


def _row(system: System, k: int) -> tuple[list[sp.Expr], sp.Expr]:
    """A constraint, differentiated until it holds the accelerations, as A q̈ + rest = 0."""
    constraint, q = system.constraints[k], system.coordinates
    g = constraint.expression
    if constraint.level == "acceleration":
        return [diff(g, c.dd) for c in q], g.xreplace(dict.fromkeys(system.accelerations, sp.S.Zero))
    if constraint.level == "position":
        g = diff(g, t) + sp.Add(*(diff(g, c) * c.d for c in q))
    return [diff(g, c.d) for c in q], diff(g, t) + sp.Add(*(diff(g, c) * c.d for c in q))


def _symbolic(system: System, sampler: Sampler, found: Hamiltonian) -> Callable[[Sample], Slopes]:
    """The derivatives of H as an expression."""
    n, q, p = len(system.coordinates), system.coordinates, found.momenta
    momenta = sampler.function(momenta_of(system))
    by_p = [diff(found.H, symbol) for symbol in p]
    table = [
        *by_p,
        *(diff(found.H, c) for c in q),
        *(diff(slope, symbol) for slope in by_p for symbol in p),
        *(diff(slope, c) for slope in by_p for c in q),
        *(diff(slope, t) for slope in by_p),
    ]
    evaluate = sampler.function(table, p)

    def at(state: Sample) -> Slopes:
        values = np.split(evaluate(state, *momenta(state)), np.cumsum([n, n, n * n, n * n]))
        return Slopes(values[0], values[1], values[2].reshape(n, n), values[3].reshape(n, n), values[4])

    return at


def _implicit(system: System, sampler: Sampler) -> Callable[[Sample], Slopes]:
    """The derivatives of H by differentiating p = ∂L/∂q̇(q, q̇(q,p,t), t):

    H_q = −L_q,  H_pp = (L_vv)⁻¹,  H_pq = −H_pp L_vq,  H_pt = −H_pp L_vt
    """
    n, L, q = len(system.coordinates), lagrangian(system), system.coordinates
    momenta = momenta_of(system)
    table = [
        *(diff(L, c) for c in q),
        *(diff(p, v) for p in momenta for v in system.velocities),
        *(diff(p, c) for p in momenta for c in q),
        *(diff(p, t) for p in momenta),
    ]
    evaluate = sampler.function(table)

    def at(state: Sample) -> Slopes:
        by_q, vv, vq, vt = np.split(evaluate(state), np.cumsum([n, n * n, n * n]))
        try:
            inverse = np.asarray(np.linalg.inv(vv.reshape(n, n)), dtype=np.float64)
        except np.linalg.LinAlgError:
            inverse = np.full((n, n), np.nan)
        return Slopes(state.v, -by_q, inverse, -inverse @ vq.reshape(n, n), -inverse @ vt)

    return at
