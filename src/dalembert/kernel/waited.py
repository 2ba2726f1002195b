"""How long has been waited for what is compiled when it is first needed, in the midst of something else: the libraries
that serve every model, and the programs of large systems.
"""

from __future__ import annotations

import threading
import time as clock


class Waited(threading.local):
    """Of each thread its own: others may compile at the same time."""

    seconds = 0.0


waited = Waited()


def working_time() -> float:
    """Seconds by a clock that stands still meanwhile."""
    return clock.perf_counter() - waited.seconds
