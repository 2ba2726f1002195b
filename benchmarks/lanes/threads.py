"""What a second thread gives: whole sweeps of rolling pennies by one thread and by two, by turns, as the clock goes.

    python benchmarks/lanes/threads.py [TURNS]

For a machine whose cores are free: the load is told beside the ratios. Each is of the least times of all turns.
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import dalembert as da
from dalembert.ensemble.result.ensemble import Ensemble

DURATION, MANY, FEW = 20.0, 200_000, 20_000
# How members run, how many of them, and the options of their sweep.
WAYS = {
    "in lanes, DOP853, rtol 1e-8": (MANY, {"rtol": 1e-8, "method": "dop853", "lanes": True}),
    "in lanes, Taylor series, rtol 1e-12": (MANY, {"rtol": 1e-12, "method": "taylor", "lanes": True}),
    "one at a time, DOP853, rtol 1e-8": (FEW, {"rtol": 1e-8, "method": "dop853", "lanes": False}),
}


def seconds(count: int, threads: int, asked: dict[str, object]) -> tuple[float, Ensemble]:
    chance = np.random.default_rng(1)
    values = {name: chance.uniform(0.5, 1.5, count) for name in ("v0", "omega")}
    system = da.library.penny()
    began = time.perf_counter()
    found = system.sweep(values, DURATION, together=True, threads=threads, progress=False, **asked)
    return time.perf_counter() - began, found


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.2f} before")
    for name, (count, asked) in WAYS.items():
        seconds(1_000, 1, asked)  # compiles
        least = {1: float("inf"), 2: float("inf")}
        for _ in range(turns):
            found = {}
            for threads in least:
                took, found[threads] = seconds(count, threads, asked)
                least[threads] = min(least[threads], took)
            if not found[1].data.identical(found[2].data):
                raise SystemExit(f"{name}: one thread and two differ")
        print(f"{name}, {count:,} members: {least[1]:.3f} s and {least[2]:.3f} s, {least[1] / least[2]:.2f} times")
    print(f"load {os.getloadavg()[0]:.2f} after")


if __name__ == "__main__":
    main()
