"""A CasADi function as a tape: its instructions, in the order in which C evaluates them (c/tape_make.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from dalembert.kernel.emit.operations import no_form, require_casadi_codes
from dalembert.kernel.ready.tape import Codes, Tape, tape_of

# CasADi's codes, in the order of da_function in c/tape_make.h.
KINDS = (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ASSIGN, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_SIN, ca.OP_COS)
# In a serialised function each number of four bytes has eight letters. So many instructions at both ends of the list
# are compared with those that CasADi gives one by one.
LETTERS, COMPARED = 32, 4


class _FunctionData(ctypes.Structure):
    """da_function of c/tape_make.h."""

    _fields_ = (
        ("raw", ctypes.c_void_p),
        ("count", ctypes.c_long),
        ("input_at", ctypes.c_void_p),
        ("output_at", ctypes.c_void_p),
        ("place", ctypes.c_void_p),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("parameters", ctypes.c_int),
        ("kinds", ctypes.c_int * len(KINDS)),
    )


def make_tape(library: ctypes.CDLL, function: ca.Function, parameters: int | None = None) -> Tape:
    """The tape of a function with dense inputs. parameters: which of them are parameters, so that what depends on them
    alone is computed once per run. Outputs are dense, by columns. Raises `BuildError` for an operation without a form.
    """
    require_casadi_codes()
    raw = np.ascontiguousarray(instructions(function))
    count = raw.shape[0]
    sizes = [function.numel_in(k) for k in range(function.n_in())]
    moving = tuple(0 if k == parameters else size for k, size in enumerate(sizes))
    input_at = _starts(moving)
    if parameters is not None:
        input_at[parameters] = -1
    outputs = tuple(function.numel_out(k) for k in range(function.n_out()))
    ends = _starts(outputs)
    places = [np.array(function.sparsity_out(k).find(), dtype=np.intc) + ends[k] for k in range(len(outputs))]
    place = np.concatenate([*places, np.zeros(1, dtype=np.intc)])
    output_at = _starts([len(part) for part in places])
    fixed = 0 if parameters is None else sizes[parameters]
    given = _FunctionData(
        raw.ctypes.data,
        count,
        input_at.ctypes.data,
        output_at.ctypes.data,
        place.ctypes.data,
        sum(moving),
        sum(outputs),
        fixed,
        (ctypes.c_int * len(KINDS))(*KINDS),
    )
    library.da_tape_room.restype = ctypes.c_long
    code = np.empty(library.da_tape_room(ctypes.c_long(count)), dtype=np.intc)
    constants, found = np.empty(count + 1), np.zeros(7, dtype=np.dtype("long"))
    make: Any = library.da_tape_make
    make.argtypes = [ctypes.c_void_p] * 4
    status = make(ctypes.addressof(given), code.ctypes.data, constants.ctypes.data, found.ctypes.data)
    if status == -1:
        raise MemoryError("a tape could not be made")
    if status:
        raise no_form(-2 - status)
    literals, inputs_at, outputs_at, size, fixed_length, live_length, distinct = (int(x) for x in found)
    code, constants = code[: fixed_length + live_length].copy(), constants[:literals].copy()
    return tape_of(code, constants, fixed_length, (fixed, inputs_at, outputs_at, size), moving, outputs, distinct)


def _starts(sizes: Sequence[int]) -> Codes:
    """Where each begins, behind each other."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intc)[: max(len(sizes), 1)]


def instructions(function: ca.Function) -> Codes:
    """All instructions (count, 4): operation, place of the result, places of the operands, as CasADi numbers them.

    Of a constant, the last two are the bits of the number; of an input, which one and which entry; of an output, the
    second says which one, the last which entry. One by one they take longer than many a motion, so they are read from
    the serialised function, where they stand behind each other, if they are found there.
    """
    count = function.n_instructions()
    found = _from_text(function, count) if count >= 2 * COMPARED else None
    return _one_by_one(function, range(count)) if found is None else found


def _one_by_one(function: ca.Function, which: range) -> Codes:
    rows = np.zeros((len(which), 4), dtype=np.intc)
    for row, k in zip(rows, which, strict=True):
        operation, into, of = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        row[:2] = operation, into[0]
        if operation == ca.OP_CONST:
            row[2:] = np.array([function.instruction_constant(k)]).view(np.intc)
        else:
            row[2:] = of[0], into[1] if operation == ca.OP_OUTPUT else of[-1]
    return rows


def _from_text(function: ca.Function, count: int) -> Codes | None:
    """The list as CasADi writes it: of each byte two letters from a to p, the low half first. None where it is not
    found by its first and last instructions.
    """
    text = function.serialize().encode()
    head = _letters(_one_by_one(function, range(COMPARED)))
    tail = _letters(_one_by_one(function, range(count - COMPARED, count)))
    at = text.find(head)
    while at >= 0:
        end = at + LETTERS * count
        if text[end - len(tail) : end] == tail:
            halves = np.frombuffer(text, dtype=np.uint8, count=LETTERS * count, offset=at) - ord("a")
            return (halves[0::2] | halves[1::2] << 4).view(np.intc).reshape(count, 4)
        at = text.find(head, at + 1)
    return None


def _letters(rows: Codes) -> bytes:
    each = np.frombuffer(rows.tobytes(), dtype=np.uint8)
    return (np.stack([each & 15, each >> 4], axis=1) + ord("a")).astype(np.uint8).tobytes()
