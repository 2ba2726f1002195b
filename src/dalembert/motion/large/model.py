"""A large system made ready: its programs, compiled, kept for every system of the same structure."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dalembert.collector import without_collecting
from dalembert.errors import BuildError
from dalembert.graph.structure.eliminate import NotEliminated, Solution, solution_of
from dalembert.graph.structure.entry_places import EntryPlaces, entry_places
from dalembert.graph.structure.equations import ACCELERATIONS, POSITIONS, VELOCITIES, equations_of
from dalembert.graph.structure.read import structured_of
from dalembert.graph.structure.sums import Sums, sums_of
from dalembert.kernel.build import find_compiler
from dalembert.kernel.rolled.functions import RolledFunction, compile_programs
from dalembert.methods.table import AUTO, METHODS
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.remember import remember


@dataclass(frozen=True, eq=False)
class LargeModel:
    """Functions of one structure. `entries` computes the equations as the model gives them; the others solve them."""

    coordinates: int
    quantities: int  # coordinates, and those that are defined
    constraints: int
    entries: EntryPlaces
    sums: Sums
    solutions: dict[str, Solution]
    functions: dict[str, RolledFunction]
    timed: bool  # the time stands in the model itself
    works: bool  # something may do work besides the potential: forces, the time, constraints that move


KEPT = 4
_made: dict[Hashable, LargeModel | None] = {}


def large_model(system: System, method: str, backend: str) -> LargeModel | None:
    """The model of a system that is large and has one; None for any other, and where another method or backend is asked
    for.
    """
    if not is_large(system) or backend == "reference" or not _explicit(method):
        return None
    return remember(_made, system.structure, lambda: _make(system), KEPT)


def _explicit(method: str) -> bool:
    return method == AUTO or METHODS[method].tableau is not None


@without_collecting
def _make(system: System) -> LargeModel | None:
    compiler = find_compiler()
    structured = structured_of(system)
    if compiler is None or structured is None:
        return None
    wanted = [ACCELERATIONS] + ([POSITIONS, VELOCITIES] if structured.constraints else [])
    try:
        solutions = {name: solution_of(equations_of(structured, name), structured.coordinates) for name in wanted}
    except NotEliminated:
        return None  # a coordinate without mass, say: the small way knows what to do with it
    equations, sums = equations_of(structured, ACCELERATIONS, apart=True), sums_of(structured)
    programs = {name: solution.program for name, solution in solutions.items()}
    programs |= {"entries": equations.program, "sums": sums.program}
    try:
        functions = compile_programs(programs, compiler)
    except BuildError:
        return None
    for program in programs.values():
        program.forget_steps()
    return LargeModel(
        coordinates=structured.coordinates,
        quantities=structured.quantities,
        constraints=len(structured.constraints),
        entries=entry_places(equations),
        sums=sums,
        solutions=solutions,
        functions=functions,
        timed=structured.timed,
        # A constraint on velocities may do work where it is not linear in them alone: that is not looked into.
        works=structured.timed or bool(structured.forces) or any(on_rates for on_rates, _ in structured.constraints),
    )
