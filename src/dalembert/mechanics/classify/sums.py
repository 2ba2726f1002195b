"""Sums of quantities, with simple numbers, on which nothing acts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.classify.terms import RATE

DENOMINATOR = 60


def combinations_of(R: Array, scale: Array, columns: Sequence[int], length: int, known: Sequence[Array]) -> list[Array]:
    """Vectors c of coefficients with Σ c_k R_k = 0 for the columns of a table, in units of `scale`, which stand at
    these places of c; simple numbers, not spanned by `known`.
    """
    if len(columns) < 2 or R.shape[0] < len(columns):
        return []
    _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
    # Columns are scaled to order one, so true relations show singular values at rounding.
    null = Vt[int(np.sum(sigma > RATE)) :]
    if not null.size:
        return []
    basis = _echelon(null / scale)
    found: list[Array] = []
    for row in basis:
        simple = np.array([float(simple_number(c)) for c in row])
        if np.max(np.abs(simple - row)) > 1e-7 * np.max(np.abs(row)):
            continue  # the coefficients hold the values of parameters: no simple numbers
        vector = np.zeros(length)
        vector[list(columns)] = simple
        together = np.array([*known, *found, vector])
        if np.linalg.matrix_rank(together) == len(together):
            found.append(vector)
    return found


def simple_number(number: float) -> Fraction:
    return Fraction(float(number)).limit_denominator(DENOMINATOR)


def _echelon(rows: Array) -> Array:
    """Reduced row echelon form of independent rows."""
    rows = rows.copy()
    lead = 0
    for column in range(rows.shape[1]):
        if lead == rows.shape[0]:
            break
        pivot = lead + int(np.argmax(np.abs(rows[lead:, column])))
        if abs(rows[pivot, column]) <= 1e-9 * float(np.max(np.abs(rows[lead:]))):
            continue
        rows[[lead, pivot]] = rows[[pivot, lead]]
        rows[lead] /= rows[lead, column]
        for k in range(rows.shape[0]):
            if k != lead:
                rows[k] -= rows[k, column] * rows[lead]
        lead += 1
    rows[np.abs(rows) < 1e-9] = 0.0
    return rows


def sum_name(parts: Sequence[tuple[sp.Rational, str]]) -> str:
    text = ""
    for coefficient, name in parts:
        sign = (" - " if text else "-") if coefficient < 0 else (" + " if text else "")
        size = "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
        text += f"{sign}{size}" + (f"({name})" if " " in name else name)
    return text
