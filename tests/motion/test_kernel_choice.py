"""Tape or compiled kernel: which of them runs, when, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel import kernel, tape_kernel
from dalembert.kernel.build import BuildError, find_compiler
from dalembert.kernel.ready.library import ready_library
from dalembert.motion.integrate import kernel_choice, native
from dalembert.motion.integrate.kernel_choice import LOOKS, steps_worth_compiling

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture(autouse=True)
def _anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel on disk, none in memory, no steps taken, nothing wished for; what serves all is loaded as it is."""
    assert ready_library() is not None
    assert kernel_choice.runtime_library() is not None
    monkeypatch.delenv("DALEMBERT_KERNEL", raising=False)
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path))
    monkeypatch.setenv("DALEMBERT_OPTIMISE", "0")
    monkeypatch.setattr(kernel, "_made", {})
    monkeypatch.setattr(kernel, "_missing", set())
    monkeypatch.setattr(tape_kernel, "_made", {})
    monkeypatch.setattr(kernel_choice, "_steps", {})


def run(duration: float = 1.0, backend: str = "auto", **options: object) -> da.Run:
    return da.library.pendulum().prepare(duration, samples=5, backend=backend, **options).run()


def compiled_soon(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    monkeypatch.setattr(kernel_choice, "steps_worth_compiling", lambda instructions: steps)


def test_a_first_short_run_needs_no_compiler_run(tmp_path: Path) -> None:
    found = run(backend="native")
    assert found.timing.kernel == "tape"
    assert found.motion().backend == "native"
    assert list(tmp_path.glob("*.so")) == []


def test_runs_that_add_up_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run()
    compiled_soon(monkeypatch, first.timing.steps + LOOKS - 1)  # too few left to be worth a run
    assert run().timing.kernel == "compiled"
    assert run().timing.kernel == "compiled"


def test_steps_that_look_for_events_of_contacts_count_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_soon(monkeypatch, 4 * (LOOKS - 1))  # enough for a run of others, too few for one of these
    assert run().timing.kernel == "tape"
    assert da.library.bouncing_ball().prepare(0.1, samples=5).run().timing.kernel == "compiled"


def test_a_long_run_begins_anew_on_the_compiled_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_soon(monkeypatch, 2 * LOOKS)
    long = run(200.0)
    assert long.timing.kernel == "compiled"
    assert long.timing.steps > 4 * LOOKS
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    np.testing.assert_array_equal(long.q, run(200.0).q)  # nothing of the tape is left in it


def test_a_kernel_on_disk_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    made = run()
    monkeypatch.delenv("DALEMBERT_KERNEL")
    monkeypatch.setattr(kernel, "_made", {})  # as in a new process
    found = run()
    assert found.timing.kernel == "compiled"
    np.testing.assert_array_equal(found.q, made.q)


def test_the_disk_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    monkeypatch.setattr(kernel, "identity", None)  # asking again would fail
    assert run().timing.kernel == "tape"


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_a_model_too_long_to_compile_runs_by_tape(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "AUTO_INSTRUCTIONS", 10)
    monkeypatch.setattr(native, "MOST_INSTRUCTIONS", 10)
    compiled_soon(monkeypatch, 0)
    found = run(backend=backend)
    assert (found.timing.kernel, found.warnings) == ("tape", ())


def test_where_compiling_fails_the_tape_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise BuildError("the disk is full")

    monkeypatch.setattr(kernel_choice, "make_kernel", fail)
    compiled_soon(monkeypatch, LOOKS)
    assert run(100.0).timing.kernel == "tape"


def test_without_a_compiler_the_tape_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_choice, "find_compiler", lambda: None)
    for wish in ("", "tape", "compiled"):
        monkeypatch.setenv("DALEMBERT_KERNEL", wish)
        assert run(backend="native").timing.kernel == "tape"
    monkeypatch.setattr(native, "_told", set())
    with pytest.warns(UserWarning, match="no C compiler"):
        found = run(method="taylor")  # series are code of the model
    assert found.trajectory.backend == "reference"
    assert found.timing.kernel == ""


def test_series_are_compiled_at_once() -> None:
    assert run(method="taylor").timing.kernel == "compiled"


def test_a_changed_table_of_methods_is_left_to_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dalembert.kernel.ready.runtime.TABLE", "of another version")
    assert run().timing.kernel == "compiled"


def test_longer_models_may_take_fewer_steps_by_tape() -> None:
    """A step costs in proportion to the instructions, compiling too, but has more to begin with."""
    few, many = steps_worth_compiling(100), steps_worth_compiling(100_000)
    assert few > many > LOOKS


def test_a_kernel_that_there_is_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALEMBERT_KERNEL", "tapes")
    with pytest.raises(da.ModelError, match="DALEMBERT_KERNEL is 'tapes'; it is 'tape' or 'compiled'"):
        run()


def test_legs_that_share_a_kernel_tell_once_what_it_took_to_make(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a motion in several legs, all of which once told it: less than nothing was left for the integration."""
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    timing = da.library.thrown_block().simulate(samples=5).timing
    assert timing.kernel == "compiled"
    assert timing.compile_s > 0.01  # a compiler was waited for
    assert timing.integrate_s > 0.0
