"""Dense algebra on one core. Its libraries hand parts of a product to threads of their own from some fifty rows on, and
wait for them: where other work keeps the cores busy, that takes ten times as long as doing it at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@contextmanager
def on_one_core() -> Iterator[None]:
    """Also a decorator. It holds for the whole process; of threads that overlap the first one decides."""
    with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@lru_cache
def _libraries(with_scipy: bool) -> ThreadpoolController:
    """Those that are loaded: NumPy has one, and SciPy another, which comes when it is imported."""
    return ThreadpoolController()
