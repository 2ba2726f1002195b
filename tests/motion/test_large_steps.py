"""Steps of large systems in C, beside those in Python, which are taken where events are watched."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp
from large_systems import chain, chain_in_space, net, rods

import dalembert as da
from dalembert.motion.large import size as module
from dalembert.motion.large import steps
from dalembert.motion.result.motion import Motion


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 4)
    monkeypatch.setattr(module, "is_soon_whole", lambda coordinates: False)
    monkeypatch.setattr("dalembert.motion.large.model.is_soon_whole", lambda coordinates: False)


def windows(count: int) -> da.System:
    """Cranks of length one on the ground, joined by couplers, upright and at one speed: one pendulum, which passes
    through places where all bars lie on one line.
    """
    tips = da.coordinates(" ".join(f"x{k} y{k}" for k in range(count + 1)))
    x, y = tips[::2], tips[1::2]
    rows = {f"crank {k}": (x[k] - k) ** 2 + y[k] ** 2 - 1 for k in range(count + 1)}
    rows |= {f"coupler {k}": (x[k + 1] - x[k]) ** 2 + (y[k + 1] - y[k]) ** 2 - 1 for k in range(count)}
    return da.System(
        "windows",
        coordinates=tips,
        kinetic=sum(q.d**2 for q in tips) / 2,
        potential=9.81 * sum(y),
        constraints=rows,
        initial={q: k for k, q in enumerate(x)} | dict.fromkeys(y, 1) | {q.d: 1 for q in x} | {q.d: 0 for q in y},
    )


MAKERS: dict[str, Callable[[], da.System]] = {
    "angles": lambda: chain(6),
    "a force that works": lambda: chain(6, force=True),
    "rods": lambda: rods(6),
    "net, some rods redundant": lambda: net(3),
    "in space, its end held": lambda: chain_in_space(4, held=True),
    "through singular configurations": lambda: windows(3),
}


def in_python(system: da.System, duration: float, rtol: float) -> Motion:
    """An event that never happens has each state looked at in Python."""
    return system.simulate(duration, rtol=rtol, samples=11, events={"never": system.coordinates[0] + 1e6})


@pytest.mark.parametrize("name", MAKERS)
def test_they_agree(name: str) -> None:
    system, rtol = MAKERS[name](), 1e-9
    motion, beside = system.simulate(1.0, rtol=rtol, samples=11), in_python(system, 1.0, rtol)
    assert motion.certificate.holds
    # Steps differ, so each is off by its own errors: some hundred tolerances in a chain, which magnifies them.
    for mine, other in ((motion.q, beside.q), (motion.v, beside.v), (motion.work, beside.work)):
        assert mine == pytest.approx(other, abs=1e3 * rtol * max(1.0, float(np.abs(other).max())))
    times = [[e["t"] for e in m.events if e["name"] == "singular configuration"] for m in (motion, beside)]
    # A minimum is found to the root of what rounding leaves of it.
    assert times[0] == pytest.approx(times[1], abs=1e-5)
    assert bool(times[0]) == (name == "through singular configurations")


def test_singular_configurations_are_passed_as_by_the_pendulum_that_it_is() -> None:
    """θ from the upright: θ̈ = (Σ m y) g sin θ / Σ m = g sin θ for any number of windows."""
    from scipy.integrate import solve_ivp

    motion = windows(3).simulate(3.0, rtol=1e-10, samples=4)
    exact = solve_ivp(lambda t, s: [s[1], 9.81 * np.sin(s[0])], (0, 3.0), [0.0, 1.0], rtol=1e-12, atol=1e-13)
    assert motion["x0"][-1] == pytest.approx(np.sin(exact.y[0, -1]), abs=1e-6)  # magnified on its way over the top
    assert motion.certificate.holds


def test_no_component_errs_by_more_than_a_few_tolerances() -> None:
    """One oscillator among 99 that rest: the mean over all of them would let it err ten times as far."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(100)))
    system = da.System(
        "oscillators",
        coordinates=q,
        kinetic=sum(x.d**2 for x in q) / 2,
        potential=sum(x**2 for x in q) / 2,
        initial=dict.fromkeys(q, 0) | {x.d: 0 for x in q} | {q[0]: 1},
    )
    motion = system.simulate(50, rtol=1e-6, samples=2)
    assert motion["q0"][-1] == pytest.approx(np.cos(50), abs=5e-5)  # 100 steps of two tolerances, and some more


def test_without_the_library_python_takes_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a method was added to the table."""
    system = chain(6)
    there = system.simulate(0.5, rtol=1e-9, samples=3)
    monkeypatch.setattr(steps, "large_library", lambda: None)
    assert system.simulate(0.5, rtol=1e-9, samples=3).q == pytest.approx(there.q, abs=1e-7)


def test_threads_run_beside_each_other() -> None:
    """Which system a run is about is known to each thread by itself."""
    systems = [chain(6), rods(6), net(3)]
    alone = [system.simulate(1.0, rtol=1e-8, samples=3).q for system in systems]
    found: dict[int, np.ndarray] = {}

    def run(k: int) -> None:
        found[k] = systems[k % 3].simulate(1.0, rtol=1e-8, samples=3).q

    threads = [threading.Thread(target=run, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, q in found.items():
        assert np.array_equal(q, alone[k % 3])
    assert len(found) == 6


def test_a_long_run_ends_where_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for it asks it to stop, and waits no longer than for a few steps."""
    calls = []

    class Stop(Exception):
        pass

    def update(self: object, t: float) -> None:
        calls.append(t)
        raise Stop

    monkeypatch.setattr("dalembert.motion.integrate.progress.Progress.update", update)
    started = time.process_time()
    with pytest.raises(Stop):
        rods(12).simulate(1e5, rtol=1e-10, samples=2)
    assert calls
    assert time.process_time() - started < 30  # the whole motion would take hours


def test_a_step_beyond_where_the_model_has_a_value_is_taken_again() -> None:
    """A mass turns at a wall of 1/√(1.001 − x), and steps of the loose tolerance lead beyond it, where its own error
    has no value, and that of the others is zero. Energy says how fast it goes.
    """
    q = da.coordinates(" ".join(f"q{k}" for k in range(8)))
    wall = q[0] ** 2 / 2 + 1 / sp.sqrt(sp.Rational(1001, 1000) - q[0]) / 10_000
    system = da.System(
        "a wall",
        coordinates=q,
        kinetic=sum(x.d**2 for x in q) / 2,
        potential=wall + sum(x**2 for x in q[1:]) / 2,
        initial=dict.fromkeys(q, 0) | {x.d: 0 for x in q} | {q[0].d: sp.Rational(101, 100)},
    )
    motion = system.simulate(3.0, rtol=1e-3, samples=7)
    energy = sp.lambdify(q[0], wall)
    assert motion.v[:, 0] ** 2 / 2 + energy(motion["q0"]) == pytest.approx(1.01**2 / 2 + energy(0), rel=1e-2)
    assert motion["q0'"][-1] < 0  # it has turned
