"""A system's numbers at a state: by CasADi's virtual machine and dense, rank-revealing algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, InconsistentConstraints, ModelError, UndefinedModel, UndeterminedMotion
from dalembert.graph.evaluate import Evaluators
from dalembert.graph.functions import Graph, graph_of
from dalembert.kernel.limits import SLOPE_FINER, SLOPE_REFINED, SLOPE_SMOOTH
from dalembert.kernel.ready.together import along
from dalembert.mechanics.solve.fundamental import (
    CONSISTENCY_TOLERANCE,
    Fundamental,
    UndeterminedDirection,
    solve,
)
from dalembert.motion.state.branches import Branch, follow_branch, least_branch
from dalembert.motion.state.reactions import (
    NEARLY_SINGULAR,
    SINGULAR_FORCE,
    all_multipliers,
    directions,
    force_equations,
    sizes,
    solve_together,
)

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class Energetics:
    """Energy and what feeds it at a state. `explicit` is the power that comes from explicit time dependence."""

    energy: float
    explicit: float
    forces: Array
    inertial: Array


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A system with values for its parameters, ready to be evaluated. Cheap to make, and for any number of threads."""

    system: System
    p: Array = None  # type: ignore[assignment]  # those of the system
    graph: Graph = field(init=False, repr=False)
    n: int = field(init=False)
    m: int = field(init=False)

    def __post_init__(self) -> None:
        system = self.system
        found = {"graph": graph_of(system), "n": len(system.coordinates), "m": len(system.constraints)}
        if self.p is None:
            found["p"] = system.parameter_values()
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def with_parameters(self, p: Array) -> Evaluation:
        """The same system with other values."""
        return Evaluation(self.system, p)

    @cached_property
    def _run(self) -> Evaluators:
        return self.graph.evaluators

    @cached_property
    def _none(self) -> Array:
        return np.zeros(self.n)

    @cached_property
    def _no_multipliers(self) -> Array:
        return np.zeros(self.m)

    @property
    def _ideal_only(self) -> bool:
        return not self.system.works

    # -- the parts

    def dynamics(self, q: Array, v: Array, t: float) -> tuple[Array, Array, Array, Array]:
        """M, Q, A, b (rows nonlinear in q̈ are zero)."""
        (M, Q, A, b), finite = self._run.dynamics.checked(q, v, t, self.p)
        if not finite:
            self._complain({"M": M, "Q": Q, "A": A, "b": b}, q, v, t)
        return M.reshape(self.n, self.n), Q, A.reshape(self.m, self.n), b

    def position(self, q: Array, t: float) -> tuple[Array, Array]:
        """φ and ∂φ/∂q."""
        phi, slope = self._run.position(q, t, self.p)
        return phi, slope.reshape(phi.size, self.n)

    def velocity(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """(φ̇, ψ) and their derivative with respect to q̇."""
        value, slope = self._run.velocity(q, v, t, self.p)
        return value, slope.reshape(value.size, self.n)

    def energetics(self, q: Array, v: Array, t: float) -> Energetics:
        energy, explicit, forces, inertial = self._run.energy(q, v, t, self.p)
        return Energetics(float(energy[0]), float(explicit[0]), forces, inertial)

    def nonlinear_names(self) -> str:
        """The rows nonlinear in q̈, as messages name them."""
        return " and ".join(repr(self.system.constraints[k].name) for k in self.graph.nonlinear)

    def branch_accelerations(self, solution: Fundamental) -> Array:
        """The accelerations (2n) that select the branches near a solution: its own, and the one without C, to which the
        ideal force belongs.
        """
        a = solution.acceleration
        if not self.graph.nonlinear or self._ideal_only:
            return np.concatenate([a, a])
        free = np.linalg.lstsq(solution.M, solution.Q + solution.ideal, rcond=None)[0]
        return np.concatenate([a, free])

    def nonlinear(self, q: Array, v: Array, a: Array, t: float, k: Array) -> tuple[Array, Array, Array]:
        """h, ∂h/∂q̈ and ∂²(kᵀh)/∂q̈² of the rows nonlinear in q̈."""
        h, slope, curvature = self._run.acceleration(q, v, a, t, self.p, k)
        return h, slope.reshape(h.size, self.n), curvature.reshape(self.n, self.n)

    def work(
        self, q: Array, v: Array, t: float, ideal: Array, actual: Array, multipliers: Array
    ) -> tuple[Array, Array, Array]:
        """C, and its derivatives with respect to the actual constraint force and to the multipliers."""
        C, by_force, by_multipliers = self._run.work(q, v, t, self.p, ideal, actual, multipliers)
        if not np.isfinite(C).all():
            self._complain({f"the work of {self._laws_without_value(q, v, t)}": C}, q, v, t)
        return C, by_force.reshape(self.n, self.n), by_multipliers.reshape(self.n, self.m)

    def affine_work(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """C₀ and ∂C/∂λ, where C = C₀ + (∂C/∂λ) λ."""
        C, _, by_multipliers = self.work(q, v, t, self._none, self._none, self._no_multipliers)
        return C, by_multipliers

    def events(
        self, y: Array, t: float, sizes: Array, multipliers: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """The event functions, and the size of their terms with sizes of (q, q̇) at least `sizes`.

        multipliers: these and their sizes, where the functions use them (`multipliers_at`).
        """
        none = self._no_multipliers
        l, k = (none, none) if multipliers is None else multipliers
        g, scale = self._run.events(y[: self.n], y[self.n : 2 * self.n], t, self.p, sizes, l, k)
        return g, scale

    # -- the parts along a motion: q, v (T, n) and t (T,); the leading axis of what they give is time

    def dynamics_along(self, q: Array, v: Array, t: Array) -> tuple[Array, Array, Array, Array]:
        """M, Q, A, b at every point."""
        M, Q, A, b = along(self.graph, "dynamics")(t.size, q, v, t, self.p)
        M, A = M.reshape(t.size, self.n, self.n), A.reshape(t.size, self.m, self.n)
        for k in _not_finite(t.size, M, Q, A, b):
            self.dynamics(q[k], v[k], float(t[k]))  # says what is wrong there
        return M, Q, A, b

    def nonlinear_along(self, q: Array, v: Array, a: Array, t: Array, k: Array) -> tuple[Array, Array, Array]:
        """h, ∂h/∂q̈ and ∂²(kᵀh)/∂q̈² of the rows nonlinear in q̈, at every point."""
        h, slope, curvature = along(self.graph, "acceleration")(t.size, q, v, a, t, self.p, k)
        return h, slope.reshape(t.size, h.shape[1], self.n), curvature.reshape(t.size, self.n, self.n)

    def position_along(self, q: Array, t: Array) -> tuple[Array, Array]:
        phi, slope = along(self.graph, "position")(t.size, q, t, self.p)
        return phi, slope.reshape(t.size, phi.shape[1], self.n)

    def velocity_along(self, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
        value, slope = along(self.graph, "velocity")(t.size, q, v, t, self.p)
        return value, slope.reshape(t.size, value.shape[1], self.n)

    def energetics_along(self, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
        """The energy and the inertial part of Q at every point."""
        energy, _, _, inertial = along(self.graph, "energy")(t.size, q, v, t, self.p)
        return energy[:, 0], inertial

    def supplied_along(self, q: Array, v: Array, t: Array) -> Array:
        """The power of impressed forces without a potential, and of explicit time dependence, at every point."""
        _, explicit, forces, _ = along(self.graph, "energy")(t.size, q, v, t, self.p)
        return np.asarray(explicit[:, 0] + np.einsum("ti,ti->t", v, forces))

    def work_along(self, q: Array, v: Array, t: Array, ideal: Array, actual: Array, multipliers: Array) -> Array:
        """C at every point, from the ideal and the actual constraint force and the multipliers there."""
        C, _, _ = along(self.graph, "work")(t.size, q, v, t, self.p, ideal, actual, multipliers)
        for k in _not_finite(t.size, C):
            self.work(q[k], v[k], float(t[k]), ideal[k], actual[k], multipliers[k])  # says what is wrong there
        return C

    def slopes_of_work_along(
        self, q: Array, v: Array, t: Array, ideal: Array, actual: Array, multipliers: Array
    ) -> tuple[Array, Array, Array]:
        """C at every point, and its derivatives with respect to the actual constraint force and to the multipliers; no
        numbers where it has no value or no slope.
        """
        C, by_force, by_multipliers = along(self.graph, "work")(t.size, q, v, t, self.p, ideal, actual, multipliers)
        return C, by_force.reshape(t.size, self.n, self.n), by_multipliers.reshape(t.size, self.n, self.m)

    def affine_work_along(self, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
        """C₀ and ∂C/∂λ at every point, where C = C₀ + (∂C/∂λ) λ."""
        none = np.zeros((t.size, self.n))
        C, _, by_multipliers = along(self.graph, "work")(
            t.size, q, v, t, self.p, none, none, np.zeros((t.size, self.m))
        )
        return C, by_multipliers.reshape(t.size, self.n, self.m)

    # -- the whole

    def solve(
        self,
        q: Array,
        v: Array,
        t: float,
        rows: Sequence[int] | None = None,
        guess: Array | None = None,
        natural: Array | None = None,
    ) -> Fundamental:
        """The fundamental equation at a state.

        rows restricts it to some constraints. guess is what `branch_accelerations` gave nearby, or an acceleration
        alone: it selects the branch where a constraint is nonlinear in q̈. Without it that is the one of least Gauss
        function. natural: lengths of the rows along a motion, see `fundamental.solve`.
        """
        M, Q, A, b = self.dynamics(q, v, t)
        everything = A
        if rows is not None:
            A, b = A[list(rows)], b[list(rows)]
        try:
            if self.graph.nonlinear:
                return self._solve_nonlinear(M, Q, A, b, q, v, t, guess)
            if self._ideal_only:
                return solve(M, Q, A, b, self._none, natural=natural)
            if self.graph.affine:
                C, by_multipliers = self.affine_work(q, v, t)
                if not by_multipliers.any():  # of what sticks or is open, C does not follow the forces
                    return solve(M, Q, A, b, C, natural=natural)
            ideal = self._none
            if self.graph.uses_reactions:
                ideal = solve(M, Q, A, b, self._none, natural=natural).ideal
            if not self.graph.uses_actual:
                C = self.work(q, v, t, ideal, self._none, self._no_multipliers)[0]
            else:
                given = directions(M, everything, rows)
                where = f"{self.system.name}, t = {t:.6g}"
                C = solve_together(given, Q, ideal, lambda f, l: self.work(q, v, t, ideal, f, l), where)
            return solve(M, Q, A, b, C, natural=natural)
        except UndeterminedDirection as error:
            names = [coordinate.name for coordinate in self.system.coordinates]
            raise UndeterminedMotion(f"{self.system.name}, t = {t:.6g}: {error.message(names)}") from None

    def multipliers_at(
        self,
        q: Array,
        v: Array,
        t: float,
        rows: Sequence[int] | None = None,
        guess: Array | None = None,
        natural: Array | None = None,
    ) -> tuple[Array, Array]:
        """The multipliers of all constraints, and the size of what they are made of. Arguments as in `solve`."""
        solution = self.solve(q, v, t, rows, guess, natural)
        A = solution.A if rows is None else self.dynamics(q, v, t)[2]
        multipliers = all_multipliers(solution, A, rows)
        return multipliers, sizes(solution.M, solution.Q, A, solution.C, solution.acceleration)

    def heat(self, q: Array, v: Array, t: float, multipliers: Array) -> Array:
        """The powers that friction turns into heat."""
        return self._run.heat(q, v, t, self.p, multipliers)[0]

    def heat_along(self, q: Array, v: Array, t: Array, multipliers: Array) -> Array:
        """The same at every point, (T, places)."""
        return along(self.graph, "heat")(t.size, q, v, t, self.p, multipliers)[0]

    def trouble_near(self, q: Array, v: Array, t: float) -> str | None:
        """Why no step may lead on from a state at which there is an acceleration: next to it, there is none."""
        if not self.graph.uses_actual or not (np.isfinite(q).all() and np.isfinite(v).all()):
            return None
        try:
            found = self.solve(q, v, t)
            force = found.A.T @ found.multipliers
            _, by_force, by_multipliers = self.work(q, v, t, found.ideal, force, found.multipliers)
        except DalembertError as error:
            return str(error)
        regularity = force_equations(directions(found.M, found.A), by_force, by_multipliers)[1]
        return None if regularity > NEARLY_SINGULAR else f"{self.system.name}, t = {t:.6g}: {SINGULAR_FORCE}"

    def slopes(self, solution: Fundamental, q: Array, v: Array, t: float) -> Array:
        """∂q̈/∂(q, q̇), (n, 2n): the fundamental equation differentiated, solved for all columns at once.

        Where C depends on constraint forces, or a row is nonlinear in q̈, by central differences.
        """
        if self.graph.nonlinear or self.graph.uses_reactions:
            return self._differences(q, v, t, self.branch_accelerations(solution))
        actual = solution.A.T @ solution.multipliers
        force, kinematic = self._run.slopes(
            q, v, solution.acceleration, solution.multipliers, t, self.p, solution.ideal, actual
        )
        columns = 2 * self.n
        kinematic = kinematic.reshape(self.m, columns)
        each = solve(
            np.broadcast_to(solution.M, (columns, self.n, self.n)),
            -force.T,
            np.broadcast_to(solution.A, (columns, self.m, self.n)),
            -kinematic.T,
            np.zeros((columns, self.n)),
        )
        return each.acceleration.T

    def size_of_forces(self, solution: Fundamental, q: Array, v: Array, t: float) -> Array:
        """The sizes of what M q̈ − Aᵀλ − Q − C is a sum of, as changes of the state by its own size would show them."""
        actual = solution.A.T @ solution.multipliers
        force, _ = self._run.slopes(
            q, v, solution.acceleration, solution.multipliers, t, self.p, solution.ideal, actual
        )
        return np.abs(force.reshape(self.n, 2 * self.n)) @ np.abs(np.concatenate([q, v]))

    def _differences(self, q: Array, v: Array, t: float, guess: Array) -> Array:
        def column(k: int, step: float) -> Array:
            ends = []
            for sign in (1.0, -1.0):
                y = np.concatenate([q, v])
                y[k] += sign * step
                ends.append(self.solve(y[: self.n], y[self.n :], t, None, guess).acceleration)
            return (ends[0] - ends[1]) / (2 * step)

        columns = []
        for k in range(2 * self.n):
            # The cube root of rounding balances truncation and rounding of central differences.
            step = 6e-6 * max(1.0, abs(float(q[k] if k < self.n else v[k - self.n])))
            found = column(k, step)
            # A law of friction may change over a far smaller velocity: that with which something slips.
            for _ in range(SLOPE_REFINED if k >= self.n and self.graph.uses_actual else 0):
                step /= SLOPE_FINER
                finer = column(k, step)
                rounding = 2.0**-50 * float(np.abs(guess[: self.n]).max()) / step
                agree = np.abs(finer - found).max() <= SLOPE_SMOOTH * np.abs(finer).max() + rounding
                found = finer
                if agree:
                    break
            columns.append(found)
        return np.array(columns).T

    def require_consistent(self, solution: Fundamental, t: float, tolerance: float = CONSISTENCY_TOLERANCE) -> None:
        """Raise where the constraints cannot hold together at this state."""
        if solution.residual.size and solution.residual.max() > tolerance:
            names = [c.name for c, r in zip(self.system.constraints, solution.residual, strict=True) if r > tolerance]
            quoted = " and ".join(f"'{name}'" for name in names)
            raise InconsistentConstraints(
                f"{self.system.name}: {quoted} cannot {'both ' if len(names) == 2 else ''}hold at t = {t:.6g}: "
                f"{InconsistentConstraints.SAYS}, relative residual {solution.residual.max():.2g}). "
                "Remove one, or correct the model or the state."
            )

    def branching_constraints(self, q: Array, v: Array, t: float) -> list[str]:
        """Constraints nonlinear in q̇ whose gradient vanishes here: branches of the motion meet, none is
        determined.
        """
        if not self.graph.curved:
            return []
        A = self.dynamics(q, v, t)[2]
        return [self.system.constraints[k].name for k in self.graph.curved if not np.any(A[k])]

    def _solve_nonlinear(
        self, M: Array, Q: Array, A: Array, b: Array, q: Array, v: Array, t: float, guess: Array | None
    ) -> Fundamental:
        """Rows nonlinear in q̈: the acceleration of least G on them, then the fundamental equation with A =
        ∂h/∂q̈ there.
        """
        names = [self.system.constraints[k].name for k in self.graph.nonlinear]
        if self.graph.uses_actual:
            raise ModelError(
                self.system.name,
                [
                    "actual(…) or multiplier(…) in a work expression cannot go with "
                    f"{names[0]!r}, nonlinear in the accelerations"
                ],
            )
        linear = [k for k in range(self.m) if k not in self.graph.nonlinear]
        near = None if guess is None else guess[: self.n]
        near_free = None if guess is None or guess.size == self.n else guess[self.n :]

        def branch(force: Array, near: Array | None) -> Branch:
            problem = (M, force, A[linear], b[linear], lambda z, k: self.nonlinear(q, v, z, t, k), len(names))
            where = f"{self.system.name}, t = {t:.6g}: {self.nonlinear_names()}"
            return least_branch(*problem, where) if near is None else follow_branch(*problem, near, where)

        C, free = self._none, None
        if not self._ideal_only:
            # The ideal force belongs to the least G without C, whose branch has nothing to do with the one followed.
            free = branch(Q, near_free)
            C = self.work(q, v, t, M @ free.z - Q, self._none, self._no_multipliers)[0]
        found = branch(Q + C, near)
        A, b = A.copy(), b.copy()
        A[list(self.graph.nonlinear)] = found.slope
        b[list(self.graph.nonlinear)] = found.slope @ found.z - found.h
        solution = solve(M, Q, A, b, C)
        if free is not None and np.any(C):
            ideal = M @ free.z - Q
            solution = replace(solution, ideal=ideal, nonideal=solution.ideal + solution.nonideal - ideal)
        return solution

    def _complain(self, parts: dict[str, Array], q: Array, v: Array, t: float) -> None:
        names = [coordinate.name for coordinate in self.system.coordinates]
        what = next(name for name, value in parts.items() if not np.isfinite(value).all())
        state = ", ".join(f"{name} = {x:.6g}" for name, x in zip(names, q, strict=True))
        speed = ", ".join(f"{name}' = {x:.6g}" for name, x in zip(names, v, strict=True))
        raise UndefinedModel(
            f"{self.system.name}: {what} has no finite value at t = {t:.6g}, {state}, {speed}. " + self._remedy(q, v, t)
        )

    def _laws_without_value(self, q: Array, v: Array, t: float) -> str:
        """Which laws have no finite value here, by the constraints they belong to."""
        import sympy as sp  # only for this message

        from dalembert.model.language.symbols import t as time

        system = self.system.as_written
        symbols = (*system.coordinates, *system.velocities, *system.parameter_symbols, time)
        values = dict(zip(symbols, map(sp.Float, (*q, *v, *self.p, t)), strict=True))
        names = []
        for law in system.works:
            numbers = [part.xreplace(values) for part in law.work.values()]
            if any(number.has(sp.nan, sp.zoo, sp.oo, -sp.oo) for number in numbers):
                names.append(law.constraint)
        return f"the law on {', '.join(map(repr, names))}" if all(names) and names else "the nonideal constraints"

    def _remedy(self, q: Array, v: Array, t: float) -> str:
        """What to do about a value that is not finite."""
        moving = v + 1e-6 * np.maximum(np.abs(v), 1.0)  # any other velocity would do
        inputs = [np.zeros(self.graph.work.numel_in(k)) for k in range(4, self.graph.work.n_in())]
        here, near = (bool(np.isfinite(self._run.work(q, w, t, self.p, *inputs)[0]).all()) for w in (v, moving))
        if near and not here:
            return (
                "It has one at velocities nearby: friction written as v/|v| has no direction at rest. Use da.Coulomb "
                '(law = "coulomb"), which sticks there.'
            )
        return "Look for a division by zero or a root of a negative number in the model."


def _not_finite(count: int, *parts: Array) -> list[int]:
    """The points at which a part is not finite."""
    if all(np.isfinite(part).all() for part in parts):
        return []
    bad = np.zeros(count, dtype=bool)
    for part in parts:
        bad |= ~np.isfinite(part.reshape(count, -1)).all(axis=1)
    return [int(k) for k in np.flatnonzero(bad)]
