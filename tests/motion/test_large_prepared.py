"""A large system made ready once runs as `simulate` does, from any state, and its graph as a whole is never made."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from large_systems import chain, rods

import dalembert as da
from dalembert.kernel.rolled import functions
from dalembert.kernel.waited import waited
from dalembert.motion import prepare as small
from dalembert.motion.large import model as making
from dalembert.motion.large import prepare as preparing
from dalembert.motion.large import size as module


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 4)


def same(run: da.Motion, motion: da.Motion) -> bool:
    names = ("t", "q", "v", "a", "ideal", "multipliers", "energy")
    return all(np.array_equal(getattr(run, name), getattr(motion, name)) for name in names)


@pytest.mark.parametrize("system", [chain(6), rods(5)], ids=lambda s: s.name)
def test_a_run_is_the_motion_that_simulate_gives(system: da.System):
    motion = system.simulate(0.3, samples=4)
    prepared = system.prepare(0.3, samples=4)
    run = prepared.run()
    np.testing.assert_array_equal(run.q, motion.q)
    assert same(run.motion(), motion)
    assert run.motion().certificate.holds
    again = pickle.loads(pickle.dumps(prepared))
    np.testing.assert_array_equal(again.run().q, motion.q)


def test_other_states_and_parameters():
    system = chain(6)
    prepared = system.prepare(0.3, samples=4)
    other = system.replace(parameters={"m": 2.5})
    q, v, t = system.initial_values()
    p = other.parameter_values()
    shaken = da.State(q, v + 0.1, t + 2.0)
    start = {**dict(zip(system.coordinates, q, strict=True)), **dict(zip(system.velocities, v + 0.1, strict=True))}
    motion = other.replace(initial={**start, "t": t + 2.0}).simulate(0.3, samples=4)
    for run in (prepared.run(shaken, p), prepared.run(shaken, {"m": 2.5}), prepared.run({**start, "t": t + 2.0}, p)):
        found = run.motion()
        assert same(found, motion)
        assert found.certificate.holds
        np.testing.assert_array_equal(found.system.initial_values()[1], v + 0.1)
        np.testing.assert_array_equal(found.system.parameter_values(), p)
    with pytest.raises(da.ModelError, match="there is no parameter 'M'"):
        prepared.run(parameters={"M": 1})


def test_the_whole_graph_is_not_made(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise AssertionError("made as a whole")

    monkeypatch.setattr(small, "graph_of", refuse)
    monkeypatch.setattr(small, "Evaluation", refuse)
    assert chain(7).prepare(0.1, samples=3).run().q.shape == (3, 7)


def test_compiling_is_told_apart(monkeypatch: pytest.MonkeyPatch):
    """Seconds of the compiler, made up here, count as such, once, and are taken from those of deriving."""

    def compiled(*given: object) -> object:
        there = waited.seconds
        made = found(*given)
        waited.seconds = there + 1000.0
        return made

    found = making.compile_programs
    monkeypatch.setattr(making, "compile_programs", compiled)
    monkeypatch.setattr(making, "_made", {})
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    system = chain(8)
    timing = system.simulate(0.1, samples=3).timing
    assert timing.compile_s == pytest.approx(1000.0)
    assert -1000.0 < timing.derive_s < 0.0
    assert timing.integrate_s > 0.0
    timing = system.simulate(0.1, samples=3).timing  # what was compiled is kept
    assert timing.compile_s == 0.0
    assert timing.derive_s > 0.0


@pytest.mark.parametrize(
    ("forces", "options", "told"),
    [
        ({}, {"method": "stiff"}, "for method='stiff' all 7 coordinates"),
        ({"a0": "-abs(a0')*a0'"}, {}, "for kinks"),
        ({"a0": "-a0'^3"}, {}, None),
    ],
)
def test_what_is_slow_as_a_whole_is_told_before(
    forces: dict[str, str], options: dict[str, str], told: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(preparing, "MANY_AS_A_WHOLE", 7)
    system = chain(7).replace(forces=forces)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        system.prepare(0.1, samples=3, **options)
    messages = [str(each.message) for each in heard if "as a whole" in str(each.message)]
    assert len(messages) == (told is not None)
    assert told is None or told in messages[0]


@pytest.mark.parametrize("has_library", [True, False])
def test_without_a_compiler(has_library: bool, monkeypatch: pytest.MonkeyPatch):
    """The library that came with the package does programs by tables; without it the small way says why it is slow."""
    system = chain(7)
    quick = system.simulate(0.1, rtol=1e-8, samples=3)
    assert quick.warnings == ()
    monkeypatch.setattr(making, "_made", {})
    for place in (making, preparing):
        monkeypatch.setattr(place, "find_compiler", lambda: None)
    if not has_library:
        monkeypatch.setattr(functions, "large_library", lambda: None)
    slow = system.simulate(0.1, rtol=1e-8, samples=3)
    told = any("7 coordinates were taken as a whole" in each and "compiler" in each for each in slow.warnings)
    assert told != has_library
    assert slow.q == pytest.approx(quick.q, abs=1e-7)  # two ways, each at rtol 1e-8
    assert slow.certificate.holds
