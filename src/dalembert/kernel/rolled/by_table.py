"""Steps as data: a table says which step is next, and its places. What it says is done by c/table_steps.h of
kernel/ready, and, where nothing is compiled, by c/table_run.h.

Solving for an unknown, the way back and putting a definition in its place are a kind each for any number of neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from dalembert.graph.structure.derive import Contribution
from dalembert.graph.structure.step_list import Code, StepArrays
from dalembert.graph.structure.steps import Program
from dalembert.kernel.emit.operations import BINARY, UNARY, no_form
from dalembert.kernel.rolled.bodies import PLACED, Line

KINDS = {"solve": 0, "back": 1, "replace": 2, "follow": 3, "clear": 4, "copy": 5, "gauge": 6}
CONTRIBUTE = len(KINDS)
# DA_ROW_… of c/table_run.h.
NUMBER, OPERAND, WRITE, ADD = (max(*BINARY, *UNARY) + 1 + k for k in range(4))


@dataclass
class Row:
    """How steps of one code stand in a table: numbers that are the same for all, and places, in their order."""

    numbers: list[int] = field(default_factory=list)  # where a place stands: −1 for those written first, else 0
    places: list[int] = field(default_factory=list)  # which place of the step; −1 where a number stands

    def put(self, *numbers: int) -> None:
        self.numbers += numbers
        self.places += [-1] * len(numbers)

    def at(self, places: Sequence[int], news: Sequence[bool] = ()) -> None:
        self.numbers += [-int(new) for new in news] if news else [0] * len(places)
        self.places += places

    def filled(self, given: np.ndarray) -> np.ndarray:
        """(steps, length) for the places of some steps in rows."""
        numbers, places = np.array(self.numbers, dtype=np.intc), np.array(self.places, dtype=np.intc)
        found = np.where(places < 0, 0, given[:, np.maximum(places, 0)] if given.shape[1] else 0)
        return np.asarray(found ^ numbers, dtype=np.intc)  # ~place is place ^ −1


def row_of(code: Code) -> Row:
    """Of a step that is no contribution."""
    row = Row()
    row.put(KINDS[code[0]])
    _FILL[code[0]](row, *code[1:])
    return row


def _solve(row: Row, degree: int, has_right: bool, news: Sequence[bool]) -> None:
    known = 1 + int(has_right) + degree
    row.put(degree, int(has_right))
    row.at(range(known))
    row.at(range(known, known + len(news)), news)


def _back(row: Row, degree: int, has_right: bool) -> None:
    row.put(degree, int(has_right))
    row.at(range(2 + int(has_right) + 2 * degree))


def _replace(row: Row, shape: tuple[Any, ...], pairs: Sequence[tuple[Any, ...]], news: Sequence[bool]) -> None:
    literal, gamma, has_own, has_right, degree = shape
    twice = [part for what in pairs if what[0] == "entry" for part in what[1] if part[0] == "twice"]
    by_slope = any(what[0] == "right by slope" for what in pairs)
    has = (gamma is not None) + 2 * has_own + 4 * has_right + 8 * by_slope
    row.put(len(literal), degree, has, len(twice))
    k = _factors(row, literal, 0)
    k = _factors(row, [None if gamma == "place" else 0.0 if gamma is None else gamma], k)
    for is_there in (has_own, has_right):
        row.at([k]) if is_there else row.put(0)
        k += is_there
    row.at(range(k, k + degree))
    k += degree
    # Entries to which several pairs add are one target of the step: the first that adds writes it where it is new.
    of_pair: dict[tuple[Any, ...], tuple[int, bool]] = {}
    for target, (what, new) in enumerate(zip(pairs, news, strict=True), k):
        if what[0] != "entry":
            row.at([target], [new])
            continue
        for number, (how, a, b) in enumerate(what[1]):
            of_pair["own" if how == "own" else "beside", a, b] = target, new and not number
    slopes = range(len(literal))
    if has_own:
        for a in slopes:
            for b in range(a + 1):
                target, new = of_pair["own", a, b]
                row.at([target], [new])
    for a in slopes:
        for b in range(degree):
            target, new = of_pair["beside", a, b]
            row.at([target], [new])
    for _, a, b in twice:
        row.put(a, b)
        row.at([of_pair["beside", a, b][0]])


def _follow(row: Row, literal: Sequence[float | None], gamma: Any) -> None:
    row.put(len(literal))
    k = _factors(row, literal, 0)
    k = _factors(row, [None if gamma == "place" else 0.0 if gamma is None else gamma], k)
    row.at(range(k, k + len(literal) + 1))


def _clear(row: Row) -> None:
    row.at([0])


def _copy(row: Row) -> None:
    row.at([0, 1])


def _gauge(row: Row, degree: int) -> None:
    row.put(degree)
    row.at(range(2 * degree + 2))


_FILL: dict[str, Callable[..., None]] = {
    "solve": _solve,
    "back": _back,
    "replace": _replace,
    "follow": _follow,
    "clear": _clear,
    "copy": _copy,
    "gauge": _gauge,
}


def _factors(row: Row, given: Sequence[float | None], k: int) -> int:
    """Numbers, or places from the k-th on (None); the next place."""
    for value in given:
        if value is None:
            row.at([k])
            row.put(0, 0)
            k += 1
        else:
            row.put(-1, *_as_ints(value))
    return k


def _as_ints(value: float) -> list[int]:
    return np.array([value], dtype=np.float64).view(np.intc).tolist()


def table_of(steps: StepArrays, parts: Sequence[tuple[int, int]], rows: Mapping[int, Row]) -> np.ndarray:
    """The steps of some parts of a list, each from a first to before a last one, by the number of their codes."""
    chosen = np.concatenate([np.arange(first, end) for first, end in parts])
    kinds = steps.kinds[chosen]
    lengths = np.zeros(len(steps.codes), dtype=np.int64)
    for kind, row in rows.items():
        lengths[kind] = len(row.numbers)
    ends = np.cumsum(lengths[kinds])
    table = np.empty(int(ends[-1]) if ends.size else 0, dtype=np.intc)
    for kind in np.unique(kinds):
        here = np.flatnonzero(kinds == kind)
        given = steps.places[steps.starts[chosen[here], None] + np.arange(steps.widths[kind])]
        start = ends[here] - lengths[kind]
        table[start[:, None] + np.arange(lengths[kind])] = rows[int(kind)].filled(given)
    return table


# -- steps of which each is written out once


def case(number: int, body: Sequence[Line]) -> tuple[str, Row]:
    """The C of a step that is written out, its places behind its number in the table."""
    lines = []
    most = 0
    for line in body:
        places = [int(place) for place in re.findall(r"@(\d+)", line.text)]
        most = max(most, *places, line.into if isinstance(line.into, int) else 0, 0)
        value = re.sub(r"@(\d+)", lambda match: f"w[s[{int(match.group(1)) + 1}]]", line.text)
        into = f"const double {line.into}" if isinstance(line.into, str) else f"w[s[{line.into + 1}]]"
        lines.append(f"            {into} = {value};\n")
    text = f"        case {number}: {{\n{''.join(lines)}            s += {most + 2};\n            break;\n        }}\n"
    row = Row()
    row.put(number)
    row.at(range(most + 1))
    return text, row


# -- whole programs


def table_of_program(program: Program) -> np.ndarray:
    """A program as the table that `da_run_table` does. Its numbers get places for values on the way."""
    steps = program.steps.arrays()
    rows, templates, registers, scratch = {}, [2, 0], 0, program.size
    for kind, code in enumerate(steps.codes):
        contribution = program.contributions.get(code)
        if contribution is None:
            rows[kind] = row_of(code)
            continue
        row = rows[kind] = Row()
        row.put(CONTRIBUTE, len(templates))
        row.at(range(int(steps.widths[kind])))
        registers = max(registers, contribution.function.sz_w(), 1)
        templates += [int(steps.widths[kind]), scratch, *_instructions(contribution, code[2])]
    program.size += registers
    made = table_of(steps, [(0, len(program.steps))], rows)
    templates[:2] = [len(templates), len(templates) + made.size]
    return np.concatenate([np.array(templates, dtype=np.intc), made])


def _instructions(made: Contribution, news: Sequence[bool]) -> list[int]:
    """Their number, and instructions of four int each: as `bodies` writes them out."""
    function = made.function
    starts = np.cumsum([0, *(function.numel_in(k) for k in range(4))]).tolist()
    found: list[list[int]] = []

    def store(value: int, k: int) -> None:
        found.append([WRITE if not news or news[k] else ADD, value, starts[4] + k, 0])

    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            store(of[0], into[0])
        elif operation == ca.OP_CONST:
            found.append([NUMBER, into[0], *_as_ints(function.instruction_constant(k))])
        elif operation == ca.OP_INPUT:
            found.append([OPERAND, into[0], starts[of[0]] + of[1], 0])
        elif operation in BINARY or operation in UNARY:
            found.append([operation, into[0], of[0], of[-1]])
        else:
            raise no_form(operation)
    literal = [value for into, value in made.literal if news or into[0] in PLACED]
    for k, value in enumerate(literal, len(made.into)):
        found.append([NUMBER, 0, *_as_ints(value)])
        store(0, k)
    return [len(found), *(number for row in found for number in row)]
