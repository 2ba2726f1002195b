"""`system.path`: the path between two points at a given energy, by Maupertuis' principle, and the time along it.

A path is a geodesic of Jacobi's metric 2(E − V) m_ij dq_i dq_j. It is sought here as a curve q(τ), 0 ≤ τ ≤ 1, that is
run through at constant speed in the metric of the masses, which stays regular where the motion is slow:

    D u/dτ = −[(uᵀM u) M⁻¹∇V − (u·∇V) u] / 2(E − V) + M⁻¹Aᵀλ,  u = dq/dτ      dt = √(uᵀM u / 2(E − V)) dτ

Collocation (SciPy's `solve_bvp`) finds it from a guess; shooting with Newton's method takes it to rounding.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from scipy.interpolate import CubicSpline

from dalembert.arrays import Array
from dalembert.errors import DalembertError, DoesNotApply, InconsistentState, ModelError, MotionFailed, counted
from dalembert.mechanics.principles import maupertuis
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of
from dalembert.model.system import System
from dalembert.motion.state.consistent import misses
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project
from dalembert.motion.state.state import State
from dalembert.results import Table, by_name, plain_values, state_columns
from dalembert.study.geodesic import Geodesic, NoGeodesic
from dalembert.study.reach import least_energy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.view.figures import Given

REMEDY = "name points on the way: guess=[{…}] in Python, --through x=…,y=… of the command"
# A straight guess is the path at infinite energy. From there the energy comes down to the one wanted: surplus of the
# kinetic energy over its value at the ends, in parts of that.
SURPLUS = (30.0, 8.0, 2.0, 0.5, 0.0)
POINTS = 41


@dataclass(frozen=True, eq=False)
class Path(Table):
    """A path at its output points, evenly spaced in the metric of the masses.

    t: (K,) since the start. q, v = dq/dt: (K, n). action: S₀ = ∫ Σ p_i dq_i. miss: how far the end was missed, relative
    to the size of the coordinates. `path["x"]`, `path["x'"]` give columns by name; `initial` is the state at the start,
    for `system.replace(initial=path.initial)`.
    """

    system: System
    energy: float
    t: Array
    q: Array
    v: Array
    action: float
    miss: float

    def headline(self) -> str:
        return (
            f"of {self.system.name!r} at energy {self.energy:g}: time {self.duration:.6g}, "
            f"action {self.action:.6g}, {counted(self.t.size, 'point')}"
        )

    def text(self) -> str:
        launch = ", ".join(f"{name} = {value:.10g}" for name, value in self.launch.items())
        return (
            f"{self.system.name}: path at the energy {self.energy:g}\n"
            f"  time {self.duration:.10g}, action {self.action:.10g}\n"
            f"  launch {launch}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Its time and action, and how to launch it; the points are in `columns()`."""
        found = {key: getattr(self, key) for key in ("energy", "duration", "action", "miss", "launch")}
        return {"name": self.system.name, **plain_values(found)}

    @property
    def duration(self) -> float:
        return float(self.t[-1])

    @property
    def initial(self) -> dict[sp.Symbol, float]:
        symbols = (*self.system.coordinates, *self.system.velocities)
        return dict(zip(symbols, map(float, (*self.q[0], *self.v[0])), strict=True))

    @property
    def launch(self) -> dict[str, float]:
        """The state at the start by names."""
        q = self.system.coordinates
        return by_name(q, self.q[0]) | by_name(q, self.v[0], "'")

    def columns(self) -> dict[str, Array]:
        return state_columns(self.system.coordinates, self.t, self.q, self.v)

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """A picture of the path. Written to `path` where it is given. axes: two panels to draw into."""
        from dalembert.view.plots.path import plot_path

        return plot_path(self, path, axes, style)


def path(system: System, start: Any, end: Any, *, energy: float, guess: Any = "direct", samples: int = 201) -> Path:
    """The path from `start` to `end` at the energy E = T + V. Points map every coordinate to its value, or are
    sequences of numbers in the order of the coordinates.

    There may be several. guess="direct" is the one that comes from the straight line as the energy falls from far
    above; a sequence of points (through which the first guess is laid; the path need not meet them) or another `Path`
    leads to others.

    >>> import dalembert as da
    >>> x, y = da.coordinates("x y")
    >>> ball = da.System("ball", coordinates=[x, y], kinetic=(x.d**2 + y.d**2)/2, potential=10*y)
    >>> low = ball.path({x: 0, y: 0}, {x: 8, y: 0}, energy=50)
    >>> high = ball.path({x: 0, y: 0}, {x: 8, y: 0}, energy=50, guess=[{x: 4, y: 4}])
    >>> print(low.duration.__round__(9), high.duration.__round__(9))
    0.894427191 1.788854382
    """
    system = system.expanded
    reason = maupertuis.applies(system)
    if reason:
        raise DoesNotApply(f"{system.name}: there is no path at a given energy: {reason}")
    try:
        energy = float(energy)
    except (TypeError, ValueError):
        energy = np.nan
    if not np.isfinite(energy):
        raise ModelError(system.name, ["energy: a finite number is wanted"])
    if samples < 2:
        raise ModelError(system.name, [f"samples: a path has at least 2 points, got {samples}"])
    evaluation = Evaluation(system)
    ends = [_point(system, given, which) for given, which in ((start, "start"), (end, "end"))]
    problem = Geodesic(evaluation, energy, ends[0], ends[1])
    for q, which in zip(ends, ("start", "end"), strict=True):
        _require_reachable(problem, q, which)
    if np.array_equal(ends[0], ends[1]):
        raise ModelError(system.name, ["start and end are the same point; there is no path to look for"])
    try:
        curve = _curve(problem, guess)
        t, q, v, action, miss = problem.shoot(curve, samples)
    except (NoGeodesic, DalembertError, np.linalg.LinAlgError) as error:
        if isinstance(error, ModelError):
            raise
        # Trial curves may run to where the model has no value: what is told of it there is no fault of the model.
        why = str(error) if isinstance(error, NoGeodesic) else "trial curves ran away from both"
        least = _least_energy(problem)
        if least is not None:
            raise MotionFailed(
                f"{system.name}: the end is out of reach at the energy {energy:g}: the path that leads straight there "
                f"needs about {least:.4g} at least. Raise the energy, or, where the path may be of another kind, "
                f"{REMEDY}."
            ) from None
        raise MotionFailed(
            f"{system.name}: no path at the energy {energy:g} was found from start to end. The search did not "
            f"converge: {why}. The straight way does not end above this energy, so that the end may be in reach all "
            "the same; several paths may be equally good, as between antipodes of a sphere: then "
            f"{REMEDY}."
        ) from None
    return Path(system, energy, t, q, v, action, miss)


def _least_energy(problem: Geodesic) -> float | None:
    try:
        return least_energy(problem, *_spline(problem, [], np.linspace(0.0, 1.0, POINTS)))
    except (DalembertError, np.linalg.LinAlgError):
        return None  # no straight way to begin with


def _curve(problem: Geodesic, guess: Any) -> tuple[Array, Array]:
    """Nodes τ and (q, u) there of a geodesic, to the accuracy of collocation."""
    tau = np.linspace(0.0, 1.0, POINTS)
    if isinstance(guess, Path):
        return problem.follow(*_spline(problem, [*guess.q[1:-1:4]], tau))
    if not (isinstance(guess, str) and guess == "direct"):
        points = [_point(problem.system, point, "guess") for point in _sequence(problem.system, guess)]
        if points and not np.all(problem.kinetic(np.array(points)) > 0):
            raise ModelError(problem.system.name, [f"guess: V exceeds the energy {problem.energy:g} at a point of it"])
        return problem.follow(*_spline(problem, points, tau))
    nodes, y = _spline(problem, [], tau)
    surplus = problem.kinetic(np.array([problem.start, problem.end])).max()
    try:
        for part in SURPLUS:
            nodes, y = problem.at_energy(problem.energy + part * surplus).collocate(nodes, y)
    except (NoGeodesic, DalembertError, np.linalg.LinAlgError):
        return problem.collocate(*_spline(problem, [], tau))
    return nodes, y


def _spline(problem: Geodesic, points: list[Array], tau: Array) -> tuple[Array, Array]:
    """A smooth curve through the points, on the constraints."""
    through = np.array([problem.start, *points, problem.end])
    lengths = np.linalg.norm(np.diff(through, axis=0), axis=1)
    if not np.all(lengths > 0):
        raise ModelError(problem.system.name, ["guess: the same point comes twice in a row"])
    at = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
    curve = CubicSpline(at, through) if len(through) > 2 else None
    q = curve(tau) if curve is not None else through[0] + tau[:, None] * (through[1] - through[0])
    if problem.system.constraints:
        none = np.zeros(q.shape[1])
        q = np.array([project(problem.evaluation, point, none, 0.0, iterations=60)[0] for point in q])
    return tau, np.vstack([q.T, np.gradient(q, tau, axis=0).T])


# -- what is given


def _point(system: System, given: Any, what: str) -> Array:
    names = [q.name for q in system.coordinates]
    if isinstance(given, Mapping):
        found = {name_of(key): value for key, value in given.items()}
        faults = [f"{what}: {name!r} is no coordinate.{suggest(name, names)}" for name in found if name not in names]
        missing = [name for name in names if name not in found]
        faults += [f"{what}: no value for {', '.join(missing)}"] if missing else []
        values: Sequence[Any] = [found.get(name, 0) for name in names]
    else:
        values = _sequence(system, given, what)
        faults = (
            [f"{what}: {counted(len(names), 'number')} wanted, got {len(values)}"] if len(values) != len(names) else []
        )
    if faults:
        raise ModelError(system.name, faults)
    known = dict(zip(system.parameter_symbols, system.parameter_values(), strict=True))
    try:
        point = np.array([float(sp.sympify(value, strict=True).subs(known)) for value in values])
    except (TypeError, ValueError, sp.SympifyError):
        raise ModelError(system.name, [f"{what}: numbers are wanted, got {given!r}"]) from None
    if not np.isfinite(point).all():
        raise ModelError(system.name, [f"{what}: finite numbers are wanted, got {given!r}"])
    return point


def _sequence(system: System, given: Any, what: str = "guess") -> list[Any]:
    if isinstance(given, (str, Mapping)) or not hasattr(given, "__iter__"):
        wanted = '"direct", a Path or a list of points' if what == "guess" else "a point"
        raise ModelError(system.name, [f"{what}: {wanted} is wanted, got {given!r}"])
    return list(given)


def _require_reachable(problem: Geodesic, q: Array, what: str) -> None:
    system, at_rest = problem.system, State(q, np.zeros(q.size))
    missed = [name for name, kind, _, _ in misses(problem.evaluation, at_rest) if kind == "position"]
    if missed:
        raise InconsistentState(f"{system.name}: the {what} does not satisfy {', '.join(map(repr, missed))}")
    left = float(problem.kinetic(q[None])[0])
    V = problem.energy - left
    if not left > 1e-12 * max(abs(V), abs(problem.energy)):
        where = "on the border of" if abs(left) <= 1e-12 * max(abs(V), abs(problem.energy)) else "outside"
        raise MotionFailed(
            f"{system.name}: the {what} is {where} Hill's region: V = {V:.10g} there, and the energy is "
            f"{problem.energy:.10g}. Raise the energy or choose another point."
        )
