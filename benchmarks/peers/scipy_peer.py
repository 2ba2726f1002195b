"""SciPy + SymPy: equations derived by SymPy, `lambdify` with common subexpressions, `solve_ivp` with DOP853."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from problems import Problem
from scipy.integrate import solve_ivp

from dalembert.model.language.symbols import t as time_symbol

from .base import Gone, Peer, Task

# Up to this size M q̈ − Aᵀλ = Q, A q̈ = b is solved by SymPy; beyond, LAPACK solves it at every evaluation.
SYMBOLIC = 6


def motion(problem: Problem) -> Callable[[float], Task]:
    f, start, n = derive(problem)

    def at(tolerance: float) -> Task:
        def run() -> Any:
            return solve_ivp(
                f, (0.0, problem.duration), start, method="DOP853", rtol=tolerance, atol=max(1e-3 * tolerance, 1e-14),
                t_eval=[problem.duration],
            )  # fmt: skip

        def observe(given: Any) -> np.ndarray:
            if not given.success:
                raise Gone(given.message)
            return problem.observe(given.y[:n, -1], given.y[n:, -1])

        return Task(run, observe, lambda given: f"{given.nfev} evaluations")

    return at


def derive(problem: Problem) -> tuple[Callable[[float, np.ndarray], np.ndarray], np.ndarray, int]:
    """ẏ = f(t, y), the start, and n, with Lagrange's equations written out by SymPy."""
    system = problem.system()
    numbers = {symbol: system.parameters[symbol] for symbol in system.parameter_symbols}
    q = list(system.coordinates)
    v, n = [x.d for x in q], len(q)
    plain_q, plain_v = sp.symbols(f"q:{n}"), sp.symbols(f"v:{n}")
    exact = {**numbers, **dict(zip(q, plain_q, strict=True)), **dict(zip(v, plain_v, strict=True))}

    def known(expression: Any) -> Any:
        return sp.sympify(expression).subs(exact)

    def rate(expression: Any) -> Any:
        moved = sum(expression.diff(x) * w for x, w in zip(plain_q, plain_v, strict=True))
        return moved + expression.diff(time_symbol)

    L = known(system.kinetic) - known(system.potential)
    momentum = [L.diff(w) for w in plain_v]
    M = sp.Matrix(n, n, lambda i, j: momentum[i].diff(plain_v[j]))
    work = [sum((law.work.get(x, sp.Integer(0)) for law in system.nonideal), sp.Integer(0)) for x in q]
    force = [known(system.forces.get(x, 0)) + known(w) for x, w in zip(q, work, strict=True)]
    Q = sp.Matrix([force[i] + L.diff(plain_q[i]) - rate(momentum[i]) for i in range(n)])
    rows, right = [], []
    for constraint in system.constraints:
        g = known(constraint.expression)
        if constraint.level == "position":
            g = rate(g)
        rows.append([g.diff(w) for w in plain_v])
        right.append(-rate(g))
    m = len(rows)
    A = sp.Matrix(m, n, lambda i, j: rows[i][j])
    whole = sp.Matrix(sp.BlockMatrix([[M, -A.T], [A, sp.zeros(m, m)]]))
    both = Q.col_join(sp.Matrix(right))
    arguments = [time_symbol, *plain_q, *plain_v]
    start = np.concatenate(system.initial_values()[:2])
    if n + m <= SYMBOLIC:
        found = sp.lambdify(arguments, list(whole.LUsolve(both)[:n]), "math", cse=True)
        return lambda t, y: np.array([*y[n:], *found(t, *y.tolist())]), start, n
    parts = sp.lambdify(arguments, [whole, both], "numpy", cse=True)

    def f(t: float, y: np.ndarray) -> np.ndarray:
        matrix, vector = parts(t, *y.tolist())
        return np.concatenate([y[n:], np.linalg.solve(matrix, vector)[:n, 0]])

    return f, start, n


PEER = Peer(
    name="SciPy + lambdify",
    package="scipy",
    models=dict.fromkeys(("penny", "pendulum", "andrews", "appell-hamel", "double-pendulum", "four-bar 1"), motion),
    cannot={
        "four-bar": "deriving many coordinates takes minutes, and nothing returns the state to the constraints",
        "chain": "deriving hundreds of coordinates takes minutes",
    },
)
