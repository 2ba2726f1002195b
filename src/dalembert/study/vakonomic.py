"""`vakonomic(system, duration)`: what would happen if the action were stationary among paths that keep the constraints.

    d/dt ∂L/∂q̇_j − ∂L/∂q_j = Q_np,j + μ̇_k ∂g_k/∂q̇_j + μ_k g_kj      (21) of Flannery 2011

For constraints that are not integrable this is not the motion; `against` shows where the two part.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from scipy.integrate import DOP853

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply, ModelError, MotionFailed
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.variables import variables_of
from dalembert.mechanics.principles.shared.formulation import does_work, first, has_modes, no_energies
from dalembert.mechanics.principles.shared.scaled_constraints import saddle
from dalembert.mechanics.principles.shared.velocity_forms import on_accelerations
from dalembert.model.language.suggest import suggest
from dalembert.model.system import System
from dalembert.motion.integrate.settings import settings_of, tolerances
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project, relative_residual, size_of
from dalembert.motion.state.state import State
from dalembert.results import Result, Table, by_name, plain_values, state_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.view.figures import Given

# Motions that differ by more than this share of their extent have parted; integration errors stay far below.
PARTED = 1e-3
# Steps this short against the whole mean a singularity ahead: smooth paths take some thousand steps.
COLLAPSED = 1e-7


@dataclass(frozen=True, eq=False)
class VakonomicMotion(Table):
    """A path of the vakonomic equations: t (T,), q and v (T, n), multipliers μ (T, m).

    residual: the largest relative miss of a constraint along it. `path["x"]`, `path["x'"]`, `path["mu NAME"]` give
    columns by name.
    """

    system: System
    t: Array
    q: Array
    v: Array
    multipliers: Array
    residual: float
    rtol: float

    def headline(self) -> str:
        return f"of {self.system.name!r}: t = {self.t[0]:g} … {self.t[-1]:g}, not the motion"

    def columns(self) -> dict[str, Array]:
        found = state_columns(self.system.coordinates, self.t, self.q, self.v)
        return found | {f"mu {c.name}": self.multipliers[:, k] for k, c in enumerate(self.system.constraints)}

    @property
    def final(self) -> dict[str, float]:
        """Time and state at the end."""
        q = self.system.coordinates
        return {"t": float(self.t[-1]), **by_name(q, self.q[-1]), **by_name(q, self.v[-1], "'")}

    def text(self) -> str:
        end = ", ".join(f"{name} = {value:.8g}" for name, value in self.final.items() if name != "t")
        mu = "".join(f"\n  mu '{name}' = {x:.8g}" for name, x in self._multipliers_at(-1).items())
        return (
            f"{self.system.name}: stationary action among paths that keep the constraints, not the motion\n"
            f"  t = {self.t[0]:g} … {self.t[-1]:g}, at the end {end}{mu}\n"
            f"  constraints are kept to {self.residual:.1e}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Its end, with μ there and at the start; the points are in `columns()`."""
        mu = {"start": self._multipliers_at(0), "end": self._multipliers_at(-1)}
        found = {"final": self.final, "multipliers": mu, "residual": self.residual, "rtol": self.rtol}
        return {"name": self.system.name, **plain_values(found)}

    def _multipliers_at(self, point: int) -> dict[str, float]:
        return by_name(self.system.constraints, self.multipliers[point])

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """A picture of the path. Written to `path` where it is given. axes: two panels. `against().plot()` draws the
        motion beside it.
        """
        from dalembert.view.plots.path import plot_vakonomic

        return plot_vakonomic(self, path, axes, style)

    def against(self, motion: Motion | None = None, tolerance: float = PARTED) -> Parting:
        """Beside the motion of the same system from the same state (computed here unless given), which must have the
        same output times.
        """
        if motion is None:
            motion = self.system.simulate(times=self.t, rtol=self.rtol)
        if motion.t.shape != self.t.shape or not np.allclose(motion.t, self.t, rtol=1e-12, atol=0.0):
            raise ModelError(self.system.name, ["both motions need the same output times: simulate(times=path.t)"])
        if motion.q.shape != self.q.shape:
            raise ModelError(self.system.name, [f"{motion.system.name!r} has other coordinates"])
        extent = np.maximum(np.ptp(motion.q, axis=0), np.ptp(self.q, axis=0))
        apart = np.abs(motion.q - self.q) / np.where(extent > 0, extent, 1.0)
        return Parting(self, motion, apart, float(tolerance))


@dataclass(frozen=True, eq=False)
class Parting(Result):
    """The vakonomic path and the motion, and how far they are apart: `apart` (T, n), each coordinate relative to its
    extent.
    """

    path: VakonomicMotion
    motion: Motion
    apart: Array
    tolerance: float

    @property
    def time(self) -> float | None:
        """When a coordinate first differs by more than the tolerance; None where none ever does."""
        largest = self.apart.max(axis=1)
        late = np.flatnonzero(largest > self.tolerance)
        if not late.size:
            return None
        k = int(late[0])
        if k == 0:
            return float(self.path.t[0])
        return float(np.interp(self.tolerance, largest[k - 1 : k + 1], self.path.t[k - 1 : k + 1]))

    @property
    def largest(self) -> dict[str, float]:
        """The largest difference of each coordinate, relative to its extent."""
        names = [q.name for q in self.path.system.coordinates]
        return dict(zip(names, map(float, self.apart.max(axis=0)), strict=True))

    def to_dict(self) -> dict[str, Any]:
        found = {"time": self.time, "tolerance": self.tolerance, "largest": self.largest}
        return {"name": self.path.system.name, **plain_values(found)}

    def text(self) -> str:
        if self.time is None:
            return f"{self.path.system.name}: the vakonomic path is the motion, to {self.apart.max():.1e}"
        name = max(self.largest, key=lambda key: self.largest[key])
        return (
            f"{self.path.system.name}: the vakonomic path leaves the motion at t = {self.time:.4g} "
            f"(by {self.tolerance:g}); at most they are {100 * self.largest[name]:.3g} % of the extent of {name} apart"
        )

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """Both paths, their coordinates, and how they part. Written to `path` where it is given. axes: four panels."""
        from dalembert.view.plots.parting import plot_parting

        return plot_parting(self, path, axes, style)


def vakonomic(
    system: System,
    duration: float | None,
    multipliers: Mapping[str, float] | None,
    rtol: float,
    samples: int,
) -> VakonomicMotion:
    """Integrate the vakonomic equations from the initial state.

    multipliers: initial values μ(0) by the names of constraints, 0 where not given; no mechanics determines them.
    """
    system = system.expanded
    reason = first(has_modes(system), on_accelerations(system), no_energies(system), does_work(system))
    if reason:
        raise DoesNotApply(f"{system.name}: the vakonomic equations do not apply: {reason}")
    names = [c.name for c in system.constraints]
    unknown = sorted(set(multipliers or {}) - set(names))
    if unknown:
        raise ModelError(
            system.name, [f"multipliers: there is no constraint {unknown[0]!r}.{suggest(unknown[0], names)}"]
        )
    mu = np.array([float((multipliers or {}).get(name, 0.0)) for name in names])
    q, v, t0 = system.initial_values()
    options = {**system.settings, "rtol": rtol, "samples": samples}
    settings = settings_of(system, duration, None, t0, options)
    evaluation = Evaluation(system)
    require_consistent_state(evaluation, State(q, v, t0))
    q, v, _ = project(evaluation, q, v, t0)
    rates = _Rates(evaluation)
    start = np.concatenate([q, v, mu])
    first_rates = rates(t0, start)
    atol = np.concatenate([tolerances(settings, q, v, first_rates[q.size : 2 * q.size]), np.zeros(mu.size)])
    span = float(settings.times[-1] - t0)
    size = np.abs(first_rates[2 * q.size :]) * span + np.abs(mu)
    atol[2 * q.size :] = 1e-3 * rtol * (float(size.max(initial=0.0)) or 1.0)
    states = _integrate(system, rates, settings.times, start, rtol, atol)
    n = q.size
    places, speeds, mus = states[:, :n], states[:, n : 2 * n], states[:, 2 * n :]
    missed = _largest_residual(evaluation, settings.times, places, speeds)
    return VakonomicMotion(system, settings.times, places, speeds, mus, missed, rtol)


def _integrate(system: System, rates: _Rates, times: Array, start: Array, rtol: float, atol: Array) -> Array:
    """The states at the output times."""
    t0, end = float(times[0]), float(times[-1])
    solver = DOP853(rates, t0, start, end, rtol=rtol, atol=atol)
    states = [start]
    while solver.status == "running":
        solver.step()
        if solver.status == "failed" or solver.step_size < COLLAPSED * (end - t0) < end - solver.t:
            raise MotionFailed(
                f"{system.name}: the vakonomic path could not be continued beyond t = {solver.t:.6g}: its equations "
                "become singular there, as they may where a constraint is nonlinear in the velocities and mu has grown"
            )
        dense = solver.dense_output()
        while len(states) < times.size and times[len(states)] <= solver.t:
            states.append(dense(float(times[len(states)])))
    return np.array(states)


class _Rates:
    """d/dt of (q, q̇, μ): (M − Σ μ ∂²g/∂q̇²) q̈ − Aᵀμ̇ = Q + μ (∂²g/∂q̇∂q q̇ + ∂²g/∂q̇∂t − ∂g/∂q), A q̈ = b.

    Position constraints enter by φ̇, for which the terms with μ vanish.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        system = evaluation.system
        self.evaluation = evaluation
        known = variables_of(system)
        mu = ca.SX.sym("mu", len(system.constraints))
        G = ca.SX(0)
        for k, constraint in enumerate(system.constraints):
            if constraint.level == "velocity":
                G += mu[k] * known.convert(constraint.expression)
        slope = ca.gradient(G, known.v)
        bend = ca.jtimes(slope, known.q, known.v) + ca.jacobian(slope, known.time) - ca.gradient(G, known.q)
        inputs = [known.q, known.v, mu, known.time, known.p]
        outputs = [ca.densify(ca.jacobian(slope, known.v)), ca.densify(bend)]
        self._terms = Evaluator(ca.Function("vakonomic", inputs, outputs))

    def __call__(self, t: float, y: Array) -> Array:
        evaluation = self.evaluation
        n = evaluation.n
        q, v, mu = y[:n], y[n : 2 * n], y[2 * n :]
        M, Q, A, b = evaluation.dynamics(q, v, t)
        H, bend = self._terms(q, v, mu, t, evaluation.p)
        return np.concatenate([v, *saddle(M - H.reshape(n, n), Q + bend, A, b, M)])


def _largest_residual(evaluation: Evaluation, t: Array, q: Array, v: Array) -> float:
    """The largest relative residual of φ, φ̇, ψ."""
    worst = 0.0
    for k in range(t.size):
        for values, size in (
            (evaluation.position(q[k], float(t[k])), size_of(q, v)),
            (evaluation.velocity(q[k], v[k], float(t[k])), size_of(v, q)),
        ):
            worst = max(worst, float(relative_residual(*values, size).max(initial=0.0)))
    return worst
