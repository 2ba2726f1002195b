"""The compiled lanes of one system: made once, kept on disk as other kernels are."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dalembert.graph.functions import Graph
from dalembert.kernel.build import OPTIMISE, Compiler, build
from dalembert.kernel.identity import identity
from dalembert.kernel.keep import cache_folder
from dalembert.kernel.kernel import MEMBERS_ENTRY
from dalembert.kernel.lanes.source import lane_source
from dalembert.kernel.package_digest import table_text

if TYPE_CHECKING:
    from dalembert.model.system import System

KEPT = 64
# How much lanes are optimised: short loops over coordinates are to become straight lines.
LEVEL = 3
_made: dict[tuple[Any, ...], LaneKernel] = {}
_making = threading.Lock()


@dataclass(frozen=True)
class Series:
    """order(rtol, share): of Taylor series, 1 − share ln rtol within limits. effort(order): what a step takes."""

    order: Callable[[float, float], int]
    effort: Callable[[int], float]


@dataclass(frozen=True)
class LaneKernel:
    """width: members side by side. members_entry: as of a `Kernel`. look_entry: see `look.py`. seconds: what making it
    took. series: None where it has another method.
    """

    width: int
    instructions: int
    seconds: float
    cached: bool
    members_entry: Callable[..., int]
    look_entry: Callable[..., int]
    series: Series | None


def make_lane_kernel(system: System, graph: Graph, rows: Sequence[int], method: str, compiler: Compiler) -> LaneKernel:
    """Emit, compile and load it, once. Raises `DoesNotApply`, `KernelTooLarge`, `TaylorNotApplicable`,
    `BuildError`.
    """
    key = (system.structure, tuple(rows), method, table_text(), compiler, cache_folder(), os.environ.get(OPTIMISE))
    with _making:
        if key not in _made:
            while len(_made) >= KEPT:
                _made.pop(next(iter(_made)))
            _made[key] = _make(system, graph, rows, method, compiler)
        return _made[key]


def _make(system: System, graph: Graph, rows: Sequence[int], method: str, compiler: Compiler) -> LaneKernel:
    started = time.perf_counter()
    text = identity(system, graph, rows, ("lanes", method), 0.0)
    library, cached = build(lambda: lane_source(system, graph, rows, method), compiler, text, LEVEL)
    return kernel_in(library, time.perf_counter() - started, cached)


def kernel_in(library: ctypes.CDLL, seconds: float, cached: bool) -> LaneKernel:
    members, width, instructions = library.da_integrate_members, library.da_lanes, library.da_instructions
    members.argtypes, members.restype = MEMBERS_ENTRY, ctypes.c_long
    look = library.da_look_at_starts
    look.argtypes, look.restype = MEMBERS_ENTRY, ctypes.c_long
    width.restype = instructions.restype = ctypes.c_long
    return LaneKernel(int(width()), int(instructions()), seconds, cached, members, look, _series_in(library))


def _series_in(library: ctypes.CDLL) -> Series | None:
    order = getattr(library, "da_series_order", None)
    if order is None:
        return None
    effort = library.da_series_effort
    order.argtypes, order.restype = (ctypes.c_double, ctypes.c_double), ctypes.c_long
    effort.argtypes, effort.restype = (ctypes.c_long,), ctypes.c_double
    return Series(order, effort)
