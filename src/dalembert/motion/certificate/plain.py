"""The certificate of a motion at which nothing needs a second look: measured by C in one call.

It has the formulas of the other modules here, which remain for everything else: contacts, rows nonlinear in q̈,
redundant constraints, stretches that must be repeated in pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.graph.kinks import kink_graph
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.kernel.ready.certify import Rules, measure
from dalembert.kernel.ready.together import Together
from dalembert.mechanics.solve.blocks import WORTHWHILE
from dalembert.motion.certificate.algebra import Data
from dalembert.motion.certificate.repeat import (
    ALLOWED,
    GRANTED,
    NOT_SMOOTH,
    RESOLVED,
    SEQUENCE,
    is_regular,
    spacing_judged,
)
from dalembert.motion.result.certificate import Certificate
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

RULES = Rules(ALLOWED, RESOLVED, PROJECT_LEAST_SIZE, GRANTED, SEQUENCE)


def plain_certificate(
    motion: Motion, evaluation: Evaluation, together: Together, data: Data, limits: dict[str, float]
) -> Certificate | None:
    """The certificate of a motion that needs no second look; None of others."""
    if motion.C is not None or motion.heat or motion.blows or np.any(motion.impact_loss):
        return None
    found = measure_plain(motion, evaluation, together, data, limits["repeat"])
    if found is None:
        return None
    least, most = int(found.pop("rank_min")), int(found.pop("rank_max"))
    holds = all(value <= limits[name] for name, value in found.items())
    return Certificate(
        **found,
        contact=0.0,
        rank_min=least,
        rank_max=most,
        unique=True,
        holds=holds,
        thresholds=limits,
        undetermined=(),
    )


def measure_plain(
    motion: Motion, evaluation: Evaluation, together: Together, data: Data, wanted: float
) -> dict[str, float] | None:
    """All measures but those of contacts, and the ranks; None where they need more than one look. wanted: what
    stretches may miss. M must be regular at the first point.
    """
    graph = evaluation.graph
    if data.energy is None or data.position is None or data.velocity is None or motion.t.size < 2:
        return None
    if evaluation.n + evaluation.m >= WORTHWHILE or graph.curved or not _is_smooth(motion):
        return None
    if not data.solved and not is_regular(data.M[0]):
        return None
    return measure(
        together,
        together.rows,
        evaluation.p,
        (motion.t, motion.q, motion.v, motion.work),
        (data.M, data.Q, data.A, data.b, data.C),
        (motion.a, motion.impressed, motion.inertial, motion.ideal, motion.nonideal, motion.multipliers),
        (data.energy, data.position, data.velocity),
        motion.fastest,
        motion.timing.steps,
        spacing_judged(motion),
        wanted,
        RULES,
    )


def _is_smooth(motion: Motion) -> bool:
    """Whether nothing is reported, and no kink may be passed, that stretches would have to be kept away from."""
    if any("contact" in event or event["name"] in NOT_SMOOTH for event in motion.events):
        return False
    return not motion.system.may_have_kinks or kink_graph(motion.system) is None
