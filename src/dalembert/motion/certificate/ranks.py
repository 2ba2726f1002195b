"""Whether the ranks that a motion tells are those of its constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.mass_scale import mass_scale

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Where ranks change, they are looked at beside so many changes, and at so many other outputs.
MOST, SPREAD = 64, 16
# A direction with a larger singular value than the first, of rows of length one, counts for certain, and one with a
# smaller one than the second does not. Between them rounding decides.
COUNTS, NONE = 1e-6, 1e-13


def ranks_agree(motion: Motion, M: Array, A: Array, measured: tuple[int, int]) -> bool:
    """M, A: along the motion, of the constraints that act. measured: the least and the largest rank that were found by
    other means.
    """
    told, (least, most) = motion.rank, measured
    if told.size != motion.t.size:
        return False
    outside = np.flatnonzero((told < least) | (told > most))
    asked = outside[:MOST]
    if least != most:
        changes = np.flatnonzero(np.diff(told))
        changes = (
            changes[np.unique(np.linspace(0, max(changes.size - 1, 0), MOST).astype(int))] if changes.size else changes
        )
        spread = np.linspace(0, told.size - 1, SPREAD).astype(int)
        asked = np.unique(np.concatenate([asked, changes, changes + 1, spread]))
    if not asked.size:
        return True
    rows = A[asked] / mass_scale(M[asked])[:, None, :]
    lengths = np.linalg.norm(rows, axis=2, keepdims=True)
    values = np.linalg.svd(rows / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False)
    sure, possible = (values > COUNTS).sum(axis=1), (values > NONE).sum(axis=1)
    return bool(((sure <= told[asked]) & (told[asked] <= possible)).all())
