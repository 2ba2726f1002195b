"""The library that serves every model: found, checked against its sources, done without."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from dalembert.kernel.build import build, find_compiler
from dalembert.kernel.ready import library as module
from dalembert.kernel.ready.library import PREBUILT, determined_by, ready_library, source


@pytest.fixture(autouse=True)
def _anew():
    ready_library.cache_clear()
    yield
    ready_library.cache_clear()


def digest(of: ctypes.CDLL) -> bytes:
    of.da_ready_digest.restype = ctypes.c_char_p
    return of.da_ready_digest()


def test_it_names_what_it_was_made_of():
    library = ready_library()
    assert library is not None
    assert digest(library).decode() == determined_by(source, PREBUILT)[1]


def test_a_library_on_disk_needs_no_source(monkeypatch: pytest.MonkeyPatch):
    assert ready_library() is not None
    ready_library.cache_clear()
    monkeypatch.setattr(module, "source", None)  # making it would fail
    assert ready_library() is not None


def test_a_package_updated_under_a_running_process_is_known_by_the_source(monkeypatch: pytest.MonkeyPatch):
    before = determined_by(source, PREBUILT)[0]
    monkeypatch.setattr(module, "package_identity", lambda: None)
    after = determined_by(source, PREBUILT)[0]
    assert after != before
    assert source() in after


def test_a_library_of_another_version_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = find_compiler()
    assert compiler is not None
    other = f'#define DA_READY_DIGEST "of another version"\n{source()}'
    file = tmp_path / "ready.so"
    build(other, compiler, level=0)
    kept, _ = build(other, compiler, level=0)  # a library that was just made still has the name of its workplace
    file.write_bytes(Path(kept._name).read_bytes())
    monkeypatch.setattr(module, "PREBUILT", file)
    library = ready_library()
    assert library is not None
    assert digest(library).decode() == determined_by(source, PREBUILT)[1]


def test_a_library_that_cannot_be_loaded_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "ready.so"
    file.write_bytes(b"for another machine")
    monkeypatch.setattr(module, "PREBUILT", file)
    assert ready_library() is not None


def test_without_compiler_and_without_the_file_there_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "find_compiler", lambda: None)
    assert ready_library() is None
