"""The yardstick for the penny: a DOP853 loop in C as one writes it by hand, eight states, nothing general.

Method and step-size control of Hairer's program: safety 0.9, growth at most 10, error norm of the orders 5 and 3.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from problems import Problem
from scipy.integrate._ivp import dop853_coefficients as tableau

from dalembert.kernel.build import build, find_compiler

from .base import Gone, Peer, Task
from .explicit import initial

SOURCE = """
#include <math.h>
#define N 8
static double pull;
static inline void f(const double *y, double *d)
{
    const double c = cos(y[3]), s = sin(y[3]), turn = y[6] * y[7], spin = pull * c;
    d[0] = y[4]; d[1] = y[5]; d[2] = y[6]; d[3] = y[7];
    d[4] = spin * c - turn * s; d[5] = spin * s + turn * c; d[6] = spin; d[7] = 0.0;
}
int penny(double *y, double end, double given, double tol)
{
    const double atol = 1e-3 * tol;
    double k[13][N], s[N], t = 0.0, h = %(first)s;
    int j, steps = 0, rejected = 0;
    pull = given;
    f(y, k[0]);
    while (t < end) {
        if (t + h > end) h = end - t;
%(stages)s
        double e5 = 0.0, e3 = 0.0;
        for (j = 0; j < N; j++) {
            const double a = fabs(y[j]), b = fabs(s[j]), scale = 1.0 / (atol + tol * (a > b ? a : b));
            const double u = scale * (%(e5)s);
            const double w = scale * (%(e3)s);
            e5 += u * u;
            e3 += w * w;
        }
        const double both = e5 + 0.01 * e3;
        const double error = both > 0.0 ? h * e5 / sqrt(both * N) : 0.0;
        double grow = error > 0.0 ? 0.9 * pow(error, -0.125) : 10.0;
        grow = grow > 10.0 ? 10.0 : grow < 0.2 ? 0.2 : grow;
        if (error < 1.0) {
            t += h;
            for (j = 0; j < N; j++) y[j] = s[j];
            f(y, k[0]);
            if (rejected && grow > 1.0) grow = 1.0;
            rejected = 0;
            if (++steps > 100000) return -1;
        } else rejected = 1;
        h *= grow;
    }
    return steps;
}
"""


def _sum(weights: np.ndarray) -> str:
    return " + ".join(f"{float(w)!r} * k[{i}][j]" for i, w in enumerate(weights) if w != 0.0)


def source() -> str:
    """The loop with the nonzero coefficients written out."""
    A, B, stages = tableau.A, tableau.B, tableau.N_STAGES
    lines = []
    for i in range(1, stages):
        lines.append(f"        for (j = 0; j < N; j++) s[j] = y[j] + h * ({_sum(A[i, :i])});")
        lines.append(f"        f(s, k[{i}]);")
    lines.append(f"        for (j = 0; j < N; j++) s[j] = y[j] + h * ({_sum(B)});")
    return SOURCE % {
        "stages": "\n".join(lines),
        "e5": _sum(tableau.E5[:12]),
        "e3": _sum(tableau.E3[:12]),
        "first": "0.01",
    }


def penny(problem: Problem) -> Callable[[float], Task]:
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("no C compiler")
    loop = build(source(), compiler)[0].penny
    loop.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_double]
    c = problem.data
    pull = c["g"] * np.sin(c["alpha"]) / (1 + c["beta"])
    start = np.concatenate(initial("penny"))

    def at(tolerance: float) -> Task:
        y = np.empty(8)
        place = y.ctypes.data

        def run() -> int:
            y[:] = start
            return loop(place, problem.duration, pull, tolerance)

        def observe(steps: int) -> np.ndarray:
            if steps < 0:
                raise Gone("too many steps")
            return y[:4]

        return Task(run, observe, lambda steps: f"{steps} steps")

    return at


PEER = Peer(
    name="C by hand (DOP853)",
    package="dalembert",
    models={"penny": penny},
    cannot={"*": "written for the penny only: it is the yardstick"},
)
