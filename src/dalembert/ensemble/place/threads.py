"""Members on the threads of this process: the kernel runs outside of Python's lock, so that all cores are at work."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence

from dalembert.ensemble.members.chunk import Chunk, compute
from dalembert.ensemble.members.control import Cancelled, Control
from dalembert.ensemble.members.task import Task
from dalembert.motion.integrate.native import start_thread
from dalembert.one_core import on_one_core

POLL_S = 0.05


def cores() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@on_one_core()
def execute(
    task: Task,
    ranges: Sequence[tuple[int, int]],
    control: Control,
    finish: Callable[[Chunk], None],
    wait: Callable[[], None],
    workers: int | None,
    compute: Callable[[Task, int, int, Control], Chunk] = compute,
) -> None:
    """See `Executor`. Threads take the next range as they come; a chunk is the same whoever computes it."""
    left = iter(ranges)
    taking = threading.Lock()
    done: queue.SimpleQueue[Chunk | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            while not control.cancelled:
                with taking:
                    mine = next(left, None)
                if mine is None:
                    break
                done.put(compute(task, *mine, control))
        except Cancelled:
            pass
        except BaseException as error:  # handed over to who waits
            done.put(error)
        done.put(None)

    count = min(cores() if workers is None else workers, len(ranges))
    threads = [start_thread(work, task.stack) for _ in range(count)]
    try:
        while count:
            try:
                item = done.get(timeout=POLL_S)
            except queue.Empty:
                control.look()
                wait()
                continue
            if item is None:
                count -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                finish(item)
            control.look()
    except BaseException:
        control.cancel()
        for thread in threads:
            thread.join()
        while not done.empty():
            if isinstance(item := done.get(), Chunk):
                finish(item)
        raise


def run_in_thread(task: Task, make: Callable[[], Chunk]) -> Chunk:
    """One chunk, by a thread with the stack that the task needs. An interrupt leaves it to its end, which is near."""
    found: list[Chunk] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            found.append(make())
        except BaseException as error:  # handed over to who waits
            errors.append(error)

    start_thread(work, task.stack).join()
    if errors:
        raise errors[0]
    return found[0]
