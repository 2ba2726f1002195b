"""Computations that are given up after a time: what a report would like to show but must not wait for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

Answer = TypeVar("Answer")
# A signal may come where nothing may be raised: it comes again after so many seconds. At 0.2 s, 33 of 40 comparisons
# that take half a second came to their end before one fell right; at this, none.
AGAIN_S = 0.005
# Packages whose code may be left at any line. What Python itself calls between two lines (callbacks of weak references
# and of the garbage collector, destructors) belongs to others: an exception raised there is printed, and lost.
MAY_BE_LEFT = ("dalembert", "sympy", "mpmath", "numpy", "scipy")


class OutOfTime(BaseException):
    """Raised inside of what takes too long. No `Exception`, so that nothing on the way takes it for its own."""


def within(seconds: float, compute: Callable[[], Answer]) -> Answer:
    """What is computed within a time of the processor, or `OutOfTime`. The time is that of this process alone, so that
    a report does not depend on what else the machine does. Where signals are not to be had (in threads other than the
    first, on systems without them) there is no limit.
    """
    if not hasattr(signal, "SIGVTALRM") or threading.current_thread() is not threading.main_thread():
        return compute()
    waiting = [True]

    def stop(_: int, interrupted: FrameType | None) -> None:
        if waiting and _may_be_left(interrupted):
            raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN_S)
            return compute()
        finally:
            waiting.clear()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _may_be_left(interrupted: FrameType | None) -> bool:
    """Whether an exception raised at this line reaches the one who waits."""
    return interrupted is not None and str(interrupted.f_globals.get("__name__")).split(".")[0] in MAY_BE_LEFT
