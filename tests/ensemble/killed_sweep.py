"""A sweep into a folder, in a process of its own that tests kill, and that has little room for files where they wish.

python tests/ensemble/killed_sweep.py FOLDER ON [MOST BYTES OF A FILE]
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

from dask_trials import swept

from dalembert.errors import OutputError


def main(folder: str, on: str, most: str = "") -> int:
    # What runs in the background, or under nohup, begins with these ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if most:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # what is too long is an error of the one who writes
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
    try:
        swept(on, out=Path(folder), progress=False)
    except OutputError as error:
        print(error)
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
