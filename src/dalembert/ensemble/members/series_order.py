"""The order of Taylor series in lanes, for all members of a sweep: that of several with which some of them go furthest
for what their steps take. It depends on the sweep alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.ensemble.start.starts import find_starts
from dalembert.kernel.lanes.kernel import LaneKernel

# The orders that are tried are 1 − share ln rtol: products suit low ones, and smooth motions of few products high ones.
SHARES = (0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5)
# By so many members, for so many steps, in sweeps of which they are a small part.
TRIED, TRIED_STEPS, LEAST_MEMBERS = 8, 512, 2000
# From an order: how far each of them went, and in how many steps.
Tried = Callable[[int], tuple[Array, Array]]


def order_of_series(task: Task, kernel: LaneKernel, to_try: Callable[[Block, Array], Tried]) -> int:
    """Found once for a task; 0 where it is left to the tolerance. to_try: of members with their accelerations."""
    with task.lock:
        if "order of series" not in task.kept:
            task.kept["order of series"] = _best(task, kernel, to_try)
        return int(task.kept["order of series"])


def _best(task: Task, kernel: LaneKernel, to_try: Callable[[Block, Array], Tried]) -> int:
    count, rtol, series = task.values.count, task.settings.rtol, kernel.series
    if count < LEAST_MEMBERS or task.together is None or series is None:
        return 0
    block = task.blocks.of(np.linspace(0, count - 1, TRIED).astype(int))
    starts = find_starts(task.start_look, task.together, block, kernel)
    good = np.flatnonzero(starts.fit_one_kernel)
    if not good.size:
        return 0
    tried, prices = to_try(block.at(good), starts.acceleration[good]), {}
    # Odd ones: sums are taken for two orders at once, an odd one and the next, up to the order before the last.
    for order in dict.fromkeys(series.order(rtol, share) | 1 for share in SHARES):
        way, steps = tried(order)
        prices[order] = series.effort(order) * float(steps.sum()) / max(float(way.sum()), 1e-300)
    return min(prices, key=lambda order: prices[order])
