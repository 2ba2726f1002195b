"""Constraints without a gradient: at a state, or wherever they are satisfied."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError, counted
from dalembert.graph.timed import spread
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

# A gradient counts as vanishing against its size at a neighbouring state; 1e-9 is far above rounding. Next to a state
# on a surface that was reached to half of all digits, u² has a gradient of 1e-8 of that beside it.
FLAT, SMALL, NEARLY_FLAT = 1e-9, 0.1, 1e-4
# Rows of A shorter than this share of their longest are looked at more closely, so many of them at most.
SUSPECT, MOST = 0.01, 100
# How far the states beside lie, in units of the state; and how many of them are led back to the surface.
BESIDE, TRIALS = 1e-3, 3
# Newton's method on u² = 0 halves the distance with each step: from 1e-3 to 1e-9 in twenty, and more than that.
STEPS = 40
# A small surface far from the origin is flat beside what lies a thousandth of that distance away, too. But it is
# crossed at the rate that its gradient says, by so many displacements, each half of the one before; u² never is. One
# smaller than this share of the distance is known to a few digits only, and no motion on it could be.
CROSSINGS, LEAST = 6, 1e-10


def without_gradient(evaluation: Evaluation, state: State) -> tuple[list[int], list[int]]:
    """The constraints whose rows of A vanish at a state, and those where they are small at least: u² = 0 is satisfied
    to eight digits where u is not zero.
    """
    q, v, t = state.q, state.v, state.t
    here = np.linalg.norm(evaluation.dynamics(q, v, t)[2], axis=1)
    try:
        near = np.linalg.norm(evaluation.dynamics(*_beside(q, v), t)[2], axis=1)
    except DalembertError:
        near = here
    linear = [k for k in range(evaluation.m) if k not in evaluation.graph.nonlinear]
    flat = [k for k in linear if here[k] == 0 or here[k] < FLAT * near[k]]
    return flat, [k for k in linear if k in flat or here[k] < SMALL * near[k]]


def warnings_of_faded(evaluation: Evaluation, t: Array, q: Array, v: Array, A: Array) -> tuple[str, ...]:
    """What to say of constraints whose gradient vanishes at output points after the first, as that of a quadratic one
    does where everything stops: there λ grows beyond all bounds, and the direction of Aᵀλ is left to rounding.
    A: (T, m, n).
    """
    steep = np.linalg.norm(A, axis=2)
    told = []
    for k, constraint in enumerate(evaluation.system.constraints):
        largest = float(steep[:, k].max(initial=0.0))
        suspects = 1 + np.flatnonzero(steep[1:, k] < SUSPECT * largest)[:MOST]
        states = [State(q[j], v[j], float(t[j])) for j in suspects]
        times = [state.t for state in states if k in without_gradient(evaluation, state)[1]]
        if times:
            more = f" and at {counted(len(times) - 1, 'other output')}" if len(times) > 1 else ""
            told.append(
                f"the gradient of constraint {constraint.name!r} vanishes at t = {times[0]:.6g}{more}: its multiplier "
                "has no bound there and means nothing, and its force is known to few digits; write the constraint in a "
                "form that is not degenerate"
            )
    return tuple(told)


def never_acts(evaluation: Evaluation, row: int, state: State) -> bool:
    """Whether a constraint without a gradient at a state on it has none at other states on it either: as φ = u² has.

    States beside the given one are led back by Newton's method along the gradient that they have (in q for a constraint
    on positions, in q̇ for one on velocities), and the gradients are compared before and after.
    """
    graph, q, v, t = evaluation.graph, state.q, state.v, state.t
    if row in graph.position_rows:
        at, on_positions = graph.position_rows.index(row), True
    elif row in graph.velocity_rows:
        at, on_positions = len(graph.position_rows) + graph.velocity_rows.index(row), False
    else:
        return False
    for seed in range(TRIALS):
        x = q if on_positions else v
        unit = float(np.abs(x).max(initial=0.0)) or 1.0  # a pendulum may be as long as an atom
        x = x + BESIDE * unit * (1.0 + spread(x.size, seed)) * np.where(spread(x.size, 7 * seed) > 0, 1, -1)
        start, first = x, 0.0
        for _ in range(STEPS):
            value, slope = evaluation.position(x, t) if on_positions else evaluation.velocity(q, x, t)
            steep = float(np.linalg.norm(slope[at]))
            first = first or steep
            if not (np.isfinite(value[at]) and np.isfinite(steep)) or steep == 0.0:
                break
            x = x - value[at] * slope[at] / steep**2
        if not np.isfinite(steep) or first == 0.0 or steep > NEARLY_FLAT * first:
            return False
        way = float(np.linalg.norm(x - start))
        if steep == 0.0 or way == 0.0:
            continue

        def value_of(x: Array) -> float:
            return float((evaluation.position(x, t) if on_positions else evaluation.velocity(q, x, t))[0][at])

        far = steep / first * way  # a gradient that changes as it did on the way here would vanish there
        if far >= LEAST * unit and _is_crossed(value_of, x, slope[at] / steep, steep, far):
            return False
    return True


def _is_crossed(value_of: Callable[[Array], float], x: Array, normal: Array, steep: float, far: float) -> bool:
    """Whether a function passes through zero at x along its normal at about the rate `steep`, at all distances."""
    for k in range(1, CROSSINGS + 1):
        way = far / 2**k
        for side in (1, -1):
            if not 0.5 < side * value_of(x + side * way * normal) / (steep * way) < 2.0:
                return False
    return True


def require_gradient(evaluation: Evaluation, rows: Iterable[int], state: State) -> None:
    """Refuse those of the constraints that could never act."""
    names = [constraint.name for constraint in evaluation.system.constraints]
    never = [k for k in rows if never_acts(evaluation, k, state)]
    if never:
        raise ModelError(
            evaluation.system.name,
            [
                f"constraint {names[k]!r} has no gradient on its own surface, so it could never act: write it without "
                "the square, or whatever power (u = 0 for u^2 = 0; u = 0 and w = 0 for u^2 + w^2 = 0)"
                for k in never
            ],
        )


def _beside(q: Array, v: Array) -> tuple[Array, Array]:
    return q + BESIDE * np.maximum(np.abs(q), 1.0), v + BESIDE * np.maximum(np.abs(v), 1.0)
