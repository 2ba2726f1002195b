"""Systems that are made ready once and run many times: from other states, with other values, by several threads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.prepare import Prepared
from dalembert.motion.run import Run
from dalembert.remember import remember

OPTIONS = {"rtol": 1e-8, "samples": 11}


def end(run: Run) -> bytes:
    return run.trajectory.y.tobytes()


@pytest.mark.parametrize("name", ["penny", "stick_slip", "bouncing_ball"])
def test_a_run_is_the_motion_that_simulate_gives(name: str) -> None:
    system = getattr(da.library, name)()
    run, motion = system.prepare(2.0, **OPTIONS).run(), system.simulate(2.0, **OPTIONS)
    for mine, other in ((run.q, motion.q), (run.v, motion.v), (run.t, motion.t)):
        assert np.array_equal(mine, other)
    assert np.array_equal(run.motion().ideal, motion.ideal)
    assert run.motion().certificate == motion.certificate


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_values_by_name_and_as_arrays_are_those_of_replace(backend: str) -> None:
    system = da.library.pendulum()
    prepared = system.prepare(1.0, backend=backend, **OPTIONS)
    changed = system.replace(parameters={"m": 3.0, "g": 1.5})
    wanted = changed.simulate(1.0, backend=backend, **OPTIONS)
    q, v, t = changed.initial_values()
    named = prepared.run(parameters={"m": 3.0, "g": 1.5})
    arrays = prepared.run(da.State(q, v, t), changed.parameter_values())
    for run in (named, arrays):
        assert np.array_equal(run.q, wanted.q)
        motion = run.motion()
        assert motion.certificate.holds
        assert np.array_equal(motion.ideal, wanted.ideal)
        assert dict(motion.system.parameters) == dict(changed.parameters)


def test_a_run_from_another_state_and_time() -> None:
    """Half the motion, then the other half from there: the state of a free fall is known in closed form."""
    (x,) = da.coordinates("x")
    falling = da.System("fall", coordinates=[x], kinetic=x.d**2 / 2, forces={x: -da.t}, initial={x: 1, x.d: 2})
    prepared = falling.prepare(1.5, **OPTIONS)
    first = prepared.run()
    second = prepared.run(da.State(first.q[-1], first.v[-1], float(first.t[-1])))
    assert second.t[0] == 1.5
    assert second.t[-1] == 3.0
    # x'' = -t: x = 1 + 2 t - t³/6. The error of a polynomial of third degree is rounding.
    np.testing.assert_allclose(second.q[:, 0], 1 + 2 * second.t - second.t**3 / 6, atol=1e-13)
    assert second.motion().certificate.holds
    assert second.motion().system.initial_values()[2] == 1.5
    named = prepared.run({"x": 5.0})
    np.testing.assert_allclose(named.q[-1, 0], 5 + 2 * 1.5 - 1.5**3 / 6, atol=1e-13)


def many(prepared: Prepared, speeds: np.ndarray, workers: int) -> list[bytes]:
    q, v, t = prepared.system.initial_values()
    starts = [da.State(q, speed * v, t) for speed in speeds]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda start: end(prepared.run(start)), starts))


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("name", ["penny", "thrown_block"])
def test_threads_give_what_one_gives_bit_for_bit(name: str, backend: str) -> None:
    prepared = getattr(da.library, name)().prepare(0.5, backend=backend, **OPTIONS)
    speeds = np.linspace(0.5, 1.5, 8)
    alone, together = many(prepared, speeds, 1), many(prepared, speeds, 4)
    assert alone == together
    assert len(set(alone)) == speeds.size


def test_what_is_wrong_with_a_start_is_told() -> None:
    prepared = da.library.pendulum().prepare(1.0)
    q, v, t = prepared.system.initial_values()
    with pytest.raises(da.InconsistentState, match="violated"):
        prepared.run(da.State(2 * q, v, t))
    with pytest.raises(da.ModelError, match="in this order"):
        prepared.run(parameters=np.zeros(17))
    with pytest.raises(da.ModelError, match="mass"):
        prepared.run(parameters={"mass": 1.0})


def test_a_run_that_ends_early_says_why() -> None:
    """x'' = x'²: the velocity 1/(1 - t) has no value at t = 1."""
    (x,) = da.coordinates("x")
    system = da.System("burst", coordinates=[x], kinetic=x.d**2 / 2, forces={x: x.d**2}, initial={x: 0, x.d: 1})
    run = system.prepare(2.0, **OPTIONS).run()
    assert run.failure is not None
    assert run.t[-1] < 1.0 + 1e-6  # the error of the time at which it bursts, some hundred tolerances
    with pytest.raises(da.MotionFailed):
        run.motion()


def test_a_state_of_another_shape_is_told() -> None:
    prepared = da.library.pendulum().prepare(1.0)
    with pytest.raises(da.ModelError, match="2 numbers each"):
        prepared.run(da.State([1.0, 2.0, 3.0], [0.0, 0.0]))
    with pytest.raises(da.ModelError, match="finite"):
        prepared.run(da.State([1.0, np.nan], [0.0, 0.0]))
    with pytest.raises(da.ModelError, match="real numbers"):
        prepared.run(da.State([1.0, 1j], [0.0, 0.0]))
    for wrong in (np.zeros(4), [1.0, 2.0], "x=7", da.library.pendulum().at()):
        with pytest.raises(da.ModelError, match="a state is given by names"):
            prepared.run(wrong)
    for wrong in ("k=4", ["a", 2, 3], np.full(3, np.nan)):
        with pytest.raises(da.ModelError, match="finite numbers"):
            prepared.run(parameters=wrong)
    with pytest.raises(da.ModelError, match="rtol"):
        da.library.pendulum().prepare(1.0, tol=1e-3)  # as simulate proposes


def test_what_is_prepared_travels_to_other_processes() -> None:
    """Before a run and after it: buffers stay where they are, all else goes."""
    prepared = da.library.penny().prepare(1.0, **OPTIONS)
    run = prepared.run()
    copy = pickle.loads(pickle.dumps(prepared))
    assert end(copy.run()) == end(run)
    assert pickle.loads(pickle.dumps(run)).motion().certificate == run.motion().certificate


def test_things_kept_are_not_lost_to_other_threads() -> None:
    """More structures than are kept, asked for by several threads at once."""
    kept: dict[object, int] = {}
    with ThreadPoolExecutor(8) as pool:
        asked = [k % 7 for k in range(2000)]
        assert list(pool.map(lambda k: remember(kept, k, lambda: 10 * k, 3), asked)) == [10 * k for k in asked]
    assert len(kept) <= 3


def test_values_may_come_with_the_run() -> None:
    """x″ = −k x from x = 1: cos √k t."""
    (x,), (k,) = da.coordinates("x"), da.parameters("k")
    spring = da.System("spring", coordinates=[x], kinetic=x.d**2 / 2, potential=k * x**2 / 2)
    run = spring.prepare(1.0, rtol=1e-10, samples=11).run(da.State([1], [0]), np.array([4.0]))
    np.testing.assert_allclose(run.q[:, 0], np.cos(2 * run.t), atol=1e-8)  # some tolerances
    assert run.motion().certificate.holds
