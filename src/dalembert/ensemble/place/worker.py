"""What a worker of a cluster does: it is handed a sweep as bytes and a range of members, and computes these.

A sweep is unpacked once in each process, with all that is made for it: graphs, and kernels, which are compiled once on
each machine and loaded from its cache by the others there.
"""

from __future__ import annotations

import pickle
import sys
import threading
from dataclasses import dataclass

from dalembert import __version__
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.parts import Kept, Parts
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place import threads
from dalembert.errors import ClusterError, DalembertError
from dalembert.kernel.package_digest import LOADED

# Sweeps that a process keeps unpacked. A client has one at a time, and others may use the same workers.
MOST_TASKS = 4
_tasks: dict[str, Task] = {}
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


def run_range(
    first: int, last: int, content: bytes, sweep: str, build: Build, parts: Parts | None
) -> Chunk | Kept | DalembertError:
    """The members from `first` to `last`, the last one not among them. sweep: its name, the same for all its ranges.

    Where this machine sees the folder of the sweep, the chunk is written there, and one that is there already is not
    computed again. An error of this package is returned: it would be the same at every attempt.
    """
    try:
        if own_build() != build:
            raise ClusterError(
                f"a worker has {own_build().text()}, this process has {build.text()}: install the same on both"
            )
        task = _unpack(content, sweep)
        if parts is None or not parts.are_here():
            return _compute(task, first, last)
        if parts.read(first) is None:
            parts.keep(_compute(task, first, last))
        return Kept(first, last - first)
    except DalembertError as error:
        return error


def _unpack(content: bytes, name: str) -> Task:
    with _unpacking:
        if name not in _tasks:
            while len(_tasks) >= MOST_TASKS:
                del _tasks[next(iter(_tasks))]
            task: Task = pickle.loads(content)
            _ = task.blocks, task.lock  # what threads share is there before them
            _tasks[name] = task
        return _tasks[name]


def _compute(task: Task, first: int, last: int) -> Chunk:
    found: list[Chunk] = []
    threads.execute(task, [(first, last)], Control(task.budget), found.append, lambda: None, 1)
    return found[0]
