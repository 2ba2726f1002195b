"""Building and keeping kernels: the cache, damage to it, many processes at once, no compiler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dalembert as da
from dalembert.kernel import build, kernel
from dalembert.kernel.ready.library import PREBUILT, ready_library
from dalembert.motion.integrate import kernel_choice, native

pytestmark = pytest.mark.skipif(build.find_compiler() is None, reason="no C compiler on this machine")
# The kernel, and the library that serves every model where it did not come with the package.
LIBRARIES = 1 if PREBUILT.is_file() else 2


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DALEMBERT_OPTIMISE", "0")  # what is kept matters here, not how well it is made
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
    from dalembert.kernel.emit.source import kernel_source

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
    files = list(cache.glob("*.so"))
    assert len(files) == LIBRARIES
    for file in files:
        file.unlink()
        file.write_bytes(b"this is no library")
    assert run() == before
    assert all(file.stat().st_size > 1000 for file in files)


def test_a_cache_that_cannot_be_written_costs_only_the_build(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file where the folder should be")
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "taken"))
    reference = pendulum().simulate(1.0, samples=2, backend="reference").final["x"]
    # Two integrators at rtol 1e-9: within a few hundred tolerances over one second.
    assert final(pendulum()) == pytest.approx(reference, abs=1e-6)


def test_a_full_cache_costs_only_the_build(cache, monkeypatch):
    compiler, write = build.find_compiler(), Path.write_text
    assert compiler is not None

    def full(file: Path, *given: object, **more: object) -> int:
        if cache in file.parents:
            raise OSError(28, "No space left on device")
        return write(file, *given, **more)

    monkeypatch.setattr(Path, "write_text", full)
    library, kept = build.build("int seven(void) { return 7; }", compiler)
    assert library.seven() == 7
    assert not kept
    assert list(cache.glob(".build-*")) == []


def test_a_library_that_cannot_be_loaded_is_told(cache, monkeypatch):
    """As where the cache and temporary files lie on a disk from which no program may run."""
    compiler = build.find_compiler()
    assert compiler is not None

    def forbidden(file: str) -> None:
        raise OSError(f"{file}: failed to map segment from shared object: Operation not permitted")

    monkeypatch.setattr(build.ctypes, "CDLL", forbidden)
    with pytest.raises(build.BuildError, match=r"cannot be loaded: .*Operation not permitted"):
        build.build("int seven(void) { return 7; }", compiler)
    assert list(cache.glob(".build-*")) == []


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
    monkeypatch.setattr(kernel_choice, "find_compiler", lambda: None)
    monkeypatch.setattr(kernel_choice, "runtime_library", lambda: None)
    monkeypatch.setattr(native, "_told", set())
    with pytest.warns(UserWarning, match="reference backend"):
        motion = pendulum().simulate(0.5, samples=3, backend="auto")
    # A second warning would be an error here.
    pendulum().simulate(0.5, samples=3, backend="auto")
    assert motion.backend == "reference"
    with pytest.raises(da.ModelError, match="no C compiler"):
        pendulum().simulate(0.5, backend="native")


def answers(script: str, count: int, cache: Path, *arguments: str) -> list[str]:
    """What so many processes say that set out at the same moment."""
    go = cache.parent / "go"
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists():\n    time.sleep(0.01)\n"
    environment = {**os.environ, "DALEMBERT_CACHE": str(cache)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", wait + script, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(count)
    ]
    go.touch()
    found = []
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err
        found.append(out.strip())
    return found


@pytest.mark.slow
def test_many_processes_build_the_same_library_at_once(cache):
    """Atomic renames: every process gets a whole library, whoever was first."""
    script = (
        "import sys\n"
        "from dalembert.kernel import build\n"
        "library, cached = build.build(sys.argv[1], build.find_compiler())\n"
        "print(library.answer(20), cached)"
    )
    # Long enough that half a file would show: the constant lies at the end of the library's data.
    source = "static const int data[20000] = {[19999] = 22};\nint answer(int x) { return x + data[19999]; }\n"
    # Many times as many as there are cores: each build is overtaken by others while it is at work.
    found = answers(script, 24, cache, source)
    assert {answer.split()[0] for answer in found} == {"42"}
    assert sum(answer.endswith("False") for answer in found) > 1, "they did not build at the same time"
    assert len(list(cache.glob("*.so"))) == 1
    assert list(cache.glob(".build-*")) == []
    assert len(list(cache.glob("compiler-*"))) == 1


@pytest.mark.slow
def test_many_processes_build_the_same_system_at_once(cache):
    script = (
        "import dalembert as da\n"
        "print(repr(da.library.pendulum().simulate(1.0, samples=2, backend='native').final['x']))"
    )
    assert len(set(answers(script, 4, cache))) == 1
    assert len(list(cache.glob("*.so"))) == LIBRARIES
    assert list(cache.glob(".build-*")) == []


def test_the_compilers_answer_is_kept_for_the_same_program_only(cache, tmp_path, monkeypatch):
    program, log = tmp_path / "cc", tmp_path / "log"

    def install(version: str) -> None:
        program.write_text(f"#!/bin/sh\necho asked >> {log}\necho {version}\n")
        program.chmod(0o755)

    def ask() -> str | None:
        return build._version((str(program),))

    install("compiler 1.0")
    assert ask() == ask() == "compiler 1.0"
    assert log.read_text().count("asked") == 1
    install("compiler 1.0.1")
    assert ask() == "compiler 1.0.1"
    assert log.read_text().count("asked") == 2
    # A note that says nothing, or that cannot be read, is no answer.
    for note in cache.glob("compiler-*"):
        note.write_bytes(b"\xff\xfe")
    assert ask() == "compiler 1.0.1"
    # A command with arguments may start anything.
    assert build._version((str(program), "-v")) == build._version((str(program), "-v")) == "compiler 1.0.1"
    assert log.read_text().count("asked") == 5


def test_what_killed_builds_leave_is_cleared_away(cache, monkeypatch):
    old, new = cache / ".build-old", cache / ".build-new"
    for left in (old, new):
        left.mkdir(parents=True)
        (left / "kernel.c").write_text("int x;")
    os.utime(old, (1, 1))
    final(pendulum())
    monkeypatch.setattr(kernel, "_made", {})
    final(da.library.rough_incline())
    assert not old.exists()
    assert new.exists(), "it may still be at work"


SLOW_COMPILER = """#!/bin/sh
case "$*" in *--version*) echo "slow compiler 1.0"; exit;; esac
if [ -e "$SLOW" ]; then
    echo half > "${TMPDIR:-/tmp}/ccHalf.s"
    while [ $# -gt 0 ]; do [ "$1" = -o ] && echo half > "$2"; shift; done
    echo compiling > "$SLOW"
    exec sleep 60
fi
exec cc "$@"
"""
INTERRUPTED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background
import dalembert as da
ready = da.library.pendulum().prepare(1.0, samples=2, backend="native")
try:
    print("done", ready.run().timing.kernel)
except KeyboardInterrupt:
    print("interrupted", *os.listdir(os.environ["DALEMBERT_CACHE"]), *os.listdir(os.environ["TMPDIR"]), flush=True)
os.remove(os.environ["SLOW"])
run = ready.run()
print(run.timing.kernel, run.q[-1, 0].hex())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process groups there")
@pytest.mark.parametrize("all_of_them", [True, False], ids=["Ctrl-C", "this process alone"])
def test_an_interrupt_while_the_compiler_works_loses_nothing(cache, tmp_path, monkeypatch, all_of_them):
    """Ctrl-C reaches the compiler too, a notebook's button does not. Nothing half-written is kept, neither in the cache
    nor where temporary files go, and the next run in the same process compiles as if nothing had been.
    """
    wanted = pendulum().prepare(1.0, samples=2, backend="native").run().q[-1, 0]
    compiler, slow, temporary = tmp_path / "slow-cc", tmp_path / "slow", tmp_path / "temporary"
    compiler.write_text(SLOW_COMPILER)
    compiler.chmod(0o755)
    slow.touch()
    temporary.mkdir()
    own = {"CC": compiler, "SLOW": slow, "TMPDIR": temporary, "DALEMBERT_CACHE": tmp_path / "own cache"}
    command = [sys.executable, "-c", INTERRUPTED]
    settings = {**os.environ, **{name: str(value) for name, value in own.items()}}
    with subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            while not slow.read_text() and process.poll() is None:
                time.sleep(0.02)
            (os.killpg if all_of_them else os.kill)(process.pid, signal.SIGINT)
            told, _ = process.communicate(timeout=50)  # before the compiler would have been done by itself
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    first, second = told.splitlines()
    assert first.startswith("interrupted")
    assert [name for name in first.split()[1:] if not name.startswith("compiler-")] == []  # the note of its version
    assert second == f"compiled {wanted.hex()}"


def test_a_kernel_on_disk_needs_no_source(cache, monkeypatch):
    before = final(pendulum())
    monkeypatch.setattr(kernel, "_made", {})  # as in a new process
    monkeypatch.setattr("dalembert.kernel.emit.source.kernel_source", None)  # making it would fail
    assert final(pendulum()) == before


def test_a_package_updated_under_a_running_process_does_no_harm(cache, monkeypatch):
    """Loaded code and code on disk differ: what is built then must not be found under either."""
    ready_library()  # which serves all models, and may have to be built
    libraries = set(cache.glob("*.so"))
    monkeypatch.setattr("dalembert.kernel.package_digest.LOADED", "before the update")
    monkeypatch.setattr("dalembert.kernel.package_digest.LOADED_STATES", [])
    before = final(pendulum())
    monkeypatch.undo()
    monkeypatch.setenv("DALEMBERT_CACHE", str(cache))
    monkeypatch.setenv("DALEMBERT_OPTIMISE", "0")  # as before: other code rounds otherwise
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    monkeypatch.setattr(kernel, "_made", {})
    assert final(pendulum()) == before
    assert len(set(cache.glob("*.so")) - libraries) == 2


def test_the_limit_counts_for_a_kernel_on_disk_too(cache, monkeypatch):
    """What a run gives must not depend on what lies in the cache."""
    final(pendulum())
    monkeypatch.setattr(native, "AUTO_INSTRUCTIONS", 10)
    for made in (kernel._made, {}):
        monkeypatch.setattr(kernel, "_made", made)
        assert pendulum().simulate(0.1, samples=2, backend="auto").backend == "reference"
        assert pendulum().simulate(0.1, samples=2, backend="native").backend == "native"


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
    from dalembert.kernel.emit.source import kernel_source

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

    text = (Path(kernel.__file__).parent / "runtime" / "base" / "base.h").read_text(encoding="utf-8")
    codes = {name: int(value) for name, value in re.findall(r"DA_([A-Z_]+) = (\d+)", text)}
    assert codes
    for name, value in codes.items():
        assert getattr(kernel, name) == value


def test_kernels_too_large_are_left_to_the_reference(monkeypatch):
    monkeypatch.setattr("dalembert.motion.integrate.native.AUTO_INSTRUCTIONS", 100)
    motion = da.library.get("hinged_rods").simulate(0.05, samples=2)
    assert motion.backend == "reference"
    assert any("backend='native'" in warning for warning in motion.warnings)


@pytest.mark.parametrize(("asked", "used"), [("", "-O2"), ("0", "-O0"), ("3", "-O2"), ("many", "-O2")])
def test_kernels_are_optimised_no_more_than_asked(
    asked: str, used: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DALEMBERT_OPTIMISE", asked)
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path))
    commands = []
    real = build.subprocess.run

    def noted(command, *rest, **more):
        commands.append(command)
        return real(command, *rest, **more)

    monkeypatch.setattr(build.subprocess, "run", noted)
    build.build("double two(void) { return 2.0; }", build.find_compiler())
    assert any(used in command for command in commands)
