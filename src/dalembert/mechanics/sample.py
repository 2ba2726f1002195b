"""Questions about a model settled by numbers: random states that satisfy its constraints, and its motion
there.

A symbolic zero test may never end; a generic point answers at once. All draws are seeded, so the same model
gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp
from mpmath import mp  # type: ignore[import-untyped]
from scipy.linalg import cho_solve

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.numbers import LARGE, Numbers
from dalembert.mechanics.pulses import Pulses
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, Fundamental, solve
from dalembert.mechanics.standard_form import (
    StandardForm,
    diff,
    is_long,
    nonlinear_constraints,
    standard_form,
    time_derivative,
)
from dalembert.model.language.stand_ins import stood_in
from dalembert.model.language.symbols import Reaction, ideal, t
from dalembert.model.system import System

SEED = 20050613
# Newton's method converges quadratically: from a residual this small against its terms the next step ends at
# rounding.
CONVERGED = 1e-9
# A gradient shorter than this share of what it was at the beginning has vanished: at a tip Newton's method halves it
# with each step until the residual is below CONVERGED, to about that; between generic states it changes by a few times.
VANISHED = 1e-6
# From far away Newton's method need not find back to redundant constraints, as those of braced grids of rods: each
# failure halves the distance to the initial state, down to this share. Ranks and brackets still show there.
NEAREST = 1e-3
# A value this small against the terms it is a sum of counts as zero: generic values are of their own size,
# and rounding of a few hundred operations stays far below.
ZERO = 1e-9
# Of numbers with exponents of any size, which say whether what is zero is only too small.
DIGITS = 30


@dataclass(frozen=True)
class Sample:
    """One state: q (n), v (n), t, and the values of the parameters p."""

    q: Array
    v: Array
    t: float
    p: Array

    @cached_property
    def arguments(self) -> Array:
        return np.concatenate([self.q, self.v, [self.t], self.p])


class Sampler:
    """Evaluates a standard form. Parameters have the model's own values; those without one get a random value
    in (0.5, 2). Functions without an expression have stand-ins, see `stand_ins`.
    """

    def __init__(self, given: StandardForm | System) -> None:
        self.system = given if isinstance(given, System) else given.system
        self._form = None if isinstance(given, System) else given
        self.numbers = Numbers(self.system) if len(self.system.coordinates) > LARGE else None
        self.random = np.random.default_rng(SEED)
        drawn = self.random.uniform(0.5, 2.0, len(self.system.parameter_symbols))
        known = self.system.parameters
        self.p = np.array(
            [
                float(known.get(symbol, value))
                for symbol, value in zip(self.system.parameter_symbols, drawn, strict=True)
            ]
        )
        self.arguments = (
            *self.system.coordinates,
            *self.system.velocities,
            t,
            *self.system.parameter_symbols,
        )

    @property
    def form(self) -> StandardForm:
        """In symbols; only what asks for it waits until it is written down."""
        return self._form or standard_form(self.system)

    @property
    def parameters(self) -> dict[sp.Symbol, sp.Expr]:
        """The parameters as the model gives them, exact where they are; random numbers for those without a value."""
        symbols = self.system.parameter_symbols
        return {s: self.system.parameters.get(s, sp.Float(value)) for s, value in zip(symbols, self.p, strict=True)}

    # -- evaluation

    def stood_in(self, expression: sp.Expr) -> sp.Expr:
        """An expression of the model as it is evaluated. Long ones are not looked through where there is no need."""
        return stood_in(expression) if self.system.functions else expression

    def function(self, expressions: Sequence[sp.Expr], extra: Sequence[sp.Symbol] = ()) -> Callable[..., Array]:
        """The expressions as one numeric function of a state (and further numbers); NaN where they have no
        real value.
        """
        numbers = numeric_function([*self.arguments, *extra], expressions, stand_in=stood_in)

        def evaluate(state: Sample, *more: float) -> Array:
            with np.errstate(all="ignore"):
                values = numbers(*state.arguments, *np.asarray(more, dtype=float))
            try:
                return np.array(values, dtype=float)
            except TypeError:  # one of them is complex
                return np.array([value if np.isreal(value) else np.nan for value in values], dtype=float)

        return evaluate

    def values(self, expressions: Sequence[sp.Expr], states: Sequence[Sample]) -> Array:
        """Values (states, expressions); states where one of them is not finite are left out."""
        evaluate = self.function(expressions)
        table = np.array([evaluate(state) for state in states]).reshape(len(states), len(expressions))
        return table[np.all(np.isfinite(table), axis=1)]

    def vanishes(self, expression: sp.Expr, states: Sequence[Sample]) -> bool:
        """Whether an expression is zero at the states. A sum is measured against its terms."""
        # Counting all operations of what has a million parts takes minutes.
        if expression.is_Add and not is_long(expression, 1600) and sp.count_ops(expression) < 400:
            expression = sp.expand(expression, power_exp=False)
        if expression.is_number:
            return abs(complex(expression)) < ZERO
        terms = sp.Add.make_args(expression)
        table = self.values(terms, states)
        if not table.size:
            return False
        if not table.any():
            return not self._is_below_all_numbers(terms, states[0])
        return bool(np.all(np.abs(table.sum(axis=1)) <= ZERO * np.max(np.abs(table), axis=1)))

    def is_faint(self, expression: sp.Expr, states: Sequence[Sample]) -> bool:
        """Whether an expression is zero at the states only because it is smaller than any number there, as a pulse
        e^(−(t/τ)²) is away from its instant.
        """
        terms = sp.Add.make_args(expression)
        table = self.values(terms, states)
        return bool(table.size) and not table.any() and self._is_below_all_numbers(terms, states[0])

    def _is_below_all_numbers(self, terms: Sequence[sp.Expr], state: Sample) -> bool:
        """Whether terms that are zero in floating-point numbers are not, in numbers with exponents of any size."""
        if all(term.is_number for term in terms):
            return False
        evaluate = sp.lambdify(self.arguments, [self.stood_in(term) for term in terms], "mpmath")
        with mp.workdps(DIGITS):
            try:
                values = evaluate(*map(mp.mpf, state.arguments))
                return bool(abs(mp.fsum(values)) > ZERO * max(map(abs, values)))
            except (ArithmeticError, TypeError, ValueError, NameError):
                return False

    # -- states

    def start(self, distance: float = 1.0) -> Sample:
        """A random state, near the initial one where the model gives it; the constraints do not hold yet. distance:
        nearer than usual.
        """
        n = len(self.system.coordinates)
        given = self._initial
        signs = np.where(self.random.random(2 * n) < 0.5, -1.0, 1.0)
        free = signs * self.random.uniform(0.3, 1.5, 2 * n)
        # Perturb by a third of the size, zeros by a third of a unit or of the largest neighbour if that is
        # smaller, unless it is to be nearer.
        size = np.where(np.isnan(given) | (given == 0), np.nan, np.abs(given))
        unit = min(1.0, float(np.nanmax(size[:-1]))) if np.any(np.isfinite(size[:-1])) else 1.0
        near = given[:-1] + distance * free / 3 * np.where(np.isfinite(size[:-1]), size[:-1], unit)
        y = np.where(np.isnan(given[:-1]), free, near)
        time = (0.0 if np.isnan(given[-1]) else given[-1]) + self.random.uniform(0.1, 1.0)
        return Sample(y[:n], y[n:], self._pulses.seen_near(float(time)), self.p)

    @cached_property
    def _pulses(self) -> Pulses:
        system = self.system
        energies = (system.kinetic, system.potential, system.lagrangian)
        every = [*(c.expression for c in system.constraints), *system.forces.values(), *system.sliding_C]
        every += [energy for energy in energies if energy is not None]
        return Pulses(every, dict(zip(system.parameter_symbols, self.p.tolist(), strict=True)))

    def states(self, count: int, *, velocities: bool = True) -> list[Sample]:
        """Up to `count` random states with φ=0 and, unless only positions matter, φ̇=0 and ψ=0. States at which a
        gradient has vanished, as at the tip of the cone x²+y²=z², are not generic: they are given only where there are
        no others, as of u²=0.
        """
        found: list[Sample] = []
        tips: list[Sample] = []
        distance = 1.0
        for _ in range(4 * count):
            state, is_tip = self._lead_onto(self.start(distance), velocities)
            if state is not None:
                (tips if is_tip else found).append(state)
            elif distance > NEAREST:
                distance /= 2
            if len(found) == count or (not found and len(tips) == count):
                break
        return found or tips

    def _lead_onto(self, start: Sample, velocities: bool) -> tuple[Sample | None, bool]:
        """A state on the constraints, and whether a gradient has vanished there. Newton's method leads to such a tip
        where it changes all coordinates alike, as to x=y=0 on xy=0; so it is tried again with random weights.
        """
        found = self._project(start, velocities)
        if found[0] is None and velocities:
            # Velocities that have to be large, as under a pulse, would drag the places along: these first.
            n = start.q.size
            there, is_tip = self._project(start, False)
            if there is not None and not is_tip:
                found = self._project(there, True, np.concatenate([np.zeros(n), np.ones(n)]))
        if not found[1]:
            return found
        other = self._project(start, velocities, self.random.uniform(0.1, 1.0, start.q.size + start.v.size))
        return found if other[0] is None or other[1] else other

    @cached_property
    def _initial(self) -> Array:
        known = dict(zip(self.system.parameter_symbols, self.p, strict=True))
        numbers = []
        for symbol in (*self.system.coordinates, *self.system.velocities, t):
            value = self.system.initial.get(symbol)
            try:
                numbers.append(np.nan if value is None else float(sp.sympify(value).subs(known)))
            except TypeError:
                numbers.append(np.nan)
        return np.array(numbers)

    def _conditions(self, velocities: bool) -> list[sp.Expr]:
        position = [c.expression for c in self.system.constraints if c.level == "position"]
        if not velocities:
            return position
        rates = [time_derivative(expression, self.system.coordinates) for expression in position]
        return [*position, *rates, *(c.expression for c in self.system.constraints if c.level == "velocity")]

    @cached_property
    def _newton(self) -> dict[bool, Callable[[Sample], tuple[Array, Array]] | None]:
        """What is zero on the constraints, and its slopes by q and v; with velocities, and without."""
        return {velocities: self._condition_values(velocities) for velocities in (True, False)}

    def _condition_values(self, velocities: bool) -> Callable[[Sample], tuple[Array, Array]] | None:
        levels = {"position", "velocity"} if velocities else {"position"}
        if not any(c.level in levels for c in self.system.constraints):
            return None
        if self.numbers is not None:
            at = self.numbers.conditions
            return lambda state: at(state, velocities)
        unknowns = (*self.system.coordinates, *self.system.velocities)
        conditions = self._conditions(velocities)
        slopes = [diff(expression, symbol) for expression in conditions for symbol in unknowns]
        evaluate, count = self.function([*conditions, *slopes]), len(conditions)

        def values(state: Sample) -> tuple[Array, Array]:
            numbers = evaluate(state)
            return numbers[:count], numbers[count:].reshape(count, len(unknowns))

        return values

    def _project(self, state: Sample, velocities: bool, shares: Array | float = 1.0) -> tuple[Sample | None, bool]:
        """The state moved onto the constraints by Newton's method with least relative change, weighed by `shares`, or
        None where that fails; and whether the gradient of a constraint has vanished on the way.
        """
        evaluate = self._newton[velocities]
        if evaluate is None:
            return state, False
        n = len(self.system.coordinates)
        y = np.concatenate([state.q, state.v])
        weight = np.concatenate([_sizes(state.q), _sizes(state.v)]) * shares
        last = False
        first: Array | None = None
        for _ in range(40):
            residual, slopes = evaluate(Sample(y[:n], y[n:], state.t, state.p))
            if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(slopes))):
                return None, False
            scaled = slopes * weight
            length = np.linalg.norm(scaled, axis=1)
            first = length if first is None else first
            if last:
                return Sample(y[:n], y[n:], state.t, state.p), bool(np.any(length < VANISHED * first))
            length = np.where(length > 0, length, 1.0)
            # One more step from here takes the state to rounding.
            last = bool(np.all(np.abs(residual) <= CONVERGED * length))
            step = _shortest(scaled / length[:, None], -residual / length)
            long = float(np.max(np.abs(step))) / 2
            whole = y + weight * step
            # A long step leads anywhere, unless the residual says that it leads there.
            if long > 1.0 and not _is_less(evaluate(Sample(whole[:n], whole[n:], state.t, state.p))[0], residual):
                whole = y + weight * step / long
            y = whole
        return None, False

    # -- motion

    @cached_property
    def _work(self) -> Callable[..., Array]:
        """C, of the ideal forces."""
        return self.function(list(self.system.sliding_C), [ideal(q) for q in self.system.coordinates])

    @cached_property
    def _matrices(self) -> Callable[[Sample], tuple[Array, Array, Array, Array]]:
        """M, Q, A and b."""
        n, m = len(self.system.coordinates), len(self.system.constraints)
        if self.numbers is not None:
            inertia, rows = self.numbers.inertia, self.numbers.rows
            return lambda state: (*inertia(state), *rows(state, np.zeros(n)))
        form = self.form
        evaluate = self.function([*form.M, *form.Q, *form.A, *form.b])

        def values(state: Sample) -> tuple[Array, Array, Array, Array]:
            M, Q, A, b = np.split(evaluate(state), np.cumsum([n * n, n, m * n]))
            return M.reshape(n, n), Q, A.reshape(m, n), b

        return values

    @cached_property
    def constraint_rows(self) -> Callable[..., Array]:
        """A of a state and accelerations."""
        n, m = len(self.system.coordinates), len(self.system.constraints)
        if self.numbers is not None:
            rows = self.numbers.rows
            return lambda state, *a: rows(state, np.array(a))[0]
        evaluate = self.function(list(self.form.A), self.system.accelerations)
        return lambda state, *a: evaluate(state, *a).reshape(m, n)

    def motion(self, state: Sample) -> Fundamental | None:
        """The fundamental equation at a state; None where it has no unique, consistent solution there.

        For constraints linear in q̈ and C without `actual(x)`.
        """
        matrices = self._matrices(state)
        if not all(np.all(np.isfinite(matrix)) for matrix in matrices):
            return None
        M, Q, A, b = matrices
        try:
            result = solve(M, Q, A, b, np.zeros(len(Q)))
            C = self._work(state, *result.ideal)
            if np.any(C):
                result = solve(M, Q, A, b, C)
        except (DalembertError, np.linalg.LinAlgError):
            return None
        if not np.all(np.isfinite(C)) or np.any(result.residual > CONSISTENCY_TOLERANCE):
            return None
        return result


def _sizes(y: Array) -> Array:
    """Of each entry, against which a step is small: its own, or of those near zero a thousandth of the largest, at most
    of one. Motions of nanometres would be zero to anything larger.
    """
    largest = float(np.abs(y).max(initial=0.0))
    return np.maximum(np.abs(y), 1e-3 * (min(largest, 1.0) or 1.0))


def _is_less(residual: Array, before: Array) -> bool:
    """Whether a step has removed nearly all that was missed, as one along straight lines does."""
    return bool(np.linalg.norm(residual) <= 1e-3 * np.linalg.norm(before))


def _shortest(rows: Array, right: Array) -> Array:
    """The shortest x with rows x = right, or nearest to it. Rows have length one."""
    if len(rows) > LARGE:
        # A tenth of the time of a decomposition into singular values. Where its smallest pivot says that rows depend on
        # each other to 1e-4, rounding would show in the square of that, and the other way decides.
        try:
            factor = np.linalg.cholesky(rows @ rows.T)
        except np.linalg.LinAlgError:
            factor = np.zeros((1, 1))
        if np.min(np.diag(factor)) > 1e-4:
            return np.asarray(rows.T @ cho_solve((factor, True), right))
    # Redundant constraints leave singular values at rounding; the cut keeps them out of the step.
    return np.asarray(np.linalg.lstsq(rows, right, rcond=1e-10)[0])


def why_undecidable(system: System) -> str | None:
    """Why the fundamental equation alone does not give the motion at a state, or None where it does."""
    nonlinear = nonlinear_constraints(system)
    if nonlinear:
        return f"nonlinear in the accelerations: {', '.join(nonlinear)}"
    reactions = {reaction for entry in system.sliding_C for reaction in entry.atoms(Reaction)}
    actual = sorted(reaction.name for reaction in reactions if reaction.kind != "ideal")
    if actual:
        return f"the work of the constraints depends on their actual force: {', '.join(actual)}"
    return None
