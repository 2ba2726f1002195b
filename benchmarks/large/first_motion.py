"""What a user waits for at the first motion of a large model, and at the next one, as `simulate` goes by itself.

    python benchmarks/large/first_motion.py

Each model runs in a process of its own, and at ten times its size, with forces and certificate at 51 outputs. Its own
kernels are not there; the libraries that serve all models are, as in a package that came with them. Seconds are of the
clock: waiting for a compiler counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import sympy as sp
from run import chain, net

import dalembert as da

OUTPUTS = 51


def car_with_trailers(count: int) -> da.System:
    """It drives in a circle; the place of each axle is a definition, and none slides sideways."""
    x, y = da.coordinates("x y")
    headings = da.coordinates(" ".join(f"h{k}" for k in range(count + 1)))
    places = da.definitions(" ".join(f"x{k} y{k}" for k in range(1, count + 1)))
    definitions, kinetic, axles, at = {}, [], {}, (x, y)
    for k, heading in enumerate(headings):
        if k:
            behind = places[2 * k - 2], places[2 * k - 1]
            definitions |= {behind[0]: at[0] - sp.cos(heading), behind[1]: at[1] - sp.sin(heading)}
            at = behind
        kinetic.append((at[0].d ** 2 + at[1].d ** 2) / 2 + heading.d**2 / 20)
        axles[f"axle {k}"] = sp.cos(heading) * at[1].d - sp.sin(heading) * at[0].d
    moving = (x, y, *headings)
    initial = dict.fromkeys((*moving, *(q.d for q in moving)), 0) | {x.d: 1, headings[0].d: 0.5}
    return da.System(
        "car with trailers", coordinates=moving, definitions=definitions, kinetic=sp.Add(*kinetic), constraints=axles,
        initial=initial,
    )  # fmt: skip


# A model, its sizes, the seconds of motion.
CASES = {"car with trailers": (car_with_trailers, (62, 620), 5.0), "chain in angles": (chain, (100, 1000), 1.0)}
CASES |= {"net, by its side": (net, (16, 50), 1.0)}


def measure(kind: str, size: int) -> str:
    make, _, seconds = CASES[kind]
    clock = time.perf_counter
    started = clock()
    system = make(size)
    built, waits = clock() - started, []
    for _ in range(2):
        started = clock()
        motion = system.simulate(seconds, samples=OUTPUTS)
        holds = motion.certificate.holds
        waits.append(clock() - started)
    told = "holds" if holds else "fails"
    cells = [kind, f"{size:,}", f"{len(system.coordinates):,}", *(f"{s:.2f} s" for s in (built, *waits))]
    return "| " + " | ".join([*cells, motion.timing.kernel, told]) + " |"


def main() -> None:
    if len(sys.argv) > 1:
        print(measure(sys.argv[1], int(sys.argv[2])))
        return
    print("| model | size | coordinates | building | first motion | the next | by | certificate |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |", flush=True)
    for kind, (_, sizes, _) in CASES.items():
        for size in sizes:
            with tempfile.TemporaryDirectory() as cache:
                given = {**os.environ, "DALEMBERT_CACHE": cache}
                other = "import sys; from first_motion import measure; measure('chain in angles', 70)"
                subprocess.run([sys.executable, "-c", other], env=given, cwd=os.path.dirname(__file__), check=True)
                subprocess.run([sys.executable, __file__, kind, str(size)], env=given, check=True)


if __name__ == "__main__":
    main()
