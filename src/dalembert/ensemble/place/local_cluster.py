"""A Dask cluster of this machine: worker processes that are started again where they end."""

from __future__ import annotations

import logging
import signal
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dalembert.ensemble.place.executors import RESUME
from dalembert.errors import ClusterError

# How long a cluster may be without any worker, in seconds, before that is told. One of this machine is then given up;
# at others they may be queued.
EMPTY_S = 60.0


def local_cluster(workers: int) -> Any:
    """Processes of this machine, one thread each. How much memory they take, the sweep has looked at; what they are at,
    nobody asks; and that they look fifty times a second whether their loop still turns would take as long as many a
    task.
    """
    import dask
    from distributed import LocalCluster

    from dalembert.ensemble.place.keeper import Keeper

    try:
        quiet = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
        with dask.config.set(quiet), _deaf_to_interrupts():
            return LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0,
                silence_logs=logging.CRITICAL, worker_class=Keeper,
            )  # fmt: skip
    except (OSError, RuntimeError) as error:
        raise ClusterError(
            f"no local cluster could be started: {error}; in a script, call sweep below if __name__ == '__main__':"
        ) from None


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that begin meanwhile, and those that threads begun meanwhile start later, hear no interrupt of the
    terminal, which goes to all: this process ends them, and gives the account. An interrupt that comes now is heard
    afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # where it is begun, the thread at hand hears interrupts again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Patience:
    """Ends a sweep whose workers have all gone and do not come back."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._seen = clock.monotonic()

    def __call__(self) -> None:
        now = clock.monotonic()
        if self._scheduler.workers:
            self._seen = now
        elif now - self._seen > EMPTY_S:
            raise ClusterError(f"sweep: all workers of this machine ended, and none could be started again; {RESUME}")
