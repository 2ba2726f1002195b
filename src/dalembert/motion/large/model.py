"""A large system made ready: its programs, compiled, kept for every system of the same structure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dalembert.collector import without_collecting
from dalembert.errors import BuildError
from dalembert.graph.structure.eliminate import (
    Condensed,
    NotEliminated,
    Solution,
    TooWide,
    condensed_of,
    solution_of,
)
from dalembert.graph.structure.entry_places import EntryPlaces, entry_places
from dalembert.graph.structure.equations import ACCELERATIONS, POSITIONS, VELOCITIES, equations_of
from dalembert.graph.structure.read import structured_of
from dalembert.graph.structure.steps import Structured
from dalembert.graph.structure.sums import Sums, sums_of
from dalembert.kernel.build import Compiler, find_compiler
from dalembert.kernel.ready.multipliers import MultiplierPattern
from dalembert.kernel.rolled.functions import RolledFunction, compile_programs
from dalembert.methods.table import AUTO, METHODS
from dalembert.model.system import System
from dalembert.motion.large.size import LeftToTheSmallWay, is_large, is_soon_whole
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

    coordinates: int
    quantities: int  # coordinates, and those that are defined
    constraints: int
    on_rates: tuple[int, ...]  # those on velocities
    placed: Mapping[str, int]  # the number of each quantity that the model defines
    entries: EntryPlaces
    sums: Sums
    solutions: dict[str, Solution]
    functions: dict[str, RolledFunction]
    timed: bool  # the time stands in the model itself
    works: bool  # something may do work besides the potential: forces, the time, constraints that move
    condense: Callable[[], dict[str, CondensedFunctions]]
    _condensed: dict[str, CondensedFunctions] = field(default_factory=dict)

    @property
    def is_condensed(self) -> bool:
        """Whether programs are there that leave multipliers by themselves."""
        return bool(self._condensed)

    def condensed(self, what: str, stays: bool = False) -> CondensedFunctions:
        """Made, all kinds at once, when first asked for: most motions never come to a place where constraints depend on
        each other. Raises `LeftToTheSmallWay` where that takes the system sooner, unless there is no way to it any
        more.
        """
        if not self._condensed:
            if is_soon_whole(self.coordinates) and not stays:
                raise LeftToTheSmallWay
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


@without_collecting
def _make(system: System) -> LargeModel | None:
    compiler = find_compiler()
    structured = structured_of(system)
    if compiler is None or structured is None:
        return None
    wanted = [ACCELERATIONS] + ([POSITIONS, VELOCITIES] if structured.constraints else [])
    if len(structured.constraints) > structured.coordinates:
        wanted = []  # they depend on each other everywhere: what solves independent ones would never be used
    try:
        solutions = {name: solution_of(equations_of(structured, name), structured.coordinates) for name in wanted}
    except TooWide:
        solutions = {}
    except NotEliminated:
        return None  # a coordinate without mass, say: the small way knows what to do with it
    equations, sums = equations_of(structured, ACCELERATIONS, apart=True), sums_of(structured)
    programs = {name: solution.program for name, solution in solutions.items()}
    programs |= {"entries": equations.program, "sums": sums.program}
    try:
        functions = compile_programs(programs, compiler)
        condensed = {} if solutions else _condense(structured, compiler)
    except (BuildError, NotEliminated):
        return None
    for program in programs.values():
        program.forget_steps()

    def condense() -> dict[str, CondensedFunctions]:
        again = structured_of(system)  # which is not kept: most never need it
        assert again is not None
        return _condense(again, compiler)

    return LargeModel(
        coordinates=structured.coordinates,
        quantities=structured.quantities,
        constraints=len(structured.constraints),
        on_rates=tuple(k for k, (on_rates, _) in enumerate(structured.constraints) if on_rates),
        placed=structured.placed,
        entries=entry_places(equations),
        sums=sums,
        solutions=solutions,
        functions=functions,
        timed=structured.timed,
        # A constraint on velocities may do work where it is not linear in them alone: that is not looked into.
        works=structured.timed or bool(structured.forces) or any(on_rates for on_rates, _ in structured.constraints),
        condense=condense,
        _condensed=condensed,
    )


@without_collecting
def _condense(structured: Structured, compiler: Compiler) -> dict[str, CondensedFunctions]:
    kinds = (ACCELERATIONS, POSITIONS, VELOCITIES)
    made = {name: condensed_of(equations_of(structured, name), structured.coordinates) for name in kinds}
    programs = {name: each.program for name, each in made.items()}
    programs |= {f"{name}_back": each.back for name, each in made.items()}
    functions = compile_programs(programs, compiler)
    for program in programs.values():
        program.forget_steps()
    found = {}
    for name, each in made.items():
        pattern = MultiplierPattern(each.entries, each.right, each.first)
        found[name] = CondensedFunctions(each, functions[name], functions[f"{name}_back"], pattern)
    return found
