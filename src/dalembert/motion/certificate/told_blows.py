"""Whether what a motion tells of its blows agrees with itself: their order and places, their events, and their loss.

The laws of impact look at each blow by itself, wherever and whenever it says that it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.stretches import rounding_of_times
from dalembert.motion.contacts.impacts.blow import REVERSAL, SLIP, SMOOTH, STICK, Path
from dalembert.motion.contacts.impacts.impact_on_arrays import OPEN
from dalembert.motion.contacts.impacts.impacts import ContactImpulse, Impact
from dalembert.motion.contacts.modes.contacts import Contacts

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# States that differ by less than this share of their size are one: returns to constraints lie between them.
SAME = 1e-6
# What is nearer than this share of the places is closed, and is put there.
CLOSED = 2e-9
# A contact that approaches more slowly than this share of the velocities of its blow may have been at rest.
APPROACHES = 1e-6
# Velocities of blows below this share of those of the motion are as good as their rounding.
ROUNDED = 1e-6
# Below the first share of the velocities sliding is rest, above the second it is none.
RESTS, MOVES = 1e-13, 1e-7


def blows_agree(motion: Motion, contacts: Contacts) -> bool:
    """Whether blows come one after the other where their contacts touch, go on from each other, and have their events:
    each contact that strikes one, with the state that the blow leaves.
    """
    blows = motion.blows
    t = np.array([blow.t for blow in blows])
    if (np.diff(t) < 0.0).any() or t[0] < motion.t[0] or t[-1] > motion.t[-1]:
        return False
    most = contacts.points_at_once
    if not all(_touch(motion, contacts, blows[first : first + most]) for first in range(0, len(blows), most)):
        return False
    reach = _reach(motion)
    pairs = [(one, other) for one, other in pairwise(blows) if one.t == other.t]
    # What settles before a blow that catches slips is told with that one.
    if not all(_is_state(contacts, reach, one, other.q, other.before, other.left_out) for one, other in pairs):
        return False
    return _events_agree(motion, contacts)


def _touch(motion: Motion, contacts: Contacts, blows: Sequence[Impact]) -> bool:
    """Whether contacts that push touch, and those that strike have their event. Of a gap all that is known is how large
    its terms are, how large it becomes elsewhere, and how fast it closes.
    """
    t, q, v = (np.array([getattr(blow, name) for blow in blows]) for name in ("t", "q", "before"))
    gap, rate = contacts.gaps_along(q, v, t)
    A = contacts.unconstrained_along(q, v, t)[1][:, list(contacts.one_sided)]
    terms = np.abs(A) @ _reach(motion) + np.abs(gap).max(axis=0)
    terms += np.abs(rate) * float(motion.t[-1] - motion.t[0])
    near = np.abs(gap) <= SAME * terms
    speeds = np.maximum(np.abs(v).max(axis=1), ROUNDED * largest(motion.v))
    strikes = -rate > APPROACHES * np.linalg.norm(A, axis=2) * speeds[:, None]
    told = {(event["t"], event["contact"]) for event in motion.events if "impulse" in event}
    for b, blow in enumerate(blows):
        for contact in blow.contacts:
            k = contacts.gap_numbers.get(contact.name)
            if k is None or not near[b, k]:
                return False
            # A motion that an event ends just there has not told its last impacts.
            if contact.normal > 0.0 and strikes[b, k] and blow.t < motion.t[-1] and (blow.t, contact.name) not in told:
                return False
    return True


def _events_agree(motion: Motion, contacts: Contacts) -> bool:
    """Whether each event of a blow has the state after one of that instant, and none is told twice."""
    after: dict[float, list[Impact]] = {}
    for blow in motion.blows:
        after.setdefault(blow.t, []).append(blow)
    reach = _reach(motion)
    names = [symbol.name for symbol in (*motion.system.coordinates, *motion.system.velocities)]
    n, seen = contacts.n, set[tuple[Any, ...]]()
    for event in motion.events:
        if "impulse" not in event or event["t"] not in after:
            continue
        state = np.array([event["state"][name] for name in names])
        key = event["name"], event["contact"], event["t"], state.tobytes()
        if key in seen:
            return False
        seen.add(key)
        own = after[event["t"]]
        fastest = max(largest(blow.before) for blow in own)
        if not any(_is_state(contacts, reach, blow, state[:n], state[n:], fastest=fastest) for blow in own):
            return False
    return True


def _reach(motion: Motion) -> Array:
    """How large each coordinate becomes, (n,); of one that stays near zero, a small share of the others, and of how far
    its speed would lead it.
    """
    struck = np.array([[blow.q, blow.before] for blow in motion.blows])
    places, speeds = (np.abs(np.concatenate(parts)).max(axis=0) for parts in
                      ((motion.q, struck[:, 0]), (motion.v, struck[:, 1])))  # fmt: skip
    led = SAME * float(motion.t[-1] - motion.t[0]) * speeds
    return np.asarray(np.maximum(np.maximum(places, CLOSED / SAME * places.max()), led))


def _is_state(
    contacts: Contacts, reach: Array, blow: Impact, q: Array, v: Array, left_out: float = 0.0, fastest: float = 0.0
) -> bool:
    """Whether a state is the one that a blow leaves, but for the slow bounces that are left out. left_out: more energy
    that may have been; fastest: a velocity of the instant, beside which what slow blows leave is rounding.
    """
    if (np.abs(q - blow.q) > SAME * reach).any():
        return False
    off = v - blow.after
    if largest(off) <= SAME * max(largest(blow.before), largest(blow.after), fastest):
        return True
    root = mass_scale(contacts.unconstrained(blow.q, blow.before, blow.t)[0])
    size = largest(root * blow.before) + largest(root * blow.after)
    lost = max(blow.left_out, 0.0) + max(left_out, 0.0)
    return largest(root * off) <= SAME * size + 2.0 * float(np.sqrt(lost))


def losses_off(motion: Motion) -> float:
    """How far what the motion says that impacts have lost is from the sum of its blows, at any output; relative to the
    energy that they exchange. What starts with blows counts from there on.
    """
    t, start = np.array([blow.t for blow in motion.blows]), float(motion.t[0])
    lost = np.array([blow.loss + blow.left_out if blow.t > start else 0.0 for blow in motion.blows])
    sums = np.concatenate([[0.0], np.cumsum(lost)])
    near = rounding_of_times(motion.t)
    least = sums[t.searchsorted(motion.t - near)]
    most = sums[t.searchsorted(motion.t + near, side="right")]
    # An output just at a blow is before it or behind it, and a motion that an event ends there has not made its last.
    off = np.maximum(least - motion.impact_loss, motion.impact_loss - most)
    size = max(float(sums[-1]), largest(motion.impact_loss), float(np.ptp(motion.energy))) or 1.0
    return float(off.max(initial=0.0)) / size


def is_named_right(contact: ContactImpulse, before: Array, after: Array, size: float) -> bool:
    """Whether a contact did what its blow says: by its pieces, where it struck alone, else by its velocities before and
    after. size: the largest of the velocities of all contacts.
    """
    if contact.pieces:
        return contact.state == Path(contact.pieces, 0.0, False).state
    if not contact.normal > 0.0:
        return contact.state == OPEN
    if after.size == 1:
        return contact.state == SMOOTH
    speed = float(np.linalg.norm(after[1:]))
    if speed <= RESTS * float(np.abs(before).max()):
        return contact.state == STICK
    if speed <= MOVES * size:
        return True
    if np.linalg.norm(before[1:]) <= MOVES * size:
        return contact.state in (SLIP, REVERSAL)
    return contact.state == (REVERSAL if before[1:] @ after[1:] < 0.0 else SLIP)
