"""A rigid body sliding on a table on several feet, by a smoothed law with two widths and extrapolation.

Unknowns X, Y, θ of the centre of mass. A foot at d_k (turned by θ) slides with u_k = V + θ′ ẑ × d_k and feels
f_k = −N_k s(|u_k|) u_k/|u_k| with s(u) = μ tanh(10 u/ε) + (μ_s − μ) (u/ε) exp((1 − (u/ε)²)/2): zero at rest, at most
μ_s (at u = ε), and μ but for exponentially small terms beyond, so that what differs from Coulomb's law happens within
speeds of a few ε and the error is proportional to ε. Loads N = N₀(θ) + B(θ) Σf are solved with the friction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from .case import NEAR, Array, ContactReference, Reference, Unsuited, outputs

#: The wider of the two smoothing speeds; motions here have speeds of about one.
WIDTH = 2e-7
#: Slower than this many widths is sticking; faster than this is slipping; in between it is not asked.
STICKS, SLIPS = 10.0, 1e-3


@dataclass(frozen=True)
class Body:
    """feet (K, 2) in the frame of the body. loads(θ): N₀ (K,) and B (K, 2), B acting on the sum of the friction forces
    in the frame of the table. push(t, θ): force (2,) at the centre of mass and torque. determined: whether loads are.
    """

    mass: float
    inertia: float
    feet: Array
    loads: Callable[[float], tuple[Array, Array]]
    push: Callable[[float, float], tuple[Array, float]]
    mu: Array
    mu_static: Array
    start: Array
    determined: bool = True


def reference(
    body: Body,
    duration: float,
    names: list[str],
    columns: Callable[[Array, Array], Mapping[str, Array]],
) -> Reference:
    """columns(q, v): coordinates and velocities of the system from (X, Y, θ) and their rates, both (T, 3). The pull is
    on x, y and th: X, Y and θ.
    """
    times = outputs(duration)
    # Each output and its neighbours: what changes between them is not asked.
    near = NEAR * duration
    asked = np.unique(np.clip(np.concatenate([times - near, times, times + near]), 0, duration))
    place = np.searchsorted(asked, times)
    # The narrower with a tighter tolerance, so that their difference tells the error of the integration, too.
    wide, narrow = (
        _integrate(body, duration, asked, width, rtol) for width, rtol in ((WIDTH, 1e-9), (WIDTH / 2, 1e-11))
    )
    y = 2 * narrow - wide
    scales = np.array([max(1e-3, np.abs(y[:, part]).max()) for part in (slice(0, 3), slice(3, 6))])
    error = float((np.abs(narrow - wide) / np.repeat(scales, 3)).max())
    speed, load, friction = _contacts(body, asked, narrow, WIDTH / 2)
    if load.min() < 0.05 * body.mass * 9.81 / len(names):
        raise Unsuited("a foot lifts")
    state = np.where(speed > SLIPS, "slip", np.where(speed < STICKS * WIDTH, "stick", ""))
    contacts = {}
    for k, name in enumerate(names):
        around = [np.clip(place + shift, 0, asked.size - 1) for shift in (-1, 0, 1)]
        same = np.all([state[index] == state[place] for index in around], axis=0).all(axis=1)
        here = np.where(same, state[place, k], "")
        alone = (state[place] == "stick").sum(axis=1) <= 1
        known = (here != "") & body.determined
        contacts[name] = ContactReference(
            here,
            np.where(known, load[place, k], np.nan),
            np.where(known & (alone | (here == "slip")), friction[place, k], np.nan),
            float(body.mu[k]),
            float(body.mu_static[k]),
        )
    whole = np.array([_total(body, state, WIDTH / 2) for state in narrow[place]])
    asked_all = np.all([contact.state != "" for contact in contacts.values()], axis=0)
    pull = dict(zip(("x", "y", "th"), np.where(asked_all, whole.T, np.nan), strict=True))
    return Reference(times, columns(y[place, :3], y[place, 3:]), error, contacts, pull, smoothed=True)


def _integrate(body: Body, duration: float, times: Array, width: float, rtol: float) -> Array:
    found = solve_ivp(
        lambda t, y: _slope(body, t, y, width),
        (0, duration),
        body.start,
        "LSODA",
        times,
        rtol=rtol,
        atol=1e-13,
        first_step=1e-6,
    )
    if found.status < 0:
        raise Unsuited(found.message)
    return found.y.T


def _feet(body: Body, y: Array) -> tuple[Array, Array]:
    """Places of the feet from the centre, and their velocities, (K, 2) each."""
    c, s = np.cos(y[2]), np.sin(y[2])
    d = body.feet @ np.array([[c, s], [-s, c]])
    return d, y[3:5] + y[5] * np.column_stack([-d[:, 1], d[:, 0]])


def _friction(body: Body, y: Array, width: float) -> tuple[Array, Array, Array, Array]:
    """d, u, N and f of all feet."""
    d, u = _feet(body, y)
    speed = np.sqrt((u * u).sum(axis=1))
    rho = speed / width
    # s(u)/u, whose limit at rest is finite.
    dry = np.where(rho > 1e-8, np.tanh(10 * rho) / np.maximum(speed, 1e-300), 10 / width)
    peak = np.exp((1 - np.minimum(rho, 40) ** 2) / 2) / width
    against = (body.mu * dry + (body.mu_static - body.mu) * peak)[:, None] * u
    N0, B = body.loads(y[2])
    N = np.linalg.solve(np.eye(len(N0)) + B @ against.T, N0)
    return d, u, N, -N[:, None] * against


def _total(body: Body, y: Array, width: float) -> Array:
    """Sum and torque of all friction."""
    d, _, _, f = _friction(body, y, width)
    return np.array([*f.sum(axis=0), (d[:, 0] * f[:, 1] - d[:, 1] * f[:, 0]).sum()])


def _slope(body: Body, t: float, y: Array, width: float) -> Array:
    force, torque = body.push(t, y[2])
    total = _total(body, y, width) + np.array([*force, torque])
    return np.concatenate([y[3:], total / (body.mass, body.mass, body.inertia)])


def _contacts(body: Body, times: Array, y: Array, width: float) -> tuple[Array, Array, Array]:
    """Speeds, loads and sizes of friction, (T, K) each."""
    rows = [_friction(body, state, width) for state in y]
    size = np.array([[np.linalg.norm(vector) for vector in row[3]] for row in rows])
    return np.array([np.linalg.norm(row[1], axis=1) for row in rows]), np.array([row[2] for row in rows]), size
