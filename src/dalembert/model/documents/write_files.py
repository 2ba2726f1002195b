"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dalembert.errors import OutputError

# What is being written is called so until it is whole.
UNFINISHED = ".dalembert-"
# Read once, because reading it means setting it, for all threads.
UMASK = os.umask(0o022)
os.umask(UMASK)


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all: to a neighbour first, then renamed into place.

    What is there and no plain file (a pipe, a device) is written to as it is.
    """
    target = Path(os.path.realpath(path))
    temporary = None
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as stream:
                stream.write(content)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=UNFINISHED)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~UMASK)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:  # also where an interrupt ends it
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
