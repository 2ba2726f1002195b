"""Friction that holds more than it must: forces that are not determined, but may suffice."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from dalembert.mechanics.fundamental import Array, null_space
from dalembert.motion.contacts.modes import STICK, Contacts, Mode, ModeSolution, stick_name

# Sides of the polygon that stands for a circular cone of friction in a plane, inside it.
SIDES = 16


# Below this share of the forces, a distance from the cones is rounding of the linear programme.
INSIDE = 1e-9


def gives_way(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> bool:
    """Whether no choice of the forces of a mode with undetermined ones lies inside the cones."""
    return within_cones(contacts, mode, contacts.solve(mode, q, v, t)) is None


def within_cones(contacts: Contacts, mode: Mode, s: ModeSolution) -> ModeSolution | None:
    """The same motion with all frictions inside their cones, as far inside as possible; None where that cannot be.

    The multipliers of dependent constraints are not unique: λ + Z c with Aᵀ Z = 0 gives the same forces. For each
    choice of the signs of the reactions a linear programme in c.
    """
    system = contacts.evaluation(mode).system
    names = {c.name: k for k, c in enumerate(system.constraints)}
    holding = [k for k, contact in enumerate(contacts.contacts) if mode.states[k] == STICK and contact.signed]
    Z, start = null_space(s.solution.A.T), s.solution.multipliers
    if not holding or not Z.shape[1]:
        return None
    best: tuple[float, np.ndarray] | None = None
    for signs in product(*([1.0] if contacts.carrier[k] is not None else [1.0, -1.0] for k in holding)):
        rows = []
        for k, sign in zip(holding, signs, strict=True):
            contact = contacts.contacts[k]
            for way in _ways(len(contact.slide)):
                row = np.zeros(start.size)
                row[[names[stick_name(contact, i)] for i in range(len(contact.slide))]] = way
                row[names[contact.constraints[0]]] -= s.mu_static[k] * sign * s.lever[k]
                rows.append(row)
        found = _deepest(np.array(rows), start, Z)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    if best is None:
        return None
    multipliers = best[1]
    whole = np.array([multipliers[names[c.name]] if c.name in names else 0.0 for c in contacts.system.constraints])
    friction, normal = s.friction.copy(), s.normal.copy()
    for k, contact in enumerate(contacts.contacts):
        if mode.states[k] == STICK:
            held = [names[stick_name(contact, i)] for i in range(len(contact.slide))]
            friction[contacts.components[k]] = multipliers[held]
            if contact.signed:
                normal[k] = s.lever[k] * multipliers[names[contact.constraints[0]]]
    kept = [c.name for c in contacts.system.constraints if c.name in names]
    A = s.solution.A[[names[name] for name in kept]]
    C = s.solution.M @ s.acceleration - s.solution.Q - A.T @ multipliers[[names[name] for name in kept]]
    return replace(s, multipliers=whole, friction=friction, normal=normal, C=C, undetermined=True)


def _deepest(R: np.ndarray, start: np.ndarray, Z: np.ndarray) -> tuple[float, np.ndarray] | None:
    """λ = start + Z c with R λ ≤ −depth and the largest depth, which is not negative but for rounding."""
    from scipy.optimize import linprog  # only here: it takes longer to load than a short motion to compute

    size = float(np.abs(start).max(initial=0.0)) or 1.0
    found = linprog(
        np.concatenate([np.zeros(Z.shape[1]), [-1.0]]),
        A_ub=np.hstack([R @ Z, np.ones((R.shape[0], 1))]),
        b_ub=-R @ start / size,  # in units of the forces: the tolerances of the programme are absolute
        bounds=[(None, None)] * Z.shape[1] + [(-INSIDE, 1.0)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return (size * float(found.x[-1]), start + size * (Z @ found.x[:-1])) if found.success else None


def _ways(components: int) -> list[np.ndarray]:
    if components == 1:
        return [np.array([1.0]), np.array([-1.0])]
    # Three components are those of a vector in a plane: unit vectors over a sphere hold the cone from all sides.
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    pairs = [(0, 1)] if components == 2 else [(0, 1), (1, 2), (2, 0)]
    unit = np.eye(components)
    return [unit[i] * np.cos(a) + unit[j] * np.sin(a) for i, j in pairs for a in angles]


def least_excess(columns: Array, forces: Array, sizes: list[int], limits: Array, weights: Array) -> float:
    """The least by which forces with the same effect, columns · forces, exceed limits on their lengths, weighted.

    sizes: how many components the force of each contact has. Polygons stand for circles, outside them.
    """
    Z = null_space(columns)
    rows, bounds, share = [], [], []
    for k, at in enumerate(np.split(np.arange(forces.size), np.cumsum(sizes)[:-1])):
        for way in _ways(sizes[k]):
            row = np.zeros(forces.size)
            row[at] = way
            rows.append(row)
            bounds.append(limits[k])
            share.append(1 / weights[k])
    R = np.array(rows)
    size = float(np.abs(forces).max(initial=0.0)) or 1.0
    from scipy.optimize import linprog

    found = linprog(
        np.concatenate([np.zeros(Z.shape[1]), [1.0]]),
        A_ub=np.hstack([R @ Z, -np.array(share)[:, None]]),
        b_ub=(np.array(bounds) - R @ forces) / size,
        bounds=[(None, None)] * Z.shape[1] + [(0.0, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return size * float(found.x[-1]) if found.success else float("inf")
