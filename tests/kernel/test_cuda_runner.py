"""The runner of CUDA sources: chunks, several GPUs, what it says of bad input, and that it stands alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import DalembertError
from dalembert.kernel.build import find_compiler
from dalembert.kernel.cuda import run as runner
from dalembert.motion.export import cuda_program

from .fake_cupy import fake_cupy

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
VALUES = {"g": np.linspace(5.0, 15.0, 11)}


@pytest.fixture(scope="module")
def program():
    return cuda_program(da.library.pendulum(), 1.0).program


@pytest.fixture
def gpus(monkeypatch):
    """Sets how many GPUs there are, and how many bytes they have free."""

    def there_are(devices: int = 1, free: int = 10**9) -> None:
        monkeypatch.setattr(runner, "_cupy", lambda: fake_cupy(devices, free))

    there_are()
    return there_are


@needs_compiler
def test_chunks_and_gpus_change_no_bit(program, gpus):
    whole = runner.run(program, VALUES)
    gpus(devices=3)
    parts = list(runner.stream(program, VALUES, chunk=2))
    assert sorted(part.start for part in parts) == [0, 2, 4, 6, 8, 10]
    for part in parts:
        np.testing.assert_array_equal(part.final, whole.final[part.start : part.start + 2])
    gpus(free=2000)  # room for a few members only
    small = list(runner.stream(program, VALUES))
    assert len(small) > 1
    np.testing.assert_array_equal(np.concatenate([part.final for part in small]), whole.final)


@needs_compiler
def test_values_may_come_by_the_chunk_and_members_be_sorted(program, gpus):
    whole = runner.run(program, VALUES)
    given = [part.final for part in runner.stream(program, lambda a, b: {"g": VALUES["g"][a:b]}, 11, chunk=4)]
    np.testing.assert_array_equal(np.concatenate(given), whole.final)
    for options in ({"sort": True}, {"refill": True}, {"sort": True, "refill": True}):
        np.testing.assert_array_equal(runner.run(program, VALUES, **options).final, whole.final)


@needs_compiler
def test_a_longest_step_is_obeyed(program, gpus):
    few, many = runner.run(program, {}), runner.run(program, {}, max_step=1e-3)
    assert many.steps[0] >= 1000 > few.steps[0]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ({"gg": 1.0}, {}, "no parameter, coordinate or velocity 'gg'"),
        ({"g": np.array([1.0, np.nan])}, {}, "not all of its values are finite"),
        ({"g": [1.0, 2.0], "m": [1.0, 2.0, 3.0]}, {}, "one number or 3 of them"),
        ({"g": "fast"}, {}, "numbers are wanted"),
        ({"g": np.zeros(0)}, {}, "no members"),
        ({}, {"duration": -1.0}, "must be positive"),
        ({}, {"keep": True, "observe": ["energie"]}, "Did you mean 'energy'"),
        ({}, {"keep": True, "times": [0.0, 0.0]}, "must increase"),
        ({}, {"max_step": 0.0}, "must be positive"),
    ],
)
def test_bad_input_is_one_clear_message(program, gpus, values, options, message):
    with pytest.raises(DalembertError, match=message):
        runner.run(program, values, **options)


def test_no_cupy_and_no_gpu_are_said(program, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(runner.NoGpu, match="CuPy is needed"):
        runner.run(program, VALUES)
    without = fake_cupy(devices=0)
    monkeypatch.setitem(sys.modules, "cupy", without)
    with pytest.raises(runner.NoGpu, match="no CUDA GPU"):
        runner.run(program, VALUES)

    def fails() -> int:
        raise RuntimeError("no driver")

    without.cuda.runtime.getDeviceCount = fails
    with pytest.raises(runner.NoGpu, match="no driver"):
        runner.run(program, VALUES)


def test_exported_files_need_nothing_of_dalembert(tmp_path: Path):
    written = cuda_program(da.library.pendulum(), 1.0).write(tmp_path / "swing.cu")
    assert [file.name for file in written] == ["swing.cu", "swing.json", "swing.run.py"]
    about = json.loads(written[1].read_text(encoding="utf-8"))
    assert about["coordinates"] == ["x", "y"]
    blocked = "import sys; sys.modules.update(dict.fromkeys(['dalembert', 'cupy', 'sympy', 'casadi'])); "
    line = f"{blocked}sys.argv = [{str(written[2])!r}, '--vary', 'g=5:15:3']; import runpy; "
    line += f"runpy.run_path({str(written[2])!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("swing.run.py: CuPy is needed")


def test_the_runner_loads_neither_sympy_nor_casadi():
    line = "import sys, dalembert.kernel.cuda.run; print([m for m in ('sympy', 'casadi', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@needs_compiler
def test_the_command_line_of_the_runner(tmp_path: Path, gpus, capsys, monkeypatch):
    written = cuda_program(da.library.pendulum(), 1.0).write(tmp_path / "swing.cu")
    monkeypatch.setattr(sys, "argv", [str(written[2])])
    out = tmp_path / "out.npz"
    assert runner.main(["--vary", "g=5:15:3", "--random", "m=1:2", "--members", "2", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["members"], told["failed"]) == (6, 0)
    np.testing.assert_array_equal(np.load(out)["value g"], [5, 5, 10, 10, 15, 15])
    for words, message in (
        (["--vary", "g=5:15"], "NAME=LOW:HIGH:NUMBER is wanted"),
        (["--vary", "g=5:15:0"], "whole number of points"),
        (["--random", "m=1:2"], "needs --members"),
        (["--set", "h=1"], "no parameter, coordinate or velocity 'h'"),
        (["--program", str(tmp_path / "none.json")], "not the description"),
    ):
        assert runner.main(words) == 2
        assert message in capsys.readouterr().err
