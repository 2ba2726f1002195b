"""Impulses of several contacts at once: cone complementarity for the velocities they leave.

With u = G p + b, normal first in each contact, find p with

    0 ≤ p_N ⊥ u_N ≥ 0,    p_T = −μ (p_N + g) u_T/|u_T| where u_T ≠ 0,    |p_T| ≤ μ (p_N + g) where u_T = 0.

g: normal impulses that are given besides, whose velocities are part of b. Along lines this is a linear complementarity
problem (Stewart and Trinkle 1996, exact there), in planes it is solved by projection (Gauss–Seidel) and Newton's method
on the map of Alart and Curnier 1991: the cone is the quadratic one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints
from dalembert.motion.contacts.impacts.lemke import solve_complementarity

# What a solution may miss, as a share of the velocities: rounding of its products.
SOLVED = 1e-13
# What is taken where rounding is more than that: redundant contacts, of large ratios of masses.
ACCEPTED = 1e-9
ROUNDS, SWEEPS, NEWTON_STEPS = 80, 40, 25
# Beside inverse inertias of one, one after the other: above their rounding, and below what redundant contacts leave of
# them; or more than that, of contacts that are almost redundant, where Newton's method goes on from there.
SOFT = (0.0, 1e-11, 1e-9, 1e-7)
# Beside velocities of one: larger impulses brace contacts against each other (see `braced.py`).
MOST = 1e3


@dataclass(frozen=True)
class Problem:
    """G (R, R) and b (R,): rows of contact k stand at places[k], normal first. mu, given: (K,)."""

    G: Array
    b: Array
    places: tuple[slice, ...]
    mu: Array
    given: Array


def places_of(sizes: Sequence[int]) -> tuple[slice, ...]:
    """Where the rows of contacts stand that have so many tangents."""
    ends = np.cumsum([size + 1 for size in sizes])
    return tuple(slice(int(end) - size - 1, int(end)) for end, size in zip(ends, sizes, strict=True))


def impulses(problem: Problem) -> Array:
    """p (R,)."""
    scaled, weights, unit = _scaled(problem)
    found = None
    if all(at.stop - at.start <= 2 for at in problem.places):
        found = _by_pivots(scaled)
    if found is None:
        found = _projected(scaled)
    found = found * weights * unit
    # Nothing pulls: what Newton's method leaves of an open contact is rounding of either sign.
    normals = [at.start for at in problem.places]
    found[normals] = np.maximum(found[normals], 0.0)
    return found


def _scaled(problem: Problem) -> tuple[Problem, Array, float]:
    """Contacts that feel unit inertia and velocities of size one. p = scaled p · weights · unit."""
    weights = np.ones(problem.b.size)
    for at in problem.places:
        inverse = float(np.trace(problem.G[at, at])) / (at.stop - at.start)
        weights[at] = 1.0 / np.sqrt(inverse) if inverse > 0.0 else 1.0
    b = weights * problem.b
    normals = [at.start for at in problem.places]
    unit = max(float(np.abs(b).max(initial=0.0)), float(np.abs(problem.given / weights[normals]).max(initial=0.0)))
    unit = unit or 1.0
    G = weights[:, None] * problem.G * weights
    given = problem.given / (weights[normals] * unit)
    return Problem(G, b / unit, problem.places, problem.mu, given), weights, unit


def _by_pivots(problem: Problem) -> Array | None:
    """A solution along lines, improved where contacts are redundant and pivots have gathered rounding; with contacts
    that give way by next to nothing where pivots end on a ray without them.
    """
    for soft in SOFT:
        G = problem.G + soft * np.eye(problem.b.size)
        found = _along_lines(Problem(G, problem.b, problem.places, problem.mu, problem.given))
        if found is None:
            continue
        miss = _miss(problem, found)
        if miss > SOLVED:
            found, miss = _newton(problem, found)
        if miss <= ACCEPTED and float(np.abs(found).max(initial=0.0)) <= MOST:
            return found
    return None


def _along_lines(problem: Problem) -> Array | None:
    """For each contact the unknowns p_N and, with friction, p_T⁺, p_T⁻ and the sliding speed."""
    pushes: list[Array] = []  # columns: the impulses of each unknown
    rubs: list[tuple[int, int, int]] = []  # contact, the place of its p_N, that of its p_T⁺
    where = []
    for k, at in enumerate(problem.places):
        unit = np.zeros((problem.b.size, at.stop - at.start))
        unit[at] = np.eye(at.stop - at.start)
        where.append(len(pushes))
        pushes.append(unit[:, 0])
        if unit.shape[1] == 2:
            rubs.append((k, len(pushes) - 1, len(pushes)))
            pushes += [unit[:, 1], -unit[:, 1]]
    D = np.stack(pushes, axis=1)
    n, m = D.shape[1], len(rubs)
    M, q = np.zeros((n + m, n + m)), np.zeros(n + m)
    M[:n, :n], q[:n] = D.T @ problem.G @ D, D.T @ problem.b
    for j, (k, normal, rub) in enumerate(rubs):
        M[rub : rub + 2, n + j] = 1.0
        M[n + j, normal], M[n + j, rub : rub + 2] = problem.mu[k], -1.0
        q[n + j] = problem.mu[k] * problem.given[k]
    z = solve_complementarity(M, q)
    return None if z is None else D @ z[:n]


def _projected(problem: Problem) -> Array:
    G, p = problem.G, np.zeros(problem.b.size)
    best, least = p, np.inf
    for _ in range(ROUNDS):
        for _ in range(SWEEPS):
            for k, at in enumerate(problem.places):
                u = problem.b[at] + G[at] @ p
                own = G[at, at]
                if own[0, 0] > 0.0:
                    p[at.start] = max(0.0, p[at.start] - float(u[0]) / own[0, 0])
                if at.stop - at.start > 1:
                    step = 1.0 / max(float(np.linalg.norm(own[1:, 1:], 2)), 1e-300)
                    limit = problem.mu[k] * (p[at.start] + problem.given[k])
                    u_T = problem.b[at][1:] + G[at][1:] @ p
                    p[at][1:] = _in_disc(p[at][1:] - step * u_T, limit)
        better, miss = _newton(problem, p)
        if miss < least:
            best, least = better, miss
        if least <= SOLVED:
            return best
    if least > ACCEPTED:
        left = f"end the approach of all contacts that meet here (left over: {least:.1e} of the velocities)"
        if any(at.stop - at.start > 1 for at in problem.places):
            raise InconsistentConstraints(
                f'no impulses inside the cones of friction {left}; impacts = "sequence" takes them one after the other'
            )
        raise InconsistentConstraints(f"no impulses {left}: the constraints leave no room between them")
    return best


def _in_disc(vector: Array, radius: float) -> Array:
    size = float(np.linalg.norm(vector))
    return vector if size <= radius else vector * (radius / size)


def _miss(problem: Problem, p: Array) -> float:
    return float(np.abs(_map(problem, p)[0]).max(initial=0.0))


def _map(problem: Problem, p: Array) -> tuple[Array, Array]:
    """The map of Alart and Curnier, zero at a solution, and its slope."""
    G = problem.G
    u = problem.b + G @ p
    y, slope = p - u, np.eye(p.size) - G
    F, J = p.copy(), np.eye(p.size)
    for k, at in enumerate(problem.places):
        radius = problem.mu[k] * (max(0.0, float(y[at.start])) + problem.given[k])
        grows = np.zeros(p.size)
        if y[at.start] > 0.0:
            F[at.start], J[at.start] = u[at.start], G[at.start]
            grows = problem.mu[k] * slope[at.start]
        if at.stop - at.start == 1:
            continue
        rows = slice(at.start + 1, at.stop)
        size = float(np.linalg.norm(y[rows]))
        if size <= radius:
            F[rows], J[rows] = u[rows], G[rows]
        elif size > 0.0:
            way = y[rows] / size
            F[rows] = p[rows] - radius * way
            J[rows] -= np.outer(way, grows) + (radius / size) * (slope[rows] - np.outer(way, way @ slope[rows]))
    return F, J


def _newton(problem: Problem, p: Array) -> tuple[Array, float]:
    F, J = _map(problem, p)
    miss = float(np.abs(F).max(initial=0.0))
    for _ in range(NEWTON_STEPS):
        if miss <= SOLVED:
            break
        step = np.linalg.lstsq(J, -F, rcond=1e-12)[0]
        for share in (1.0, 0.5, 0.1):
            there = p + share * step
            F2, J2 = _map(problem, there)
            worse = float(np.abs(F2).max(initial=0.0))
            if worse < miss:
                break
        if not worse < miss:
            break
        p, F, J, miss = there, F2, J2, worse
    return p, miss
