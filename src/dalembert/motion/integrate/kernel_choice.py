"""Which kernel integrates on the native backend: one compiled for the system, or its tape (kernel/ready), which is
there at once but some times slower.

A compiled kernel that is in memory or on disk is used. Otherwise the tape runs, for as many steps of this system in
this process as take about as long as compiling; then the kernel is compiled, and a run that was not finished begins
anew on it. So nothing takes more than about twice the time of the better choice, and what is chosen depends on the
model, the steps and what is on disk, not on how busy the machine is. Models too long to be compiled run by tape, and so
does everything where there is no compiler. Taylor series need compiled code.

DALEMBERT_KERNEL=tape or =compiled takes that one wherever it can run.

Taylor series take the place of the method that `auto` has where they have won a race (`integrate.race`), which is run
when compiled kernels of a model have taken as many steps as compiling its series takes time. They get a tenth of the
tolerance, since their errors are nearer to it: a motion never becomes less exact by the choice.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dalembert.errors import BuildError
from dalembert.graph.functions import Graph
from dalembert.kernel import kernel as kernels
from dalembert.kernel.build import NO_COMPILER, find_compiler
from dalembert.kernel.identity import identity
from dalembert.kernel.keep import cache_folder, keep, read_kept
from dalembert.kernel.kernel import Kernel, find_kernel, make_kernel
from dalembert.kernel.ready.runtime import runtime_library
from dalembert.kernel.size import KernelTooLarge
from dalembert.kernel.tape_kernel import make_tape_kernel
from dalembert.methods.table import METHODS, SERIES
from dalembert.motion.integrate.settings import Settings
from dalembert.remember import changed

if TYPE_CHECKING:
    from dalembert.model.system import System

# Seconds to compile a kernel, for the runtime and for each instruction of the model; and of a step by tape (a dozen
# evaluations, a return to the constraints), alike. Measured on library systems and chains, to a factor of two.
COMPILE_S, COMPILE_EACH_S = 0.4, 2.5e-4
STEP_S, STEP_EACH_S = 5e-7, 1e-8
# Events of contacts are looked for at eight places of a step or more, with multipliers: such a step takes so many times
# as long (measured: 3.6 to 6).
WITH_CONTACTS = 4
# Seconds of a step by a compiled kernel, alike; and to compile series, as a multiple of the time without them.
FAST_STEP_S, FAST_STEP_EACH_S, SERIES_COMPILE = 3.5e-7, 1.2e-9, 1.8
# Of the tolerance, for series that `auto` has taken.
SERIES_SHARE = 0.1
# A run asks every so many steps whether it is to stop.
LOOKS = 64
# A run this short is over, in a few milliseconds at most, before an interrupt could matter or a thread had started.
# Of a kernel with more instructions, the fewer steps, but not so few that most runs would be longer; with fewer, more.
SHORT_STEPS, SHORT_SAMPLES, SHORT_INSTRUCTIONS, SHORT_COORDINATES, SHORT_EVENTS = 128, 2000, 4000, 16, 100
MOST_SHORT, LEAST_INSTRUCTIONS = 5, 500
# A motion of a sweep takes about so many steps, as far as it is known before.
MEMBER_STEPS = 50


@dataclass(frozen=True)
class Wanted:
    """What a kernel is for. limit: with more instructions it is not compiled. members: so many runs are to be by one
    kernel, chosen at the first of them; 0: each by what is expected to be done first.
    """

    system: System
    graph: Graph
    rows: Sequence[int]
    method: str
    completion: float
    limit: int
    members: int = 0

    def compiled(self) -> Kernel:
        """A kernel for this system alone. Raises `BuildError`, `KernelTooLarge`, `TaylorNotApplicable`."""
        compiler = find_compiler()
        if compiler is None:
            raise BuildError(f"{NO_COMPILER}, or use backend='reference'")
        given = (self.system, self.graph, self.rows, (self.method,), compiler, self.completion)
        return make_kernel(*given, self.limit)

    def at_hand(self) -> Kernel | None:
        """What waits for no compiler: the kernel if it was made before, else the tape; None where neither is there."""
        if METHODS[self.method].series or _compiles_only():
            return None  # no tape will do, and one that is on disk is found when it is to be made
        given = (self.system, self.graph, self.rows, (self.method,))
        compiler = find_compiler()
        if compiler is not None and wish() != "tape":
            found = find_kernel(*given, compiler, self.completion)
            if found is not None:
                return found
        library = runtime_library()
        return None if library is None else make_tape_kernel(library, *given, self.completion)

    def serves(self, graph: Graph, method: str, completion: float, limit: int) -> bool:
        """Whether it is what a mode of the same system wants, of which all rows are always wanted."""
        same = self.graph is graph and self.method == method
        return same and self.completion == completion and self.limit == limit

    def prefer(self, other: Wanted) -> Wanted:
        """The other one, which knows what was chosen for it, if it is the same; else this one."""
        if (other.key, other.method, other.limit) != (self.key, self.method, self.limit):
            return self
        return other

    @cached_property
    def kept(self) -> dict[tuple[object, ...], Choice]:
        """What was chosen before, by what it was chosen from."""
        return {}

    @cached_property
    def key(self) -> tuple[object, ...]:
        return self.system.structure, tuple(self.rows), METHODS[self.method].stiff, self.completion


@dataclass(frozen=True)
class Choice:
    """A kernel, how many steps it may take before it is worth compiling (0: any number), and what choosing took. worth:
    how many steps that is from the first run in this process.
    """

    kernel: Kernel
    steps: int = 0
    seconds: float = 0.0
    worth: int = 0


def wish() -> str:
    """DALEMBERT_KERNEL: tape, compiled, or what is quicker."""
    asked = os.environ.get("DALEMBERT_KERNEL", "")
    return asked if asked in ("tape", "compiled") else ""


def has_kernels() -> bool:
    """Whether anything can run natively here."""
    return _compiles_only() or (find_compiler(), runtime_library()) != (None, None)


def _compiles_only() -> bool:
    """Whether no tape will run, so that the runtime for them is not made."""
    return wish() == "compiled" and find_compiler() is not None


def choose_kernel(wanted: Wanted) -> Choice:
    """The kernel that is expected to be done first; what it raises, `Wanted.compiled` says."""
    started = time.perf_counter()
    asked, compiler = wish(), find_compiler()
    tapes = None if asked == "compiled" and compiler is not None else runtime_library()
    state = (asked, compiler, tapes, kernels.made_so_far)
    choice = wanted.kept.get(state)
    if choice is not None and not choice.steps:
        return choice
    if choice is not None and not is_worth_compiling(wanted, choice):
        return changed(choice, steps=choice.worth - _steps.get(wanted.key, 0))
    choice = _choose(wanted)
    wanted.kept.clear()
    wanted.kept[state] = choice
    return replace(choice, seconds=time.perf_counter() - started)


def _choose(wanted: Wanted) -> Choice:
    kernel = wanted.at_hand()
    if kernel is None:
        return Choice(wanted.compiled())
    never = find_compiler() is None or wish() == "tape" or kernel.instructions > wanted.limit
    if kernel.kind == "compiled" or never:
        return Choice(kernel)
    worth = steps_worth_compiling(kernel.instructions) // (WITH_CONTACTS if wanted.graph.switched else 1)
    if wanted.members:
        return Choice(kernel if wanted.members * MEMBER_STEPS < worth else compiled_or_tape(kernel, wanted))
    steps = worth - _steps.get(wanted.key, 0)
    if steps >= LOOKS:
        return Choice(kernel, steps, worth=worth)
    return Choice(compiled_or_tape(kernel, wanted))


def compiled_or_tape(tape: Kernel, wanted: Wanted) -> Kernel:
    """The compiled kernel, or the tape where it cannot be had."""
    try:
        return wanted.compiled()
    except (BuildError, KernelTooLarge):
        return tape


def is_worth_compiling(wanted: Wanted, choice: Choice) -> bool:
    """Whether too few steps are left to the tape that was chosen."""
    return choice.worth - _steps.get(wanted.key, 0) < LOOKS


def note_steps(wanted: Wanted, steps: int) -> None:
    """So many were taken by tape."""
    with _changing:
        _steps[wanted.key] = _steps.pop(wanted.key, 0) + steps
        while len(_steps) > KEPT:
            _steps.pop(next(iter(_steps)))


def may_have_series(wanted: Wanted) -> bool:
    """Whether series may take the place of the method: not where accelerations are found by iteration, or constraints
    are switched on and off from leg to leg.
    """
    graph = wanted.graph
    iterates = graph.nonlinear or graph.uses_actual or graph.switched
    return not iterates and METHODS[wanted.method].tableau is not None and wish() != "tape"


@dataclass(frozen=True)
class Race:
    """Whether it is still to be found out if series win: steps by the compiled kernel of a model are counted under a
    key, and so many are worth it.
    """

    key: tuple[object, ...]
    worth: int

    def is_due(self, steps: int, ahead: float = 0.0) -> bool:
        """After so many more steps, which are counted, with others ahead."""
        with _changing:
            _steps[self.key] = taken = _steps.pop(self.key, 0) + steps
        return taken + ahead >= self.worth


def race_of(wanted: Wanted, kernel: Kernel, rtol: float) -> Race | None:
    """None where it was run before, or the kernel is not compiled."""
    if kernel.kind != "compiled" or _decade(wanted, rtol) in _winners:
        return None
    return Race((*wanted.key, "compiled"), steps_worth_a_race(kernel.instructions))


def winner_of(wanted: Wanted, rtol: float) -> str:
    """The method that has won the race at such tolerances, in this process or an earlier one, and can run without a
    compiler; that of the wish where there was none.
    """
    key = _decade(wanted, rtol)
    if key in _not_raced:
        return wanted.method
    if key not in _winners:
        name = _file_of_race(wanted, rtol)
        kept = None if name is None else read_kept(name)
        if kept is None:
            with _changing:
                if len(_not_raced) >= KEPT:
                    _not_raced.clear()
                _not_raced.add(key)
            return wanted.method
        _winners[key] = kept.decode("ascii", "replace")
    compiler = find_compiler()
    if _winners[key] != SERIES or compiler is None:
        return wanted.method
    given = (wanted.system, wanted.graph, wanted.rows, (SERIES,), compiler, wanted.completion)
    return wanted.method if find_kernel(*given) is None else SERIES


def keep_winner(wanted: Wanted, rtol: float, method: str) -> None:
    """For this process and later ones."""
    global races_so_far
    with _changing:
        while len(_winners) >= KEPT:
            _winners.pop(next(iter(_winners)))
        key = _decade(wanted, rtol)
        _winners[key] = method
        _not_raced.discard(key)
        races_so_far += 1
    if (name := _file_of_race(wanted, rtol)) is not None:
        keep(name, method.encode())


def _decade(wanted: Wanted, rtol: float) -> tuple[object, ...]:
    return (*wanted.key, cache_folder(), round(math.log10(rtol)))


def _file_of_race(wanted: Wanted, rtol: float) -> str | None:
    text = identity(wanted.system, wanted.graph, wanted.rows, ("race", wanted.method), wanted.completion)
    if text is None:
        return None
    return f"{hashlib.sha256(f'{text} {round(math.log10(rtol))}'.encode()).hexdigest()[:40]}.race"


def steps_worth_a_race(instructions: int) -> int:
    """How many steps by a compiled kernel take as long as compiling its series."""
    compiling = SERIES_COMPILE * (COMPILE_S + COMPILE_EACH_S * instructions)
    return int(compiling / (FAST_STEP_S + FAST_STEP_EACH_S * instructions))


def steps_worth_compiling(instructions: int) -> int:
    """How many steps by tape take as long as compiling."""
    return int((COMPILE_S + COMPILE_EACH_S * instructions) / (STEP_S + STEP_EACH_S * instructions))


KEPT = 1024
_steps: dict[tuple[object, ...], int] = {}
_winners: dict[tuple[object, ...], str] = {}
# What no earlier process has run a race of: to look for its file takes ten times as long as a short motion.
_not_raced: set[tuple[object, ...]] = set()
races_so_far = 0
_changing = threading.Lock()


def trial_steps(kernel: Kernel, settings: Settings, n: int, events: int) -> int:
    """After how many steps a trial in the calling thread ends that costs next to nothing, and fits on any stack; 0
    where none does.
    """
    small = n <= SHORT_COORDINATES and events <= SHORT_EVENTS and settings.times.size <= SHORT_SAMPLES
    if not small or kernel.instructions > MOST_SHORT * SHORT_INSTRUCTIONS:
        return 0
    return SHORT_STEPS * SHORT_INSTRUCTIONS // max(kernel.instructions, LEAST_INSTRUCTIONS)
