"""In which modes contacts are at places between outputs: as the outputs tell, and else by the state at each place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.motion.certificate.stretches import cubic
from dalembert.motion.certificate.told_modes import Told, slides_at, told_at_outputs, told_modes
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, Mode
from dalembert.motion.contacts.run.at_outputs import forces_in_modes

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# A reaction below this share of the largest has no sign.
ROUNDING = 1e-9
# A side is looked for at so many places of a stretch.
ALONG = 65


def modes_inside(
    motion: Motion, contacts: Contacts, wanted: NDArray[np.bool_], t: Array, q: Array, v: Array
) -> list[Sequence[Mode] | None]:
    """Of each stretch (T − 1), the modes at all places in it: t (places, T − 1), q and v (places, T − 1, n). None where
    it is not wanted, or not clear what contacts do.
    """
    at, y = np.flatnonzero(wanted), np.concatenate([motion.q, motion.v], axis=1)
    told = told_at_outputs(motion, contacts, at.tolist())
    found: list[Sequence[Mode] | None] = [None] * wanted.size
    unclear = []
    made: dict[Mode, Mode] = {}  # the same mode is one object, as in `_made`
    ends = motion.t[at], y[at], motion.t[at + 1], y[at + 1]
    for k, own, mode in zip(at.tolist(), told, told_modes(motion, contacts, told, *ends), strict=True):
        if mode is not None:
            found[k] = [made.setdefault(mode, mode)] * t.shape[0]
        elif own.closed is not None and None not in own.states:
            unclear.append((k, own))
    if unclear:
        one = np.array([k for k, _ in unclear])
        by_state = _modes_by_state(contacts, [own for _, own in unclear], t[:, one], q[:, one], v[:, one])
        for (k, _), modes in zip(unclear, by_state, strict=True):
            found[k] = modes
    return found


def _modes_by_state(
    contacts: Contacts, told: Sequence[Told], t: Array, q: Array, v: Array
) -> list[Sequence[Mode] | None]:
    """The modes on B stretches in which a rail changes the side that presses, or what slips turns or hardly moves: at
    each place with the sign of the sliding velocity there, and of the reaction that this gives.
    """
    places, n = t.shape[0], contacts.n
    flat = t.reshape(-1), q.reshape(-1, n), v.reshape(-1, n)
    own = [*told] * places
    frames = [contacts.frames_at(*place) for place in zip(flat[1], flat[2], flat[0].tolist(), strict=True)]
    slides = slides_at(contacts, flat[0], np.concatenate(flat[1:], axis=1), frames)
    ways = np.where(slides < 0.0, -1, 1)
    states = np.array([one.states for one in own]).reshape(len(own), -1)
    on_line = [at.stop - at.start == 1 for at in contacts.components]
    directions = np.ones(states.shape, dtype=int)
    for k, at in enumerate(contacts.components):
        directions[:, k] = np.where(states[:, k] == SLIP, ways[:, at.start] if on_line[k] else 0, 1)
    signed = (states == SLIP) & [contact.signed for contact in contacts.contacts]
    pushes = np.ones(states.shape, dtype=int)
    for _ in range(2):  # with friction on the side that presses, each reaction has the sign that it was given
        modes = _made(own, directions, pushes, frames)
        held = forces_in_modes(contacts, modes, *flat)
        normal = np.stack([held.contacts[contact.name].normal for contact in contacts.contacts], axis=1)
        against = signed & ~(normal * pushes >= -ROUNDING * np.abs(normal).max(axis=0))
        pushes = np.where(against, -pushes, pushes)
    clear = ~against.any(axis=1).reshape(places, -1).any(axis=0)
    return [modes[k :: len(told)] if known else None for k, known in enumerate(clear.tolist())]


def _made(told: Sequence[Told], directions: Array, pushes: Array, frames: Sequence[tuple[float, ...]]) -> list[Mode]:
    """The same mode is one object: what follows goes by these."""
    made: dict[Mode, Mode] = {}
    found = []
    for one, ways, signs, own in zip(told, directions.tolist(), pushes.tolist(), frames, strict=True):
        states = tuple(state for state in one.states if state is not None)
        mode = Mode(states, tuple(ways), tuple(signs), one.closed or (), own)
        found.append(made.setdefault(mode, mode))
    return found


def keeps_side(contacts: Contacts, mode: Mode, t: float, length: float, start: Array, end: Array) -> bool:
    """Whether each rail on which something slips presses on the side of its mode all along a stretch between two states
    (2n), as it does at both: under a pulse it may have pressed on the other one meanwhile.
    """
    rails = [k for k, carrier in enumerate(contacts.carrier) if carrier is None and contacts.contacts[k].signed]
    slipping = [k for k in rails if mode.states[k] == SLIP]
    if not slipping:
        return True
    n, x = contacts.n, np.linspace(0.0, 1.0, ALONG)[:, None]
    q = cubic(x, start[:n], end[:n], length * start[n:], length * end[n:])
    v = start[n:] + x * (end[n:] - start[n:])
    held = forces_in_modes(contacts, [mode] * ALONG, t + x[:, 0] * length, q, v)
    for k in slipping:
        pressed = mode.pushes[k] * held.contacts[contacts.contacts[k].name].normal
        if pressed.min() < -ROUNDING * np.abs(pressed).max():
            return False
    return True
