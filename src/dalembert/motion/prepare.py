"""`prepare`: a system made ready once, to be run from many states and with many values of its parameters.

A run integrates and nothing more. Forces and the certificate are made from it when they are wanted (`Run.motion`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import MissingValues, ModelError, counted
from dalembert.graph.functions import graph_of
from dalembert.graph.timed import timed_of
from dalembert.kernel.waited import waited, working_time
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.suggest import suggest
from dalembert.motion.integrate.again import Again
from dalembert.motion.integrate.ahead import look_ahead
from dalembert.motion.integrate.choose import integrate
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings, settings_of
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.run import Run, timing_of
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.start import gradient_warnings, require_energy, start_of
from dalembert.motion.state.state import State
from dalembert.remember import remember
from dalembert.results import Result, plain_values

if TYPE_CHECKING:
    from dalembert.model.system import System
    from dalembert.motion.contacts.modes.contacts import Contacts
    from dalembert.motion.contacts.run.legs import Legs

# So many ways to be run are kept with a system.
KEPT = 8


def prepare(
    system: System,
    duration: float | None,
    times: ArrayLike | None,
    options: Mapping[str, Any],
    events: Mapping[str, Any] | Iterable[Any] | None = None,
) -> Prepared:
    """Check the options and make the system ready. `System.simulate` says what they are; those that are None come from
    the system's `settings`, or have their defaults (`integrate.settings`).
    """
    started = working_time()
    if events is not None:
        from dalembert.model.events import with_events  # needs SymPy

        system = with_events(system.as_written, events)
    settings = settings_of_system(system, duration, times, options)
    return make_ready(system, settings, started)


def make_ready(system: System, settings: Settings, started: float) -> Prepared:
    """A system, with all its events, and settings that were checked."""
    if settings.step is not None:  # a method of equal steps
        from dalembert.motion.integrate.variational import require_action  # loads parts of SciPy

        system = system.as_written
        require_action(system)
    if system.may_have_kinks:
        from dalembert.motion.integrate.energy_jumps import require_continuous_energies  # needs SymPy

        require_continuous_energies(system)
    graph_of(system)
    return Prepared(system, settings, working_time() - started)


def settings_of_system(
    system: System, duration: float | None, times: ArrayLike | None, options: Mapping[str, Any]
) -> Settings:
    """The options given, those of the system where they are not, checked."""
    start = _initial_time(system)
    key = hashable_key(start, duration, options) if times is None else None
    given = {**system.settings, **{key: value for key, value in options.items() if value is not None}}
    made = partial(settings_of, system, duration, times, start, given)
    return made() if key is None else remember(system.shared, key, made, KEPT)


def hashable_key(what: Hashable, duration: float | None, options: Mapping[str, Any]) -> Hashable | None:
    """All that decides about settings; None where something has no hash, and so is no option."""
    environment = (os.environ.get("DALEMBERT_BACKEND"), os.environ.get("DALEMBERT_KERNEL"))
    values = (duration, *options.values(), *environment)
    key = (what, *values, *map(type, values))  # True is no number of samples, though it equals one
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _initial_time(system: System) -> float:
    """That of the system, or 0 where it has no initial state: each run begins at the time of its own."""
    try:
        return system.initial_values()[2]
    except MissingValues:
        return 0.0


@dataclass(frozen=True, eq=False)
class Prepared(Result):
    """A system and checked settings, ready to be run any number of times, by any number of threads at once."""

    system: System
    settings: Settings
    seconds: float = 0.0  # it took to prepare

    @cached_property
    def evaluation(self) -> Evaluation:
        """Of the system with its own parameters, which it need not have where each run gives them."""
        return Evaluation(self.system)

    def text(self) -> str:
        told = self.to_dict()
        span = f"t = {told['start']:g} … {told['end']:g}, {counted(told['points'], 'point')}"
        return f"{self.system.name}, ready to run: {span}, {told['method']} at rtol {told['rtol']:g}"

    def to_dict(self) -> dict[str, Any]:
        settings = {key: getattr(self.settings, key) for key in ("rtol", "atol", "method", "project", "backend")}
        times = self.settings.times
        span = {"start": times[0], "end": times[-1], "points": times.size}
        return {"name": self.system.name, **plain_values(span | settings)}

    def run(
        self,
        state: State | Mapping[Any, Any] | None = None,
        parameters: Array | Mapping[Any, Any] | None = None,
        *,
        progress: bool | Progress | None = False,
    ) -> Run:
        """Integrate from a state, with values of the parameters; what is not given is the system's own.

        state: names with values, as for `at`, or a `State`. parameters: likewise, or an array in the order of
        `system.parameter_symbols`. The output times begin at the time of the state. Raises `InconsistentState` where
        the state violates a constraint; a run that cannot go on says so in `failure`.
        """
        given = state.with_arrays() if isinstance(state, State) else state
        return self.run_after(self.seconds, given, parameters, progress=progress)

    def run_after(
        self,
        seconds: float,
        state: State | Mapping[Any, Any] | None = None,
        parameters: Array | Mapping[Any, Any] | None = None,
        *,
        progress: bool | Progress | None = False,
    ) -> Run:
        """The same, where preparing it has taken so many seconds this time."""
        before = waited.seconds
        started = working_time()
        own = state is None and parameters is None
        begin = self._own if own else self._begin(state, parameters)
        again: Again | None = begin.settings.kept.get("again") if own else None
        if again is not None and not isinstance(progress, Progress):
            made = again.run(*begin.known_by)
            if made is not None:
                return _of_block(begin, again, made, seconds, working_time() - started)
        if not isinstance(progress, Progress):
            progress = Progress(self.system.name, begin.state.t, float(begin.settings.times[-1]), progress)
        with progress as bar:
            if begin.contacts is not None:
                run = _run_legs(begin, begin.contacts, bar, seconds, started)
            else:
                assert begin.start is not None
                run = _run_smooth(begin, begin.start, bar, seconds, started)
        if waited.seconds > before:
            compiled = run.timing.compile_s + waited.seconds - before
            run = replace(run, timing=replace(run.timing, compile_s=compiled))
        return replace(run, given=state) if isinstance(state, State) else run

    @cached_property
    def _own(self) -> _Begin:
        """From the initial state of the system, with its own parameters."""
        return self._begin()

    def _begin(
        self,
        given: State | Mapping[Any, Any] | None = None,
        parameters: Array | Mapping[Any, Any] | None = None,
    ) -> _Begin:
        system, values, state = self.values(given, parameters)
        if system is self.system and values is None:
            evaluation = self.evaluation
        else:
            evaluation = Evaluation(system) if values is None else Evaluation(system, values)
        settings = self.settings if state.t == self.settings.times[0] else self.settings_from(state.t)
        timed = settings.step is None and timed_of(evaluation.system) is not None
        if timed or settings.max_step is not None:
            settings = look_ahead(evaluation, settings, state)
        if needs_legs(evaluation.system):
            require_energy(evaluation, state)
            gradient_warnings(evaluation, state)
            return _Begin(evaluation, settings, state, None, contacts=self._contacts_of(evaluation.system))
        return _Begin(evaluation, settings, *start_of(evaluation, state, settings.project))

    def __getstate__(self) -> dict[str, Any]:
        """Without what was made of it, which may belong to this process."""
        return {field.name: vars(self)[field.name] for field in fields(self)}

    def settings_from(self, t: float) -> Settings:
        """The settings with output times that begin at this one."""
        times = self.settings.times
        return replace(self.settings, times=times + (t - times[0]))

    def values(
        self, state: State | Mapping[Any, Any] | None, parameters: Array | Mapping[Any, Any] | None
    ) -> tuple[System, Array | None, State]:
        """The system with what is given, checked; values of its parameters, where these are others than its own; and
        the state.
        """
        system, values = self.system, None
        if isinstance(parameters, Mapping) and parameters:
            _require_known(system, parameters)
            system = system.replace(parameters=parameters)
        elif parameters is not None and not isinstance(parameters, Mapping):
            values = _parameters(system, parameters)
            if not isinstance(state, State) or needs_legs(system):
                system, values = self._with_numbers(values), None
        if isinstance(state, Mapping) and state:
            system = system.replace(initial=state)
        if isinstance(state, State):
            _require_shape(system, state)
        elif state is not None and not isinstance(state, Mapping):
            ways = "a state is given by names, {'x': 1, …}, or as da.State(q, v, t)"
            raise ModelError(system.name, [f"{ways}, got {type(state).__name__}"])
        return system, values, state if isinstance(state, State) else State(*system.initial_values())

    def _with_numbers(self, values: Array) -> System:
        """The system with these parameters: that of the run before in this thread, where they were the same."""
        last, key = self._last, values.tobytes()
        if last.key != key:
            other = values.view(np.int64) != self._own_bits  # those that stay need not be read anew
            pairs = zip(self.system.parameter_symbols, values.tolist(), other.tolist(), strict=True)
            named = {symbol: value for symbol, value, is_other in pairs if is_other}
            last.key, last.system, last.contacts = key, self.system.replace(parameters=named), None
        assert last.system is not None
        return last.system

    @cached_property
    def _own_bits(self) -> np.ndarray:
        """The parameters of the system, as whole numbers that are equal where all bits are; NaN where it has none."""
        own = {symbol: float(value) for symbol, value in self.system.parameters.items()}
        return np.array([own.get(symbol, np.nan) for symbol in self.system.parameter_symbols], float).view(np.int64)

    def _contacts_of(self, system: System) -> Contacts:
        """Of a system with contacts, with what was found out of it where the run before had the same one."""
        from dalembert.motion.contacts.modes.contacts import Contacts  # needs SymPy

        last = self._last
        if last.system is not system:
            return Contacts(system)
        if last.contacts is None:
            last.contacts = Contacts(system)
        return last.contacts

    @cached_property
    def _last(self) -> _Last:
        return _Last()


class _Last(threading.local):
    """The parameters that a run with contacts was given last, each thread's own: members of a sweep may differ in their
    states alone.
    """

    key: bytes | None = None
    system: System | None = None
    contacts: Contacts | None = None


@dataclass(frozen=True, eq=False)
class _Begin:
    """Where a run begins: the settings with what was seen ahead, the state as it starts, the solution there, and what
    is to be said of it.
    """

    evaluation: Evaluation
    settings: Settings
    state: State
    start: Fundamental | None  # None where the motion is made of legs
    warnings: tuple[str, ...] = ()
    contacts: Contacts | None = None  # where it is

    @cached_property
    def known_by(self) -> tuple[Any, Any]:
        """By what a run is known to begin here: see `Again`."""
        return (self.evaluation, self.start) if self.contacts is None else (self.contacts, None)

    @cached_property
    def parts(self) -> dict[str, Any]:
        """What every run from here has."""
        own = {"evaluation": self.evaluation, "settings": self.settings, "given": None}
        return own if self.contacts is not None else {**own, "warnings": self.warnings, "legs": None}


def _run_smooth(begin: _Begin, start: Fundamental, bar: Progress, prepared: float, started: float) -> Run:
    """A system without friction or one-sided constraints: one trajectory."""
    evaluation, settings, state = begin.evaluation, begin.settings, begin.state
    derived = working_time()
    notes: tuple[str, ...] = ()
    if settings.step is not None:  # a method of equal steps
        from dalembert.motion.integrate.variational import integrate_variational  # loads parts of SciPy

        trajectory, measured = integrate_variational(evaluation, settings, state, bar)
        settings = replace(settings, rtol=measured)
    else:
        trajectory, notes = integrate(evaluation, settings, state, start, bar)
    elapsed = working_time() - derived
    timing = timing_of(trajectory, prepared + derived - started, elapsed)
    return Run(evaluation, trajectory, settings, (*begin.warnings, *notes, *trajectory.warnings), timing)


def _of_block(begin: _Begin, again: Again, made: Any, prepared: float, elapsed: float) -> Run:
    """A run by one call of C, of which only that is known which does not change."""
    run = Run.__new__(Run)
    held = run.__dict__
    held.update(begin.parts)
    held["_later"] = _FromBlock(begin, again, made, prepared, elapsed)
    return run


class _FromBlock(NamedTuple):
    """As `FromBlock` of `Run`."""

    begin: _Begin
    again: Again
    made: Any
    prepared: float
    elapsed: float

    def states(self) -> Array:
        return self.again.block.states(self.made)

    def parts(self) -> dict[str, Any]:
        begin, trajectory = self.begin, self.again.trajectory(self.made)
        if begin.contacts is None:
            return {"trajectory": trajectory, "timing": timing_of(trajectory, self.prepared, self.elapsed)}
        from dalembert.motion.contacts.run.legs import legs_of_one

        state = begin.state
        legs = legs_of_one(begin.contacts, begin.settings, state.q, state.v, state.t, trajectory)
        found = {"trajectory": legs.trajectory, "legs": legs, "warnings": _warnings_of(begin, legs, ())}
        return {**found, "timing": timing_of(legs.trajectory, self.prepared, self.elapsed)}


def _run_legs(begin: _Begin, contacts: Contacts, bar: Progress, prepared: float, started: float) -> Run:
    """A system with friction or one-sided constraints: leg by leg."""
    evaluation, settings, state = begin.evaluation, begin.settings, begin.state
    # Here and not above: it needs SymPy, which other motions do without where their model was kept.
    from dalembert.motion.contacts.run.legs import integrate_legs

    derived = working_time()
    notes: list[str] = []

    def leg(
        of: Evaluation, during: Settings, q: Array, v: Array, t: float, start: Fundamental, work: Array
    ) -> Trajectory:
        bar.update(t)
        trajectory, more = integrate(of, during, State(q, v, t), start, bar, work)
        notes.extend(more)
        return trajectory

    legs = integrate_legs(contacts, settings, state.q, state.v, state.t, leg)
    trajectory = legs.trajectory
    elapsed = working_time() - derived
    timing = timing_of(trajectory, prepared + derived - started, elapsed)
    return Run(evaluation, trajectory, settings, _warnings_of(begin, legs, notes), timing, legs)


def _warnings_of(begin: _Begin, legs: Legs, notes: Iterable[str]) -> tuple[str, ...]:
    """What is to be said of a motion with contacts. notes: said while it was integrated."""
    from dalembert.model.friction.contact import torqueless_warnings
    from dalembert.motion.contacts.run.coefficients import negative_coefficients

    below_zero = negative_coefficients(legs.contacts, legs.trajectory, legs.modes)
    torqueless = torqueless_warnings(begin.evaluation.system)
    return (*torqueless, *below_zero, *dict.fromkeys(notes), *legs.trajectory.warnings)


def _parameters(system: System, given: Any) -> Array:
    names = ", ".join(symbol.name for symbol in system.parameter_symbols)
    try:
        values = np.array(given, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (len(system.parameter_symbols),) or not np.isfinite(values).all():
        raise ModelError(system.name, [f"parameters as an array are finite numbers: {names}, in this order"])
    return values


def _require_shape(system: System, state: State) -> None:
    n = len(system.coordinates)
    if any(np.asarray(part).dtype.kind not in "fiu" for part in (state.q, state.v, state.t)):
        raise ModelError(system.name, ["a State has real numbers only"])
    if np.shape(state.q) != (n,) or np.shape(state.v) != (n,):
        got = f"got arrays of shapes {np.shape(state.q)} and {np.shape(state.v)}"
        raise ModelError(system.name, [f"a State has q and v with {n} numbers each, one for each coordinate; {got}"])
    if not (np.isfinite(state.q).all() and np.isfinite(state.v).all() and np.isfinite(state.t)):
        raise ModelError(system.name, ["a State has finite numbers only"])


def _require_known(system: System, parameters: Mapping[Any, Any]) -> None:
    known = [symbol.name for symbol in (*system.parameter_symbols, *system.parameters)]
    unknown = [str(key) for key in parameters if str(key) not in known]
    faults = [f"there is no parameter {name!r}.{suggest(name, known)}" for name in unknown]
    if faults:
        raise ModelError(system.name, faults)
