"""The principle of Udwadia and Kalaba 1993 in symbols: what constraints make of the free motion.

    q̈ − a = K e,    a = M⁻¹Q,    e = b − A a,    K = M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ = M^(−1/2)(A M^(−1/2))⁺             (17)–(19)

and K (e − A c) + c, c = M⁻¹C, with work of constraints. Redundant rows of A are left out, and their columns of K are
zero: that is M^(−1/2) times a {1,4}-inverse of B in place of the Moore-Penrose one, and K e is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, tidy_matrix
from dalembert.mechanics.page.equations import Line, Section
from dalembert.mechanics.standard_form import StandardForm
from dalembert.model.system import System

# Operations of one entry, and of all that a page shows of a, e and K. The papers' examples have fewer than 60 in all.
LARGEST_ENTRY = 150
LARGEST_PAGE = 400


@dataclass(frozen=True)
class Gain:
    """`unconstrained` a: n×1, `e`: m×1, `K`: n×m, and M⁻¹; None where they have no closed form, for a `reason`."""

    inverse: Matrix | None = None
    unconstrained: Matrix | None = None
    e: Matrix | None = None
    K: Matrix | None = None
    reason: str = ""

    def given_by(self, force: Matrix, budget: Budget) -> Matrix | None:
        """M⁻¹ force, the acceleration that a force gives to the free system."""
        return None if self.inverse is None else tidy_matrix(self.inverse * force, budget)


def gain_of(form: StandardForm, kept: Sequence[int], budget: Budget) -> Gain:
    """a, e and K of a standard form with regular M; `kept` are its independent rows."""
    m, n = form.A.shape
    try:
        inverse = tidy_matrix(inverse_of(form.M, budget), budget)
    except TooLarge as limit:
        return Gain(reason=f"a, e and K are not written out: {limit}")
    a = tidy_matrix(inverse * form.Q, budget)
    if _longest(a) > LARGEST_ENTRY:
        return Gain(reason=f"a, e and K are not written out: an entry of a has {_longest(a)} operations")
    e = tidy_matrix(form.b - form.A * a, budget)
    A = form.A.extract(list(kept), list(range(n)))
    try:
        schur = inverse_of(tidy_matrix(A * inverse * A.T, budget), budget)
    except TooLarge as limit:
        return Gain(inverse, a, e, reason=f"K is not written out: {limit}")
    part = tidy_matrix(inverse * A.T * schur, budget)
    if _longest(part) > LARGEST_ENTRY:
        return Gain(inverse, a, e, reason=f"K is not written out: an entry has {_longest(part)} operations")
    K = sp.zeros(n, m)
    for column, k in enumerate(kept):
        K[:, k] = part[:, column]
    return Gain(inverse, a, e, Matrix(K))


def gain_page(
    system: System, kept: Sequence[int], gain: Gain, C: Matrix, c: Matrix | None
) -> tuple[list[Section], str]:
    """a, e and K on a page, and why what is missing is missing. c: M⁻¹C, None where C holds reactions."""
    if gain.unconstrained is None or gain.e is None:
        return [], gain.reason
    names = [q.name for q in system.coordinates]
    lines = [_line(f"a_{name}", entry) for name, entry in zip(names, gain.unconstrained, strict=True)]
    if any(C) and c is not None:
        lines += [_line(f"c_{name}", entry) for name, entry in zip(names, c, strict=True)]
    lines += [_line(f"e_{k + 1}", gain.e[k], system.constraints[k].name) for k in kept]
    title = "unconstrained a, extent e"  # to which a misses the constraints
    if gain.K is not None:
        law = "q'' - a = K (e - A c) + c" if any(C) else "q'' - a = K e"
        title += f", gain K: {law}"
        entries = [(j, k) for k in kept for j in range(len(names)) if gain.K[j, k] != 0]
        lines += [_line(f"K_{names[j]}_{k + 1}", gain.K[j, k]) for j, k in entries]
    size = sum(int(sp.count_ops(term)) for line in lines for _, term in line.terms)
    if size > LARGEST_PAGE:
        return [], f"a, e and K have {size} operations and are not shown; the equations hold them by these names"
    return [Section(title, tuple(lines))], gain.reason


def _line(name: str, value: sp.Expr, label: str = "") -> Line:
    return Line(sp.Symbol(name, real=True), (("", value),), label)


def _longest(matrix: Matrix) -> int:
    return max((int(sp.count_ops(entry)) for entry in matrix), default=0)
