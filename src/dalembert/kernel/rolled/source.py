"""One C function for a program of steps: loops over index tables, or over places that advance evenly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalembert.graph.structure.steps import Program
from dalembert.kernel.rolled.bodies import Line, body
from dalembert.kernel.rolled.loops import Stretch, stretches

Table = NDArray[np.intc]
PLACE = re.compile(r"@(\d+)")
LOCAL = re.compile(r"\b([a-z]\d*)\b(?!\()")


@dataclass(frozen=True)
class Rolled:
    """C functions for programs, by name, and the index table that each of them reads."""

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
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(step.code, len(numbers)) for step in program.steps], dtype=np.int64)
    bodies: dict[object, list[Line]] = {code: body(code, program.contributions.get(code)) for code in numbers}
    tables: list[Table] = []
    functions, calls, length = [], [], 0
    for k, stretch in enumerate(stretches(codes)):
        piece, made = _stretch(program, bodies, stretch, length)
        tables += made
        length += sum(table.size for table in made)
        head = f"static __attribute__((noinline)) void da_{name}_{k}(double *restrict w, const int *restrict T)"
        functions.append(f"{head}\n{{\n    (void)T;\n{piece}}}\n")
        calls.append(f"    da_{name}_{k}(w, T);\n")
    visible = '__attribute__((visibility("default")))'
    functions.append(f"{visible} void da_{name}(double *w, const int *T)\n{{\n{''.join(calls)}}}\n")
    return "\n".join(functions), np.concatenate(tables).astype(np.intc) if tables else np.zeros(1, np.intc)


def _stretch(
    program: Program, bodies: dict[object, list[Line]], stretch: Stretch, length: int
) -> tuple[str, list[Table]]:
    steps = program.steps
    tables: list[Table] = []
    lines: list[str] = []
    address: dict[object, str] = {}

    def at(places: np.ndarray) -> str:
        """The place of an operand in round k as C text; equal texts are the same place, others are not."""
        nonlocal length
        if stretch.rounds == 1:
            return f"{places[0]}"
        ahead = np.diff(places)
        if (ahead == ahead[0]).all():
            step = int(ahead[0])
            return f"{places[0]}" if step == 0 else f"{places[0]} + k * {step}" if step > 0 else f"{places[0]} - k * {-step}"
        key = places.tobytes()
        if key not in address:
            address[key] = f"T[{length} + k]"
            tables.append(places)
            length += places.size
        return address[key]

    known: dict[str, str] = {}
    stored: dict[str, str] = {}
    for offset in range(stretch.period):
        first = steps[stretch.start + offset]
        rounds = np.array(
            [steps[stretch.start + offset + r * stretch.period].places for r in range(stretch.rounds)]
        )
        texts = [at(rounds[:, o]) for o in range(rounds.shape[1])]

        def load(match: re.Match[str], texts: list[str] = texts) -> str:
            where = texts[int(match.group(1))]
            if where not in known:
                known[where] = f"w{len(lines)}_"
                lines.append(f"const double {known[where]} = w[{where}];")
            return known[where]

        for line in bodies[first.code]:
            named = LOCAL.sub(lambda found, o=offset: f"{found.group(1)}_{o}", line.text)
            value = PLACE.sub(load, named)
            name = f"{line.into}_{offset}" if isinstance(line.into, str) else f"w{len(lines)}_"
            lines.append(f"const double {name} = {value};")
            if not isinstance(line.into, str):
                where = texts[line.into]
                if "T[" in where:
                    # It may be any place: what was read before may have changed, what was written goes out first.
                    lines += [f"w[{place}] = {value};" for place, value in stored.items()]
                    known, stored = {}, {}
                    lines.append(f"w[{where}] = {name};")
                    known[where] = name
                else:
                    known[where] = stored[where] = name
    lines += [f"w[{place}] = {value};" for place, value in stored.items()]
    inside = "\n".join(f"        {line}" for line in lines)
    if stretch.rounds == 1:
        return f"    {{\n{inside}\n    }}\n", tables
    return f"    for (long k = 0; k < {stretch.rounds}; k++) {{\n{inside}\n    }}\n", tables
