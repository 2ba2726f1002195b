"""In which modes a motion says that its contacts were on some stretches, as what integrates them again needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.certificate.friction_laws import speed_of_rest
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, Mode

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


# In a plane, slipping that begins or ends turns faster than steps could follow. It is taken as such on a stretch at one
# end of which it is slower than this share.
GENTLY = 1e-3


@dataclass(frozen=True, eq=False)
class Told:
    """What contacts do on a stretch: the state of each contact, and whether each one-sided constraint is closed; None
    of what is not told. outputs: the numbers of those before and after.
    """

    states: tuple[str | None, ...]
    closed: tuple[bool, ...] | None
    outputs: tuple[int, int]


def told_at_outputs(motion: Motion, contacts: Contacts, outputs: Sequence[int]) -> list[Told]:
    """On stretches from each of these outputs to the next: what both of its ends tell, if that is the same."""
    assert motion.acting is not None
    first, rows = np.array(outputs, dtype=int), list(contacts.one_sided)
    same_rows = (motion.acting[first] == motion.acting[first + 1]).all(axis=1)
    states = [motion.contacts[contact.name].state for contact in contacts.contacts]
    found = []
    for k, same, closed in zip(outputs, same_rows.tolist(), motion.acting[first][:, rows].tolist(), strict=True):
        own = tuple(str(state[k]) if state[k] == state[k + 1] else None for state in states)
        found.append(Told(own, tuple(closed) if same else None, (k, k + 1)))
    return found


def told_modes(
    motion: Motion, contacts: Contacts, told: Sequence[Told], t: Array, start: Array, end_t: Array, end: Array
) -> list[Mode | None]:
    """The modes of stretches, (B,), with the states (B, 2n) at both of their ends; None where that is not clear. Which
    way a contact slips is that of its sliding velocity, which is the same at both ends, or none at one of them.
    """
    n = contacts.n
    frames = [contacts.frames_at(y[:n], y[n:], at) for y, at in zip(start, t.tolist(), strict=True)]
    if not contacts.contacts:
        free = zip(told, frames, strict=True)
        return [None if one.closed is None else Mode((), (), (), one.closed, own) for one, own in free]
    M, Q, *_ = contacts.unconstrained(motion.q[0], motion.v[0], float(motion.t[0]))
    resting = speed_of_rest(motion, M, Q)
    slides = slides_at(contacts, np.concatenate([t, end_t]), np.concatenate([start, end]), [*frames, *frames])
    begin, finish = slides[: t.size], slides[t.size :]
    on_line = [at.stop - at.start == 1 for at in contacts.components]
    found: list[Mode | None] = []
    for k, one in enumerate(told):
        ways = [_way(begin[k, at], finish[k, at], resting) for at in contacts.components]
        pushes = [_push(motion, contact.name, contact.signed, one) for contact in contacts.contacts]
        slips = [state == SLIP for state in one.states]
        ways = [way if slip else 1 for way, slip in zip(ways, slips, strict=True)]
        if one.closed is None or None in one.states or 0 in ways or 0 in pushes:
            found.append(None)
            continue
        in_plane = [slip and not line for slip, line in zip(slips, on_line, strict=True)]
        directions = tuple(0 if turns else way for turns, way in zip(in_plane, ways, strict=True))
        states = tuple(state for state in one.states if state is not None)
        found.append(Mode(states, directions, tuple(pushes), one.closed, frames[k]))
    return found


def _way(begin: Array, end: Array, resting: float) -> int:
    """The sign with which something slips that does so at these velocities, 1 in a plane; 0 where that is not clear: it
    has turned, or rests at both ends.
    """
    if begin.size == 1:  # the same in a tenth of the time
        one, other = float(begin[0]), float(end[0])
        least, most = sorted((abs(one), abs(other)))
        turned = most <= resting or (least > resting and one * other <= 0.0)
        return 0 if turned else int(one + other > 0.0) - int(one + other < 0.0)
    least, most = sorted((float(np.abs(begin).max()), float(np.abs(end).max())))
    if most <= resting or (least > resting and float(begin @ end) <= 0.0):
        return 0
    return int(least > GENTLY * most)


def _push(motion: Motion, name: str, signed: bool, told: Told) -> int:
    """The sign of a reaction on a stretch, 0 where it is not the same at the outputs on both sides."""
    if not signed:
        return 1
    history = motion.contacts[name]
    pushes = [float(history.normal[k]) for k in told.outputs if history.state[k] != OPEN]
    if any(push != push for push in pushes):  # no number is no sign
        return 0
    # What presses with nothing at one end has the sign of the other.
    signs = {(push > 0.0) - (push < 0.0) for push in pushes if push or not any(pushes)}
    return signs.pop() if len(signs) == 1 else int(not signs)


def slides_at(contacts: Contacts, t: Array, y: Array, frames: Sequence[tuple[float, ...]]) -> Array:
    """The sliding velocities (B, components) at some states, in the directions of some frames."""
    n = contacts.n
    found = contacts.slides_along(y[:, :n], y[:, n:], t)
    if found is None:
        places = zip(y, t.tolist(), frames, strict=True)
        found = np.array([contacts.at(z[:n], z[n:], at, frames=own).slide for z, at, own in places])
    return found
