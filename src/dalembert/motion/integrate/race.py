"""Whether Taylor series would do a motion with less work than the method that `auto` has: a short race.

It is run once for a model and a decade of rtol, when runs have taken as long as compiling the series will: over a
stretch that the other method has just been through, series go too, and the work of both is counted, in instructions of
the model times how often each was done. No clock decides, so that the same calls choose the same on a busy machine and
on a quiet one. The winner is kept in memory and beside the kernels on disk (`kernel_choice.keep_winner`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dalembert.errors import DalembertError
from dalembert.kernel.kernel import Kernel
from dalembert.kernel.size import KernelTooLarge, TaylorNotApplicable
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.methods.table import SERIES
from dalembert.motion.integrate.kernel_choice import SERIES_SHARE, Wanted, keep_winner
from dalembert.motion.integrate.native import integrate_native
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

# Series must need less than this share of the other method's work, because the count is not exact.
WINS = 0.75
# Nanoseconds of one processor, of which only the ratios matter: of an instruction of an evaluation, and of each
# integrated quantity there; of an instruction of a return to the constraints; of one of order 0 of a series, and of the
# orders after it; of a product that they sum. Fitted to 33 times of compiled kernels of each kind (the problems in
# benchmarks/ and eight library systems at three tolerances), whose ratios they give to a fifth on the average.
INSTRUCTION, EACH, RETURN, START, ORDER, PRODUCT = 0.18, 3.0, 0.55, 1.0, 0.16, 0.13


def race(
    evaluation: Evaluation,
    settings: Settings,
    state: State,
    start: Fundamental,
    bar: Progress,
    explicit: Trajectory,
) -> float:
    """Decide between the method that `explicit` was made by, which came to its end or was stopped on its way, and
    series. Where these cannot go, or stumble, the other one has won. Returns the seconds that compiling took.
    """
    wanted: Wanted = settings.kept["wanted"]
    end = float(explicit.t[-1]) if explicit.looked is None else explicit.looked[0]
    atol = None if settings.atol is None else SERIES_SHARE * settings.atol
    times = np.array([state.t, end])
    rival = replace(settings, times=times, rtol=SERIES_SHARE * settings.rtol, atol=atol, method=SERIES)
    try:
        series = integrate_native(evaluation, rival, state, start, bar)
        mine, other = wanted.compiled(), rival.kept["wanted"].compiled()
    except (DalembertError, TaylorNotApplicable, KernelTooLarge):
        keep_winner(wanted, settings.rtol, wanted.method)
        return 0.0
    took = effort_of_explicit(mine, explicit, explicit.y.shape[1])
    won = series.failure is None and effort_of_series(other, series, orders_of(rival.rtol)) < WINS * took
    keep_winner(wanted, settings.rtol, SERIES if won else wanted.method)
    return series.compile_s


def orders_of(rtol: float) -> int:
    """As da_taylor_begin in kernel/runtime/steps/taylor.h."""
    return min(28, max(4, math.ceil(1.0 - 0.9 * math.log(rtol))))


def effort_of_explicit(kernel: Kernel, run: Trajectory, width: int) -> float:
    """Evaluations, and a return to the constraints after each step. width: of a state."""
    fast, back, *_ = kernel.effort
    return run.evaluations * (INSTRUCTION * fast + EACH * width) + RETURN * back * run.steps


def effort_of_series(kernel: Kernel, run: Trajectory, orders: int) -> float:
    """Order 0, those after it, the sums of products, which grow as their square, and a return after each step."""
    _, back, first, order, pairs = kernel.effort
    return run.steps * (START * first + ORDER * order * orders + PRODUCT * pairs * orders**2 / 2 + RETURN * back)
