"""Which compiler is found, what is said where there is none, and where kernels are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest

import dalembert as da
from dalembert.kernel import build, keep, kernel


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine without a compiler on its path."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    build.find_compiler.cache_clear()
    yield tmp_path
    build.find_compiler.cache_clear()


def install_ziglang(folder: Path, real: build.Compiler, path: str) -> None:
    """A package `ziglang` that is started as the real one, `python -m ziglang cc …`, and hands over to the compiler of
    this machine.
    """
    (folder / "ziglang").mkdir()
    (folder / "ziglang" / "__init__.py").write_text("")
    (folder / "ziglang" / "__main__.py").write_text(
        "import os, sys\n"
        f"os.environ['PATH'] = {path!r}\n"
        "assert sys.argv[1] == 'cc'\n"
        f"command = {list(real.command)!r}\n"
        "os.execvp(command[0], [*command, *sys.argv[2:]])\n"
    )


def test_ziglang_compiles_where_nothing_else_does(monkeypatch, tmp_path):
    real, path = build.find_compiler(), os.environ["PATH"]
    if real is None:
        pytest.skip("no C compiler on this machine")
    install_ziglang(tmp_path, real, path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel, "_made", {})
    build.find_compiler.cache_clear()
    try:
        found = build.find_compiler()
        assert found is not None
        assert found.command == (sys.executable, "-m", "ziglang", "cc")
        assert da.library.pendulum().simulate(0.5, samples=2, backend="native").backend == "native"
    finally:
        build.find_compiler.cache_clear()


def test_no_compiler_names_the_remedy(bare, monkeypatch):
    assert build.find_compiler() is None
    # Nor the runtime for all models, which this process may have made before.
    monkeypatch.setattr("dalembert.motion.integrate.kernel_choice.runtime_library", lambda: None)
    with pytest.raises(da.ModelError, match=r"pip install 'dalembert\[compiler\]'"):
        da.library.pendulum().simulate(0.5, backend="native")


def test_kernels_are_kept_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("DALEMBERT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert keep.cache_folder() == Path(platformdirs.user_cache_dir("dalembert", appauthor=False))
    if sys.platform == "linux":
        assert keep.cache_folder() == tmp_path / "dalembert"
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "own"))
    assert keep.cache_folder() == tmp_path / "own"
