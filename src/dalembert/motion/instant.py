"""Everything at one state."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.mechanics.solve.deviation import (
    constraint_matrix,
    gain,
    inverse_of,
    inverse_root,
    is_possible,
    possible,
    relative_miss,
    require_14,
    vector,
)
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, Fundamental, null_space
from dalembert.model.friction.legs import needs_legs
from dalembert.model.system import System
from dalembert.motion.contacts.run.mode_of_state import instant_with_contacts
from dalembert.motion.state.evaluation import Energetics, Evaluation
from dalembert.motion.state.outputs import outputs_of
from dalembert.results import Result, by_name, plain_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.study.gauss_picture import GaussPicture
    from dalembert.view.figures import Given


class VirtualWork(NamedTuple):
    """Along a virtual displacement v: what all constraint forces do, vᵀF^c, and what their laws prescribe, vᵀC. In its
    extended form d'Alembert's principle says that they are the same; zero where constraints are ideal.
    """

    done: float
    prescribed: float


class Excess(NamedTuple):
    """What G_ni of an acceleration z has more than that of the motion, with d = z − q̈: (15) of Udwadia 2005,

        G_ni(z) − G_ni(q̈) = (d, d)_M + 2 (M q̈ − Q − C, d).

    The last term is zero where z is possible, A d = 0; the first is never negative: the motion has the least.
    """

    excess: float
    square: float
    cross: float


@dataclass(frozen=True)
class Instant(Result):
    """Acceleration and forces of a system at one state, in the order of its coordinates.

    M q̈ = impressed + inertial + ideal + nonideal, where impressed + inertial = Q: `inertial` holds the terms
    of Q that come from the kinetic energy (centrifugal, Coriolis). `multipliers` λ are in the order of the
    constraints, M q̈ = Q + C + Aᵀλ. What the constraints make of the free motion, q̈ − a = K e, is in `unconstrained`,
    `e`, `B`, `K` and `deviation`.
    """

    system: System
    t: float
    q: Array
    v: Array
    solution: Fundamental
    energetics: Energetics

    @property
    def acceleration(self) -> Array:
        return self.solution.acceleration

    @property
    def unconstrained(self) -> Array:
        """a = M⁻¹Q, the acceleration if there were no constraints; NaN where M is singular."""
        return self.solution.unconstrained

    @property
    def impressed(self) -> Array:
        return self.solution.Q - self.energetics.inertial

    @property
    def inertial(self) -> Array:
        return self.energetics.inertial

    @property
    def ideal(self) -> Array:
        return self.solution.ideal

    @property
    def nonideal(self) -> Array:
        return self.solution.nonideal

    @property
    def multipliers(self) -> Array:
        return self.solution.multipliers

    @property
    def rank(self) -> int:
        return int(self.solution.rank)

    @property
    def dependent(self) -> tuple[str, ...]:
        """Names of the constraints that are combinations of those before them at this state."""
        flags = self.solution.dependent
        return tuple(c.name for c, flag in zip(self.system.constraints, flags, strict=True) if flag)

    @property
    def energy(self) -> float:
        return self.energetics.energy

    @property
    def M(self) -> Array:
        return self.solution.M

    @property
    def Q(self) -> Array:
        return self.solution.Q

    @property
    def A(self) -> Array:
        return self.solution.A

    @property
    def b(self) -> Array:
        return self.solution.b

    @property
    def C(self) -> Array:
        return self.solution.C

    @property
    def outputs(self) -> dict[str, float]:
        """The named outputs of the system."""
        rows = (self.q, self.v, self.acceleration, self.ideal, self.multipliers)
        found = outputs_of(self.system, np.array([self.t]), *(row[None, :] for row in rows))
        return {name: float(value[0]) for name, value in found.items()}

    # -- what the constraints make of the free motion (Udwadia and Kalaba 1993)

    @property
    def e(self) -> Array:
        """b − A a: the extent to which the free motion misses each constraint."""
        return self.b - self.A @ self.unconstrained

    @property
    def B(self) -> Array:
        """A M^(−1/2), the constraint matrix (m, n)."""
        return constraint_matrix(self.M, self.A)

    @property
    def K(self) -> Array:
        """M^(−1/2) B⁺ (n, m): q̈ − a = K e without work of constraints, K (e − A c) + c with it."""
        return gain(self.M, self.A)

    @property
    def deviation(self) -> Array:
        """q̈ − a."""
        return self.acceleration - self.unconstrained

    @property
    def c(self) -> Array:
        """M⁻¹C, the acceleration that C would give to the free system."""
        root = inverse_root(self.M)
        return np.asarray(root @ (root @ self.C))

    @property
    def a_ni(self) -> Array:
        """a + c, the acceleration of the free system under Q and C together, from which the motion deviates least."""
        return self.unconstrained + self.c

    @property
    def r(self) -> Array:
        """M^(1/2)(q̈ − a_ni), the shortest of all that satisfy B r = e − A c: B⁺(e − A c)."""
        return np.asarray(inverse_root(self.M) @ self.M @ (self.acceleration - self.a_ni))

    @property
    def constraint_force(self) -> Array:
        """F^c = M q̈ − Q, all that the constraints do: ideal + nonideal."""
        return self.ideal + self.nonideal

    def possible(self, y: ArrayLike, inverse: ArrayLike | None = None) -> Array:
        """An acceleration that satisfies the constraints; all of them for all y (n numbers). inverse: a {1,4}-inverse
        of B in place of B⁺; for one y it gives the same.
        """
        return possible(self.M, self.A, self.b, y, inverse)

    def inverse(self, Z: ArrayLike | None = None) -> Array:
        """B⁺ (n, m), or with some Z (n, m) another {1,4}-inverse of B, B⁺ + Z (I − B B⁺); others only where
        constraints are redundant.
        """
        return inverse_of(self.M, self.A, Z)

    def deviation_by(self, inverse: ArrayLike) -> Array:
        """q̈ − a = M^(−1/2) G (e − A c) + c with a {1,4}-inverse G of B: the same for all of them, `deviation`."""
        G = require_14(self.B, inverse)
        return np.asarray(inverse_root(self.M) @ (G @ (self.e - self.A @ self.c)) + self.c)

    def is_possible(self, z: ArrayLike) -> bool:
        """Whether an acceleration z satisfies the constraints, A z = b."""
        return is_possible(self.A, self.b, z)

    # -- virtual displacements (d'Alembert, Udwadia 2005)

    @property
    def virtual_displacements(self) -> Array:
        """Those that the constraints allow, A v = 0: a basis of unit length, (n, n − rank)."""
        return null_space(self.A)

    def virtual_work(self, v: ArrayLike) -> VirtualWork:
        """The work of the constraint forces along a virtual displacement v: vᵀF^c, which is vᵀC."""
        v = vector(v, len(self.q), "virtual_work")
        off = relative_miss(self.A, np.zeros(self.A.shape[0]), v)
        for constraint, part in zip(self.system.constraints, off, strict=True):
            if part > CONSISTENCY_TOLERANCE:
                raise ModelError(
                    "virtual_work",
                    [
                        f"v is no virtual displacement: A v = 0 does not hold for {constraint.name!r}, relative "
                        f"residual {part:.2g}; combine the columns of virtual_displacements"
                    ],
                )
        return VirtualWork(float(v @ self.constraint_force), float(v @ self.C))

    def gauss(
        self,
        acceleration: ArrayLike | None = None,
        *,
        force: ArrayLike | None = None,
        deviation: ArrayLike | None = None,
    ) -> float:
        """G_ni = (M z − Q − C)ᵀ M⁻¹ (M z − Q − C), least at the motion itself among all z with A z = b. Twice the G of
        Gauss, who has a factor ½.

        z is given as such, by a constraint force F = M z − Q, or by its deviation z − a from the free motion; the
        actual one where none is given. For z = q̈ + d with A d = 0, G grows by dᵀM d. Warns where A z = b does not hold.
        """
        z = self._candidate(acceleration, force, deviation)
        if z is None:
            return float(self.solution.gauss())
        off = relative_miss(self.A, self.b, z)
        if off.size and not off.max() <= CONSISTENCY_TOLERANCE:
            worst = self.system.constraints[int(off.argmax())].name
            warnings.warn(
                f"{self.system.name}: this acceleration is not possible, A z = b does not hold for {worst!r} (relative "
                f"residual {off.max():.2g}): G may be less than that of the motion there",
                stacklevel=2,
            )
        return float(self.solution.gauss(z))

    def gauss_excess(
        self,
        acceleration: ArrayLike | None = None,
        *,
        force: ArrayLike | None = None,
        deviation: ArrayLike | None = None,
    ) -> Excess:
        """How much G_ni of a candidate exceeds that of the motion, and its two parts; given as for `gauss`."""
        z = self._candidate(acceleration, force, deviation)
        if z is None:
            raise ModelError(
                "gauss_excess", ["give an acceleration, a force or a deviation to compare with the motion"]
            )
        d = z - self.acceleration
        left = self.M @ self.acceleration - self.Q - self.C
        more = float(self.solution.gauss(z)) - float(self.solution.gauss())
        return Excess(more, float(d @ self.M @ d), float(2 * left @ d))

    def _candidate(
        self, acceleration: ArrayLike | None, force: ArrayLike | None, deviation: ArrayLike | None
    ) -> Array | None:
        """An acceleration told in one of three ways; None where in none."""
        given = {"acceleration": acceleration, "force": force, "deviation": deviation}
        told = {name: vector(value, len(self.q), name) for name, value in given.items() if value is not None}
        if len(told) > 1:
            raise ModelError("gauss", [f"give one of acceleration, force, deviation, not {' and '.join(told)}"])
        if not told:
            return None
        ((name, z),) = told.items()
        if name == "force":
            root = inverse_root(self.M)
            return np.asarray(root @ (root @ (self.Q + z)))
        return self.unconstrained + z if name == "deviation" else z

    def gauss_picture(self, coordinates: Sequence[Any] | None = None) -> GaussPicture:
        """Gauss's principle here, as the geometry of a plane: of two of the coordinates, or of the forces."""
        from dalembert.study.gauss_picture import gauss_picture

        return gauss_picture(self, coordinates)

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        coordinates: Sequence[Any] | None = None,
        *,
        axes: Given = None,
        style: str = "light",
    ) -> Figure:
        """Draw `gauss_picture`; write it to `path` where that is given. axes: one panel to draw into."""
        return self.gauss_picture(coordinates).plot(path, axes=axes, style=style)

    plot = picture

    def headline(self) -> str:
        return f"of {self.system.name!r} at t = {self.t:g}"

    def to_dict(self) -> dict[str, Any]:
        q, constraints = self.system.coordinates, self.system.constraints
        vectors = ("acceleration", "unconstrained", "impressed", "inertial", "ideal", "nonideal")
        found = {
            "name": self.system.name,
            "t": self.t,
            "state": by_name(q, self.q) | by_name(q, self.v, "'"),
            **{name: by_name(q, getattr(self, name)) for name in vectors},
            "multipliers": by_name(constraints, self.multipliers),
            "rank": self.rank,
            "dependent": self.dependent,
            "energy": self.energetics.energy,
        }
        return {key: plain_values(value) for key, value in found.items()}

    def text(self) -> str:
        names = [coordinate.name for coordinate in self.system.coordinates]
        lines = [
            f"{self.system.name} at t = {self.t:g}",
            f"{'':>12} {'q̈':>14} {'M q̈':>14} = {'impressed':>12} + {'inertial':>12} + {'ideal':>12} + {'nonideal':>12}",
        ]
        inertia = self.M @ self.acceleration
        for k, name in enumerate(names):
            row = (self.impressed[k], self.inertial[k], self.ideal[k], self.nonideal[k])
            forces = " + ".join(f"{value + 0.0:>12.6g}" for value in row)  # without the sign of −0
            lines.append(f"{name:>12} {self.acceleration[k]:>14.6g} {inertia[k]:>14.6g} = {forces}")
        idle = [c for c, row in zip(self.system.constraints, self.A, strict=True) if not row.any()]
        for why, group in (
            ("open", [c.name for c in idle if c.one_sided]),
            ("no gradient here", [c.name for c in idle if not c.one_sided]),
        ):
            lines += [f"{why}, so that they do not act: {', '.join(group)}"] if group else []
        dependent = [name for name in self.dependent if name not in {c.name for c in idle}]
        lines.append(f"rank {self.rank}" + (f", dependent: {', '.join(dependent)}" if dependent else ""))
        return "\n".join(lines)


def at(
    system: System,
    state: Mapping[Any, Any] | None = None,
    t: float | None = None,
    parameters: Mapping[Any, Any] | None = None,
) -> Instant:
    """The instant at a state. What `state` does not give comes from the system's initial state.

    The state need not satisfy the constraints (A q̈ = b is solved as it stands), but b must be in the range
    of A.
    """
    changed = starting_at(system, state, t, parameters)
    return instant(Evaluation(changed), *changed.initial_values())


def starting_at(
    system: System, state: Mapping[Any, Any] | None, t: Any = None, parameters: Mapping[Any, Any] | None = None
) -> System:
    """The system with another initial state, time and parameters, where they are given."""
    changes: dict[str, Any] = {}
    if state is not None:
        changes["initial"] = state
    if t is not None and isinstance(state, (Mapping, NoneType)):
        changes["initial"] = {**(state or {}), "t": t}
    if parameters is not None:
        changes["parameters"] = parameters
    return system.replace(**changes) if changes else system


def instant(evaluation: Evaluation, q: Array, v: Array, t: float) -> Instant:
    if needs_legs(evaluation.system):
        solution = instant_with_contacts(evaluation, q, v, t)
    else:
        solution = evaluation.solve(q, v, t)
        evaluation.require_consistent(solution, t)
    return Instant(evaluation.system, t, np.array(q), np.array(v), solution, evaluation.energetics(q, v, t))
