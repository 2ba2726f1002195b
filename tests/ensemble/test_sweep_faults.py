"""Sweeps that are killed, interrupted or left without room, folders that are damaged, and members that never end: what
is left, what is said, and that resumed sweeps have the bits of those that nothing happened to.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_trials import CHUNK, DURATION, GIVEN, chunk_files, swept, wait_for_chunks
from swept_systems import spring

import dalembert as da
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.parts import Parts
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.result.store import Store

HERE = Path(__file__).parent
NUMBER = -(-GIVEN["w"].size // CHUNK)


@pytest.fixture(scope="module")
def whole() -> Ensemble:
    """Nothing happened to it. Its members err by some hundred tolerances after as many turns."""
    found = swept("threads")
    assert np.abs(found.final["x"].to_numpy() - np.cos(GIVEN["w"] * DURATION)).max() < 1e-7
    return found


def begun(folder: Path, on: str, most: str = "") -> subprocess.Popen[str]:
    line = [sys.executable, str(HERE / "killed_sweep.py"), str(folder), on, *([most] if most else [])]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def resumed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Ensemble, list[str]]:
    """The sweep in the folder, brought to its end by threads; and the chunks that were computed for that."""
    written: list[str] = []
    keep = Store.keep

    def note(self: Store, part: Chunk) -> None:
        written.append(self.parts.file(part.first).name)
        keep(self, part)

    monkeypatch.setattr(Store, "keep", note)
    return swept("threads", out=folder, resume=True), written


@pytest.mark.parametrize(
    ("on", "how", "after"),
    [
        ("threads", signal.SIGKILL, 1),
        ("threads", signal.SIGKILL, 13),
        ("threads", signal.SIGKILL, NUMBER - 1),
        ("threads", signal.SIGTERM, 6),
        ("threads", signal.SIGINT, 4),
        ("processes", signal.SIGKILL, 3),
        ("processes", signal.SIGHUP, 8),
        ("processes", signal.SIGINT, 5),
    ],
)
def test_a_sweep_that_is_killed_is_resumed(
    on: str, how: signal.Signals, after: int, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s"
    with begun(folder, on) as process:
        wait_for_chunks(folder, after)
        # As a terminal does, an interrupt reaches all processes; what kills reaches the one that was meant.
        (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
        process.communicate(timeout=60)  # which ends when nobody is left who might write
    assert process.returncode == -how
    finished = chunk_files(folder)
    if how == signal.SIGINT:
        assert not list(folder.glob(".dalembert-*"))
    found, computed = resumed(folder, monkeypatch)
    assert found.data.identical(whole.data)
    assert not set(computed) & set(finished)
    assert len(computed) + len(finished) == NUMBER
    assert sorted(file.name for file in folder.iterdir()) == ["ensemble.nc", "sweep.json"]


def test_a_sweep_that_is_killed_twice_and_while_it_is_resumed(
    whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, code = tmp_path / "s", "from dask_trials import swept; swept('threads', out={!r}, resume=True)"
    with begun(folder, "threads") as process:
        wait_for_chunks(folder, 2)
        process.kill()
    line = [sys.executable, "-c", code.format(str(folder))]
    with subprocess.Popen(line, cwd=HERE) as again:
        wait_for_chunks(folder, 12)
        again.kill()
    found, _ = resumed(folder, monkeypatch)
    assert found.data.identical(whole.data)


def test_processes_end_with_the_one_that_began_them(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with begun(folder, "processes") as process:
        wait_for_chunks(folder, 1)
        tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not tasks.is_file():
            process.kill()
            pytest.skip("the system does not say which processes a process has")
        children = [int(pid) for pid in tasks.read_text().split()]
        assert len(children) >= 2
        process.kill()
        process.wait()
    end = time.monotonic() + 30
    while any(is_at_work(pid) for pid in children):
        assert time.monotonic() < end, "workers are left"
        time.sleep(0.02)


def is_at_work(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(("most", "chunks"), [("1500", 0), ("4000", NUMBER)])
def test_files_that_find_no_room(
    most: str, chunks: int, whole: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the chunks, some 2 kB each, or only for all of them in one file."""
    folder = tmp_path / "s"
    with begun(folder, "threads", most) as process:
        told = process.communicate(timeout=60)[0]
    assert process.returncode == 5, told
    assert "cannot be written: File too large" in told
    assert told.count("\n") == 1
    assert len(chunk_files(folder)) == chunks
    assert not list(folder.glob(".dalembert-*"))
    found, computed = resumed(folder, monkeypatch)
    assert found.data.identical(whole.data)
    assert len(computed) == NUMBER - chunks


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """The folder of a sweep of which some chunks are there."""
    folder = tmp_path / "s"
    with begun(folder, "threads") as process:
        wait_for_chunks(folder, 3)
        process.kill()
    return folder


def empty(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def swap(file: Path) -> None:
    """An archive, but of something else."""
    np.savez(file, numbers=np.arange(3))


def pickle_into(file: Path) -> None:
    """Objects are not unpacked: they could run anything."""
    with np.load(file) as data:
        arrays: dict[str, Any] = {name: data[name] for name in data.files}
    np.savez(file, **arrays | {"status": np.array([print] * CHUNK, dtype=object)})


def shorten(file: Path) -> None:
    with np.load(file) as data:
        arrays: dict[str, Any] = {name: data[name][: CHUNK - 1] for name in data.files if name != "__reasons__"}
        arrays["__reasons__"] = data["__reasons__"]
    np.savez(file, **arrays)


@pytest.mark.parametrize("damage", [empty, cut, swap, pickle_into, shorten])
def test_damaged_chunks_are_computed_again(
    damage: Callable[[Path], None], half: Path, whole: Ensemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sorted(half.glob("chunk-*.npz"))[1]
    damage(one)
    found, computed = resumed(half, monkeypatch)
    assert one.name in computed
    assert found.data.identical(whole.data)


@pytest.mark.parametrize(("wrong", "since"), [(0xFF, b""), (1, b"PK\1\2")], ids=["bytes", "bits of the directory"])
def test_no_wrong_byte_becomes_a_wrong_number(wrong: int, since: bytes, half: Path) -> None:
    """Whichever it is, a chunk has its numbers or is computed again. One bit says that there is a password."""
    parts = Parts(half, CHUNK, GIVEN["w"].size, "")
    file = parts.file(0)
    content, found = file.read_bytes(), parts.read(0)
    assert found is not None
    noticed, first = 0, content.index(since)
    for k in range(first, len(content)):
        file.write_bytes(content[:k] + bytes([content[k] ^ wrong]) + content[k + 1 :])
        if (read := parts.read(0)) is None:
            noticed += 1
            continue
        assert read.reasons == found.reasons
        assert {name: column.tobytes() for name, column in read.arrays.items()} == {
            name: column.tobytes() for name, column in found.arrays.items()
        }
    assert noticed > (len(content) - first) / 2  # the others are dates and the like


@pytest.mark.parametrize(
    "change",
    ["", "[]", "{", {"chunk": 0}, {"chunk": "x"}, {"members": -1}, {"chunk": True}, {"chunk": 2.5}, {"digest": None}],
)
def test_a_damaged_description_is_told(change: str | dict[str, Any], half: Path) -> None:
    about = half / "sweep.json"
    text = change if isinstance(change, str) else json.dumps(json.loads(about.read_text()) | change)
    about.write_text(text)
    for ask in (lambda: swept("threads", out=half, resume=True), lambda: da.Ensemble.load(half)):
        with pytest.raises(da.DocumentError) as found:
            ask()
        assert str(half) in str(found.value)


def test_a_damaged_result_is_told(tmp_path: Path) -> None:
    given, folder = {"w": [1.0, 2.0]}, tmp_path / "s"
    spring().sweep(given, 1.0, out=folder)
    cut(folder / "ensemble.nc")
    for ask in (lambda: da.Ensemble.load(folder), lambda: spring().sweep(given, 1.0, out=folder, resume=True)):
        with pytest.raises(da.DocumentError, match="no ensemble written"):
            ask()


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(da.OutputError, match="cannot write here"):
            spring().sweep({"w": [1.0, 2.0]}, 1.0, out=out)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, keep = tmp_path / "s", Store.keep

    def lose(self: Store, part: Chunk) -> None:
        keep(self, part)
        folder.rename(tmp_path / "elsewhere")

    monkeypatch.setattr(Store, "keep", lose)
    with pytest.raises(da.OutputError, match="cannot be written"):
        swept("threads", out=folder, threads=1)


def test_two_at_once_in_one_folder(whole: Ensemble, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with begun(folder, "threads") as process:
        wait_for_chunks(folder, 1)
        with pytest.raises(da.OutputError, match="a sweep here already"):
            swept("threads", out=folder)
        assert process.wait(60) == 0, process.communicate()
    assert da.Ensemble.load(folder).data.identical(whole.data)


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_a_member_that_never_ends_beside_others(on: str) -> None:
    """Sixty million turns, which would take minutes; the others have the bits of their own motions."""
    given: dict[str, Any] = {"w": [1.0, 1e6, 2.0, 3.0]}
    found = spring().sweep(given, 400.0, on=on, lanes=False, budget={"seconds": 0.5})
    assert found.status.to_numpy().tolist() == [0, 5, 0, 0]
    assert "budget was spent" in found.failures()[0]["reason"]
    for k in (0, 2, 3):
        motion = found.system_of(k).simulate(400.0)
        assert motion["x"][-1] == found.final["x"].to_numpy()[k]
