"""From the start of a process to the end of its first motion of the penny; deriving and compiling apart. Times are of
the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

# Every script begins with this and ends with told(seconds): a clock that counts the time of the processor, compilers
# that were waited for among it, so that others may use the machine; the library's own timing reads it too.
CLOCK = """
import json, resource, time
def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime
time.perf_counter = processor_seconds
def told(made=0.0):
    print(json.dumps([processor_seconds(), made]))
"""
DALEMBERT = """
import dalembert as da
motion = da.library.penny().simulate(20, rtol=1e-9, samples=2, backend="native")
told(motion.timing.derive_s + motion.timing.compile_s)
"""
# Another model, after which the runtime that serves all models is there.
ANOTHER = """
import dalembert as da
motion = da.library.pendulum().simulate(1, samples=2, backend="native")
motion.certificate
told()
"""
# The command, on the same motion: a model that was read before needs no SymPy.
COMMAND = """
import contextlib, io, os, sys
os.chdir(os.environ["DALEMBERT_CACHE"])
from dalembert.cli.app import main
sys.argv = "dalembert run penny --duration 20 --rtol 1e-9 --samples 2 --backend native --json".split()
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    main()
timing = json.loads(printed.getvalue())["timing"]
told(timing["derive_s"] + timing["compile_s"])
"""
HEYOKA = """
import math, os, heyoka as hy
hy.llvm_state.set_diskcache_path(os.environ["DALEMBERT_CACHE"])
x, y, s, p, vx, vy, vs, vp = hy.make_vars("x", "y", "s", "p", "vx", "vy", "vs", "vp")
spin = 9.81 * math.sin(0.3) / 1.5 * hy.cos(p)
equations = [(x, vx), (y, vy), (s, vs), (p, vp),
             (vx, spin * hy.cos(p) - vs * vp * hy.sin(p)), (vy, spin * hy.sin(p) + vs * vp * hy.cos(p)),
             (vs, spin), (vp, hy.expression(0.0))]
stepper = hy.taylor_adaptive(equations, [0, 0, 0, 0, 1, 0, 1, 1.0], tol=1e-9)
stepper.propagate_until(20.0)
told()
"""
LAMBDIFY = """
import sympy as sp, numpy as np
from scipy.integrate import solve_ivp
q, v = sp.symbols("q:4"), sp.symbols("v:4")
M = sp.diag(1, 1, 0.5, 0.25)
A = sp.Matrix([[1, 0, -sp.cos(q[3]), 0], [0, 1, -sp.sin(q[3]), 0]])
Q = sp.Matrix([9.81 * sp.sin(0.3), 0, 0, 0])
b = sp.Matrix([-v[2] * v[3] * sp.sin(q[3]), v[2] * v[3] * sp.cos(q[3])])
whole = M.row_join(-A.T).col_join(A.row_join(sp.zeros(2, 2)))
f = sp.lambdify([*q, *v], list(whole.LUsolve(Q.col_join(b))[:4]), "math", cse=True)
start = [0, 0, 0, 0, 1, 0, 1, 1.0]
solve_ivp(lambda t, y: np.array([*y[4:], *f(*y)]), (0, 20), start, method="DOP853", rtol=1e-9, atol=1e-12)
told()
"""


def measure(repeats: int) -> dict[str, tuple[float, float]]:
    """Seconds to the end of the motion, and of deriving and compiling in it: the least of interleaved repeats."""
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept"
        cases: dict[str, Callable[[int], tuple[str, Path]]] = {
            "dalembert, cold": lambda k: (DALEMBERT, Path(folder) / f"cold{k}"),
            "dalembert, another model ran before": lambda k: (DALEMBERT, _after_another(Path(folder) / f"another{k}")),
            "dalembert, from cache": lambda k: (DALEMBERT, kept),
            "dalembert run, from cache": lambda k: (COMMAND, kept),
            "heyoka, cold": lambda k: (HEYOKA, Path(folder) / f"heyoka{k}"),
            "heyoka, from cache": lambda k: (HEYOKA, kept),
            "SciPy + lambdify": lambda k: (LAMBDIFY, kept),
        }
        for script in (DALEMBERT, COMMAND, HEYOKA):
            _process(script, kept)  # fills the cache
        for k in range(repeats):
            for name, case in cases.items():
                outcome = _process(*case(k))
                if outcome is not None:
                    found.setdefault(name, []).append(outcome)
    return {name: (min(x[0] for x in outcomes), min(x[1] for x in outcomes)) for name, outcomes in found.items()}


def _after_another(cache: Path) -> Path:
    _process(ANOTHER, cache)
    return cache


def _process(script: str, cache: Path) -> tuple[float, float] | None:
    cache.mkdir(exist_ok=True)
    # As for an installed package: compiled modules are kept.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["DALEMBERT_CACHE"] = str(cache)
    environment["PYTHONUNBUFFERED"] = "1"
    # Each script prints one line when the motion is there: how long the interpreter takes to clear up behind it is no
    # part of it.
    command = [sys.executable, "-c", CLOCK + script]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        return None
    whole, made = json.loads(done.stdout.splitlines()[-1])
    return whole, made
