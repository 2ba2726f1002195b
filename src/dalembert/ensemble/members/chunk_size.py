"""How many members make a chunk: enough that what Python does for a chunk is little for each member, few enough that
threads finish together and an interrupt loses little. It depends on the sweep alone, never on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.ensemble.members.chunk import Chunk, compute_some
from dalembert.ensemble.members.control import Budget, Control
from dalembert.ensemble.members.task import Task

# Steps of all members of a chunk: some tenths of a second. Those that are tried before take no more than that.
STEPS = 100_000
# In lanes it may be as many times more.
MORE_IN_LANES = 4
# At most so many members; of those that are run one by one, which take some ten milliseconds each, so many.
MOST, MOST_ALONE = 4096, 8
# At least so many chunks, where there are as many members; and a multiple of that, so that two, four or eight threads
# have equally many.
LEAST_CHUNKS = 8
# Numbers that the states of one chunk may take: 64 megabytes.
ROOM = 8_000_000


def chunk_size(task: Task, run: Callable[[Callable[[], Chunk]], Chunk]) -> int:
    """Members of one chunk. run: calls a function in a thread whose stack integrates."""
    count, points = task.values.count, task.settings.times.size if task.along else 2
    shared = -(-count // LEAST_CHUNKS)
    if task.together is None or shared == 1:
        return max(1, min(MOST_ALONE, shared))
    most = min(MOST, shared, max(1, ROOM // (points * (2 * task.n + 3))))
    granted = min(filter(None, (task.budget.steps, STEPS)))
    seconds = task.budget.seconds
    some = np.array(sorted({0, count // 2, count - 1}))

    def tried() -> Chunk:
        return compute_some(task, some, Control(Budget(granted, seconds)))

    found = run(tried).arrays
    room = STEPS * (MORE_IN_LANES if found["in lanes"].all() else 1) // max(int(np.max(found["steps"])), 1)
    rounds = -(-count // (LEAST_CHUNKS * max(1, min(most, room))))
    return -(-count // (LEAST_CHUNKS * rounds))
