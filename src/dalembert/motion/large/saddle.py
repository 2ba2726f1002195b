"""Sparse equations of what moves and what is held: W x + Gᵀ y = f, G x = c."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.arrays import Array

# What stands in the corner of the equations, so that constraints may depend on each other, relative to the others.
CORNER = 1e-10
# What the corner changes is made up for as often as that leaves less than half of what was missed, at most so often: it
# takes a factor away each time, which is small where constraints hold each other at the end of a long lever.
REFINED = 30


def saddle(W: Any, G: Any) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Solves W x + Gᵀ y = f, G x = c, rows of G scaled to length one, with a small corner, refined."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    count, size = G.shape
    W, G = W.tocoo(), G.tocoo()
    lengths = np.sqrt(np.bincount(G.row, G.data**2, minlength=count))
    scale = 1.0 / np.where(lengths > 0, lengths, 1.0)
    rows, own = G.data * scale[G.row], np.arange(size, size + count)
    corner = np.full(count, -CORNER / (float(np.abs(W.data).max(initial=0.0)) or 1.0))
    across, down = [W.row, G.row + size, G.col, own], [W.col, G.col, G.row + size, own]
    where, shape = (np.concatenate(across), np.concatenate(down)), (size + count, size + count)
    factored = csc_array((np.concatenate([W.data, rows, rows, corner]), where), shape=shape)
    try:
        solve = splu(factored).solve
    except RuntimeError:  # singular: no inertia somewhere
        return lambda f, c: (np.full(f.size, np.nan), np.full(c.size, np.nan))

    def solved(f: Array, c: Array) -> tuple[Array, Array]:
        right = np.concatenate([f, scale * c])
        found, missed = solve(right), np.inf
        for _ in range(REFINED):
            left = right - factored @ found
            left[size:] += corner * found[size:]  # without the corner
            less = float(np.abs(left).max(initial=0.0))
            if not less < missed / 2:
                break
            found, missed = found + solve(left), less
        return found[:size], scale * found[size:]

    return solved
