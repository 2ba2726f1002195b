"""The kernel of a system that needs no compiler: tapes on the runtime that serves every model."""

from __future__ import annotations

import ctypes
import hashlib
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dalembert.graph.functions import Graph
from dalembert.kernel.identity import identity
from dalembert.kernel.keep import keep, read_kept
from dalembert.kernel.kernel import BLOCK_ENTRY, ENTRY, KEPT, MEMBERS_ENTRY, SLOPE_ENTRY, Kernel
from dalembert.kernel.package_digest import table_text
from dalembert.kernel.ready.model import make_model, make_parts
from dalembert.kernel.ready.tape import parts_from_bytes, parts_to_bytes
from dalembert.methods.table import METHODS

if TYPE_CHECKING:
    from dalembert.model.system import System


_made: dict[tuple[Any, ...], Kernel] = {}
_changing = threading.Lock()


def make_tape_kernel(
    library: ctypes.CDLL,
    system: System,
    graph: Graph,
    rows: Sequence[int],
    asked: Collection[str],
    completion: float = 0.0,
) -> Kernel:
    """The kernel of a system without a compiler, once. rows, asked and completion as for `kernel_source`."""
    started = time.perf_counter()
    stiff = any(METHODS[name].stiff for name in asked)
    key = (system.structure, tuple(rows), stiff, completion, table_text())
    kernel = _made.get(key)
    if kernel is None:
        text = identity(system, graph, rows, ("tape", *(("stiff",) if stiff else ())), completion)
        name = None if text is None else f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.tape"
        data = None if name is None else read_kept(name)
        parts = make_parts(library, system, graph, rows, stiff, completion) if data is None else parts_from_bytes(data)
        if data is None and name is not None:
            keep(name, parts_to_bytes(parts))
        model = make_model(parts)
        names = ("integrate_model", "slope_of_model", "integrate_members_of_model", "integrate_block_of_model")
        entries = [getattr(library, f"da_{name}") for name in names]
        for entry, arguments in zip(entries, (ENTRY, SLOPE_ENTRY, MEMBERS_ENTRY, BLOCK_ENTRY), strict=True):
            entry.argtypes = [ctypes.c_void_p, *arguments]
        entries[2].restype = ctypes.c_long
        integrate, slope, members, block = (partial(entry, ctypes.addressof(model.data)) for entry in entries)
        kernel = Kernel("tape", model.instructions, 0.0, data is not None, integrate, slope, members, block, model)
        with _changing:
            while len(_made) >= KEPT:
                _made.pop(next(iter(_made)))
            _made[key] = kernel
    return replace(kernel, seconds=time.perf_counter() - started)
