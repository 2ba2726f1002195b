"""What contacts do along the output points of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.motion.contacts.history import ContactHistory, Held
from dalembert.motion.contacts.contacts import Contacts
from dalembert.motion.contacts.modes import OPEN, Mode
from dalembert.motion.contacts.decide import solved
from dalembert.motion.trajectory import Trajectory


def points_of(contacts: Contacts, trajectory: Trajectory, modes: Sequence[Mode]) -> Held:
    """What holds and rubs at the output points, each in its mode."""
    n, T, names = contacts.n, trajectory.t.size, [contact.name for contact in contacts.contacts]
    C, acting = np.zeros((T, n)), np.ones((T, contacts.m), dtype=bool)
    normal, friction = np.zeros((len(names), T)), np.zeros((len(names), T))
    for i, mode in enumerate(modes):
        y = trajectory.y[i]
        state = mode, y[:n], y[n : 2 * n], float(trajectory.t[i])
        found = solved(contacts, *state) if mode.undetermined else contacts.solve(*state)
        C[i] = found.C
        acting[i, list(contacts.one_sided)] = mode.closed
        for k in range(len(names)):
            normal[k, i] = 0.0 if mode.states[k] == OPEN else found.normal[k]
            friction[k, i] = np.linalg.norm(found.friction[contacts.components[k]])
    own = {
        name: ContactHistory(np.array([mode.states[k] for mode in modes]), normal[k], friction[k])
        for k, name in enumerate(names)
    }
    return Held(C, acting, own)
