"""The balance of energy along a motion: what it has, against the work of everything that is not potential."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.together import together_of
from dalembert.motion.certificate.algebra import AtPoints
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.graph.contacts import ContactState
    from dalembert.motion.result.motion import Motion

ONES = np.ones(3)
# Energies that differ by less than this share of the largest are the same, or by less than the second of T or V, which
# may be far larger: sums of many terms, in another order.
SAME, SAME_TERMS = 1e-9, 1e-13
# A balance that misses less than this share of the largest energy: both ends, sums of some terms, are rounded.
ROUNDING = 8 * 2.0**-52


def told_energy_off(motion: Motion, evaluation: Evaluation, energy: Array | None) -> Array:
    """How far the energy that a motion tells is from that of its states, (T,), beyond rounding; energy: the latter, if
    it is at hand. Nothing where it has not been asked for yet: it will be that.
    """
    told = vars(motion).get("energy")
    if told is None or told is energy:
        return np.zeros(0)
    if energy is None:
        energy, _ = evaluation.energetics_along(motion.q, motion.v, motion.t)
    off = np.abs(told - energy)
    off = np.where(off <= SAME * np.abs(energy).max(initial=0.0), 0.0, off)
    if not off.any() or not np.isfinite(off).all():
        return off
    M = evaluation.dynamics_along(motion.q, motion.v, motion.t)[0]
    kinetic = np.einsum("ti,tij,tj->t", motion.v, M, motion.v) / 2
    return np.where(off <= SAME_TERMS * (np.abs(kinetic) + np.abs(energy - kinetic)).max(), 0.0, off)


def energy_residual(motion: Motion, evaluation: Evaluation, points: AtPoints, energy: Array | None = None) -> float:
    """|E(t) − E(0) − work|, or what the heat errs by, against the largest kinetic energy, change of potential, or work.
    energy: at the output points, where it is at hand.
    """
    missed, size = _balance(motion, evaluation, points, energy)
    missed = np.maximum(missed.max(), heat_residual(motion))
    return 0.0 if size == 0 else float(missed / size)  # which is no number where a state is none


def energy_over_time(motion: Motion, evaluation: Evaluation, points: AtPoints) -> Array:
    """The balance alone at the output points, (T,)."""
    missed, size = _balance(motion, evaluation, points, None)
    return missed[: motion.t.size] / (size or 1.0)


def _balance(motion: Motion, evaluation: Evaluation, points: AtPoints, energy: Array | None) -> tuple[Array, float]:
    """|E(t) − E(0) − work| at the output points, and where the motion was fastest; and what it is measured against.

    Outputs may miss where a motion is fastest, as a comet is next to the sun. Errors made there are as large as the
    energies that are exchanged there, so the balance must hold there too, and its terms count among the largest.
    """
    moving, works = points.kinetic, motion.work
    if energy is None:
        energy, _ = evaluation.energetics_along(motion.q, motion.v, motion.t)
    told = told_energy_off(motion, evaluation, energy)
    if motion.fastest is not None:
        at, kinetic, there = _at_fastest(motion.fastest, evaluation)
        works, moving, energy = np.concatenate([works, at]), np.append(moving, kinetic), np.append(energy, there)
    work = works @ ONES
    rest = energy - moving
    size = max(float(moving.max()), float(np.abs(rest - rest[0]).max()), float(np.abs(works).max(initial=0.0)))
    # Outputs may all fall on turning points, as those of a vibration a period apart do: what forces make of the
    # velocity in a step of the integration, which is short against a period, is exchanged in between.
    moment = float(motion.t[-1] - motion.t[0]) / max(motion.timing.steps, 1)
    moment = min(moment, float(np.diff(motion.t).max(initial=0.0)))
    size = max(size, points.pushed / 2 * moment**2)
    # At rest nothing is exchanged: rounding in E itself, 1e-16 of it, must then pass.
    size = max(size, 1e-7 * np.abs(energy).max())
    # Where that is zero too, forces do work on velocities of rounding, 1e-16 of what they would have made in the time.
    size = max(size, 1e-8 * points.pull * float(motion.t[-1] - motion.t[0]) ** 2)
    missed = beyond_rounding(np.abs(energy - energy[0] - work), energy)
    # What a motion tells of its energy is read off its states: it is as right as these digits, whatever is exchanged.
    own = min(float(np.abs(energy).max()), size) or size
    missed[: told.size] = np.maximum(missed[: told.size], told * (size / own if own else 1.0))
    return missed, size


def beyond_rounding(missed: Array, energy: Array) -> Array:
    """What a balance misses by more than the rounding of its energies, along the last axis."""
    return np.maximum(missed - ROUNDING * np.abs(energy).max(axis=-1, keepdims=True), 0.0)


def _at_fastest(fastest: Array, evaluation: Evaluation) -> tuple[Array, float, float]:
    """The work done (1, 3), the kinetic and the whole energy where the motion was fastest."""
    n, t = evaluation.n, float(fastest[0])
    q, v = fastest[1 : n + 1], fastest[n + 1 : 2 * n + 1]
    together = together_of(evaluation.graph)
    found = None if together is None else together.at(q[None], v[None], np.array([t]), evaluation.p)
    if found is not None:
        return fastest[None, 2 * n + 1 :], abs(float(v @ found[0][0] @ v)) / 2, float(found[5][0])
    M = evaluation.dynamics(q, v, t)[0]
    return fastest[None, 2 * n + 1 :], abs(float(v @ M @ v)) / 2, evaluation.energetics(q, v, t).energy


def heat_residual(motion: Motion, states: ContactState | None = None) -> float:
    """What the heat errs by. states: of the contacts, where they are at hand."""
    if not motion.heat:
        return 0.0
    from dalembert.motion.certificate import friction_heat  # needs SymPy

    return friction_heat.heat_residual(motion, states)
