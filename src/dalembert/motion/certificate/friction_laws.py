"""Whether friction along a motion obeys its law, measured on the motion's own forces.

Nothing here comes from the solver: the law is taken as it is written down (force, normal, velocity), in the three
components of space where a surface has them, and not in the directions that the motion chose for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.contacts import contact_graph
from dalembert.graph.evaluate import Evaluator
from dalembert.model.friction.contact import work_of
from dalembert.motion.contacts.decide.cone_programs import Cone, deepest
from dalembert.motion.contacts.decide.decide import REST
from dalembert.motion.contacts.modes.modes import OPEN, STICK
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# What counts as rest below this share of the fastest velocities; a contact told to stick may move so much faster.
SEEN = 1e3
# Of velocities, with some operations between.
ROUNDING = 1e-14
# Directions of friction with less effect than this share of the others have none.
RANK = 1e-9


def contact_residual(motion: Motion) -> float:
    """The largest departure from the laws of contact, relative to the largest force (or size of the state).

    The friction forces are taken from C, whatever mode made them: what the laws of work and of slipping give is
    subtracted, and the rest must be forces along the directions of what rests, inside its cones. What is told to stick
    must rest. Forces and lengths are compared in coordinates scaled by the root of their own mass, in which all have
    one unit, and along gradients of unit length: neither the units of the model nor the scale of an equation matter.
    """
    assert motion.C is not None
    assert motion.acting is not None
    system = motion.system
    graph = contact_graph(system)
    one_sided, p, T = list(graph.one_sided), system.parameter_values(), motion.t.size
    N, u, _, mu, mu_static, gap, _, _ = Evaluator(graph.state).many(
        T, motion.q, motion.v, motion.a, motion.t, p, motion.multipliers
    )
    units = Evaluator(graph.forces).many(T, motion.q, motion.v, motion.t, p)[0].reshape(T, motion.q.shape[1], -1)
    M, Q, A, _ = Evaluation(system).dynamics_along(motion.q, motion.v, motion.t)
    root = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    root = np.where(root > 0, root, 1.0)
    steep = np.linalg.norm(A / root[:, None, :], axis=2)
    reactions = steep * motion.multipliers
    units = units / root[:, :, None]
    weights = np.linalg.norm(units, axis=1)  # of a unit force on each sliding component
    # C is what remains of all forces: in flight, their rounding.
    present = (motion.C / root, Q / root, np.einsum("tij,tj->ti", M, motion.a) / root, reactions)
    span = float(motion.t[-1] - motion.t[0])
    largest = max(float(np.abs(part).max(initial=0.0)) for part in present) or 1.0
    # Between impacts there may be no force at all: rounding is small against what would stop the motion within it.
    largest = max(largest, 1e-6 * float(np.abs(root * motion.v).max()) / (span or 1.0))
    # From rest at the origin, places are rounding of where the forces would have led.
    reach = max(float(np.abs(root * motion.q).max()), 1e-6 * span**2 * float(np.abs(Q / root).max())) or 1.0
    resting, fastest = _resting(motion), float(np.abs(motion.v).max(initial=0.0)) or 1.0
    rest = (motion.C - _smooth(motion)) / root
    forces, slips = 0.0, 0.0
    unsure = np.zeros(T)  # slow slipping is a difference of large velocities: its direction has their rounding
    # Redundant constraints share a load in many ways, and columns may tell another one than multipliers.
    determined = motion.rank == np.any(motion.acting[:, :, None] & (A != 0), axis=2).sum(axis=1)
    holding: list[list[int]] = [[] for _ in range(T)]
    for k, contact in enumerate(system.contacts):
        at, state = graph.components[k], motion.contacts[contact.name].state
        speed = np.linalg.norm(u[:, at], axis=1)
        moving = (state != OPEN) & (speed > resting)
        slip = mu[:, k] * np.abs(N[:, k]) / np.where(moving, speed, 1.0)
        rest += np.where(moving[:, None], np.einsum("tnc,tc->tn", units[:, :, at], slip[:, None] * u[:, at]), 0.0)
        # A coefficient below zero drives what it should brake.
        history, weight = motion.contacts[contact.name], weights[:, at].max(axis=1)
        unsure += np.where(moving, weight * slip * ROUNDING * np.abs(motion.v).max(axis=1), 0.0)
        # What is told of a contact is what its constraint and its law say.
        shut = (state != OPEN) & determined
        forces = max(forces, float((weight * np.abs(history.normal - N[:, k]))[shut].max(initial=0.0)))
        rubs = np.abs(history.friction - mu[:, k] * np.abs(N[:, k]))
        forces = max(forces, float((weight * rubs)[moving & determined].max(initial=0.0)))
        drives = -weights[:, at].max(axis=1) * mu[:, k] * np.abs(N[:, k])
        forces = max(forces, float(drives[moving].max(initial=0.0)))
        told = (state == STICK) & (speed > SEEN * resting)
        slips = max(slips, float(speed[told].max(initial=0.0)) / fastest)
        for rests in np.flatnonzero((state != OPEN) & ~moving):
            holding[int(rests)].append(k)
    for i in range(T):
        limits = {k: max(mu_static[i, k], mu[i, k]) * abs(N[i, k]) for k in holding[i]}
        forces = max(forces, _outside(units[i], rest[i], graph.components, limits, largest) - unsure[i])
    forces = max(forces, float(np.max(-reactions[:, one_sided], initial=0.0)))
    lengths = np.where(steep[:, one_sided] > 0, steep[:, one_sided], 1.0)
    gaps = float(np.max(-gap / lengths, initial=0.0))
    return max(forces / largest, gaps / reach, slips)


def _outside(
    units: Array, force: Array, components: Sequence[slice], limits: dict[int, float], largest: float
) -> float:
    """How far a force is from one that contacts at rest can hold within their limits. Contacts that push on different
    coordinates are looked at by themselves.
    """
    touched = {k: frozenset(np.flatnonzero(units[:, components[k]].any(axis=1)).tolist()) for k in limits}
    alone = np.ones(force.size, dtype=bool)
    worst = 0.0
    for together in _sharing(touched):
        at = sorted(frozenset().union(*(touched[k] for k in together)))
        alone[at] = False
        own = [units[at, components[k]] for k in together]
        worst = max(worst, _beyond(own, force[at], [limits[k] for k in together], largest))
    return max(worst, float(np.abs(force[alone]).max(initial=0.0)))


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


def _beyond(units: Sequence[Array], force: Array, limits: Sequence[float], largest: float) -> float:
    """How far a force is from a sum of forces, along the columns of each of the `units`, within limits."""
    if len(units) == 1 and units[0].shape[1] == 1:
        column = units[0][:, 0]
        length = float(np.linalg.norm(column))
        share = float(column @ force) / length**2
        return max(float(np.abs(share * column - force).max()), length * (abs(share) - limits[0]))
    frames = [_directions(own) for own in units]
    columns = np.hstack([own @ frame for own, frame in zip(units, frames, strict=True)])
    held: Array = np.asarray(np.linalg.lstsq(columns, force, rcond=1e-12)[0])
    missed = float(np.abs(columns @ held - force).max(initial=0.0))
    ends = np.cumsum([frame.shape[1] for frame in frames])
    own = np.split(np.arange(held.size), ends[:-1])
    weights = [float(np.linalg.norm(columns[:, at], axis=0).max(initial=0.0)) for at in own]
    beyond = [w * (float(np.linalg.norm(held[at])) - limit) for w, at, limit in zip(weights, own, limits, strict=True)]
    worst = max(beyond, default=0.0)
    rank = np.linalg.matrix_rank(columns, tol=RANK * np.abs(columns).max(initial=1.0))
    if worst > RANK * largest and rank < held.size:
        # The smallest forces are not the only ones: others may lie inside.
        worst = _least_excess(columns, held, own, list(limits), weights)
    return max(missed, worst)


def _directions(units: Array) -> Array:
    """Orthonormal directions of friction in space, as columns: of three components in a plane, two."""
    if units.shape[1] == 1:
        return np.ones((1, 1))
    _, sigma, V = np.linalg.svd(units, full_matrices=False)
    return np.asarray(V[: max(1, int(np.sum(sigma > RANK * max(float(sigma[0]), 1e-300))))].T)


def _least_excess(columns: Array, held: Array, own: list[Any], limits: list[float], weights: list[float]) -> float:
    """The least by which forces with the same effect, columns · forces, exceed limits on their lengths, weighted."""
    _, sigma, V = np.linalg.svd(columns)
    Z = V[int(np.sum(sigma > RANK * max(float(sigma[0]), 1e-300))) :].T
    size = max(float(np.abs(held).max()), max(limits)) or 1.0
    none = np.zeros(Z.shape[1])
    cones = [
        Cone(Z[at], held[at] / size, none, limit / size, 1.0 / max(weight, 1e-300))
        for at, limit, weight in zip(own, limits, weights, strict=True)
    ]
    found = deepest(cones, Z.shape[1], most=1.0)
    return float("inf") if found is None else max(-found.depth * size, 0.0)


def _smooth(motion: Motion) -> Array:
    """What the smooth laws contribute to C: those of open constraints nothing."""
    assert motion.acting is not None
    C, system = np.zeros_like(motion.q), motion.system
    names = {constraint.name: k for k, constraint in enumerate(system.constraints)}
    for law in system.nonideal:
        work = work_of(system, law)
        if work is None:
            continue
        alone, ideal = Evaluation(system.replace(nonideal=[work])), motion.ideal
        own = alone.work_along(motion.q, motion.v, motion.t, ideal, ideal, motion.multipliers)
        acts = np.asarray(motion.acting[:, [names[name] for name in law.constraints]].all(axis=1))
        C += np.where(acts[:, None], own, 0.0)
    return C


def _resting(motion: Motion) -> float:
    """The speed that counts as rest. A system that rests all the time has velocities of rounding only."""
    span = float(motion.t[-1] - motion.t[0]) or 1.0
    return max(REST * float(np.abs(motion.v).max()), 1e-12 * float(np.abs(motion.q).max()) / span)
