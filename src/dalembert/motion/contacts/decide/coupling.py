"""Whether friction could leave several motions, or none: only where it changes the reactions on which it depends."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import block, parts_of
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, Mode, ModeSolution

# With reactions that follow friction by less than this share of it, in sum over all contacts, the law has one solution:
# the changes that friction makes to its own limits stay below the friction itself.
SURE = 0.9


def friction_may_be_ambiguous(contacts: Contacts, mode: Mode, s: ModeSolution, q: Array, v: Array, t: float) -> bool:
    """Whether friction could change its own limits by as much as it changes itself: μ Σ |∂N/∂f| is not below one."""
    closed = [k for k in range(len(contacts.contacts)) if mode.states[k] != OPEN]
    if not closed:
        return False
    if any(not contacts.contacts[k].signed for k in closed):
        return True
    names = {c.name: row for row, c in enumerate(contacts.system.constraints)}
    A = s.solution.A[: contacts.m]
    acting = np.flatnonzero(np.any(A, axis=1))
    F = contacts.forces(q, v, t, mode.frames)
    response = reaction_to(s.solution.M, A[acting], F)
    place = {int(row): k for k, row in enumerate(acting)}
    mu = np.maximum(s.mu, s.mu_static)
    for k in closed:
        row = names[contacts.contacts[k].constraints[0]]
        if row not in place:
            continue
        if mu[k] * float(np.abs(s.lever[k] * response[place[row]]).sum()) > SURE:
            return True
    return False


def reaction_to(M: Array, A: Array, F: Array) -> Array:
    """∂λ/∂f: how the multipliers of constraints with rows A answer forces F f, by the equations of motion."""
    found = np.zeros((A.shape[0], F.shape[1]))
    for at, rows in parts_of(M, A) or [(np.arange(M.shape[0])[None], np.arange(A.shape[0])[None])]:
        parts, n, m = at.shape[0], at.shape[1], rows.shape[1]
        if not m:
            continue
        own = block(A, rows, at)
        whole = np.zeros((parts, n + m, n + m))
        whole[:, :n, :n], whole[:, n:, :n], whole[:, :n, n:] = block(M, at, at), own, -np.swapaxes(own, 1, 2)
        # A force on one part says nothing to the others.
        found[rows] = np.linalg.pinv(whole, rcond=1e-12)[:, n:, :n] @ F[at]
    return found
