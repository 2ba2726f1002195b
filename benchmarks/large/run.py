"""Chains of 10 to 100,000 links, and nets: what building, deriving, one evaluation and a motion of one second take.

    python benchmarks/large/run.py [--links 100 1000 …] [--kinds angles cartesian] [--nets 10 20 50]

Each size runs in a process of its own. Seconds are of the processor; evaluations stand beside C written by hand for the
chain, timed in turns in the same process.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sympy as sp

import dalembert as da

HERE = Path(__file__).parent
VALUES = {"m": 1.0, "l": 1.0, "g": 9.81}


def angles(links: int) -> np.ndarray:
    return 0.3 * np.cos(0.1 * np.arange(links))


def chain(links: int) -> da.System:
    """In the angles of the links, positions as definitions."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    d = da.definitions(" ".join(f"x{k} y{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    definitions, kinetic, potential = {}, [], []
    for k in range(links):
        x, y = d[2 * k], d[2 * k + 1]
        before = (d[2 * k - 2], d[2 * k - 1]) if k else (0, 0)
        definitions[x], definitions[y] = before[0] + l * sp.sin(a[k]), before[1] - l * sp.cos(a[k])
        kinetic.append(m * (x.d**2 + y.d**2) / 2)
        potential.append(m * g * y)
    initial = dict(zip(a, angles(links), strict=True)) | {q.d: 0 for q in a}
    return da.System(
        "chain", coordinates=list(a), definitions=definitions, kinetic=sp.Add(*kinetic), potential=sp.Add(*potential),
        parameters=VALUES, initial=initial,
    )  # fmt: skip


def rods(links: int) -> da.System:
    """In Cartesian coordinates, each link a constraint."""
    c = da.coordinates(" ".join(f"x{k} y{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    constraints = {}
    for k in range(links):
        x, y = (c[2 * k - 2], c[2 * k - 1]) if k else (0, 0)
        constraints[f"rod {k}"] = (c[2 * k] - x) ** 2 + (c[2 * k + 1] - y) ** 2 - l**2
    at = np.stack([np.cumsum(np.sin(angles(links))), -np.cumsum(np.cos(angles(links)))], axis=1).ravel()
    return da.System(
        "rods", coordinates=list(c), kinetic=sp.Add(*(m * q.d**2 / 2 for q in c)),
        potential=sp.Add(*(m * g * y for y in c[1::2])), constraints=constraints, parameters=VALUES,
        initial=dict(zip(c, at, strict=True)) | {q.d: 0 for q in c},
    )  # fmt: skip


def net(side: int) -> da.System:
    """Masses in a flat square, joined by rods; one edge is held, so that the rods along it are redundant."""
    c = da.coordinates(" ".join(f"x{i}_{j} y{i}_{j} z{i}_{j}" for i in range(side) for j in range(side)))
    m, l, g = da.parameters("m l g")
    at = {(i, j): c[3 * (i * side + j) : 3 * (i * side + j) + 3] for i in range(side) for j in range(side)}
    constraints, initial = {}, {}
    for (i, j), here in at.items():
        for there in ((i + 1, j), (i, j + 1)):
            if there in at:
                apart = sp.Add(*((p - q) ** 2 for p, q in zip(here, at[there], strict=True)))
                constraints[f"rod {i} {j} to {there[0]} {there[1]}"] = apart - l**2
        for q, value in zip(here, (float(i), float(j), 0.0), strict=True):
            initial |= {q: value, q.d: 0}
            if i == 0:
                constraints[f"hold {q.name}"] = q - value
    return da.System(
        "net", coordinates=list(c), kinetic=sp.Add(*(m * q.d**2 / 2 for q in c)),
        potential=sp.Add(*(m * g * z for z in c[2::3])), constraints=constraints, parameters=VALUES, initial=initial,
    )  # fmt: skip


BUILD = {"angles": chain, "cartesian": rods, "net": net}


def best(calls: dict[str, Callable[[], object]], rounds: int, times: int) -> dict[str, float]:
    """The least processor seconds of one call of each, in turns."""
    found = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.process_time()
            for _ in range(times):
                call()
            found[name] = min(found[name], (time.process_time() - started) / times)
    return found


def measure(kind: str, links: int) -> dict[str, float]:
    from dalembert.motion.large.model import large_model
    from dalembert.motion.large.state import LargeState

    clock = time.process_time
    started = clock()
    system = BUILD[kind](links)
    built = clock()
    row: dict[str, float] = {"system": built - started}
    if len(system.coordinates) >= 64:
        started = time.perf_counter()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        model = large_model(system, "auto", "auto")
        assert model is not None
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        compiler = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
        row["derive"] = clock() - built + compiler
        at = LargeState(system, model, system.parameter_values())
        q, v, _ = system.initial_values()
        calls: dict[str, Callable[[], object]] = {"evaluation": lambda: at.solve(q, v, 0.0)}
        if kind != "net":
            w, run = at.run("accelerations", q, v, 0.0), model.functions["accelerations"]
            given = (w.ctypes.data, run.table.ctypes.data)  # the time of Python's call is not what is measured
            calls["evaluation"] = lambda: run.function(*given)
        if kind == "angles":
            calls["by hand"] = by_hand(links, q, v)
        row |= best(calls, 9, max(1, 200_000 // len(system.coordinates) // (20 if kind == "net" else 1)))
    started = clock()
    motion = system.simulate(1.0, rtol=1e-6, samples=21)
    certified = motion.certificate.holds
    row["motion"] = clock() - started
    row |= {"steps": motion.timing.steps, "holds": float(certified)}
    row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return row


def by_hand(links: int, q: np.ndarray, v: np.ndarray) -> Callable[[], object]:
    folder = Path(tempfile.mkdtemp())
    library = folder / "chain.so"
    flags = ["-O3", "-march=native", "-fno-math-errno", "-ffp-contract=fast", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(HERE / "chain.c"), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).chain
    function.argtypes = [ctypes.c_int, *[ctypes.c_double] * 3, *[ctypes.c_void_p] * 4]
    out, work = np.zeros(links), np.zeros(6 * links)
    arrays = (q, v, out, work)  # kept by the function below
    given = (links, *VALUES.values(), *(array.ctypes.data for array in arrays))
    return lambda: (function(*given), arrays)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, nargs="*", default=[10, 100, 1000, 10_000, 100_000])
    parser.add_argument("--kinds", nargs="*", default=["angles", "cartesian"])
    parser.add_argument("--nets", type=int, nargs="*", default=[10, 20, 50])
    parser.add_argument("--one", nargs=2)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.one[0], int(asked.one[1]))))
        return
    print(
        "| chain in | links | building | derive + compile | evaluation, ns a link | of C by hand | motion of 1 s, with"
    )
    for kind, sizes in [*((kind, asked.links) for kind in asked.kinds), ("net", asked.nets)]:
        for links in sizes:
            done = subprocess.run(
                [sys.executable, __file__, "--one", kind, str(links)], capture_output=True, text=True, timeout=3600
            )
            if done.returncode:
                print(f"| {kind} | {links:,} | failed: {done.stderr.strip().splitlines()[-1]}")
                continue
            row = json.loads(done.stdout.splitlines()[-1])
            ratio = f"{row['evaluation'] / row['by hand']:.2f}×" if "by hand" in row else "–"
            rods_in = 2 * links * (links - 1) if kind == "net" else links
            each = f"{1e9 * row['evaluation'] / rods_in:.0f}" if "evaluation" in row else "–"
            derive = f"{row['derive']:.2f} s" if "derive" in row else "–"
            size = f"{links} × {links}" if kind == "net" else f"{links:,}"
            holds = "" if row["holds"] else ", not certified"
            print(
                f"| {kind} | {size} | {row['system']:.2f} s | {derive} | {each} | {ratio} | {row['motion']:.2f} s"
                f"{holds} | {row['steps']:.0f} | {row['memory'] / 1e6:.0f} MB |",
                flush=True,
            )


if __name__ == "__main__":
    main()
