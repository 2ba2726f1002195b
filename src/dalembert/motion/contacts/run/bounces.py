"""Bounces that a kernel goes through without leaving its run: one gap closes alone, without friction, and opens again.

Which gaps may, and what such a bounce comes to, is said here; the blow itself is in kernel/runtime/run/bounce.h. All
others, and all on the reference backend, end a leg, and are decided between legs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.events import Bounces
from dalembert.motion.contacts.impacts.blow import LAWS, SMOOTH, Piece
from dalembert.motion.contacts.impacts.impacts import ContactImpulse, Impact
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.contacts_at_states import KEPT
from dalembert.motion.contacts.modes.modes import OPEN, Mode
from dalembert.remember import changed, remember

# A one-sided constraint that parts at less than this share of the fastest approach so far stays closed: it would rise
# by the square of it, which must stay above what counts as zero for an event.
BOUNCES = 1e-5
# A bounce rises at least by this share of the coordinates: events take less than 1e-12 of their terms for zero.
RISE = 1e-11
# A bounce is gone through where it is so many times as fast as the slowest that is one at all.
CLEARLY = 2.0
# So many numbers at most say what changes when one of the gaps closes.
MOST_NUMBERS = 1_000_000


def bounces_in(contacts: Contacts, mode: Mode, approach: float) -> Bounces | None:
    """The gaps that may bounce within a leg of a mode; None where none may: nothing else touches, and no event of the
    user is to be looked for between the velocities before and after. approach: the fastest so far.
    """
    if any(mode.closed) or contacts.system.events or any(state != OPEN for state in mode.states):
        return None
    asked = remember(contacts.kept_bounces, mode, lambda: _gaps(contacts, mode), KEPT)
    return changed(asked, approach=approach) if asked.restitution.size else None


def _gaps(contacts: Contacts, mode: Mode) -> Bounces:
    """Without any function where no gap may bounce. A reflection keeps constraints that are linear in velocities."""
    endings, evaluation = contacts.endings(mode), contacts.evaluation(mode)
    restitution, closed = np.full(len(endings), -1.0), np.empty((len(endings), evaluation.p.size))
    simple = closed.size <= MOST_NUMBERS and not evaluation.graph.curved
    for number, ending in enumerate(endings if simple else ()):
        if ending.kind == "close":
            k = ending.which
            smooth = contacts.rubbing[k] is None and contacts.restitutions[k] <= 1.0
            restitution[number] = contacts.restitutions[k] if smooth else 0.0
            shut = tuple(j == k for j in range(len(mode.closed)))
            closed[number] = contacts.evaluation(changed(mode, closed=shut)).p
    if not (restitution > 0.0).any():
        restitution, closed = restitution[:0], closed[:0]
    return Bounces(restitution, closed, CLEARLY * BOUNCES, CLEARLY**2 * RISE, 0.0)


@dataclass(frozen=True)
class Bounced:
    """Bounces of a leg: where, the blows, the kinetic energy after each less that before, and what each
    lost. approach: the fastest at which a gap closed, along its normal in the coordinates.
    """

    q: Array
    impacts: tuple[Impact, ...]
    gained: Array
    lost: Array
    approach: float


def bounces_of(contacts: Contacts, mode: Mode, rows: Array) -> list[Bounced]:
    """rows (B, 2, …): those of `kernel.events`, which number, t, direction and state, before and after. So many at a
    time as have room for their equations.
    """
    most = contacts.points_at_once
    return [_bounces_of(contacts, mode, rows[first : first + most]) for first in range(0, len(rows), most)]


def _bounces_of(contacts: Contacts, mode: Mode, rows: Array) -> Bounced:
    n, t = contacts.n, rows[:, 0, 1].copy()
    q, before, after = (np.ascontiguousarray(part) for part in (rows[:, 0, 3 : 3 + n], *_velocities(rows, n)))
    endings = contacts.endings(mode)
    which = [endings[int(number)].which for number in rows[:, 0, 0].tolist()]
    blows = contacts.blows_at(which, t, q, before, after)
    numbers = None if blows is None else blows.impulses()
    if numbers is None:
        numbers = impulses_by_numpy(contacts, which, t, q, before, after)
    push, lost, gained, approach = numbers[:, :4].T
    pressed = push / (1.0 + np.array([contacts.restitutions[k] for k in which]))
    ways, reacting = np.zeros((t.size, 2, 2)), numbers[:, 4:]
    ways[:, 0, 1] = ways[:, 1, 0] = pressed
    ways[:, 1, 1] = push
    alike = {k: _alike(contacts, k) for k in set(which)}
    impacts = []
    for b, told_of in enumerate(zip(t.tolist(), push.tolist(), pressed.tolist(), lost.tolist(), strict=True)):
        when, normal_impulse, compression, loss = told_of
        impact, told, piece = alike[which[b]]
        pieces = (changed(piece, normal=ways[b, 0]), changed(piece, normal=ways[b, 1]))
        told = changed(told, normal=normal_impulse, compression=compression, loss=loss, pieces=pieces)
        own = {"t": when, "q": q[b], "before": before[b], "after": after[b]}
        impacts.append(changed(impact, **own, contacts=(told,), constraint_impulses=reacting[b]))
    return Bounced(q, tuple(impacts), gained, lost, float(approach.max()))


def _velocities(rows: Array, n: int) -> tuple[Array, Array]:
    return rows[:, 0, 3 + n : 3 + 2 * n], rows[:, 1, 3 + n : 3 + 2 * n]


def impulses_by_numpy(contacts: Contacts, which: list[int], t: Array, q: Array, before: Array, after: Array) -> Array:
    """As `Blows.impulses`."""
    M, A = contacts.unconstrained_along(q, before, t)
    at = np.arange(t.size)
    normal = A[at, [contacts.one_sided[k] for k in which]]
    jump = np.einsum("bij,bj->bi", M, after - before)
    push, reacting = _impulses(jump, normal, A[:, contacts.always])
    closing = contacts.gap_rates(q, before, t)[at, which]
    parting = closing + np.einsum("bi,bi->b", normal, after - before)
    gained = np.einsum("bi,bi->b", jump, after + before) / 2
    approach = np.abs(closing) / np.linalg.norm(normal, axis=1)
    return np.column_stack([push, -push * (closing + parting) / 2, gained, approach, reacting])


def _impulses(jump: Array, normal: Array, always: Array) -> tuple[Array, Array]:
    """The normal impulse (B,), and those of the two-sided constraints (B, rows), that make the jump of momentum."""
    if not always.shape[1]:
        push = np.einsum("bi,bi->b", jump, normal) / np.einsum("bi,bi->b", normal, normal)
        return push, np.zeros((jump.shape[0], 0))
    rows = np.concatenate([normal[:, None], always], axis=1)
    lengths = np.linalg.norm(rows, axis=2)
    lengths[lengths == 0.0] = 1.0
    back = np.linalg.pinv((rows / lengths[:, :, None]).transpose(0, 2, 1), rcond=1e-12)
    found = np.einsum("bij,bj->bi", back, jump) / lengths
    return found[:, 0], found[:, 1:]


def _alike(contacts: Contacts, k: int) -> tuple[Impact, ContactImpulse, Piece]:
    """What all bounces of a gap have in common, without their numbers."""
    constraint, none, piece = contacts.system.constraints[contacts.one_sided[k]], np.zeros(0), np.zeros((2, 0))
    told = ContactImpulse(constraint.name, 0.0, none, 0.0, none, 0.0, contacts.restitutions[k], SMOOTH)
    impact = Impact(0.0, constraint.impact or LAWS[0], none, none, none, (told,), none, False)
    return impact, told, Piece(SMOOTH, none, piece)
