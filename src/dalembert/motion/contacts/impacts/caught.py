"""What velocities say where accelerations do not: contacts over a moment, and bodies that are caught between them.

Friction at contacts that slip may leave no acceleration at all, or several (Painlevé's paradox). Velocities at the end
of a moment h, with the impulses of all contacts over it, exist nevertheless (Moreau 1988). As the moment shrinks its
impulses do too, in proportion, and say what each contact does; where they do not, contacts that are braced against each
other stop a slip at once: a blow without a collision, as that of a wedge that catches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, largest, norm_of
from dalembert.motion.contacts.impacts.blow import LAWS
from dalembert.motion.contacts.impacts.blow_values import Blow, Meeting, Share
from dalembert.motion.contacts.impacts.impact_on_arrays import Struck, state_of
from dalembert.motion.contacts.impacts.impulses import places_of
from dalembert.motion.contacts.impacts.together import impulses_that_hold

# A moment is this share of the time in which forces would give the slowest of the slips its speed; and a tenth of that.
SHORT, SHORTER = 1e-3, 0.1
# Impulses of a moment are in proportion to it, or those of a blow and do not change: between the two, this share.
SHRINKS = 0.5
# Impulses and velocities below this share of the largest ones of a moment are none.
NONE = 1e-7


@dataclass(frozen=True)
class Moment:
    """What contacts do over a moment. pushes (K,): which push; ways: the velocity with which each slips, zero where it
    sticks. blow: what catches bodies, where impulses do not shrink with the moment.
    """

    pushes: tuple[bool, ...]
    ways: tuple[Array, ...]
    blow: Blow | None


def over_a_moment(
    M: Array,
    A: Array,
    meetings: Sequence[Meeting],
    v: Array,
    drives: Sequence[Array],
    slow: Sequence[bool],
    resting: Sequence[bool],
) -> Moment:
    """What contacts do that touch and neither approach nor part. drives: the acceleration that each would have if none
    pushed, normal first. slow: which of them are so slow that a moment may stop them; resting: those of them at rest.
    """
    struck = Struck(M, A, meetings, 0.0, ())
    start = [struck.velocity(k, v) for k in range(len(meetings))]
    sizes = [meeting.d if slow[k] else 0 for k, meeting in enumerate(meetings)]
    places = places_of(sizes)
    # What slips fast goes on to slip: its friction follows its normal impulse.
    pushed, felt, u, drive = [], [], np.zeros(places[-1].stop), np.zeros(places[-1].stop)
    for k, (meeting, at) in enumerate(zip(meetings, places, strict=True)):
        d, own = meeting.d, np.eye(1 + meeting.d)[:, : at.stop - at.start]
        if d and not slow[k]:
            speed = norm_of(start[k][1:])
            own[1:, 0] = -meeting.mu(speed) * start[k][1:] / speed
        pushed.append(own)
        felt.append(np.eye(1 + d)[: at.stop - at.start])
        u[at], drive[at] = felt[k] @ start[k], felt[k] @ drives[k]
        u[at.start : at.stop if resting[k] else at.start + 1] = 0.0
    spread = np.vstack([rows @ part for rows, part in zip(felt, struck.spread, strict=True)])
    given = np.vstack([own.T @ part for own, part in zip(pushed, struck.spread, strict=True)])
    G, mu = spread @ given.T, np.array([meeting.mu(0.0) for meeting in meetings])
    mu_static = np.array([meeting.mu_static for meeting in meetings])
    speeds = np.abs(u[u != 0.0])
    h = SHORT * (float(speeds.min()) if speeds.size else 1.0) / (largest(drive) or 1.0)
    at_end = []
    for moment in (h, SHORTER * h):
        b = u + moment * drive
        p = impulses_that_hold(G, b, sizes, mu, mu_static)
        at_end.append((p, b + G @ p))
    (long, _), (short, after) = at_end
    pushes = tuple(bool(short[at.start] > NONE * largest(short)) for at in places)
    still = NONE * max(largest(after), largest(u), largest(SHORTER * h * drive))
    ways = []
    for k, at in enumerate(places):
        way = after[at][1:] if slow[k] else start[k][1:]
        ways.append(way if norm_of(way) > still else np.zeros(meetings[k].d))
    if not largest(short) > SHRINKS * largest(long):
        return Moment(pushes, tuple(ways), None)
    # In proportion to the moment but for what is of a blow.
    p = (short - SHORTER * long) / (1.0 - SHORTER)
    for at in places:  # what is left of a contact that only pushes over the moment may have the other sign
        p[at] = p[at] if p[at.start] > 0.0 else 0.0
    total = [own @ p[at] for own, at in zip(pushed, places, strict=True)]
    change = sum((give @ x for give, x in zip(struck.gives, total, strict=True)), np.zeros(v.size))
    shares = []
    for k, (meeting, x) in enumerate(zip(meetings, total, strict=True)):
        end = struck.velocity(k, v + change)
        loss = -float(x @ (start[k] + end)) / 2
        shares.append(
            Share(meeting.name, start[k], end, x, x, loss, 0.0, state_of(x, start[k], end, largest(start[k])))
        )
    blow = struck.blow_of(v, range(len(meetings)), shares, LAWS[0], limited=False)
    return Moment(pushes, tuple(ways), blow)
