"""A model as data: its sizes, and its functions as tapes, for the runtime that serves every model."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dalembert.graph.functions import Graph
from dalembert.kernel.emit.layout import INPUTS, STATE
from dalembert.kernel.ready.runtime import LISTS, MOST, SIZES, TAPES
from dalembert.kernel.ready.tape import ModelParts, Tape, TapeData

if TYPE_CHECKING:
    from dalembert.model.system import System


class _ModelData(ctypes.Structure):
    """da_model of c/model.h."""

    _fields_ = (
        ("size", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
        ("tape", ctypes.c_void_p),
        ("work_at", ctypes.c_void_p),
        ("input", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
    )


@dataclass(frozen=True, eq=False)
class TapeModel:
    """A model as the runtime reads it. `data` points into the other parts, which must live as long as it does."""

    data: _ModelData
    parts: tuple[Any, ...]
    instructions: int


def make_parts(
    library: ctypes.CDLL, system: System, graph: Graph, rows: Sequence[int], stiff: bool, completion: float
) -> ModelParts:
    """Those of a system."""
    from dalembert.kernel.emit.functions import kernel_functions  # not needed for tapes that are on disk
    from dalembert.kernel.emit.source import functions_by_name, model_lists, model_sizes
    from dalembert.kernel.ready.make_tape import make_tape

    rows = [row for row in rows if row not in graph.nonlinear]
    functions = kernel_functions(graph, rows, stiff, completion, share=False)  # tapes find it themselves
    tapes: list[Tape | None] = []
    named = functions_by_name(graph, functions)
    for name in TAPES:
        function = named.get(name)
        inputs = INPUTS.get(name, STATE)
        tapes.append(None if function is None else make_tape(library, function, inputs.index("p")))
    sizes = model_sizes(system, graph, rows, functions, bool(completion))
    sizes["DA_NC"] = sum(tape.data.size for tape in tapes if tape is not None)
    sizes |= {"DA_STIFF": int(stiff), "DA_INSTRUCTIONS": sum(tape.instructions for tape in tapes if tape is not None)}
    lists = [_whole(found or [0]) for name, found in _in_order(model_lists(graph, rows))]
    return ModelParts(_whole([sizes[name] for name in SIZES]), lists, tapes)


def make_model(parts: ModelParts) -> TapeModel:
    """A model as the runtime reads it."""
    size, lists, tapes = parts.size, parts.lists, parts.tapes
    addresses = (ctypes.c_void_p * len(lists))(*(found.ctypes.data for found in lists))
    data = (TapeData * len(tapes))(*(TapeData() if tape is None else tape.data for tape in tapes))
    work_at = _whole([0, *np.cumsum([0 if tape is None else tape.data.size for tape in tapes])])
    inputs_, outputs = (_table(tapes, which) for which in ("input_sizes", "output_sizes"))
    model = _ModelData(
        size.ctypes.data,
        ctypes.addressof(addresses),
        ctypes.addressof(data),
        work_at.ctypes.data,
        inputs_.ctypes.data,
        outputs.ctypes.data,
    )
    instructions = int(size[SIZES.index("DA_INSTRUCTIONS")])
    return TapeModel(model, (size, lists, addresses, data, work_at, inputs_, outputs, tapes), instructions)


def _in_order(lists: dict[str, Sequence[int]]) -> list[tuple[str, Sequence[int]]]:
    return [(name, lists[name]) for name in LISTS]


def _whole(numbers: Sequence[Any]) -> NDArray[np.intc]:
    return np.array(numbers, dtype=np.intc)


def _table(tapes: Sequence[Tape | None], which: str) -> NDArray[np.intc]:
    """The lengths of inputs or outputs, a row for each tape."""
    table = np.zeros((len(tapes), MOST), dtype=np.intc)
    for row, tape in zip(table, tapes, strict=True):
        if tape is not None:
            found = getattr(tape, which)
            row[: len(found)] = found
    return table
