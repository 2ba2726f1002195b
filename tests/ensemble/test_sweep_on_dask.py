"""Sweeps on Dask, with worker processes: the same bits, and nothing lost where workers or the client are killed."""

from __future__ import annotations

import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import time as clock
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cupy_stand_in import stand_in
from dask_trials import chunk_files, sweep_with_a_kill, swept, wait_for_chunks
from swept_systems import bead, spring
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import application
from dalembert.ensemble import sweep as sweeping
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.parts import Kept, Parts
from dalembert.ensemble.place import cluster as place
from dalembert.ensemble.place import worker as place_worker
from dalembert.ensemble.place.worker import own_build, run_ranges
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.result.store import Store
from dalembert.kernel.build import find_compiler
from dalembert.kernel.cuda import run as runner

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers in threads of this process, where the package is loaded."""
    with (
        distributed.LocalCluster(
            2, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    """Two worker processes, which can be killed."""
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
    processes: Any, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = tmp_path / "s", processes.scheduler.address
    code = f"from dask_trials import swept; swept('dask:{address}', out={str(folder)!r})"
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    wait_for_chunks(folder, 2)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = chunk_files(folder)
    monkeypatch.setattr(Parts, "clear", lambda self: None)
    found = swept(processes, out=folder, resume=True)
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
    monkeypatch.setattr("dalembert.ensemble.place.worker._compute", lambda own, ranges, finish: called.append(ranges))
    called: list[Any] = []
    assert run_ranges([(0, 2)], b"", "s", own_build(), parts).results == (Kept(0, 2),)
    assert called == [[]]


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


def tasks_at_hand(dask_worker: Any) -> int:
    return len(dask_worker.state.executing)


def wait_for_workers(client: Any) -> None:
    """Until what was handed over is finished or given up: a task that a worker is at goes on to its end."""
    end = clock.monotonic() + 30
    while any(client.processing().values()) or any(client.run(tasks_at_hand).values()):
        assert clock.monotonic() < end, "workers go on with what was given up"
        clock.sleep(0.02)


def limit_files(size: int) -> None:
    """In a worker: no file may grow beyond so many bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_disk_that_fills_up_loses_nothing(processes: Any, whole: Ensemble, tmp_path: Path) -> None:
    processes.run(limit_files, 1000)
    try:
        with pytest.raises(da.OutputError, match=r"chunk-\d+\.npz: cannot be written: File too large"):
            swept(processes, out=tmp_path / "s")
        wait_for_workers(processes)
    finally:
        processes.run(limit_files, resource.RLIM_INFINITY)
    assert not list((tmp_path / "s").glob(".dalembert-*"))  # nothing half written is left
    assert whole.data.identical(swept(processes, out=tmp_path / "s", resume=True).data)


def test_an_interrupt_ends_the_work_and_keeps_what_is_finished(
    client: Any, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pressed:
        """Stands for the bar, and for a person who presses Ctrl-C when some members are finished."""

        def __init__(self, *_: object) -> None: ...
        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None: ...
        def update(self, finished: int) -> None:
            if finished:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sweeping, "Bar", Pressed)
        with pytest.raises(KeyboardInterrupt):
            swept(client, out=tmp_path / "s")
    wait_for_workers(client)
    before = chunk_files(tmp_path / "s")
    assert 1 <= len(before) < 24
    monkeypatch.setattr(Parts, "clear", lambda self: None)
    assert whole.data.identical(swept(client, out=tmp_path / "s", resume=True).data)
    assert before.items() <= chunk_files(tmp_path / "s").items()


def test_large_results_stay_where_workers_write_them(
    client: Any, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dalembert.ensemble.result.gather.LARGE", 0)
    monkeypatch.setattr(Parts, "read", lambda self, first, read=Parts.read: read(self, first) if not first else None)
    found = swept(client, out=tmp_path / "s")  # this process reads the first chunk, for names and shapes
    monkeypatch.undo()
    assert whole.data.equals(found.data)
    assert len(chunk_files(tmp_path / "s")) == 24


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_workers_that_see_a_gpu_use_it(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_cupy", stand_in().fake_cupy)
    monkeypatch.setattr("dalembert.kernel.cuda.source.MOST_UNROLLED", 0)  # which is compiled in half the time
    values, asked = {"x": np.linspace(0.9, 1.0, 24)}, {"repair": ["y"], "reduce": {"far": ("max", "x")}, "points": 5}
    monkeypatch.setattr("dalembert.ensemble.members.chunk_size.MOST", 2)
    found = bead().sweep(values, 1.0, on=client, out=tmp_path / "s", **asked)
    direct = bead().sweep(values, 1.0, on="cuda", **asked)
    assert (found.on_cpu, found.failed) == (0, direct.failed)
    assert found.data.equals(direct.data)
    # Beside a worker without a GPU: its members are counted, and differ by rounding.
    tasks: list[int] = []

    def unpack(content: bytes, name: str) -> Any:
        task = pickle.loads(content)
        tasks.append(1)
        return place_worker.Unpacked(task, place_worker.gpus_here(task) if len(tasks) == 1 else None)

    monkeypatch.setattr(place_worker, "_unpack", unpack)
    mixed = bead().sweep(values, 1.0, on=client, **asked)
    assert 0 < mixed.on_cpu < 24
    assert mixed.on_cpu == mixed.data["on cpu"].sum()
    np.testing.assert_allclose(mixed["far"], direct["far"], rtol=0, atol=2e-9)  # as in test_sweep_cuda


def test_a_gpu_takes_ranges_that_follow_each_other_at_once() -> None:
    ranges = [(0, 2), (2, 4), (4, 6), (8, 10)]
    assert place_worker.join_ranges(ranges, 4) == [(0, [(0, 2), (2, 4)]), (4, [(4, 6)]), (8, [(8, 10)])]
    whole = Chunk(2, {"status": np.arange(4)}, {3: "why", 4: "too"})
    one, other = place_worker.split_chunk(whole, [(2, 4), (4, 6)])
    assert (one.arrays["status"].tolist(), one.reasons) == ([0, 1], {3: "why"})
    assert (other.first, other.arrays["status"].tolist(), other.reasons) == (4, [2, 3], {4: "too"})


def test_tasks_take_about_a_second_and_leave_some_for_all() -> None:
    pace = place.Pace()
    assert pace.ranges(1000, 2) == 1
    pace.note(place.Done((Kept(0, 1),), 3.0))  # which loads all that it needs
    for _ in range(8):
        pace.note(place.Done((Kept(0, 1), Kept(1, 1)), 0.02))
    assert 60 <= pace.ranges(10**6, 2) <= 100  # of 10 ms each; the first is nearly forgotten
    assert pace.ranges(80, 2) == 20
    assert pace.ranges(3, 2) == 1


def test_a_full_disk_of_a_worker_is_told(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blocked(Store):
        def __init__(self, folder: Path, *given: Any) -> None:
            super().__init__(folder, *given)
            (folder / "chunk-0000000.npz").mkdir()  # no file can take its place
            (folder / "chunk-0000000.npz" / "x").touch()

    monkeypatch.setattr(sweeping, "Store", Blocked)
    with pytest.raises(da.OutputError, match=r"chunk-0000000\.npz: cannot be written"):
        spring().sweep({"w": [1.0, 2.0]}, 1.0, on=client, out=tmp_path / "s")


def test_a_killed_worker_loses_nothing(processes: Any, whole: Ensemble, tmp_path: Path) -> None:
    """The last test of this cluster: its other worker goes on."""
    rng = np.random.default_rng()
    chunks, delay, which = int(rng.integers(1, 8)), rng.uniform(0, 0.03), int(rng.integers(2))
    found, in_time = sweep_with_a_kill(processes, tmp_path / "s", chunks, delay, which)
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


def test_a_cluster_that_has_no_workers_yet_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def end() -> None:
        raise KeyboardInterrupt

    class Future:
        def add_done_callback(self, call: object) -> None:
            """Never done."""

    client = SimpleNamespace(
        nthreads=dict, submit=lambda *given, **how: None, map=lambda *given, **how: [Future()], status="closed"
    )
    for name, value in {"EMPTY_S": -1.0, "WAIT_S": 0.01}.items():
        monkeypatch.setattr(place, name, value)
    with pytest.warns(UserWarning, match="has no workers"), pytest.raises(KeyboardInterrupt):
        list(place._results(client, b"", [(0, 4)], None, end))


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


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="interrupts go to one process here")
def test_an_interrupt_of_the_terminal_gives_one_account(tmp_path: Path) -> None:
    """It goes to all processes at once: workers say nothing, the command says what is kept."""
    words = ["pendulum", "--vary", "l=0.5:2:4000", "--duration", "3000", "--on", "dask", "--threads", "1", "--out", "o"]
    command = subprocess.Popen(
        [sys.executable, "-m", "dalembert", "sweep", *words], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        ends = clock.monotonic() + 120
        while not list(tmp_path.glob("o/chunk-*")) and clock.monotonic() < ends:
            clock.sleep(0.2)
        os.killpg(command.pid, signal.SIGINT)
        said, _ = command.communicate(timeout=60)
    finally:
        if command.poll() is None:
            os.killpg(command.pid, signal.SIGKILL)
    assert command.returncode == 130, said
    assert re.fullmatch(r"dalembert: interrupted; \d+ of 4000 members are kept: go on with .*--resume o'\s*", said), (
        said
    )
