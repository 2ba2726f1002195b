"""Run families of random systems and count what is right, wrong and without an answer.

    python -m tests.contact_families.trial --family planes curved --seeds 0:50 --timeout 30 [--backend reference]

Each case runs in a process of its own, so that one without an answer is counted and ended. The time limit is for the
motion alone, and in seconds of the processor, which a busy machine does not change (four times that by the clock);
references are computed before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import time
from importlib import import_module
from multiprocessing.connection import Connection

from .compare import faults, run

FAMILIES = ("planes", "curved", "rods", "feet", "belts", "dropped", "sleds")
#: Seconds for a reference: they take a few at most.
REFERENCE = 120.0


def main() -> None:
    options = _options()
    first, last = (int(end) for end in options.seeds.split(":"))
    rows = []
    for family in options.family:
        import_module(f".{family}", __package__)
        results = [attempt(family, seed, options.timeout, options.backend) for seed in range(first, last)]
        rows.append((family, results))
    heads = f"{'cases':>6s} {'right':>6s} {'wrong':>6s} {'hung':>6s} {'certificate holds':>18s}"
    print(f"\n{'family':10s} {heads} wrong seeds")
    for family, results in rows:
        count = [sum(result[0] == verdict for result in results) for verdict in ("right", "wrong", "hung")]
        seeds = [first + k for k, result in enumerate(results) if result[0] != "right"]
        holds = sum(result[2] for result in results)
        print(f"{family:10s} {len(results):6d} {count[0]:6d} {count[1]:6d} {count[2]:6d} {holds:18d} {seeds}")


def attempt(family: str, seed: int, timeout: float, backend: str) -> tuple[str, list[str], bool]:
    """("right" | "wrong" | "hung", what is wrong, whether the certificate holds) of one case."""
    context = multiprocessing.get_context("fork")  # what is imported already need not be imported again
    here, there = context.Pipe()
    process = context.Process(target=_child, args=(there, family, seed, backend, timeout))
    process.start()
    there.close()
    said: list = []
    started = time.perf_counter()
    for limit in (REFERENCE, 4 * timeout):
        try:
            if not here.poll(limit):
                break
            said.append(here.recv())
        except EOFError:
            break
        started = time.perf_counter() if len(said) == 1 else started
    seconds = time.perf_counter() - started
    process.terminate()
    process.join()
    if len(said) == 2:
        wrong, holds = said[1]
        verdict = "wrong" if wrong else "right"
    elif said and process.exitcode not in (-signal.SIGXCPU, -signal.SIGTERM, -signal.SIGKILL):
        verdict, wrong, holds = "wrong", ["the process ended without an answer"], False
    else:
        verdict, wrong, holds = "hung", [f"no answer in {timeout:g} s" if said else "no reference"], False
    kind = said[0] if said else ""
    print(f"{family} {seed:3d} {verdict:5s} {seconds:5.1f} s {'holds' if holds else 'fails'}  {kind}", flush=True)
    for line in wrong:
        print(f"      {line}")
    return verdict, wrong, holds


def _child(pipe: Connection, family: str, seed: int, backend: str, timeout: float) -> None:
    case = import_module(f".{family}", __package__).case(seed)
    pipe.send(case.kind)
    limit = int(time.process_time() + timeout) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    try:
        motion = run(case, backend)
        pipe.send((faults(case, motion), bool(motion.certificate.holds)))
    except Exception as error:  # whatever it is, it is counted
        pipe.send(([f"{type(error).__name__}: {str(error)[:300]}"], False))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--seeds", default="0:20", help="first:last, the last not included")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for a motion")
    parser.add_argument("--backend", default="auto", choices=("auto", "native", "reference"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
