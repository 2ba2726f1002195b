"""How far forces are from what contacts at rest can hold within their limits, at all points of a motion at once.

A force on the coordinates must be a sum of friction forces along the columns of each contact, none larger than its
limit. Contacts that push on different coordinates are looked at by themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.motion.contacts.decide.cone_programs import Cone, deepest

Flags = NDArray[np.bool_]

# Directions of friction with less effect than this share of the others have none.
RANK = 1e-9
# Singular values below this share are rounding where a force is resolved along columns.
RESOLVED = 1e-12


def beyond_limits(
    units: Array, force: Array, components: Sequence[slice], holding: Flags, limits: Array, largest: float
) -> Array:
    """How far each force (T, n) is beyond what can be held, (T,). units (T, n, components): unit forces along the
    components of each contact. holding (T, contacts): which rest; limits (T, contacts): of their friction.
    """
    T, n = force.shape
    if not holding.any():
        return np.asarray(np.abs(force).max(axis=1, initial=0.0))
    touched = np.zeros((T, len(components), n), dtype=bool)
    for k, at in enumerate(components):
        touched[:, k] = units[:, :, at].any(axis=2) & holding[:, k, None]
    count = touched.sum(axis=1)
    worst = np.where(count == 0, np.abs(force), 0.0).max(axis=1, initial=0.0)
    rest: Flags = np.asarray(touched.any(axis=2))
    for k, at in enumerate(components):
        if at.stop - at.start == 1:
            alone = np.flatnonzero(rest[:, k] & ~(touched[:, k] & (count > 1)).any(axis=1))
            if not alone.size:
                continue
            rest[alone, k] = False
            found = _beyond_alone(units[alone, :, at.start], force[alone], touched[alone, k], limits[alone, k])
            worst[alone] = np.maximum(worst[alone], found)
    for points, group in _patterns(touched, rest):
        coordinates = np.flatnonzero(touched[points[0], group].any(axis=0))
        own = [units[np.ix_(points, coordinates)][:, :, components[k]] for k in group]
        found = _beyond(own, force[np.ix_(points, coordinates)], limits[points[:, None], group], largest)
        worst[points] = np.maximum(worst[points], found)
    return worst


def _beyond_alone(column: Array, force: Array, touched: Flags, limit: Array) -> Array:
    """Of a contact along a line (P, n) that no other one shares coordinates with."""
    length = np.linalg.norm(column, axis=1)
    share = np.einsum("pn,pn->p", column, force) / length**2
    missed = np.where(touched, np.abs(share[:, None] * column - force), 0.0).max(axis=1, initial=0.0)
    return np.maximum(missed, length * (np.abs(share) - limit))


def _patterns(touched: Flags, rest: Flags) -> list[tuple[NDArray[np.int_], list[int]]]:
    """Points at which the same contacts share the same coordinates: their numbers, and those of the contacts."""
    alike: defaultdict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    for i in np.flatnonzero(rest.any(axis=1)).tolist():
        alike[rest[i].tobytes(), touched[i, rest[i]].tobytes()].append(i)
    found = []
    for points in alike.values():
        i = points[0]
        sets = {int(k): frozenset(np.flatnonzero(touched[i, k]).tolist()) for k in np.flatnonzero(rest[i])}
        found += [(np.array(points), group) for group in _sharing(sets)]
    return found


def _sharing(touched: dict[int, frozenset[int]]) -> list[list[int]]:
    """Contacts in groups that have no coordinate in common."""
    groups: list[tuple[list[int], frozenset[int]]] = []
    owner: dict[int, int] = {}
    for k, at in touched.items():
        joined = {owner[x] for x in at if x in owner}
        members, all_at = [k], at
        for group in joined:
            members, all_at = [*groups[group][0], *members], all_at | groups[group][1]
        owner |= dict.fromkeys(all_at, len(groups))
        groups.append((members, all_at))
    last = sorted(set(owner.values()))
    return [groups[group][0] for group in last]


def _beyond(units: Sequence[Array], force: Array, limits: Array, largest: float) -> Array:
    """How far forces (P, n) are from a sum of forces, along the columns of each of the `units` (P, n, components),
    within limits (P, contacts).
    """
    if len({own.shape for own in units}) == 1:  # contacts of one kind by one call
        axes, sizes = _directions(np.concatenate(units))
        frames = [*zip(axes.reshape(len(units), -1, *axes.shape[1:]), sizes.reshape(len(units), -1), strict=True)]
    else:
        frames = [_directions(own) for own in units]
    counts = np.stack([count for _, count in frames], axis=1)
    worst = np.zeros(force.shape[0])
    for kind in {tuple(row) for row in counts.tolist()}:
        at = np.flatnonzero((counts == kind).all(axis=1))
        columns = [own[at] @ axes[at][:, :, :size] for own, (axes, _), size in zip(units, frames, kind, strict=True)]
        worst[at] = _beyond_together(columns, force[at], limits[at], largest)
    return worst


def _beyond_together(each: Sequence[Array], force: Array, limits: Array, largest: float) -> Array:
    """The same with independent columns for each contact by itself."""
    columns = np.concatenate(each, axis=2)
    held = np.einsum("pcn,pn->pc", np.linalg.pinv(columns, rcond=RESOLVED), force)
    missed = np.abs(np.einsum("pnc,pc->pn", columns, held) - force).max(axis=1, initial=0.0)
    own = np.split(np.arange(held.shape[1]), np.cumsum([one.shape[2] for one in each])[:-1])
    lengths = np.linalg.norm(columns, axis=1)
    weights = np.stack([lengths[:, at].max(axis=1) for at in own], axis=1)
    sizes = np.stack([np.linalg.norm(held[:, at], axis=1) for at in own], axis=1)
    worst = (weights * (sizes - limits)).max(axis=1, initial=0.0)
    for i in np.flatnonzero(worst > RANK * largest).tolist():
        rank = np.linalg.matrix_rank(columns[i], tol=RANK * np.abs(columns[i]).max(initial=1.0))
        if rank < held.shape[1]:
            # The smallest forces are not the only ones: others may lie inside.
            worst[i] = _least_excess(columns[i], held[i], own, limits[i], weights[i])
    return np.maximum(missed, worst)


def _directions(units: Array) -> tuple[Array, NDArray[np.int_]]:
    """Orthonormal directions of friction in space, as columns (P, components, directions), and how many of them count:
    of three components in a plane, two.
    """
    P, _, components = units.shape
    if components == 1:
        return np.ones((P, 1, 1)), np.ones(P, dtype=int)
    _, sigma, V = np.linalg.svd(units, full_matrices=False)
    count = (sigma > RANK * np.maximum(sigma[:, :1], 1e-300)).sum(axis=1)
    return np.swapaxes(V, 1, 2), np.maximum(count, 1)


def _least_excess(columns: Array, held: Array, own: list[Any], limits: Array, weights: Array) -> float:
    """The least by which forces with the same effect, columns · forces, exceed limits on their lengths, weighted."""
    _, sigma, V = np.linalg.svd(columns)
    Z = V[int(np.sum(sigma > RANK * max(float(sigma[0]), 1e-300))) :].T
    size = max(float(np.abs(held).max()), float(limits.max())) or 1.0
    none = np.zeros(Z.shape[1])
    cones = [
        Cone(Z[at], held[at] / size, none, float(limit) / size, 1.0 / max(float(weight), 1e-300))
        for at, limit, weight in zip(own, limits, weights, strict=True)
    ]
    found = deepest(cones, Z.shape[1], most=1.0)
    return float("inf") if found is None else max(-found.depth * size, 0.0)
