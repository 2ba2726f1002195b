"""Steps that do not repeat, as those of a net: the table says which step is next, and its places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from dalembert.graph.structure.step_list import Code, Step
from dalembert.kernel.rolled.bodies import Line

# Solving for an unknown with any number of neighbours, and the way back, are two kinds for all. A place that is written
# for the first time stands as ~place.


def table_of_steps(
    steps: Sequence[Step], bodies: Mapping[Code, list[Line]], length: int
) -> tuple[str, list[np.ndarray]]:
    """The C that goes through the steps, and the table, which stands behind `length` others."""
    cases: dict[Code, int] = {}
    table: list[int] = []
    for step in steps:
        kind = step.code[0]
        if kind == "solve":
            table += _solve(step)
        elif kind == "back":
            _, degree, right = step.code
            table += [1, int(degree), int(right), *step.places]
        else:
            table += [cases.setdefault(step.code, len(cases) + 2), *step.places]
    text = "".join(_case(number, bodies[code]) for code, number in cases.items())
    head = f"    for (const int *s = T + {length}; s < T + {length + len(table)};)\n        switch (*s) {{\n"
    return f"{head}{_SOLVE}{_BACK}{text}        }}\n", [np.array(table)]


def _solve(step: Step) -> list[int]:
    _, degree, right, news = step.code
    known = 1 + int(right) + int(degree)
    targets = [~place if new else place for place, new in zip(step.places[known:], news, strict=True)]
    return [0, int(degree), int(right), *step.places[:known], *targets]


# s: 0, d, whether there is a right-hand side; then places of the pivot, the right-hand side, d entries; then targets.
_SOLVE = """\
        case 0: {
            const int d = s[1], r = s[2], *e = s + 4 + r, *g = e + d;
            const double i = 1.0 / w[s[3]];
            if (r) {
                const double f = w[s[4]] * i;
                for (int a = 0; a < d; a++, g++)
                    if (*g < 0)
                        w[~*g] = -(w[e[a]] * f);
                    else
                        w[*g] -= w[e[a]] * f;
            }
            for (int a = 0; a < d; a++) {
                const double u = w[e[a]] * i;
                for (int b = 0; b <= a; b++, g++)
                    if (*g < 0)
                        w[~*g] = -(u * w[e[b]]);
                    else
                        w[*g] -= u * w[e[b]];
            }
            w[s[3]] = i;
            s = g;
            break;
        }
"""
# s: 1, d, whether there is a right-hand side; then places of the inverse pivot, the right-hand side, d entries, d
# unknowns that are known by now, and the one that is found.
_BACK = """\
        case 1: {
            const int d = s[1], r = s[2], *e = s + 4 + r, *x = e + d;
            double sum = r ? w[s[4]] : 0.0;
            for (int a = 0; a < d; a++) sum -= w[e[a]] * w[x[a]];
            w[x[d]] = sum * w[s[3]];
            s = x + d + 1;
            break;
        }
"""


def _case(number: int, body: Sequence[Line]) -> str:
    """One kind of step, its places behind its number in the table."""
    lines = []
    most = 0
    for line in body:
        places = [int(place) for place in re.findall(r"@(\d+)", line.text)]
        most = max(most, *places, line.into if isinstance(line.into, int) else 0, 0)
        value = re.sub(r"@(\d+)", lambda match: f"w[s[{int(match.group(1)) + 1}]]", line.text)
        into = f"const double {line.into}" if isinstance(line.into, str) else f"w[s[{line.into + 1}]]"
        lines.append(f"            {into} = {value};\n")
    return f"        case {number}: {{\n{''.join(lines)}            s += {most + 2};\n            break;\n        }}\n"
