"""C functions for programs of steps: what repeats in a loop, the rest by a table of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalembert.graph.structure.step_list import Code, StepArrays
from dalembert.graph.structure.steps import Program
from dalembert.kernel.rolled.bodies import Line, body
from dalembert.kernel.rolled.by_table import table_of_steps
from dalembert.kernel.rolled.loops import Stretch, stretches
from dalembert.kernel.rolled.rounds import Rounds

Table = NDArray[np.intc]
# So many steps in a row that do not repeat are written out; more are done by a table.
WRITTEN_OUT = 40


@dataclass(frozen=True)
class Rolled:
    """The text of C functions, and the index table that each of them reads."""

    text: str
    tables: dict[str, Table]


def rolled_source(programs: Mapping[str, Program]) -> Rolled:
    """A function `da_NAME(w, T)` for each program: w its numbers, T its table."""
    parts, tables = ["#include <math.h>\n"], {}
    for name, program in programs.items():
        text, tables[name] = _function(name, program)
        parts.append(text)
    return Rolled("\n".join(parts), tables)


def _function(name: str, program: Program) -> tuple[str, Table]:
    steps = program.steps.arrays()
    bodies = {code: body(code, program.contributions.get(code)) for code in steps.codes}
    tables: list[np.ndarray] = []
    functions, calls, length = [], [], 0
    for k, stretch in enumerate(stretches(steps.kinds)):
        piece, made = _piece(steps, bodies, stretch, length)
        tables += made
        length += sum(table.size for table in made)
        head = f"static __attribute__((noinline)) void da_{name}_{k}(double *restrict w, const int *restrict T)"
        functions.append(f"{head}\n{{\n    (void)T;\n{piece}}}\n")
        calls.append(f"    da_{name}_{k}(w, T);\n")
    visible = '__attribute__((visibility("default")))'
    functions.append(f"{visible} void da_{name}(double *w, const int *T)\n{{\n{''.join(calls)}}}\n")
    table = np.concatenate(tables) if tables else np.zeros(1)
    return "\n".join(functions), table.astype(np.intc)


def _piece(
    steps: StepArrays, bodies: Mapping[Code, list[Line]], stretch: Stretch, length: int
) -> tuple[str, list[np.ndarray]]:
    """The C of a stretch, and what it adds to a table of this length."""
    end = stretch.start + stretch.period * stretch.rounds
    if stretch.rounds == 1 and stretch.period > WRITTEN_OUT:
        return table_of_steps(list(steps.steps(stretch.start, end)), bodies, length)
    rounds = Rounds(stretch.rounds, length)
    for offset in range(stretch.period):
        code, places = steps.rows(stretch.start + offset, end, stretch.period)
        rounds.add(bodies[code], places)
    return rounds.text(), rounds.tables
