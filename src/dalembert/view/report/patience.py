"""Computations that are given up after a time: what a report would like to show but must not wait for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
# A signal may come where exceptions are ignored, as in a destructor: it comes again after so many seconds.
AGAIN_S = 0.2


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

    def stop(*_: object) -> None:
        if waiting:
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
