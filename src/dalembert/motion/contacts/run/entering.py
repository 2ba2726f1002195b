"""How a mode is entered between two legs: decided, the state returned to its constraints, and decided once more where
that changes what there is to decide.
"""

from __future__ import annotations

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel.limits import PROJECT_ROUNDING
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.decide.decide import Decision
from dalembert.motion.contacts.modes.modes import Mode
from dalembert.motion.contacts.run.catching import entered_after_a_moment
from dalembert.motion.contacts.run.rattling import rattled_to_rest
from dalembert.motion.contacts.run.transitions import Transitions
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.state.project import project

# So often what follows from leaving slow bounces out is looked at again.
MOST_SETTLED = 8


def enter_mode(
    between: Transitions,
    settings: Settings,
    t: float,
    q: Array,
    v: Array,
    stopped: set[int],
    touching: set[int],
    last: Mode | None,
) -> tuple[Array, Array, Mode, Fundamental]:
    """The mode at a state, the state returned to its constraints, and the instant that has decided. stopped: contacts
    at rest; touching: one-sided constraints that may be closed; last: the mode before.
    """
    touching = between.closed_together(t, q, v, touching)
    rested = rattled_to_rest(between, t, q, v, touching, last) if between.met else None
    if rested is not None:
        v, slow, touching = rested
        stopped = between.contacts_at_rest(q, v, t) | slow
    mode, found, v = _decided(between, settings, t, q, v, stopped, touching, last)
    if not settings.project or (found.off is not None and found.off <= PROJECT_ROUNDING):
        return q, v, mode, found.solution
    parting = v
    q, v = _returned(between, mode, t, q, v)
    # What stays closed in place of a slow bounce takes velocity away: with what is left, other contacts may be at rest
    # or slip the other way, and what has just parted be met again.
    settles = bool(between.met) and between.differ(parting, v)
    # And what has almost stopped, and is held by what else sticks, is at rest.
    settles = settles or bool(between.stopped_slipping(t, q, v, mode, stopped))
    for _ in range(MOST_SETTLED) if settles else ():
        closing = between.closing_again(t, q, v, mode)
        if closing:
            # Not what is open by a gap that is no rounding: an event tells when it closes.
            kept = between.closed_together(t, q, v, touching | closing)
            closing, touching = closing & kept, kept
        if closing:
            v = between.without_slow_bounces(t, q, v, touching)
        earlier, stopped = mode, between.contacts_at_rest(q, v, t)
        mode, found, v = _decided(between, settings, t, q, v, stopped, touching, last)
        q, v = _returned(between, mode, t, q, v)
        if not closing and mode.does_as(earlier) and mode.directions == earlier.directions:
            break
    return q, v, mode, found.solution


def _decided(
    between: Transitions,
    settings: Settings,
    t: float,
    q: Array,
    v: Array,
    stopped: set[int],
    touching: set[int],
    last: Mode | None,
) -> Decision:
    """The mode; where none is found, or several are, what is too slow to be seen may be left out."""
    try:
        return between.enter(t, q, v, stopped, touching, last, settings.rtol)
    except DalembertError:
        found = entered_after_a_moment(between, t, q, v, stopped, touching, last, settings.rtol)
        if found is not None:
            return found
        if not between.met:
            raise
    v = between.without_slow_bounces(t, q, v, touching)
    return between.enter(t, q, v, between.contacts_at_rest(q, v, t), touching, last, settings.rtol)


def _returned(between: Transitions, mode: Mode, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """The state on the constraints of a mode, and nowhere beyond an open one."""
    evaluation = between.contacts.evaluation(mode)
    q, v, _ = project(evaluation, q, v, t)
    apart = between.without_overlap(t, q, v, mode)
    return (q, v) if apart is q else project(evaluation, apart, v, t)[:2]
