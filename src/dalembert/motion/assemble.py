"""From what was integrated to a `Motion`: forces at the output points, and the certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, MotionFailed
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.determined import undetermined_warning
from dalembert.motion.integrate.trajectory import Trajectory, failure_message
from dalembert.motion.result.motion import Motion, Timing
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.motion.state.without_gradient import warnings_of_faded

if TYPE_CHECKING:
    from dalembert.motion.contacts.run.legs import Legs
    from dalembert.motion.state.contact_history import Held


def assemble(
    evaluation: Evaluation,
    trajectory: Trajectory,
    rtol: float,
    warnings: tuple[str, ...],
    timing: Timing,
    legs: Legs | None = None,
) -> tuple[Motion, str | None]:
    """The motion with its forces and certificate, and why it is not complete, if it is not."""
    n, t, y = evaluation.n, trajectory.t, trajectory.y
    failure = trajectory.failure
    try:
        held = None if legs is None else _held(legs, trajectory)
        points = evaluate_points(evaluation, t, y[:, :n], y[:, n : 2 * n], trajectory.guesses, held)
    except DalembertError as error:
        # The last point may lie where the model has no value any more; the points before it do not.
        failure = failure or failure_message(evaluation.system.name, float(t[-1]), str(error))
        if t.size == 1:
            raise MotionFailed(failure) from None
        guesses = None if trajectory.guesses is None else trajectory.guesses[:-1]
        shorter = replace(trajectory, t=t[:-1], y=y[:-1], guesses=guesses, failure=failure)
        fewer = None if legs is None else replace(legs, trajectory=shorter, modes=legs.modes[:-1])
        return assemble(evaluation, shorter, rtol, warnings, timing, fewer)
    solution = points.solution
    if legs is None:  # with contacts, a row of zeros is a constraint that does not act
        warnings = (*warnings, *warnings_of_faded(evaluation, t, y[:, :n], y[:, n : 2 * n], solution.A))
    places = evaluation.graph.heats if legs is None else legs.contacts.heats
    motion = Motion(
        system=evaluation.system,
        t=t,
        q=y[:, :n].copy(),
        v=y[:, n : 2 * n].copy(),
        a=solution.acceleration,
        impressed=solution.Q - points.inertial,
        inertial=points.inertial,
        ideal=solution.ideal,
        nonideal=solution.nonideal,
        multipliers=solution.multipliers,
        rank=solution.rank,
        energy=points.energy,
        work=y[:, 2 * n : 2 * n + 3].copy(),
        heat={name: y[:, 2 * n + 3 + k].copy() for k, name in enumerate(places)},
        impact_loss=np.zeros(t.size) if legs is None else y[:, -1].copy(),
        rtol=rtol,
        method=trajectory.method,
        backend=trajectory.backend,
        events=trajectory.events,
        ended_by=trajectory.ended,
        warnings=warnings,
        timing=timing,
        C=None if held is None else held.C,
        acting=None if held is None else held.acting,
        contacts={} if held is None else held.contacts,
        blows=() if legs is None else legs.impacts,
        fastest=_fastest(trajectory, n),
    )
    certificate = certify(motion, evaluation, None if legs is None else legs.contacts)
    if certificate.undetermined:
        motion = replace(motion, warnings=(*warnings, undetermined_warning(certificate.undetermined)))
    return replace(motion, certificate=certificate), failure


def _held(legs: Legs, trajectory: Trajectory) -> Held:
    from dalembert.motion.contacts.run.at_outputs import points_of  # needs SymPy

    return points_of(legs.contacts, trajectory, legs.modes)


def _fastest(trajectory: Trajectory, n: int) -> Array | None:
    if trajectory.fastest is None:
        return None
    t, y = trajectory.fastest
    return np.concatenate([[t], y[: 2 * n + 3]])
