"""Contacts beside peers: time and true error of dalembert's `simulate` and of Siconos and pooltool, in one run.

    python benchmarks/contacts/run.py [--only "2 blocks" ball] [--siconos /usr/bin/python3] [--pooltool PYTHON]

Siconos comes as Debian's python3-siconos, pooltool as pooltool-billiards, each with a Python of its own; one that is
not there is left out. Errors are the largest deviation at the end, relative where values exceed one. Times are of the
processor, the least of several runs: what else a machine does changes them little. A ratio is the peer's time over that
of dalembert's fastest setting that is at least as right: of `simulate`, with forces and certificate, and of
`prepared.run`, which integrates and nothing more, as the peers do.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
import numpy as np  # noqa: E402  # after the variables above, which it reads
from problems import PROBLEMS, Problem  # noqa: E402

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
#: Runs of a setting, of a peer's each in a process of its own, and seconds after which there are no more.
REPEATS, PEER_REPEATS, LONG = 200, 8, 2.0
Row = tuple[str, float, float]  # setting, seconds, error
Own = tuple[str, float, float, float]  # setting, seconds of `simulate` and of `prepared.run`, error


def main() -> None:
    options = _options()
    for name, make in PROBLEMS.items():
        if options.only and name not in options.only:
            continue
        problem = make()
        print(f"\n{problem.title}", flush=True)
        ours = dalembert(problem, options.timeout)
        for setting, seconds, alone, error in ours:
            times = f"{seconds:9.3g} s  error {error:8.1e}  prepared.run {alone:9.3g} s"
            print(f"  {'dalembert':24s} {setting:12s} {times}", flush=True)
        for label, script, numbers, steps in problem.peers:
            for row in peer(problem, script, getattr(options, script), numbers, steps, options.timeout):
                setting, seconds, error = row
                right = [own for own in ours if own[3] <= max(error, 1e-14)]
                ratio = "        — no setting is as right"
                if right:
                    whole, alone = (seconds / min(own[k] for own in right) for k in (1, 2))
                    ratio = f"{whole:9.3g}× dalembert's simulate, {alone:9.3g}× its prepared.run"
                print(f"  {label:24s} {setting:12s} {seconds:9.3g} s  error {error:8.1e}  {ratio}", flush=True)


def dalembert(problem: Problem, timeout: float) -> list[Own]:
    """Every tolerance within the time limit, after a first run that compiles."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_measure, args=(there, problem))
    process.start()
    there.close()
    rows: list[Own] = []
    ends = time.monotonic() + timeout
    try:
        while here.poll(max(0.0, ends - time.monotonic())):
            answer = here.recv()
            if isinstance(answer, str):
                print(f"  {'dalembert':24s} {answer}")
            else:
                rows.append(answer)
        print(f"  {'dalembert':24s} no answer in {timeout:g} s")
    except EOFError:
        pass
    process.terminate()
    process.join()
    return rows


def _measure(pipe: Connection, problem: Problem) -> None:
    try:
        started = time.perf_counter()
        motion = problem.system.simulate(problem.duration, rtol=TOLERANCES[0], samples=2)
        first = time.perf_counter() - started
        pipe.send(f"first run {first:.2g} s, certificate {'holds' if motion.certificate.holds else 'fails'}")
        for rtol in TOLERANCES:
            given = {"rtol": rtol, "samples": 2}
            whole, motion = _timed(partial(_certified, problem, given))
            alone, _ = _timed(partial(_end_of_run, problem.system.prepare(problem.duration, **given)))
            end = np.array([motion[name][-1] for name in problem.observed])
            pipe.send((f"rtol {rtol:.0e}", whole, alone, error_of(end, problem.truth)))
    except Exception as error:  # told, and the peers still run
        pipe.send(f"{type(error).__name__}: {str(error)[:200]}")


def _certified(problem: Problem, given: dict[str, Any]) -> Any:
    """The motion with its certificate, which is made when it is asked for."""
    motion = problem.system.simulate(problem.duration, **given)
    assert motion.certificate is not None
    return motion


def _end_of_run(prepared: Any) -> tuple[np.ndarray, np.ndarray]:
    """Integrated and nothing more, as the peers do, and its last state read."""
    run = prepared.run()
    return run.q[-1], run.v[-1]


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """The least time of a call, and what it gave last."""
    seconds: list[float] = []
    while len(seconds) < REPEATS and sum(seconds) < LONG:
        started = time.process_time()
        found = call()
        seconds.append(time.process_time() - started)
    return min(seconds), found


def error_of(end: np.ndarray, truth: np.ndarray) -> float:
    return float((np.abs(end - truth) / np.maximum(1.0, np.abs(truth))).max())


def peer(
    problem: Problem, script: str, python: str, numbers: dict, steps: tuple[float, ...], timeout: float
) -> list[Row]:
    rows: list[Row] = []
    for step in steps or (None,):
        given = numbers if step is None else numbers | {"step": step}
        command = [python, str(HERE / f"{script}_runs.py"), json.dumps(given)]
        # Their own interpreters: ours must not lend them its packages.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        seconds: list[float] = []
        try:
            while len(seconds) < PEER_REPEATS and sum(seconds) < LONG:
                done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
                if done.returncode:
                    break
                answer = json.loads(done.stdout.strip().splitlines()[-1])
                seconds.append(answer["seconds"])
        except FileNotFoundError:
            print(f"  {script}: no {python}")
            break
        except subprocess.TimeoutExpired:
            print(f"  {script} step {step:.0e}: no answer in {timeout:g} s")
            break
        if done.returncode:
            print(f"  {script}: {(done.stderr.strip().splitlines() or ['ended without a word'])[-1]}")
            break
        setting = "" if step is None else f"step {step:.0e}"
        rows.append((setting, min(seconds), error_of(np.array(answer["values"]), problem.truth)))
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="PROBLEM", choices=list(PROBLEMS))
    parser.add_argument("--siconos", default="/usr/bin/python3", help="the Python that Siconos is installed for")
    parser.add_argument("--pooltool", default=sys.executable, help="the Python that pooltool is installed for")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each peer's run, and for dalembert's")
    return parser.parse_args()


if __name__ == "__main__":
    main()
