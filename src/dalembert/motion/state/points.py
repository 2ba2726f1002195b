"""Everything at the output points of a motion, all points at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.forces import Forces, forces_along
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import branches_of, together_of
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.state.contact_history import Held
from dalembert.motion.state.evaluation import Evaluation
from dalembert.remember import changed


@dataclass(frozen=True)
class Points:
    """The solution of the fundamental equation and the energies at T points; the leading axis is time."""

    solution: Fundamental
    energy: Array
    inertial: Array
    position: Array | None = None  # φ (T, …) and (φ̇, ψ), where they came with the others
    velocity: Array | None = None
    closed: Array | None = (
        None  # A with all its rows, also those of constraints that are open, where there are contacts
    )

    @property
    def A(self) -> Array:
        return self.solution.A


def evaluate_points(
    evaluation: Evaluation, t: Array, q: Array, v: Array, guesses: Array | None = None, held: Held | None = None
) -> Points:
    """Solve at every point. `guesses` (T, 2n) are nearby accelerations, with and without C: they select
    the branches that nonlinear rows take. held: C and the constraints that act, where contacts decide them.
    """
    graph = evaluation.graph
    plain = forces_at(evaluation, t, q, v, guesses, held)
    if plain is not None:
        return Points(plain.solution, plain.energy, plain.inertial, plain.position, plain.velocity, plain.closed)
    together = together_of(graph) if held is None else None
    if together is not None:
        found = together.at(q, v, t, evaluation.p)
        if found is not None:
            M, Q, A, b, C, *rest = found
            return Points(solve_points(M, Q, A, b, C, together.pattern), *rest)
    if held is not None:
        return _held_points(evaluation, t, q, v, held)
    if graph.nonlinear or graph.uses_reactions:
        each = []
        for k in range(t.size):
            guess = None if guesses is None else guesses[k]
            each.append(evaluation.solve(q[k], v[k], float(t[k]), None, guess))
        solution = stack(each)
    else:
        M, Q, A, b = evaluation.dynamics_along(q, v, t)
        C = np.zeros_like(Q)
        if evaluation.system.works:
            C = evaluation.work_along(q, v, t, C, C, np.zeros_like(b))
        solution = solve_points(M, Q, A, b, C)
    energy, inertial = evaluation.energetics_along(q, v, t)
    return Points(solution=solution, energy=energy, inertial=inertial)


def _held_points(evaluation: Evaluation, t: Array, q: Array, v: Array, held: Held) -> Points:
    """The points of a motion with contacts."""
    together = together_of(evaluation.graph)
    found = None if together is None else together.at(q, v, t, evaluation.p)
    position: Array | None = None
    velocity: Array | None = None
    if found is None:
        M, Q, A, b = evaluation.dynamics_along(q, v, t)
        energy, inertial = evaluation.energetics_along(q, v, t)
    else:
        M, Q, A, b, _, energy, inertial, position, velocity = found
    acting, pattern = np.where(held.acting[:, :, None], A, 0.0), None if together is None else together.pattern
    solution = solve_points(M, Q, acting, np.where(held.acting, b, 0.0), held.C, pattern)
    # Forces that are not determined are those chosen: the smallest of all might pull on one-sided constraints.
    if held.multipliers is not None:
        unknown = np.isnan(held.multipliers)
        solution = changed(solution, multipliers=np.where(unknown, solution.multipliers, held.multipliers))
    return Points(solution, energy, inertial, position, velocity, A)


def forces_at(
    evaluation: Evaluation, t: Array, q: Array, v: Array, guesses: Array | None = None, held: Held | None = None
) -> Forces | None:
    """All of it in one call of C; None where a point needs other means. Arguments as in `evaluate_points`."""
    together = together_of(evaluation.graph)
    if held is not None:
        if together is None or held.multipliers is not None:
            return None
        return forces_along(together, q, v, t, evaluation.p, held=(held.acting, held.C))
    if together is not None:
        return forces_along(together, q, v, t, evaluation.p)
    branches = None if guesses is None else branches_of(evaluation.graph)
    if guesses is None or branches is None:
        return None
    return forces_along(branches, q, v, t, evaluation.p, guesses[:, : evaluation.n])


def stack(solutions: list[Fundamental]) -> Fundamental:
    """Solutions at single instants as one batch."""
    return Fundamental(**{f.name: np.stack([getattr(s, f.name) for s in solutions]) for f in fields(Fundamental)})
