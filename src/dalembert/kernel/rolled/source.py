"""One C function for a program of steps: loops over index tables, or over places that advance evenly."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from dalembert.graph.structure.program import Program
from dalembert.kernel.rolled.bodies import Line, body
from dalembert.kernel.rolled.loops import Stretch, stretches

PLACE = re.compile(r"@(\d+)")
LOCAL = re.compile(r"\b([a-z]\d*)\b(?!\()")


@dataclass(frozen=True)
class Rolled:
    """The source, and the index table it reads."""

    text: str
    table: np.ndarray


def rolled_source(program: Program) -> Rolled:
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(step.code, len(numbers)) for step in program.steps])
    bodies = {code: body(code, program.contributions.get(code)) for code in numbers}
    tables: list[np.ndarray] = []
    length = 0
    text = []
    for stretch in stretches(codes):
        piece, made = _stretch(program, bodies, stretch, length)
        text.append(piece)
        tables += made
        length += sum(table.size for table in made)
    table = np.concatenate(tables).astype(np.int32) if tables else np.zeros(0, np.int32)
    functions, calls = [], []
    for k, piece in enumerate(text):
        functions.append(
            f"static __attribute__((noinline)) void da_part{k}(double *restrict w, const int *restrict T)\n{{\n"
            f"    (void)T;\n{piece}}}\n"
        )
        calls.append(f"    da_part{k}(w, T);\n")
    head = "#include <math.h>\n"
    main = f'__attribute__((visibility("default"))) void da_rolled(double *w, const int *T)\n{{\n{"".join(calls)}}}\n'
    return Rolled(head + "\n".join(functions) + main, table)


def _stretch(
    program: Program, bodies: dict[object, list[Line]], stretch: Stretch, length: int
) -> tuple[str, list[np.ndarray]]:
    steps = program.steps
    tables: list[np.ndarray] = []
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
