"""Whole sweeps, `system.sweep(…, on="cuda")`, on the GPU of this machine; writes $OUT/sweeps.json as it goes.

Needs dalembert with CuPy: values, starts, runs and results are in the seconds, as a user has them. `device` is what the
GPU took of them. Run in benchmarks/: `python gpu/sweeps.py FOLDER`, with the folder that prepare.py wrote, for the
tolerances.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from gpu.cases import CASES, Case
from problems import penny

import dalembert as da
from dalembert.ensemble.place import cuda
from dalembert.kernel.cuda import run as runner

OUT = Path(os.environ.get("OUT", "."))
FEW = 200  # members that are compared with those of threads
SPRINGS = 1_000_000


class Device:
    """Adds up what the GPU took."""

    def __init__(self) -> None:
        self.seconds, self.runs = 0.0, 0
        launch = runner.Worker.run

        def run(worker: Any, *given: Any) -> Any:
            part = launch(worker, *given)
            self.seconds, self.runs = self.seconds + part.seconds, self.runs + 1
            return part

        runner.Worker.run = run  # type: ignore[method-assign]


DEVICE = Device()


def values_of(case: Case, count: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(1)
    return {name: chance.uniform(*bounds, count) for name, bounds in case.vary.items()}


def timed(system: da.System, values: dict[str, Any], duration: float, **asked: Any) -> tuple[dict[str, Any], Any]:
    """Twice: the first compiles."""
    spent = []
    for _ in range(2):
        DEVICE.seconds, DEVICE.runs = 0.0, 0
        began = time.perf_counter()
        found = system.sweep(values, duration, on="cuda", together=True, **asked)
        spent.append(time.perf_counter() - began)
    told = {
        "members": found.members, "first_s": spent[0], "seconds": spent[1], "device_s": DEVICE.seconds,
        "launches": DEVICE.runs, "failed": found.failed, "on_cpu": found.on_cpu, "why_cpu": found.about["why_cpu"],
        "steps": float(found.data["steps"].mean()),
        "host_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip
    return told, found


def apart(one: Any, other: Any) -> float:
    """The largest difference of the ends of members, relative where they exceed one."""
    worst = 0.0
    for name in one.final.data_vars:
        a, b = (x.final[name].to_numpy() for x in (one, other))
        worst = max(worst, float(np.nanmax(np.abs(a - b) / np.maximum(1.0, np.abs(b)))))
    return worst


def compared(case: Case, rtol: float) -> dict[str, Any]:
    few, system = values_of(case, FEW), case.system()
    asked: dict[str, Any] = {"together": True, "method": "dop853"}
    threads = system.sweep(few, case.duration, rtol=rtol, **asked)
    gpu = system.sweep(few, case.duration, rtol=rtol, on="cuda", **asked)
    single = system.sweep(few, case.duration, on="cuda", precision="single", **asked)
    fine = system.sweep(few, case.duration, rtol=1e-13, **asked)
    return {
        "same_status": bool((threads.status == gpu.status).all()), "from_threads": apart(gpu, threads),
        "error": apart(gpu, fine), "error_single": apart(single, fine), "on_cpu": gpu.on_cpu,
    }  # fmt: skip


def main() -> None:
    began = time.perf_counter()
    results: dict[str, Any] = {"cores": os.cpu_count(), "cases": {}}

    def keep(name: str, found: dict[str, Any]) -> None:
        results["cases"][name] = found
        (OUT / "sweeps.json").write_text(json.dumps(results, indent=1) + "\n")
        print(f"[{time.perf_counter() - began:6.1f} s] {name}: {found}", flush=True)

    def attempt(name: str, make: Any) -> None:
        try:
            keep(name, make())
        except Exception as problem:  # the others are measured all the same
            keep(name, {"problem": f"{type(problem).__name__}: {str(problem)[:300]}"})

    index = json.loads((Path(sys.argv[1]) / "index.json").read_text(encoding="utf-8"))
    for case in CASES:
        rtol = index[case.name]["rtol"]
        attempt(f"{case.name} compared", lambda case=case, rtol=rtol: compared(case, rtol))
        values = values_of(case, case.members)
        for precision in ("double", "single"):
            more = {"rtol": rtol} if precision == "double" else {}
            attempt(
                f"{case.name} {precision}",
                lambda case=case, v=values, p=precision, m=more: timed(
                    case.system(), v, case.duration, precision=p, method="dop853", **m
                )[0],
            )
        if time.perf_counter() - began > float(os.environ.get("SWEEPS_S", "200")):
            break
    # Many members through a reduction, and members of very different lengths: sorted, and not.
    many = values_of(CASES[0], 10_000_000)
    reduce = {"far": ("max", "x"), "mean": ("mean", "x")}
    attempt(
        "10^7 pennies, reduced",
        lambda: timed(penny.system(), many, 20.0, reduce=reduce, points=41, rtol=1e-7, method="dop853")[0],
    )
    spring = da.System(
        "spring", coordinates="x", kinetic="x'^2/2", potential="w^2*x^2/2 + x^4/4", parameters={"w": 1.0},
        initial={"x": 1, "x'": 0},
    )  # fmt: skip
    stiff = {"w": np.exp(np.random.default_rng(2).uniform(0.0, np.log(100.0), SPRINGS))}
    for name, dear in (("as they come", np.inf), ("sorted where dear", cuda.DEAR)):
        cuda.DEAR = dear
        attempt(f"springs, {name}", lambda: timed(spring, stiff, 10.0, rtol=1e-8, method="dop853")[0])
    # What no GPU takes: a block that sticks and slips, decided leg by leg.
    attempt(
        "stick and slip by contacts",
        lambda: timed(da.library.stick_slip(), {"vb": np.linspace(0.05, 0.5, 64)}, 2.0)[0],
    )


if __name__ == "__main__":
    main()
