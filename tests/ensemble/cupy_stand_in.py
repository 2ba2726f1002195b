"""The stand-in for CuPy that the tests of kernels have, for those of sweeps, which are no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def stand_in() -> Any:
    """The module tests/kernel/fake_cupy.py."""
    path = Path(__file__).parents[1] / "kernel" / "fake_cupy.py"
    spec = importlib.util.spec_from_file_location("stand_in_for_cupy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
