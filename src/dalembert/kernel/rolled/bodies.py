"""The C of one step: assignments to local names and to places, which are written @0, @1, … in the order of the step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import casadi as ca

from dalembert.graph.structure.derive import Contribution
from dalembert.graph.structure.step_list import Code
from dalembert.kernel.emit.operations import BINARY, UNARY
from dalembert.kernel.emit.straight_line import number

# What definitions give, at a place even where it is a number.
PLACED = ("value", "rate", "moved", "changed")


class Line(NamedTuple):
    """A local name, or the number of a place, and the text of its value."""

    into: str | int
    text: str


def body(code: Code, contribution: Contribution | None) -> list[Line]:
    kind = code[0]
    if contribution is not None:
        return list(_contribution(contribution, code[2]))
    if kind == "replace":
        return list(_replace(*code[1:]))
    if kind == "follow":
        return list(_follow(*code[1:]))
    if kind == "clear":
        return [Line(0, "0.0")]
    if kind == "copy":
        return [Line(1, "@0")]
    if kind == "gauge":
        return [
            Line(2 * code[1] + 1, " - ".join(["@0", *(f"@{k} * @{k} / @{k + code[1]}" for k in range(1, code[1] + 1))]))
        ]
    if kind == "solve":
        return list(_solve(*code[1:]))
    return list(_back(*code[1:]))


def length_of(code: Code, contribution: Contribution | None) -> int:
    """About how many lines `body` gives, without making them."""
    if contribution is not None:
        return int(contribution.function.n_instructions())
    if code[0] == "replace":
        return len(code[2]) + len(code[1][0])
    return (code[1] + 1) * (code[1] + 4) // 2 if code[0] == "solve" else 1


def _contribution(made: Contribution, news: Sequence[bool]) -> Iterator[Line]:
    function = made.function
    starts = [0]
    for k in range(4):
        starts.append(starts[-1] + function.numel_in(k))
    held: dict[int, str] = {}
    values: list[str] = [""] * len(made.into)
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        into, of = function.instruction_output(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            values[into[0]] = held[of[0]]
        elif operation == ca.OP_CONST:
            held[into[0]] = number(function.instruction_constant(k))
        elif operation == ca.OP_INPUT:
            held[into[0]] = f"@{starts[of[0]] + of[1]}"
        else:
            form = BINARY.get(operation) or UNARY[operation]
            yield Line(f"v{k}", form.format(*(held[place] for place in of)))
            held[into[0]] = f"v{k}"
    # Slopes of definitions that are numbers have no places: they stand in the steps that use them.
    values += [number(value) for into, value in made.literal if news or into[0] in PLACED]
    for k, value in enumerate(values):
        place = starts[4] + k
        yield Line(place, value if not news or news[k] else f"@{place} + {value}")


def _factors(literal: Sequence[float | None], start: int) -> tuple[list[str], int]:
    """Slopes as text: numbers, or places from `start` on; and the next place."""
    slopes = []
    for value in literal:
        if value is None:
            slopes.append(f"@{start}")
            start += 1
        else:
            slopes.append(number(value))
    return slopes, start


def _times(a: str, b: str) -> str:
    if a == "1.0":
        return b
    if b == "1.0":
        return a
    return f"{a} * {b}"


def _replace(shape: tuple[Any, ...], pairs: Sequence[tuple[Any, ...]], news: Sequence[bool]) -> Iterator[Line]:
    literal, gamma, has_own, has_right, degree = shape
    J, k = _factors(literal, 0)
    bias = None
    if gamma == "place":
        bias, k = f"@{k}", k + 1
    elif gamma is not None:
        bias = number(gamma)
    own = right = None
    if has_own:
        own, k = f"@{k}", k + 1
    if has_right:
        right, k = f"@{k}", k + 1
    entry = [f"@{k + b}" for b in range(degree)]
    k += degree
    pulled = right
    if own is not None and bias is not None:
        yield Line("h", f"{right or '0.0'} - {_times(own, bias)}")
        pulled = "h"
    if own is not None:
        for a, slope in enumerate(J):
            yield Line(f"t{a}", _times(slope, own))
    for new, what in zip(news, pairs, strict=True):
        if what[0] == "right by slope":
            terms = [_times(J[what[1]], str(pulled))]
        elif what[0] == "right by entry":
            terms = [f"-({_times(entry[what[1]], str(bias))})"]
        else:
            terms = []
            for how, a, b in what[1]:
                if how == "own":
                    terms.append(_times(f"t{a}", J[b]))
                else:
                    terms.append(("2.0 * " if how == "twice" else "") + _times(J[a], entry[b]))
        yield Line(k, " + ".join(terms if new else [f"@{k}", *terms]))
        k += 1


def _follow(literal: Sequence[float | None], gamma: Any) -> Iterator[Line]:
    J, k = _factors(literal, 0)
    terms = []
    if gamma == "place":
        terms, k = [f"@{k}"], k + 1
    elif gamma is not None:
        terms = [number(gamma)]
    terms += [_times(slope, f"@{k + a}") for a, slope in enumerate(J)]
    yield Line(k + len(J), " + ".join(terms) or "0.0")


def _solve(degree: int, has_right: bool, news: Sequence[bool]) -> Iterator[Line]:
    k = 1 + has_right
    entry = [f"@{k + a}" for a in range(degree)]
    k += degree
    flags = iter(news)
    yield Line("i", "1.0 / @0")
    if has_right:
        yield Line("s", "@1 * i")
        for a in range(degree):
            yield Line(k, f"-({entry[a]} * s)" if next(flags) else f"@{k} - {entry[a]} * s")
            k += 1
    for a in range(degree):
        yield Line(f"u{a}", f"{entry[a]} * i")
        for b in range(a + 1):
            yield Line(k, f"-(u{a} * {entry[b]})" if next(flags) else f"@{k} - u{a} * {entry[b]}")
            k += 1
    yield Line(0, "i")


def _back(degree: int, has_right: bool) -> Iterator[Line]:
    k = 1 + has_right
    terms = ["@1"] if has_right else ["0.0"]
    terms += [f"@{k + a} * @{k + degree + a}" for a in range(degree)]
    yield Line(k + 2 * degree, f"({' - '.join(terms)}) * @0")
