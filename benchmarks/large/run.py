"""Chains of 10 to 100,000 links, and nets: what building, deriving, one evaluation and a motion of one second take.

    python benchmarks/large/run.py [--links 100 1000 …] [--kinds angles "cartesian in space" …] [--nets 10 20 50]

Each size runs in a process of its own. Seconds are of the processor; evaluations stand beside C written by hand for the
chain, timed in turns in the same process.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    (l,) = da.parameters("l")
    ways = [(l * sp.sin(q), -l * sp.cos(q)) for q in a]
    return _by_definitions("chain", list(a), ways, dict(zip(a, angles(links), strict=True)))


def chain_in_space(links: int) -> da.System:
    """Two angles for each link."""
    c = da.coordinates(" ".join(f"a{k} b{k}" for k in range(links)))
    (l,) = da.parameters("l")
    ways = [
        (l * sp.sin(a), l * sp.cos(a) * sp.sin(b), -l * sp.cos(a) * sp.cos(b))
        for a, b in zip(c[::2], c[1::2], strict=True)
    ]
    at = np.stack([angles(links), 0.5 * angles(links) ** 2], axis=1).ravel()
    return _by_definitions("chain in space", list(c), ways, dict(zip(c, at, strict=True)))


def _by_definitions(name: str, coordinates: list[Any], ways: list[tuple[Any, ...]], at: dict[Any, float]) -> da.System:
    """ways: from one mass to the next, the last component upwards."""
    m, g = da.parameters("m g")
    axes = "xyz" if len(ways[0]) == 3 else "xy"
    definitions, kinetic, potential = {}, [], []
    before: tuple[Any, ...] = (0,) * len(axes)
    for k, way in enumerate(ways):
        here = da.definitions(" ".join(f"{axis}{k}" for axis in axes))
        definitions |= {d: old + step for d, old, step in zip(here, before, way, strict=True)}
        kinetic.append(m * sp.Add(*(d.d**2 for d in here)) / 2)
        potential.append(m * g * here[-1])
        before = here
    return da.System(
        name, coordinates=coordinates, definitions=definitions, kinetic=sp.Add(*kinetic), potential=sp.Add(*potential),
        parameters=VALUES, initial=at | {q.d: 0 for q in coordinates},
    )  # fmt: skip


def rods(links: int, space: bool = False) -> da.System:
    """In Cartesian coordinates, each link a constraint."""
    axes = "xyz" if space else "xy"
    c = da.coordinates(" ".join(f"{axis}{k}" for k in range(links) for axis in axes))
    m, l, g = da.parameters("m l g")
    constraints = {}
    before: tuple[Any, ...] = (0,) * len(axes)
    for k in range(links):
        here = c[len(axes) * k : len(axes) * (k + 1)]
        constraints[f"rod {k}"] = sp.Add(*((q - p) ** 2 for q, p in zip(here, before, strict=True)), -(l**2))
        before = here
    a, b = angles(links), 0.5 * angles(links) ** 2 * space
    ways = [np.sin(a), *([np.cos(a) * np.sin(b)] if space else []), -np.cos(a) * np.cos(b)]
    at = np.cumsum(np.stack(ways, axis=1), axis=0).ravel()
    return da.System(
        "rods", coordinates=list(c), kinetic=sp.Add(*(m * q.d**2 / 2 for q in c)),
        potential=sp.Add(*(m * g * up for up in c[len(axes) - 1 :: len(axes)])), constraints=constraints,
        parameters=VALUES, initial=dict(zip(c, at, strict=True)) | {q.d: 0 for q in c},
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


def plain(links: int) -> da.System:
    """In the angles of the links, velocities as sums that are written out, without a definition."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    sums, kinetic = ([], []), []
    for q in a:
        sums[0].append(l * sp.cos(q) * q.d)
        sums[1].append(l * sp.sin(q) * q.d)
        kinetic += [m * sp.Add(*terms) ** 2 / 2 for terms in sums]
    potential = [-(links - k) * m * g * l * sp.cos(q) for k, q in enumerate(a)]
    return da.System(
        "plain chain", coordinates=list(a), kinetic=sp.Add(*kinetic), potential=sp.Add(*potential), parameters=VALUES,
        initial=dict(zip(a, angles(links), strict=True)) | {q.d: 0 for q in a},
    )  # fmt: skip


KINDS: dict[str, Callable[[int], da.System]] = {
    "angles": chain,
    "cartesian": rods,
    "angles in space": chain_in_space,
    "cartesian in space": lambda links: rods(links, space=True),
    "angles, written out": plain,
    "net": net,
}


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
    from dalembert.kernel.ready.large import large_library
    from dalembert.motion.large.model import large_model
    from dalembert.motion.large.state import LargeState

    os.environ["DALEMBERT_KERNEL"] = "compiled"  # small ones would run by tables, at once, at a third of the speed
    large_library()  # that serves every model
    clock = time.process_time
    started = clock()
    system = KINDS[kind](links)
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
        if kind in ("angles", "angles, written out"):
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
    parser.add_argument("--kinds", nargs="*", default=[kind for kind in KINDS if kind != "net"])
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
