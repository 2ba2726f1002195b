"""Expressions taken apart into what changes with time alone and what time and state have a part in together.

Of a(q) h(t) + g(q), h is what time does, wherever the motion may be; at one state it may be hidden, because a is zero
there or next to nothing beside g. Of f(q, t) = sin(q − c t) no part can be told from the other: it is looked at as it
is, at some states.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

# A sum or product is as quick as its parts are: these are looked at, and not the whole.
_SUMS = {ca.OP_ADD, ca.OP_SUB}
_PRODUCTS = {ca.OP_MUL, ca.OP_SQ, ca.OP_IF_ELSE_ZERO}
_SAME = {ca.OP_ASSIGN, ca.OP_NEG, ca.OP_TWICE}


@dataclass(frozen=True)
class _Part:
    """A value on the way. size: of the terms that it is the sum of, which may cancel; rounding is a share of that."""

    value: ca.SX
    timed: bool
    placed: bool  # depends on the state
    size: ca.SX


def time_factors(function: ca.Function, time: int, fixed: int) -> tuple[list[ca.SX], ca.SX, ca.SX, ca.SX]:
    """The symbols that stand for the inputs of a function of scalar expressions; of its outputs, what depends on the
    input `time`, and on `fixed`, which says nothing of the state, alone, with the sizes of the terms in it; and what
    depends on time and on the other inputs at once, in other ways than by sums and products.
    """
    inputs = [ca.SX.sym(f"i{k}", function.numel_in(k)) for k in range(function.n_in())]
    work: dict[int, _Part] = {}
    alone: dict[int, tuple[ca.SX, ca.SX]] = {}
    joined: list[ca.SX] = []

    def take(part: _Part, inverse: bool = False) -> None:
        if part.timed and not part.placed:
            pair = (1.0 / part.value, ca.fabs(1.0 / part.value)) if inverse else (part.value, part.size)
            alone.setdefault(pair[0].element_hash(), pair)

    for k in range(function.n_instructions()):
        operation, of = function.instruction_id(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            take(work[of[0]])
            continue
        into = function.instruction_output(k)[0]
        if operation == ca.OP_CONST:
            value = ca.SX(function.instruction_constant(k))
            work[into] = _Part(value, False, False, ca.fabs(value))
            continue
        if operation == ca.OP_INPUT:
            value = inputs[of[0]][of[1]]
            work[into] = _Part(value, of[0] == time, of[0] not in (time, fixed), ca.fabs(value))
            continue
        parts = [work[place] for place in of]
        made = work[into] = _made_of(operation, parts)
        if not (made.timed and made.placed):
            continue
        divided = operation == ca.OP_DIV
        for number, part in enumerate(parts):
            take(part, inverse=divided and number == 1)
        simple = operation in _SUMS | _PRODUCTS | _SAME or (divided and not (parts[1].timed and parts[1].placed))
        if not simple:
            joined.append(made.value)
    values, sizes = zip(*alone.values(), strict=True) if alone else ((), ())
    return inputs, ca.vertcat(*values), ca.vertcat(*sizes), ca.vertcat(*joined)


def _made_of(operation: int, parts: list[_Part]) -> _Part:
    values = [part.value for part in parts]
    value = ca.SX.unary(operation, values[0]) if len(values) == 1 else ca.SX.binary(operation, *values)
    timed, placed = any(part.timed for part in parts), any(part.placed for part in parts)
    size = ca.fabs(value)
    if operation in _SUMS:
        size = parts[0].size + parts[1].size
    elif operation in _PRODUCTS:
        size = parts[0].size * parts[-1].size
    elif operation == ca.OP_TWICE:
        size = 2.0 * parts[0].size
    elif operation in _SAME:
        size = parts[0].size
    return _Part(value, timed, placed, size)
