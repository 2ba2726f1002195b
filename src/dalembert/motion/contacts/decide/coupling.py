"""Whether friction could leave several motions, or none: only where it changes the reactions on which it depends."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from dalembert.arrays import Array, norm_of
from dalembert.mechanics.solve.blocks import block, parts_of
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, Mode, ModeSolution

# With reactions that follow friction by less than this share of it, the law has one solution: the changes that friction
# makes to its own limits stay below the friction itself. In which measure does not matter: so often its weights are
# improved, each kept above this share of the largest.
SURE, MOST_WEIGHTS, FEWER = 0.9, 30, 1e-3
# Singular values below this share of the largest are zero; a matrix whose condition is at most 1/REGULAR has none that
# is as small, and of its inverse seven digits are right.
RANK, REGULAR = 1e-12, 1e-9


def friction_may_be_ambiguous(
    contacts: Contacts, mode: Mode, s: ModeSolution, q: Array, v: Array, t: float, touching: Set[int]
) -> bool:
    """Whether friction could change its own limits by as much as it changes itself: in no measure of all frictions
    together do μ |∂N/∂f| shrink them. touching: the one-sided constraints that may be closed.
    """
    closed = [k for k in range(len(contacts.contacts)) if mode.states[k] != OPEN]
    if not closed:
        return False
    if any(not contacts.contacts[k].signed for k in closed):
        return True
    if s.is_apart:
        return False
    A = s.solution.A[: contacts.m]
    acting = np.flatnonzero(A.any(axis=1))
    F = contacts.forces(q, v, t, mode.frames)
    if _apart(s.solution.M, A, F):
        return False
    response = reaction_to(s.solution.M, A[acting], F)
    follows = dict(zip(acting.tolist(), response, strict=True))
    rubbing = [k for k, carrier in enumerate(contacts.carrier) if k in closed or carrier in touching]
    changes = np.zeros((len(rubbing), len(rubbing)))  # of the limit of one contact by the friction of another
    for row, k in enumerate(rubbing):
        own = follows.get(contacts.rows[contacts.contacts[k].constraints[0]])
        if own is not None:
            limit = max(s.mu[k], s.mu_static[k]) * abs(s.lever[k])
            changes[row] = [limit * norm_of(own[contacts.components[j]]) for j in rubbing]
    return not _shrinks(changes)


def _shrinks(changes: Array) -> bool:
    """Whether a matrix without negative entries makes vectors smaller in some weighted measure, by SURE at least: its
    largest eigenvalue is below that, which any positive vector bounds from above (Collatz and Wielandt).
    """
    weights = np.ones(changes.shape[0])
    for _ in range(MOST_WEIGHTS):
        grown = changes @ weights
        if (grown <= SURE * weights).all():
            return True
        weights = grown + FEWER * float(grown.max()) + 1e-300
        weights /= float(weights.max())
    return False


def _apart(M: Array, A: Array, F: Array) -> bool:
    """Whether forces F change no reaction: masses stand alone, and the constraints do not see what F accelerates."""
    masses = M.diagonal()
    return bool(np.count_nonzero(M) == masses.size and masses.all() and not ((A / masses) @ F).any())


def reaction_to(M: Array, A: Array, F: Array) -> Array:
    """∂λ/∂f: how the multipliers of constraints with rows A answer forces F f, by the equations of motion."""
    groups = parts_of(M, A)
    if groups is None:
        return _answers(M, A, F)
    found = np.zeros((A.shape[0], F.shape[1]))
    for at, rows in groups:
        # A force on one part says nothing to the others.
        found[rows] = _answers(block(M, at, at), block(A, rows, at), F[at])
    return found


def _answers(M: Array, A: Array, F: Array) -> Array:
    """`reaction_to` of one part, or of several of one shape."""
    n, m = M.shape[-1], A.shape[-2]
    if not m:
        return np.zeros((*M.shape[:-2], 0, F.shape[-1]))
    whole = np.zeros((*M.shape[:-2], n + m, n + m))
    whole[..., :n, :n], whole[..., n:, :n], whole[..., :n, n:] = M, A, -np.swapaxes(A, -1, -2)
    return np.asarray(_inverse(whole)[..., n:, :n] @ F)


def _inverse(matrices: Array) -> Array:
    """Their inverses; pseudoinverses where constraints depend on each other or M is singular."""
    try:
        inverse = np.linalg.inv(matrices)
        size = np.abs(matrices).sum(axis=-1).max() * np.abs(inverse).sum(axis=-1).max()
    except np.linalg.LinAlgError:
        size = np.inf
    return np.asarray(inverse if size * REGULAR <= 1.0 else np.linalg.pinv(matrices, rcond=RANK), dtype=np.float64)
