"""A compiled kernel: the motion of one system, as a function of its initial state and parameters."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.graph.graph import Graph
from dalembert.kernel.build import Compiler, build, cache_folder
from dalembert.kernel.source import MOST_INSTRUCTIONS, kernel_source
from dalembert.model.system import System

Array = NDArray[np.float64]
METHOD_CODES = {"dop853": 8, "dopri5": 5, "stiff": 4, "taylor": 9}
# As the enumeration in runtime/base.h.
DONE, STEP_TOO_SMALL, STALLED, UNDEFINED, INCONSISTENT, UNDETERMINED, NO_PROJECTION, NO_METHOD, HANDOVER = range(9)
# As the enumeration in runtime/drive.h.
EVENTS = 64
REPORT = ("points", "time", "steps", "rejected", "evaluations", "robust", "trouble", "rank", "changes")


@dataclass(frozen=True)
class KernelRun:
    """What an integration gave: states (points, 2n + 3), its status, its report, and the last state it
    reached.
    """

    status: int
    y: Array
    report: dict[str, float]
    last: Array
    changes: tuple[tuple[float, int, int], ...]


@dataclass(frozen=True)
class Kernel:
    """A compiled system. `seconds` is what deriving and compiling took; `cached` whether the library was on
    disk.
    """

    library: ctypes.CDLL
    seconds: float
    cached: bool

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
        watch: Watch | None = None,
    ) -> KernelRun:
        """Integrate from y0 = (q, q̇, work) through `times`, the first of which is t0. Other threads run
        meanwhile.
        """
        y0, parameters, times = (np.ascontiguousarray(x, dtype=float) for x in (y0, parameters, times))
        out = np.zeros((times.size, y0.size))
        report = np.zeros(len(REPORT) + 3 * EVENTS + y0.size)
        tolerances = np.ascontiguousarray(np.broadcast_to(atol, y0.size - 3), dtype=float)
        status = _entry(self.library)(
            y0.ctypes.data,
            t0,
            parameters.ctypes.data,
            times.ctypes.data,
            times.size,
            rtol,
            tolerances.ctypes.data,
            METHOD_CODES[method],
            int(project),
            out.ctypes.data,
            report.ctypes.data,
            None if watch is None else ctypes.byref(watch.time),
            None if watch is None else ctypes.byref(watch.stop),
        )
        named = dict(zip(REPORT, report.tolist(), strict=False))
        kept = min(int(named["changes"]), EVENTS)
        rows = report[len(REPORT) : -y0.size].reshape(EVENTS, 3)[:kept]
        changes = tuple((float(t), int(before), int(after)) for t, before, after in rows)
        return KernelRun(int(status), out[: int(named["points"])], named, report[-y0.size :].copy(), changes)

    def slope(self, y: Array, t: float, parameters: Array, way: int = 0) -> Array:
        """d/dt of (q, q̇, work) at one state; NaN where it has no value.

        way 0: as at an accepted state; 1: so, without straight-line code; 2: as at a trial state that falls off it.
        """
        y, parameters = np.ascontiguousarray(y, dtype=float), np.ascontiguousarray(parameters, dtype=float)
        out = np.zeros(y.size)
        function = self.library.da_slope_of
        pointer = ctypes.c_void_p
        function.argtypes = [pointer, ctypes.c_double, pointer, ctypes.c_int, pointer]
        failed = function(y.ctypes.data, t, parameters.ctypes.data, way, out.ctypes.data)
        return np.full(y.size, np.nan) if failed else out


class Watch:
    """Shared with a running integration: the time it has reached, and a wish that it stop."""

    def __init__(self, t0: float) -> None:
        self.time = ctypes.c_double(t0)
        self.stop = ctypes.c_int(0)


def _entry(library: ctypes.CDLL) -> Any:
    function = library.da_integrate
    if function.argtypes is None:
        pointer, real, integer = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
        function.restype = integer
        function.argtypes = [
            pointer,
            real,
            pointer,
            pointer,
            ctypes.c_long,
            real,
            pointer,
            integer,
            integer,
            pointer,
            pointer,
            pointer,
            pointer,
        ]
    return function


# As many as graphs are kept. A library once loaded stays in memory: forgetting one only costs a look at the disk.
KEPT = 64
_made: dict[tuple[Any, ...], Kernel] = {}


def make_kernel(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    stiff: bool,
    compiler: Compiler,
    completion: float = 0.0,
    limit: int = MOST_INSTRUCTIONS,
    taylor: bool = False,
) -> Kernel:
    """Emit, compile and load the kernel of a system, once. See `kernel_source` for the options."""
    started = time.perf_counter()
    key = (system.structure, tuple(rows), stiff, compiler, completion, cache_folder(), taylor)
    kernel = _made.get(key)
    if kernel is None:
        library, cached = build(kernel_source(system, graph, rows, stiff, completion, limit, taylor), compiler)
        kernel = Kernel(library, time.perf_counter() - started, cached)
        while len(_made) >= KEPT:
            _made.pop(next(iter(_made)), None)
        _made[key] = kernel
    return replace(kernel, seconds=time.perf_counter() - started)
