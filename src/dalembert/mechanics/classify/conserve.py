"""What stays constant along every motion: energy, momenta and their combinations, angular momenta.

A symmetry of L promises nothing once constraints and nonideal forces act, so nothing is inferred from
symmetry: dF/dt is computed for each candidate F with the constrained acceleration (26) at random states that
satisfy the constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.tidy import Budget, tidy
from dalembert.mechanics.classify.integrals import is_exact, potential_of
from dalembert.mechanics.classify.on_all_sides import kept_on_all_sides
from dalembert.mechanics.classify.sums import combinations_of, simple_number, sum_name
from dalembert.mechanics.classify.terms import NOISE, RATE, RateTerms, has_lagrange_equations
from dalembert.mechanics.page.decimals import as_read
from dalembert.mechanics.page.printing import escaped, plain
from dalembert.mechanics.page.printing import latex as typeset
from dalembert.mechanics.sample import ZERO, Sample, Sampler, why_undecidable
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.mechanics.standard_form import diff, lagrangian, quadratic
from dalembert.model.language.contents import contents
from dalembert.model.language.functions import given_back
from dalembert.model.language.symbols import t
from dalembert.model.system import System
from dalembert.results import Page, Result

STATES = 12
# The search for moments takes all pairs of coordinates; beyond this many it costs more than it finds.
LARGEST = 8
# Sums of momenta need as many states as there are coordinates.
MOST_SUMMED = 64


@dataclass(frozen=True)
class Conserved(Page):
    """A quantity that is constant along every motion. `fixed`: its value is set by the constraints."""

    name: str
    expression: sp.Expr
    fixed: bool = False

    def text(self) -> str:
        note = " (fixed by the constraints)" if self.fixed else ""
        return f"{self.name}: {plain(as_read(self.expression))}{note}"

    def rows(self) -> str:
        note = r" && \text{fixed by the constraints}" if self.fixed else ""
        return rf"\text{{{escaped(self.name)}}} &= {typeset(as_read(self.expression))}{note}"

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "expression": plain(as_read(self.expression)), "fixed_by_constraints": self.fixed}


@dataclass(frozen=True)
class Conservation(Result):
    """`quantities` found; `energy` says whether the energy is constant (None: not decided, and `reason` says
    why). `unsought`: what was not looked for, as there is too much of it.
    """

    quantities: tuple[Conserved, ...]
    energy: bool | None
    reason: str = ""
    unsought: str = ""

    def text(self) -> str:
        lines = [quantity.text() for quantity in self.quantities] or ["nothing found that is conserved"]
        lines += [f"energy: {self.reason}"] if self.energy is None and self.reason else []
        return "\n".join([*lines, *([f"not looked for: {self.unsought}"] if self.unsought else [])])

    def to_dict(self) -> dict[str, Any]:
        return {"conserved": [q.to_dict() for q in self.quantities], "energy_conserved": self.energy}


def conserved_quantities(system: System, sampler: Sampler | None = None) -> Conservation:
    """The conserved quantities of a system at the parameter values it is given (random ones where it is not).

    Candidates: the energy function h = q̇·∂L/∂q̇ − L and T + V, the kinetic energy, the momenta p = ∂L/∂q̇,
    the moments q_i p_j − q_j p_i, and sums of these with simple constant coefficients.
    """
    reason = why_undecidable(system)
    if reason is not None:
        return Conservation((), None, reason)
    search = Search(sampler or Sampler(system))
    if len(search.states) < 8:
        return Conservation((), None, f"only {len(search.states)} of 8 states that satisfy the constraints were found")
    if faint := _faint(system, search.sampler, [state for state, _ in search.states]):
        return Conservation((), None, f"too small to be seen at the times looked at: {', '.join(faint)}")
    found: list[Conserved] = []
    verdicts: dict[str, bool] = {}
    for name, expression, rate in search.energies():
        verdicts[name] = rate.zero
        found += rate.as_conserved(name, expression)
    found += search.momenta(system)
    kept = kept_on_all_sides(system, tuple(found), Search)
    lost = {quantity.name for quantity in found} - {quantity.name for quantity in kept}
    energy = verdicts.get("energy", verdicts.get("energy function"))
    if lost & {"energy", "energy function"}:
        energy = False
    given = tuple(replace(quantity, expression=given_back(quantity.expression)) for quantity in kept)
    return Conservation(given, energy, unsought=_unsought(len(system.coordinates)))


def _faint(system: System, sampler: Sampler, states: Sequence[Sample]) -> list[str]:
    """What depends on time, but at none of the states so that numbers show it: short pulses."""
    parts = [(repr(c.name), c.expression) for c in system.constraints]
    parts += [(f"the force on {q.name}", force) for q, force in system.forces.items()]
    if system.potential is not None:
        parts.append(("the potential", system.potential))
    if system.lagrangian is not None:
        parts.append(("the Lagrangian", system.lagrangian))
    timed = [(name, diff(e, t)) for name, e in parts if t in contents(e).symbols]
    return [name for name, slope in timed if sampler.is_faint(slope, states)]


def _unsought(coordinates: int) -> str:
    """What is not looked for in a system of so many coordinates."""
    if coordinates <= LARGEST:
        return ""
    moments = f"moments q_i p_j - q_j p_i, of more than {LARGEST} coordinates"
    return moments if coordinates <= MOST_SUMMED else f"{moments}, and sums of momenta, of more than {MOST_SUMMED}"


def _energies(system: System, sampler: Sampler, states: list[Sample]) -> Iterator[tuple[str, sp.Expr, sp.Expr | None]]:
    """The energies of a system, each named and given once. Impressed forces that have a potential count with
    it. Those that are h = q̇·∂L/∂q̇ − L of these potentials come with that of the forces, others with None.
    """
    L = lagrangian(system)

    def h() -> sp.Expr:
        return tidy(sp.Add(*(v * diff(L, v) for v in system.velocities)) - L, Budget(800))

    if system.lagrangian is not None:
        yield "energy function", h(), sp.S.Zero
        return
    given = system.potential if system.potential is not None else sp.S.Zero
    U = _potential_of_forces(system, sampler, states)
    V = given + U
    T = system.kinetic if system.kinetic is not None else quadratic(system.mass, system.velocities) / 2
    homogeneous = _is_homogeneous(T, system, sampler, states)
    yield "energy", T + V, U if homogeneous else None
    if not homogeneous:
        yield "energy function", h(), sp.S.Zero
    if not V.is_number and not sampler.vanishes(V, states):
        yield "kinetic energy", T, None


def _is_homogeneous(T: sp.Expr, system: System, sampler: Sampler, states: list[Sample]) -> bool:
    """Whether q̇·∂L/∂q̇ = 2T at the states: the energy function h = q̇·∂L/∂q̇ − T + V is the energy there."""
    if sampler.numbers is None:
        momenta = (v * diff(lagrangian(system), v) for v in system.velocities)
        return sampler.vanishes(sp.Add(*momenta) - 2 * T, states)
    twice = sampler.numbers.sum_of(2 * T)
    found = [(state.v * sampler.numbers.momenta(state)[0], twice(state)[0]) for state in states]
    return all(abs(powers.sum() - value) <= ZERO * np.abs(powers).max(initial=0.0) for powers, value in found)


def _potential_of_forces(system: System, sampler: Sampler, states: list[Sample]) -> sp.Expr:
    """U with forces = −∂U/∂q, where the given forces depend on positions only and have one; otherwise 0."""
    forces = tuple(-system.forces.get(q, sp.S.Zero) for q in system.coordinates)
    if not any(forces) or any(t in f.free_symbols or not f.free_symbols.isdisjoint(system.velocities) for f in forces):
        return sp.S.Zero

    def zero(expression: sp.Expr) -> bool:
        return sampler.vanishes(expression, states)

    if not is_exact(forces, system.coordinates, zero):
        return sp.S.Zero
    U = potential_of(forces, system.coordinates, zero)
    return sp.S.Zero if U is None else U


@dataclass(frozen=True)
class _Rate:
    """dF/dt (states), the size of its terms, F, and the size F could have at such states."""

    rate: Array
    size: Array
    value: Array
    reach: Array

    @property
    def zero(self) -> bool:
        return bool(self.rate.size and np.all(np.abs(self.rate) <= RATE * self.size))

    def as_conserved(self, name: str, expression: sp.Expr) -> list[Conserved]:
        """The quantity, if it is one: constant, and not merely zero."""
        # The states satisfy the constraints to 1e-12; what the constraints make zero is zero to that.
        if not self.zero or np.all(np.abs(self.value) <= 1e-9 * self.reach):
            return []
        # The states are independent draws, so the same value at all of them is no accident.
        return [Conserved(name, expression, fixed=bool(np.ptp(self.value) <= 1e-9 * np.max(self.reach)))]


class Search:
    """Rates of quantities at random states of a system."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self.system = sampler.system
        n = len(self.system.coordinates)
        count = STATES + n + n * (n - 1) // 2 if n <= LARGEST else STATES + (n if n <= MOST_SUMMED else 0)
        pairs = [(state, sampler.motion(state)) for state in sampler.states(count)]
        self.states: list[tuple[Sample, Fundamental]] = [(s, m) for s, m in pairs if m is not None]
        self.sizes = [_acceleration_size(motion) for _, motion in self.states]

    def measure(self, expression: sp.Expr) -> _Rate:
        return self.measure_all([expression])[0]

    def energies(self) -> Iterator[tuple[str, sp.Expr, _Rate]]:
        """The energies of the system by name, and their rates."""
        states = [state for state, _ in self.states]
        for name, expression, potential in list(_energies(self.system, self.sampler, states)):
            yield name, expression, self.energy_rate(expression, potential)

    def energy_rate(self, expression: sp.Expr, potential: sp.Expr | None) -> _Rate:
        """Of an energy that is h, with the potential of the forces counted in it, by the powers that change it; of
        others (None) by its slopes.
        """
        found = self.measure(expression)
        if potential is None or not has_lagrange_equations(self.system):
            return found
        rate, size = RateTerms(self.sampler, self.states, potential).energy_function()
        return replace(found, rate=rate, size=size)

    def measure_all(self, expressions: Sequence[sp.Expr]) -> list[_Rate]:
        """dF/dt = ∂F/∂q q̇ + ∂F/∂q̇ q̈ + ∂F/∂t for each F, at every state where all are finite."""
        if self.sampler.numbers is not None:
            sums = [self.sampler.numbers.sum_of(expression) for expression in expressions]

            def slopes_at(state: Sample) -> tuple[Array, Array]:
                found = [quantity(state) for quantity in sums]
                return np.array([value for value, _ in found]), np.array([slope for _, slope in found])

            return self._rates(slopes_at, len(expressions))
        symbols = (*self.system.coordinates, *self.system.velocities, t)
        table = [entry for e in expressions for entry in (e, *(diff(e, symbol) for symbol in symbols))]
        evaluate = self.sampler.function(table)

        def entries_at(state: Sample) -> tuple[Array, Array]:
            numbers = evaluate(state).reshape(len(expressions), len(symbols) + 1)
            return numbers[:, 0], numbers[:, 1:]

        return self._rates(entries_at, len(expressions))

    def _rates(self, slopes_at: Callable[[Sample], tuple[Array, Array]], count: int) -> list[_Rate]:
        """Of `count` quantities, given by their values and slopes at a state."""
        n = len(self.system.coordinates)
        rates, sizes, values, reaches = [], [], [], []
        for (state, motion), a_size in zip(self.states, self.sizes, strict=True):
            F, slope = slopes_at(state)
            if not (np.all(np.isfinite(F)) and np.all(np.isfinite(slope))):
                continue
            along = np.concatenate([state.v, motion.acceleration, [1.0]])
            weight = np.concatenate([np.abs(state.v), a_size, [1.0]])
            # Noise: components that are zero carry the rounding of those that are not, in proportion to their
            # gradients.
            noise = NOISE / RATE * np.abs(slope[:, n : 2 * n]).max(axis=1) * np.max(a_size, initial=0.0)
            rates.append(slope @ along)
            sizes.append(np.abs(slope) @ weight + noise)
            values.append(F)
            widest = np.concatenate([np.full(n, np.abs(state.q).max()), np.full(n, np.abs(state.v).max()), [0.0]])
            reaches.append(np.abs(slope) @ widest)
        tables = [np.array(rows).reshape(-1, count) for rows in (rates, sizes, values, reaches)]
        return [_Rate(*(table[:, k] for table in tables)) for k in range(count)]

    def momenta(self, system: System) -> list[Conserved]:
        """Momenta, moments and combinations of them that are constant, each once."""
        L = lagrangian(system)
        budget = Budget(2000)
        q, linear = system.coordinates, len(system.coordinates)
        names = [f"p_{c.name}" for c in q]
        pairs = list(combinations(range(len(q)), 2)) if len(q) <= LARGEST else []
        for i, j in pairs:
            names.append(f"{q[i].name} p_{q[j].name} - {q[j].name} p_{q[i].name}")

        @cache
        def p(k: int) -> sp.Expr:
            return diff(L, q[k].d)

        def shown(k: int) -> sp.Expr:
            """Momenta are put in order only where they are to be read."""
            if k < linear:
                return tidy(p(k), budget)
            i, j = pairs[k - linear]
            return q[i] * tidy(p(j), budget) - q[j] * tidy(p(i), budget)

        if self.sampler.numbers is not None:
            rates = self._rates(self.sampler.numbers.momenta, linear)
        else:
            moments = (q[i] * p(j) - q[j] * p(i) for i, j in pairs)
            rates = self.measure_all([*map(p, range(linear)), *moments])
        terms = RateTerms(self.sampler, self.states, sp.S.Zero) if has_lagrange_equations(system) else None
        if terms is not None:
            changes, sizes = terms.momenta()
            if len(changes) == len(rates[0].rate):
                by_terms = (replace(old, rate=r, size=s) for old, r, s in zip(rates, changes.T, sizes.T, strict=False))
                rates = [*by_terms, *rates[linear:]]
        found: list[Conserved] = []
        known: list[Array] = []

        def uniform(k: int) -> bool:
            # Uniform motion keeps every moment of two constant momenta; to list them all says nothing more.
            return k >= linear and all(rates[j].zero for j in pairs[k - linear])

        for k, rate in enumerate(rates):
            if rate.zero:
                known.append(np.eye(len(names))[k])
                found += [] if uniform(k) else rate.as_conserved(names[k], shown(k))
        # First sums of momenta alone, the simplest to read, then sums with moments.
        for count in (linear, len(names)) if len(q) <= LARGEST else (linear,) if len(q) <= MOST_SUMMED else ():
            table, scale = _table(rates[:count])
            changing = [k for k, rate in enumerate(rates[:count]) if not rate.zero and np.any(rate.rate != 0)]
            if len(q) > LARGEST:
                # Of many coordinates on few freedoms, many sums are constant that say nothing of forces.
                table, scale = terms.acting() if terms is not None else (table[:0], scale)
                changing = list(range(linear))
            for coefficients in combinations_of(table[:, changing], scale[changing], changing, len(names), known):
                known.append(coefficients)
                parts = [(sp.Rational(simple_number(c)), k) for k, c in enumerate(coefficients) if c]
                if all(uniform(k) for _, k in parts):
                    continue
                total = tidy(sp.Add(*(c * shown(k) for c, k in parts)), budget)
                rate = self.measure(total)
                if terms is not None and all(k < linear for _, k in parts):
                    shares = [sp.Rational(simple_number(c)) for c in coefficients[:linear]]
                    change, size = terms.sum_of_momenta(np.array(shares, dtype=float), shares)
                    rate = replace(rate, rate=change, size=size)
                found += rate.as_conserved(sum_name([(c, names[k]) for c, k in parts]), total)
        return found


def _acceleration_size(motion: Fundamental) -> Array:
    """The size of the terms of each acceleration: |M⁻¹| (|Q| + |Q_i| + |Q_ni|), or |q̈| where M has no
    inverse.
    """
    forces = np.abs(motion.Q) + np.abs(motion.ideal) + np.abs(motion.nonideal)
    if np.any(np.isnan(motion.unconstrained)):
        return np.abs(motion.acceleration)
    return np.abs(np.linalg.inv(motion.M)) @ forces


def _table(rates: Sequence[_Rate]) -> tuple[Array, Array]:
    """Rates at all states, a column each, in units of their terms."""
    scale = np.array([max(float(np.max(rate.size)), 1e-300) for rate in rates])
    return np.stack([rate.rate for rate in rates], axis=1) / scale, scale
