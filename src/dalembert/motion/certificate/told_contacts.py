"""Whether what a motion tells of its contacts agrees with itself: their columns with the constraints that act and with
the forces, and their events with the columns and the blows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.certificate.told_changes import changes_lead_on
from dalembert.motion.contacts.impacts.impacts import with_impulses
from dalembert.motion.contacts.modes.modes import OPEN, STICK
from dalembert.motion.state.contact_history import STATES

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Directions of friction in a plane with less effect than this share of the others have none.
RANK = 1e-9
# Unit forces of several contacts are told apart where they are this far from depending on each other.
APART = 1e-5


def events_agree(motion: Motion) -> bool:
    """Whether events lie in order within the motion and say of each change between outputs what it is, every blow has
    its event, and of each contact one at an instant, and events have the impulses of the blows.
    """
    events = [event for event in motion.events if "contact" in event]
    times = np.array([event["t"] for event in events])
    if (np.diff(times) < 0).any() or not ((times >= motion.t[0]) & (times <= motion.t[-1])).all():
        return False
    stripped = [{key: value for key, value in event.items() if key != "impulse"} for event in events]
    right = with_impulses(stripped, motion.blows)
    if any(told.get("impulse") != own.get("impulse") for told, own in zip(events, right, strict=True)):
        return False
    collisions = [(event["t"], event["contact"]) for event in events if event["name"] == "impact"]
    if len(set(collisions)) < len(collisions):
        return False
    # A blow without a collision catches what slips, and that is told then; at the start nothing was told before.
    struck = {blow.t for blow in motion.blows if any(contact.normal > 0.0 for contact in blow.contacts)}
    if not struck - {motion.t[0]} <= {event["t"] for event in events}:
        return False
    return changes_lead_on(motion, events)


def open_contacts_agree(motion: Motion) -> bool:
    """Whether contacts are told as open where their constraint does not act, and only there; and neither they nor their
    constraint push then.
    """
    assert motion.acting is not None
    if np.any(motion.multipliers[~motion.acting]):
        return False
    rows = {c.name: k for k, c in enumerate(motion.system.constraints) if c.one_sided}
    for contact in motion.system.contacts:
        history, carrier = motion.contacts[contact.name], [rows[name] for name in contact.constraints if name in rows]
        is_open = ~motion.acting[:, carrier[0]] if carrier else np.zeros(motion.t.size, dtype=bool)
        pushes = np.any(history.normal[is_open]) or np.any(history.friction[is_open])
        if pushes or not np.array_equal(history.state == OPEN, is_open):
            return False
    return True


def held_friction_off(units: Array, force: Array, components: Sequence[slice], state: Array, told: Array) -> Array:
    """How far the friction that is told (T, contacts) is from what a force (T, n) takes, along the unit forces (T, n,
    components) of contacts that stick while no other one pushes on their coordinates, (T, contacts); zero elsewhere.
    """
    off, sticks, shut = np.zeros(told.shape), state == STATES.index(STICK), state != STATES.index(OPEN)
    touched = np.stack([units[:, :, at].any(axis=2) for at in components], axis=1) & shut[:, :, None]
    shared = touched.sum(axis=1) > 1
    for k, at in enumerate(components):
        points = np.flatnonzero(sticks[:, k] & ~(touched[:, k] & shared).any(axis=1))
        if points.size:
            off[points, k] = np.abs(_sizes(units[points][:, :, at], force[points]) - told[points, k])
    return off


def shared_friction_off(
    units: Array, force: Array, components: Sequence[slice], state: Array, told: Array, clear: Array
) -> float:
    """The same, its largest, of contacts that push on coordinates on which others push too, where forces along all that
    sticks are determined by what they do together. clear (T,): the points at which all else is known.
    """
    sticks, worst = (state == STATES.index(STICK)) & clear[:, None], 0.0
    touched = np.stack([units[:, :, at].any(axis=2) for at in components], axis=1)
    touched &= (state != STATES.index(OPEN))[:, :, None]
    shared = touched.sum(axis=1) > 1
    asked = np.flatnonzero((sticks & (touched & shared[:, None, :]).any(axis=2)).any(axis=1))
    patterns, which = np.unique(sticks[asked], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        points, group = asked[which.reshape(-1) == number], np.flatnonzero(pattern).tolist()
        own = [components[k] for k in group]
        columns = np.concatenate([units[points][:, :, at] for at in own], axis=2)
        length = np.linalg.norm(columns, axis=1)
        if columns.shape[2] > columns.shape[1] or not length.all():
            continue
        columns /= length[:, None, :]
        sure = np.linalg.svd(columns, compute_uv=False)[:, -1] > APART
        along = np.einsum("pcn,pn->pc", np.linalg.pinv(columns[sure]), force[points[sure]]) / length[sure]
        widths = np.cumsum([0] + [at.stop - at.start for at in own])
        for k, first, last in zip(group, widths[:-1], widths[1:], strict=True):
            off = np.abs(np.linalg.norm(along[:, first:last], axis=1) - told[points[sure], k])
            worst = max(worst, float(off.max(initial=0.0)))
    return worst


def _sizes(columns: Array, force: Array) -> Array:
    """|f| of the smallest f with columns f = force, at P points: columns (P, n, components)."""
    if columns.shape[2] == 1:
        length = np.einsum("pn,pn->p", columns[:, :, 0], columns[:, :, 0])
        length[length == 0.0] = 1.0  # what slides without moving anything takes no force
        return np.asarray(np.abs(np.einsum("pn,pn->p", columns[:, :, 0], force)) / length)
    smallest = np.einsum("pcn,pn->pc", np.linalg.pinv(columns, rcond=RANK), force)
    return np.asarray(np.linalg.norm(smallest, axis=1))
