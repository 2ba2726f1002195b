"""The runtime that serves every model under the sanitizers: one program, and models of every kind as data."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from dalembert.kernel import kernel
from dalembert.kernel.ready.model import TapeModel, make_model, make_parts
from dalembert.kernel.ready.runtime import SIZES, runtime_library, source
from dalembert.methods.table import METHODS
from kernel.kernel_cases import SPECIAL, Call, calls
from kernel.test_sanitizers import LEAVES, MAIN, compiled, environment, obstacle, written

# All ways through the runtime, and of the library what is nothing new here, once.
CASES = (*SPECIAL, "penny", "redundant_double_pendulum", "quaternion_body", "stacked_blocks")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if obstacle():
        pytest.skip(str(obstacle()))
    return compiled(f'#define DA_READY_DIGEST ""\n{source()}{MAIN}', tmp_path_factory.mktemp("runtime"))


def as_data(model: TapeModel) -> bytes:
    """A model as `sanitized.c` reads it."""
    size, lists, _, data, work_at, inputs, outputs, tapes = model.parts
    numbers: list[np.ndarray] = []

    def put(whole: np.ndarray) -> None:
        numbers.extend([np.array([whole.size]), np.asarray(whole).ravel()])

    for whole in (size, *lists, work_at, inputs, outputs):
        put(whole)
    for tape, found in zip(tapes, data, strict=True):
        fields = ("constant_count", "parameter_count", "inputs_at", "outputs_at", "output_count", "size")
        put(np.array([getattr(found, name) for name in fields]))
        if tape is None:
            put(np.zeros(0))
            put(np.zeros(0))
            continue
        fixed = (found.live - found.fixed) // tape.code.itemsize
        put(tape.code[:fixed])
        put(tape.code[fixed:])
        numbers.append(tape.constants)
    return b"".join(np.asarray(part, dtype=float).tobytes() for part in numbers)


def repeated(
    program: Path, recorded: list[Call], folder: Path, wrong: Mapping[str, float] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    """The calls, by tape. wrong: shares of sizes that are said instead of the right ones."""
    library = runtime_library()
    assert library is not None
    system, graph, rows, completion = recorded[0].model
    made = make_model(make_parts(library, system, graph, rows, True, completion))
    for name, share in wrong.items():
        at = SIZES.index(name)
        made.parts[0][at] = int(share * made.parts[0][at])
    (folder / "model").write_bytes(as_data(made))
    (folder / "calls").write_bytes(b"".join(written(call) for call in recorded))
    command = [program, folder / "calls", folder / "model"]
    return subprocess.run(command, capture_output=True, text=True, env=environment())


@pytest.mark.parametrize("name", CASES)
def test_clean(name: str, program: Path, tmp_path: Path) -> None:
    recorded = [call for call in calls(name) if not METHODS[call.arguments["method"]].series]
    done = repeated(program, recorded, tmp_path)
    assert done.returncode == 0, done.stderr[:3000]
    rows = [np.array(line.split(), dtype=float) for line in done.stdout.splitlines()]
    assert len(rows) == len(recorded)
    for row in rows:
        status, _, robust, _ = row[:4]
        assert status == kernel.DONE
        assert robust > 0 or not name.endswith(LEAVES), "it was to leave the straight-line code"
        # All methods end in the same state: a thousand tolerances of 1e-7 for the loosest of them.
        np.testing.assert_allclose(row[4:], rows[0][4:], atol=1e-4 * (1 + np.abs(rows[0][4:]).max()))


def test_a_fault_is_seen(program: Path, tmp_path: Path) -> None:
    """The measure itself: of the arrays that stand behind each other, one is too short."""
    recorded = calls("pendulum")[:1]
    done = repeated(program, recorded, tmp_path, {"DA_NC": 0.5})
    assert done.returncode != 0
    assert "use-after-poison" in done.stderr
