"""Sweeps on Dask whose workers are killed at random moments, for the tests; as a script, many of them in turn.

python tests/ensemble/dask_trials.py 20
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from swept_systems import spring

from dalembert.ensemble.result.ensemble import Ensemble

# Two dozen chunks of some hundredths of a second each.
GIVEN = {"w": np.linspace(1.0, 5.0, 96)}
DURATION = 150.0
CHUNK = 4


def swept(on: Any, **options: Any) -> Ensemble:
    with patch("dalembert.ensemble.members.chunk_size.MOST", CHUNK):
        return spring().sweep(GIVEN, DURATION, on=on, **options)


def chunk_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Of each chunk that is finished: what changes if it is written again."""
    found = {}
    for file in folder.glob("chunk-*.npz"):
        state = file.stat()
        found[file.name] = state.st_ino, state.st_mtime_ns
    return found


def wait_for_chunks(folder: Path, count: int, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while len(chunk_files(folder)) < count:
        assert time.monotonic() < end, "no chunk was finished in time"
        time.sleep(0.005)


def sweep_with_a_kill(client: Any, folder: Path, chunks: int, delay: float, which: int) -> tuple[Ensemble, bool]:
    """A sweep, one of whose workers is killed so many seconds after so many chunks were written; and whether that was
    before its end.
    """
    pids = sorted(client.run(os.getpid).values())
    ended = threading.Event()
    in_time: list[bool] = []

    def kill() -> None:
        wait_for_chunks(folder, chunks)
        time.sleep(delay)
        in_time.append(not ended.is_set())
        os.kill(pids[which % len(pids)], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        found = swept(client, out=folder)
    finally:
        ended.set()
    killer.join()
    return found, in_time == [True]


def main(trials: int) -> None:
    from distributed import Client, LocalCluster

    rng = np.random.default_rng()
    whole = swept("threads")
    good = mid = 0
    for trial in range(trials):
        # Each has a cluster of its own: Dask now and then gives a worker up that was killed soon after its start.
        with (
            LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
            Client(cluster, set_as_default=False) as client,
            tempfile.TemporaryDirectory() as folder,
        ):
            # So few chunks that the last moment of the kill, too, is before the end.
            chunks, delay, which = int(rng.integers(1, 17)), rng.uniform(0, 0.05), int(rng.integers(2))
            found, in_time = sweep_with_a_kill(client, Path(folder) / "s", chunks, delay, which)
            same = whole.data.identical(found.data)
            good, mid = good + same, mid + in_time
            print(f"{trial}: after {chunks} chunks and {delay:.3f} s, in time {in_time}, same bits {same}", flush=True)
    print(f"{good} of {trials} have the same bits; {mid} kills were before the end")


if __name__ == "__main__":
    main(int(sys.argv[1]))
