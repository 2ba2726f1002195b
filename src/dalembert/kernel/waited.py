"""How long has been waited for what is compiled when it is first needed, in the midst of something else: the libraries
that serve every model, and the programs of large systems.

`perf_counter() - waited.seconds` is a clock that stands still meanwhile.
"""

from __future__ import annotations

import threading


class Waited(threading.local):
    """Of each thread its own: others may compile at the same time."""

    seconds = 0.0


waited = Waited()
