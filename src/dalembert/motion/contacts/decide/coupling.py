"""Whether friction could leave several motions, or none: only where it changes the reactions on which it depends."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import parts_of
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
        for own, these in zip(at, rows, strict=True):
            reached = np.flatnonzero(F[own].any(axis=0))  # a force on one part says nothing to the others
            n, m = own.size, these.size
            if not m or not reached.size:
                continue
            rows_own = A[np.ix_(these, own)]
            whole = np.block([[M[np.ix_(own, own)], -rows_own.T], [rows_own, np.zeros((m, m))]])
            right = np.vstack([F[np.ix_(own, reached)], np.zeros((m, reached.size))])
            found[np.ix_(these, reached)] = np.linalg.lstsq(whole, right, rcond=1e-12)[0][n:]
    return found
