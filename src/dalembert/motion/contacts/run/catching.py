"""How a motion goes on where friction of slow slips leaves no acceleration, or several.

Between bodies that are braced against each other a slip may be as slow as what bounces leave of it, and its law has no
answer (Painlevé's paradox). What velocities say over a moment is taken then, be it the blow that catches them, or else
slips of nothing end at once. Of faster slips it stays untold.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.motion.contacts.decide.agreement import lengths
from dalembert.motion.contacts.decide.decide import Decision
from dalembert.motion.contacts.impacts.caught import Moment
from dalembert.motion.contacts.impacts.impacts import moment_of
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode
from dalembert.motion.contacts.run.transitions import Transitions
from dalembert.motion.state.project import project


def entered_after_a_moment(
    between: Transitions,
    t: float,
    q: Array,
    v: Array,
    stopped: set[int],
    touching: set[int],
    last: Mode | None,
    rtol: float,
) -> Decision | None:
    """The mode, its instant and the velocity with which it begins, where slips are slow; None where this knows no more
    either.
    """
    contacts = between.contacts
    if not touching or any(k is None for k in contacts.carrier) or not all(c.signed for c in contacts.contacts):
        return None
    slow = {
        k
        for k, speed in enumerate(lengths(contacts, contacts.at(q, v, t).slide))
        if contacts.carrier[k] in touching and speed <= between.unseen(t, q, v)
    } | stopped
    try:
        # What parts too slowly to be followed stays closed, and what is at rest is so but for rounding.
        v = between.with_closed(t, q, v, touching, stopped)[1]
        moment, impact = moment_of(contacts, sorted(touching), t, q, v, slow, stopped)
        stick, guess = _mode(between, moment, sorted(touching), t, q, v)
        if impact is not None:
            held = between.contacts_at_rest(q, impact.after, t) | (stick & slow)
            # What is caught may be let go at once: the moment after it tells.
            then, more = moment_of(contacts, sorted(touching), t, q, impact.after, slow | held, held)
            guess = guess if more is not None else _mode(between, then, sorted(touching), t, q, impact.after)[1]
            found = between.enter(t, q, impact.after, held, touching, last, rtol, guess)
            between.take_catch(impact)
            return found
        return between.enter(t, q, v, stopped | (stick & slow), touching, last, rtol, guess)
    except DalembertError:
        pass
    try:
        resting = _at_rest(between, t, q, v, slow, touching)
        return between.enter(t, q, resting, slow, touching, last, rtol)
    except DalembertError:
        return None


def _mode(
    between: Transitions, moment: Moment, touching: list[int], t: float, q: Array, v: Array
) -> tuple[set[int], Mode]:
    """The contacts that stick over a moment, and what all do."""
    contacts = between.contacts
    ones = (1,) * len(contacts.contacts)
    states, directions, closed = [OPEN] * len(ones), [*ones], [False] * len(contacts.one_sided)
    for j, pushes, way in zip(touching, moment.pushes, moment.ways, strict=True):
        closed[j], k = pushes, contacts.rubbing[j]
        if k is not None and pushes:
            states[k] = SLIP if way.any() else STICK
            directions[k] = 0 if way.size > 1 else int(np.sign(way[0])) if way.size else 1
            directions[k] = directions[k] if states[k] == SLIP else 1
    stick = {k for k, state in enumerate(states) if state == STICK}
    return stick, Mode(tuple(states), tuple(directions), ones, tuple(closed), contacts.frames_at(q, v, t))


def _at_rest(between: Transitions, t: float, q: Array, v: Array, slow: set[int], touching: set[int]) -> Array:
    """The velocity where what touches stays closed and slow slips have ended."""
    contacts, ones = between.contacts, (1,) * len(between.contacts.contacts)
    shut = tuple(j in touching for j in range(len(contacts.one_sided)))
    states = tuple(STICK if k in slow and contacts.carrier[k] in touching else OPEN for k in range(len(ones)))
    return project(contacts.evaluation(Mode(states, ones, ones, shut, contacts.frames_at(q, v, t))), q, v, t)[1]
