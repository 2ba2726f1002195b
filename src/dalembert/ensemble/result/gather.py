"""What comes in of a sweep: into memory, or where that would be too much, into the folder only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dalembert.ensemble.ask.memory import free_memory
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.parts import Kept
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place.executors import ON_CPU
from dalembert.ensemble.result.in_parts import REASON, columns_in_parts
from dalembert.ensemble.result.store import Store
from dalembert.ensemble.result.variables import TIMES_TWO, Variables, member_bytes
from dalembert.errors import OutputError

if TYPE_CHECKING:
    from xarray import Variable

# Results of more bytes than these, or that would take half the memory while they are joined, stay in their parts.
LARGE = 2_000_000_000


def stays_in_parts(task: Task, folder: Path | None) -> bool:
    """Whether the results of a sweep with a folder are left in it as they come, and not joined in memory."""
    size = task.values.count * member_bytes(task)
    return folder is not None and (size > LARGE or 2 * TIMES_TWO * size > free_memory())


class Gather:
    """Takes chunks, and notes of chunks that workers have written to the folder themselves. show: called with the
    number of members that are finished.
    """

    def __init__(self, count: int, store: Store | None, in_parts: bool) -> None:
        self.store, self.in_parts, self.count, self.finished = store, in_parts, count, 0
        self.variables = Variables(count)
        self.more: set[str] = set()  # variables that only some chunks have
        self.some_in_lanes = False  # of the chunks that came here
        self.found: set[int] = set()  # where finished chunks begin
        self.show: Callable[[int], None] = lambda finished: None
        self._away: list[int] = []  # where chunks begin that are in the folder and not here

    def resume(self) -> None:
        """Take what is in the folder."""
        assert self.store is not None
        for chunk in self.store.kept():
            self._take(chunk)

    def finish(self, chunk: Chunk) -> None:
        if self.store is not None:
            self.store.keep(chunk)
        self._take(chunk)
        self.show(self.finished)

    def note(self, kept: Kept) -> None:
        self._away.append(kept.first)
        self._count(kept.first, kept.count, kept.by_gpu)
        self.show(self.finished)

    def complete(self) -> None:
        """Fetch what others wrote, where it is wanted here; `OutputError` where something is missing."""
        if self.store is not None and not self.in_parts:
            there = 0
            for chunk in self.store.kept(self._away):
                self.variables.take(chunk)
                there += 1
            missing = there < len(self._away)
        else:
            missing = self.store is not None and not all(self.store.parts.file(first).is_file() for first in self.found)
        if missing or self.finished < self.count:
            where = "" if self.store is None else f"{self.store.folder}: "
            raise OutputError(f"{where}chunks that workers wrote are not here, or not yet: resume the sweep")

    def columns(self, dims: tuple[str, ...], grid: tuple[int, ...]) -> dict[str, Variable]:
        """The variables of the ensemble by name, in memory or in the folder."""
        if self.in_parts:
            assert self.store is not None
            return columns_in_parts(self.store.parts, dims, grid, self.more)
        from xarray import Variable

        self.variables.settle()
        found = {}
        for name, array in self.variables.arrays.items():
            own = (*dims, "time") if array.ndim > 1 else dims
            found[name] = Variable(own, array.reshape((*grid, *array.shape[1:])), fastpath=True)
        reasons = np.full(self.count, "", dtype=object)
        for k, reason in self.variables.reasons.items():
            reasons[k] = reason
        # As they are: xarray would look at each, whether it is a date.
        return {**found, REASON: Variable(dims, reasons.reshape(grid), fastpath=True)}

    def _take(self, chunk: Chunk) -> None:
        if not self.in_parts:
            self.variables.take(chunk)
        self.some_in_lanes = self.some_in_lanes or bool(chunk.arrays["in lanes"].any())
        self._count(chunk.first, chunk.count, ON_CPU in chunk.arrays)

    def _count(self, first: int, count: int, by_gpu: bool) -> None:
        self.found.add(first)
        self.finished += count
        if by_gpu:
            self.more.add(ON_CPU)
