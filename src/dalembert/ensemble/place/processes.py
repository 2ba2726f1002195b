"""Members on processes of this machine: for models that are run one by one, where Python's lock would keep threads
waiting for each other.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool

from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place import threads
from dalembert.ensemble.place.executors import RESUME, Range
from dalembert.errors import ClusterError

# Of processes that are ended from outside, by who stops them or where memory is short.
ATTEMPTS = 4
_task: Task | None = None


def execute(
    task: Task,
    ranges: Sequence[Range],
    control: Control,
    finish: Callable[[Chunk], None],
    wait: Callable[[], None],
    workers: int | None,
) -> None:
    """See `Executor`. What processes were at that were ended from outside is computed again by others."""
    left = {first: (first, last) for first, last in ranges}

    def take(chunk: Chunk) -> None:
        finish(chunk)
        del left[chunk.first]

    for _ in range(ATTEMPTS):
        try:
            return _in_processes(task, list(left.values()), control, take, wait, workers)
        except BrokenProcessPool:
            continue
    raise ClusterError(
        f"sweep: its processes were ended {ATTEMPTS} times, near member {min(left)}: out of memory, from outside, or "
        f"because a script calls sweep other than below if __name__ == '__main__':; {RESUME}"
    )


def _in_processes(
    task: Task,
    ranges: Sequence[Range],
    control: Control,
    finish: Callable[[Chunk], None],
    wait: Callable[[], None],
    workers: int | None,
) -> None:
    """Processes are begun anew: a copy of this one might hold locks of its other threads."""
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
        except BaseException as error:
            if not isinstance(error, BrokenProcessPool):
                control.cancel()
            # Those at work would go on to the end of their chunk. The pool then gives up by itself what is left: with
            # futures that were cancelled, its thread would end in a traceback.
            for process in (pool._processes or {}).values():
                process.terminate()
            raise


def _begin(task: Task) -> None:
    """In each process, once."""
    global _task
    _task = task
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for more work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _one(first: int, last: int) -> Chunk:
    assert _task is not None
    found: list[Chunk] = []
    threads.execute(_task, [(first, last)], Control(_task.budget), found.append, lambda: None, 1)
    return found[0]
