"""What Dask takes besides: sweeps of members of some milliseconds by two workers of a cluster that is there, and by two
threads, by turns.

    python benchmarks/lanes/dask_share.py [--pairs 5] [--members 4000] [--plain]

By the clock for a machine whose cores are free (the load is told; where other programs come and go, the least times of
each say more than the pairs), and as processor time of all processes (this one with the scheduler in it, and the
workers), which other programs hardly change. The first pair, in which workers load and compile what they need, is told
apart and not counted. The cluster is one as `on="dask"` makes it, or with --plain one with Dask's own settings, whose
processes look fifty times a second what they are at.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import psutil
from distributed import Client, LocalCluster

import dalembert as da
from dalembert.ensemble.place.local_cluster import local_cluster
from dalembert.ensemble.result.ensemble import Ensemble

WORKERS, IDLE_S = 2, 5.0
# So long a penny takes some 7 ms, one member at a time.
DURATION, RTOL = 2_500.0, 1e-8
ASKED = {"rtol": RTOL, "method": "dop853", "lanes": False, "together": True, "progress": False}


def sweep(count: int, **where: object) -> Ensemble:
    chance = np.random.default_rng(1)
    values = {name: chance.uniform(0.5, 1.5, count) for name in ("v0", "omega")}
    found = da.library.penny().sweep(values, DURATION, **ASKED, **where)
    assert found.failed == 0
    return found


def processor(processes: list[psutil.Process]) -> list[float]:
    return [sum(process.cpu_times()[:2]) for process in processes]


def idle_share(processes: list[psutil.Process]) -> list[float]:
    """Of a core, while there is nothing to do."""
    before = processor(processes)
    time.sleep(IDLE_S)
    return list(np.subtract(processor(processes), before) / IDLE_S)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--pairs", type=int, default=5)
    asked.add_argument("--members", type=int, default=4_000)
    asked.add_argument("--plain", action="store_true", help="a cluster with Dask's own settings")
    given = asked.parse_args()
    plain = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**plain) if given.plain else local_cluster(WORKERS) as cluster, Client(cluster) as client:
        measure(client, given.pairs, given.members)


def measure(client: Client, pairs: int, members: int) -> None:
    processes = [psutil.Process(), *(psutil.Process(pid) for pid in client.run(os.getpid).values())]
    print(f"{len(os.sched_getaffinity(0))} cores, {members:,} members, load {os.getloadavg()[0]:.2f} before")
    more: dict[str, list[float]] = {"clock": [], "processor": []}
    least = {"dask": float("inf"), "threads": float("inf")}
    for pair in range(pairs + 1):
        found, clock, spent = {}, {}, {}
        for name, where in (("dask", {"on": client}), ("threads", {"threads": WORKERS})):
            before, began = processor(processes), time.perf_counter()
            found[name] = sweep(members, **where)
            clock[name] = time.perf_counter() - began
            spent[name] = np.subtract(processor(processes), before)
        if not found["dask"].data.identical(found["threads"].data):
            raise SystemExit("Dask and threads differ")
        by_clock = clock["dask"] / clock["threads"] - 1
        by_processor = float(spent["dask"].sum() / spent["threads"].sum()) - 1
        print(
            f"pair {pair}: clock {clock['dask']:.2f} s and {clock['threads']:.2f} s ({by_clock:+.1%}); processor "
            f"{spent['dask'].sum():.2f} s ({spent['dask'][0]:.2f} s of it client and scheduler) and "
            f"{spent['threads'].sum():.2f} s ({by_processor:+.1%})"
        )
        if pair:
            more["clock"].append(by_clock)
            more["processor"].append(by_processor)
            least = {name: min(least[name], clock[name]) for name in least}
        else:
            here, *workers = idle_share(processes)
            print(f"idle, of a core: client and scheduler {here:.1%}, workers {sum(workers):.1%}")
    for name, shares in more.items():
        print(f"Dask's share by {name}, median of {pairs} pairs: {statistics.median(shares):+.1%}")
    share = least["dask"] / least["threads"] - 1
    print(f"least of all by the clock: {least['dask']:.2f} s and {least['threads']:.2f} s ({share:+.1%})")
    print(f"load {os.getloadavg()[0]:.2f} after")


if __name__ == "__main__":
    main()
