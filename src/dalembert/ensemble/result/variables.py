"""The arrays of all members, filled chunk by chunk, and how large they will be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.ask.memory import free_disk, free_memory, readable, written_in
from dalembert.ensemble.ask.wanted import Wanted
from dalembert.ensemble.members.certify import MEASURES
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place.executors import ON_CPU, has_run
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.model.system import System

# Beside the arrays of an ensemble, those of chunks that wait to be put into them, and a copy while it is written.
TIMES_TWO = 2
# To ask how much memory is free takes as long as some hundred members: not for so few bytes.
NEVER_MUCH = 10_000_000


@dataclass
class Variables:
    """Arrays with all members along the first axis, by name, and reasons by member. They are whole once every chunk has
    been taken, and not before.
    """

    count: int
    arrays: dict[str, Array] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    _without: list[slice] = field(default_factory=list)

    def take(self, chunk: Chunk) -> None:
        part = slice(chunk.first, chunk.first + chunk.count)
        if ON_CPU not in chunk.arrays:
            self._without.append(part)
        for name, values in chunk.arrays.items():
            if name not in self.arrays:
                self.arrays[name] = np.empty((self.count, *values.shape[1:]), values.dtype)
            self.arrays[name][part] = values
        self.reasons.update(chunk.reasons)

    def settle(self) -> None:
        """Where some chunks were computed with a GPU, say of the others that the processor ran them."""
        if ON_CPU in self.arrays:
            for part in self._without:
                own = {name: self.arrays[name][part] for name in ("status", "steps", "alone")}
                self.arrays[ON_CPU][part] = has_run(own)


def names_of_variables(system: System, wanted: Wanted, certify: bool) -> list[str]:
    """What a sweep will have of each member, by the names that `Ensemble` knows it by, before it is run."""
    states = [symbol.name for symbol in (*system.coordinates, *system.velocities)]
    found = [*(reduction.name for reduction in wanted.reductions), *wanted.kept]
    found += [f"samples.{name}" for name in states] if wanted.states else []
    found += ["t", *states, "final.t", *(f"final.{name}" for name in states), "status", "steps", "alone", "in lanes"]
    found += ["ended by"] if system.events else []
    found += [f"{event.name}: {what}" for event in system.events for what in ("count", "time")]
    return found + [f"certificate.{name}" for name in (*MEASURES, "holds") if certify]


def member_bytes(task: Task) -> int:
    """Bytes that each member takes in the result."""
    wanted, points, n = task.wanted, task.settings.times.size, task.n
    numbers = 2 + 2 * n + 2 * len(task.events) + len(wanted.reductions) + 4 * task.certify
    numbers += points * (len(wanted.kept) + 2 * n * wanted.states)
    return 8 * numbers + 4


def require_room(task: Task, out: Path | None, in_parts: bool, resume: bool) -> None:
    """`ModelError` where the members are more than memory, or the disk that they are written to, can hold: before
    anything is computed. in_parts: they stay on disk. resume: what is there already needs no more room.
    """
    count, size = task.values.count, task.values.count * member_bytes(task)
    grid = " × ".join(f"{axis.name} {axis.length}" for axis in task.values.axes)
    what = f"sweep: {count:,} {'member' if count == 1 else 'members'} ({grid}) would take {readable(size)}"
    less = "vary less, keep less (reduce= gives one number for each member), or take fewer output times (points=)"
    times = 1 if in_parts else TIMES_TWO
    if not in_parts and times * size > NEVER_MUCH and times * size > (free := free_memory()):
        where = "of memory, twice that while they are written"
        less = f"{less}, or give a folder (out=), where they stay" if out is None else less
    elif out is not None and times * size > (free := free_disk(out) + (written_in(out) if resume else 0)):
        where = "on disk" if in_parts else "on disk, twice that while they are joined"
    else:
        return
    raise ModelError(task.system.name, [f"{what} {where}, and {readable(free)} are free: {less}"])
