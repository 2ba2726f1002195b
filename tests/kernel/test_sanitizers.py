"""Kernels of every kind under the address and undefined-behaviour sanitizers: no access outside an array, no overflow,
no shift too far, nothing lost.

The calls are recorded and repeated by a program of their own (`sanitized.c`): the sanitizers need not live in Python.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dalembert.kernel import kernel
from dalembert.kernel.build import find_compiler
from dalembert.kernel.events import EventBuffer
from dalembert.methods.table import METHODS
from kernel.kernel_cases import SPECIAL, Call, calls

compiler = find_compiler()
MAIN = (Path(__file__).parent / "sanitized.c").read_text(encoding="utf-8")
# Cases that are there for the sake of the robust path, and must take it.
LEAVES = (
    "from a singular configuration",
    "gradient that vanishes",
    "double point",
    "repeated constraint",
    "repeated row",
)
# Without optimisation: three times as fast to compile, and nothing is optimised away.
FLAGS = ("-std=c11", "-O0", "-g1", "-fno-math-errno", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@cache
def obstacle() -> str | None:
    """Why there is no sanitizing here."""
    if compiler is None:
        return "no C compiler on this machine"
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled("int main(void) { return 0; }\n", Path(folder))
            subprocess.run([program], check=True, capture_output=True, env=environment())
        except (subprocess.CalledProcessError, OSError):
            return "the compiler has no sanitizers, or they do not run here"
    return None


def environment() -> dict[str, str]:
    return {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1"}


def compiled(source: str, folder: Path) -> Path:
    assert compiler is not None
    text, program = folder / "kernel.c", folder / "kernel"
    text.write_text(source, encoding="utf-8")
    command = [*compiler.command, *FLAGS, str(text), "-o", str(program), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return program


def asked_of(buffer: EventBuffer | None) -> list[np.ndarray]:
    """What a run is asked about events: directions, which end it, which may begin at zero; and the places of kinks."""
    asked = np.zeros(0) if buffer is None else buffer._asked
    events = 0 if buffer is None else (buffer._requests.terminal - buffer._requests.direction) // asked.itemsize
    return np.split(asked, [events, 2 * events, 3 * events])


def written(call: Call) -> bytes:
    """A call as `sanitized.c` reads it."""
    a = call.arguments
    buffer = a["events"]
    directions, terminals, from_zero, places = asked_of(buffer)
    branch = a["branch"]
    head = [METHODS[a["method"]].code, a["project"], a["t0"], a["rtol"], len(a["times"]), len(directions)]
    pace = a["pace"]
    head += [branch is not None, pace.count, pace.share, 0]
    parts = [head, a["y0"], a["parameters"], a["atol"], a["times"], directions, terminals, from_zero, places]
    parts += [[] if branch is None else branch, *pace.arrays[:2]]
    return b"".join(np.asarray(part, dtype=float).tobytes() for part in parts)


def repeated(program: Path, recorded: Sequence[Call]) -> subprocess.CompletedProcess[str]:
    file = program.with_name("calls")
    file.write_bytes(b"".join(written(call) for call in recorded))
    return subprocess.run([program, file], capture_output=True, text=True, env=environment())


# Of the library one system of each kind: rigid, rolling, of singular mass, redundant, nonlinear in the accelerations,
# driven, doing work, with contacts that stick and that bounce, large. The others differ from these in straight-line
# code alone, by the same writer, and take three seconds each to compile.
OF_EACH_KIND = (
    "pendulum", "penny", "quaternion_body", "redundant_double_pendulum", "prescribed_acceleration",
    "moving_length_pendulum", "appell_hamel", "stick_slip", "bouncing_ball", "hinged_rods",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OF_EACH_KIND, *SPECIAL])
def test_clean(name: str, tmp_path: Path) -> None:
    if obstacle():
        pytest.skip(str(obstacle()))
    recorded = calls(name)
    done = repeated(compiled(recorded[0].source + MAIN, tmp_path), recorded)
    assert done.returncode == 0, done.stderr[:3000]
    rows = [np.array(line.split(), dtype=float) for line in done.stdout.splitlines()]
    assert len(rows) == len(recorded)
    for row, call in zip(rows, recorded, strict=True):
        status, points, robust, found = row[:4]
        assert status == kernel.DONE
        directions, terminals, _, places = asked_of(call.arguments["events"])
        if not terminals.any():
            assert points == len(call.arguments["times"])
        asked = directions.size > places.size  # kinks are passed silently
        assert found > 0 if asked else found == 0
        assert robust > 0 or not name.endswith(LEAVES), "it was to leave the straight-line code"
        # All methods end in the same state: a thousand tolerances of 1e-7 for the loosest of them.
        np.testing.assert_allclose(row[4:], rows[0][4:], atol=1e-4 * (1 + np.abs(rows[0][4:]).max()))


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("double s[DA_NW], turn = 0.0", "double s[DA_NE], turn = 0.0", "insufficient space|stack-buffer-overflow"),
        (
            "for (j = 0; j < DA_NY; j++) r->y[j] = y0[j];",
            "for (j = 0; j <= DA_NY; j++) r->y[j] = y0[j];",
            "heap-buffer-overflow",
        ),
        ("r->ctx.rejected++;", "r->ctx.rejected += 9223372036854775807;", "signed integer overflow"),
    ],
)
def test_a_fault_is_seen(good: str, bad: str, words: str, tmp_path: Path) -> None:
    """The measure itself."""
    if obstacle():
        pytest.skip(str(obstacle()))
    recorded = calls("pendulum")
    text = recorded[0].source.replace(good, bad)
    assert text != recorded[0].source
    done = repeated(compiled(text + MAIN, tmp_path), recorded)
    assert done.returncode != 0
    assert re.search(words, done.stderr), done.stderr[:3000]
