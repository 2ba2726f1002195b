"""Short runs from the same start, from the third on by one call of C: the same as the first, bit for bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.integrate import kernel_choice
from dalembert.motion.run import Run


def by_block(run: Run) -> bool:
    """Whether nothing but a block is there as yet."""
    return "trajectory" not in vars(run)


@pytest.mark.parametrize("name", ["penny", "quadratic_penny", "redundant_double_pendulum", "appell_hamel"])
def test_later_runs_are_the_first_one(name: str) -> None:
    ready = getattr(da.library, name)().prepare(1.0, rtol=1e-8, samples=7)
    first, _, third = ready.run(), ready.run(), ready.run()
    assert (by_block(first), by_block(third)) == (False, True)
    assert np.array_equal(third.trajectory.y, first.trajectory.y)
    assert not by_block(third)
    for mine, other in zip(third.trajectory.fastest or (), first.trajectory.fastest or (), strict=True):
        assert np.array_equal(mine, other)
    told = [(r.timing.steps, r.timing.evaluations, r.timing.kernel, r.events, r.warnings) for r in (first, third)]
    assert told[0] == told[1]
    assert 0.0 < third.timing.integrate_s < 1.0
    assert third.motion().certificate == first.motion().certificate
    assert pickle.loads(pickle.dumps(ready.run())).motion().certificate.holds


def test_many_at_once() -> None:
    """Each has a block of its own."""
    ready = da.library.pendulum().prepare(1.0, samples=5)
    wanted = [ready.run().q for _ in range(3)][-1]
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(run.q, wanted) for run in pool.map(lambda _: ready.run(), range(200)))


def test_other_starts_and_values_are_run_as_they_are_given() -> None:
    ready = da.library.pendulum().prepare(1.0, samples=5)
    own = [ready.run().q for _ in range(3)][2]
    heavy = ready.run(parameters={"g": 20.0})
    assert not by_block(heavy)
    assert not np.array_equal(heavy.q, own)
    assert np.array_equal(ready.run().q, own)


def test_systems_with_other_numbers_have_runs_of_their_own() -> None:
    """They share their settings; each is simulated in turn, more often than once."""
    light = da.library.pendulum()
    heavy = light.replace(parameters={"g": 20.0})
    wanted = [da.library.pendulum(g=g).simulate(1.0, samples=5).q for g in (light.parameter_values()[1], 20.0)]
    assert not np.array_equal(*wanted)
    for _ in range(4):
        for system, q in zip((light, light, light, heavy, heavy, heavy), np.repeat(wanted, 3, axis=0), strict=True):
            motion = system.simulate(1.0, samples=5)
            assert np.array_equal(motion.q, q)
            assert motion.certificate.holds


def test_steps_by_tape_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is run often enough is compiled in the end."""
    monkeypatch.delenv("DALEMBERT_KERNEL")
    monkeypatch.setattr(kernel_choice, "_steps", {})
    ready = da.library.sphere_particle().prepare(0.5, samples=3)
    steps = ready.run().timing.steps
    for _ in range(9):
        ready.run()
    assert list(kernel_choice._steps.values()) == [10 * steps]


def test_a_run_that_cannot_go_on_says_so_each_time() -> None:
    """x'' = x'²: the velocity 1/(1 - t) has no value at t = 1."""
    system = da.System("burst", coordinates="x", kinetic="x'^2/2", forces={"x": "x'^2"}, initial={"x": 0, "x'": 1})
    ready = system.prepare(2.0, samples=3)
    assert len({ready.run().failure for _ in range(4)} - {None}) == 1


def test_what_a_run_has_not_is_told() -> None:
    ready = da.library.pendulum().prepare(1.0, samples=5)
    run = [ready.run() for _ in range(3)][2]
    with pytest.raises(AttributeError, match="'Run' object has no attribute 'forces'"):
        _ = run.forces


def bounces() -> da.System:
    """Four walls, one of them rough, which is never reached."""
    walls = {"left": "x >= 0", "right": "1 - x >= 0", "low": "y >= 0", "high": "9 - y >= 0"}
    return da.System(
        "bounces",
        coordinates="x y",
        kinetic="(x'^2 + 3*y'^2)/2",
        potential="2*y",
        constraints=[da.Constraint(name, text, restitution=0.9) for name, text in walls.items()],
        nonideal=[da.Coulomb("high", 0.2, point=("x", "y"))],
        initial={"x": 0.3, "y": 0.2, "x'": 0.7, "y'": 1.1},
    )


def slide() -> da.System:
    """A block that slides and does not stop: heat, and no transition."""
    return da.System(
        "slide",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"floor": "y >= 0"},
        nonideal=[da.Coulomb("floor", 0.2, point=("x", "y"))],
        initial={"x": 0, "y": 0, "x'": 30, "y'": 0},
    )


@pytest.mark.parametrize("make", [bounces, slide])
def test_a_motion_with_contacts_that_is_one_leg(make: Callable[[], da.System]) -> None:
    """Its states are read from what C left, and all the rest is made of it when it is asked for."""
    ready = make().prepare(2.0, rtol=1e-8, samples=7)
    first, _, third = ready.run(), ready.run(), ready.run()
    assert (by_block(first), by_block(third)) == (False, True)
    assert np.array_equal(third.q, first.q)
    assert np.array_equal(third.v, first.v)
    assert by_block(third)
    assert np.array_equal(third.trajectory.y, first.trajectory.y)
    assert third.events == first.events
    assert third.warnings == first.warnings
    assert third.legs is not None
    assert first.legs is not None
    assert third.legs.modes == first.legs.modes
    assert [blow.loss for blow in third.legs.impacts] == [blow.loss for blow in first.legs.impacts]
    assert third.motion().certificate == first.motion().certificate
    assert third.motion().certificate.holds
    assert pickle.loads(pickle.dumps(ready.run())).events == first.events
    with ThreadPoolExecutor(4) as pool:  # each has room of its own for its bounces
        assert all(run.events == first.events for run in pool.map(lambda _: ready.run(), range(50)))


def test_a_motion_with_contacts_of_several_legs_is_run_leg_by_leg() -> None:
    ready = slide().prepare(20.0, samples=7)
    assert not any(by_block(ready.run()) for _ in range(4))
    assert ready.run().events[0]["name"] == "stick"


def test_events_of_the_user_are_passed_each_time() -> None:
    swings = da.library.pendulum().prepare(9.0, samples=5, events={"low": "x", "turn": "x'"})
    first, _, third = swings.run(), swings.run(), swings.run()
    assert by_block(third)
    assert len(first.events) > 4
    assert third.events == first.events
    ends = da.library.pendulum().prepare(9.0, samples=5, events=[da.Event("x", name="low", terminal=True)])
    assert len({ends.run().t[-1] for _ in range(4)}) == 1
    assert all(ends.run().ended_by == "low" for _ in range(2))
