"""A large system made ready: its programs as functions, kept for every system of the same structure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from threading import Lock
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
from dalembert.graph.structure.steps import Program, Structured
from dalembert.graph.structure.sums import Sums, sums_of
from dalembert.kernel.build import NO_COMPILER, Compiler, find_compiler
from dalembert.kernel.ready.multipliers import MultiplierPattern
from dalembert.kernel.rolled.functions import (
    RolledFunction,
    compile_programs,
    evaluations_worth_compiling,
    programs_by_table,
)
from dalembert.methods.table import AUTO, METHODS
from dalembert.model.system import System
from dalembert.motion.integrate.kernel_choice import wish
from dalembert.motion.large.size import LeftToTheSmallWay, is_large, is_soon_whole
from dalembert.remember import remember


class CondensedFunctions(NamedTuple):
    """Quantities left out, the multipliers by themselves, and the way back."""

    made: Condensed
    forward: RolledFunction
    back: RolledFunction
    pattern: MultiplierPattern


@dataclass
class ByTable:
    """Programs that are data so far: after so many evaluations it is worth compiling them (None: never), so many have
    been done, and what compiles them.
    """

    worth: int | None
    compile: Callable[[], None]
    done: int = 0
    alone: Lock = field(default_factory=Lock)  # one thread at a time compiles


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
    by_table: ByTable
    _condensed: dict[str, CondensedFunctions] = field(default_factory=dict)

    @property
    def kernel(self) -> str:
        """How programs are done: "compiled" or "tape"."""
        return self.functions["entries"].kind

    def evaluations_by_table(self) -> int | None:
        """How many more are to be done before programs are compiled; None: any number."""
        made = self.by_table
        return None if made.worth is None or self.kernel == "compiled" else max(made.worth - made.done, 0)

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
# Where fewer evaluations by a table than this take as long as compiling, nobody waits for less: a step takes a dozen.
FEWEST_BY_TABLE = 300
_made: dict[Hashable, LargeModel | None] = {}


def large_model(system: System, method: str, backend: str) -> LargeModel | None:
    """The model of a system that is large and has one; None for any other, and where another method or backend is asked
    for.
    """
    if not is_large(system) or backend == "reference" or not _explicit(method):
        return None
    plain = system.replace(events=()) if system.events else system  # events do not change how it moves
    return remember(_made, (plain.structure, wish()), lambda: _make(plain), KEPT)


def _explicit(method: str) -> bool:
    return method == AUTO or METHODS[method].tableau is not None


@without_collecting
def _make(system: System) -> LargeModel | None:
    structured = structured_of(system)
    if structured is None:
        return None
    wanted = [ACCELERATIONS] + ([POSITIONS, VELOCITIES] if structured.constraints else [])
    if len(structured.constraints) > structured.coordinates:
        wanted = []  # they depend on each other everywhere: what solves independent ones would never be used
    try:
        solutions = {name: _solution_of(structured, name) for name in wanted}
    except TooWide:
        solutions = {}
    except NotEliminated:
        return None  # a coordinate without mass, say: the small way knows what to do with it
    equations, sums = equations_of(structured, ACCELERATIONS, apart=True), sums_of(structured)
    programs = {name: solution.program for name, solution in solutions.items()}
    programs |= {"entries": equations.program, "sums": sums.program}
    try:
        made = {} if solutions else _condensed_of(structured)
        programs |= _programs_of(made)
        worth, functions = _functions(programs, find_compiler())
    except (BuildError, NotEliminated):
        return None
    if functions["entries"].kind == "compiled" or worth is None:
        _forget(programs)

    def condense() -> dict[str, CondensedFunctions]:
        again = structured_of(system)  # which is not kept: most never need it
        assert again is not None
        made = _condensed_of(again)
        programs, compiler = _programs_of(made), find_compiler()
        by_table = model.kernel == "tape" or compiler is None
        functions = programs_by_table(programs) if by_table else None
        if functions is None:
            assert compiler is not None, "the library by which tables are done was there for the others"
            functions = compile_programs(programs, compiler)
        _forget(programs)
        return _put_together(made, functions)

    def compile_all() -> None:
        compiler = find_compiler()
        assert compiler is not None, "else nothing is worth compiling"
        with model.by_table.alone:
            if model.evaluations_by_table() is None:
                return  # another thread has done it
            try:
                compiled = compile_programs(programs, compiler)
            except BuildError:  # a full disk, say: it goes on as it is
                model.by_table.worth = None
                return
            _forget(programs)
            lacked = not solutions or not model.is_condensed
            model.functions.update(compiled)
            model._condensed.update(_put_together(made, compiled) if lacked else condense())

    model = LargeModel(
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
        by_table=ByTable(worth, compile_all),
        _condensed=_put_together(made, functions),
    )
    return model


def _solution_of(structured: Structured, what: str) -> Solution:
    """With constraints as late as can be, where their pivots are largest; sooner where they would all come together."""
    try:
        return solution_of(equations_of(structured, what), structured.coordinates)
    except TooWide:
        if not structured.definitions:
            raise
        return solution_of(equations_of(structured, what), structured.coordinates, early=True)


def _functions(
    programs: Mapping[str, Program], compiler: Compiler | None
) -> tuple[int | None, dict[str, RolledFunction]]:
    """What will be done first: programs by table, for so many evaluations (None: any number), or compiled. Raises
    `BuildError` where neither can be had.
    """
    asked, worth = wish(), None
    if compiler is not None and asked != "tape":
        what = ACCELERATIONS if ACCELERATIONS in programs else "entries"
        worth = 0 if asked == "compiled" else evaluations_worth_compiling(programs, what, compiler)
    if worth is None or worth >= FEWEST_BY_TABLE:
        functions = programs_by_table(programs)
        if functions is not None:
            return worth, functions
    if compiler is None:
        raise BuildError(NO_COMPILER)
    return 0, compile_programs(programs, compiler)


def _condensed_of(structured: Structured) -> dict[str, Condensed]:
    kinds = (ACCELERATIONS, POSITIONS, VELOCITIES)
    return {name: condensed_of(equations_of(structured, name), structured.coordinates) for name in kinds}


def _programs_of(made: Mapping[str, Condensed]) -> dict[str, Program]:
    programs = {name: each.program for name, each in made.items()}
    return programs | {f"{name}_back": each.back for name, each in made.items()}


def _put_together(
    made: Mapping[str, Condensed], functions: Mapping[str, RolledFunction]
) -> dict[str, CondensedFunctions]:
    found = {}
    for name, each in made.items():
        pattern = MultiplierPattern(each.entries, each.right, each.first)
        found[name] = CondensedFunctions(each, functions[name], functions[f"{name}_back"], pattern)
    return found


def _forget(programs: Mapping[str, Program]) -> None:
    for program in programs.values():
        program.forget_steps()
