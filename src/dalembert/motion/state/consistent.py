"""Initial states: the test that they satisfy the constraints, and the nearest one that does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import InconsistentState, ModelError, UndefinedModel
from dalembert.kernel.limits import PROJECT_ROUNDING
from dalembert.model.language.suggest import suggest
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import nearest, relative_residual, size_of
from dalembert.motion.state.state import State

if TYPE_CHECKING:
    import sympy as sp

    from dalembert.model.constraints import Constraint
    from dalembert.model.system import System

# From a system, q, q̇, t and what may change: the nearest state and the relative residual that is left, or None.
Nearest = Callable[["System", Array, Array, float, Array], tuple[Array, Array, float] | None]
# An initial state may miss a constraint by this much, relative to its own size: eight digits typed by hand
# pass and are then polished to rounding by projection; anything worse is a mistake to be told.
INITIAL_TOLERANCE = 1e-8


def misses(evaluation: Evaluation, state: State) -> list[tuple[str, str, float, float]]:
    """(constraint, what is violated, residual, relative residual) for every violated constraint."""
    q, v, t = state.q, state.v, state.t
    graph, constraints = evaluation.graph, evaluation.system.constraints
    phi, phi_slope = evaluation.position(q, t)
    rates, rate_slope = evaluation.velocity(q, v, t)
    found = []
    relative = relative_residual(phi, phi_slope, size_of(q, v))
    for k, row in enumerate(graph.position_rows):
        if not relative[k] <= INITIAL_TOLERANCE:
            found.append((constraints[row].name, "position", float(phi[k]), float(relative[k])))
    relative = relative_residual(rates, rate_slope, size_of(v, q))
    for k, row in enumerate((*graph.position_rows, *graph.velocity_rows)):
        if not relative[k] <= INITIAL_TOLERANCE:
            what = "the velocity that follows from the position" if row in graph.position_rows else "velocity"
            found.append((constraints[row].name, what, float(rates[k]), float(relative[k])))
    return found


def require_consistent_state(evaluation: Evaluation, state: State) -> None:
    """Raise `InconsistentState` with every violated constraint, its residual, and the nearest state that
    would do.
    """
    found = misses(evaluation, state)
    if not found:
        return
    q, v, t = state.q, state.v, state.t
    names = [c.name for c in evaluation.system.constraints]
    lines = [
        f"constraint {names.index(name) + 1}, '{name}', is violated in {what}: residual {value:.6g}, it must be 0"
        for name, what, value, _ in found
    ]
    try:
        with np.errstate(all="ignore"):
            near_q, near_v, left = nearest(evaluation, q, v, t)
    except UndefinedModel:  # numbers too large, or a root of what is negative close by
        near_q, near_v, left = q, v, np.inf
    if left <= INITIAL_TOLERANCE:
        symbols = [s.name for s in (*evaluation.system.coordinates, *evaluation.system.velocities)]
        old, new = np.concatenate([q, v]), np.concatenate([near_q, near_v])
        moved = [
            f"{s} = {x:.10g}" for s, x, o in zip(symbols, new, old, strict=True) if abs(x - o) > 1e-9 * (1 + abs(o))
        ]
        near = f"The nearest consistent state has {', '.join(moved)}"
        repair = f"{near}: use system.consistent(…), or 'dalembert run --repair'."
    else:
        repair = "No consistent state was found nearby; correct the constraint or the state."
    raise InconsistentState(
        f"{evaluation.system.name}: the initial state at t = {t:g} does not satisfy the constraints:\n  - "
        + "\n  - ".join(lines)
        + f"\n{repair}"
    )


def consistent(
    system: System, initial: Mapping[Any, Any] | None = None, hold: Iterable[Any] = (), other: Nearest | None = None
) -> dict[sp.Symbol, float]:
    """The consistent state nearest to `initial` (default: the system's own) in the mass metric.

    Symbols in `hold` keep their values. The result fits `system.replace(initial=…)`. other: a way to find it that is
    tried first.

    A one-sided constraint asks only that it is not violated: a state beyond it is moved onto it, one above it stays
    there. Velocities are left alone by it: where it touches and closes, a motion begins with the impact.

    >>> import dalembert as da
    >>> x, y = da.coordinates("x y")
    >>> pendulum = da.library.pendulum().replace(initial={x: 0.6, y: -0.9, x.d: 0, y.d: 0}, parameters={"l": 1})
    >>> state = pendulum.consistent(hold=[x])
    >>> round(state[y], 12)
    -0.8
    """
    from dalembert.model.language.symbols import name_of  # needs SymPy

    changed = system.replace(initial=initial) if initial else system
    q, v, t = changed.initial_values()
    symbols = (*changed.coordinates, *changed.velocities)
    names = [symbol.name for symbol in symbols]
    free = np.ones(len(symbols), dtype=bool)
    hold = list(hold)
    for item in hold:
        if name_of(item) not in names:
            raise ModelError(
                system.name, [f"hold: {name_of(item)!r} is no coordinate or velocity.{suggest(name_of(item), names)}"]
            )
        free[names.index(name_of(item))] = False
    found = None if other is None else other(changed, q, v, t, free)
    q, v, left = nearest_allowed(changed, q, v, t, free) if found is None else found
    if left > INITIAL_TOLERANCE:
        held = f" with {', '.join(name_of(item) for item in hold)} held" if not free.all() else ""
        raise InconsistentState(
            f"{system.name}: no state near the given one satisfies the constraints{held} "
            f"(relative residual {left:.2g} is left). Hold less, or start nearer."
        )
    return dict(zip(symbols, (float(x) for x in np.concatenate([q, v])), strict=True))


def nearest_allowed(system: System, q: Array, v: Array, t: float, free: Array) -> tuple[Array, Array, float]:
    """The nearest state on the constraints and not beyond one-sided ones, and the relative residual that is left."""
    one_sided = [constraint for constraint in system.constraints if constraint.one_sided]
    if not one_sided:
        return nearest(Evaluation(system), q, v, t, free)
    always = [constraint for constraint in system.constraints if not constraint.one_sided]
    gaps = Evaluation(_held_by(system, one_sided))
    met: set[str] = set()
    # Moved onto one, the state may be beyond another: each round adds one at least.
    for _ in range(len(one_sided) + 1):
        closed = [*always, *(constraint for constraint in one_sided if constraint.name in met)]
        place, _, left = nearest(Evaluation(_held_by(system, closed)), q, v, t, free)
        values, slopes = gaps.position(place, t)
        miss = relative_residual(values, slopes, size_of(place, v))
        beyond = {
            c.name for c, gap, far in zip(one_sided, values, miss, strict=True) if gap < 0 and far > PROJECT_ROUNDING
        }
        if beyond <= met:
            break
        met |= beyond
    stay = free.copy()
    stay[: q.size] = False
    _, v, missed = nearest(Evaluation(_held_by(system, always)), place, v, t, stay)
    return place, v, max(left, missed)


def _held_by(system: System, constraints: Iterable[Constraint]) -> System:
    """The system with some constraints, on both sides, and nothing else that could name one."""
    closed = [replace(constraint, one_sided=False, restitution=None, impact=None) for constraint in constraints]
    return system.replace(constraints=closed, nonideal=(), events=())
