"""The certificate of a motion at which nothing needs a second look: measured by C in one call.

It has the formulas of the other modules here, which remain for everything else: contacts, work on rows nonlinear in q̈,
redundant constraints, stretches that must be repeated in pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.kernel.ready.certify import Rules, measure
from dalembert.kernel.ready.forces import Forces
from dalembert.kernel.ready.many import address
from dalembert.kernel.ready.together import Together, branches_of, together_of
from dalembert.mechanics.solve.blocks import WORTHWHILE
from dalembert.motion.certificate.algebra import Data, is_minimum
from dalembert.motion.certificate.consistency import ALLOWED, RESOLVED, longest_spacing_judged, smooth_stretches
from dalembert.motion.certificate.repeat import DIVERGED, FORESEEN, GRANTED, PIECES, SEQUENCE, STEPS_OF_PIECE
from dalembert.motion.certificate.thresholds import thresholds
from dalembert.motion.certificate.told_events import told_events_off
from dalembert.motion.result.certificate import Certificate
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

RULES = Rules(ALLOWED, RESOLVED, PROJECT_LEAST_SIZE, GRANTED, FORESEEN, DIVERGED, STEPS_OF_PIECE, PIECES, SEQUENCE)


def certify_plain(motion: Motion, evaluation: Evaluation, forces: Forces, y: Array) -> Certificate | None:
    """The certificate of a motion with its own forces, at the states y that they were computed at; None where they are
    others, and where it needs a second look.
    """
    own = (forces.acceleration, forces.impressed, forces.inertial, forces.ideal, forces.nonideal, forces.multipliers)
    if not all(one is other for one, other in zip(_forces_of(motion), own, strict=True)):
        return None
    return _certificate(motion, evaluation, forces.together, forces.addresses, y, forces.dependent)


def certify_any_plain(motion: Motion, evaluation: Evaluation, data: Data) -> Certificate | None:
    """The same of any motion, whatever it says of its forces; None also where G is stationary but not least."""
    together = together_of(evaluation.graph) or branches_of(evaluation.graph)
    if together is None or data.energy is None or data.position is None or data.velocity is None:
        return None
    if evaluation.graph.nonlinear and not is_minimum(motion, data):
        return None
    along = (data.energy, data.position, data.velocity)
    arrays = [np.ascontiguousarray(x) for x in (data.M, data.Q, data.A, data.b, data.C, *_forces_of(motion), *along)]
    return _certificate(motion, evaluation, together, tuple(address(x) for x in arrays), None, data.dependent)


def measure_held(motion: Motion, evaluation: Evaluation, data: Data) -> dict[str, float] | None:
    """What is measured at single points of a motion with contacts, by name, with its ranks and the size of its energies
    ("energy_size"); None where a point needs a second look.
    """
    together = together_of(evaluation.graph)
    if together is None or data.energy is None or data.position is None or data.velocity is None:
        return None
    if motion.acting is None or motion.t.size < 2 or evaluation.n + evaluation.m >= WORTHWHILE:
        return None
    along = (data.energy, data.position, data.velocity, motion.acting)
    arrays = [np.ascontiguousarray(x) for x in (data.M, data.Q, data.A, data.b, data.C, *_forces_of(motion), *along)]
    states = (motion.t, motion.q, motion.v, motion.work)
    at = tuple(address(x) for x in arrays[:-1])
    return measure(
        together, evaluation.p, states, at, motion.fastest, None, motion.timing.steps, 0.0, 1.0, None,
        tuple(range(evaluation.m)), RULES, arrays[-1],
    )  # fmt: skip


def _forces_of(motion: Motion) -> tuple[Array, ...]:
    return motion.a, motion.impressed, motion.inertial, motion.ideal, motion.nonideal, motion.multipliers


def _certificate(
    motion: Motion,
    evaluation: Evaluation,
    together: Together,
    at: tuple[int, ...],
    y: Array | None,
    dependent: np.ndarray | None,
) -> Certificate | None:
    if motion.C is not None or motion.heat or motion.blows or motion.impact_loss.any():
        return None
    if motion.t.size < 2 or evaluation.n + evaluation.m >= WORTHWHILE:
        return None
    independent = tuple(range(evaluation.m))
    if dependent is not None and dependent.any():
        # Where a row nonlinear in q̇ vanishes, branches may meet; and stretches need the same rows all along.
        if evaluation.graph.curved or (dependent != dependent[0]).any():
            return None
        independent = tuple(np.flatnonzero(~dependent[0]).tolist())
    states = (motion.t, motion.q, motion.v, motion.work)
    limits = thresholds(motion.rtol, motion.timing.steps)
    near, smooth = longest_spacing_judged(motion), smooth_stretches(motion)
    found = measure(
        together, evaluation.p, states, at, motion.fastest, y, motion.timing.steps, near, limits["repeat"],
        smooth, independent, RULES,
    )  # fmt: skip
    if found is None or found["consistency"] > limits["consistency"]:
        return None  # what quadratures doubt is looked at by other means
    del found["energy_size"]
    least, most = int(found.pop("rank_min")), int(found.pop("rank_max"))
    if motion.rank.min() != least or motion.rank.max() != most or least != most:
        return None
    if motion.system.events:
        found["repeat"] = max(found["repeat"], told_events_off(motion, evaluation, limits["repeat"]))
    holds = all(value <= limits[name] for name, value in found.items())
    certificate = Certificate.__new__(Certificate)  # a field at a time, frozen values take as long as a hundred points
    vars(certificate).update(
        found, contact=0.0, rank_min=least, rank_max=most, unique=True, holds=holds, thresholds=limits, undetermined=(),
        impact=0.0,
    )  # fmt: skip
    return certificate
