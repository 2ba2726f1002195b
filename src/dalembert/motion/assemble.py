"""From what was integrated to a `Motion`: forces at the output points, and the certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, MotionFailed
from dalembert.kernel.ready.forces import Forces
from dalembert.kernel.ready.together import together_of
from dalembert.kernel.waited import waited, working_time
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.determined import undetermined_warning
from dalembert.motion.certificate.plain import certify_plain
from dalembert.motion.integrate.trajectory import Trajectory, failure_message
from dalembert.motion.result.motion import AT_POINTS, Motion, Timing
from dalembert.motion.state.contact_history import Held
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import Points, evaluate_points, forces_at
from dalembert.motion.state.without_gradient import warnings_of_faded

if TYPE_CHECKING:
    from dalembert.motion.contacts.run.legs import Legs


def assemble(
    evaluation: Evaluation,
    trajectory: Trajectory,
    rtol: float,
    warnings: tuple[str, ...],
    timing: Timing,
    legs: Legs | None = None,
) -> tuple[Motion, str | None]:
    """The motion, and why it is not complete, if it is not. Its forces and certificate are computed when asked for; but
    that the last point has forces is seen to now, and so are the forces of contacts and those that must be searched for
    point by point, since a motion ends where there are none.
    """
    n = evaluation.n
    later, fastest = ComputedLater(evaluation, trajectory, warnings, legs), _fastest(trajectory, n)
    try:
        later.look()
    except DalembertError as error:
        # The last point may lie where the model has no value any more; the points before it do not.
        t, y = trajectory.t, trajectory.y
        failure = trajectory.failure or failure_message(evaluation.system.name, float(t[-1]), str(error))
        if t.size == 1:
            raise MotionFailed(failure) from None
        guesses = None if trajectory.guesses is None else trajectory.guesses[:-1]
        shorter = replace(trajectory, t=t[:-1], y=y[:-1], guesses=guesses, failure=failure)
        fewer = None if legs is None else replace(legs, trajectory=shorter, modes=legs.modes[:-1])
        return assemble(evaluation, shorter, rtol, warnings, timing, fewer)
    t, y, held = trajectory.t, trajectory.y, later.held
    places = evaluation.graph.heats if legs is None else legs.contacts.heats
    parts = {
        "system": evaluation.system,
        "t": t,
        "q": y[:, :n].copy(),
        "v": y[:, n : 2 * n].copy(),
        "work": y[:, 2 * n : 2 * n + 3].copy(),
        "heat": {name: y[:, 2 * n + 3 + k].copy() for k, name in enumerate(places)},
        "impact_loss": np.zeros(t.size) if legs is None else y[:, -1].copy(),
        "rtol": rtol,
        "method": trajectory.method,
        "backend": trajectory.backend,
        "events": trajectory.events,
        "ended_by": trajectory.ended,
        "timing": timing,
        "C": None if held is None else held.C,
        "acting": None if held is None else held.acting,
        "contacts": {} if held is None else held.contacts,
        "blows": () if legs is None else legs.impacts,
        "fastest": fastest,
    }
    motion = Motion.__new__(Motion)  # without the parts that are computed when they are asked for
    vars(motion).update(parts, _later=later)
    return motion, trajectory.failure


class ComputedLater:
    """What a motion has besides its states, computed from what was integrated."""

    def __init__(
        self, evaluation: Evaluation, trajectory: Trajectory, warnings: tuple[str, ...], legs: Legs | None
    ) -> None:
        self.evaluation, self.trajectory, self.warnings, self.legs = evaluation, trajectory, warnings, legs
        self.held: Held | None = None
        self.points: Points | Forces | None = None
        self.seconds = 0.0  # the points took so far
        self.waited = 0.0  # for what had to be compiled meanwhile

    def look(self) -> None:
        """Raise where the last point, or one that must be searched for, has no forces."""
        before = waited.seconds
        started = working_time()
        if self.legs is not None:
            from dalembert.motion.contacts.run.at_outputs import points_of  # needs SymPy

            self.held = points_of(self.legs.contacts, self.trajectory, self.legs.modes)
        if self.legs is None and together_of(self.evaluation.graph) is not None:
            # A kernel that has come to its end has found accelerations there.
            if self.trajectory.backend != "native" or self.trajectory.failure is not None:
                self._evaluate(-1)
        else:
            self.points = self._evaluate(0)
        self.seconds, self.waited = working_time() - started, waited.seconds - before

    def _evaluate(self, first: int) -> Points | Forces:
        n, trajectory = self.evaluation.n, self.trajectory
        t, y = trajectory.t[first:], trajectory.y[first:]
        guesses = None if trajectory.guesses is None else trajectory.guesses[first:]
        at = (t, y[:, :n], y[:, n : 2 * n], guesses)
        plain = forces_at(self.evaluation, *at, self.held)
        return evaluate_points(self.evaluation, *at, self.held) if plain is None else plain

    def part(self, motion: Motion, name: str) -> dict[str, Any]:
        """As `Later` of `Motion` asks for it."""
        if name in AT_POINTS:
            return self._at_points(motion)
        if name == "warnings":
            return {"warnings": self._warnings(motion)}
        return self._certificate(motion)

    def _at_points(self, motion: Motion) -> dict[str, Any]:
        before = waited.seconds
        started = working_time()
        if self.points is None:
            try:
                self.points = self._evaluate(0)
            except DalembertError as error:
                end = float(self.trajectory.t[-1])
                raise MotionFailed(failure_message(self.evaluation.system.name, end, str(error))) from None
        points = self.points
        self.seconds += working_time() - started
        compiled = motion.timing.compile_s + self.waited + waited.seconds - before
        timing = {"timing": replace(motion.timing, compile_s=compiled, forces_s=self.seconds)}
        if isinstance(points, Forces):
            return timing | {
                "a": points.acceleration,
                "impressed": points.impressed,
                "inertial": points.inertial,
                "ideal": points.ideal,
                "nonideal": points.nonideal,
                "multipliers": points.multipliers,
                "rank": points.rank,
                "energy": points.energy,
            }
        solution = points.solution
        return timing | {
            "a": solution.acceleration,
            "impressed": solution.Q - points.inertial,
            "inertial": points.inertial,
            "ideal": solution.ideal,
            "nonideal": solution.nonideal,
            "multipliers": solution.multipliers,
            "rank": solution.rank,
            "energy": points.energy,
        }

    def _warnings(self, motion: Motion) -> tuple[str, ...]:
        """What is to be said of the motion: rows that fade are seen in the forces, loads that are not determined in the
        certificate, where forces depend on them.
        """
        evaluation = self.evaluation
        faded: tuple[str, ...] = ()
        if self.legs is None:  # with contacts, a row of zeros is a constraint that does not act
            _ = motion.rank
            assert self.points is not None
            faded = warnings_of_faded(evaluation, motion.t, motion.q, motion.v, self.points.A)
        undetermined: tuple[str, ...] = ()
        if evaluation.graph.uses_actual or evaluation.system.contacts:
            undetermined = motion.certificate.undetermined
        return (*self.warnings, *faded, *([undetermined_warning(undetermined)] if undetermined else []))

    def _certificate(self, motion: Motion) -> dict[str, Any]:
        _ = motion.rank
        before = waited.seconds
        started = working_time()
        points, y = self.points, self.trajectory.y
        certificate = None
        if isinstance(points, Forces) and self.legs is None and not self.evaluation.graph.nonlinear:
            certificate = certify_plain(motion, self.evaluation, points, y)
        if certificate is None:
            n = self.evaluation.n
            # What was evaluated for the forces serves, unless someone has changed the states since.
            same = np.array_equal(motion.q, y[:, :n]) and np.array_equal(motion.v, y[:, n : 2 * n])
            contacts = None if self.legs is None else self.legs.contacts
            certificate = certify(motion, self.evaluation, contacts, points if same else None)
        seconds = working_time() - started
        compiled = motion.timing.compile_s + waited.seconds - before
        return {"certificate": certificate, "timing": replace(motion.timing, compile_s=compiled, certify_s=seconds)}


def _fastest(trajectory: Trajectory, n: int) -> Array | None:
    if trajectory.fastest is None:
        return None
    found = np.empty(2 * n + 4)
    found[0], found[1:] = trajectory.fastest[0], trajectory.fastest[1][: 2 * n + 3]
    return found
