"""NVRTC through ctypes: compiles CUDA without a GPU, where the library is installed (nvidia-cuda-nvrtc)."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def find_nvrtc() -> ctypes.CDLL | None:
    """The library: NVRTC's own variable, the packages of this Python, the system."""
    given = os.environ.get("DALEMBERT_NVRTC")
    places = [Path(folder) for folder in sys.path if folder.endswith("site-packages")]
    found = [str(file) for place in places for file in sorted(place.glob("nvidia/*/lib/libnvrtc.so.*"))]
    named = ctypes.util.find_library("nvrtc")
    for name in [*([given] if given else []), *found, *([named] if named else [])]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def compile_with_nvrtc(library: ctypes.CDLL, source: str, options: list[str]) -> str:
    """The log of a compilation; raises with it where it fails."""
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"members.cu", 0, None, None)
    assert made == 0, "NVRTC made no program"
    words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    failed = library.nvrtcCompileProgram(program, len(options), words)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(max(size.value, 1))
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    text = log.value.decode()
    if failed:
        raise RuntimeError(text)
    return text
