"""Programs of steps as compiled functions on arrays of numbers."""

from __future__ import annotations

import ctypes
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.steps import Program
from dalembert.kernel.build import Compiler, build
from dalembert.kernel.ready.many import address
from dalembert.kernel.rolled.source import rolled_source
from dalembert.kernel.waited import waited


@dataclass(frozen=True, eq=False)
class RolledFunction:
    """One compiled program: `numbers()` makes an array for it, calling it fills that in."""

    program: Program
    table: np.ndarray
    function: Any

    def numbers(self, parameters: Array) -> Array:
        """An array for a run of its own, with what never changes in place."""
        w = np.zeros(self.program.size)
        start = 2 * self.program.quantities + 1
        w[start : start + self.program.parameters] = parameters
        known = self.program.numbers
        w[np.fromiter(known.values(), int, len(known))] = np.fromiter(known, float, len(known))
        return w

    def __call__(self, w: Array) -> None:
        self.function(address(w), address(self.table))


def compile_programs(programs: Mapping[str, Program], compiler: Compiler) -> dict[str, RolledFunction]:
    """All programs in one library. The source has the patterns of a model, not its size, so that it is soon compiled,
    and kept on disk for all models that have the same.
    """
    made = rolled_source(programs)
    started = clock.perf_counter()
    library, _ = build(made.text, compiler, level=2)
    waited.seconds += clock.perf_counter() - started
    found = {}
    for name, program in programs.items():
        function = getattr(library, f"da_{name}")
        function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
        found[name] = RolledFunction(program, made.tables[name], function)
    return found
