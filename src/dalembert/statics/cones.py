"""Whether forces within the cones of friction hold a system at rest: also where they are not determined.

Of all x = (λ, f) with G x = −Q at a configuration, those are wanted that lie deepest inside

    |f_c| ≤ μ_c |N_c|   for every contact,     λ_k ≥ 0   for every closed one-sided constraint.

With N_c of one sign this is a convex problem: a linear programme, in which tangent planes stand for the round cones of
contacts in a plane and are added until the answer lies on the cones themselves. Being outside of the cones, the planes
never refuse what could hold. Each choice of signs is a problem of its own. A pin, whose reaction has two components,
has no sign; there, where its forces are not determined, the depth is maximised from several starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog, minimize

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply
from dalembert.mechanics.solve.fundamental import null_space
from dalembert.statics.statics import RANK, Balance, Parts, Statics

# A state just at its limit counts as held: so far outside, relative to the forces, it may be by rounding.
LIMIT = 1e-9
# Planes are added until no cone is missed by more than this, relative to the forces (linear programmes are solved to
# 1e-10), or than a share of the depth: then it is settled whether the forces hold.
ON_CONE, SETTLED = 1e-9, 1e-2
MOST_CUTS = 60
# Sides of the polygon that a round cone begins with.
SIDES = 16
MOST_SIGNS = 12
STARTS = 8


@dataclass(frozen=True)
class Holding:
    """Forces that hold, or come nearest to it. margin: by how much the least safe contact is inside its cone, relative
    to the forces of the balance; negative: by how much it is outside. determined: the forces are the only ones.
    """

    multipliers: Array
    friction: Array
    margin: float
    determined: bool

    @property
    def holds(self) -> bool:
        return self.margin >= -LIMIT


@dataclass(frozen=True)
class _Cone:
    """|f| ≤ mu |N| in terms of the unknowns x: f = x[at] · unit in an orthonormal frame; N = lever · x[row], or, of a
    pin, a length (row is None). signs: those that N may have.
    """

    contact: int
    at: list[int]
    unit: Array
    mu: float
    row: int | None
    lever: float
    signs: tuple[float, ...]

    def plane(self, way: Array, sign: float, size: int) -> Array:
        """The row of way · f − mu sign N."""
        row = np.zeros(size)
        row[self.at] = way * self.unit
        row[self.row] -= self.mu * sign * self.lever
        return row


def deepest_forces(statics: Statics, at: Balance, parts: Parts) -> Holding:
    """The forces that hold a balanced configuration from deepest inside all cones, or come nearest to holding it."""
    _, _, reach = statics.balance(at.q, at.multipliers, at.friction)
    rows = list(parts.rows)
    frames = {k: _frame(reach[:, statics.m :][:, statics.components[k]]) for k in parts.contacts}
    blocks = [reach[:, statics.m :][:, statics.components[k]] @ frame for k, frame in frames.items()]
    columns = np.hstack([reach[:, rows], *blocks])
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    # Unknowns: the generalized forces of all parts, as shares of those in the balance.
    unit = at.force / lengths
    own = [frame.T @ at.friction[statics.components[k]] for k, frame in frames.items()]
    start = np.concatenate([at.multipliers[rows], *own]) / unit
    Z = null_space(columns / lengths, RANK) if start.size else np.zeros((0, 0))
    places, first = {}, len(rows)
    for k, frame in frames.items():
        places[k] = list(range(first, first + frame.shape[1]))
        first += frame.shape[1]
    cones = _cones(statics, at, rows, places, unit)
    pushes = [j for j, k in enumerate(rows) if k in statics.one_sided]

    def spread(x: Array) -> tuple[Array, Array]:
        l, f = np.zeros(statics.m), np.zeros(statics.columns)
        l[rows] = (x * unit)[: len(rows)]
        for k, frame in frames.items():
            f[statics.components[k]] = frame @ (x * unit)[places[k]]
        return l, f

    def depth(x: Array) -> float:
        l, f = spread(x)
        normal = np.abs(statics.reactions(at.q, l)[0]) if cones else np.zeros(0)
        depths = [c.mu * normal[c.contact] - np.linalg.norm(f[statics.components[c.contact]]) for c in cones]
        return float(min([*(depth / at.force for depth in depths), *(x[k] for k in pushes)], default=0.0))

    if not Z.shape[1] or not (cones or pushes):
        best = start
    elif any(cone.row is None for cone in cones):
        best = _climb(depth, start, Z)
    else:
        best = max((_deepest(cones, signs, pushes, start, Z) for signs in _signs(cones)), key=depth)
    return Holding(*spread(best), depth(best), not Z.shape[1])


def _frame(forces: Array) -> Array:
    """Orthonormal directions of friction, as columns: of three components in a plane, two."""
    _, sigma, V = np.linalg.svd(forces, full_matrices=False)
    if V.shape[0] == 1:
        return np.ones((1, 1))
    return V[: max(1, int(np.sum(sigma > RANK * max(float(sigma[0]), 1e-300))))].T


def at_contacts(statics: Statics, q: Array, holding: Holding) -> dict[str, tuple[float, float, float]]:
    """Of every contact: the reaction, the friction, and the most that friction could be."""
    if not statics.system.contacts:
        return {}
    normal, mu = statics.reactions(q, holding.multipliers)
    found = {}
    for k, contact in enumerate(statics.system.contacts):
        f = holding.friction[statics.components[k]]
        size = float(f[0]) if f.size == 1 else float(np.linalg.norm(f))
        found[contact.name] = (float(normal[k]), size, float(mu[k] * abs(normal[k])))
    return found


def _cones(statics: Statics, at: Balance, rows: list[int], places: dict[int, list[int]], unit: Array) -> list[_Cone]:
    if not places:
        return []
    ones, mu = statics.reactions(at.q, np.ones(statics.m))
    names = [c.name for c in statics.system.constraints]
    found = []
    for k, columns in places.items():
        contact, share = statics.system.contacts[k], unit[columns] / at.force
        if not contact.signed:
            found.append(_Cone(k, columns, share, float(mu[k]), None, 0.0, (1.0,)))
            continue
        row = names.index(contact.constraints[0])
        column = rows.index(row)
        signs = (1.0,) if row in statics.one_sided else (1.0, -1.0)
        lever = float(ones[k] * unit[column] / at.force)
        found.append(_Cone(k, columns, share, float(mu[k]), column, lever, signs))
    return found


def _signs(cones: list[_Cone]) -> list[tuple[float, ...]]:
    two = [k for k, cone in enumerate(cones) if len(cone.signs) > 1]
    if len(two) > MOST_SIGNS:
        raise DoesNotApply(f"{len(two)} contacts that may push or pull: too many to try all signs of their reactions")
    return list(product(*(cone.signs for cone in cones)))


def _deepest(cones: list[_Cone], signs: tuple[float, ...], pushes: list[int], start: Array, Z: Array) -> Array:
    """x = start + Z c of the greatest depth, by linear programmes with tangent planes for the cones."""
    size, free = start.size, Z.shape[1]
    planes = [
        cone.plane(way, sign, size) for cone, sign in zip(cones, signs, strict=True) for way in _ways(len(cone.at))
    ]
    planes += [-row for row in np.eye(size)[pushes]]
    x = start
    for _ in range(MOST_CUTS):
        R = np.array(planes)
        found = linprog(
            np.concatenate([np.zeros(free), [-1.0]]),
            A_ub=np.hstack([R @ Z, np.ones((len(planes), 1))]),
            b_ub=-R @ start,
            # Parts may strain each other without end, as in a jam: a depth of all the forces is enough.
            bounds=[(None, None)] * free + [(None, 1.0)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if not found.success:
            return x
        x, depth = start + Z @ found.x[:-1], found.x[-1]
        missed, allowed = False, max(ON_CONE, SETTLED * abs(depth))
        for cone, sign in zip(cones, signs, strict=True):
            f = x[cone.at] * cone.unit
            length = float(np.linalg.norm(f))
            if f.size > 1 and length + depth - cone.mu * sign * cone.lever * x[cone.row] > allowed:
                planes.append(cone.plane(f / length, sign, size))
                missed = True
        if not missed:
            break
    return x


def _ways(components: int) -> list[Array]:
    if components == 1:
        return [np.ones(1), -np.ones(1)]
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    return [np.array([np.cos(a), np.sin(a)]) for a in angles]


def _climb(depth: Callable[[Array], float], start: Array, Z: Array) -> Array:
    """Where a reaction is a length: from several starts uphill, by a method that needs no derivatives."""
    draw = np.random.default_rng(0)  # the same starts each time
    best = start
    size = max(1.0, float(np.abs(start).max(initial=0.0)))
    for k in range(STARTS):
        first = np.zeros(Z.shape[1]) if k == 0 else size * draw.normal(size=Z.shape[1])
        # Parts may strain each other without end: a depth of all the forces is enough.
        found = minimize(
            lambda c: -min(depth(start + Z @ c), 1.0),
            first,
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-12},
        )
        x = start + Z @ found.x
        best = x if depth(x) > depth(best) else best
    return best
