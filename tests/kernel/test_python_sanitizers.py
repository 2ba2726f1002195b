"""C that Python calls with arrays of its own, under the address and undefined-behaviour sanitizers: the libraries that
serve every model, steps of large systems with their programs, and members in lanes.

Here the sanitizers live in Python: their runtime is loaded before it, in a process of its own.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dalembert.kernel.build import find_compiler
from kernel.sanitized_python import CASES
from kernel.test_sanitizers import obstacle

SCRIPT = Path(__file__).parent / "sanitized_python.py"
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")


@cache
def runtime() -> str | None:
    """The library that is to be loaded before all others; None where the compiler names none."""
    compiler = find_compiler()
    assert compiler is not None
    asked = [*compiler.command, "-print-file-name=libasan.so"]
    told = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    return told if Path(told).is_absolute() and Path(told).is_file() else None


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    compiler = find_compiler()
    if obstacle() or compiler is None or runtime() is None:
        pytest.skip(str(obstacle() or "the runtime of the sanitizers cannot be loaded into Python here"))
    environment = {
        **os.environ,
        "CC": shlex.join([*compiler.command, *SANITIZED]),
        "LD_PRELOAD": str(runtime()),
        "ASAN_OPTIONS": "detect_leaks=0",
        "DALEMBERT_OPTIMISE": "0",
    }
    environment.pop("DALEMBERT_KERNEL", None)
    line = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(line, capture_output=True, text=True, env=environment, timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_clean(case: str) -> None:
    done = run(case)
    assert done.returncode == 0, done.stderr[:3000]
    assert done.stdout.endswith("done\n")


@pytest.mark.slow
def test_a_fault_is_seen() -> None:
    """The measure itself."""
    done = run("large systems", "broken")
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr, done.stderr[:3000]
