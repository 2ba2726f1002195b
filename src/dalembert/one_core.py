"""Dense algebra on one core. Its libraries hand parts of a product to threads of their own from some fifty rows on, and
wait for them: where other work keeps the cores busy, that takes ten times as long as doing it at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


@contextmanager
def on_one_core() -> Iterator[None]:
    """Also a decorator. Most libraries have one number of threads for the whole process: of threads that overlap here
    the first one in sets it, and the last one out sets it back.
    """
    shared, own = _libraries("scipy.linalg" in sys.modules)
    with own.limit(limits=1):
        _FOR_ALL.enter(shared)
        try:
            yield
        finally:
            _FOR_ALL.leave()


class _ForAll:
    """What holds for the whole process."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.inside = 0
        self.limits: list[tuple[ThreadpoolController, Any]] = []

    def enter(self, libraries: ThreadpoolController) -> None:
        with self.lock:
            self.inside += 1
            if all(libraries is not known for known, _ in self.limits):
                self.limits.append((libraries, libraries.limit(limits=1)))
                _anyone_may_set()

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            while self.limits and not self.inside:
                self.limits.pop()[1].restore_original_limits()
                _anyone_may_set()


_FOR_ALL = _ForAll()


def _anyone_may_set() -> None:
    """Else nobody but the thread that set a number may set another, and it need not be the one that leaves last."""
    OpenBLASController.clear_controlling_thread()


@lru_cache
def _libraries(with_scipy: bool) -> tuple[ThreadpoolController, ThreadpoolController]:
    """Those that are loaded, with one number for the process, and with one for each thread. NumPy has one, and SciPy
    another, which comes when it is imported.
    """
    found = ThreadpoolController().select(user_api="blas")
    own = found.select(threading_layer="openmp")
    files = {library["filepath"] for library in found.info()} - {library["filepath"] for library in own.info()}
    return found.select(filepath=sorted(files)), own
