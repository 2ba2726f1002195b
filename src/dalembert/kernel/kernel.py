"""A compiled kernel: the motion of one system, as a function of its initial state and parameters."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.graph.functions import Graph
from dalembert.kernel.build import OPTIMISE, Compiler, build, find_built
from dalembert.kernel.emit.dispatch import optional_methods
from dalembert.kernel.events import EventBuffer
from dalembert.kernel.identity import identity
from dalembert.kernel.keep import cache_folder
from dalembert.kernel.limits import KEPT_CHANGES
from dalembert.kernel.package_digest import table_text
from dalembert.kernel.size import MOST_INSTRUCTIONS, KernelTooLarge
from dalembert.methods.table import METHODS, SERIES

if TYPE_CHECKING:
    from dalembert.model.system import System

Array = NDArray[np.float64]
# As the enumeration in runtime/base/base.h.
DONE, STEP_TOO_SMALL, STALLED, UNDEFINED, INCONSISTENT, UNDETERMINED, NO_PROJECTION, NO_METHOD = range(8)
BRANCH_ENDS, BRANCHES_MEET, NO_FORCE, SINGULAR_FORCE, CHATTERS, CORNER, EDGE = range(8, 15)
# As the enumeration in runtime/run/report.h.
REPORT = (
    "points",
    "time",
    "steps",
    "rejected",
    "evaluations",
    "robust",
    "trouble",
    "rank",
    "stiff_since",
    "stiff_steps",
    "changes",
)


# The arguments of da_integrate in runtime/run/integrate.h, and of da_slope_of there.
_POINTER, _REAL, _WHOLE = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
ENTRY: list[Any] = [_POINTER, _REAL, _POINTER, _POINTER, ctypes.c_long, _REAL, _POINTER, _WHOLE, _WHOLE]
ENTRY += [_POINTER] * 7  # out, report, progress, stop, events, branch, pace
SLOPE_ENTRY: list[Any] = [_POINTER, _REAL, _POINTER, _WHOLE, _POINTER, _POINTER]
MEMBERS_ENTRY: list[Any] = [_POINTER]
BLOCK_ENTRY: list[Any] = [_POINTER]
_STEPS = REPORT.index("steps")
HEAD, CHANGES, PASSED = len(REPORT), 3 * KEPT_CHANGES, 1 + 2 * KEPT_CHANGES


class KernelRun(NamedTuple):
    """What an integration gave: its status, states (points, DA_NY), and the numbers of its report, as it left them.

    branch (points, 2n): accelerations followed near the points, with and without C; None without rows nonlinear in q̈.
    """

    status: int
    y: Array
    numbers: Array
    branch: Array | None = None

    @property
    def report(self) -> dict[str, float]:
        """Points, time reached, steps and so on, by name."""
        return dict(zip(REPORT, self.numbers[:HEAD].tolist(), strict=True))

    @property
    def steps(self) -> int:
        return int(self.numbers[_STEPS])

    def was_stopped(self, points: int, events: EventBuffer | None) -> bool:
        """Whether it had taken all the steps it might before so many points, and no event ended it."""
        ended = events is not None and events.ended_by is not None
        return self.status == DONE and self.y.shape[0] < points and not ended

    @property
    def last(self) -> Array:
        """The last state it reached."""
        return self.numbers[HEAD + CHANGES + PASSED :]

    @property
    def changes(self) -> tuple[tuple[float, int, int], ...]:
        """When the rank changed, from what to what; the first `KEPT_CHANGES` of them."""
        kept = min(int(self.numbers[HEAD - 1]), KEPT_CHANGES)
        if not kept:
            return ()
        rows = self.numbers[HEAD : HEAD + 3 * kept].reshape(kept, 3)
        return tuple((float(t), int(before), int(after)) for t, before, after in rows)

    @property
    def singular(self) -> tuple[tuple[float, float], ...]:
        """When singular configurations were passed, and the smallest pivot there; the first `KEPT_CHANGES` of them."""
        at = HEAD + CHANGES
        kept = min(int(self.numbers[at]), KEPT_CHANGES)
        if not kept:
            return ()
        return tuple((float(t), float(pivot)) for t, pivot in self.numbers[at + 1 : at + 1 + 2 * kept].reshape(kept, 2))


def integrate_by(
    entry: Callable[..., int],
    y0: Array,
    t0: float,
    parameters: Array,
    times: Array,
    rtol: float,
    atol: Array,
    method: str,
    project: bool,
    watch: RunWatch | None = None,
    events: EventBuffer | None = None,
    branch: Array | None = None,
    pace: PaceArgument | None = None,
) -> KernelRun:
    """Integrate from y0 = (q, q̇, work) through `times`, the first of which is t0. Other threads run
    meanwhile. Where an event ends the run, the last state is its own, whatever `times` says.
    branch (2n): where rows are nonlinear in q̈, the accelerations to follow, with and without C.
    pace: how long steps may be, and what more there is in runtime/run/pace.h.
    """
    # One block for all that goes in and out: each array and each address of one costs as much as a step or two.
    size, count = len(y0), len(times)
    at_parameters = size
    at_tolerances = at_parameters + len(parameters)
    at_times = at_tolerances + len(atol)
    at_report = at_times + count
    at_states = at_report + HEAD + CHANGES + PASSED + size
    block = np.empty(at_states + count * size)
    block[:at_parameters] = y0
    block[at_parameters:at_tolerances] = parameters
    block[at_tolerances:at_times] = atol
    block[at_times:at_report] = times
    followed = None
    if branch is not None:
        followed = np.zeros((count, branch.size))
        followed[0] = branch
    start = ctypes.addressof(ctypes.c_char.from_buffer(block.data))  # a tenth of the time that block.ctypes takes
    status = entry(
        start,
        t0,
        start + 8 * at_parameters,
        start + 8 * at_times,
        count,
        rtol,
        start + 8 * at_tolerances,
        METHODS[method].code,
        project,
        start + 8 * at_states,
        start + 8 * at_report,
        None if watch is None else watch.time_address,
        None if watch is None else watch.stop_address,
        None if events is None else events.pointer,
        None if followed is None else followed.ctypes.data,
        None if pace is None else ctypes.addressof(pace),
    )
    points = int(block[at_report])
    return KernelRun(
        status,
        block[at_states : at_states + points * size].reshape(points, size),
        block[at_report:at_states],
        None if followed is None else followed[:points],
    )


@dataclass(frozen=True)
class Kernel:
    """A system ready to be integrated. `kind`: "compiled" for code of this system, "tape" for its instructions as data.
    `instructions`: how many its straight-line functions have. `seconds` is what deriving and compiling took; `cached`
    whether it was on disk. `entry`, `slope_entry`: the functions of C, with the arguments of ENTRY and SLOPE_ENTRY;
    `members_entry`, `block_entry`: those of `kernel.members` and `kernel.block`. `data`: what they read and must live
    as long as they do. `effort`: of a compiled one, instructions of its parts: da_effort of run/integrate.h.
    """

    kind: str
    instructions: int
    seconds: float
    cached: bool
    entry: Callable[..., int]
    slope_entry: Callable[..., int]
    members_entry: Callable[..., int]
    block_entry: Callable[..., int]
    data: Any = None
    effort: tuple[float, ...] = ()

    def integrate(
        self,
        y0: Array,
        t0: float,
        parameters: Array,
        times: Array,
        rtol: float,
        atol: Array,
        method: str,
        project: bool,
        watch: RunWatch | None = None,
        events: EventBuffer | None = None,
        branch: Array | None = None,
        pace: PaceArgument | None = None,
    ) -> KernelRun:
        """As `integrate_by`, by its own entry."""
        given = (y0, t0, parameters, times, rtol, atol, method, project, watch, events, branch, pace)
        return integrate_by(self.entry, *given)

    def slope(self, y: Array, t: float, parameters: Array, way: int = 0, branch: Array | None = None) -> Array:
        """d/dt of (q, q̇, work) at one state; NaN where it has no value.

        way 0: as at an accepted state; 1: so, without straight-line code; 2: as at a trial state that falls off it.
        """
        y, parameters = np.ascontiguousarray(y, dtype=float), np.ascontiguousarray(parameters, dtype=float)
        out = np.zeros(y.size)
        near = None if branch is None else branch.ctypes.data
        failed = self.slope_entry(y.ctypes.data, t, parameters.ctypes.data, way, near, out.ctypes.data)
        return np.full(y.size, np.nan) if failed else out


class PaceArgument(ctypes.Structure):
    """da_pace of runtime/run/pace.h. The arrays must live as long as it does."""

    _fields_ = (
        ("starts", ctypes.c_void_p),
        ("bounds", ctypes.c_void_p),
        ("count", ctypes.c_long),
        ("share", ctypes.c_double),
        ("look", ctypes.c_double),
        ("weights", ctypes.c_void_p),
        ("fastest", ctypes.c_void_p),
    )

    def __init__(self, starts: Array, bounds: Array, share: float, look: float, weights: Array, width: int) -> None:
        """weights: of the squares of velocities, by which the fastest state is found. width: of a state."""
        given = [np.ascontiguousarray(x, dtype=float) for x in (starts, bounds, weights)]
        at = [ctypes.addressof(ctypes.c_char.from_buffer(x.data)) if x.size else None for x in given]
        self._begin((at[0], at[1], len(starts), share, look, at[2]), given, width)

    def _begin(self, numbers: tuple[Any, ...], given: list[Array], width: int) -> None:
        found = np.zeros(2 + width)
        self.numbers, self.arrays, self.found, self.width = numbers, given, found, width
        super().__init__(*numbers, ctypes.addressof(ctypes.c_char.from_buffer(found.data)))

    def again(self) -> PaceArgument:
        """The same for another run, with a place of its own for what that finds."""
        made = PaceArgument.__new__(PaceArgument)
        made._begin(self.numbers, self.arrays, self.width)
        return made

    def with_share(self, part: float) -> PaceArgument:
        """The same with a part of the share."""
        starts, bounds, weights = self.arrays
        return PaceArgument(starts, bounds, part * self.numbers[3], self.numbers[4], weights, self.width)

    @property
    def fastest_state(self) -> tuple[float, Array] | None:
        """The time and state between the steps of the last run where velocities, weighted, were largest."""
        found = self.found
        return (float(found[1]), found[2:].copy()) if found[0] > 0 else None


class RunWatch:
    """Shared with a running integration: the time it has reached, and how many steps it may take at most: 0 for any
    number, 1 is a wish that it stop now.
    """

    def __init__(self, t0: float, steps: int = 0) -> None:
        self.time = ctypes.c_double(t0)
        self.stop = ctypes.c_int(steps)
        self.time_address = ctypes.addressof(self.time)
        self.stop_address = ctypes.addressof(self.stop)


# As many as graphs are kept. A library once loaded stays in memory: forgetting one only costs a look at the disk.
KEPT = 64
# Kernels with more constraints that are switched on and off are compiled as they stand.
FEW_SWITCHES = 24
_made: dict[tuple[Any, ...], Kernel] = {}
_missing: set[tuple[Any, ...]] = set()  # not on disk when last looked for
_changing = threading.Lock()
# How many kernels this process has come to have: as long as it is the same, none has to be looked for again.
made_so_far = 0


# Numbers that were written one by one are read back by groups: the wider these are, the longer they wait, and kernels
# with registers of 512 bits took 5 to 20 % longer. Code in lanes asks for them itself.
NARROW = ("-mprefer-vector-width=256",) if platform.machine().lower() in ("x86_64", "amd64") else ()


def _level(graph: Graph, asked: Collection[str]) -> int:
    """How much a kernel is optimised. Legs of contacts are short, their kernels long: level 1 takes half the time of
    level 2, and none at all a quarter of that; a run with hundred contacts waits for the compiler otherwise. Series
    are compiled for long runs, or where they are asked for: level 3 takes a third longer, and a tenth off each run.
    """
    if not graph.switched:
        return 3 if SERIES in asked else 2
    return 1 if len(graph.switched) <= FEW_SWITCHES else 0


def _key(
    system: System, graph: Graph, rows: Sequence[int], asked: Collection[str], compiler: Compiler, completion: float
) -> tuple[Any, ...]:
    level = _level(graph, asked)
    return (
        system.structure,
        tuple(rows),
        optional_methods(asked),
        table_text(),
        compiler,
        completion,
        cache_folder(),
        os.environ.get(OPTIMISE),
        level,
    )


def find_kernel(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    asked: Collection[str],
    compiler: Compiler,
    completion: float = 0.0,
) -> Kernel | None:
    """The kernel of a system if it is in memory or on disk, where it is looked for once. As for `make_kernel`."""
    started = time.perf_counter()
    key = _key(system, graph, rows, asked, compiler, completion)
    kernel = _made.get(key)
    if kernel is None and key not in _missing:
        text = identity(system, graph, rows, key[2], completion)
        library = None if text is None else find_built(text, compiler, key[-1], NARROW)
        if library is None:
            _missing.add(key)
            return None
        kernel = kernel_in(library, 0.0, True)
        _keep(key, kernel)
    return None if kernel is None else replace(kernel, seconds=time.perf_counter() - started)


def kernel_in(library: ctypes.CDLL, seconds: float, cached: bool) -> Kernel:
    """The kernel in a library that was compiled for its system alone."""
    integrate, slope, instructions = library.da_integrate, library.da_slope_of, library.da_instructions
    integrate.argtypes, slope.argtypes, instructions.restype = ENTRY, SLOPE_ENTRY, ctypes.c_long
    members = library.da_integrate_members
    members.argtypes, members.restype = MEMBERS_ENTRY, ctypes.c_long
    block = library.da_integrate_block
    block.argtypes = BLOCK_ENTRY
    effort = (ctypes.c_double * 5)()
    library.da_effort(effort)
    size = int(instructions())
    return Kernel("compiled", size, seconds, cached, integrate, slope, members, block, None, tuple(effort))


def _keep(key: tuple[Any, ...], kernel: Kernel) -> None:
    global made_so_far
    with _changing:
        while len(_made) >= KEPT:
            _made.pop(next(iter(_made)))
        _made[key] = kernel
        _missing.discard(key)
        made_so_far += 1


def make_kernel(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    asked: Collection[str],
    compiler: Compiler,
    completion: float = 0.0,
    limit: int = MOST_INSTRUCTIONS,
) -> Kernel:
    """Emit, compile and load the kernel of a system, once. asked: methods it must have. See `kernel_source`."""
    started = time.perf_counter()
    key = _key(system, graph, rows, asked, compiler, completion)
    kernel = _made.get(key)
    if kernel is None:
        asked = key[2]

        def source() -> str:
            from dalembert.kernel.emit.source import kernel_source  # not needed for a kernel that is on disk

            return kernel_source(system, graph, rows, asked, completion, limit)

        key_text = identity(system, graph, rows, asked, completion)
        library, cached = build(source, compiler, key_text, key[-1], NARROW)
        kernel = kernel_in(library, time.perf_counter() - started, cached)
        _keep(key, replace(kernel, seconds=0.0))  # which it takes from now on
    if kernel.instructions > limit:
        # Made for someone who asked for more: the limit says the same whatever lies on disk.
        raise KernelTooLarge(kernel.instructions, limit)
    return kernel
