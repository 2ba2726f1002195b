"""`auto` takes Taylor series where they have won a race against the method it has: when that is run, what it decides,
and what is kept of it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.integrate import kernel_choice, race

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
PERIODS = 40 * math.pi


@pytest.fixture(autouse=True)
def _no_race_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled kernels only, which are not optimised, in a folder of their own: races count work, not time."""
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    monkeypatch.setenv("DALEMBERT_OPTIMISE", "0")
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path))
    monkeypatch.setattr(kernel_choice, "_steps", {})
    monkeypatch.setattr(kernel_choice, "_winners", {})
    monkeypatch.setattr(kernel_choice, "_not_raced", set())


def spring(force: str = "-x") -> da.System:
    """x″ = −x from x = 1: cos t."""
    return da.System("spring", coordinates="x", kinetic="x'^2/2", forces={"x": force}, initial={"x": 1, "x'": 0})


def soon(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    monkeypatch.setattr(kernel_choice, "steps_worth_a_race", lambda instructions: steps)


def test_short_runs_that_add_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before, at and after the race; and in a process that comes later, which finds the winner on disk."""
    ready = spring().prepare(10.0, rtol=1e-9, samples=11)
    first = ready.run()
    soon(monkeypatch, 5 * first.timing.steps)
    methods = [ready.run().trajectory.method for _ in range(6)]
    assert methods == ["DOP853"] * 4 + ["Taylor"] * 2
    assert len(list(tmp_path.glob("*.race"))) == 1
    monkeypatch.setattr(kernel_choice, "_winners", {})
    later = spring().prepare(10.0, rtol=1.1e-9, samples=11).run()  # of the same decade
    assert later.trajectory.method == "Taylor"
    for run in (first, ready.run(), later):
        # Errors of steps add up over ten units of time: some tolerances.
        np.testing.assert_allclose(run.q[:, 0], np.cos(run.t), atol=1e-8)
    assert spring().prepare(10.0, rtol=1e-3, samples=11).run().trajectory.method == "DOPRI5"
    assert spring().simulate(10.0, rtol=1e-9, method="dop853", samples=3).method == "DOP853"
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    assert spring().simulate(10.0, rtol=1e-9, samples=3).method == "DOP853"


def test_a_long_run_races_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its first thousand steps; then it begins anew by the winner, bit for bit what a later call gives."""
    soon(monkeypatch, 2000)
    long = spring().simulate(20 * PERIODS, rtol=1e-10, samples=5)
    assert long.method == "Taylor"
    assert long.timing.compile_s > 0.01  # that of the series counts as what it is
    assert np.array_equal(long.q, spring().simulate(20 * PERIODS, rtol=1e-10, samples=5).q)
    # The phase errs by a tolerance in each of some thousand radians, and each is magnified by those after it: in t².
    np.testing.assert_allclose(long.q[:, 0], np.cos(long.t), atol=1e-7)
    assert long.certificate.holds


def test_series_that_have_no_value_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no value beyond a kink is left as it is written: there is no series of max(x, 0)^1.5."""
    soon(monkeypatch, 1)
    system = spring("-max(x, 0)^1.5")
    for _ in range(2):
        assert system.simulate(2.0, rtol=1e-9, samples=3).method == "DOP853"
    assert list(kernel_choice._winners.values()) == ["dop853"]


def test_the_work_of_series_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race with a rival whose series have a thousand times the instructions."""
    soon(monkeypatch, 1)
    compiled = kernel_choice.Wanted.compiled

    def long_winded(wanted: kernel_choice.Wanted) -> object:
        kernel = compiled(wanted)
        return replace(kernel, effort=tuple(1000 * x if k > 1 else x for k, x in enumerate(kernel.effort)))

    monkeypatch.setattr(kernel_choice.Wanted, "compiled", long_winded)
    for _ in range(2):
        assert spring().simulate(2.0, rtol=1e-9, samples=3).method == "DOP853"
    assert list(kernel_choice._winners.values()) == ["dop853"]


@pytest.mark.parametrize(("rtol", "orders"), [(1e-1, 4), (1e-4, 10), (1e-9, 20), (1e-14, 28)])
def test_orders_are_those_of_the_runtime(rtol: float, orders: int) -> None:
    """1 − 0.9 ln rtol, upwards, from 4 to 28: as the comment at DA_TAYLOR_SHARE has it."""
    assert race.orders_of(rtol) == orders


def test_longer_models_are_worth_fewer_steps() -> None:
    """A step costs in proportion to the instructions, compiling too, but has more to begin with."""
    assert kernel_choice.steps_worth_a_race(100) > kernel_choice.steps_worth_a_race(100_000) > 1000


def test_a_race_that_was_not_run_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is run, nobody need look for it on disk again."""
    looked, read = [], kernel_choice.read_kept
    monkeypatch.setattr(kernel_choice, "read_kept", lambda name: looked.append(name) or read(name))
    ready = spring().prepare(3.0, rtol=1e-9, samples=3, events={"middle": "x"})
    first = ready.run()
    soon(monkeypatch, 5 * first.timing.steps)
    assert [ready.run().trajectory.method for _ in range(3)] == ["DOP853"] * 3
    assert len(looked) == 1
    assert ready.run().trajectory.method == "DOP853"  # after which the race is run
    assert ready.run().trajectory.method == "Taylor"
