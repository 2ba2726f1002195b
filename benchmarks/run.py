"""Measure this project and its peers side by side, and write README.md, results.json and curves.png.

    python benchmarks/run.py [--quick] [--only PROBLEM …] [--peers NAME …]

All peers run in one process on one core. Repeats go round: every peer at every setting once, then all again, so that
a busy moment of the machine hits all alike. Times are of the processor, and the least are kept, so that others may use
the machine meanwhile. With --only or --peers, older results of the rest stay.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Short runs are measured in so many turns, others in a few: caches, and what shares a core, count for the short ones.
TURNS, FEW, SHORT_S = 30, 3, 0.01


def main() -> None:
    options = _options()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("DALEMBERT_CACHE", cache)
        measure(options)


def measure(options: argparse.Namespace) -> None:
    import startup
    from peers import installed
    from problems import PROBLEMS
    from report import write

    peers, missing = installed(options.peers)
    file = HERE / "results.json"
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    results["machine"] = machine()
    results["versions"] = results.get("versions", {}) | {peer.package: _version(peer.package) for peer in peers}
    results["missing"] = missing
    for name, problem in PROBLEMS.items():
        if options.only and not any(name == wanted or name.startswith(f"{wanted} ") for wanted in options.only):
            continue
        kept = results.setdefault("problems", {})
        kept[name] = (kept.get(name, {}) if options.peers else {}) | work_precision(problem, peers, options)
        results.get("earlier", {}).pop(name, None)
        file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if "startup" in options.only if options.only else not options.peers:
        print("process start to first motion")
        results["startup"] = startup.measure(3 if options.quick else 9)
        results.get("earlier", {}).pop("startup", None)
        file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write(results, PROBLEMS, HERE)


def work_precision(problem: Any, peers: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    """Rows of every peer on one problem: {peer: {"setup": s, "setting": name, "rows": …} or {"cannot": why}}."""
    from peers import Cannot

    print(problem.title, flush=True)
    repeats, limit = (TURNS // 2, 15.0) if options.quick else (TURNS, 100.0)
    found: dict[str, Any] = {}
    waiting: list[tuple[str, float, Any, list[Any]]] = []
    for peer in peers:
        sweep = list(peer.sweep(problem))
        # The four-bar mechanism keeps its full sweep: crossings make its lines jagged.
        thin = options.quick and len(sweep) > 6 and not problem.name.startswith("four-bar")
        spent = 0.0
        for setting in sweep[::2] if thin else sweep:
            try:
                first, again = peer.task(problem, setting)
            except Cannot as reason:
                found[peer.name] = {"cannot": str(reason)}
                break
            found.setdefault(peer.name, {"setup": peer.seconds[problem.name], "setting": peer.setting_name, "rows": []})
            # A long run is measured once: caches and the clock do not matter to it.
            waiting.append((peer.name, setting, None if first.seconds > 0.5 else again, [first]))
            print(
                f"  {peer.name:20s} {setting:7.0e}  {first.seconds:9.3g} s  error {first.error:8.2g}  {first.note}",
                flush=True,
            )
            spent += first.seconds
            if spent > limit:
                break
    for turn in range(repeats):
        for _, _, again, outcomes in waiting:
            if again is not None and (turn < FEW or outcomes[-1].seconds < SHORT_S):
                outcomes[:] = [again()] if turn == 0 else [*outcomes, again()]
    for name, setting, _, outcomes in waiting:
        seconds = min(outcome.seconds for outcome in outcomes)
        found[name]["rows"].append([setting, seconds, outcomes[-1].error, outcomes[-1].note])
    return found


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor()
    return f"{name}, one core, {platform.system()}, Python {platform.python_version()}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer settings and repeats")
    parser.add_argument(
        "--only", nargs="+", metavar="PROBLEM", help="these: penny, andrews, four-bar, 'chain 100', …, startup"
    )
    parser.add_argument("--peers", nargs="+", metavar="NAME", help="these peers: dalembert, heyoka, mujoco, …")
    return parser.parse_args()


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
