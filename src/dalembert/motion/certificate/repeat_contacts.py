"""Stretches of a motion with contacts integrated again, from its own states and the laws alone.

The other measures look at single points, with forces that are computed anew there, and at an energy balance that a
wrong force keeps too. Whether the integration in between used these forces, and whether the state went on where a
contact changed, shows only in where it went.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.contacts import contact_graph
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.again_in_modes import again_in_modes
from dalembert.motion.certificate.consistency import stretches_between
from dalembert.motion.certificate.modes_inside import keeps_side
from dalembert.motion.certificate.pieces import Pieces, pieces_beside_changes, pieces_with_kinks
from dalembert.motion.certificate.slopes import TOLERANCES, errors_of
from dalembert.motion.certificate.stretches import states_inside
from dalembert.motion.certificate.told_modes import told_at_outputs, told_modes
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import Mode
from dalembert.motion.contacts.modes.moments import drawn_in

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# So many stretches are looked at: the measure takes about as long as the forces at five hundred points.
MOST = 12
# … and of places and of velocities so many over which these change least as their rates say.
UNLIKE = 3
# Of pieces beside changes of contacts, so many at which the velocity changes least as the accelerations say, and so
# many others.
WORST, SPREAD = 6, 24
# Coordinates are told apart down to this share of the fastest: tolerances are for each of them, and beside a large one
# a wrong small one would hide.
SMALL = 1e-4
# Below this share of what forces could make of velocities in the whole time, these are rounding.
ROUNDED = 1e-6
# Sums of forces that balance are off by about this share of them, with what solving equations loses.
LAST_DIGITS = 1e-14
# Coefficients of friction are looked at in so many places of every stretch, and so many more stretches are repeated.
INSIDE, UNEVEN = 33, 4
# Slipping in a plane begins with less than this share of what forces could make of velocities in the whole time.
BEGINS = 1e-5
# Where friction changes with the speed or the place, stretches are divided into so many steps at least.
LEAST = 16
# What contradicts a motion is repeated in so many steps at least, and so many at most: where friction falls with the
# speed slipping begins so slowly that few steps may agree by chance.
FINER = 128, 1024
# Slipping in a plane that ends turns ever faster: it is repeated up to this share of the piece before its end. What it
# still has to lose is told by the acceleration before it, and by friction, which may turn round.
ENDS, TURNED = 0.01, 2.0


@dataclass(frozen=True, eq=False)
class Stretches:
    """B stretches: times and states (B, 2n) at both ends, the modes in between, and the outputs (B,) before them.

    begins (B,): whether a contact begins to slip in a plane at the end, with a small velocity that gives its direction.
    rest (B,): what velocities may be off at the end, in the metric of the masses, because slipping is followed only
    until it nearly rests.
    """

    t: Array
    length: Array
    start: Array
    end: Array
    modes: Sequence[Mode | None]
    output: np.ndarray
    begins: np.ndarray
    rest: Array


def repeat_residual(motion: Motion, contacts: Contacts, M: Array, Q: Array, wanted: float) -> float:
    """The largest distance of states at the ends of some stretches from those of the motion, relative to how fast each
    coordinate is at most, and how far it goes.

    A stretch leads from one output point to the next without a change of contacts between, or it is a piece that begins
    or ends with such a change. It is integrated by the classical Runge–Kutta method, which nothing else here uses,
    until two results agree to a share of `wanted`: what is left of their difference is allowed for. Which way a contact
    slips is taken from the sliding velocity. M, Q: of the system at the output points.
    """
    root, span = mass_scale(M), float(motion.t[-1] - motion.t[0])
    # At rest, velocities and places are rounding of what the forces would make of them.
    pull = span * float(np.abs(Q / root).max())
    rounded = ROUNDED * pull
    pieces, (places, velocities) = pieces_beside_changes(motion), (root * motion.q, root * motion.v)
    if pieces is not None:
        # Outputs may all lie where nothing moves.
        own = root[pieces.outputs[pieces.stretch]]
        ends = [(own * y[:, : contacts.n], own * y[:, contacts.n :]) for y in (pieces.start, pieces.end)]
        places, velocities = (np.concatenate(part) for part in zip((places, velocities), *ends, strict=True))
    speed = max(float(np.abs(velocities).max()), rounded)
    if not speed > 0:
        return 0.0
    # Forces that balance leave their last digits, whatever the tolerance: these are no speed.
    fastest = np.maximum(np.abs(velocities).max(axis=0), max(SMALL * speed, LAST_DIGITS / wanted * pull))
    reach = np.maximum(np.abs(places).max(axis=0), np.maximum(fastest, rounded) * span)
    parts = [_between_outputs(motion, contacts, root / reach, root / fastest)]
    if pieces is not None and pieces.t.size:
        parts.append(_beside_changes(motion, contacts, pieces, root))
    clear = [(part, np.array([mode is not None for mode in part.modes], dtype=bool)) for part in parts if part.modes]
    modes = [mode for part, _ in clear for mode in part.modes if mode is not None]
    if not modes:
        return 0.0
    t, length, start, end, output, begins, rest = (
        np.concatenate([getattr(part, name)[own] for part, own in clear])
        for name in ("t", "length", "start", "end", "output", "begins", "rest")
    )
    sizes = np.concatenate([reach / root[output], fastest / root[output]], axis=1)
    own_steps = motion.timing.steps * length / span  # as many as the motion took in such a time, on the average
    least = np.maximum(own_steps / 4, LEAST) if contacts.coefficients_vary else np.zeros(t.size)
    found, allowed, judged = again_in_modes(contacts, modes, t, start, length, 0.1 * wanted * sizes, least)
    more = rest[:, None] * np.concatenate([ENDS * length[:, None] / root[output], 1.0 / root[output]], axis=1)
    more[:, contacts.n :] += np.where(begins[:, None], BEGINS * max(speed, pull) / root[output], 0.0)

    def beyond(some: np.ndarray | slice) -> Array:
        off: Array = np.abs(found[some] - end[some]) - allowed[some] - more[some]
        return np.asarray((np.maximum(off, 0.0) / sizes[some]).max(axis=1))

    apart = beyond(slice(None))
    doubted = np.flatnonzero(judged & ~(apart <= wanted))
    if doubted.size:
        some, at, y, h = [modes[k] for k in doubted.tolist()], t[doubted], start[doubted], length[doubted]
        near, often = 0.1 * wanted * sizes[doubted], np.full(doubted.size, float(FINER[0]))
        finer = again_in_modes(contacts, some, at, y, h, near, often, FINER[1])
        found[doubted], allowed[doubted], judged[doubted] = finer
        grown = np.zeros(y.shape)  # what an error of one tolerance at the start is at the end
        for change in errors_of(motion, y):
            other, _, known = again_in_modes(contacts, some, at, y + change, h, near, often, FINER[1])
            grown = np.maximum(grown, np.where(known[:, None], np.abs(other - finer[0]), 0.0))
        allowed[doubted] += TOLERANCES * np.maximum(own_steps[doubted, None], 1.0) * grown
        apart[doubted] = beyond(doubted)
    for k in np.flatnonzero(judged & ~(apart <= wanted)):
        judged[k] = keeps_side(contacts, modes[k], t[k], length[k], start[k], end[k])
    return float(apart[judged].max(initial=0.0))


def _between_outputs(motion: Motion, contacts: Contacts, places: Array, velocities: Array) -> Stretches:
    """places, velocities (T, n): what these are measured in, one over it."""
    uneven = {*_unlike_rates(motion, places, velocities), *_uneven_stretches(motion, contacts)}
    chosen = sorted({*_stretches(motion), *uneven})
    at, states = np.array(chosen, dtype=int), np.concatenate([motion.q, motion.v], axis=1)
    t, end, y, z = motion.t[at], motion.t[at + 1], states[at], states[at + 1]
    modes = told_modes(motion, contacts, told_at_outputs(motion, contacts, chosen), t, y, end, z)
    return Stretches(t, end - t, y, z, modes, at, at < 0, np.zeros(at.size))


def _beside_changes(motion: Motion, contacts: Contacts, pieces: Pieces, root: Array) -> Stretches:
    chosen = _chosen_pieces(motion, pieces, root)
    told = pieces.told(motion, contacts, chosen)
    t, length, start, end = (x[chosen] for x in (pieces.t, pieces.length, pieces.start, pieces.end))
    # Laws may jump just where a contact changes.
    t, length, start, end = drawn_in(t, length, start, end, float(motion.t[-1] - motion.t[0]))
    planar = {contacts.contacts[k].name for k in contacts.on_surfaces}
    output = pieces.outputs[pieces.stretch[chosen]]
    stops = np.array([not planar.isdisjoint(names) for names in pieces.stopping(chosen)])
    after, own = pieces.outputs[pieces.stretch[chosen] + 1], root[output]
    assert motion.C is not None
    rubs = np.maximum(np.abs(motion.C[output] / own).max(axis=1), np.abs(motion.C[after] / own).max(axis=1))
    pull = np.abs(own * motion.a[output]).max(axis=1) + TURNED * rubs
    rest = np.where(stops, ENDS * length * pull, 0.0)
    share = np.where(stops, ENDS, 0.0)[:, None]
    length, modes_end = length * (1.0 - share[:, 0]), end + share * (start - end)
    end[:, : contacts.n] -= share * (length[:, None] / (1.0 - share)) * end[:, contacts.n :]
    modes = told_modes(motion, contacts, told, t, start, t + length, modes_end)
    kinked = pieces_with_kinks(motion, pieces, chosen).tolist()
    clear = [None if kink else mode for mode, kink in zip(modes, kinked, strict=True)]
    begins = np.array([not planar.isdisjoint(names) for names in pieces.departing(chosen)])
    return Stretches(t, length, start, end, clear, output, begins, rest)


def _chosen_pieces(motion: Motion, pieces: Pieces, root: Array) -> list[int]:
    """Those at which the velocity changes least as accelerations say, and some others."""
    if pieces.t.size <= WORST + SPREAD:
        return list(range(pieces.t.size))
    n, before = motion.q.shape[1], pieces.outputs[pieces.stretch]
    own = root[before]
    # The acceleration is known at an end that is an output; elsewhere it may be as large as anywhere.
    a = np.where(pieces.known[:, :1], motion.a[before], motion.a[pieces.outputs[pieces.stretch + 1]])
    change = pieces.end[:, n:] - pieces.start[:, n:]
    of_output = np.abs(own * (change - pieces.length[:, None] * a)).max(axis=1)
    most = pieces.length * float(np.abs(root * motion.a).max())
    missed = np.where(pieces.known.any(axis=1), of_output, np.abs(own * change).max(axis=1) - most)
    worst = np.argsort(missed)[::-1][:WORST].tolist()
    spread = np.linspace(0, pieces.t.size - 1, SPREAD).round().astype(int).tolist()
    return sorted({*worst, *spread})


def _stretches(motion: Motion) -> list[int]:
    """Where stretches begin: some of each part in which contacts do not change, spread over the motion."""
    part, clear = _clear(motion)
    inside = clear.nonzero()[0]
    if not inside.size:
        return []
    own = part[inside]  # in order, as the points are
    ends = np.append((own[1:] != own[:-1]).nonzero()[0] + 1, inside.size)
    starts = np.append(0, ends[:-1])
    places = np.concatenate([starts, (starts + ends) // 2, ends - 1])
    everything = sorted(set(inside[places].tolist()))
    if len(everything) <= MOST:
        others = np.linspace(0, inside.size - 1, MOST - len(everything)).round().astype(int)
        return sorted({*everything, *inside[others].tolist()})
    return [everything[k] for k in np.linspace(0, len(everything) - 1, MOST).round().astype(int).tolist()]


def _unlike_rates(motion: Motion, places: Array, velocities: Array) -> list[int]:
    """The stretches over which places, and those over which velocities, change least as their rates say."""
    inside = _clear(motion)[1].nonzero()[0]
    if not inside.size:
        return []
    after, half = inside + 1, np.diff(motion.t)[inside, None] / 2
    q, v, a = motion.q, motion.v, motion.a
    moved = q[after] - q[inside] - half * (v[after] + v[inside]) + half**2 / 3 * (a[after] - a[inside])
    gained = v[after] - v[inside] - half * (a[after] + a[inside])
    found: set[int] = set()
    for missed in (places[inside] * np.abs(moved), velocities[inside] * np.abs(gained)):
        found.update(inside[np.argsort(missed.max(axis=1))[-UNLIKE:]].tolist())
    return sorted(found)


def _clear(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The part that each point belongs to, and the stretches in which neither contacts nor coefficients change at
    once: few steps over a kink that the motion has located would agree with each other, and be wrong.
    """
    return stretches_between(motion, [event["t"] for event in motion.events if "contact" in event])


def _uneven_stretches(motion: Motion, contacts: Contacts) -> list[int]:
    """Stretches within which a coefficient of friction changes otherwise than its ends tell, as on a strip of ice that
    steps may have passed over: the most uneven, looked at on the cubics through the states at their ends.
    """
    if motion.t.size < 2 or not contacts.coefficients_vary:
        return []
    none, p = np.zeros((motion.t.size - 1, contacts.m)), motion.system.parameter_values()
    graph, inside = contact_graph(motion.system), []
    for x in np.linspace(0.0, 1.0, INSIDE):
        at, q, v = states_inside(motion, float(x))
        inside.append(contact_states(graph, q, v, np.zeros_like(q), at, p, none).mu)
    mu = np.stack(inside)
    straight = mu[0] + np.linspace(0.0, 1.0, INSIDE)[:, None, None] * (mu[-1] - mu[0])
    off = np.nan_to_num(np.abs(mu - straight)).max(axis=(0, 2))
    off = np.where(_clear(motion)[1], off, 0.0)
    most = np.argsort(off)[::-1][:UNEVEN]
    return [int(i) for i in most if off[i] > 1e-6 * float(np.nan_to_num(np.abs(mu)).max())]
