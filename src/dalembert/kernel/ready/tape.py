"""Functions as data that C evaluates, see c/tape.h, and those of a model on disk. No compiler runs for them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intc]
# On disk: whole numbers and floats, one after the other.
WHOLE, REAL = np.dtype("<i4"), np.dtype("<f8")


class TapeData(ctypes.Structure):
    """da_tape of c/tape.h."""

    _fields_ = (
        ("fixed", ctypes.c_void_p),
        ("live", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("constant_count", ctypes.c_int),
        ("parameter_count", ctypes.c_int),
        ("inputs_at", ctypes.c_int),
        ("outputs_at", ctypes.c_int),
        ("output_count", ctypes.c_int),
        ("size", ctypes.c_int),
    )


@dataclass(frozen=True, eq=False)
class Tape:
    """A function as data. `data` points into the arrays, which must live as long as it does."""

    data: TapeData
    code: Codes
    constants: Array
    input_sizes: tuple[int, ...]  # parameters count as none
    output_sizes: tuple[int, ...]
    instructions: int  # operations of the function that differ

    def __call__(self, library: ctypes.CDLL, parameters: Array, *inputs: Array) -> list[Array]:
        """The outputs (points, size) at many points; inputs (points, size), without the parameters."""
        rows = np.ascontiguousarray(np.concatenate(inputs, axis=1), dtype=float)
        p = np.ascontiguousarray(parameters, dtype=float)
        out, work = np.empty((rows.shape[0], sum(self.output_sizes))), np.empty(self.data.size)
        evaluate = library.da_tape_points
        pointer, whole = ctypes.c_void_p, ctypes.c_long
        evaluate.argtypes, evaluate.restype = [pointer, pointer, pointer, whole, whole, pointer, pointer], None
        address = ctypes.addressof(self.data)
        evaluate(address, p.ctypes.data, rows.ctypes.data, *rows.shape[::-1], work.ctypes.data, out.ctypes.data)
        return np.split(out, np.cumsum(self.output_sizes)[:-1], axis=1)


def tape_of(
    code: Codes,
    constants: Array,
    fixed_length: int,
    places: tuple[int, int, int, int],
    input_sizes: tuple[int, ...],
    output_sizes: tuple[int, ...],
    instructions: int,
) -> Tape:
    """A tape from its parts. fixed_length: so many codes are for what depends on parameters alone. places: how many
    parameters there are, where inputs and outputs begin among the numbers, and how many numbers there are.
    """
    parameters, inputs_at, outputs_at, size = places
    start = code.ctypes.data
    data = TapeData(
        start,
        start + code.itemsize * fixed_length,
        constants.ctypes.data,
        constants.size,
        parameters,
        inputs_at,
        outputs_at,
        sum(output_sizes),
        size,
    )
    return Tape(data, code, constants, input_sizes, output_sizes, instructions)


@dataclass(frozen=True, eq=False)
class ModelParts:
    """Sizes, lists of rows and tapes of a system, in the order in which c/model.h has them."""

    size: NDArray[np.intc]
    lists: Sequence[NDArray[np.intc]]
    tapes: Sequence[Tape | None]


def parts_to_bytes(parts: ModelParts) -> bytes:
    """Each list behind its length; of a tape that is not there, the length −1."""
    numbers: list[np.ndarray] = []
    constants: list[np.ndarray] = []

    def put(values: Sequence[int] | np.ndarray) -> None:
        numbers.append(np.array([len(values), *values], dtype=WHOLE))

    put(parts.size)
    put([len(parts.lists), len(parts.tapes)])
    for rows in parts.lists:
        put(rows)
    for tape in parts.tapes:
        if tape is None:
            numbers.append(np.array([-1], dtype=WHOLE))
            continue
        data = tape.data
        fixed = (data.live - data.fixed) // tape.code.itemsize
        put([fixed, data.parameter_count, data.inputs_at, data.outputs_at, data.size, tape.instructions])
        put(tape.input_sizes)
        put(tape.output_sizes)
        put([tape.constants.size])
        put(tape.code)
        constants.append(tape.constants)
    whole = np.concatenate(numbers)
    return np.array([whole.size], dtype=WHOLE).tobytes() + whole.tobytes() + b"".join(c.tobytes() for c in constants)


def parts_from_bytes(data: bytes) -> ModelParts:
    """What `parts_to_bytes` wrote."""
    count = int(np.frombuffer(data, WHOLE, 1)[0])
    whole = np.frombuffer(data, WHOLE, count, WHOLE.itemsize)
    reals = np.frombuffer(data[WHOLE.itemsize * (1 + count) :], REAL)
    at = used = 0

    def take() -> np.ndarray | None:
        nonlocal at
        length = int(whole[at])
        start, at = at + 1, at + 1 + max(length, 0)
        return None if length < 0 else whole[start:at].astype(np.intc)

    def taken() -> np.ndarray:
        found = take()
        assert found is not None
        return found

    size, (lists, tapes) = taken(), taken().tolist()
    rows = [taken() for _ in range(lists)]
    made: list[Tape | None] = []
    for _ in range(tapes):
        head = take()
        if head is None:
            made.append(None)
            continue
        fixed, *places, instructions = head.tolist()
        inputs, outputs = (tuple(taken().tolist()) for _ in range(2))
        literals = int(taken()[0])
        constants = reals[used : used + literals].astype(float)
        used += literals
        made.append(tape_of(taken(), constants, fixed, tuple(places), inputs, outputs, instructions))
    return ModelParts(size, rows, made)
