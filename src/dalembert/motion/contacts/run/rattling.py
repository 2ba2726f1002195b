"""What rattles to rest: blows too slow to be followed, between contacts that slide no faster, where friction could hold
all of them.

Bodies in a corner or a pile may strike each other for ever with velocities of nothing: each blow frees a contact that
falls shut again, and the slips between are as short. Bounces as slow are left out anyway; so are then these slips.
"""

from __future__ import annotations

from itertools import takewhile

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.motion.contacts.decide.agreement import lengths
from dalembert.motion.contacts.modes.modes import OPEN, STICK, Mode
from dalembert.motion.contacts.run.transitions import GAP, Transitions
from dalembert.motion.state.project import project


def rattled_to_rest(
    between: Transitions, t: float, q: Array, v: Array, touching: set[int], last: Mode | None
) -> tuple[Array, set[int], set[int]] | None:
    """After such blows: the velocity with which all slow contacts stick and stay closed, these contacts, and the
    one-sided constraints that touch. None where blows were faster, or friction could not hold them.
    """
    contacts, slowest = between.contacts, between.slowest_bounce(t, q, v)
    gap, rate = between.gaps(q, v, t)
    near = [j for j in range(gap.size) if gap[j] <= GAP * between.reach(q)]
    blows = takewhile(lambda blow: blow.t == t, reversed(between.impacts))
    approach = max((-float(between.gaps(q, blow.before, t)[1][near].min()) for blow in blows if near), default=np.inf)
    if approach > slowest:
        return None
    speeds = lengths(contacts, contacts.at(q, v, t).slide)
    shut = between.closed_together(t, q, v, {j for j in near if abs(rate[j]) <= slowest})
    slow = {k for k, j in enumerate(contacts.carrier) if j in shut and speeds[k] <= slowest}
    if not slow or not between.met <= shut:
        return None
    ones, closed = (1,) * len(contacts.contacts), tuple(j in shut for j in range(gap.size))
    states = tuple(STICK if k in slow else OPEN for k in range(len(ones)))
    resting = Mode(states, ones, ones, closed, contacts.frames_at(q, v, t))
    try:
        left = project(contacts.evaluation(resting), q, v, t)[1]
        mode, _, _ = between.mode_with(t, q, left, slow, touching | shut, last)
    except DalembertError:
        return None
    held = all(mode.states[k] == STICK for k in slow) and all(mode.closed[j] for j in shut)
    return (left, slow, touching | shut) if held else None
