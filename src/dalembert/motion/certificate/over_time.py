"""The residuals of a certificate over time, for pictures: its measures are the largest of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.arrays import Array
from dalembert.motion.certificate.algebra import at_points_dense, data_along
from dalembert.motion.certificate.constraints import constraint_residuals_over_time
from dalembert.motion.certificate.energy import energy_over_time
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def residuals_over_time(motion: Motion) -> dict[str, Array]:
    """Each measure that belongs to single output points, (T,): constraints, algebra, energy. Without SymPy."""
    evaluation = Evaluation(motion.system)
    data = data_along(motion, evaluation)
    points = at_points_dense(motion, data)
    constraints = constraint_residuals_over_time(motion, evaluation, data, points.lengths)
    return {**constraints, **points.over_time, "energy": energy_over_time(motion, evaluation, points)}
