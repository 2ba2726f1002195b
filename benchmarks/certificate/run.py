"""What forces and certificate take beside the integration, for every system of the library.

    python benchmarks/certificate/run.py [--tape] [NAME …]

Motions of each system's own duration at rtol 1e-9 with 201 outputs, again and again, with the kernel compiled (or, with
`--tape`, by tape). What is told is the least of what `timing` says, in microseconds, with the clock of the processor in
the place of the one on the wall. Prints the table of README.md.
"""

from __future__ import annotations

import gc
import os
import sys
import time

TAPE = "--tape" in sys.argv[1:]
os.environ["DALEMBERT_KERNEL"] = "tape" if TAPE else "compiled"
os.environ.setdefault("OMP_NUM_THREADS", "1")
time.perf_counter = time.process_time  # what the library reads

import dalembert as da  # noqa: E402

TIMES = 60


def row(name: str) -> tuple[int, list[float]]:
    """Steps, and the least microseconds that integration, forces and certificate took."""
    prepared = da.library.get(name).prepare(rtol=1e-9, samples=201, backend="native")
    least = [float("inf")] * 3
    for _ in range(TIMES):
        motion = prepared.run().motion()
        assert motion.certificate.holds, f"{name}: {motion.certificate}"
        told = motion.timing
        for k, seconds in enumerate((told.integrate_s, told.forces_s, told.certify_s)):
            least[k] = min(least[k], 1e6 * seconds)
    return motion.timing.steps, least


def main() -> None:
    names = [name for name in sys.argv[1:] if not name.startswith("--")] or da.library.names()
    print("| system | steps | integrate, µs | forces | certificate | both over the integration |")
    print("| --- | --- | --- | --- | --- | --- |")
    gc.disable()
    for name in names:
        steps, (integrate, forces, certificate) = row(name)
        ratio = (forces + certificate) / integrate
        print(f"| {name} | {steps} | {integrate:.0f} | {forces:.0f} | {certificate:.0f} | {ratio:.2f}× |", flush=True)


if __name__ == "__main__":
    main()
