"""Whether contacts have left rest only where friction could not hold them any longer.

Cones and directions at the output points cannot see a contact that set off too early: it slips by its law before and
after. So at instants at which something sets off, the forces that would hold all that rests are looked for once more,
with every contact at rest said to stick, whatever the motion says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.errors import DalembertError
from dalembert.graph.contacts import contact_graph
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.motion.certificate.pieces import pieces_beside_changes
from dalembert.motion.certificate.told_modes import told_modes
from dalembert.motion.contacts.decide.agreement import lengths
from dalembert.motion.contacts.decide.undetermined import room
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode
from dalembert.motion.contacts.modes.moments import drawn_in, moments_at

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# A contact sets off within this share of its limit: events are located to the tolerance, forces change meanwhile.
NEAR = 1e-4
# So many instants are looked at, spread evenly.
MOST = 12
# Of contacts that stand alone more are looked at: all by one call.
ALONE = 24
# Contacts this many times faster than what counts as rest may rest, too.
SLOWLY = 10.0
# What sets off in a plane begins with some 1e-9 of the fastest velocities; faster than this it slips already, on a
# surface whose speed has jumped.
BEGINS = 1e-5
# Gaps below this share of the places are closed: far above rounding, which closed ones have, and below any gap that a
# motion has seen open.
GAP = 1e-10


def departed_early(motion: Motion, contacts: Contacts, resting: float) -> float:
    """The most that friction had left where a contact at rest set off, as a share of the forces; 0 within NEAR.
    resting: the speed that counts as rest.
    """
    struck = {blow.t for blow in motion.blows}  # a blow decides by itself what slips after it
    left = None if _shares_coordinates(motion, contacts) else _left_alone(motion, contacts)
    if left is not None and left > NEAR:
        return left
    named = {"slip", "reversal"} if left is None else {"reversal"}
    departures = {e["t"]: e for e in motion.events if e["name"] in named and e["t"] not in struck}
    if not departures:
        return 0.0
    chosen = list(departures.values())
    chosen = [chosen[k] for k in np.unique(np.linspace(0, len(chosen) - 1, min(MOST, len(chosen))).astype(int))]
    return max(_room_left(motion, contacts, event["t"], event["state"], resting) for event in chosen)


def _left_alone(motion: Motion, contacts: Contacts) -> float | None:
    """The most that friction of contacts which share no coordinates had left where they set off, or by which it was
    beyond its limit there, as a share of that: by the forces at the ends of pieces on which they stick; None where
    these are not determined. Of contacts that set off at one instant, one may be driven by what the other lets go.
    """
    pieces = pieces_beside_changes(motion)
    if pieces is None:
        return 0.0
    names = [contact.name for contact in contacts.contacts]
    departing = [[names.index(name) for name in gone] for gone in pieces.departing(range(pieces.t.size))]
    chosen = [k for k, gone in enumerate(departing) if gone]
    if not chosen:
        return 0.0
    chosen = [chosen[k] for k in np.unique(np.linspace(0, len(chosen) - 1, min(ALONE, len(chosen))).astype(int))]
    span, since, length = float(motion.t[-1] - motion.t[0]), pieces.t[chosen], pieces.length[chosen]
    here, at = pieces.end[chosen], since + length
    t, length, start, end = drawn_in(since, length, pieces.start[chosen], here, span)  # a surface may jump just there
    told = pieces.told(motion, contacts, chosen)
    modes = told_modes(motion, contacts, told, t, start, t + length, end)
    sure = [k for k, mode in enumerate(modes) if mode is not None]
    own = [mode for mode in modes if mode is not None]
    if not sure:
        return None
    n, here, at = contacts.n, here[sure], at[sure]
    moment = moments_at(at, span)
    moved = np.concatenate([moment[:, None] * here[:, n:], np.zeros((at.size, n))], axis=1)
    # A force may jump just there.
    places = [(here + k * moved, at + k * moment) for k in (-1, 0, 1)]
    states, times = (np.concatenate(parts) for parts in zip(*places, strict=True))
    before, now, after = np.split(_rooms(contacts, own * 3, states, times, largest(motion.v)), 3)
    left = np.minimum(now, after)
    found = [min(float(left[i, j]) for j in departing[chosen[k]]) for i, k in enumerate(sure)]
    if np.isnan(found).any():
        return None
    return max(*found, -float(before.min(where=~np.isnan(before), initial=0.0)))  # or it has held more than it could


def _rooms(contacts: Contacts, modes: Sequence[Mode], y: Array, t: Array, fastest: float) -> Array:
    """What friction has left of its limit in each contact that sticks, (P, contacts); NaN where that is not known.
    fastest: of the velocities of the whole motion, beside which those here may all be at rest.
    """
    n, m = contacts.n, contacts.m
    q, v, left = y[:, :n], y[:, n:], np.full((t.size, len(contacts.components)), np.nan)
    found = contacts.solve_along(modes, q, v, t)
    if found is None:
        return left
    none, p = np.zeros((t.size, max(n, m))), contacts.system.parameter_values()
    state = contact_states(contact_graph(contacts.system), q, v, none[:, :n], t, p, none[:, :m])
    limit = state.mu_static * np.abs(found.normal)
    left[found.served] = 0.0
    for k, at in enumerate(contacts.components):
        held = np.linalg.norm(found.friction[:, at], axis=1)
        rests = np.linalg.norm(state.slide[:, at], axis=1) <= BEGINS * fastest  # and its surface has not jumped
        known = rests & found.served & np.array([mode.states[k] == STICK for mode in modes]) & (limit[:, k] > 0.0)
        left[known, k] = 1.0 - held[known] / limit[known, k]
    return left


def _departing(motion: Motion, t: float) -> set[str]:
    """The contacts that set off at an instant. In a plane they begin with a small velocity, which has a direction."""
    return {event["contact"] for event in motion.events if event["t"] == t and event["name"] in ("slip", "reversal")}


def _is_in_flight(motion: Motion, name: str, t: float) -> bool:
    """Whether a one-sided constraint is open by what its events say, or else from the start: the last bounces rise by
    less than the rounding of places, and what only touches is not braced. A blow leaves it as it was unless they tell
    of more.
    """
    told = [e["name"] for e in motion.events if e["t"] <= t and e.get("contact") == name]
    last = next((what for what in reversed(told) if what in ("contact", "release")), None)
    if last is not None:
        return last == "release"
    row = [constraint.name for constraint in motion.system.constraints].index(name)
    return not (motion.acting is not None and bool(motion.acting[0, row]))


def _shares_coordinates(motion: Motion, contacts: Contacts) -> bool:
    """Whether two contacts act on the same coordinates. The sticking of one that stands alone is ended by the event of
    its own force.
    """
    if len(contacts.components) < 2:
        return False
    units = contacts.forces(motion.q[0], motion.v[0], float(motion.t[0]), contacts.frames_at(*_first(motion))) != 0.0
    touched = np.array([units[:, at].any(axis=1) for at in contacts.components])
    return bool((touched.sum(axis=0) > 1).any())


def _first(motion: Motion) -> tuple[Array, Array, float]:
    return motion.q[0], motion.v[0], float(motion.t[0])


def _room_left(motion: Motion, contacts: Contacts, t: float, state: dict[str, float], resting: float) -> float:
    n = contacts.n
    y = np.array(list(state.values()))
    q, v = y[:n], y[n:]
    frames = contacts.frames_at(q, v, t)
    here = contacts.at(q, v, t, frames=frames)
    steep, reach = contacts.steepness(q, v, t), max(largest(motion.q), 1e-300)
    near, still = here.gap / steep <= GAP * reach, np.abs(here.gap_rate / steep) <= SLOWLY * resting
    named = [contacts.system.constraints[row].name for row in contacts.one_sided]
    flying = np.array([_is_in_flight(motion, name, t) for name in named], dtype=bool)
    after = min(int(np.searchsorted(motion.t, t)), motion.t.size - 1)
    fastest = largest(motion.v)
    departing, names = _departing(motion, t), [contact.name for contact in contacts.contacts]

    def holding(closed: np.ndarray) -> Mode:
        """All that rests said to stick."""
        states, directions, pushes = [], [], []
        for k, (speed, at) in enumerate(zip(lengths(contacts, here.slide), contacts.components, strict=True)):
            carrier, line = contacts.carrier[k], at.stop - at.start == 1
            if carrier is not None and not closed[carrier]:
                states.append(OPEN)
            else:
                begins = names[k] in departing and speed <= BEGINS * fastest  # and has not jumped through rest
                states.append(STICK if begins or speed <= SLOWLY * resting else SLIP)
            slips = states[-1] == SLIP
            directions.append(int(np.sign(here.slide[at][0])) if slips and line else 0 if slips else 1)
            normal = motion.contacts[names[k]].normal[after]
            pushes.append(-1 if slips and carrier is None and normal < 0 else 1)
        return Mode(tuple(states), tuple(directions), tuple(pushes), tuple(closed.tolist()), frames)

    least, closed = np.inf, near & still & ~flying  # what rattles is not
    for _ in range(1 + len(named)):
        mode = holding(closed)
        if STICK not in mode.states:
            return 0.0
        try:
            least = min(least, room(contacts, mode, q, v, t))
            if not NEAR < least < np.inf:
                return 0.0
            falling = contacts.solve(mode, q, v, t).gap_acceleration / steep < 0.0
        except DalembertError:  # what rests cannot stay so
            return 0.0
        # What would hold lets an open contact fall shut: it has a part in this too.
        more = near & still & ~closed & falling
        if not more.any():
            break
        closed = closed | more
    return least
