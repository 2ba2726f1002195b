"""Displacements that change nothing: q → q + δ(S q + c) with q̇ → q̇ + δ S q̇ leaves every expression of a model as it is.

Translations of all of a free system, cyclic coordinates, rotations in Cartesian coordinates are of this kind. S and c
satisfy linear equations at every state,

    ∂e/∂q·(S q + c) + ∂e/∂q̇·S q̇ = 0 of energies and constraints e,   and with + Sᵀ F of the components of forces F,

which are solved at states drawn at random: more equations than unknowns, so that what is left is no accident.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.model.language.symbols import Reaction
from dalembert.model.system import System

# Beyond this many coordinates only translations are sought (S = 0): the unknowns are n² + n.
MOST = 10
# Of unit columns: what is smaller is zero, to rounding.
RANK = 1e-9


def neutral_directions(system: System, q: Array, sizes: Array, p: Array) -> Array:
    """Directions (n, k) at q, in sizes of the coordinates and orthonormal, along which nothing changes."""
    n = q.size
    try:
        rows = _rows(system, q, sizes, p, n <= MOST)
    except (TypeError, NameError, ValueError, AttributeError):  # derivatives that have no numbers
        return np.zeros((n, 0))
    # Each unknown by its own size: what is small beside others is not zero.
    lengths = np.linalg.norm(rows, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    _, sigma, V = np.linalg.svd(rows / lengths, full_matrices=True)
    kept = V[int(np.sum(sigma > RANK)) :]
    if not len(kept):
        return np.zeros((n, 0))
    kept = np.linalg.qr((kept / lengths).T)[0].T
    S, c = kept[:, : kept.shape[1] - n].reshape(len(kept), -1, n), kept[:, -n:]
    moved = c + (S @ (q / sizes) if S.shape[1] else 0.0)
    U, sigma, _ = np.linalg.svd(moved.T, full_matrices=False)
    return U[:, sigma > 1e-7 * max(float(sigma.max(initial=0.0)), 1.0)]


def _rows(system: System, q: Array, sizes: Array, p: Array, turn: bool) -> Array:
    """The equations of S (n, n), where `turn`, and c (n), in sizes of the coordinates."""
    scalars, vectors = _expressions(system)
    turn &= not any(r.kind != "multiplier" for F in vectors for e in F for r in e.atoms(Reaction))
    symbols = (*system.coordinates, *system.velocities)
    n, flat = q.size, [*scalars, *(e for F in vectors for e in F)]
    reactions = sorted({r for e in flat for r in e.atoms(Reaction)}, key=str)
    outputs = [[e, *(sp.diff(e, s) for s in symbols)] for e in flat]
    evaluate = sp.lambdify([*symbols, *system.parameter_symbols, *reactions], outputs, modules=["numpy", "scipy"])
    draw = np.random.default_rng(2)
    unknowns = n * n * turn + n
    found: list[Array] = []
    for _ in range(3 + 3 * unknowns // max(len(flat), 1)):
        place, speed = q + sizes * draw.uniform(-0.5, 0.5, n), sizes * draw.uniform(-1, 1, n)
        with np.errstate(all="ignore"):
            values = np.array(evaluate(*place, *speed, *p, *draw.uniform(-1, 1, len(reactions))), dtype=float)
        gradients = values[:, 1:] * np.concatenate([sizes, sizes])
        for k, g in enumerate(gradients):
            row = np.concatenate([np.outer(g[:n], place / sizes) + np.outer(g[n:], speed / sizes), g[:n, None]], axis=1)
            if k >= len(scalars):
                # The component `own` of a force gains Σ S_{i,own} F_i; F as the work over a size.
                own = (k - len(scalars)) % n
                first = k - own
                row = row * sizes[own]
                row[:, own] += values[first : first + n, 0] * sizes
            row = np.concatenate([row[:, :n].ravel() if turn else np.zeros(0), row[:, n]])
            length = np.linalg.norm(row)
            if np.isfinite(length) and length > 0:
                found.append(row / length)
    return np.array(found) if found else np.zeros((1, unknowns))


def _expressions(system: System) -> tuple[list[sp.Expr], list[list[sp.Expr]]]:
    """Energies and constraints, and the components of forces."""
    scalars = [e for e in (system.kinetic, system.potential, system.lagrangian) if e is not None]
    if system.mass is not None:
        v = sp.Matrix(system.velocities)
        scalars.append((v.T * system.mass * v)[0] / 2)
    scalars += [c.expression for c in system.constraints]
    zero = sp.S.Zero
    vectors = [[system.forces.get(q, zero) for q in system.coordinates]]
    vectors += [[law.work.get(q, zero) for q in system.coordinates] for law in system.works]
    return scalars, vectors


def names_of(system: System, directions: Array, sizes: Array) -> tuple[str, ...]:
    """Names for directions (n, k), given in sizes of the coordinates: sums of as few coordinates as possible."""
    left = (sizes[:, None] * directions).T.copy()
    texts = []
    for k in range(len(left)):
        column = int(np.argmax(np.abs(left[k:] / sizes).max(axis=0)))
        pivot = k + int(np.argmax(np.abs(left[k:, column])))
        left[[k, pivot]] = left[[pivot, k]]
        left[k] /= left[k, column]
        for j in range(len(left)):
            if j != k:
                left[j] -= left[j, column] * left[k]
    for row in left:
        shares = np.abs(row / sizes)
        parts = [
            (x, c.name)
            for x, c, share in zip(row, system.coordinates, shares, strict=True)
            if share > 1e-6 * shares.max()
        ]
        text = " + ".join(name if abs(x - 1) < 1e-9 else f"{x:.4g} {name}" for x, name in parts)
        texts.append(text.replace("+ -", "- "))
    return tuple(sorted(texts))
