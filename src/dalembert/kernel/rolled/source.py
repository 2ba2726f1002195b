"""C functions for programs of steps: what repeats in a loop, the rest by a table of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalembert.graph.structure.step_list import Code
from dalembert.graph.structure.steps import Program
from dalembert.kernel.ready.library import file_text
from dalembert.kernel.rolled.bodies import Line, body, length_of
from dalembert.kernel.rolled.by_table import CONTRIBUTE, KINDS, Row, case, row_of, table_of
from dalembert.kernel.rolled.loops import Stretch, stretches
from dalembert.kernel.rolled.rounds import Rounds

Table = NDArray[np.intc]
# A stretch is written out while it has at most so many lines for each of its rounds; longer ones are done by a table.
# Written out, a line takes a quarter of a millisecond to compile, and saves a nanosecond or two each time it is done.
LINES_A_ROUND = 40


@dataclass(frozen=True)
class Rolled:
    """The text of C functions, and the index table that each of them reads. lines: written out, in loops and beside."""

    text: str
    tables: dict[str, Table]
    lines: int


def rolled_source(programs: Mapping[str, Program]) -> Rolled:
    """A function `da_NAME(w, T)` for each program: w its numbers, T its table."""
    parts, tables, lines = ["#include <math.h>\n"], {}, 0
    made = [_Function(name, program) for name, program in programs.items()]
    if any(function.has_table for function in made):
        parts.append(file_text("table_steps.h"))
    for function in made:
        parts.append(function.text())
        tables[function.name] = function.table()
        lines += function.lines
    return Rolled("\n".join(parts), tables, lines)


class _Function:
    """One program: pieces in loops, each a function of its own, and pieces of its table of steps between them."""

    def __init__(self, name: str, program: Program) -> None:
        self.name, self.lines, self.length = name, 0, 0
        self.program, self.steps = program, program.steps.arrays()
        self.bodies: dict[Code, list[Line]] = {}
        self.tables: list[np.ndarray] = []
        self.functions: list[str] = []
        self.calls: list[str] = []
        self.cases: dict[Code, str] = {}
        self.rows: dict[int, Row] = {}
        kinds, codes = self.steps.kinds, self.steps.codes
        lengths = np.array([length_of(code, program.contributions.get(code)) for code in codes])
        apart: list[tuple[int, int]] = []
        for stretch in stretches(kinds):
            end = stretch.start + stretch.period * stretch.rounds
            lines = int(lengths[kinds[stretch.start : stretch.start + stretch.period]].sum())
            if lines > LINES_A_ROUND * stretch.rounds:
                apart.append((stretch.start, end))
                continue
            self._by_table(apart)
            apart = []
            self._loop(stretch, end)
            self.lines += lines
        self._by_table(apart)
        self.lines += sum(len(self._body(code)) for code in self.cases)

    @property
    def has_table(self) -> bool:
        return bool(self.rows)

    def text(self) -> str:
        named = f"da_{self.name}"
        head = f"static __attribute__((noinline)) void {named}_table(double *w, const int *s, const int *end)"
        kinds = "".join(f"        case {k}: s = da_step_{kind}(w, s); break;\n" for kind, k in KINDS.items())
        cases = (
            f"{{\n    for (; s < end;)\n        switch (*s) {{\n{kinds}{''.join(self.cases.values())}        }}\n}}\n"
        )
        by_table = [f"{head}\n{cases}"] if self.has_table else []
        visible = '__attribute__((visibility("default")))'
        entry = f"{visible} void {named}(double *w, const int *T)\n{{\n    (void)T;\n{''.join(self.calls)}}}\n"
        return "\n".join([*by_table, *self.functions, entry])

    def table(self) -> Table:
        found = np.concatenate(self.tables) if self.tables else np.zeros(1)
        return found.astype(np.intc)

    def _add(self, tables: Sequence[np.ndarray]) -> None:
        self.tables += tables
        self.length += sum(table.size for table in tables)

    def _loop(self, stretch: Stretch, end: int) -> None:
        rounds = Rounds(stretch.rounds, self.length)
        for offset in range(stretch.period):
            code, places = self.steps.rows(stretch.start + offset, end, stretch.period)
            rounds.add(self._body(code), places)
        name = f"da_{self.name}_{len(self.functions)}"
        head = f"static __attribute__((noinline)) void {name}(double *restrict w, const int *restrict T)"
        self.functions.append(f"{head}\n{{\n    (void)T;\n{rounds.text()}}}\n")
        self.calls.append(f"    {name}(w, T);\n")
        self._add(rounds.tables)

    def _by_table(self, parts: Sequence[tuple[int, int]]) -> None:
        """Steps of some parts that follow each other."""
        if not parts:
            return
        for kind in np.unique(self.steps.kinds[parts[0][0] : parts[-1][1]]).tolist():
            if kind not in self.rows:
                self.rows[kind] = self._row(self.steps.codes[kind])
        made, start = table_of(self.steps, parts, self.rows), self.length
        self.calls.append(f"    da_{self.name}_table(w, T + {start}, T + {start + made.size});\n")
        self._add([made])

    def _body(self, code: Code) -> list[Line]:
        if code not in self.bodies:
            self.bodies[code] = body(code, self.program.contributions.get(code))
        return self.bodies[code]

    def _row(self, code: Code) -> Row:
        if code[0] in KINDS:
            return row_of(code)
        text, row = case(CONTRIBUTE + len(self.cases), self._body(code))
        self.cases[code] = text
        return row
