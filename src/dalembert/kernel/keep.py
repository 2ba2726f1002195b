"""The folder of kernels, and files beside them: what was made once for a model, under a name that everything which made
it decides.

The first line is a digest of the rest, so that a damaged file counts as none. Whoever can write into the folder could
put other kernels there as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from platformdirs import user_cache_path

# What decides where the system keeps caches.
FOLDERS = ("LOCALAPPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA") if sys.platform == "win32" else ("HOME", "XDG_CACHE_HOME")
# How files are called before they are whole.
KEPT_PREFIX = ".kept-"


def cache_folder() -> Path:
    """Where kernels are kept: DALEMBERT_CACHE, or the cache folder that the system keeps for a user's programs."""
    asked = os.environ.get("DALEMBERT_CACHE")
    return _folder(asked, *(os.environ.get(name) for name in FOLDERS))


@lru_cache(maxsize=16)
def _folder(asked: str | None, *_: str | None) -> Path:
    """For values of the environment: a motion of many legs asks for it at each of them."""
    return Path(asked) if asked else user_cache_path("dalembert", appauthor=False)


def read_kept(name: str) -> bytes | None:
    """What is kept under a name; None where nothing is, or nothing whole."""
    file = cache_folder() / name
    try:
        digest, _, data = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest().encode() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # the oldest are given up first
    return data


def keep(name: str, data: bytes) -> None:
    """Keep it whole or not at all; where it cannot be written, it is made anew next time."""
    folder = cache_folder()
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=KEPT_PREFIX)
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        os.replace(temporary, folder / name)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
