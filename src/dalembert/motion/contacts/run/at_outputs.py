"""What contacts do at the output points of a motion, all points at once where their forces are determined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.contacts.decide.decide import solve_mode
from dalembert.motion.contacts.decide.undetermined import smallest_along
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.contacts_at_states import MOST_NUMBERS, is_unchanged
from dalembert.motion.contacts.modes.modes import OPEN, Mode, ModeSolution, repeat_runs, runs_of
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.state.contact_history import ContactHistory, Held

# So few points are sooner solved one by one: the last of them has been while the motion ran.
FEW = 3


def points_of(contacts: Contacts, trajectory: Trajectory, modes: Sequence[Mode]) -> Held:
    """What holds and rubs at the output points, each in its mode."""
    n = contacts.n
    return forces_in_modes(contacts, modes, trajectory.t, trajectory.y[:, :n], trajectory.y[:, n : 2 * n])


def forces_in_modes(contacts: Contacts, modes: Sequence[Mode], t: Array, q: Array, v: Array) -> Held:
    """The same at any states, T of them."""
    n, T, names = contacts.n, t.size, [contact.name for contact in contacts.contacts]
    C, normal = np.zeros((T, n)), np.zeros((T, len(names)))
    along, runs = np.zeros((T, contacts.components[-1].stop if names else 0)), runs_of(modes)
    undetermined = any(mode.undetermined for mode, _ in runs)
    multipliers = np.full((T, contacts.m), np.nan) if undetermined else None
    acting = np.ones((T, contacts.m), dtype=bool)
    if contacts.one_sided:
        acting[:, contacts.one_sided] = repeat_runs(runs, [mode.closed for mode, _ in runs])
    if not (names or contacts.system.nonideal or undetermined):
        return Held(C, acting, {}, None)  # nothing rubs, and nothing else does work
    left = np.full(T, T <= FEW)
    for mode, own in runs:
        left[own] |= mode.undetermined
    chunk = max(1, MOST_NUMBERS // (n + contacts.m + along.shape[1]) ** 2)
    determined = np.flatnonzero(~left)
    for first in range(0, determined.size, chunk):
        at = determined[first : first + chunk]
        given = (modes, q, v, t) if at.size == T else ([modes[k] for k in at], q[at], v[at], t[at])
        found = contacts.solve_along(*given)
        if found is None:
            left[at] = True
        else:
            left[at] |= ~found.served
            C[at], normal[at], along[at] = found.C, found.normal, found.friction
    for k, one in _one_by_one(contacts, modes, q, v, t, left):
        C[k], normal[k], along[k] = one.C, one.normal, one.friction
        if multipliers is not None and modes[k].undetermined:
            multipliers[k] = one.multipliers[: contacts.m]
    states = repeat_runs(runs, [mode.states for mode, _ in runs]).reshape(T, len(names))
    normal[states == OPEN] = 0.0
    histories = {
        name: ContactHistory(states[:, k].copy(), normal[:, k], np.linalg.norm(along[:, at], axis=1))
        for k, (name, at) in enumerate(zip(names, contacts.components, strict=True))
    }
    return Held(C, acting, histories, multipliers)


def _one_by_one(
    contacts: Contacts, modes: Sequence[Mode], q: Array, v: Array, t: Array, wanted: np.ndarray
) -> Iterator[tuple[int, ModeSolution]]:
    """The points that are wanted, with forces inside the cones where they are not determined."""
    left = np.flatnonzero(wanted).tolist()
    if t.size <= FEW:
        yield from ((k, solve_mode(contacts, modes[k], q[k], v[k], float(t[k]))) for k in left)
        return
    for mode, group in groupby(left, lambda k: modes[k]):
        at = [*group]
        if mode.undetermined:
            yield from zip(at, smallest_along(contacts, mode, q[at], v[at], t[at]), strict=True)
        else:
            last: Array | None = None
            for k in at:
                here = contacts.data_at(mode, q[k], v[k], float(t[k]))
                if not is_unchanged(here, last):
                    found = contacts.solve(mode, q[k], v[k], float(t[k]))
                last = here
                yield k, found
