"""The library that serves every model: found, checked against its sources, done without."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from dalembert.kernel.build import build, find_compiler
from dalembert.kernel.ready import library as module
from dalembert.kernel.ready.library import ready_library, source


@pytest.fixture(autouse=True)
def _anew():
    ready_library.cache_clear()
    yield
    ready_library.cache_clear()


def digest(of: ctypes.CDLL) -> bytes:
    of.da_ready_digest.restype = ctypes.c_char_p
    return of.da_ready_digest()


def test_it_names_its_own_source():
    library = ready_library()
    assert library is not None
    assert digest(library).decode() in source().partition("\n")[0]


def test_a_library_of_another_version_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = find_compiler()
    assert compiler is not None
    first, _, rest = source().partition("\n")
    other = first.replace('"', '"0', 1)
    file = tmp_path / "ready.so"
    build(f"{other}\n{rest}", compiler)
    kept, _ = build(f"{other}\n{rest}", compiler)  # a library that was just made still has the name of its workplace
    file.write_bytes(Path(kept._name).read_bytes())
    monkeypatch.setattr(module, "PREBUILT", file)
    library = ready_library()
    assert library is not None
    assert digest(library).decode() in first


def test_a_library_that_cannot_be_loaded_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "ready.so"
    file.write_bytes(b"for another machine")
    monkeypatch.setattr(module, "PREBUILT", file)
    assert ready_library() is not None


def test_without_compiler_and_without_the_file_there_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "find_compiler", lambda: None)
    assert ready_library() is None
