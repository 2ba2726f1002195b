"""What one integration gave, before forces and certificate: `prepared.run(…)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from dalembert.arrays import Array
from dalembert.errors import MotionFailed, counted
from dalembert.motion.assemble import assemble
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.result.motion import Motion, Timing
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State
from dalembert.results import Table, plain_values, state_columns

if TYPE_CHECKING:
    from dalembert.model.system import System
    from dalembert.motion.contacts.run.legs import Legs


class OfLarge(Protocol):
    """What a run has of a large system in the place of an evaluation, which would take its whole graph."""

    system: System
    n: int
    p: Array


READ_LATER = ("trajectory", "timing", "warnings", "legs")


class FromBlock(Protocol):
    """What C left of a run, to be read when it is asked for: states (T, …) that begin with q and v, and READ_LATER."""

    def states(self) -> Array: ...

    def parts(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False)
class Run(Table):
    """What one integration gave: t (T), q and v (T, n) at the output times, events, and why it ended early if it did.

    `motion()` makes a `Motion` of it, with forces and certificate. Of a short run that was done before, READ_LATER is
    read from what C left when it is asked for.
    """

    evaluation: Evaluation | OfLarge
    trajectory: Trajectory
    settings: Settings
    warnings: tuple[str, ...]
    timing: Timing
    legs: Legs | None = None
    given: State | None = None  # a start that is not the initial state of the system

    if not TYPE_CHECKING:  # type checkers know the fields

        def __getattr__(self, name: str) -> Any:
            """Called for what is not there: what is read from a block when first asked for."""
            held = self.__dict__
            later = held.get("_later")  # another thread may take it away at any time
            if later is not None and name in READ_LATER:
                held.update(later.parts())
                held.pop("_later", None)
            if name in held:
                return held[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """With all that is read later: a block belongs to this process."""
        _ = self.trajectory
        return {key: value for key, value in vars(self).items() if key != "_later"}

    @property
    def t(self) -> Array:
        return self.trajectory.t

    @property
    def q(self) -> Array:
        return self._states[:, : self.evaluation.n]

    @property
    def v(self) -> Array:
        return self._states[:, self.evaluation.n : 2 * self.evaluation.n]

    @property
    def _states(self) -> Array:
        """Of which q and v are known before events and works are."""
        later = vars(self).get("_later")
        return self.trajectory.y if later is None else later.states()

    def columns(self) -> dict[str, Array]:
        return state_columns(self.evaluation.system.coordinates, self.t, self.q, self.v)

    def text(self) -> str:
        ended = self.failure or (f"ended by '{self.ended_by}'" if self.ended_by is not None else "")
        final = ", ".join(f"{name} = {column[-1]:.8g}" for name, column in self.columns().items() if name != "t")
        span = (
            f"t = {self.t[0]:g} … {self.t[-1]:g}, {counted(self.t.size, 'point')}, {counted(len(self.events), 'event')}"
        )
        lines = [f"{self.evaluation.system.name}: {span}", *([f"  {ended}"] if ended else []), f"  {final}"]
        return "\n".join([*lines, *(f"  warning: {warning}" for warning in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Where it ended, and how; the points are in `columns()`."""
        found = {
            "name": self.evaluation.system.name,
            "final": {name: column[-1] for name, column in self.columns().items()},
            "events": [dict(event) for event in self.events],
            "ended_by": self.ended_by,
            "failure": self.failure,
            "timing": self.timing,
            "warnings": self.warnings,
        }
        return {key: plain_values(value) for key, value in found.items()}

    @property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        return self.trajectory.events

    @property
    def ended_by(self) -> str | None:
        """The name of the event that ended it."""
        return self.trajectory.ended

    @property
    def failure(self) -> str | None:
        """Why it could not be continued, or None."""
        return self.trajectory.failure

    def motion(self) -> Motion:
        """The motion with its forces and its certificate; `MotionFailed`, with the motion so far, where it failed."""
        evaluation = self.evaluation if self.given is None else Evaluation(self.system_as_it_started())
        assert isinstance(evaluation, Evaluation)
        motion, failure = assemble(
            evaluation, self.trajectory, self.settings.rtol, self.warnings, self.timing, self.legs
        )
        if failure is not None:
            raise MotionFailed(failure, motion)
        return motion

    def system_as_it_started(self) -> System:
        """The system whose own initial state and parameters are those of the run."""
        system, given = self.evaluation.system, self.given
        if given is None:
            return system
        from dalembert.model.language.symbols import t as time  # needs SymPy

        system = system.as_written
        names = (*system.coordinates, *system.velocities, time)
        initial = dict(zip(names, [*given.q.tolist(), *given.v.tolist(), given.t], strict=True))
        values = dict(zip(system.parameter_symbols, self.evaluation.p.tolist(), strict=True))
        return system.replace(parameters=values, initial=initial)


def timing_of(trajectory: Trajectory, derived: float, elapsed: float) -> Timing:
    """What was spent on a trajectory, in seconds and in steps. derived: on making it ready."""
    compiled = trajectory.compile_s
    return Timing(derived, compiled, elapsed - compiled, trajectory.steps, trajectory.evaluations, trajectory.kernel)
