"""Whether friction along a motion obeys its law, measured on the motion's own forces.

Nothing here comes from the solver: the law is taken as it is written down (force, normal, velocity), in the three
components of space where a surface has them, and not in the directions that the motion chose for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactGraph, ContactState, contact_graph
from dalembert.kernel.ready.contact_laws import MASSLESS, Along, look_at_laws
from dalembert.kernel.ready.contact_states import contact_states, unit_forces
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.held_friction import RANK, beyond_limits
from dalembert.motion.certificate.smooth_works import smooth_works
from dalembert.motion.certificate.told_contacts import (
    events_agree,
    held_friction_off,
    open_contacts_agree,
    shared_friction_off,
)
from dalembert.motion.certificate.told_sliding import sliding_agrees
from dalembert.motion.contacts.decide.decide import REST
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK
from dalembert.motion.state.contact_history import STATES

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# What counts as rest below this share of the fastest velocities; a contact told to stick may move so much faster.
SEEN = 1e3
# Of velocities, with some operations between.
ROUNDING = 1e-14
EPSILON = float(np.finfo(float).eps)
# A contact that sets off, however gently, accelerates by more than this share of what it does later: it is not at rest
# at two outputs in a row.
IDLE = 1e-9


def contact_residual(motion: Motion, M: Array, Q: Array, A: Array, found: ContactState) -> float:
    """The largest departure from the laws of contact, relative to the largest force (or size of the state).

    The friction forces are taken from C, whatever mode made them: what the laws of work and of slipping give is
    subtracted, and the rest must be forces along the directions of what rests, inside its cones. What is told to stick
    must rest. Forces and lengths are compared in coordinates scaled by the root of their own mass, in which all have
    one unit, and along gradients of unit length: neither the units of the model nor the scale of an equation matter.
    M, Q, A: of the system at the output points, all its constraints closed. found: as `states_of_contacts` gives it.
    """
    assert motion.C is not None
    assert motion.acting is not None
    graph, units = contact_graph(motion.system), np.zeros((*motion.q.shape, 0))
    if graph.components:
        units = unit_forces(graph, motion.q, motion.v, motion.t, motion.system.parameter_values())
    normal, friction, state = _told(motion)
    of = (motion.q, motion.v, motion.a, motion.multipliers)
    along = Along(M, Q, A, motion.C, *of, _smooth(motion), normal, friction, state, motion.acting, motion.rank)
    # The rim of a fast wheel may slide faster than any coordinate moves. Stops are found to rounding, hence twice.
    fastest = float(np.abs(found.slide).max(initial=0.0))
    span, resting = float(motion.t[-1] - motion.t[0]), max(speed_of_rest(motion, M, Q), 2.0 * REST * fastest)
    if not (open_contacts_agree(motion) and events_agree(motion) and sliding_agrees(motion, found.slide, resting)):
        return float("inf")
    looked = look_at_laws(along, found, units, graph, (span, resting, SEEN, ROUNDING, IDLE, RANK))
    held = None if looked is None else looked.held
    if held is None:
        held = _held_off(along, found, units, graph)
    if len(graph.components) > 1:
        held = max(held, _shared_off(along, found, units, graph, resting))
    if looked is None:
        return max(held, contact_residual_by_numpy(along, found, units, graph, span, resting))
    forces, left = looked.forces, looked.left
    if left is not None:
        beyond = beyond_limits(left.units, left.rest, graph.components, left.holding, left.limits, looked.largest)
        forces = max(forces, float((beyond - left.unsure).max()) / looked.largest)
    return max(forces, looked.gaps, looked.slips, held)


def states_of_contacts(motion: Motion, gaps: Array | None = None) -> ContactState:
    """What contacts do at the output points, as their laws are written, with the multipliers of the motion. gaps: φ of
    the one-sided constraints there, which is all that is wanted where nothing rubs.
    """
    if gaps is not None and not motion.system.contacts:
        none = np.zeros((motion.t.size, 0))
        return ContactState(none, none, none, none, none, gaps, gaps, gaps, none)
    p = motion.system.parameter_values()
    return contact_states(contact_graph(motion.system), motion.q, motion.v, motion.a, motion.t, p, motion.multipliers)


def _told(motion: Motion) -> tuple[Array, Array, np.ndarray]:
    """What a motion says of its contacts, (T, contacts): reaction, friction, and their states by number."""
    histories = [motion.contacts[contact.name] for contact in motion.system.contacts]
    if not histories:
        none = np.zeros((motion.t.size, 0))
        return none, none, none.astype(np.uint8)
    state = np.array([own.state for own in histories]).T
    numbers = (state == STICK) + np.uint8(2) * (state == OPEN)
    return np.array([own.normal for own in histories]).T, np.array([own.friction for own in histories]).T, numbers


def contact_residual_by_numpy(
    along: Along, found: ContactState, units: Array, graph: ContactGraph, span: float, resting: float
) -> float:
    """The same without the library. resting: the speed of rest."""
    M, Q, A, C, q, v, a, multipliers = (
        along.M, along.Q, along.A, along.C, along.q, along.v, along.a, along.multipliers
    )  # fmt: skip
    one_sided, T, N, u, mu = list(graph.one_sided), q.shape[0], found.normal, found.slide, found.mu
    root = mass_scale(M, none=MASSLESS)
    steep = np.linalg.norm(A / root[:, None, :], axis=2)
    reactions = steep * multipliers
    units = units / root[:, :, None]
    weights = np.linalg.norm(units, axis=1)  # of a unit force on each sliding component
    # C is what remains of all forces: in flight, their rounding.
    present = (C / root, Q / root, np.einsum("tij,tj->ti", M, a) / root, reactions)
    largest = _largest(present) or 1.0
    # Between impacts there may be no force at all: rounding is small against what would stop the motion within it.
    largest = max(largest, 1e-6 * float(np.abs(root * v).max()) / (span or 1.0))
    # From rest at the origin, places are rounding of where the forces would have led.
    reach = max(float(np.abs(root * q).max()), 1e-6 * span**2 * float(np.abs(Q / root).max())) or 1.0
    fastest, rest = float(np.abs(v).max(initial=0.0)) or 1.0, (C - along.smooth) / root
    told, state = (along.normal, along.friction), along.state
    if not np.isfinite(_together(*told, N, u, mu, rest, multipliers)).all():
        return float("inf")  # what is no number obeys no law, and is not larger than any limit
    forces, slips = 0.0, 0.0
    unsure = np.zeros(T)  # slow slipping is a difference of large velocities: its direction has their rounding
    holding = np.zeros(state.shape, dtype=bool)
    if state.shape[1]:
        # Redundant constraints share a load in many ways, and columns may tell another one than multipliers.
        determined = along.rank == np.any(along.acting[:, :, None] & (A != 0), axis=2).sum(axis=1)
        first = [at.start for at in graph.components]
        owner = np.repeat(np.arange(len(first)), [at.stop - at.start for at in graph.components])
        speed, weight = np.sqrt(np.add.reduceat(u * u, first, axis=1)), np.maximum.reduceat(weights, first, axis=1)
        shut = state != STATES.index(OPEN)
        moving = shut & (speed > resting)
        rubs = mu * np.abs(N)
        slip = np.where(moving, rubs, 0.0) / np.where(moving, speed, 1.0)
        rest += np.einsum("tnc,tc->tn", units, slip[:, owner] * u)
        unsure = (weight * slip).sum(axis=1) * ROUNDING * np.abs(v).max(axis=1)
        # What is told of a contact is what its constraint and its law say; and a coefficient below zero drives what it
        # should brake.
        sure = determined[:, None]
        wrong = np.where(shut & sure, np.abs(told[0] - N), 0.0)
        wrong = np.maximum(wrong, np.where(moving & sure, np.abs(told[1] - rubs), 0.0))
        forces = float((weight * np.maximum(wrong, np.where(moving, -rubs, 0.0))).max())
        creeps = (state == STATES.index(STICK)) & (speed > SEEN * resting)
        slips = float(np.where(creeps, speed, 0.0).max()) / fastest
        # What slips passes rest in an instant, and gains speed there. Without a load nobody can tell.
        gained = np.sqrt(np.add.reduceat(found.slide_rate**2, first, axis=1))
        loaded = weight * np.maximum(found.mu_static, mu) * np.abs(N) > IDLE * largest
        idle = (state != STATES.index(STICK)) & shut & ~moving & loaded & (gained <= IDLE * gained.max())
        if (idle[1:] & idle[:-1]).any():
            slips = max(slips, 1.0)
        holding = shut & ~moving
    limits = np.maximum(found.mu_static, mu) * np.abs(N)
    beyond = beyond_limits(units, rest, graph.components, holding, limits, largest)
    forces = max(forces, float((beyond - unsure).max()))
    forces = max(forces, float(np.max(-reactions[:, one_sided], initial=0.0)))
    lengths = np.where(steep[:, one_sided] > 0, steep[:, one_sided], 1.0)
    gaps = float(np.max(-found.gap / lengths, initial=0.0))
    return max(forces / largest, gaps / reach, slips)


def _held_off(along: Along, found: ContactState, units: Array, graph: ContactGraph) -> float:
    """How far the friction that is told of what sticks is from what C has of it, relative to the largest force."""
    if not (along.state == STATES.index(STICK)).any():
        return 0.0
    held, _ = _without_slipping(along, found, units, graph)
    off = held_friction_off(units, held, graph.components, along.state, along.friction)
    return _share_of_normals(along, float(off.max(initial=0.0)))


def _shared_off(along: Along, found: ContactState, units: Array, graph: ContactGraph, resting: float) -> float:
    """The same, of contacts that share coordinates: friction of what slips so slowly is not known."""
    if not (along.state == STATES.index(STICK)).any():
        return 0.0
    held, speed = _without_slipping(along, found, units, graph)
    clear = ((along.state != STATES.index(SLIP)) | (speed > SEEN * resting)).all(axis=1)
    off = shared_friction_off(units, held, graph.components, along.state, along.friction, clear)
    return _share_of_normals(along, off)


def _share_of_normals(along: Along, off: float) -> float:
    share = off / (float(np.abs(along.normal).max(initial=0.0)) or 1.0)
    return share if np.isfinite(share) else float("inf")  # what is no number is not what C has


def _without_slipping(along: Along, found: ContactState, units: Array, graph: ContactGraph) -> tuple[Array, Array]:
    """What C has of the friction of all that sticks, (T, n), and how fast contacts slide, (T, contacts)."""
    first = [at.start for at in graph.components]
    owner = np.repeat(np.arange(len(first)), [at.stop - at.start for at in graph.components])
    speed = np.sqrt(np.add.reduceat(found.slide**2, first, axis=1))
    slips = (along.state == STATES.index(SLIP)) & (speed > 0.0)
    rubs = np.where(slips, found.mu * np.abs(found.normal), 0.0) / np.where(slips, speed, 1.0)
    return along.C - along.smooth + np.einsum("tnc,tc->tn", units, rubs[:, owner] * found.slide), speed


def _smooth(motion: Motion) -> Array:
    """What the smooth laws contribute to C: those of open constraints nothing."""
    C, ideal = np.zeros(motion.q.shape), motion.ideal
    if not motion.system.nonideal:
        return C
    for alone, acts in smooth_works(motion):
        own = alone.work_along(motion.q, motion.v, motion.t, ideal, ideal, motion.multipliers)
        C += np.where(acts[:, None], own, 0.0)
    return C


def speed_of_rest(motion: Motion, M: Array, Q: Array) -> float:
    """The speed that counts as rest. A system that rests all the time has velocities of rounding only: of its places
    over the time, or of what forces would make of it. M, Q: at some points.
    """
    span = float(motion.t[-1] - motion.t[0]) or 1.0
    carried = 1e-12 * float(np.abs(motion.q).max()) / span
    driven = EPSILON * span * float((np.abs(Q) / mass_scale(M, none=MASSLESS) ** 2).max())
    return max(REST * float(np.abs(motion.v).max()), carried, driven)


def _together(*parts: Array) -> Array:
    """All numbers of several arrays: one look at them takes less time than one at each."""
    return np.concatenate([part.ravel() for part in parts])


def _largest(parts: Sequence[Array]) -> float:
    return float(np.abs(_together(*parts)).max(initial=0.0))
