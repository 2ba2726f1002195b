"""What a worker of a cluster does: it is handed a sweep as bytes and ranges of members, and computes these.

A sweep is unpacked once in each process, with all that is made for it: graphs, and kernels, which are compiled once on
each machine and loaded from its cache by the others there. A worker that sees a GPU has it run the members.
"""

from __future__ import annotations

import pickle
import sys
import threading
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert import __version__
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.parts import Kept, Parts
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place import cuda, threads
from dalembert.ensemble.place.cuda import Gpus
from dalembert.ensemble.place.cuda_plan import plan_of
from dalembert.ensemble.place.executors import ON_CPU, Range
from dalembert.errors import ClusterError, DalembertError
from dalembert.kernel.package_digest import LOADED

# Sweeps that a process keeps unpacked. A client has one at a time, and others may use the same workers.
MOST_SWEEPS = 4
# Threads that prepare members for GPUs: one while the other waits for them.
GPU_THREADS = 2
_sweeps: dict[str, Unpacked] = {}
_unpacking = threading.Lock()


@dataclass(frozen=True)
class Build:
    """What must be the same here and there. kernels: a digest of all that makes them."""

    version: str
    kernels: str
    python: str

    def text(self) -> str:
        return f"dalembert {self.version} (kernels {self.kernels[:8]}) on Python {self.python}"


def own_build() -> Build:
    return Build(__version__, LOADED, "{}.{}".format(*sys.version_info))


def hand_over(content: bytes) -> bytes:
    """The sweep, as a result of its own: workers hand it to each other, and it is made again where one is lost."""
    return content


@dataclass(frozen=True)
class Done:
    """What came of ranges of members, and the seconds that a worker took for them. An error of this package is the
    last: it would be the same at every attempt.
    """

    results: tuple[Chunk | Kept | DalembertError, ...]
    seconds: float


@dataclass(frozen=True)
class Unpacked:
    """A sweep in this process; gpus: of this machine, where they can take its members."""

    task: Task
    gpus: Gpus | None


def run_ranges(ranges: Sequence[Range], content: bytes, sweep: str, build: Build, parts: Parts | None) -> Done:
    """The members of each range, from the first number to the second, which is not among them. sweep: its name, the
    same for all its ranges.

    Where this machine sees the folder of the sweep, chunks are written there as they are finished, and those that are
    there already are not computed again.
    """
    began = clock.perf_counter()
    found: list[Chunk | Kept | DalembertError] = []
    try:
        if own_build() != build:
            raise ClusterError(
                f"a worker has {own_build().text()}, this process has {build.text()}: install the same on both"
            )
        own = _unpack(content, sweep)
        shared = parts if parts is not None and parts.are_here() else None
        left = []
        for first, last in ranges:
            if shared is not None and (kept := shared.read(first)) is not None:
                found.append(Kept(first, last - first, ON_CPU in kept.arrays))
            else:
                left.append((first, last))

        def finish(chunk: Chunk) -> None:
            if shared is None:
                found.append(chunk)
            else:
                shared.keep(chunk)
                found.append(Kept(chunk.first, chunk.count, ON_CPU in chunk.arrays))

        _compute(own, left, finish)
    except DalembertError as error:
        found.append(error)
    return Done(tuple(found), clock.perf_counter() - began)


def _unpack(content: bytes, name: str) -> Unpacked:
    with _unpacking:
        if name not in _sweeps:
            while len(_sweeps) >= MOST_SWEEPS:
                del _sweeps[next(iter(_sweeps))]
            task: Task = pickle.loads(content)
            task.make_shared()
            _sweeps[name] = Unpacked(task, gpus_here(task))
        return _sweeps[name]


def gpus_here(task: Task) -> Gpus | None:
    """The GPUs that this process sees, where they take members of this sweep."""
    try:
        cuda.require()
    except DalembertError:
        return None
    plan = plan_of(task)
    return None if plan.source is None else Gpus(task, plan)


def _compute(own: Unpacked, ranges: Sequence[Range], finish: Callable[[Chunk], None]) -> None:
    """Chunks are finished in this thread while the next ones are computed in another."""
    task = own.task
    if not ranges:
        return
    if own.gpus is None:
        threads.execute(task, ranges, Control(task.budget), finish, lambda: None, 1)
        return
    whole = dict(join_ranges(ranges, cuda.MOST))

    def finish_each(chunk: Chunk) -> None:
        for part in split_chunk(chunk, whole[chunk.first]):
            finish(part)

    spans = [(cut[0][0], cut[-1][1]) for cut in whole.values()]
    threads.execute(task, spans, Control(task.budget), finish_each, lambda: None, GPU_THREADS, own.gpus.compute)


def join_ranges(ranges: Sequence[Range], most: int) -> list[tuple[int, list[Range]]]:
    """Ranges that follow each other put together, up to so many members, by where they begin: a GPU takes many."""
    found: list[tuple[int, list[Range]]] = []
    for first, last in ranges:
        if found and found[-1][1][-1][1] == first and last - found[-1][0] <= most:
            found[-1][1].append((first, last))
        else:
            found.append((first, [(first, last)]))
    return found


def split_chunk(chunk: Chunk, ranges: Sequence[Range]) -> list[Chunk]:
    """A chunk as the chunks of the ranges that it was put together from."""
    found = []
    for first, last in ranges:
        own = slice(first - chunk.first, last - chunk.first)
        arrays = {name: np.ascontiguousarray(values[own]) for name, values in chunk.arrays.items()}
        found.append(Chunk(first, arrays, {k: why for k, why in chunk.reasons.items() if first <= k < last}))
    return found
