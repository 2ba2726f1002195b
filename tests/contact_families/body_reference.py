"""A rigid body sliding on a table on several feet, by a smoothed law with two widths and extrapolation.

Unknowns X, Y, θ of the centre of mass. A foot at d_k (turned by θ) slides with u_k = V + θ′ ẑ × d_k and feels
f_k = −N_k s(|u_k|) u_k/|u_k| with s(u) = μ tanh(10 u/ε) + (μ_s − μ) (u/ε) exp((1 − (u/ε)²)/2): zero at rest, at most
μ_s (at u = ε), and μ but for exponentially small terms beyond, so that what differs from Coulomb's law happens within
speeds of a few ε and the error is proportional to ε. Loads N = N₀(θ) + B(θ) Σf are solved with the friction.

The forces of feet that stick are not read off this law, where they are as uncertain as speeds of less than ε: they
follow, at the places of this motion, from a foot that has no acceleration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.integrate import solve_ivp

from .case import NEAR, Array, ContactReference, Reference, Unsuited, outputs

#: The wider of the two smoothing speeds; motions here have speeds of about one.
WIDTH = 2e-7
#: Slower than this many widths is sticking; faster than this is slipping; in between it is not asked.
STICKS, SLIPS = 10.0, 1e-3
#: Directions of slipping, and with them forces, are asked where they are known to this, half of what is compared.
DIRECTION = 1e-5
#: Evaluations of an integration: most take 20,000. What needs so many more is no reference.
MOST = 200_000


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
    speed, load = _contacts(body, narrow, WIDTH / 2)
    if load.min() < 0.05 * body.mass * 9.81 / len(names):
        raise Unsuited("a foot lifts")
    state = np.where(speed > SLIPS, "slip", np.where(speed < STICKS * WIDTH, "stick", ""))
    if np.any(body.mu_static > body.mu) and _lets_go((state == "stick").sum(axis=1)):
        # Feet at rest share their load in many ways. With μ_s = μ the last of them decides when they give way; with
        # more, the share does, and here speeds below ε would make one up: they reach the peak one after the other.
        raise Unsuited("when it gives way is not determined")
    sticks = state[place] == "stick"
    told = [_instant(body, t, y_t, held) for t, y_t, held in zip(times, y[place], sticks, strict=True)]
    sure = sticks | (speed[place] > max(SLIPS, error * scales[1] / DIRECTION))
    around = [np.clip(place + shift, 0, asked.size - 1) for shift in (-1, 0, 1)]
    same = np.all([state[index] == state[place] for index in around], axis=0).all(axis=1)
    known = same & sure.all(axis=1)
    contacts = {}
    for k, name in enumerate(names):
        load, friction = (np.array([row[part][k] for row in told]) for part in (0, 1))
        alone = ~sticks[:, k] | (sticks.sum(axis=1) == 1)
        contacts[name] = ContactReference(
            np.where(same, state[place, k], ""),
            np.where(known & body.determined, load, np.nan),
            np.where(known & body.determined & alone, friction, np.nan),
            float(body.mu[k]),
            float(body.mu_static[k]),
        )
    pull = dict(zip(("x", "y", "th"), np.where(known, np.transpose([row[2] for row in told]), np.nan), strict=True))
    return Reference(times, columns(y[place, :3], y[place, 3:]), error, contacts, pull)


def _lets_go(held: Array) -> bool:
    """Whether some of several feet that stick, by their number along the motion, slip later."""
    return bool(np.any((held[:-1] > 1) & (held[1:] < held[:-1])))


def _instant(body: Body, t: float, y: Array, held: Array) -> tuple[Array, Array, Array]:
    """N and |f| of all feet, and sum and torque of all friction, where some are held: x = (f, N, V′, θ″) satisfies

        f + μ N u/|u| = 0 (slips) or V′ + θ″ ẑ × d − θ′² d = 0 (held),
        N − B Σf = N₀,   m V′ − Σf = F,   I θ″ − Σ d × f = τ.

    Feet that are held together share their forces in many ways, of which x is the smallest; the sums are unique.
    """
    d, u = _feet(body, y)
    K, (N0, B), (F, torque) = len(d), body.loads(y[2]), body.push(t, y[2])
    rows, right = np.zeros((3 * K + 3, 3 * K + 3)), np.zeros(3 * K + 3)
    across = np.column_stack([-d[:, 1], d[:, 0]])
    for k in range(K):
        own, acc = slice(2 * k, 2 * k + 2), slice(3 * K, 3 * K + 2)
        if held[k]:
            rows[own, acc], rows[own, -1] = np.eye(2), across[k]
            right[own] = y[5] ** 2 * d[k]
        else:
            rows[own, own] = np.eye(2)
            rows[own, 2 * K + k] = body.mu[k] * u[k] / max(float(np.linalg.norm(u[k])), 1e-300)
        rows[2 * K : 3 * K, own], rows[acc, own], rows[-1, own] = -B, -np.eye(2), -across[k]
    rows[2 * K : 3 * K, 2 * K : 3 * K] = np.eye(K)
    rows[3 * K : 3 * K + 2, 3 * K : 3 * K + 2], rows[-1, -1] = body.mass * np.eye(2), body.inertia
    right[2 * K :] = [*N0, *F, torque]
    x = np.linalg.lstsq(rows, right, rcond=1e-12)[0]
    f = x[: 2 * K].reshape(K, 2)
    return x[2 * K : 3 * K], np.linalg.norm(f, axis=1), np.array([*f.sum(axis=0), (across * f).sum()])


def _integrate(body: Body, duration: float, times: Array, width: float, rtol: float) -> Array:
    calls = count()

    def slope(t: float, y: Array) -> Array:
        if next(calls) > MOST:
            raise Unsuited("too many evaluations")
        return _slope(body, t, y, width)

    found = solve_ivp(
        slope,
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


def _contacts(body: Body, y: Array, width: float) -> tuple[Array, Array]:
    """Speeds and loads, (T, K) each."""
    rows = [_friction(body, state, width) for state in y]
    return np.array([np.linalg.norm(row[1], axis=1) for row in rows]), np.array([row[2] for row in rows])
