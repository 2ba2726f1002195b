"""A contrast, not a principle of mechanics: the action made stationary among paths that keep the constraints, (21) of
Flannery 2011.

    δ ∫ (L − μ_k g_k) dt = 0:      d/dt ∂L/∂q̇_j − ∂L/∂q_j = μ̇_k ∂g_k/∂q̇_j + μ_k g_kj,
    g_kj = d/dt ∂g_k/∂q̇_j − ∂g_k/∂q_j

For integrable constraints the last term is zero, or along ∂g/∂q̇, and these are Lagrange's equations with λ = μ̇ (+ …).
For others it is not the motion: the varied paths that the commutation of δ and d/dt leads to do not keep the
constraints. The multipliers are then variables of the motion, with initial values that no mechanics gives. In numbers,
μ = 0 at the state is taken: there the equations coincide with Lagrange's, μ̇ in the place of λ, and the motions part
only afterwards, as μ grows: `system.vakonomic` follows it.

Impressed forces and the work of constraints stand on the left as in Lagrange's equations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply
from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.principles.shared.euler_operator import (
    accelerations_of,
    affine_parts,
    euler_operator,
    force_along,
)
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    does_work,
    first,
    has_modes,
    no_energies,
)
from dalembert.mechanics.principles.shared.page_marks import mark
from dalembert.mechanics.principles.shared.scaled_constraints import saddle
from dalembert.mechanics.principles.shared.velocity_forms import (
    gradient,
    lagrangian_derivative,
    not_integrable,
    on_accelerations,
)
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.model.system import System

#: Shown beside the motion where it differs from it; the difference is no fault.
CONTRAST = True


def applies(system: System) -> str:
    """Empty where every constraint is holonomic; else why this is not the motion."""
    reason = first(has_modes(system), _no_action(system))
    different = "" if reason else not_integrable(system)
    return f"not the motion: {different}. From mu = 0 it parts only later" if different else reason


def _no_action(system: System) -> str:
    """Why there is no action that could be stationary."""
    return first(on_accelerations(system), no_energies(system), does_work(system))


def state_size(system: System) -> int:
    """μ is a variable of the motion, like q and q̇."""
    return 2 * len(system.coordinates) + len(system.constraints)


def derive(system: System) -> Equations:
    reason = first(has_modes(system), _no_action(system))
    if reason:
        raise DoesNotApply(f"{system.name}: the form 'vakonomic' does not apply: {reason}", reason)
    budget = budget_for(system)
    none = dict.fromkeys(system.accelerations, sp.S.Zero)
    slopes = [gradient(system, c) for c in system.constraints]
    bends = [lagrangian_derivative(system, c) for c in system.constraints]
    lines = []
    for j, E in enumerate(euler_operator(system)):
        given = tidy(-E.xreplace(none), budget)
        first_kind = sp.Add(*(rate_of_multiplier(k) * slope[j] for k, slope in enumerate(slopes)))
        second_kind = sp.Add(*(multiplier(k) * tidy(bend[j], budget) for k, bend in enumerate(bends)))
        named = [("Q", given), ("C", system.C[j])]
        named += [(r"\dot{\mu}\,\partial g/\partial\dot{q}", first_kind), (r"\mu\,g_j", second_kind)]
        terms = tuple(part for part in named if part[1] != 0) or (("", sp.S.Zero),)
        lines.append(Line(tidy(E - E.xreplace(none), budget), terms))
    rows = tuple(Line(sp.S.Zero, (("", c.expression),), c.name) for c in system.constraints)
    reason = applies(system)
    title = "not the motion, but stationary action among paths that keep the constraints" if reason else "motion"
    sections = [Section(title, tuple(lines))]
    sections += [Section("constraints", rows)] if rows else []
    return Equations(
        system=system,
        form="vakonomic",
        explicit=False,
        reason=reason,
        title="d/dt dL/dq' - dL/dq = mu' dg/dq' + mu (d/dt dg/dq' - dg/dq), Flannery (21)",
        sections=tuple(sections),
    )


def multiplier(k: int) -> sp.Symbol:
    return sp.Symbol(f"mu_{k + 1}", real=True)


def rate_of_multiplier(k: int) -> sp.Symbol:
    return mark(f"mu_{k + 1}'", rf"\dot{{\mu}}_{{{k + 1}}}")


def prepare(system: System, sampler: Sampler, multipliers: Sequence[float] | None = None) -> Solver:
    """Numbers with the given μ, zero unless said otherwise."""
    reason = _no_action(system)
    if reason:

        def refuse(state: Sample, C: Array) -> Answer:
            raise NotHere(reason)

        return refuse
    mu = np.zeros(len(system.constraints)) if multipliers is None else np.asarray(multipliers, dtype=float)
    n = len(system.coordinates)
    E = euler_operator(system)
    bends = [lagrangian_derivative(system, c) for c in system.constraints]
    pulled = [E[j] - sp.Add(*(float(mu[k]) * bend[j] for k, bend in enumerate(bends) if mu[k])) for j in range(n)]
    motion, constraints = affine_parts(sampler, pulled), affine_parts(sampler, accelerations_of(system))
    force = force_along(sampler, E)

    def solve(state: Sample, C: Array) -> Answer:
        M, r = motion(state)
        A, h = constraints(state)
        acceleration, _ = saddle(M, C - r, A, -h)
        return Answer(acceleration, force(state, acceleration))

    return solve
