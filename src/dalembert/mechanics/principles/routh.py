"""Routh's equations: ignorable coordinates θ replaced by their constant momenta.

    p = ∂L/∂θ̇ constant      R = L − pᵀθ̇      d/dt ∂R/∂q̇ − ∂R/∂q = Q + C + Aᵀλ      θ̇ = −∂R/∂p

"Cyclic coordinates are eliminated as they are of no further use" (Somani 2019, section 2): what is left are the
equations of a system with fewer coordinates, whose potential has grown by the energy of the motion that is ignored.

Numbers: all that is known of a state is (q, q̇, p); q̈ comes from R, and θ̈ by differentiating −∂R/∂p along it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import lambda_of, plain
from dalembert.mechanics.principles.hamilton import momentum_symbols
from dalembert.mechanics.principles.lagrange import gradient
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of, affine_parts
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    Solver,
    first,
    has_modes,
    nonlinear_in_acceleration,
)
from dalembert.mechanics.principles.shared.scaled_constraints import saddle
from dalembert.mechanics.reduce.ignorable import ignorable
from dalembert.mechanics.reduce.routhian import Routhian, routhian
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, lagrangian, time_derivative
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System

R_SYMBOL, V_SYMBOL = sp.Symbol("R"), sp.Symbol("V_eff")


@dataclass(frozen=True, kw_only=True)
class RouthEquations(Equations):
    """`routhian` R; `ignored` coordinates with their `momenta` (symbol: expression in the velocities of the system) and
    their `velocities`, −∂R/∂p.
    """

    routhian: sp.Expr
    ignored: tuple[Coordinate, ...]
    momenta: dict[sp.Symbol, sp.Expr]
    velocities: dict[sp.Symbol, sp.Expr]

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "routhian": plain(self.routhian),
            "momenta": {p.name: plain(value) for p, value in self.momenta.items()},
            "velocities": {v.name: plain(value) for v, value in self.velocities.items()},
        }


def applies(system: System) -> str:
    reason = first(has_modes(system), nonlinear_in_acceleration(system))
    if reason:
        return reason
    found = ignorable(system)
    if found.reason:
        return found.reason
    try:
        _routhian(system, Budget(0))
    except TooLarge as limit:
        return str(limit)
    return ""


def state_size(system: System) -> int:
    """q and q̇ of what is left, and the multipliers; the momenta are constants, and θ follows by quadrature."""
    return 2 * (len(system.coordinates) - len(ignorable(system).coordinates)) + len(system.constraints)


def _routhian(system: System, budget: Budget) -> Routhian:
    ignored = ignorable(system).coordinates
    symbols = dict(zip(system.coordinates, momentum_symbols(system), strict=True))
    return routhian(system, ignored, tuple(symbols[q] for q in ignored), budget)


def _coordinates_left(system: System, found: Routhian) -> tuple[Coordinate, ...]:
    return tuple(q for q in system.coordinates if q not in found.ignored)


def _operator(system: System, found: Routhian, R: sp.Expr) -> list[sp.Expr]:
    """d/dt ∂R/∂q̇ − ∂R/∂q − Q of the coordinates that are left, the momenta constant."""
    left = _coordinates_left(system, found)
    forces = [system.forces.get(q, sp.S.Zero).xreplace(found.rates) for q in left]
    return [time_derivative(diff(R, q.d), left) - diff(R, q) - f for q, f in zip(left, forces, strict=True)]


def derive(system: System) -> RouthEquations:
    """Momenta, R, the equations of what is left, and the velocities of what is ignored."""
    budget = budget_for(system)
    found = _routhian(system, budget)
    left, L = _coordinates_left(system, found), lagrangian(system)
    R = sp.Add(*(tidy(term, budget) for term in sp.Add.make_args(sp.expand(found.R))))
    R = min((R, tidy(found.R, budget)), key=sp.count_ops)
    momenta = {p: tidy(exact(diff(L, q.d)), budget) for p, q in zip(found.momenta, found.ignored, strict=True)}
    rates = {q.d: tidy(rate, budget) for q, rate in zip(found.ignored, found.velocities, strict=True)}
    sections = [
        Section("momenta of ignorable coordinates, constant", tuple(Line(p, (("", e),)) for p, e in momenta.items())),
        Section("Routh's function", (Line(R_SYMBOL, (("", R),)), *_effective(left, R, budget))),
    ]
    none = dict.fromkeys((q.dd for q in left), sp.S.Zero)
    lines = []
    for q, E in zip(left, _operator(system, found, exact(found.R)), strict=True):
        j = system.coordinates.index(q)
        work = system.C[j].xreplace(found.rates)
        reaction = sp.Add(*(lambda_of(k) * gradient(system, k)[j] for k in range(len(system.constraints))))
        terms = [("Q", tidy(-E.xreplace(none), budget)), ("C", work), ("A^T\\lambda", reaction)]
        shown = tuple(term for term in terms if term[1] != 0) or (("", sp.S.Zero),)
        lines.append(Line(tidy(E - E.xreplace(none), budget), shown))
    sections += [Section("motion", tuple(lines))] if lines else []
    rows = [Line(sp.S.Zero, (("", c.expression.xreplace(found.rates)),), c.name) for c in system.constraints]
    sections += [Section("constraints", tuple(rows))] if rows else []
    sections.append(Section("ignored coordinates, by quadrature", tuple(Line(v, (("", e),)) for v, e in rates.items())))
    return RouthEquations(
        system=system,
        form="routh",
        explicit=False,
        reason="; ".join(ignorable(system).kept.values()),
        title="d/dt dR/dq' - dR/dq = Q + C + A^T lambda, R = L - p theta'",
        sections=tuple(sections),
        routhian=R,
        ignored=found.ignored,
        momenta=momenta,
        velocities=rates,
    )


def _effective(left: tuple[Coordinate, ...], R: sp.Expr, budget: Budget) -> list[Line]:
    """−R at rest: the potential with the energy of the motion that is ignored."""
    at_rest = tidy(-R.xreplace(dict.fromkeys((q.d for q in left), sp.S.Zero)), budget)
    return [Line(V_SYMBOL, (("", at_rest),), "effective potential, -R at rest")] if at_rest != 0 else []


def prepare(system: System, sampler: Sampler) -> Solver:
    found = _routhian(system, Budget(0))  # as it comes: nobody reads it
    left, p = _coordinates_left(system, found), found.momenta
    here = [system.coordinates.index(q) for q in left]
    there = [system.coordinates.index(q) for q in found.ignored]
    n, k = len(left), len(there)
    operator = _operator(system, found, found.R)
    none = dict.fromkeys((q.dd for q in left), sp.S.Zero)
    second = [time_derivative(rate, left) for rate in found.velocities]
    parts = [*operator, *second]
    table = [diff(e, q.dd) for e in parts for q in left] + [e.xreplace(none) for e in parts]
    evaluate = sampler.function(table, p)
    momenta = sampler.function([diff(lagrangian(system), q.d) for q in found.ignored])
    rates = sampler.function(list(found.velocities), p)
    constraints = affine_parts(sampler, accelerations_of(system))

    def solve(state: Sample, C: Array) -> Answer:
        known = momenta(state)
        v = state.v.copy()
        v[there] = np.nan  # not used, and it shows if it were
        v[there] = rates(Sample(state.q, v, state.t, state.p), *known)
        again = Sample(state.q, v, state.t, state.p)
        values = evaluate(again, *known)
        slopes, rest = values[: (n + k) * n].reshape(n + k, n), values[(n + k) * n :]
        A, h = constraints(again)
        q2, lam = saddle(slopes[:n], C[here] - rest[:n], A[:, here], -h)
        acceleration, force = np.zeros(n + k), np.zeros(n + k)
        acceleration[here], acceleration[there] = q2, slopes[n:] @ q2 + rest[n:]
        force[here] = A[:, here].T @ lam + C[here]
        return Answer(acceleration, force)

    return solve
