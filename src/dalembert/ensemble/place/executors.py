"""Where the members of a sweep are computed, by the name that `on=` gives.

An executor takes a task and ranges of members, and hands over a chunk of arrays for each range, in any order. What it
does in between is its own: a range goes in, arrays come out, and they do not depend on who computed them. One that
integrates elsewhere does so in place of `compute`, and leaves to `compute_block` the members that it cannot take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.outcome import Status
from dalembert.ensemble.members.task import Task
from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest

Range = tuple[int, int]
# The array that says which members the processor ran where a GPU was asked for.
ON_CPU = "on cpu"
# What follows where the machines or processes that compute were lost.
RESUME = "what is finished is in the folder of the sweep, if it has one (out=): the same call with resume=True goes on"


def has_run(arrays: Mapping[str, Array]) -> np.ndarray:
    """Of members that were computed by the processor: all but those whose start was not good enough to begin."""
    alone = np.asarray(arrays["alone"], dtype=bool)
    return np.asarray((arrays["steps"] > 0) | alone | (arrays["status"] <= Status.ENDED))


class Executor(Protocol):
    """finish: called with each chunk, in the thread of the caller. wait: called now and then in between.

    An interrupt ends the runs at hand and is raised again; chunks that were complete by then have been handed over.
    """

    def __call__(
        self,
        task: Task,
        ranges: Sequence[Range],
        control: Control,
        finish: Callable[[Chunk], None],
        wait: Callable[[], None],
        workers: int | None,
    ) -> None: ...


# By name: the module that has it, as `execute`. It is loaded when it is asked for. It may have `require`, which says
# what is missing here, before anything is computed; an executor may have a `chunk_size` of its own.
EXECUTORS: dict[str, str] = {
    "threads": "dalembert.ensemble.place.threads",
    "processes": "dalembert.ensemble.place.processes",
    "cuda": "dalembert.ensemble.place.cuda",
    "dask": "dalembert.ensemble.place.cluster",
}


def place_of(on: Any) -> str:
    """The name of a place: what is no text is taken for a client of Dask, and an address may follow that name."""
    return "dask" if not isinstance(on, str) or on.startswith("dask:") else on


def executor(where: str, on: Any) -> Executor:
    """The executor of a name or a client; where: the name of the system, for the message."""
    name = place_of(on)
    if name not in EXECUTORS:
        raise ModelError(where, [f"sweep: there is no on={on!r}.{suggest(str(on), EXECUTORS)}"])
    module = import_module(EXECUTORS[name])
    if hasattr(module, "require"):
        module.require()
    found: Executor = module.executor(where, on) if name == "dask" else module.execute
    return found
