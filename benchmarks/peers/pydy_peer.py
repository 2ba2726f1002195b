"""PyDy: Kane's equations by SymPy, C code by its Cython or C generator, SciPy's odeint, as its documentation shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from problems import Problem
from problems.double_pendulum import ANGLES, RATES, rod
from pydy.codegen.ode_function_generators import generate_ode_function
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

from .base import Gone, Peer, Task

# Its generated functions want at least one constant.
GRAVITY = sp.Symbol("g")


def penny(problem: Problem) -> Callable[[float], Task]:
    """Speeds u = q̇, of which rolling makes u1 and u2 dependent; spin and turn as two bodies without mass."""
    c = problem.data
    q = dynamicsymbols("q1:5")
    u = dynamicsymbols("u1:5")
    N = ReferenceFrame("N")
    spin, turn = N.orientnew("S", "Axis", [q[2], N.z]), N.orientnew("T", "Axis", [q[3], N.z])
    spin.set_ang_vel(N, u[2] * N.z)
    turn.set_ang_vel(N, u[3] * N.z)
    centre = Point("C")
    centre.set_vel(N, u[0] * N.x + u[1] * N.y)
    still = Point("O")
    still.set_vel(N, 0)
    m, R, beta = c["m"], c["R"], c["beta"]
    bodies = [
        Particle("penny", centre, m),
        RigidBody("spin", still, spin, sp.Integer(0), (inertia(spin, 0, 0, beta * m * R**2), still)),
        RigidBody("turn", still, turn, sp.Integer(0), (inertia(turn, 0, 0, beta * m * R**2 / 2), still)),
    ]
    loads = [(centre, m * GRAVITY * np.sin(c["alpha"]) * N.x)]
    rolling = [u[0] - R * u[2] * sp.cos(q[3]), u[1] - R * u[2] * sp.sin(q[3])]
    rates = [x.diff() - w for x, w in zip(q, u, strict=True)]
    kane = KanesMethod(N, q, [u[2], u[3]], kd_eqs=rates, u_dependent=[u[0], u[1]], velocity_constraints=rolling)
    kane.kanes_equations(bodies, loads)
    start = np.array([0, 0, 0, 0, c["v0"] / R, c["omega"], c["v0"], 0.0])
    return _solver(problem, kane, start, lambda y: y[:4])


def double_pendulum(problem: Problem) -> Callable[[float], Task]:
    """The four angles of the two rods."""
    q, u = dynamicsymbols("q1:5"), dynamicsymbols("u1:5")
    N = ReferenceFrame("N")
    origin = Point("O")
    origin.set_vel(N, 0)
    particles, loads, place = [], [], origin
    for k in (0, 2):
        along = rod(q[k], q[k + 1], sp.cos, sp.sin)
        nxt = place.locatenew(f"P{k}", along[0] * N.x + along[1] * N.y + along[2] * N.z)
        speed = (nxt.pos_from(origin)).dt(N).subs({x.diff(): w for x, w in zip(q, u, strict=True)})
        nxt.set_vel(N, speed)
        particles.append(Particle(f"m{k}", nxt, sp.Integer(1)))
        loads.append((nxt, -GRAVITY * N.z))
        place = nxt
    kane = KanesMethod(N, q, u, kd_eqs=[x.diff() - w for x, w in zip(q, u, strict=True)])
    kane.kanes_equations(particles, loads)

    def observe(y: np.ndarray) -> np.ndarray:
        first = np.array(rod(y[0], y[1]))
        return np.concatenate([first, first + np.array(rod(y[2], y[3]))])

    return _solver(problem, kane, np.array([*ANGLES, *RATES]), observe)


def _solver(
    problem: Problem, kane: KanesMethod, start: np.ndarray, observe: Callable[[np.ndarray], np.ndarray]
) -> Callable[[float], Task]:
    generator = "cython"
    try:
        import Cython  # noqa: F401
    except ImportError:
        generator = "lambdify"
    right = generate_ode_function(
        kane.forcing_full, kane.q, kane.u, [GRAVITY], mass_matrix=kane.mass_matrix_full, generator=generator
    )

    constants = np.array([problem.data["g"]])

    def f(t: float, y: np.ndarray) -> np.ndarray:
        return right(y, t, constants).copy()

    def at(tolerance: float) -> Task:
        def run() -> Any:
            return solve_ivp(
                f, (0.0, problem.duration), start, method="DOP853", rtol=tolerance, atol=max(1e-3 * tolerance, 1e-14),
                t_eval=[problem.duration],
            )  # fmt: skip

        def see(given: Any) -> np.ndarray:
            if not given.success:
                raise Gone(given.message)
            return observe(given.y[:, -1])

        return Task(run, see, lambda given: f"{given.nfev} evaluations, {generator}")

    return at


PEER = Peer(
    name="PyDy",
    package="pydy",
    models={"penny": penny, "double-pendulum": double_pendulum},
    cannot={
        "pendulum": "position constraints are not kept: its examples use the angle, which is another problem",
        "andrews": "loops must be differentiated twice by hand before code is generated: not measured",
        "appell-hamel": "constraints nonlinear in the speeds and constraints that do work are refused by KanesMethod",
        "four-bar": "loops must be differentiated twice by hand; nothing returns the state to them",
        "chain": "mass matrix of 100 coordinates derived by SymPy: hours",
    },
)
