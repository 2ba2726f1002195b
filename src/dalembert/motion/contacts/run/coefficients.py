"""Coefficients of friction that fall below zero on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.model.friction.contact import SPEED
from dalembert.model.language.symbols import Coordinate
from dalembert.model.language.symbols import t as time
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, Mode
from dalembert.motion.integrate.trajectory import Trajectory

# One that ends just at zero is as large as this share of what it was.
ROUNDING = 1e-12


def negative_coefficients(contacts: Contacts, trajectory: Trajectory, modes: Sequence[Mode]) -> list[str]:
    """What to say of contacts whose coefficient is negative at an output point while they are closed."""
    varying = [
        k
        for k, contact in enumerate(contacts.contacts)
        if any(symbol in (time, SPEED) or isinstance(symbol, Coordinate) for symbol in contact.mu.free_symbols)
    ]
    if not varying or not modes:
        return []
    n, t = contacts.n, trajectory.t
    q, v = trajectory.y[:, :n], trajectory.y[:, n : 2 * n]
    mu = contacts.along(modes[0], q, v, t).mu
    found = []
    for k in varying:
        closed = np.array([mode.states[k] != OPEN for mode in modes])
        below = np.flatnonzero(closed & (mu[:, k] < -ROUNDING * np.abs(mu[:, k]).max()))
        if below.size:
            i = int(below[0])
            found.append(
                f"friction of {contacts.contacts[k].name!r} has a coefficient below zero, {mu[i, k]:.3g} at "
                f"t = {t[i]:.6g}: it drives what it should brake; bound it, as in max({contacts.contacts[k].mu}, 0)"
            )
    return found
