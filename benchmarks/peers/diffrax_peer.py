"""diffrax: Runge–Kutta of order 8 under JAX, compiled, double precision, step sizes by its PID controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from problems import Problem

from .base import Gone, Peer, Task
from .explicit import ACCELERATIONS, initial

jax.config.update("jax_enable_x64", True)


def motion(problem: Problem) -> Callable[[float], Task]:
    q0, v0 = initial(problem.name)
    n, acceleration = q0.size, ACCELERATIONS[problem.name]
    start = jnp.concatenate([jnp.asarray(q0), jnp.asarray(v0)])

    def slope(t: Any, y: Any, _: Any) -> Any:
        return jnp.concatenate([y[n:], jnp.stack(acceleration(list(y[:n]), list(y[n:]), t, jnp))])

    term = diffrax.ODETerm(slope)

    @jax.jit
    def solve(y: Any, tolerance: Any) -> Any:
        return diffrax.diffeqsolve(
            term,
            diffrax.Dopri8(),
            t0=0.0,
            t1=problem.duration,
            dt0=None,
            y0=y,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance),
            max_steps=100_000,
            throw=False,
        )

    jax.block_until_ready(solve(start, 1e-6).ys)

    def at(tolerance: float) -> Task:
        def run() -> Any:
            return jax.block_until_ready(solve(start, tolerance))

        def observe(given: Any) -> np.ndarray:
            if given.result != diffrax.RESULTS.successful:
                raise Gone("stops before the end")
            y = np.asarray(given.ys[-1])
            return problem.observe(y[:n], y[n:])

        return Task(run, observe, lambda given: f"{int(given.stats['num_steps'])} steps")

    return at


PEER = Peer(
    name="diffrax",
    package="diffrax",
    models=dict.fromkeys(ACCELERATIONS, motion),
    cannot={
        "four-bar": "no constraints: the state leaves them at the first crossing, and nothing brings it back",
        "chain": "no rigid-body algorithm",
    },
)
