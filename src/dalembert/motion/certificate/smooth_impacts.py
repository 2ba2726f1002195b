"""Whether blows of one contact without friction obey their laws, all of them at once: a motion may have thousands.

The same laws as in `impact_laws`, for the blows whose way is straight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.bounces import index_array
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.contacts.impacts.blow import LAWS, POISSON, SMOOTH, STRONGE
from dalembert.motion.contacts.impacts.impacts import Impact
from dalembert.motion.contacts.modes.contacts import Contacts


def is_smooth(contacts: Contacts, blow: Impact) -> bool:
    """Whether a blow is of one contact that nothing rubs, with the restitution of the model, in two straight pieces."""
    if len(blow.contacts) != 1 or blow.guides or blow.limited or blow.left_out or contacts.sliding_guides:
        return False
    (contact,) = blow.contacts
    k = contacts.gap_numbers.get(contact.name)
    if k is None or contacts.rubbing[k] is not None or contact.e != contacts.restitutions[k]:
        return False
    shapes = [(piece.kind, piece.normal.shape) for piece in contact.pieces]
    return contact.friction.size == 0 and contact.state == SMOOTH and shapes == [(SMOOTH, (2,))] * 2


def smooth_residual(contacts: Contacts, blows: Sequence[Impact]) -> float:
    """The largest departure of such blows from their laws, as `impact_residual` has it."""
    B, n, told = len(blows), contacts.n, [blow.contacts[0] for blow in blows]
    which, t = [contacts.gap_numbers[contact.name] for contact in told], np.array([blow.t for blow in blows])
    states = np.concatenate([part for blow in blows for part in (blow.q, blow.before, blow.after)]).reshape(B, 3 * n)
    q, before, after = states[:, :n], states[:, n : 2 * n], states[:, 2 * n :]
    numbers = np.empty((B, 8 + len(contacts.always)))
    numbers[:, :4] = [(contact.normal, contact.e, contact.compression, contact.loss) for contact in told]
    ends = [piece.normal for contact in told for piece in contact.pieces]
    numbers[:, 4:8] = np.concatenate(ends).reshape(B, 4)
    if contacts.always:
        numbers[:, 8:] = [blow.constraint_impulses for blow in blows]
    laws = index_array([LAWS.index(blow.law) for blow in blows])
    by_c = contacts.blows_at(which, t, q, before, after)
    found = None if by_c is None else by_c.departure(numbers, laws)
    return departure_by_numpy(contacts, which, t, q, before, after, numbers, laws) if found is None else found


def departure_by_numpy(
    contacts: Contacts,
    which: list[int],
    t: Array,
    q: Array,
    before: Array,
    after: Array,
    numbers: Array,
    laws: np.ndarray,
) -> float:
    """As `Blows.departure`."""
    M, A = contacts.unconstrained_along(q, before, t)
    n, at = contacts.n, np.arange(t.size)
    normal, always = A[at, [contacts.one_sided[k] for k in which]], A[:, contacts.always]
    root = mass_scale(M)
    size = np.sqrt(np.maximum(*(np.einsum("bi,bi->b", root * v, root * v) for v in (before, after))))
    size[size == 0.0] = 1.0
    weight, steep = _lengths(normal / root), _lengths(always / root[:, None])
    p, e, pressed, loss = numbers[:, :4].T
    ends, change = numbers[:, 4:8], after - before
    jump = np.einsum("bij,bj->bi", M, change) - p[:, None] * normal
    jump -= np.einsum("bji,bj->bi", always, numbers[:, 8:])
    closing = contacts.gap_rates(q, before, t)[at, which]
    parting = closing + np.einsum("bi,bi->b", normal, change)
    lost = -p * (closing + parting) / 2
    feels = np.einsum("bi,bij,bj->b", normal, _inverse(M, always, root, steep)[:, :n, :n], normal)
    way = closing[:, None] + feels[:, None] * ends
    works = np.diff(ends, axis=1)[:, [0, 2]] * (way[:, [0, 2]] + way[:, [1, 3]]) / 2
    by_law = {
        POISSON: (p - (1.0 + e) * pressed) * weight / size,
        STRONGE: (works[:, 1] + e**2 * works[:, 0]) / size**2,
    }
    newton = (closing + feels * p + e * closing) / (weight * size)
    restored = np.select([laws == LAWS.index(law) for law in by_law], list(by_law.values()), newton)
    # Along the way: it begins at zero, goes on where it was, passes the end of compression, and comes to the whole.
    joined = np.abs(ends - np.column_stack([np.zeros(t.size), pressed, pressed, p]))
    found = [
        np.linalg.norm(jump / root, axis=1) / size,
        (np.abs(np.einsum("bij,bj->bi", always, change)) / steep).max(axis=1, initial=0.0) / size,
        (np.abs(lost - loss) + np.maximum(-lost, 0.0)) / size**2,
        -p * weight / size,
        -np.diff(ends, axis=1).min(axis=1) * weight / size,
        joined.max(axis=1) * weight / size,
        np.abs(closing + feels * pressed) / (weight * size),
        np.abs(restored),
    ]
    worst = float(np.max(found))
    return worst if worst == worst else np.inf


def _lengths(rows: Array) -> Array:
    """Of vectors along the last axis, 1 where they vanish."""
    found = np.sqrt(np.einsum("...i,...i->...", rows, rows))
    return np.where(found > 0.0, found, 1.0)


def _inverse(M: Array, always: Array, root: Array, steep: Array) -> Array:
    """Of [M Aᵀ; A 0] (B, …), balanced by the root of each coordinate's own mass and the lengths of rows."""
    balance = np.concatenate([root, steep], axis=1)
    scale = balance[:, :, None] * balance[:, None, :]
    whole = np.zeros_like(scale)
    n = root.shape[1]
    whole[:, :n, :n], whole[:, n:, :n], whole[:, :n, n:] = M, always, always.transpose(0, 2, 1)
    return np.asarray(np.linalg.pinv(whole / scale, rcond=1e-12) / scale)
