"""Sources of every kind are plain C11 without a warning, and stay valid CUDA: C++17 with a few words more."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dalembert.kernel.build import find_compiler
from kernel.kernel_cases import EVERY_KIND, calls

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")

COMPILERS = {"gcc": ("gcc",), "clang": ("clang",), "zig": (sys.executable, "-m", "ziglang", "cc")}
# What depends on the flow of values is left to the sanitizers: optimising, gcc takes a loop over a rank for one beyond
# the single row there is.
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0")
C11 = ("-std=c11",)
# As nvcc would see the source. {0} is the way to say "all zero" that C and C++ share.
CUDA = ("-std=c++17", "-Wno-missing-field-initializers", "-include", "words.h")
WORDS = """\
#include <math.h>
#define __CUDACC__
#define __device__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
"""


@cache
def is_there(compiler: str) -> bool:
    command = COMPILERS[compiler]
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "--version"], capture_output=True).returncode == 0


FOUND = [
    pytest.param(name, marks=pytest.mark.skipif(not is_there(name), reason=f"no {name} on this machine"))
    for name in COMPILERS
]


def messages(text: str, compiler: str, options: tuple[str, ...], folder: Path, suffix: str) -> str:
    """What a compiler has to say about a source."""
    (folder / "words.h").write_text(WORDS, encoding="utf-8")
    file = folder / f"kernel{suffix}"
    file.write_text(text, encoding="utf-8")
    command = [*COMPILERS[compiler], *STRICT, *options, "-fsyntax-only", file.name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0 or done.stderr, "it failed without a word"
    return done.stderr


def source(name: str) -> str:
    return calls(name)[-1].source


@pytest.mark.parametrize("compiler", FOUND)
@pytest.mark.parametrize("name", EVERY_KIND)
def test_no_warning_as_c(name: str, compiler: str, tmp_path: Path) -> None:
    assert messages(source(name), compiler, C11, tmp_path, ".c") == ""


@pytest.mark.parametrize("compiler", FOUND)
@pytest.mark.parametrize("name", EVERY_KIND)
def test_no_warning_as_cuda(name: str, compiler: str, tmp_path: Path) -> None:
    assert messages(source(name), compiler, CUDA, tmp_path, ".cpp") == ""


def test_a_warning_is_seen(tmp_path: Path) -> None:
    """The measure itself: a state of another width, once the fault of the test for stiffness."""
    compiler = next(name for name in COMPILERS if is_there(name))
    right = (
        "double k[DA_SLOPES][DA_NW],\n                              const double *ynew, const double *fnew, double rtol"
    )
    text = source("pendulum").replace(right, right.replace("DA_NW", "DA_NY"))
    assert text != source("pendulum")
    for options, suffix in ((C11, ".c"), (CUDA, ".cpp")):
        assert "da_watch_stiffness" in messages(text, compiler, options, tmp_path, suffix)
