"""Files beside the kernels: what was made once for a model, under a name that everything which made it decides.

The first line is a digest of the rest, so that a damaged file counts as none. Whoever can write into the folder could
put other kernels there as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from dalembert.kernel.build import KEPT_PREFIX, cache_folder


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
