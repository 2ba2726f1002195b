"""Measures a folder made by prepare.py on the GPU of this machine; writes $OUT/gpu.json. Needs NumPy and CuPy."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import runner

HERE = Path(__file__).parent
OUT = Path(os.environ.get("OUT", "."))
INDEX = json.loads((HERE / "index.json").read_text(encoding="utf-8"))
# (stages in a loop, options): what is compiled and compared.
SHAPES = [
    (False, {}),
    (False, {"blocks": 1}),
    (False, {"blocks": 4}),
    (True, {}),
    (False, {"refill": True}),
    (False, {"sort": True}),
]
LONG = [(True, {}), (True, {"blocks": 3}), (True, {"refill": True}), (True, {"sort": True})]
SINGLE = [(False, {}), (False, {"blocks": 6}), (True, {"blocks": 6})]


def shapes(name: str, single: bool) -> list:
    if name == "andrews":
        return LONG if not single else [(True, {}), (True, {"blocks": 4})]
    return SINGLE if single else SHAPES


def program(name: str, rolled: bool) -> runner.Program:
    return runner.load(HERE / f"{name}{'_rolled' if rolled else ''}.json")


def compile_one(job: tuple) -> float:
    name, rolled, single, options, looks = job
    started = time.perf_counter()
    given = program(name, rolled)
    wish = runner.wish_of(given, single=single, **options)
    worker = runner.Worker(runner._cupy(), given, wish, 0)
    if looks:
        worker._compile(True)
    _ = worker.kernel.num_regs
    return time.perf_counter() - started


def members(name: str, count: int, seed: int = 1) -> dict:
    chance = np.random.default_rng(seed)
    return {key: chance.uniform(*bounds, count) for key, bounds in INDEX[name]["vary"].items()}


def error(found: np.ndarray, true: np.ndarray) -> float:
    n = true.shape[1] // 2
    return float(np.max(np.abs(found - true)[:, :n] / np.maximum(1.0, np.abs(true[:, :n]))))


def judge(name: str, rolled: bool, **options) -> dict:
    """The members with known ends."""
    data = np.load(HERE / f"{name}.npz")
    values = {key: data[key] for key in INDEX[name]["vary"]}
    part = runner.run(program(name, rolled), values, **options)
    size = np.maximum(1.0, np.abs(data["cpu"]))
    return {
        "error": error(part.final, data["true"]),
        "from_cpu": float(np.max(np.abs(part.final - data["cpu"]) / size)),
        "statuses": {int(k): int(c) for k, c in zip(*np.unique(part.status, return_counts=True), strict=True)},
        "steps": float(part.steps.mean()),
    }


def timed(name: str, rolled: bool, count: int, **options) -> dict:
    """Seconds of the GPU for `count` members, the least of three, and what the kernel takes of it."""
    import cupy

    given = program(name, rolled)
    wish = runner.wish_of(given, **options)
    worker = runner.Worker(cupy, given, wish, 0)
    values = members(name, count)
    parts = [worker.run(values, 0, count) for _ in range(3)]
    last, kernel = parts[-1], worker.kernel
    ask = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    blocks = ask(kernel.kernel.ptr, wish.threads, 0)
    return {
        "rolled": rolled, "options": {k: v for k, v in options.items() if k not in ("rtol",)}, "members": count,
        "seconds": min(p.seconds for p in parts), "all": [p.seconds for p in parts],
        "registers": kernel.num_regs, "local_bytes": kernel.local_size_bytes,
        "occupancy": blocks * wish.threads / 2048, "steps": float(last.steps.mean()),
        "steps_spread": [int(x) for x in np.percentile(last.steps, [0, 5, 50, 95, 100])],
        "rejected": float(last.rejected.mean()), "failed": int((last.status != 0).sum()),
    }  # fmt: skip


def ten_million() -> dict:
    """10⁷ pennies through a reduction: the largest distance along x, mean and extremes over members, memory flat."""
    import cupy

    count, used, host, total, low, high = 10_000_000, [], [], 0.0, np.inf, -np.inf
    pool = cupy.get_default_memory_pool()

    def values(start: int, stop: int) -> dict:
        return members("penny", stop - start, seed=start)

    started = time.perf_counter()
    seconds = 0.0
    for part in runner.stream(
        program("penny", False), values, count, chunk=500_000, reduce=True, observe=["x", "energy"], samples=41
    ):
        largest = part.reduced["max"][:, 0]
        total, low, high = total + float(largest.sum()), min(low, float(largest.min())), max(high, float(largest.max()))
        seconds += part.seconds
        used.append(pool.total_bytes())
        host.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    return {
        "members": count, "wall_s": time.perf_counter() - started, "gpu_s": seconds, "mean": total / count,
        "least": low, "largest": high, "gpu_bytes": used, "host_mib": host,
    }  # fmt: skip


def looked_at() -> dict:
    """Samples against those of the CPU; reductions against samples; events against the closed form of a fall."""
    data = np.load(HERE / "penny_samples.npz")
    known = {key: data[key] for key in INDEX["penny"]["vary"]}
    part = runner.run(program("penny", False), known, keep=True, reduce=True, samples=101, rtol=1e-9)
    heights = np.linspace(1.0, 30.0, 10_000)
    given = runner.load(HERE / "fall.json")
    fallen = runner.run(given, {"h": heights}, events=True)
    down = np.sqrt(2 * heights / 9.81)
    means = (part.samples[:, 1:] + part.samples[:, :-1]).mean(1) / 2  # by trapezoids of one width
    return {
        "samples_from_cpu": float(np.abs(part.samples - data["samples"]).max()),
        "max_from_samples": float(np.abs(part.samples.max(1) - part.reduced["max"]).max()),
        "mean_from_samples": float(np.abs(means - part.reduced["mean"]).max()),
        "ended_by_event": int((fallen.status == runner.EVENT).sum()),
        "event_time_error": float(np.abs(fallen.event_time[:, 1] / down - 1).max()),
        "half_way_error": float(np.abs(fallen.event_time[:, 0] / (down * np.sqrt(0.5)) - 1).max()),
    }


def main() -> None:
    began = time.perf_counter()
    results: dict = {"cases": {}}

    def keep(note: str) -> None:
        (OUT / "gpu.json").write_text(json.dumps(results, indent=1) + "\n")
        print(f"[{time.perf_counter() - began:6.1f} s] {note}", flush=True)

    asked = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm", "--format=csv,noheader"]
    results["gpu"] = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    jobs = []
    for name in INDEX:
        for single in (False, True):
            for rolled, options in shapes(name, single):
                plain = {k: v for k, v in options.items() if k in ("threads", "blocks")}
                job = (name, rolled, single, plain, name == "penny" and not single and not rolled and not plain)
                if job not in jobs:
                    jobs.append(job)
    jobs.sort(key=lambda job: job[0] != "andrews")  # the longest first
    with ProcessPoolExecutor(min(14, os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        spent = list(pool.map(compile_one, jobs))
    results["compiled"] = [[*map(str, job), round(s, 1)] for job, s in zip(jobs, spent, strict=True)]
    import cupy

    results["cupy"], results["nvrtc"] = cupy.__version__, cupy.cuda.nvrtc.getVersion()
    keep(f"{len(jobs)} kernels compiled, the slowest in {max(spent):.0f} s")
    for name, about in INDEX.items():
        case = results["cases"][name] = {
            "cpu_error": about["error_cpu"],
            "rtol": about["rtol"],
            "double": [],
            "single": [],
        }
        rolled = shapes(name, False)[0][0]
        case["judged"] = judge(name, rolled)
        case["judged_single"] = {
            str(rtol): judge(name, shapes(name, True)[0][0], single=True, rtol=rtol) for rtol in (1e-5, 1e-6)
        }
        keep(f"{name}: {case['judged']}  float32: {case['judged_single']}")
        for single in (False, True):
            for rolled, options in shapes(name, single):
                more = {"single": True, "rtol": 1e-5} if single else {}
                one = timed(name, rolled, about["members"], **options, **more)
                case["single" if single else "double"].append(one)
                keep(
                    f"  {name} {one['seconds']:.4f} s {one['registers']} regs {one['local_bytes']} local "
                    f"occ {one['occupancy']:.2f} steps {one['steps']:.1f} failed {one['failed']} "
                    f"{'rolled ' if rolled else ''}{one['options']}"
                )
            if time.perf_counter() - began > 360:
                break
    results["looked_at"] = looked_at()
    keep(f"looked at: {results['looked_at']}")
    results["ten_million"] = ten_million()
    m = results["ten_million"]
    keep(
        f"10^7: wall {m['wall_s']:.1f} s, gpu {m['gpu_s']:.2f} s, bytes {min(m['gpu_bytes'])}..{max(m['gpu_bytes'])}, "
        f"host MiB {m['host_mib'][0]}..{m['host_mib'][-1]}"
    )


if __name__ == "__main__":
    main()
    sys.stdout.flush()
