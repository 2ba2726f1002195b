"""Programs of steps as functions on arrays of numbers: compiled, or by a table that is wholly data."""

from __future__ import annotations

import ctypes
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.steps import Program
from dalembert.kernel.build import Compiler, build, find_built
from dalembert.kernel.ready.large import large_library
from dalembert.kernel.ready.library import ready_library
from dalembert.kernel.ready.many import address
from dalembert.kernel.rolled.by_table import table_of_program
from dalembert.kernel.rolled.source import rolled_source
from dalembert.kernel.waited import waited

LEVEL = 2
# Seconds to compile a source, and for each of its lines; and, of a step by its table, for each place that it works on.
# Measured on chains, trees, nets and cars with trailers, to a factor of two.
COMPILE_S, COMPILE_EACH_S, PLACE_S = 0.1, 4e-4, 1.2e-9


@dataclass(frozen=True, eq=False)
class RolledFunction:
    """One program as a function: `numbers()` makes an array for it, calling it fills that in."""

    program: Program
    table: np.ndarray
    function: Any
    kind: str  # "compiled" or "tape"

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
    library, _ = build(made.text, compiler, level=LEVEL)
    waited.seconds += clock.perf_counter() - started
    found = {}
    for name, program in programs.items():
        function = _function(library, f"da_{name}")
        found[name] = RolledFunction(program, made.tables[name], function, "compiled")
    return found


def programs_by_table(programs: Mapping[str, Program]) -> dict[str, RolledFunction] | None:
    """All programs without compiling any; None where the library for that is not there."""
    library = large_library()
    if library is None or ready_library() is None:  # multipliers by themselves are solved for by the other one
        return None
    function = _function(library, "da_run_table")
    return {name: RolledFunction(each, table_of_program(each), function, "tape") for name, each in programs.items()}


def evaluations_worth_compiling(programs: Mapping[str, Program], what: str, compiler: Compiler) -> int:
    """After how many evaluations of one program by its table compiling all would have been as quick; 0 where they are
    on disk.
    """
    made = rolled_source(programs)
    if find_built(made.text, compiler, LEVEL) is not None:
        return 0
    each = PLACE_S * max(programs[what].steps.arrays().places.size, 1)
    return int((COMPILE_S + COMPILE_EACH_S * made.lines) / each)


def _function(library: ctypes.CDLL, name: str) -> Any:
    function = getattr(library, name)
    function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    return function
