"""Python's garbage collector, which need not look while many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def without_collecting(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The function, during which no garbage in circles is looked for: among millions of objects that takes a third of
    the time and finds nothing.
    """

    @wraps(function)
    def call(*args: Given.args, **options: Given.kwargs) -> Answer:
        if not gc.isenabled():
            return function(*args, **options)
        gc.disable()
        try:
            return function(*args, **options)
        finally:
            gc.enable()

    return call
