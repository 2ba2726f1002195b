"""Stretches of a motion with contacts integrated again, from its own states and the laws alone.

The other measures look at single points, with forces that are computed anew there, and at an energy balance that a
wrong force keeps too. Whether the integration in between used these forces shows only in where it went.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.graph.contacts import contact_graph
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.consistency import stretches_between
from dalembert.motion.certificate.stretches import states_inside
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, Mode

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# d/dt of B states at once, which are some of all stretches: numbers (B,), times (B,) and states (B, 2n) to rates.
Slope = Callable[[np.ndarray, Array, Array], Array]
# Where they are after some lengths of time (B,), in so many steps: numbers, times, states, lengths, steps to states.
Advance = Callable[[np.ndarray, Array, Array, Array, int], Array]

# So many stretches are looked at: the measure takes about as long as the forces at five hundred points.
MOST = 12
# Coefficients of friction are looked at in so many places of every stretch, and so many more stretches are repeated.
INSIDE, UNEVEN = 33, 4
# A stretch is divided into at most so many steps; one that needs more is not judged.
MOST_STEPS = 32
# RK4 errs by 1/15 of its distance from the result with half the steps, once that distance falls like the fourth power
# of the step: by at least this much of sixteen. Slow slipping in a plane is stiff, and while steps are too long for
# that, two results are near each other because friction is bounded, and both wrong.
RICHARDSON, CONVERGES = 15.0, 8.0


def repeat_residual(motion: Motion, contacts: Contacts, M: Array, Q: Array, wanted: float) -> float:
    """The largest distance of velocities at the end of a stretch from those of the motion, relative to the fastest.

    A stretch leads from one output point to the next, without a change of contacts between. It is integrated by the
    classical Runge–Kutta method, which nothing else here uses, until two results agree to a share of `wanted`: what is
    left of their difference is allowed for. Which way a contact slips is taken from the sliding velocity. M, Q: of the
    system at the output points.
    """
    chosen = sorted({*_stretches(motion), *_uneven_stretches(motion, contacts)})
    if not chosen:
        return 0.0
    root = mass_scale(M)
    span = float(motion.t[-1] - motion.t[0])
    # At rest, velocities are rounding of what the forces would make of them.
    size = max(float(np.abs(root * motion.v).max()), 1e-6 * span * float(np.abs(Q / root).max()))
    if not size > 0:
        return 0.0
    clear = [(i, mode) for i, mode in zip(chosen, _modes(motion, contacts, chosen), strict=True) if mode is not None]
    if not clear:
        return 0.0
    modes, at = [mode for _, mode in clear], np.array([i for i, _ in clear])
    least = np.array([_own_steps(motion, i) / 4 if contacts.coefficients_vary else 0.0 for i, _ in clear])
    end, allowed, judged = _again(motion, contacts, modes, at, 0.1 * wanted * size / root[at], least)
    apart = root[at] * np.maximum(np.abs(end - motion.v[at + 1]) - allowed, 0.0)
    return float(apart[judged].max(initial=0.0)) / size


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
        return everything
    return [everything[k] for k in np.linspace(0, len(everything) - 1, MOST).round().astype(int).tolist()]


def _clear(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The part that each point belongs to, and the stretches in which neither contacts nor coefficients change at
    once: few steps over a kink that the motion has located would agree with each other, and be wrong.
    """
    return stretches_between(motion, [event["t"] for event in motion.events if "contact" in event])


def _own_steps(motion: Motion, i: int) -> float:
    """How many steps the motion took in a stretch, on the average."""
    return motion.timing.steps * float(motion.t[i + 1] - motion.t[i]) / float(motion.t[-1] - motion.t[0])


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


def _modes(motion: Motion, contacts: Contacts, chosen: list[int]) -> list[Mode | None]:
    """What contacts do on each of the stretches that begin at these points, told by the states at both of their ends;
    None where that is not clear.
    """
    assert motion.acting is not None
    first = np.array(chosen)
    begin, end = motion.acting[first], motion.acting[first + 1]
    clear = (begin == end).all(axis=1)
    closed = list(map(tuple, begin[:, list(contacts.one_sided)].tolist()))
    frames = [contacts.frames_at(motion.q[i], motion.v[i], float(motion.t[i])) for i in chosen]
    if not contacts.contacts:
        told_of_none = zip(clear.tolist(), closed, frames, strict=True)
        return [Mode((), (), (), shut, own) if sure else None for sure, shut, own in told_of_none]
    slides = _slides(motion, contacts, first, frames)
    histories = [motion.contacts[contact.name] for contact in contacts.contacts]
    state, other = (np.array([own.state[at] for own in histories]).T for at in (first, first + 1))
    pushes, after = (np.array([np.sign(own.normal[at]) for own in histories]).T for at in (first, first + 1))
    starts = [at.start for at in contacts.components]
    alike = np.add.reduceat(slides[0] * slides[1], starts, axis=1) > 0
    slips = state == SLIP
    signed = np.array([contact.signed for contact in contacts.contacts]) & (state != OPEN)
    # One of which that is not so has just begun to slip, or comes to rest.
    clear &= ((state == other) & (alike | ~slips)).all(axis=1)
    clear &= ((pushes == after) & (pushes != 0.0) | ~signed).all(axis=1)
    on_lines = [at.stop - at.start == 1 for at in contacts.components]
    ways = np.where(slips, np.where(on_lines, np.sign(slides[0][:, starts]), 0.0), 1.0)
    pushes = np.where(signed, pushes, 1.0)
    told = zip(clear.tolist(), state.tolist(), ways.tolist(), pushes.tolist(), closed, frames, strict=True)
    return [
        Mode(tuple(states), tuple(map(int, way)), tuple(map(int, push)), shut, own) if sure else None
        for sure, states, way, push, shut, own in told
    ]


def _slides(
    motion: Motion, contacts: Contacts, first: np.ndarray, frames: Sequence[tuple[float, ...]]
) -> tuple[Array, Array]:
    """The sliding velocities at the beginnings and ends of stretches, (B, components), in the directions of their
    beginnings.
    """
    at = np.concatenate([first, first + 1])
    found = contacts.slides_along(motion.q[at], motion.v[at], motion.t[at])
    if found is None:
        places = zip(at.tolist(), (*frames, *frames), strict=True)
        each = [contacts.at(motion.q[k], motion.v[k], float(motion.t[k]), frames=own).slide for k, own in places]
        found = np.array(each)
    return found[: first.size], found[first.size :]


def _again(
    motion: Motion, contacts: Contacts, modes: Sequence[Mode], at: np.ndarray, wanted: Array, least: Array
) -> tuple[Array, Array, np.ndarray]:
    """The velocities at the ends of the stretches that begin at these points, how far they may be from right, and which
    are judged: all at once, and those that elimination does not serve one by one. least: of steps, for each; fewer
    might pass over what the motion has seen.
    """
    n, p = contacts.n, contacts.mode_parameters(modes)

    def together(some: np.ndarray, t: Array, y: Array) -> Array:
        if np.isfinite(y).all():
            found = contacts.accelerations([modes[k] for k in some.tolist()], y[:, :n], y[:, n:], t, p[some])
            return np.concatenate([y[:, n:], np.full((t.size, n), np.nan) if found is None else found], axis=1)
        known, a = np.isfinite(y).all(axis=1), np.full((t.size, n), np.nan)
        if known.any():
            own = some[known]
            found = contacts.accelerations([modes[k] for k in own], y[known, :n], y[known, n:], t[known], p[own])
            a[known] = np.nan if found is None else found
        return np.concatenate([y[:, n:], a], axis=1)

    def advance(some: np.ndarray, t: Array, y: Array, length: Array, steps: int) -> Array:
        found = contacts.stretches([modes[int(some[0])]], p[some], t, y, length, steps)
        return _runge_kutta(together, some, t, y, length, steps) if found is None else found

    def alone(some: np.ndarray, t: Array, y: Array) -> Array:
        a = contacts.instant(modes[int(some[0])], y[0, :n], y[0, n:], float(t[0])).acceleration
        return np.concatenate([y[:, n:], a[None]], axis=1)

    t, length = motion.t[at], motion.t[at + 1] - motion.t[at]
    start = np.concatenate([motion.q[at], motion.v[at]], axis=1)
    every = np.arange(at.size)
    by_c = contacts.stretches_by_halving(
        modes[0], p, t, start, length, wanted, least, (MOST_STEPS, RICHARDSON, CONVERGES)
    )
    try:
        end, left, judged, lost = by_c or _by_halving(advance, every, t, start, length, wanted, least)
    except DalembertError:  # at one of them a trial state without a value; which one shows below
        end, left, judged, lost = start[:, n:].copy(), wanted.copy(), every < 0, every >= 0
    for k in np.flatnonzero(lost):
        one = slice(k, k + 1)
        try:
            end[one], left[one], judged[one], _ = _by_halving(
                partial(_runge_kutta, alone), every[one], t[one], start[one], length[one], wanted[one], least[one]
            )
        except DalembertError:
            continue  # a trial state for which the mode has no solution
    return end, left, judged


def _by_halving(
    advance: Advance, which: np.ndarray, t: Array, start: Array, length: Array, wanted: Array, least: Array
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """As `_again`, in 1, 2, 4, … steps until two results agree; and where there is no acceleration on the way."""
    n = start.shape[1] // 2
    end, allowed = start[:, n:].copy(), wanted.copy()
    judged, lost = np.zeros(t.size, dtype=bool), np.zeros(t.size, dtype=bool)
    before, last = np.full_like(end, np.nan), np.zeros_like(end)  # the result before, and the distance to that before
    rest, steps = np.arange(t.size), 1
    while rest.size and steps <= MOST_STEPS:
        y = advance(which[rest], t[rest], start[rest], length[rest], steps)
        v = y[:, n:]
        lost[rest] = ~np.isfinite(v).all(axis=1)
        if steps > 1:
            apart = np.abs(v - before[rest])
            left = np.where(CONVERGES * apart <= last[rest], apart / RICHARDSON, apart)
            done = (steps >= least[rest]) & (left <= wanted[rest]).all(axis=1)
            end[rest[done]], allowed[rest[done]], judged[rest[done]] = v[done], left[done], True
            last[rest] = apart
        else:
            done = np.zeros(rest.size, dtype=bool)
        before[rest], rest, steps = v, rest[~done & ~lost[rest]], 2 * steps
    return end, allowed, judged, lost


def _runge_kutta(slope: Slope, which: np.ndarray, t: Array, y: Array, length: Array, steps: int) -> Array:
    """States a `length` (B,) after (t, y), by so many steps of the classical method."""
    h = length[:, None] / steps
    for k in range(steps):
        at = t + k * h[:, 0]
        k1 = slope(which, at, y)
        k2 = slope(which, at + h[:, 0] / 2, y + h / 2 * k1)
        k3 = slope(which, at + h[:, 0] / 2, y + h / 2 * k2)
        k4 = slope(which, at + h[:, 0], y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y
