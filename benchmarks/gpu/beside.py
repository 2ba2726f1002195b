"""The same members by diffrax (Dopri8, vmap) on the GPU of this machine, in double precision; writes $OUT/beside.json.

The right-hand sides are the shortest that can be written by hand (benchmarks/peers/explicit.py); nothing is projected.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import accelerations
import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
HERE = Path(__file__).parent
OUT = Path(os.environ.get("OUT", "."))
INDEX = json.loads((HERE / "index.json").read_text(encoding="utf-8"))
WANTED = 1e-8


def penny(t: Any, q: Any, v: Any, values: Any) -> list[Any]:
    pull = 9.81 * np.sin(0.3) / 1.5
    cosine, sine = jnp.cos(q[3]), jnp.sin(q[3])
    turn = v[2] * v[3]
    spin = pull * cosine
    return [spin * cosine - turn * sine, spin * sine + turn * cosine, spin, 0.0 * v[3]]


def appell_hamel(t: Any, q: Any, v: Any, values: Any) -> list[Any]:
    accelerations.DATA = {**accelerations.APPELL_HAMEL, **values}
    return list(accelerations.acceleration(t, v[0], v[1], v[2], cos=jnp.cos, sqrt=jnp.sqrt))


def andrews(t: Any, q: Any, v: Any, values: Any) -> list[Any]:
    accelerations.DATA = {**accelerations.ANDREWS, **values}
    return list(accelerations.andrews_acceleration(list(q), list(v), t, jnp))


def belt(t: Any, q: Any, v: Any, values: Any) -> list[Any]:
    slip = values["vb"] - v[0]
    force = 9.81 * (0.2 + (values["mu_s"] - 0.2) * jnp.exp(-((slip / 0.05) ** 2))) * jnp.tanh(slip / 0.02)
    return [force - 10.0 * q[0]]


CASES = {"penny": (penny, 1_000_000), "appell_hamel": (appell_hamel, 1_000_000), "belt": (belt, 1_000_000)}
CASES["andrews"] = (andrews, 100_000)


def start(name: str, about: dict, values: dict, count: int) -> np.ndarray:
    y = np.tile(np.array(about["state"]), (count, 1))
    if name == "penny":
        y[:, 4] = y[:, 6] = values["v0"]
        y[:, 7] = values["omega"]
    return y


def main() -> None:
    results: dict = {"jax": jax.__version__, "diffrax": diffrax.__version__, "cases": {}}
    for name, (acceleration, count) in CASES.items():
        index, about = INDEX[name], json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
        n = len(about["coordinates"])

        def slope(t: Any, y: Any, values: Any) -> Any:
            return jnp.concatenate([y[n:], jnp.stack(acceleration(t, y[:n], y[n:], values))])  # noqa: B023

        def solve(y: Any, values: Any, rtol: Any) -> Any:
            return diffrax.diffeqsolve(
                diffrax.ODETerm(slope), diffrax.Dopri8(), t0=0.0, t1=index["duration"], dt0=None, y0=y, args=values,  # noqa: B023
                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-3 * rtol), max_steps=100_000, throw=False,
            ).ys[-1]  # fmt: skip

        many = jax.jit(jax.vmap(solve, in_axes=(0, 0, None)))
        data = np.load(HERE / f"{name}.npz")
        known = {key: data[key] for key in index["vary"]}
        try:
            began = time.perf_counter()
            for rtol in (1e-7, 1e-8, 1e-9, 1e-10, 1e-11):
                found = np.asarray(many(start(name, about, known, len(data["true"])), known, rtol))
                true = data["true"]
                error = float(np.max(np.abs(found - true)[:, :n] / np.maximum(1.0, np.abs(true[:, :n]))))
                if error <= WANTED:
                    break
            compiled = time.perf_counter() - began
            chance = np.random.default_rng(1)
            values = {key: chance.uniform(*bounds, count) for key, bounds in index["vary"].items()}
            y = jnp.asarray(start(name, about, values, count))
            values = {key: jnp.asarray(value) for key, value in values.items()}
            spent = []
            for _ in range(3):
                began = time.perf_counter()
                jax.block_until_ready(many(y, values, rtol))
                spent.append(time.perf_counter() - began)
                if spent[-1] > 20:
                    break
            one = {"members": count, "seconds": min(spent), "rtol": rtol, "error": error, "first_s": compiled}
        except Exception as problem:  # what a peer cannot do is part of the answer
            one = {"problem": repr(problem)[:300]}
        results["cases"][name] = one
        print(name, one, flush=True)
        (OUT / "beside.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
