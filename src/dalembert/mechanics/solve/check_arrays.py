"""What the fundamental equation is given as arrays, checked: shapes, numbers, symmetry."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import ModelError, UndefinedModel


def check_arrays(
    M: ArrayLike, Q: ArrayLike, A: ArrayLike, b: ArrayLike, C: ArrayLike | None
) -> tuple[Array, Array, Array, Array, Array]:
    """Arrays of matching shapes with one batch axis or none, or an error that lists what is wrong."""
    M, Q, A, b = _numbers(M, "M"), _numbers(Q, "Q"), _numbers(A, "A"), _numbers(b, "b")
    faults = []
    if M.ndim < 2 or M.shape[-1] != M.shape[-2]:
        raise ModelError("fundamental", [f"M must be square, (…, n, n); its shape is {M.shape}"])
    n = M.shape[-1]
    C = np.zeros(n) if C is None else _numbers(C, "C")
    for name, value in (("Q", Q), ("C", C)):
        if value.ndim < 1 or value.shape[-1] != n:
            faults.append(f"{name} must have shape (…, {n}); its shape is {value.shape}")
    if A.ndim < 2 or A.shape[-1] != n:
        faults.append(f"A must have shape (…, m, {n}); its shape is {A.shape}")
    elif b.ndim < 1 or b.shape[-1] != A.shape[-2]:
        faults.append(f"b must have shape (…, {A.shape[-2]}), one entry per row of A; its shape is {b.shape}")
    if faults:
        raise ModelError("fundamental", faults)
    for name, value in (("M", M), ("Q", Q), ("A", A), ("b", b), ("C", C)):
        if not np.all(np.isfinite(value)):
            raise UndefinedModel(f"fundamental: {name} holds NaN or infinity")
    asymmetry = np.max(np.abs(M - np.swapaxes(M, -1, -2)), initial=0.0)
    if asymmetry > 1e-8 * np.max(np.abs(M), initial=0.0):
        raise ModelError("fundamental", [f"M is not symmetric: it differs from its transpose by {asymmetry:.2g}"])
    try:
        batch = np.broadcast_shapes(M.shape[:-2], Q.shape[:-1], A.shape[:-2], b.shape[:-1], C.shape[:-1])
    except ValueError:
        raise ModelError("fundamental", ["the leading (batch) axes of M, Q, A, b, C do not match"]) from None
    m = A.shape[-2]
    return (
        np.broadcast_to(M, (*batch, n, n)),
        np.broadcast_to(Q, (*batch, n)),
        np.broadcast_to(A, (*batch, m, n)),
        np.broadcast_to(b, (*batch, m)),
        np.broadcast_to(C, (*batch, n)),
    )


def _numbers(given: ArrayLike, name: str) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("fundamental", [f"{name} must be an array of numbers, got {given!r}"]) from None
