"""The library that serves every model: from the package where it came compiled, else compiled here and kept on disk.

Nothing in it belongs to one model, so that a motion need not wait for a compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from functools import lru_cache
from pathlib import Path

from dalembert.errors import BuildError
from dalembert.kernel.build import build, find_compiler

SOURCES = Path(__file__).parent / "c"
# In the order of the source. Each file is C with sizes as arguments.
FILES: tuple[str, ...] = (
    "library.h",
    "many.h",
    "dense.h",
    "solve_points.h",
    "check_points.h",
    "sparse.h",
    "again.h",
    "quadrature.h",
    "start.h",
)
PREBUILT = Path(__file__).parent / ("ready.dll" if sys.platform == "win32" else "ready.so")


def source() -> str:
    """All of it as one C source, which names itself by a digest: a library of another version is not taken for it."""
    text = "\n".join((SOURCES / name).read_text(encoding="utf-8") for name in FILES)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f'#define DA_READY_DIGEST "{digest}"\n{text}'


@lru_cache(maxsize=1)
def ready_library() -> ctypes.CDLL | None:
    """The library; None where it did not come with the package and no compiler is there to make it."""
    text = source()
    if PREBUILT.is_file() and (library := _prebuilt(text)) is not None:
        return library
    compiler = find_compiler()
    if compiler is None:
        return None
    try:
        return build(text, compiler, level=2)[0]
    except BuildError:
        return None


def _prebuilt(text: str) -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(str(PREBUILT))
    except OSError:
        return None  # made for another machine
    library.da_ready_digest.restype = ctypes.c_char_p
    digest = library.da_ready_digest().decode()
    return library if f'"{digest}"' in text.partition("\n")[0] else None
