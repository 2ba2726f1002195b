"""Why a constraint is not integrable, as something to look at: Frobenius' condition with its value, which is not zero.

ω = a dx + b dy + c dz:     a·curl a = a(c_y − b_z) + b(a_z − c_x) + c(b_x − a_y)      (28) of Somani 2019, times −1
several forms:              dω_k ∧ ω_1 ∧ … ∧ ω_c, one of its coefficients
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

import numpy as np
import sympy as sp

from dalembert.mechanics.algebra.cofactors import determinant
from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.classify.integrals import Form
from dalembert.mechanics.classify.pfaffian import LARGEST_SET, Integrator
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.standard_form import diff

# So many coefficients are looked at, of forms of at most so many together: a determinant of four has 24 products.
COEFFICIENTS, FORMS = 200, 4


def witness(integrator: Integrator, name: str) -> str | None:
    """What shows that a constraint, linear in the velocities, is not integrable; None where nothing short does.

    Where the condition of this form holds and that of just one other does not, the forms without that other one are the
    derived system, and the question is asked of these again: one of two rolling wheels of a cart is told so.
    """
    forms = integrator.forms
    if name not in forms.names or not integrator.points:
        return None
    if sum(int(sp.count_ops(a)) for row in forms.rows for a in row) > LARGEST_SET:
        return None
    rows, without = _independent(integrator, forms.names.index(name)), False
    while 0 < len(rows) <= FORMS:
        found = _nonzero(integrator, rows)
        if found is not None:
            value, told, only = found
            left = "a·curl a" if only else _wedge(len(rows))
            where = "" if only else f" on {told}"
            return f"{left} = {plain(tidy(value))} ≠ 0{where}" + (", of the derived system" if without else "")
        others = [k for k in range(1, len(rows)) if _nonzero(integrator, [rows[k], *rows[:k], *rows[k + 1 :]])]
        if len(others) != 1:
            return None
        rows, without = [row for k, row in enumerate(rows) if k != others[0]], True
    return None


def _nonzero(integrator: Integrator, rows: list[Form]) -> tuple[sp.Expr, str, bool] | None:
    """A coefficient of dω_1 ∧ ω_1 ∧ … ∧ ω_c that is not zero, the variables it belongs to, and whether it is the only
    one there is, of one form in three variables.
    """
    z = integrator.forms.variables
    # Variables that stand in none of the forms have no coefficient.
    here = [k for k, s in enumerate(z) if any(row[k] != 0 or any(s in a.free_symbols for a in row) for row in rows)]
    for chosen in islice(combinations(here, len(rows) + 2), COEFFICIENTS):
        value = coefficient(rows, z, chosen)
        if value != 0 and not integrator.zero(value):
            return value, ", ".join(z[k].name for k in chosen), len(rows) == 1 and len(here) == 3
    return None


def coefficient(rows: Sequence[Form], z: Sequence[sp.Symbol], chosen: Sequence[int]) -> sp.Expr:
    """The coefficient of dω_1 ∧ ω_1 ∧ … ∧ ω_c on the product of the differentials chosen, in their order."""
    first, terms = rows[0], []
    for i, j in combinations(range(len(chosen)), 2):
        p, q = chosen[i], chosen[j]
        turn = diff(first[q], z[p]) - diff(first[p], z[q])
        if turn == 0:
            continue
        rest = [chosen[k] for k in range(len(chosen)) if k not in (i, j)]
        minor = sp.ImmutableMatrix(len(rows), len(rest), [row[k] for row in rows for k in rest])
        # dz_p ∧ dz_q is moved to the front past those between.
        terms.append((-1) ** (i + j - 1) * turn * determinant(minor))
    return tidy(sp.Add(*terms))


def _independent(integrator: Integrator, k: int) -> list[Form]:
    """The form of a constraint, and of the others those that are independent of it and of each other."""
    rows = integrator.forms.rows
    kept = [rows[k]]
    numbers = integrator.sampler.values([a for row in rows for a in row], integrator.points[:1])
    if not numbers.size:
        return kept
    table = numbers[0].reshape(len(rows), -1)
    basis = [table[k]]
    for j, row in enumerate(rows):
        if j != k and np.linalg.matrix_rank(np.array([*basis, table[j]])) > len(basis):
            basis.append(table[j])
            kept.append(row)
    return kept


def _wedge(count: int) -> str:
    if count == 1:
        return "dω ∧ ω"
    return " ∧ ".join(["dω1", *(f"ω{k + 1}" for k in range(count))])
