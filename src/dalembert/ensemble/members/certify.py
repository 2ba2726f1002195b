"""A certificate for each member: how well its states satisfy the constraints, and the balance of its energy, measured
at its output points as on a single motion (`motion/certificate`).
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.outcome import Outcome
from dalembert.ensemble.members.task import Task
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.kernel.ready.together import Together
from dalembert.motion.certificate.energy import beyond_rounding
from dalembert.motion.certificate.thresholds import thresholds

MEASURES = ("position", "velocity", "energy")


def certify_members(
    task: Task, together: Together, which: np.ndarray, outcome: Outcome, times: Array, p: Array
) -> None:
    """Fill in the certificates of the members `which`, which ran to their end; times (K, T), p (K, P)."""
    assert outcome.along is not None
    n, m = together.n, together.m
    along, reached = outcome.along[which], np.arange(times.shape[1]) < outcome.points[which, None]
    member, _ = np.nonzero(reached)
    q, v = (np.ascontiguousarray(x) for x in (along[reached][:, :n], along[reached][:, n : 2 * n]))
    many, total = together.members, len(member)
    M, Q, A, _, _, E, _, phi, rate = many.parts(
        total, many.block(total, (q, v, np.ascontiguousarray(times[which][reached]), p[which][member]))[0]
    )

    def spread(values: Array) -> Array:
        """(K, T, …), zero where a member has no more points."""
        made = np.zeros((*reached.shape, *values.shape[1:]))
        made[reached] = values
        return made

    places, speeds = (np.abs(spread(x)).max(axis=(1, 2), initial=0.0) for x in (q, v))
    gradients = np.sqrt(np.square(A.reshape(total, m, n)).sum(axis=2))
    longest = spread(gradients).max(axis=1, initial=0.0)
    names = task.graph.position_rows
    own = [longest[:, list(names)], longest[:, [*names, *task.graph.velocity_rows]]]
    sizes = [np.maximum(places, 1e-3 * speeds), np.maximum(speeds, 1e-3 * places)]
    for column, (value, steep, size) in enumerate(zip((phi, rate), own, sizes, strict=True)):
        if not value.shape[1]:
            outcome.certificate[which, column] = 0.0
            continue
        reach = steep * np.maximum(size, PROJECT_LEAST_SIZE)[:, None]
        worst = np.abs(spread(value)).max(axis=1) / np.where(reach > 0, reach, 1.0)
        outcome.certificate[which, column] = worst.max(axis=1)
    kinetic = np.abs(np.einsum("ki,kij,kj->k", v, M.reshape(total, n, n), v)) / 2.0
    masses = np.einsum("kii->ki", M.reshape(total, n, n))
    pull = spread((Q.reshape(total, n) ** 2 / np.where(masses > 0, masses, np.inf)).max(axis=1)).max(axis=1)
    span = outcome.t[which] - times[which, 0]
    # As `energy_residual` has it: at rest, forces do work on velocities of rounding.
    least = 1e-8 * pull * span**2
    balance = _energy(spread(E.reshape(total)), spread(kinetic), along[:, :, 2 * n :], reached, least)
    outcome.certificate[which, 2] = balance
    outcome.certificate[which, 3] = _holds(task, outcome.certificate[which, :3], outcome.steps[which])


def _energy(E: Array, kinetic: Array, works: Array, reached: np.ndarray, least: Array) -> Array:
    """|E(t) − E(0) − work| against the largest kinetic energy, change of potential, or work; as `energy_residual`."""
    works = np.where(reached[:, :, None], works, 0.0)
    work = works.sum(axis=2)
    rest = np.where(reached, E - kinetic, (E - kinetic)[:, :1])
    size = np.maximum(kinetic.max(axis=1), np.abs(rest - rest[:, :1]).max(axis=1))
    size = np.maximum(size, np.abs(works).max(axis=(1, 2)))
    size = np.maximum(np.maximum(size, 1e-7 * np.abs(E).max(axis=1)), least)
    missed = np.where(reached, beyond_rounding(np.abs(E - E[:, :1] - work), E), 0.0).max(axis=1)
    return missed / np.where(size > 0, size, 1.0)


def _holds(task: Task, measured: Array, steps: np.ndarray) -> Array:
    limits = np.array([[thresholds(task.settings.rtol, int(count))[name] for name in MEASURES] for count in steps])
    return (measured <= limits.reshape(measured.shape)).all(axis=1).astype(float)
