"""What the forces that depend on velocities do near an equilibrium: take energy from every motion, or feed some.

With E = T + V the energy, V of the forces at rest included, dE/dt = P(q, q̇) = q̇·(F(q, q̇) − F(q, 0) + C). At a
minimum of V, where E has one too, P ≤ 0 nearby proves stability (Lyapunov); P > 0 wherever anything moves disproves it:
backwards in time the equilibrium would be asymptotically stable. The linearised motion sees neither −ẋ³ nor +ẋ³: so
the sign of P is looked at, at states drawn nearby.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UndefinedModel
from dalembert.mechanics.solve.fundamental import null_space
from dalembert.model.system import System
from dalembert.motion.state.evaluation import Evaluation
from dalembert.statics.statics import Balance, Parts, Statics

# How near, in sizes of the coordinates: the lowest order of P is to decide, and does at both.
NEAR = (1e-2, 1e-3)
# States at each of them, in all modes together and in each alone.
TOGETHER, ALONE = 60, 8
# A power this small against the terms it is a sum of is zero: gyroscopic forces, written down as forces, do no work.
ZERO, ROUNDING = 1e-9, 8 * np.finfo(float).eps


@dataclass(frozen=True)
class Power:
    """Of the states tried, which gain energy, which lose it."""

    tried: int
    gain: int
    lose: int
    agrees: bool  # near and nearer

    @property
    def feeds(self) -> bool:
        """Every state that moves gains energy."""
        return self.agrees and self.gain == self.tried

    @property
    def safe(self) -> bool:
        """None gains any."""
        return self.gain == 0


def power_near(statics: Statics, at: Balance, parts: Parts, modes: Array, frequencies: Array) -> Power:
    """modes (n, k) of the displacements that the constraints allow; frequencies (k), zero where nothing returns."""
    if not _can_feed(statics.system):
        return Power(0, 0, 0, True)
    evaluation = Evaluation(statics.system, statics.p)
    draw = np.random.default_rng(1)  # the same states each time
    typical = float(frequencies.max(initial=0.0)) or 1.0
    rates = np.where(frequencies > 0, frequencies, typical)
    k = modes.shape[1]
    chosen = [np.ones(k)] * TOGETHER + [np.eye(k)[j] for j in range(k) for _ in range(ALONE) if k > 1]
    signs = []
    for distance in NEAR:
        for mask in chosen:
            way, speed = modes @ (mask * draw.normal(size=k)), modes @ (mask * rates * draw.normal(size=k))
            largest = max(np.abs(way / statics.sizes).max(), np.abs(speed / statics.sizes).max() / typical)
            scale = distance / largest
            try:
                signs.append(_sign(statics, evaluation, at, parts, at.q + scale * way, scale * speed))
            except UndefinedModel:
                signs.append(1)  # where the model ends nearby, nothing is proved
    counted = np.array(signs).reshape(len(NEAR), -1)
    kinds = {(bool((row > 0).any()), bool((row < 0).any())) for row in counted}
    return Power(counted.size, int((counted > 0).sum()), int((counted < 0).sum()), len(kinds) == 1)


def _can_feed(system: System) -> bool:
    """Whether a force, or work of constraints, depends on velocities; of a mass matrix, Coriolis forces are such."""
    speeds = set(system.velocities)
    return bool(system.works) or any(speeds & force.free_symbols for force in system.forces.values())


def _sign(statics: Statics, evaluation: Evaluation, at: Balance, parts: Parts, q: Array, v: Array) -> int:
    """Of the power at a state, brought onto the constraints."""
    s, m, rows = statics.sizes, statics.m, list(parts.rows)
    if rows:
        for _ in range(3):  # Newton's method, from as near as this
            miss, slope = statics.conditions(q)
            q = q - s * np.linalg.lstsq(slope[rows] * s, miss[rows], rcond=1e-10)[0]
    reach = statics.balance(q, at.multipliers, at.friction)[2]
    acting = [*rows, *(m + k for k in parts.components)]
    if acting:
        N = null_space((s[:, None] * reach[:, acting]).T)
        v = s * (N @ (N.T @ (v / s)))
    moving, resting = evaluation.energetics(q, v, 0.0), evaluation.energetics(q, np.zeros_like(v), 0.0)
    reaction = reach[:, :m] @ at.multipliers
    work = evaluation.work(q, v, 0.0, reaction, reaction, at.multipliers)[0]
    terms = [v * (moving.forces - resting.forces), v * work, np.array([moving.explicit])]
    power = float(sum(term.sum() for term in terms))
    rounded = float(np.abs(v) @ (np.abs(moving.forces) + np.abs(resting.forces)))
    least = max(ZERO * float(sum(np.abs(term).sum() for term in terms)), ROUNDING * rounded)
    return int(power > least) - int(power < -least) if np.isfinite(power) else 1
