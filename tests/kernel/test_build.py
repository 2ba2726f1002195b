"""Building and keeping kernels: the cache, damage to it, many processes at once, no compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dalembert as da
from dalembert.kernel import build, kernel
from dalembert.motion import native

pytestmark = pytest.mark.skipif(build.find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def pendulum() -> da.System:
    return da.library.pendulum()


def final(system: da.System) -> float:
    return system.simulate(1.0, samples=2, backend="native").final["x"]


def test_second_time_from_disk(cache):
    compiler = build.find_compiler()
    assert compiler is not None
    source = build_source()
    assert build.build(source, compiler)[1] is False
    assert build.build(source, compiler)[1] is True
    assert len(list(cache.glob("*.so"))) == 1
    assert list(cache.glob(".build-*")) == []


def build_source() -> str:
    from dalembert.graph.graph import graph_of
    from dalembert.kernel.source import kernel_source

    system = pendulum()
    return kernel_source(system, graph_of(system), [0])


def test_the_source_names_its_inputs():
    text = build_source()
    assert "q[0] x, v[0] its velocity" in text
    assert "row 0 rod, position level" in text


def test_a_damaged_library_is_made_anew(cache):
    code = "import dalembert as da; print(da.library.pendulum().simulate(1.0, samples=2, backend='native').final['x'])"

    def run() -> str:
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    before = run()
    (file,) = cache.glob("*.so")
    file.unlink()
    file.write_bytes(b"this is no library")
    assert run() == before
    assert file.stat().st_size > 1000


def test_a_cache_that_cannot_be_written_costs_only_the_build(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file where the folder should be")
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "taken"))
    reference = pendulum().simulate(1.0, samples=2, backend="reference").final["x"]
    # Two integrators at rtol 1e-9: within a few hundred tolerances over one second.
    assert final(pendulum()) == pytest.approx(reference, abs=1e-6)


def test_the_cache_is_kept_within_its_size(cache, monkeypatch):
    monkeypatch.setattr(build, "CACHE_BYTES", 1)
    final(pendulum())
    final(da.library.rough_incline())
    assert len(list(cache.glob("*.so"))) <= 1


def test_other_flags_make_another_library(cache, monkeypatch):
    final(pendulum())
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-DOTHER"))
    monkeypatch.setattr(kernel, "_made", {})  # as in a new process
    final(pendulum())
    assert len(list(cache.glob("*.so"))) == 2


def test_a_compiler_that_fails_is_told(cache, monkeypatch):
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-fno-such-flag-at-all"))
    with pytest.raises(build.BuildError, match="could not compile"):
        final(pendulum())
    assert list(cache.glob("*.so")) == []


def test_without_a_compiler_the_reference_runs_with_one_warning(monkeypatch):
    monkeypatch.setattr(native, "find_compiler", lambda: None)
    monkeypatch.setattr(native, "_told", set())
    with pytest.warns(UserWarning, match="reference backend"):
        motion = pendulum().simulate(0.5, samples=3, backend="auto")
    # A second warning would be an error here.
    pendulum().simulate(0.5, samples=3, backend="auto")
    assert motion.backend == "reference"
    with pytest.raises(da.ModelError, match="no C compiler"):
        pendulum().simulate(0.5, backend="native")


@pytest.mark.slow
def test_many_processes_build_the_same_system_at_once(cache):
    """Atomic renames: every process gets a whole library, whoever was first."""
    code = (
        "import dalembert as da\n"
        "print(repr(da.library.pendulum().simulate(1.0, samples=2, backend='native').final['x']))"
    )
    environment = {**os.environ, "DALEMBERT_CACHE": str(cache)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(24)
    ]
    answers = []
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err
        answers.append(out.strip())
    assert len(set(answers)) == 1
    assert len(list(cache.glob("*.so"))) == 1
    assert list(cache.glob(".build-*")) == []


@pytest.mark.parametrize(
    "name",
    [
        "a */ int evil; /*",
        "a *\\\n/ __attribute__((constructor)) static void f(void){} /*",
        "a *??/\n/ int evil; /*",
        "a\r\n#include </etc/passwd>",
        'a" \\ b',
    ],
)
def test_no_name_becomes_code(name):
    """Names come from documents: nothing of them may leave the comment of the source, whatever they hold."""
    from dalembert.graph.graph import graph_of
    from dalembert.kernel.source import kernel_source

    def build_with(title: str, row: str) -> str:
        system = da.System(
            title,
            coordinates="x y",
            kinetic="(x'^2+y'^2)/2",
            constraints={row: "y = x"},
            initial=dict.fromkeys(["x", "y"], 0),
        )
        return kernel_source(system, graph_of(system), [0])

    if name.isprintable():
        text = build_with(name, name)
        header = text[: text.index("#define")]
        assert header.count("*/") == 1
        assert "\\" not in header
        assert "?" not in header
        assert (
            text[text.index("#define") :]
            == build_with("plain", "plain")[len(build_with("plain", "plain")) - len(text[text.index("#define") :]) :]
        )
    else:
        with pytest.raises(da.ModelError, match="printable"):
            build_with(name, "row")
        with pytest.raises(da.ModelError, match="printable"):
            build_with("plain", name)


def test_a_compiler_that_does_not_compile_costs_one_warning(cache, monkeypatch):
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-fno-such-flag-at-all"))
    monkeypatch.setattr(native, "_told", set())
    with pytest.warns(UserWarning, match="could not compile"):
        motion = pendulum().simulate(0.5, samples=3, backend="auto")
    assert motion.backend == "reference"


def test_status_codes_are_those_of_the_header():
    import re

    text = (Path(kernel.__file__).parent / "runtime" / "base.h").read_text(encoding="utf-8")
    codes = {name: int(value) for name, value in re.findall(r"DA_([A-Z_]+) = (\d+)", text)}
    assert codes
    for name, value in codes.items():
        assert getattr(kernel, name) == value


def test_kernels_too_large_are_left_to_the_reference(monkeypatch):
    monkeypatch.setattr("dalembert.motion.native.AUTO_INSTRUCTIONS", 100)
    motion = da.library.get("hinged_rods").simulate(0.05, samples=2)
    assert motion.backend == "reference"
    assert any("backend='native'" in warning for warning in motion.warnings)
