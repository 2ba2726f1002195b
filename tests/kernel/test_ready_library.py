"""The library that serves every model: found, checked against its sources, done without."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import casadi as ca
import pytest

import dalembert as da
from dalembert.errors import BuildError
from dalembert.kernel.build import build, find_compiler
from dalembert.kernel.emit.operations import require_casadi_codes
from dalembert.kernel.ready import library as module
from dalembert.kernel.ready import runtime
from dalembert.kernel.ready.library import (
    PREBUILT,
    determined_by,
    has_wide_registers,
    prebuild,
    ready_library,
    source,
    wide_of,
)


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
    monkeypatch.setattr(module, "package_digest", lambda: None)
    after = determined_by(source, PREBUILT)[0]
    assert after != before
    assert source() in after


def test_a_library_of_another_version_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = find_compiler()
    assert compiler is not None
    other = f'#define DA_READY_DIGEST "of another version"\n{source()}'
    file = tmp_path / PREBUILT.name
    build(other, compiler, level=0)
    kept, _ = build(other, compiler, level=0)  # a library that was just made still has the name of its workplace
    file.write_bytes(Path(kept._name).read_bytes())
    monkeypatch.setattr(module, "PREBUILT", file)
    library = ready_library()
    assert library is not None
    assert digest(library).decode() == determined_by(source, PREBUILT)[1]


def test_a_library_that_cannot_be_loaded_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / PREBUILT.name
    file.write_bytes(b"for another machine")
    monkeypatch.setattr(module, "PREBUILT", file)
    assert ready_library() is not None


def test_without_compiler_and_without_the_file_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "find_compiler", lambda: None)
    monkeypatch.setattr(module, "PREBUILT", tmp_path / "libready.so")
    assert ready_library() is None


def test_without_compiler_the_one_that_came_with_the_package_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = find_compiler()
    assert compiler is not None
    monkeypatch.setattr(module, "LEVEL", 0)  # quicker to make
    made = prebuild(tmp_path, compiler, PREBUILT, source, module.LEVEL, ())
    assert made.name == PREBUILT.name
    monkeypatch.setattr(module, "find_compiler", lambda: None)
    monkeypatch.setattr(module, "PREBUILT", made)
    library = ready_library()
    assert library is not None
    assert digest(library).decode() == determined_by(source, PREBUILT)[1]
    # Python must not take it for one of the modules beside it.
    modules = {file.stem for file in PREBUILT.parent.glob("*.py")}
    files = {PREBUILT.stem, runtime.PREBUILT.stem}
    assert not (files | {wide_of(file).stem for file in (PREBUILT, runtime.PREBUILT)}) & modules


@pytest.mark.skipif(not has_wide_registers(), reason="the processor has no registers of 256 bits")
@pytest.mark.parametrize(
    ("wide", "whole", "taken"), [(True, True, "wide"), (True, False, "plain"), (False, True, "plain")]
)
def test_the_one_for_wide_registers_is_taken_where_they_are(
    wide: bool, whole: bool, taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Both come with the package; one that cannot be loaded is passed over."""
    compiler = find_compiler()
    assert compiler is not None
    files = {"plain": prebuild(tmp_path, compiler, PREBUILT, source, 0, ())}
    files["wide"] = prebuild(tmp_path, compiler, PREBUILT, source, 0, (), wide=True)
    assert files["wide"] == wide_of(files["plain"])
    if not whole:
        files["wide"].write_bytes(b"for another machine")
    monkeypatch.setattr(module, "find_compiler", lambda: None)
    monkeypatch.setattr(module, "PREBUILT", files["plain"])
    monkeypatch.setattr(module, "has_wide_registers", lambda: wide)
    library = ready_library()
    assert library is not None
    assert library._name == str(files[taken])


def test_its_source_is_made_without_casadi_and_sympy():
    """As in the environment in which a wheel is made."""
    hidden = "import sys; sys.modules |= dict.fromkeys(('casadi', 'sympy', 'scipy'))\n"
    code = "from dalembert.kernel.ready import library, runtime; library.source(); runtime.source()"
    subprocess.run([sys.executable, "-c", hidden + code], check=True)


def test_numbers_of_operations_are_those_of_casadi():
    require_casadi_codes()


def test_a_casadi_with_other_numbers_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ca, "OP_SIN", ca.OP_COS)
    with pytest.raises(BuildError, match="OP_SIN"):
        require_casadi_codes.__wrapped__()


def test_waiting_for_it_is_compiling_whoever_asks_first(monkeypatch: pytest.MonkeyPatch):
    """Compilers that take a thousand seconds by the clock: deriving, integrating and forces tell of their own alone."""
    leaps, real, made = [0.0], time.perf_counter, module.build

    def slowly(*given: Any) -> tuple[ctypes.CDLL, bool]:
        leaps[0] += 1000.0
        return made(*given)[0], False

    monkeypatch.setattr(time, "perf_counter", lambda: real() + leaps[0])
    monkeypatch.setattr(module, "build", slowly)
    monkeypatch.setattr(module, "PREBUILT", PREBUILT.with_name("none"))
    monkeypatch.setattr(runtime, "PREBUILT", PREBUILT.with_name("none"))
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    runtime._library.cache_clear()
    (x,) = da.coordinates("x")
    swing = da.System("swing", coordinates=[x], kinetic=1.2345 * x.d**2, potential=x**4, initial={x: 1, x.d: 0})
    motion = swing.simulate(0.5, samples=3)
    assert motion.certificate.holds
    told = motion.timing
    assert 2000.0 < told.compile_s < 3000.0  # for both libraries
    assert min(told.derive_s, told.integrate_s, told.forces_s, told.certify_s) > 0.0
    assert max(told.derive_s, told.integrate_s, told.forces_s, told.certify_s) < 1000.0
    assert swing.simulate(0.4, samples=3).timing.compile_s < 1000.0
