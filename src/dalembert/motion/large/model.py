"""A large system made ready: its programs, compiled, kept for every system of the same structure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dalembert.errors import BuildError
from dalembert.graph.structure.eliminate import (
    Condensed,
    NotEliminated,
    Solution,
    TooWide,
    condensed_of,
    solution_of,
)
from dalembert.graph.structure.equations import ACCELERATIONS, POSITIONS, VELOCITIES, Equations, equations_of
from dalembert.graph.structure.read import structured_of
from dalembert.graph.structure.steps import Structured
from dalembert.graph.structure.sums import Sums, sums_of
from dalembert.kernel.build import Compiler, find_compiler
from dalembert.kernel.ready.multipliers import MultiplierPattern
from dalembert.kernel.rolled.functions import RolledFunction, compile_programs
from dalembert.methods.table import AUTO, METHODS
from dalembert.model.language.symbols import t as time
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.remember import remember


class CondensedFunctions(NamedTuple):
    """Quantities left out, the multipliers by themselves, and the way back."""

    made: Condensed
    forward: RolledFunction
    back: RolledFunction
    pattern: MultiplierPattern


@dataclass(frozen=True, eq=False)
class LargeModel:
    """Functions of one structure. `entries` computes the equations as the model gives them; the others solve them,
    where that takes few neighbours at a time: for nets `solutions` is empty, and multipliers are solved for by
    themselves, as they are wherever constraints depend on each other (`condensed`).
    """

    structured: Structured
    entries: Equations
    sums: Sums
    solutions: dict[str, Solution]
    functions: dict[str, RolledFunction]
    timed: bool  # the time stands in the model itself
    works: bool  # something may do work besides the potential: forces, the time, constraints that move
    condense: Callable[[], dict[str, CondensedFunctions]]
    on_rates: tuple[int, ...]  # constraints on velocities
    _condensed: dict[str, CondensedFunctions] = field(default_factory=dict)

    def condensed(self, what: str) -> CondensedFunctions:
        """Made, all kinds at once, when first asked for: most motions never come to a place where constraints depend on
        each other.
        """
        if not self._condensed:
            self._condensed.update(self.condense())
        return self._condensed[what]


KEPT = 4
_made: dict[Hashable, LargeModel | None] = {}


def large_model(system: System, method: str, backend: str) -> LargeModel | None:
    """The model of a system that is large and has one; None for any other, and where another method or backend is asked
    for.
    """
    if not is_large(system) or backend == "reference" or not _explicit(method):
        return None
    plain = system.replace(events=()) if system.events else system  # events do not change how it moves
    return remember(_made, plain.structure, lambda: _make(plain), KEPT)


def _explicit(method: str) -> bool:
    return method == AUTO or METHODS[method].tableau is not None


def _make(system: System) -> LargeModel | None:
    compiler = find_compiler()
    structured = structured_of(system)
    if compiler is None or structured is None:
        return None
    wanted = [ACCELERATIONS] + ([POSITIONS, VELOCITIES] if structured.constraints else [])
    try:
        solutions = {name: solution_of(equations_of(structured, name), structured.coordinates) for name in wanted}
    except TooWide:
        solutions = {}
    except NotEliminated:
        return None  # a coordinate without mass, say: the small way knows what to do with it
    entries, sums = equations_of(structured, ACCELERATIONS, apart=True), sums_of(structured)
    programs = {name: solution.program for name, solution in solutions.items()}
    timed = _is_timed(system)
    # A constraint on velocities may do work where it is not linear in them alone: that is not looked into.
    works = timed or bool(system.forces) or any(c.level == "velocity" for c in system.constraints)
    try:
        functions = compile_programs({**programs, "entries": entries.program, "sums": sums.program}, compiler)
        on_rates = tuple(k for k, (on_rates, _) in enumerate(structured.constraints) if on_rates)

        def condense() -> dict[str, CondensedFunctions]:
            return _condensed(structured, compiler)

        model = LargeModel(structured, entries, sums, solutions, functions, timed, works, condense, on_rates)
        if not solutions:
            model.condensed(ACCELERATIONS)
    except (BuildError, NotEliminated):
        return None
    return model


def _condensed(structured: Structured, compiler: Compiler) -> dict[str, CondensedFunctions]:
    kinds = (ACCELERATIONS, POSITIONS, VELOCITIES)
    made = {name: condensed_of(equations_of(structured, name), structured.coordinates) for name in kinds}
    programs = {name: each.program for name, each in made.items()}
    programs |= {f"{name}_back": each.back for name, each in made.items()}
    functions = compile_programs(programs, compiler)
    found = {}
    for name, each in made.items():
        pattern = MultiplierPattern(np.array(each.entries, dtype=int).reshape(-1, 3), each.right, each.first)
        found[name] = CondensedFunctions(each, functions[name], functions[f"{name}_back"], pattern)
    return found


def _is_timed(system: System) -> bool:
    parts = [system.kinetic, system.potential, *(c.expression for c in system.constraints)]
    parts += [*system.definitions.values(), *system.forces.values()]
    return any(part is not None and time in part.free_symbols for part in parts)
