"""Which coordinates are dependent, their displacements and accelerations solved for, and the rules that follow.

    G = ∂g/∂η̇      η̈_d = −(G⁻¹)_dr [∂g_r/∂q̇_i q̈_i + ∂g_r/∂q_j q̇_j + ∂g_r/∂t]      (25)
                   δη_d = −(G⁻¹)_dr ∂g_r/∂q̇_i δq_i                                (27)
                   δη̇_d − (δη_d)˙ = (G⁻¹)_dk g_kj δq_j,  δq̇_i = (δq_i)˙           (33)

and the same with H = ∂h/∂η̈: (45), (47), (52). Flannery 2011. Position constraints count as g = φ̇.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import MissingValues, ModelError
from dalembert.mechanics.algebra.tidy import Budget, tidy, tidy_matrix
from dalembert.mechanics.page.equations import Line
from dalembert.mechanics.principles.shared.variations import (
    displacement,
    displacement_rate,
    higher,
    rate_along_motion,
    right_side,
    slope_of,
    transposed,
)
from dalembert.mechanics.principles.shared.velocity_forms import velocity_form
from dalembert.mechanics.sample import ZERO, Sample, Sampler
from dalembert.mechanics.standard_form import is_long, standard_form, time_derivative
from dalembert.model.language.parse import suggest
from dalembert.model.language.symbols import Coordinate, name_of
from dalembert.model.system import System

# A column adds to those before it where this share of the largest is not a combination of them: so large that what is
# divided by is not nearly zero at the state looked at.
INDEPENDENT = 1e-3
# Random states at which a coefficient that is zero on the constraints shows it.
STATES = 6
# Parts of a coefficient that is looked at: a longer one is shown as it is.
LARGEST = 400


@dataclass(frozen=True)
class Dependent:
    """Constraints of one kind, g or h, with the coordinates `chosen` to depend on the others."""

    system: System
    order: int  # 1 for constraints on positions and velocities, 2 for those on accelerations
    chosen: tuple[int, ...]
    G: sp.Matrix
    budget: Budget

    @property
    def free(self) -> list[int]:
        return [j for j in range(len(self.system.coordinates)) if j not in self.chosen]

    @cached_property
    def inverse(self) -> sp.ImmutableMatrix:
        return tidy_matrix(self.G[:, list(self.chosen)].inv(), self.budget)

    @cached_property
    def determinant(self) -> sp.Expr:
        """What must not be zero."""
        return tidy(self.G[:, list(self.chosen)].det(), self.budget)

    @cached_property
    def coefficients(self) -> sp.ImmutableMatrix:
        """∂η_d/∂q_i of (26)."""
        return tidy_matrix(-self.inverse * self.G[:, self.free], self.budget)

    # -- lines of the page

    def displacements(self) -> list[Line]:
        """(27) and (47)."""
        q = self.system.coordinates
        free = sp.Matrix([displacement(q[j]) for j in self.free])
        right = self.coefficients * free if self.free else sp.zeros(len(self.chosen), 1)
        return [Line(displacement(q[d]), (("", entry),)) for d, entry in zip(self.chosen, right, strict=True)]

    def accelerations(self) -> list[Line]:
        """(25) and (45)."""
        q = self.system.coordinates
        highest = [q[d].dd if self.order == 1 else higher(q[d], 3) for d in self.chosen]
        return [Line(left, (("", right),)) for left, right in zip(highest, self._highest, strict=True)]

    def rules(self, reduce: bool = True) -> list[Line]:
        """(33) and (52); with what is zero on the constraints left out, unless `reduce` is False."""
        q, order = self.system.coordinates, self.order
        right = self.inverse * sp.Matrix([right_side(self.system, c, self.budget) for c in self.system.constraints])
        found = []
        for d, entry in zip(self.chosen, right, strict=True):
            shown = self._reduced(entry) if reduce else self._collected(entry)
            if order == 2 and reduce and shown != 0:
                shown = self._collected(entry)  # by all displacements, as printed
            found.append(Line(transposed(q[d], order), (("", shown),)))
        return [*found, *(Line(transposed(q[j], order), (("", sp.S.Zero),)) for j in self.free)]

    # -- on the constraints

    @cached_property
    def _forms(self) -> list[sp.Expr]:
        constraints = self.system.constraints
        return [c.expression if self.order == 2 else velocity_form(self.system, c) for c in constraints]

    @cached_property
    def _highest(self) -> list[sp.Expr]:
        """The highest derivatives of the dependent coordinates, by (25) or (45)."""
        system = self.system
        symbols = {
            system.coordinates[d].dd if self.order == 1 else higher(system.coordinates[d], 3) for d in self.chosen
        }
        rates = [
            time_derivative(g, system.coordinates) if self.order == 1 else rate_along_motion(system, g)
            for g in self._forms
        ]
        rest = [rate.xreplace(dict.fromkeys(symbols, sp.S.Zero)) for rate in rates]
        return [tidy(entry, self.budget) for entry in -self.inverse * sp.Matrix(rest)]

    @cached_property
    def _lower(self) -> dict[sp.Symbol, sp.Expr]:
        """Dependent velocities (accelerations for h) by the constraints themselves, where those are linear in them."""
        q = [self.system.coordinates[d] for d in self.chosen]
        symbols = [s.d if self.order == 1 else s.dd for s in q]
        if any(not entry.free_symbols.isdisjoint(symbols) for entry in self.G[:, list(self.chosen)]):
            return {}
        rest = sp.Matrix([form.xreplace(dict.fromkeys(symbols, sp.S.Zero)) for form in self._forms])
        return dict(zip(symbols, (tidy(entry, self.budget) for entry in -self.inverse * rest), strict=True))

    @cached_property
    def _swap(self) -> list[dict[sp.Symbol, sp.Expr]]:
        """Substitutions, one after the other: dependent displacements, then derivatives from the highest down."""
        system, q = self.system, self.system.coordinates
        moves: dict[sp.Symbol, sp.Expr] = {}
        for row, d in enumerate(self.chosen):
            parts = [(self.coefficients[row, k], q[j]) for k, j in enumerate(self.free)]
            moves[displacement(q[d])] = sp.Add(*(c * displacement(i) for c, i in parts))
            if self.order == 2:
                rates = ((rate_along_motion(system, c) * displacement(i) + c * displacement_rate(i)) for c, i in parts)
                moves[displacement_rate(q[d])] = sp.Add(*rates)
        if self.order == 1:
            highest = dict(zip((q[d].dd for d in self.chosen), self._highest, strict=True))
            return [moves, highest, self._lower]
        third = dict(zip((higher(q[d], 3) for d in self.chosen), self._highest, strict=True))
        fourth = {higher(q[d], 4): rate_along_motion(system, third[higher(q[d], 3)]) for d in self.chosen}
        return [moves, fourth, third, self._lower]

    def _reduced(self, entry: sp.Expr) -> sp.Expr:
        """By independent displacements only; what is zero on the constraints is left out."""
        for swap in self._swap:
            entry = entry.xreplace(swap)
        return self._collected(entry, vanishing=True)

    def _collected(self, entry: sp.Expr, vanishing: bool = False) -> sp.Expr:
        signs = [sign for q in self.system.coordinates for sign in (displacement(q), displacement_rate(q))]
        terms = []
        for sign in signs:
            slope = sp.diff(entry, sign)  # it is linear in them
            if vanishing:
                slope = self._without_zeros(slope)
            terms.append(tidy(slope, self.budget) * sign)
        return sp.Add(*terms)

    def _without_zeros(self, slope: sp.Expr) -> sp.Expr:
        """A coefficient without what is zero on the constraints: all of it, or its part with one acceleration."""
        if slope == 0 or self._vanishes(slope):
            return sp.S.Zero
        fast = [a for a in self.system.accelerations if a in slope.free_symbols]
        rates = [sp.diff(slope, a) for a in fast]
        if is_long(slope, LARGEST) or any(not rate.free_symbols.isdisjoint(fast) for rate in rates):
            return slope
        kept = [slope.xreplace(dict.fromkeys(fast, sp.S.Zero))]
        kept += [tidy(rate, self.budget) * a for a, rate in zip(fast, rates, strict=True) if not self._vanishes(rate)]
        return sp.Add(*kept)

    @cached_property
    def _states(self) -> tuple[Sampler, list[Sample]]:
        sampler = Sampler(standard_form(self.system))
        return sampler, sampler.states(STATES)

    def _vanishes(self, slope: sp.Expr) -> bool:
        """Whether a coefficient is zero at random states on the constraints, against its terms. Derivatives in it are
        random: those of dependent coordinates have been replaced where they could be.
        """
        if is_long(slope, LARGEST):
            return False
        sampler, states = self._states
        q = self.system.coordinates
        extra = [*self.system.accelerations, *(higher(c, order) for c in q for order in (3, 4))]
        terms = sp.Add.make_args(sp.expand(slope))
        evaluate = sampler.function(terms, extra)
        seen = 0
        for state in states:
            values = evaluate(state, *sampler.random.uniform(0.3, 1.5, len(extra)))
            if not np.all(np.isfinite(values)):
                continue
            seen += 1
            if abs(values.sum()) > ZERO * np.abs(values).max():
                return False
        return seen > 0


def dependent_of(system: System, given: Any, budget: Budget) -> Dependent | str:
    """The dependent coordinates, as given or the first that are regular at the start; or why there are no rules."""
    levels = {c.level for c in system.constraints}
    if "acceleration" in levels and len(levels) > 1:
        reason = "the paper has rules for constraints of one kind, on velocities or on accelerations"
        if given is not None:
            raise ModelError(system.name, [f"dependent: {reason}; here are both, so no choice can be made"])
        return reason
    G = sp.Matrix([slope_of(system, c) for c in system.constraints])
    sampler = Sampler(standard_form(system))
    evaluate = sampler.function(list(G), system.accelerations)
    draw = sampler.random.uniform(0.3, 1.5, len(system.accelerations))

    def numbers(state: Sample) -> Array:
        return evaluate(state, *draw).reshape(G.rows, G.cols)

    # At the start, and where the constraints lose rank there, at a generic state.
    tables = [
        table for table in map(numbers, [*_initial(system, sampler), sampler.start()]) if np.isfinite(table).all()
    ]
    order = 2 if "acceleration" in levels else 1
    if given is not None:
        chosen = _named(system, given, G.rows, tables)
        return Dependent(system, order, chosen, G, budget)
    for table in tables:
        pivots = _pivots(table)
        if len(pivots) == G.rows:
            return Dependent(system, order, tuple(pivots), G, budget)
    return "the constraints depend on each other"


def _initial(system: System, sampler: Sampler) -> list[Sample]:
    try:
        q, v, start = system.initial_values()
    except MissingValues:
        return []
    return [Sample(q, v, start, sampler.p)]


def _pivots(table: Array) -> list[int]:
    """The first columns that are independent of those before them."""
    largest = float(np.linalg.norm(table, axis=0).max(initial=0.0))
    found: list[int] = []
    left = table.copy()
    for k in range(table.shape[1]):
        size = float(np.linalg.norm(left[:, k]))
        if len(found) < table.shape[0] and size > INDEPENDENT * largest:
            found.append(k)
            unit = left[:, k] / size
            left = left - np.outer(unit, unit @ left)
    return found


def _named(system: System, given: Any, count: int, tables: Sequence[Array]) -> tuple[int, ...]:
    items = [given] if isinstance(given, (str, Coordinate)) else list(given) if isinstance(given, Iterable) else [given]
    names = [q.name for q in system.coordinates]
    wanted = [name_of(item) for item in items]
    faults = [f"dependent: {name!r} is not a coordinate.{suggest(name, names)}" for name in wanted if name not in names]
    if not faults and (len(set(wanted)) != count or len(wanted) != count):
        many = f"{count} constraints make {count} coordinates" if count > 1 else "one constraint makes one coordinate"
        faults.append(f"dependent: {many} dependent, got {', '.join(wanted) or 'none'}")
    if faults:
        raise ModelError(system.name, faults)
    chosen = tuple(names.index(name) for name in wanted)
    if not any(np.linalg.matrix_rank(table[:, list(chosen)], rtol=1e-9) == count for table in tables):
        better = next((p for p in map(_pivots, tables) if len(p) == count), None)
        hint = f"; {', '.join(names[k] for k in better)} would do" if better else ": constraints depend on each other"
        raise ModelError(system.name, [f"dependent: the constraints do not determine {', '.join(wanted)}{hint}"])
    return chosen
