"""`between(system, start, end, duration)`: the motion from one configuration to another in a given time.

Hamilton's principle as it stands: among paths between the two, on the constraints, one whose action is stationary. The
path is piecewise polynomial (`graph.discrete_action`); Newton's method makes its discrete action stationary, and the
mesh is refined until the path no longer changes. The second variation says what was found: a minimum, or, past
conjugate points, a saddle with as many falling directions as there are conjugate points between the ends (Morse).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply, InconsistentState, ModelError, MotionFailed
from dalembert.mechanics.principles.shared.formulation import does_work, first, has_modes, no_energies, nonholonomic
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of
from dalembert.model.system import System
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.consistent import INITIAL_TOLERANCE
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project, relative_residual, size_of
from dalembert.results import Table, by_name, plain_values, state_columns
from dalembert.study.stationary_mesh import NotFound, StationaryMesh

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.view.figures import Given

# Pieces of the first mesh, and the most. Pieces have degree 5, so that halving them divides errors by a thousand.
PIECES, MOST_PIECES = 16, 256
# The path has settled where halving the pieces changes it by less than this, relative to its extent.
SETTLED = 1e-10


@dataclass(frozen=True, eq=False)
class Passage(Table):
    """A motion between two configurations: t (T,), q and v (T, n), at the ends of the pieces of the path.

    action: ∫ L dt. index: the number of directions in which the action falls, 0 for a minimum; None where forces have
    no potential, so that the path is not stationary for any action. error: by how much the last refinement changed the
    path. `passage["x"]` and `passage["x'"]` give columns by name.
    """

    system: System
    t: Array
    q: Array
    v: Array
    action: float
    index: int | None
    degenerate: bool
    error: float

    @property
    def kind(self) -> str:
        """What the action is at this path: "minimum", "saddle", "degenerate", or "no action"."""
        if self.index is None:
            return "no action"
        if self.degenerate:
            return "degenerate"
        return "saddle" if self.index else "minimum"

    @property
    def launch(self) -> dict[str, float]:
        """The state at the start: what to launch the system with."""
        q = self.system.coordinates
        return by_name(q, self.q[0]) | by_name(q, self.v[0], "'")

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    def motion(
        self,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        samples: int | None = None,
        times: ArrayLike | None = None,
        method: str | None = None,
        project: bool | None = None,
        backend: str | None = None,
        events: Mapping[str, Any] | Iterable[Any] | None = None,
        progress: bool | None = None,
        step: float | None = None,
        order: int | None = None,
        max_step: float | None = None,
    ) -> Motion:
        """The same by `System.simulate`, which explains the options, launched from the start with the velocities found:
        with forces and certificate. Its outputs are those of this passage unless `samples` or `times` are given.
        """
        if samples is None and times is None:
            times = self.t
        return self.system.replace(initial=self.launch).simulate(
            self.duration if times is None else None, rtol=rtol, atol=atol, samples=samples, times=times,
            method=method, project=project, backend=backend, events=events, progress=progress, step=step, order=order,
            max_step=max_step,
        )  # fmt: skip

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """A picture of the motion between the two places. Written to `path` where it is given. axes: two panels."""
        from dalembert.view.plots.path import plot_passage

        return plot_passage(self, path, axes, style)

    def columns(self) -> dict[str, Array]:
        return state_columns(self.system.coordinates, self.t, self.q, self.v)

    def headline(self) -> str:
        span = f"t = {self.t[0]:g} … {self.t[-1]:g}"
        return f"of {self.system.name!r}: {span}, action {self.action:.6g}, {self.kind}{self._falls()}"

    def _falls(self) -> str:
        return f", {self.index} directions in which it falls" if self.index else ""

    def text(self) -> str:
        launch = ", ".join(f"{name} = {value:.10g}" for name, value in self.launch.items())
        return (
            f"{self.system.name}: motion between two places in the time {self.duration:g}\n"
            f"  action {self.action:.10g}: {self.kind}{self._falls()}\n"
            f"  launch {launch}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Its action, what kind of stationary point that is, and how to launch it; the points are in `columns()`."""
        found = {key: getattr(self, key) for key in ("duration", "action", "kind", "index", "error", "launch")}
        return {"name": self.system.name, **plain_values(found)}


def between(
    system: System,
    start: Mapping[Any, Any] | None,
    end: Mapping[Any, Any],
    duration: float,
    *,
    guess: Any = None,
) -> Passage:
    """The motion that leads from `start` to `end` in the time `duration`, from the initial time of the system.

    start, end: coordinates with values; those not given have their initial values.
    guess: where there are several motions, the one sought: initial velocities ({"x'": 3.0}) with which the motion would
    nearly get there; or a path, an array (T, n) at equidistant times, a motion or another passage. A straight line,
    drawn onto the constraints, unless given.

    >>> import dalembert as da
    >>> ball = da.System("ball", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="10*y")
    >>> throw = ball.between({"x": 0, "y": 0}, {"x": 4, "y": 0}, 2)
    >>> round(throw.launch["y'"], 9), throw.kind
    (10.0, 'minimum')
    """
    system = system.expanded
    reason = first(has_modes(system), no_energies(system), nonholonomic(system), does_work(system))
    if reason:
        raise DoesNotApply(f"{system.name}: stationary action between two places does not apply: {reason}")
    if isinstance(duration, bool) or not isinstance(duration, (int, float, np.number)) or not 0 < duration < math.inf:
        raise ModelError(system.name, [f"the duration is {duration!r}; it must be positive and finite"])
    rest = dict.fromkeys((v.name for v in system.velocities), 0.0)
    anywhere = dict.fromkeys((q.name for q in system.coordinates), 0.0)
    t0 = float(system.replace(initial={**anywhere, **rest}).initial_values()[2])
    ends = (_place(system, start or {}, rest, "start"), _place(system, end, rest, "end"))
    evaluation = Evaluation(system)
    for place, t, what in zip(ends, (t0, t0 + duration), ("start", "end"), strict=True):
        _require_on_constraints(evaluation, place, t, what)
    mesh = StationaryMesh(evaluation, ends[0], ends[1], t0, float(duration))
    nodes = _guess(evaluation, ends, t0, float(duration), guess, mesh.times(PIECES))
    return _solve(system, mesh, nodes, ends, float(duration), guess is None)


def _solve(
    system: System, mesh: StationaryMesh, nodes: Array, ends: tuple[Array, Array], duration: float, straight: bool
) -> Passage:
    pieces, before = PIECES, None
    while True:
        try:
            path = mesh.stationary(nodes, pieces)
        except NotFound as trouble:
            hint = "from a straight guess" if straight else "from this guess"
            raise MotionFailed(
                f"{system.name}: no motion between these places in the time {duration:g} was found {hint}: {trouble}. "
                'There may be none; or give initial velocities that nearly lead there, guess={"x\'": 3.0} in Python '
                '(or a path), --guess "x\'=3" of the command.'
            ) from None
        if before is not None:
            extent = max(float(np.ptp(path.nodes, axis=0).max()), float(np.abs(ends[1] - ends[0]).max()), 1e-300)
            error = float(np.abs(path.ends[::2] - before.ends).max()) / extent
            if error <= SETTLED or pieces == MOST_PIECES:
                break
        before, pieces = path, 2 * pieces
        nodes = path.refined()
    if error > 1e-6:
        raise MotionFailed(
            f"{system.name}: a path between these places was found, but {pieces} pieces do not resolve it (it still "
            f"changes by {error:.1e}): the motion is too fast for its duration"
        )
    index, degenerate = before.index() if not any(force != 0 for force in system.forces.values()) else (None, False)
    return Passage(system, path.t, path.ends, path.velocities(), path.action(), index, degenerate, error)


def _place(system: System, given: Mapping[Any, Any], rest: Mapping[str, float], what: str) -> Array:
    names = {q.name for q in system.coordinates}
    if not isinstance(given, Mapping):
        such = f"{{{system.coordinates[0].name!r}: 1}}"
        raise ModelError(system.name, [f"{what}: a mapping such as {such} is wanted, got {given!r}"])
    wrong = [name_of(key) for key in given if name_of(key) not in names]
    if wrong:
        raise ModelError(system.name, [f"{what}: {wrong[0]!r} is no coordinate.{suggest(wrong[0], names)}"])
    return system.replace(initial={**{name_of(key): value for key, value in given.items()}, **rest}).initial_values()[0]


def _require_on_constraints(evaluation: Evaluation, q: Array, t: float, what: str) -> None:
    value, slope = evaluation.position(q, t)
    missed = relative_residual(value, slope, size_of(q, np.zeros_like(q)))
    rows = evaluation.graph.position_rows
    names = [evaluation.system.constraints[k].name for k, x in zip(rows, missed, strict=True) if x > INITIAL_TOLERANCE]
    if names:
        text = f"the {what} is not on the constraints at t = {t:g}: {', '.join(names)}"
        raise InconsistentState(f"{evaluation.system.name}: {text}")


def _guess(
    evaluation: Evaluation, ends: tuple[Array, Array], t0: float, duration: float, guess: Any, times: Array
) -> Array:
    """A path through the nodes of the first mesh, between the ends."""
    system, share = evaluation.system, ((times - t0) / duration)[:, None]
    if guess is None:
        nodes = ends[0] + share * (ends[1] - ends[0])
    elif isinstance(guess, Mapping):
        names = [q.name for q in system.coordinates]
        rest = dict.fromkeys((f"{name}'" for name in names), 0.0)
        known = {**rest, **{name_of(key): value for key, value in guess.items()}}
        launch = system.replace(initial={**dict(zip(names, map(float, ends[0]), strict=True)), **known})
        q, v, _ = launch.initial_values()
        v = project(evaluation, q, v, t0)[1]
        speeds = dict(zip((f"{name}'" for name in names), map(float, v), strict=True))
        nodes = launch.replace(initial=speeds).simulate(times=times, rtol=1e-6).q
    else:
        path = np.asarray(getattr(guess, "q", guess), dtype=float)
        if path.ndim != 2 or path.shape[0] < 2 or path.shape[1] != evaluation.n or not np.isfinite(path).all():
            raise ModelError(system.name, [f"guess: a path has the shape (times, {evaluation.n}); got {path.shape}"])
        when = np.asarray(getattr(guess, "t", np.linspace(0.0, 1.0, len(path))), dtype=float)
        if when.shape != path.shape[:1] or not np.all(np.diff(when) > 0):
            raise ModelError(system.name, ["guess: the times of a path must increase"])
        when = (when - when[0]) / (when[-1] - when[0])
        nodes = CubicSpline(when, path)(share[:, 0])
    nodes = nodes + (1 - share) * (ends[0] - nodes[0]) + share * (ends[1] - nodes[-1])
    for k in range(1, len(nodes) - 1) if evaluation.graph.position_rows else ():
        nodes[k] = project(evaluation, nodes[k], np.zeros(evaluation.n), float(times[k]), iterations=40)[0]
    return nodes
