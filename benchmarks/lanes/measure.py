"""10,000 rolling pennies of 20 s on one core: lanes beside heyoka's batch mode and diffrax under vmap, in one run.

    OMP_NUM_THREADS=1 python benchmarks/lanes/measure.py

Everyone takes the loosest of its settings whose largest error stays below what is wanted, and runs by turns; the least
processor time of all turns counts. diffrax is left out where it is not installed. Writes results.json beside this file.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
sys.path.insert(0, str(Path(__file__).parents[1]))

import heyoka as hy
import numpy as np
from gpu.cases import CASES

from dalembert.ensemble.ask.values import read_values
from dalembert.ensemble.members.at_once import Runs
from dalembert.ensemble.members.chunk import start_members
from dalembert.ensemble.members.control import Budget, Control
from dalembert.ensemble.members.in_lanes import lanes_of
from dalembert.ensemble.members.outcome import Outcome
from dalembert.ensemble.sweep import _task
from dalembert.library.systems.penny import exact

try:
    import diffrax
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError:
    diffrax = None
else:
    jax.config.update("jax_enable_x64", True)
COUNT, DURATION, TURNS, CHUNK = 10_000, 20.0, 12, 2_000
TEN_TIMES, JUDGED = 10 * COUNT, 200
CASE = CASES[0]
PULL = 9.81 * np.sin(0.3) / 1.5
Run = Callable[[], np.ndarray]


class Pennies:
    """So many, drawn by a seed; and x, y, psi, phi at the end of some of them, in closed form."""

    def __init__(self, count: int, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self.count = count
        self.values = {name: chance.uniform(*bounds, count) for name, bounds in CASE.vary.items()}
        self.start = np.zeros((count, 8))
        self.start[:, 4] = self.start[:, 6] = self.values["v0"]
        self.start[:, 7] = self.values["omega"]
        self._judged, system, found = np.arange(0, count, count // JUDGED), CASE.system(), []
        for k in self._judged:
            end = exact(system.replace(parameters={n: v[k] for n, v in self.values.items()}), np.array([DURATION]))
            found.append([end[name][0] for name in ("x", "y", "psi", "phi")])
        self._true = np.array(found)

    def error_of(self, ends: np.ndarray) -> float:
        return float(np.max(np.abs(ends[self._judged, :4] - self._true) / np.maximum(1.0, np.abs(self._true))))


MANY = Pennies(COUNT, 1)


def members(method: str, lanes: bool) -> Callable[[float], Run]:
    """The loops in C alone, on starts that are ready, a chunk at a time."""

    def at(rtol: float) -> Run:
        system = CASE.system()
        values = read_values(system, MANY.values, together=True, samples=None, seed=None, sampler=None)
        options = {"rtol": rtol, "method": method}
        task = _task(
            system, values, DURATION, None, options, None, "final", None, None, Budget(), False, None, False, lanes
        )
        control, ready = Control(Budget()), []
        for first in range(0, COUNT, CHUNK):
            block = task.blocks.between(first, first + CHUNK)
            starts = start_members(task, block, Outcome(CHUNK, 2, 11, 0, False))[1]
            ready.append(Runs(task, block, starts.acceleration, (0, 1)))

        def run() -> np.ndarray:
            return np.concatenate([runs.integrate(np.arange(CHUNK), 0, control)[0].last for runs in ready])

        return run

    return at


def sweeps(method: str, lanes: bool | None, of: Pennies = MANY) -> Callable[[float], Run]:
    """All that a user's call does: values, starts, checks, members, and arrays by name."""

    def at(rtol: float) -> Run:
        system = CASE.system()
        asked = {"rtol": rtol, "method": method, "lanes": lanes, "threads": 1, "together": True}

        def run() -> np.ndarray:
            found = system.sweep(of.values, DURATION, progress=False, **asked)
            assert found.failed == 0
            return np.column_stack([found.final[name].to_numpy() for name in ("x", "y", "psi", "phi")])

        return run

    return at


def acceleration(q: Any, v: Any, names: Any) -> list[Any]:
    """Eliminated by hand, the shortest there is."""
    c, s, turn = names.cos(q[3]), names.sin(q[3]), v[2] * v[3]
    spin = PULL * c
    return [spin * c - turn * s, spin * s + turn * c, spin]


def heyoka_batch(tolerance: float, of: Pennies = MANY) -> Run:
    q, v = (hy.make_vars(*[f"{name}{k}" for k in range(4)]) for name in "qv")
    equations = [*zip(q, v, strict=True), *zip(v, [*acceleration(q, v, hy), hy.expression(0.0)], strict=True)]
    width = hy.recommended_simd_size()
    stepper = hy.taylor_adaptive_batch(equations, np.zeros((8, width)), tol=tolerance)
    columns = np.ascontiguousarray(of.start.T)

    def run() -> np.ndarray:
        found = np.empty_like(columns)
        for k in range(0, of.count, width):
            stepper.set_time(0.0)
            stepper.state[:] = columns[:, k : k + width]
            stepper.propagate_until(DURATION)
            found[:, k : k + width] = stepper.state
        return found.T

    return run


def diffrax_vmap(tolerance: float) -> Run:
    def slope(t: Any, y: Any, _: Any) -> Any:
        return jnp.concatenate([y[4:], jnp.stack([*acceleration(y[:4], y[4:], jnp), jnp.zeros(())])])

    def solve(y: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(slope), diffrax.Dopri8(), t0=0.0, t1=DURATION, dt0=None, y0=y, max_steps=100_000,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance), throw=False,
        ).ys[-1]  # fmt: skip

    many, start = jax.jit(jax.vmap(solve)), jnp.asarray(MANY.start)
    return lambda: np.asarray(jax.block_until_ready(many(start)))


SETTINGS = [m * 10.0**-k for k in range(5, 15) for m in (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.13)]
WIDE = [10.0**-k for k in range(5, 15)]  # of who takes seconds for each


def chosen(make: Callable[[float], Run], wanted: float, settings: list[float]) -> tuple[Run, float, float]:
    for setting in settings:
        run = make(setting)
        if (error := MANY.error_of(run())) <= wanted:
            return run, setting, error
    raise RuntimeError("no setting is good enough")


def spent(run: Run) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def compare(wanted: float, who: dict[str, tuple[Callable[[float], Run], list[float], int]]) -> dict[str, Any]:
    found, runs = {}, {}
    for name, (make, settings, turns) in who.items():
        run, setting, error = chosen(make, wanted, settings)
        runs[name] = run, turns
        found[name] = {"setting": setting, "error": error, "seconds": float("inf")}
    for turn in range(TURNS):
        for name, (run, turns) in runs.items():
            if turn < turns:
                found[name]["seconds"] = min(found[name]["seconds"], spent(run))
    for name, one in found.items():
        print(f"{wanted:g} {name}: {one['seconds']:.4f} s, error {one['error']:.2g}, setting {one['setting']:.1g}")
    return found


def ten_times(settings: dict[str, Any]) -> dict[str, Any]:
    """Whole sweeps of ten times as many members with the settings that were found, beside heyoka's batches."""
    of = Pennies(TEN_TIMES, 2)
    runs = {
        "sweep in lanes, Taylor, all included": sweeps("taylor", True, of),
        "sweep in lanes, DOP853, all included": sweeps("dop853", True, of),
        "heyoka batch": lambda tolerance: heyoka_batch(tolerance, of),
    }
    found = {}
    for name, make in runs.items():
        run = make(settings[name]["setting"])
        error = of.error_of(run())
        found[name] = {"error": error, "seconds": min(spent(run) for _ in range(TURNS // 3))}
        print(f"{TEN_TIMES:,} {name}: {found[name]['seconds']:.4f} s, error {error:.2g}")
    return found


def set_up() -> Run:
    """What each member needs before it runs: its values, a start that is looked at, tolerances."""
    system = CASE.system()
    values = read_values(system, MANY.values, together=True, samples=None, seed=None, sampler=None)
    asked = (DURATION, None, {"rtol": 1e-8}, None, "final", None, None, Budget(), False, None, False, True)
    task = _task(system, values, *asked)
    lanes = lanes_of(task, (0, 1))

    def run() -> np.ndarray:
        for first in range(0, COUNT, CHUNK):
            block = task.blocks.between(first, first + CHUNK)
            starts = start_members(task, block, Outcome(CHUNK, 2, 11, 0, False), lanes)[1]
            Runs(task, block, starts.acceleration, (0, 1))
        return MANY.start

    return run


def main() -> None:
    fine = [s for s in SETTINGS if s <= 1e-6]
    results: dict[str, Any] = {"count": COUNT, "duration": DURATION, "load": os.getloadavg()}
    results["versions"] = {"heyoka": hy.__version__}
    if diffrax is not None:
        results["versions"] |= {"diffrax": diffrax.__version__, "jax": jax.__version__}
    peers: dict[str, Any] = {} if diffrax is None else {"diffrax vmap": (diffrax_vmap, WIDE[2:], 2)}
    results["1e-8"] = compare(1e-8, {
        "lanes, Taylor": (members("taylor", True), fine, TURNS),
        "lanes, DOP853": (members("dop853", True), fine, TURNS),
        "one member at a time, DOP853": (members("dop853", False), fine, 3),
        "sweep in lanes, Taylor, all included": (sweeps("taylor", True), fine, TURNS),
        "sweep in lanes, DOP853, all included": (sweeps("dop853", True), fine, TURNS),
        "heyoka batch": (heyoka_batch, [s for s in SETTINGS if s <= 1e-6], TURNS),
        **peers,
    })  # fmt: skip
    results["1e-11"] = compare(1e-11, {
        "lanes, Taylor": (members("taylor", True), [s for s in SETTINGS if s <= 1e-10], TURNS),
        "heyoka batch": (heyoka_batch, [s for s in SETTINGS if s <= 1e-8], TURNS),
    })  # fmt: skip
    results["ten times"] = {"count": TEN_TIMES, **ten_times(results["1e-8"])}
    ready = set_up()
    results["setup_us"] = min(spent(ready) for _ in range(TURNS)) / COUNT * 1e6
    print(f"set-up: {results['setup_us']:.2f} µs a member")
    results["load after"] = os.getloadavg()
    (Path(__file__).parent / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(results["load"], results["load after"])


if __name__ == "__main__":
    main()
