"""Worker processes of `on="dask"`: they are started again wherever they end, from their very beginning."""

from __future__ import annotations

import os
import signal
import time as clock
from types import SimpleNamespace
from typing import Any

import pytest

import dalembert as da
from dalembert.ensemble.place import local_cluster as place

distributed = pytest.importorskip("distributed")


def wait_for_another(cluster: Any, pid: int | None) -> None:
    """Until a worker that is another process than this has told the scheduler of itself."""
    ends = clock.monotonic() + 60
    while True:
        (nanny,) = cluster.workers.values()
        if nanny.pid not in (None, pid) and nanny.worker_address in cluster.scheduler.workers:
            return
        assert clock.monotonic() < ends, "the worker is not started again"
        clock.sleep(0.05)


@pytest.mark.parametrize("times", [1, 3])
def test_a_worker_that_is_killed_while_it_starts_is_started_again(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    from distributed.nanny import WorkerProcess

    waited, left = WorkerProcess._wait_until_connected, [times]

    async def killed(self: Any, *given: Any) -> Any:
        if left[0]:
            left[0] -= 1
            os.kill(self.process.pid, signal.SIGKILL)
        return await waited(self, *given)

    monkeypatch.setattr(WorkerProcess, "_wait_until_connected", killed)
    with place.local_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        assert left == [0]
        assert client.submit(pow, 2, 3).result(timeout=60) == 8


def test_one_that_is_always_killed_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed.nanny import WorkerProcess

    waited, started = WorkerProcess._wait_until_connected, []

    async def killed(self: Any, *given: Any) -> Any:
        started.append(self.process.pid)
        os.kill(self.process.pid, signal.SIGKILL)
        return await waited(self, *given)

    monkeypatch.setattr(WorkerProcess, "_wait_until_connected", killed)
    with pytest.raises(da.ClusterError, match="no local cluster could be started"):
        place.local_cluster(1)
    assert 1 < len(set(started)) < 10


def test_a_worker_that_nobody_starts_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Dask does with one that ends in the moment before it counts as running."""
    from distributed import Nanny

    async def does_nothing(self: Any, exitcode: int) -> None: ...

    with place.local_cluster(1) as cluster, monkeypatch.context() as patch:
        patch.setattr(Nanny, "_on_worker_exit", does_nothing)
        (nanny,) = cluster.workers.values()
        pid = nanny.pid
        os.kill(pid, signal.SIGKILL)
        wait_for_another(cluster, pid)


def test_a_cluster_without_workers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = SimpleNamespace(workers={"w": 1})
    look = place.Patience(scheduler)
    monkeypatch.setattr(place, "EMPTY_S", 0.0)
    look()
    scheduler.workers.clear()
    with pytest.raises(da.ClusterError, match="all workers of this machine ended"):
        look()
