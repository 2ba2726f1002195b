"""The motion of a whole system from that of a reduced one: expressions for what constraints gave, quadratures for what
was ignored, then all forces and the certificate of the whole system at the states so found.

Between two outputs the reduced motion is followed again from its own state (`integrate_again`), with the velocities of
the ignored coordinates, −∂R/∂p, and the powers of the whole system's forces riding along: errors do not add up from
one output to the next, and outputs need not be dense.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import BranchError, DalembertError, MissingValues, ModelError, MotionFailed
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of, t
from dalembert.motion.assemble import assemble
from dalembert.motion.certificate.repeat import integrate_again
from dalembert.motion.certificate.slopes import Slope
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.motion.state.powers import powers

if TYPE_CHECKING:
    from dalembert.study.reduced import ReducedSystem

# Stretches in which the repetition does not converge are cut into four times as many pieces, up to so many.
MOST_PIECES = 4096
# Quadratures are to be as good as the motion, and no better than rounding lets them be.
LEAST = 1e-13


def reconstruct(system: ReducedSystem, motion: Motion, start: Mapping[Any, Any] | None = None) -> Motion:
    """The whole motion. See `ReducedSystem.reconstruct`."""
    if not isinstance(motion, Motion):
        raise ModelError(system.whole.name, [f"reconstruct: a motion of the reduced system is wanted, got {motion!r}"])
    names, given = [q.name for q in system.coordinates], [q.name for q in motion.system.coordinates]
    if names != given:
        raise ModelError(
            system.whole.name,
            [f"reconstruct: a motion in the coordinates {', '.join(names)} is wanted, got {', '.join(given)}"],
        )
    whole = _whole(system, motion)
    states = _States(system, motion)
    first = _ignored_at_start(system, motion, start)
    evaluation = Evaluation(whole)
    along = _Along(system, motion, states, evaluation, first)
    gained = along.gained(np.arange(motion.t.size - 1), np.diff(motion.t))
    sums = np.vstack([np.zeros(gained.shape[1]), np.cumsum(gained, axis=0)])
    theta = first + sums[:, : len(first)]
    q, v = states(motion.t, motion.q, motion.v, theta)
    trajectory = Trajectory(
        t=motion.t,
        y=np.concatenate([q, v, sums[:, len(first) :]], axis=1),
        guesses=None,
        method=motion.method,
        backend=motion.backend,
        steps=motion.timing.steps,
        evaluations=motion.timing.evaluations,
        compile_s=motion.timing.compile_s,
        events=_events(motion, states, along, theta),
        failure=None,
        ended=motion.ended_by,
    )
    found, failure = assemble(evaluation, trajectory, motion.rtol, motion.warnings, motion.timing)
    if failure is not None:
        raise MotionFailed(failure, found)
    return found


def _whole(system: ReducedSystem, motion: Motion) -> Any:
    """The whole system with the parameters of the motion."""
    own = {symbol.name: symbol for symbol in system.whole.parameter_symbols}
    values = {own[s.name]: value for s, value in motion.system.parameters.items() if s.name in own}
    return system.whole.replace(parameters=values)


def _ignored_at_start(system: ReducedSystem, motion: Motion, start: Mapping[Any, Any] | None) -> Array:
    """Where the ignored coordinates are at the first point of the motion."""
    if start is not None and not isinstance(start, Mapping):
        raise ModelError(system.whole.name, [f"start: a mapping such as {{'phi': 0.5}} is wanted, got {start!r}"])
    given = {name_of(key): value for key, value in (start or {}).items()}
    names = [q.name for q in system.ignored]
    strange = [name for name in given if name not in names]
    if strange:
        told = suggest(strange[0], names) if names else " No coordinate is."
        raise ModelError(system.whole.name, [f"start: {strange[0]!r} is not ignored.{told}"])
    chosen = {new.coordinate.name for new in system.reduction.embedding.chosen}
    found = []
    for q in system.ignored:
        if q.name in given:
            found.append(_number(system, q.name, given[q.name]))
        elif q.name in chosen:
            found.append(_chosen_at_start(system, q.name))
        elif q in system.whole.initial:
            place = list(system.whole.coordinates).index(q)
            found.append(float(_initial(system)[place]))
        else:
            raise MissingValues(system.whole.name, [f"no initial value for {q.name}: give start={{{q.name!r}: …}}"])
    return np.array(found)


def _number(system: ReducedSystem, name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ModelError(system.whole.name, [f"start: {name} is {value!r}; a finite number is wanted"])
    return number


def _initial(system: ReducedSystem) -> Array:
    rest = {s.name: 0 for s in (*system.whole.coordinates, *system.whole.velocities) if s not in system.whole.initial}
    return system.whole.replace(initial=rest).initial_values()[0]


def _chosen_at_start(system: ReducedSystem, name: str) -> float:
    """A coordinate that a solved constraint brought in and that is ignored in turn, from the start of the whole."""
    q, _, t0 = system.whole.initial_values()
    state = {**dict(zip(system.whole.coordinates, q, strict=True)), t: t0}
    state |= dict(zip(system.whole.parameter_symbols, system.whole.parameter_values(), strict=True))
    for new in system.reduction.embedding.chosen:
        state[new.coordinate] = float(numeric_function(list(state), [new.value])(*state.values())[0])
    return float(next(value for symbol, value in state.items() if symbol.name == name))


class _States:
    """q and q̇ of the whole from t, the reduced (q, q̇) and the ignored θ; and θ̇."""

    def __init__(self, system: ReducedSystem, motion: Motion) -> None:
        found = system.reduction
        values = {s.name: value for s, value in motion.system.parameters.items()}
        missing = [s.name for s in motion.system.parameter_symbols if s.name not in values]
        if missing:
            raise MissingValues(system.name, [f"no value for parameter {', '.join(missing)}"])
        self.ignored = system.ignored
        rates = {} if found.routhian is None else found.routhian.rates
        places = [found.embedding.places.get(q, q) for q in system.whole.coordinates]
        speeds = [found.embedding.swap[q.d] if q in found.embedding.places else q.d for q in system.whole.coordinates]
        self.n = len(system.whole.coordinates)
        symbols = [*system.coordinates, *(q.d for q in system.coordinates), *system.ignored, t]
        entries = [*places, *(speed.xreplace(rates) for speed in speeds), *rates.values()]
        known = {s: sp.Float(float(values[s.name])) for e in entries for s in e.free_symbols if s.name in values}
        self._run = numeric_function(symbols, [sp.sympify(entry).xreplace(known) for entry in entries])

    def _all(self, time: Array, q: Array, v: Array, theta: Array) -> Array:
        with np.errstate(all="ignore"):
            values = self._run(*q.T, *v.T, *theta.T, time)
        return np.stack([np.broadcast_to(np.asarray(value, dtype=float), time.shape) for value in values], axis=1)

    def __call__(self, time: Array, q: Array, v: Array, theta: Array) -> tuple[Array, Array]:
        values = self._all(time, q, v, theta)
        return values[:, : self.n].copy(), values[:, self.n : 2 * self.n].copy()

    def rates(self, time: Array, q: Array, v: Array, theta: Array) -> Array:
        return self._all(time, q, v, theta)[:, 2 * self.n :]


class _Along:
    """What θ, the works and the heats gain along a motion."""

    def __init__(self, system: ReducedSystem, motion: Motion, states: _States, whole: Evaluation, first: Array) -> None:
        self.system, self.motion = system, motion
        reduced = Evaluation(motion.system)
        self.n, k = reduced.n, len(first)
        more = np.zeros((motion.t.size, k + 3 + len(whole.graph.heats)))
        more[:, :k] = first  # where they are does not matter: nothing depends on it
        self.y = np.concatenate([motion.q, motion.v, more], axis=1)
        near: Any = None, None
        if whole.graph.nonlinear:
            theta = self.y[:, 2 * self.n : 2 * self.n + k]
            found = evaluate_points(whole, motion.t, *states(motion.t, motion.q, motion.v, theta))
            near = _Near(motion.t, motion.a), _Near(motion.t, found.solution.acceleration)
        self.slope = _slope(reduced, whole, states, self.n, k, near)
        self.sizes = (
            _sizes(motion, states, whole, self.slope, self.y) if motion.t.size > 1 else np.ones(self.y.shape[1])
        )

    def gained(self, at: np.ndarray, lengths: Array) -> Array:
        """What they gain in the time `lengths` after the outputs number `at`, one row for each."""
        t, y = self.motion.t[at], self.y[at]
        wanted = np.maximum(self.motion.rtol, LEAST) * np.broadcast_to(self.sizes, y.shape)
        ends, rest, pieces = np.array(y), np.flatnonzero(lengths > 0), 1
        while rest.size and pieces <= MOST_PIECES:
            now, judged = y[rest], np.ones(rest.size, dtype=bool)
            length = lengths[rest] / pieces
            for piece in range(pieces):
                try:
                    now, _, known = integrate_again(
                        self.slope, t[rest] + piece * length, now, length, wanted[rest] / pieces
                    )
                except (DalembertError, np.linalg.LinAlgError):
                    judged[:] = False  # a trial state without a value: shorter pieces go less astray
                    break
                judged &= np.asarray(known, dtype=bool) & np.isfinite(now).all(axis=1)
                if not judged.any():
                    break
            ends[rest[judged]] = now[judged]
            rest = rest[~judged]
            pieces *= 4
        if rest.size:
            raise MotionFailed(
                f"{self.system.name}: the whole motion could not be followed after t = {t[rest[0]]:.10g}: the motion "
                "changes too much between two outputs. Simulate with more samples."
            )
        return np.asarray((ends - y)[:, 2 * self.n :])


def _events(motion: Motion, states: _States, along: _Along, theta: Array) -> tuple[Mapping[str, Any], ...]:
    """The events of the motion, with their states in the coordinates of the whole."""
    found = []
    for event in motion.events:
        if "state" not in event:
            found.append(event)
            continue
        at = max(int(np.searchsorted(motion.t, event["t"], side="right")) - 1, 0)
        gained = along.gained(np.array([at]), np.array([event["t"] - motion.t[at]]))[:, : theta.shape[1]]
        names = [q.name for q in motion.system.coordinates]
        small_q, small_v = (np.array([[event["state"][name + mark] for name in names]]) for mark in ("", "'"))
        q, v = states(np.array([event["t"]]), small_q, small_v, theta[at] + gained)
        symbols = (*along.system.whole.coordinates, *along.system.whole.velocities)
        state = dict(zip((s.name for s in symbols), map(float, (*q[0], *v[0])), strict=True))
        found.append({**event, "state": state})
    return tuple(found)


def _sizes(motion: Motion, states: _States, whole: Evaluation, slope: Slope, y: Array) -> Array:
    """The size of each entry, against which errors are judged: the largest it has, or what its rate makes of it in the
    whole time. Works are
    measured by the powers of all forces, of which theirs may be rounding.
    """
    n, k = motion.q.shape[1], len(states.ignored)
    rates = np.abs(slope(motion.t, y)).max(axis=0)
    span = float(motion.t[-1] - motion.t[0])
    sizes = np.maximum(np.abs(y).max(axis=0), rates * span)
    all_q, all_v = states(motion.t, y[:, :n], y[:, n : 2 * n], y[:, 2 * n : 2 * n + k])
    solution = evaluate_points(whole, motion.t, all_q, all_v).solution
    forces = np.abs(solution.Q) + np.abs(solution.ideal) + np.abs(solution.nonideal)
    power = float(np.einsum("ti,ti->t", np.abs(all_v), forces).max())
    sizes[2 * n + k :] = np.maximum(sizes[2 * n + k :], power * span)
    return np.where(sizes > 0, sizes, float(sizes.max()) or 1.0)


class _Near(NamedTuple):
    """Accelerations at outputs. Where constraints are nonlinear in accelerations, those at states after an output are
    found from these: to look for them from nowhere takes thirty times as long.
    """

    t: Array
    a: Array

    def solve(self, evaluation: Evaluation, time: Array, q: Array, v: Array) -> Fundamental:
        at = np.maximum(np.searchsorted(self.t, time, side="right") - 1, 0)
        try:
            return evaluate_points(evaluation, time, q, v, self.a[at]).solution
        except BranchError:
            return evaluate_points(evaluation, time, q, v).solution


def _slope(
    reduced: Evaluation,
    whole: Evaluation,
    states: _States,
    n: int,
    k: int,
    near: tuple[_Near, _Near] | tuple[None, None],
) -> Slope:
    """d/dt of (q, q̇, θ, works, heats) at many states."""

    def solve(k: int, evaluation: Evaluation, time: Array, q: Array, v: Array) -> Fundamental:
        known = near[k]
        if known is None:
            return evaluate_points(evaluation, time, q, v).solution
        return known.solve(evaluation, time, q, v)

    def slope(time: Array, y: Array) -> Array:
        q, v, theta = y[:, :n], y[:, n : 2 * n], y[:, 2 * n : 2 * n + k]
        accelerations = solve(0, reduced, time, q, v).acceleration
        all_q, all_v = states(time, q, v, theta)
        solution = solve(1, whole, time, all_q, all_v)
        if whole.graph.heats:
            each = range(time.size)
            own = np.stack([powers(whole, all_q[j], all_v[j], float(time[j]), _one(solution, j), None) for j in each])
        else:
            parts = [np.einsum("ti,ti->t", all_v, force) for force in (solution.ideal, solution.nonideal)]
            own = np.stack([whole.supplied_along(all_q, all_v, time), *parts], axis=1)
        return np.concatenate([v, accelerations, states.rates(time, q, v, theta), own], axis=1)

    return slope


def _one(solution: Any, j: int) -> Any:
    return type(solution)(**{name: getattr(solution, name)[j] for name in solution.__dataclass_fields__})
