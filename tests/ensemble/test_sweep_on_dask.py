"""Sweeps on Dask, with worker processes: the same bits, and nothing lost where workers or the client are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dask_trials import chunk_files, sweep_with_a_kill, swept, wait_for_chunks
from swept_systems import bead, spring
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import application
from dalembert.ensemble import sweep as sweeping
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.parts import Parts
from dalembert.ensemble.place import cluster as place
from dalembert.ensemble.place.worker import own_build, run_range
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.result.store import Store

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.run(own_build)  # both load the package at the same time
        yield client


@pytest.fixture(scope="module")
def whole() -> Ensemble:
    return swept("threads")


def test_the_same_bits_as_threads(client: Any, tmp_path: Path) -> None:
    given = {"x": np.linspace(0.9, 1.0, 11), "y": 0.3, "y'": np.linspace(0.5, 2, 5)}
    asked = {"keep": ["x", "energy"], "reduce": {"far": ("max", "x")}, "points": 11, "repair": True, "certify": True}
    asked |= {"events": {"half": da.Event("x - 0.5", "any")}, "budget": {"seconds": 60}}
    here = bead().sweep(given, 2.0, **asked)
    there = bead().sweep(given, 2.0, on=client, **asked)
    kept = bead().sweep(given, 2.0, on=client, out=tmp_path / "s", **asked)
    assert here.data.identical(there.data)
    assert here.data.identical(kept.data)
    assert there.about["on"] == "dask"
    assert da.Ensemble.load(tmp_path / "s").data.equals(here.data)
    assert here.run_alone < here.members
    assert here.failed == 0


def test_members_that_run_alone_are_the_same_too(client: Any) -> None:
    ball = da.library.bouncing_ball()
    here, there = (ball.sweep({"g": [5.0, 9.81]}, 0.5, on=on) for on in ("threads", client))
    assert here.data.identical(there.data)
    assert there.run_alone == 2


def test_a_killed_client_loses_and_repeats_nothing(
    client: Any, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = tmp_path / "s", client.scheduler.address
    code = f"from dask_trials import swept; swept('dask:{address}', out={str(folder)!r})"
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    wait_for_chunks(folder, 2)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = chunk_files(folder)
    monkeypatch.setattr(Parts, "clear", lambda self: None)
    found = swept(client, out=folder, resume=True)
    after = chunk_files(folder)
    assert 2 <= len(before) < len(after)
    assert before.items() <= after.items()
    assert whole.data.identical(found.data)


def test_workers_that_do_not_see_the_folder_hand_chunks_over(
    client: Any, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(Store):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.parts = replace(self.parts, digest="of another sweep")

    kept: list[int] = []
    monkeypatch.setattr(sweeping, "Store", Elsewhere)
    keep = Parts.keep
    monkeypatch.setattr(Parts, "keep", lambda self, chunk: (kept.append(chunk.first), keep(self, chunk)))
    found = swept(client, out=tmp_path / "s")
    assert len(kept) == len(set(kept)) > 8  # by this process, each once
    assert whole.data.identical(found.data)


def test_a_chunk_that_is_there_is_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(tmp_path, 2, 2, "d")
    (tmp_path / "sweep.json").write_text('{"digest": "d"}')
    parts.keep(Chunk(0, {"status": np.zeros(2)}, {1: "why"}))
    assert parts.read(0).reasons == {1: "why"}
    monkeypatch.setattr("dalembert.ensemble.place.worker._unpack", lambda *_: None)  # nothing to compute with
    assert run_range(0, 2, b"", "s", own_build(), parts).count == 2


def test_the_command_takes_an_address(client: Any, tmp_path: Path) -> None:
    line = ["sweep", "pendulum", "--vary", "l=1:2:3", "--duration", "0.1", "--out", str(tmp_path / "s"), "--json"]
    done = CliRunner().invoke(application(["sweep", "run"]), [*line, "--on", f"dask:{client.scheduler.address}"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["members"], told["failed"]) == (3, 0)
    assert told["on"].startswith("dask:tcp://")


def test_other_versions_are_told(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(own_build(), version="9.9")
    monkeypatch.setattr(place, "own_build", lambda: other)
    with pytest.raises(da.ClusterError, match=r"a worker has dalembert .* this process has dalembert 9\.9"):
        spring().sweep({"w": [1.0, 2.0]}, 1.0, on=client)


def test_a_full_disk_of_a_worker_is_told(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blocked(Store):
        def __init__(self, folder: Path, *given: Any) -> None:
            super().__init__(folder, *given)
            (folder / "chunk-0000000.npz").mkdir()  # no file can take its place
            (folder / "chunk-0000000.npz" / "x").touch()

    monkeypatch.setattr(sweeping, "Store", Blocked)
    with pytest.raises(da.OutputError, match=r"chunk-0000000\.npz: cannot be written"):
        spring().sweep({"w": [1.0, 2.0]}, 1.0, on=client, out=tmp_path / "s")


def test_a_killed_worker_loses_nothing(client: Any, whole: Ensemble, tmp_path: Path) -> None:
    """The last test of this cluster: its other worker goes on."""
    rng = np.random.default_rng()
    chunks, delay, which = int(rng.integers(1, 8)), rng.uniform(0, 0.03), int(rng.integers(2))
    found, in_time = sweep_with_a_kill(client, tmp_path / "s", chunks, delay, which)
    assert in_time
    assert whole.data.identical(found.data)


@pytest.mark.parametrize(
    ("on", "told"),
    [
        ("dask:tcp://127.0.0.1:1", "no scheduler of Dask answers at 'tcp://127.0.0.1:1'"),
        ("dask:somewhere", "missing port number"),
        ("dusk", "Did you mean 'dask'"),
        (7, "a client of Dask, got 7"),
    ],
)
def test_places_that_are_none(on: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(da.ModelError, match=told):
        spring().sweep({"w": [1.0, 2.0]}, 1.0, on=on, out=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "find_spec", lambda name: None)
    with pytest.raises(da.ModelError, match=r"pip install 'dalembert\[dask\]'"):
        spring().sweep({"w": [1.0, 2.0]}, 1.0, on="dask")


def test_a_cluster_without_workers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = SimpleNamespace(workers={"w": 1})
    look = place.Patience(scheduler)
    monkeypatch.setattr(place, "EMPTY_S", 0.0)
    look()
    scheduler.workers.clear()
    with pytest.raises(da.ClusterError, match="all workers of this machine ended"):
        look()


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        ("cancelled", None, "the scheduler of Dask was lost.*resume=True"),
        ("error", distributed.KilledWorker("k", None, 3), "4 workers ended.*at members 8 to 15"),
        ("error", ModuleNotFoundError("No module named 'dalembert'"), "a worker cannot load.*install dalembert"),
    ],
)
def test_ranges_that_are_given_up(status: str, error: Exception | None, told: str) -> None:
    future = SimpleNamespace(status=status, exception=lambda: error)
    with pytest.raises(da.ClusterError, match=told):
        raise place._fault(future, 8, 16)
