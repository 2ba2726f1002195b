"""Members on processes of this machine: for models that are run one by one, where Python's lock would keep threads
waiting for each other.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for

from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place import threads

_task: Task | None = None


def execute(
    task: Task,
    ranges: Sequence[tuple[int, int]],
    control: Control,
    finish: Callable[[Chunk], None],
    wait: Callable[[], None],
    workers: int | None,
) -> None:
    """See `Executor`. Processes are begun anew: a copy of this one might hold locks of its other threads."""
    count = min(threads.cores() if workers is None else workers, len(ranges))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(task,)) as pool:
        left: set[Future[Chunk]] = {pool.submit(_one, first, last) for first, last in ranges}
        try:
            while left:
                done, left = wait_for(left, threads.POLL_S, FIRST_COMPLETED)
                for future in done:
                    finish(future.result())
                wait()
        except BaseException:
            control.cancel()
            for future in left:
                future.cancel()
            for process in pool._processes.values():  # those at work would go on to the end of their chunk
                process.terminate()
            raise


def _begin(task: Task) -> None:
    """In each process, once."""
    global _task
    _task = task


def _one(first: int, last: int) -> Chunk:
    assert _task is not None
    found: list[Chunk] = []
    threads.execute(_task, [(first, last)], Control(_task.budget), found.append, lambda: None, 1)
    return found[0]
