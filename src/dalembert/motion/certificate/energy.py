"""The balance of energy along a motion: what it has, against the work of everything that is not potential."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.friction_heat import heat_residual
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def energy_residual(motion: Motion, evaluation: Evaluation, M: Array, Q: Array) -> float:
    """|E(t) − E(0) − work|, or what the heat errs by, against the largest kinetic energy, change of potential, or work.

    Outputs may miss where a motion is fastest, as a comet is next to the sun. Errors made there are as large as the
    energies that are exchanged there, so the balance must hold there too, and its terms count among the largest.
    """
    q, v, t, works = motion.q, motion.v, motion.t, motion.work
    if motion.fastest is not None:
        n, at = evaluation.n, motion.fastest[None, :]
        q, v = np.concatenate([q, at[:, 1 : n + 1]]), np.concatenate([v, at[:, n + 1 : 2 * n + 1]])
        t, works = np.concatenate([t, at[:, 0]]), np.concatenate([works, at[:, 2 * n + 1 :]])
        M = np.concatenate([M, evaluation.dynamics_along(q[-1:], v[-1:], t[-1:])[0]])
    energy, _ = evaluation.energetics_along(q, v, t)
    moving = np.abs(np.einsum("ti,tij,tj->t", v, M, v)) / 2
    work = works.sum(axis=1)
    rest = energy - moving
    size = max(moving.max(), np.abs(rest - rest[0]).max(), np.abs(works).max(initial=0.0))
    # Outputs may all fall on turning points, as those of a vibration a period apart do: what forces make of the
    # velocity in a step of the integration, which is short against a period, is exchanged in between.
    moment = float(motion.t[-1] - motion.t[0]) / max(motion.timing.steps, 1)
    moment = min(moment, float(np.diff(motion.t).max(initial=0.0)))
    pushed = float(np.einsum("ti,tij,tj->t", motion.a, M[: motion.t.size], motion.a).max())
    size = max(size, pushed / 2 * moment**2)
    # At rest nothing is exchanged: rounding in E itself, 1e-16 of it, must then pass.
    size = max(size, 1e-7 * np.abs(energy).max())
    # Where that is zero too, forces do work on velocities of rounding, 1e-16 of what they would have made in the time.
    pull = np.abs(Q / mass_scale(M[: motion.t.size])).max(initial=0.0) * float(motion.t[-1] - motion.t[0])
    size = max(size, 1e-8 * pull**2)
    missed = np.maximum(np.abs(energy - energy[0] - work).max(), heat_residual(motion))
    return float(missed / size) if size > 0 else 0.0
