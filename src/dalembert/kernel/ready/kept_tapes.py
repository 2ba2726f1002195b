"""Tapes of a model on disk: whole numbers and floats, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.kernel.ready.model import ModelParts
from dalembert.kernel.ready.tape import Tape, tape_of

WHOLE, REAL = np.dtype("<i4"), np.dtype("<f8")


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
