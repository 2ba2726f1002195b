"""CasADi's SUNDIALS integrators: cvodes on explicit accelerations, idas on the equations with multipliers (index 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from problems import Problem

from dalembert.graph.graph import graph_of

from .base import Gone, Peer, Task
from .explicit import ACCELERATIONS, initial

OPTIONS = {"max_num_steps": 1_000_000, "print_stats": False, "show_eval_warnings": False}


def cvodes(problem: Problem) -> Callable[[float], Task]:
    q0, v0 = initial(problem.name)
    n = q0.size
    x, t = ca.SX.sym("x", 2 * n), ca.SX.sym("t")
    y = ca.vertsplit(x)
    ode = ca.vertcat(*y[n:], *ACCELERATIONS[problem.name](y[:n], y[n:], t, ca))
    return _integrate(problem, "cvodes", {"x": x, "t": t, "ode": ode}, np.concatenate([q0, v0]), n, None)


def idas(problem: Problem) -> Callable[[float], Task]:
    """x = (q, q̇), z = (q̈, λ): M q̈ − Aᵀλ = Q + C and A q̈ = b, as the documentation's semi-explicit form."""
    system = problem.system()
    graph, n, m = graph_of(system), len(system.coordinates), len(system.constraints)
    q0, v0, _ = system.initial_values()
    p = np.array([float(system.parameters[symbol]) for symbol in system.parameter_symbols])
    x, z, t = ca.SX.sym("x", 2 * n), ca.SX.sym("z", n + m), ca.SX.sym("t")
    q, v, a, multipliers = x[:n], x[n:], z[:n], z[n:]
    M, Q, A, b = graph.dynamics(q, v, t, p)
    none = ca.SX.zeros(n)
    C = graph.work(q, v, t, p, none, none, ca.SX.zeros(graph.work.numel_in(6)))[0]
    M, A = ca.sparsify(M), ca.sparsify(A)
    problem_form = {
        "x": x,
        "z": z,
        "t": t,
        "ode": ca.vertcat(v, a),
        "alg": ca.vertcat(M @ a - A.T @ multipliers - Q - C, A @ a - b),
    }
    whole = ca.Function("whole", [x, z, t], [ca.densify(ca.jacobian(problem_form["alg"], z)), problem_form["alg"]])
    start = np.concatenate([q0, v0])
    matrix, rest = whole(start, np.zeros(n + m), 0.0)
    guess = np.linalg.solve(np.array(matrix), -np.array(rest)).ravel()
    return _integrate(problem, "idas", problem_form, start, n, guess)


def _integrate(
    problem: Problem, method: str, form: dict[str, Any], start: np.ndarray, n: int, guess: np.ndarray | None
) -> Callable[[float], Task]:
    made: dict[float, Any] = {}

    def at(tolerance: float) -> Task:
        if tolerance not in made:
            options = {**OPTIONS, "reltol": tolerance, "abstol": max(1e-3 * tolerance, 1e-14)}
            if method == "idas":
                options["abstol"] = tolerance  # multipliers of any size: a thousandth of it fails in the first step
            made[tolerance] = ca.integrator("solver", method, form, 0.0, problem.duration, options)
        solver = made[tolerance]
        given = {"x0": start} if guess is None else {"x0": start, "z0": guess}

        def run() -> Any:
            try:
                return np.array(solver(**given)["xf"]).ravel()
            except RuntimeError as error:
                return str(error)

        def observe(end: Any) -> np.ndarray:
            if isinstance(end, str):
                flags = [word for word in end.replace('"', " ").split() if word.startswith(("IDA_", "CV_"))]
                raise Gone(f"stops before the end{': ' + flags[0] if flags else ''}")
            return problem.observe(end[:n], end[n:])

        return Task(run, observe)

    at(problem.tolerances[2])
    return at


CHAIN = "integrates only; its evaluation of a graph is what this project builds on"
PEERS = [
    Peer(
        name="casadi cvodes",
        package="casadi",
        models=dict.fromkeys(ACCELERATIONS, cvodes),
        cannot={"four-bar": "constraints are idas's part", "chain": CHAIN},
    ),
    Peer(
        name="casadi idas",
        package="casadi",
        models=dict.fromkeys((*ACCELERATIONS, "four-bar"), idas),
        cannot={"chain": CHAIN},
        settings={
            "four-bar": (1e-4, 1e-6, 1e-8),
            "four-bar 40": (1e-4, 1e-6),
            "andrews": (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10),
        },
    ),
]
