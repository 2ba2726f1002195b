"""What contacts do along the output points of a motion, all points of a mode at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import solve_by_parts
from dalembert.motion.contacts.decide.decide import solved
from dalembert.motion.contacts.modes.contacts import Contacts, unchanged
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.state.contact_history import ContactHistory, Held

# The equations of all points of a mode are solved by plain elimination; where they hold to less than this, relative to
# their terms, points are solved one by one.
SOLVED = 1e-10


@dataclass(frozen=True)
class _Forces:
    """C (T, n), and of each contact the normal force and the size of the friction (T, contacts). multipliers: (T, m)
    where they are a choice.
    """

    C: Array
    normal: Array
    friction: Array
    multipliers: Array | None = None


def points_of(contacts: Contacts, trajectory: Trajectory, modes: Sequence[Mode]) -> Held:
    """What holds and rubs at the output points, each in its mode."""
    n, T, names = contacts.n, trajectory.t.size, [contact.name for contact in contacts.contacts]
    C, acting = np.zeros((T, n)), np.ones((T, contacts.m), dtype=bool)
    normal, friction = np.zeros((T, len(names))), np.zeros((T, len(names)))
    multipliers = np.full((T, contacts.m), np.nan)
    for first, end in _runs(modes):
        mode, at = modes[first], slice(first, end)
        q, v, t = trajectory.y[at, :n], trajectory.y[at, n : 2 * n], trajectory.t[at]
        # Redundant constraints show at a point in the middle as well as at any other.
        k = len(t) // 2
        redundant = mode.undetermined or contacts.solve(mode, q[k], v[k], float(t[k])).redundant
        found = None if redundant else _together(contacts, mode, q, v, t)
        if found is None:
            found = _one_by_one(contacts, mode, q, v, t)
        C[at], normal[at], friction[at] = found.C, found.normal, found.friction
        acting[at, list(contacts.one_sided)] = mode.closed
        if found.multipliers is not None:
            multipliers[at] = found.multipliers
    for k in range(len(names)):
        normal[[mode.states[k] == OPEN for mode in modes], k] = 0.0
    own = {
        name: ContactHistory(np.array([mode.states[k] for mode in modes]), normal[:, k], friction[:, k])
        for k, name in enumerate(names)
    }
    return Held(C, acting, own, multipliers)


def _runs(modes: Sequence[Mode]) -> Iterator[tuple[int, int]]:
    """Where stretches of one mode begin and end."""
    first = 0
    for k in range(1, len(modes) + 1):
        if k == len(modes) or modes[k] != modes[first]:
            yield first, k
            first = k


def _together(contacts: Contacts, mode: Mode, q: Array, v: Array, t: Array) -> _Forces | None:
    """All points of a mode by elimination: M q̈ − (Aᵀ + ∂C/∂λ) λ = Q + C₀, A q̈ = b. None where that does not serve."""
    evaluation, n, T = contacts.evaluation(mode), contacts.n, t.size
    if evaluation.graph.nonlinear or (evaluation.graph.uses_reactions and not evaluation.graph.affine):
        return None
    M, Q, A, b = evaluation.dynamics_along(q, v, t)
    rows = np.flatnonzero(np.any(A, axis=(0, 2)))
    C0, slope = evaluation.affine_work_along(q, v, t)
    own_A = A[:, : contacts.m]
    A, b, G = A[:, rows], b[:, rows], np.swapaxes(A[:, rows], 1, 2) + slope[:, :, rows]
    m = rows.size
    whole = np.zeros((T, n + m, n + m))
    whole[:, :n, :n], whole[:, :n, n:], whole[:, n:, :n] = M, -G, A
    right = np.concatenate([Q + C0, b], axis=1)
    # In rows and columns of like size, so that units do not decide what is solved well.
    root = np.sqrt(np.maximum(np.abs(np.diagonal(M, axis1=1, axis2=2)).max(axis=0), 1e-300))
    length = np.linalg.norm(A / root, axis=2).max(axis=0)
    scale = np.concatenate([1 / root, 1 / np.where(length > 0, length, 1.0)])
    whole *= scale[:, None] * scale
    right *= scale
    try:
        x = solve_by_parts(whole, right)
    except np.linalg.LinAlgError:
        return None
    missed = np.abs(np.einsum("tij,tj->ti", whole, x) - right).max(initial=0.0)
    size = max(float(np.abs(right).max(initial=0.0)), float(np.abs(x).max(initial=0.0)))
    # Next to singular, elimination gives large numbers that cancel: the motion has no such forces.
    if not (np.isfinite(x).all() and missed <= SOLVED * size and size <= float(np.abs(right).max(initial=0.0)) / 1e-6):
        return None
    a = x[:, :n] * scale[:n]
    multipliers = np.zeros((T, evaluation.m))
    multipliers[:, rows] = x[:, n:] * scale[n:]
    own = multipliers[:, : contacts.m]
    N, _, _, mu, *_ = contacts.look_along(mode, q, v, a, t, own)
    C = np.einsum("tij,tj->ti", M, a) - Q - np.einsum("tmi,tm->ti", own_A, own)
    friction = np.zeros((T, len(contacts.contacts)))
    for k in range(len(contacts.contacts)):
        if mode.states[k] == STICK:
            friction[:, k] = np.linalg.norm(multipliers[:, contacts.stick_rows(k)], axis=1)
        elif mode.states[k] == SLIP:
            friction[:, k] = np.abs(mu[:, k] * N[:, k])
    return _Forces(C, N, friction)


def _one_by_one(contacts: Contacts, mode: Mode, q: Array, v: Array, t: Array) -> _Forces:
    """Point by point, with forces inside the cones where they are not determined."""
    C, normal, friction, multipliers = [], [], [], []
    last: Array | None = None
    for k in range(t.size):
        here = contacts.given(mode, q[k], v[k], float(t[k]))
        if not unchanged(here, last):
            find = solved if mode.undetermined else Contacts.solve
            found = find(contacts, mode, q[k], v[k], float(t[k]))
        last = here
        C.append(found.C)
        normal.append(found.normal)
        multipliers.append(found.multipliers[: contacts.m])
        friction.append([float(np.linalg.norm(found.friction[at])) for at in contacts.components])
    count = len(contacts.contacts)
    return _Forces(
        np.array(C),
        np.array(normal).reshape(-1, count),
        np.array(friction).reshape(-1, count),
        np.array(multipliers) if mode.undetermined else None,
    )
