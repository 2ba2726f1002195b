"""`prepare` for a large system: its programs are made and compiled once, and its whole graph never."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.graph.structure.read import KINKED
from dalembert.kernel.build import NO_COMPILER, find_compiler
from dalembert.kernel.waited import waited, working_time
from dalembert.methods.table import METHODS
from dalembert.model.events import with_events
from dalembert.model.language.contents import contents
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.large.events import are_plain
from dalembert.motion.large.model import large_model
from dalembert.motion.large.simulate import run_large, starts
from dalembert.motion.large.size import LeftToTheSmallWay, is_large
from dalembert.motion.large.state import LargeState
from dalembert.motion.prepare import Prepared, make_ready, settings_of_system
from dalembert.motion.result.motion import Timing
from dalembert.motion.run import Run
from dalembert.motion.state.state import State

if TYPE_CHECKING:
    from dalembert.model.system import System

# A chain of so many links takes some ten seconds as a whole.
MANY_AS_A_WHOLE = 90


def prepare_large(
    system: System,
    duration: float | None,
    times: ArrayLike | None,
    options: Mapping[str, Any],
    events: Mapping[str, Any] | Iterable[Any] | None = None,
) -> Prepared:
    """As `motion.prepare.prepare`; that itself where a large system has to be taken as a whole."""
    before = waited.seconds
    started = working_time()
    if events is not None:
        system = with_events(system.as_written, events)
    settings = settings_of_system(system, duration, times, options)
    return make_large_ready(system, settings, started, before)


def make_large_ready(system: System, settings: Settings, started: float, before: float) -> Prepared:
    """A system, with all its events, and settings that were checked. before: what had been waited for at the start."""
    model = large_model(system, settings.method, settings.backend) if are_plain(system) else None
    if model is None and is_large(system) and (reason := why_slow_as_a_whole(system, settings)):
        warnings.warn(f"{system.name}: {reason}", stacklevel=4)
    if model is None and (find_compiler() is not None or not is_large(system)):
        return make_ready(system, settings, started)
    seconds, compiled = working_time() - started, waited.seconds - before
    return PreparedLarge(system, settings, seconds, Timing(derive_s=seconds, compile_s=compiled))


def why_slow_as_a_whole(system: System, settings: Settings) -> str:
    """What is said before a long wait: definitions lead to masses that all depend on each other."""
    many = len(system.coordinates)
    if many < MANY_AS_A_WHOLE or not system.definitions or settings.backend == "reference":
        return ""
    method = METHODS.get(settings.method)
    if method is not None and method.tableau is None:
        what, remedy = f"method={settings.method!r}", "method='auto' takes time in proportion to them"
    elif contents(*system.expressions()).has(*KINKED):
        what, remedy = "kinks (abs, sign, min, max, conditions)", "smooth functions in their place take much less"
    else:
        return ""
    return (
        f"for {what} all {many} coordinates with their definitions are taken as a whole: up to half a minute for 100 "
        f"links of a chain, and eight times as long for twice as many; {remedy}"
    )


@dataclass(frozen=True, eq=False)
class PreparedLarge(Prepared):
    """A large system made ready. spent: on that."""

    spent: Timing = field(default_factory=Timing)

    @cached_property
    def _whole(self) -> Prepared:
        """The small way, for runs that need it."""
        return make_ready(self.system, self.settings, working_time())

    def run_after(
        self,
        seconds: float,
        state: State | Mapping[Any, Any] | None = None,
        parameters: Array | Mapping[Any, Any] | None = None,
        *,
        progress: bool | Progress | None = False,
    ) -> Run:
        before = waited.seconds
        started = working_time()
        system, values, begin = self.values(state, parameters)
        model = large_model(system, self.settings.method, self.settings.backend)
        if model is not None:
            at = LargeState(system, model, system.parameter_values() if values is None else values)
            settings, spent = self.settings_from(begin.t), replace(self.spent, derive_s=seconds)
            bar = progress
            if not isinstance(bar, Progress):
                bar = Progress(system.name, begin.t, float(settings.times[-1]), bar)
            with suppress(LeftToTheSmallWay):
                if starts(at, begin):
                    with bar:
                        run = run_large(at, settings, begin, bar, spent, started, before)
                    return replace(run, given=state) if isinstance(state, State) else run
        seconds += working_time() - started
        compiled = self.spent.compile_s + waited.seconds - before
        run = self._whole.run_after(seconds, state, parameters, progress=progress)
        run = replace(run, timing=replace(run.timing, compile_s=run.timing.compile_s + compiled))
        if find_compiler() is None:
            many = f"{len(system.coordinates)} coordinates were taken as a whole, which is slow"
            run = replace(run, warnings=(*run.warnings, f"{many}: {NO_COMPILER}"))
        return run
