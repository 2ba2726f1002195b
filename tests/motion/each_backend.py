"""Cases on both backends, where the claim is about what both share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dalembert.kernel.build import find_compiler

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


def all_native_one_slow(names: str, cases: Sequence[Any], slow: int = 0) -> pytest.MarkDecorator:
    """Every case on the native backend, and the one at `slow` on the reference, which takes a thousand times as long:
    contacts and heat are decided by the same Python code on both.
    """
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    parameters = [pytest.param("native", *row, marks=needs_compiler) for row in rows]
    return pytest.mark.parametrize(f"backend,{names}", [("reference", *rows[slow]), *parameters])
