"""Everything at one state."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.mechanics.fundamental import Array, Fundamental
from dalembert.model.contact import needs_legs
from dalembert.model.system import System
from dalembert.motion.contacts.legs import resting_or_moving
from dalembert.motion.evaluation import Energetics, Evaluation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.motion.gauss_picture import GaussPicture


@dataclass(frozen=True)
class Instant:
    """Acceleration and forces of a system at one state, in the order of its coordinates.

    M q̈ = impressed + inertial + ideal + nonideal, where impressed + inertial = Q: `inertial` holds the terms
    of Q that come from the kinetic energy (centrifugal, Coriolis). `multipliers` λ are in the order of the
    constraints, M q̈ = Q + C + Aᵀλ.
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

    def gauss(self, z: ArrayLike | None = None) -> float:
        """G_ni(z), least at the acceleration among all z with A z = b."""
        return float(self.solution.gauss(z))

    def gauss_picture(self, coordinates: Sequence[Any] | None = None) -> GaussPicture:
        """Gauss's principle here, as the geometry of a plane: of two of the coordinates, or of the forces."""
        from dalembert.motion.gauss_picture import gauss_picture

        return gauss_picture(self, coordinates)

    def picture(self, path: str | os.PathLike[str] | None = None, coordinates: Sequence[Any] | None = None) -> Figure:
        """Draw `gauss_picture`; write it to `path` where that is given."""
        from dalembert.view.gauss import draw

        return draw(self.gauss_picture(coordinates), path)

    def __str__(self) -> str:
        names = [coordinate.name for coordinate in self.system.coordinates]
        lines = [
            f"{self.system.name} at t = {self.t:g}",
            f"{'':>12} {'q̈':>14} {'impressed':>14} {'ideal':>14} {'nonideal':>14}",
        ]
        for k, name in enumerate(names):
            row = (self.acceleration[k], self.impressed[k], self.ideal[k], self.nonideal[k])
            lines.append(f"{name:>12} " + " ".join(f"{value:>14.6g}" for value in row))
        lines.append(f"rank {self.rank}" + (f", dependent: {', '.join(self.dependent)}" if self.dependent else ""))
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
    changes: dict[str, Any] = {}
    if state is not None:
        changes["initial"] = state
    if parameters is not None:
        changes["parameters"] = parameters
    changed = system.replace(**changes) if changes else system
    q, v, start = changed.initial_values()
    time = start if t is None else float(t)
    evaluation = Evaluation(changed)
    return instant(evaluation, q, v, time)


def instant(evaluation: Evaluation, q: Array, v: Array, t: float) -> Instant:
    if needs_legs(evaluation.system):
        solution = resting_or_moving(evaluation, q, v, t)
    else:
        solution = evaluation.solve(q, v, t)
        evaluation.require_consistent(solution, t)
    return Instant(evaluation.system, t, np.array(q), np.array(v), solution, evaluation.energetics(q, v, t))
