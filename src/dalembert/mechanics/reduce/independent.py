"""Independent coordinates: position constraints solved, so that they can be left out.

    q = F(w, t)      q̇ = J ẇ + ∂F/∂t      J = ∂F/∂w

A constraint is solved for a coordinate that it holds linearly, with a coefficient that is zero nowhere; a line in the
plane of two coordinates that may turn (both coefficients may be zero, but never together) by the distance along it; a
circle or an ellipse there, around wherever the others put it, by an angle. All are good wherever the motion goes, which
a square root would not be. Velocity constraints with an integral f(q, t) = c count as position
constraints, with a constant c: a holonomic constraint is one "reducible" to f(q, t) = 0 (Somani 2019, section 6).
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.errors import InconsistentConstraints
from dalembert.mechanics.algebra.bounds import keeps_sign
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.classify.pfaffian import Integrator
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.sample import ZERO, Sampler
from dalembert.mechanics.standard_form import diff, is_long, standard_form, time_derivative
from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.language.symbols import Coordinate, Parameter, Reaction, t
from dalembert.model.system import System

# Parts of a constraint up to which it is put in order before it is solved.
LONG = 25


@dataclass(frozen=True)
class Chosen:
    """A new coordinate, an angle on a circle or a distance along a line, and what it is in the old ones."""

    coordinate: Coordinate
    value: sp.Expr


@dataclass(frozen=True)
class Embedding:
    """`coordinates` w that are left; `places`: those eliminated, by expressions in w and t; `constants` of integration
    with the functions of which they are the values; `solved`: what was done with each constraint, by name; `left`: what
    could not be done.
    """

    coordinates: tuple[Coordinate, ...]
    places: Mapping[Coordinate, sp.Expr]
    constants: Mapping[Parameter, sp.Expr]
    chosen: tuple[Chosen, ...]
    solved: Mapping[str, str]
    left: tuple[str, ...]

    @cached_property
    def swap(self) -> dict[sp.Symbol, sp.Expr]:
        """What to put in for the coordinates eliminated, their velocities and their accelerations."""
        found: dict[sp.Symbol, sp.Expr] = {}
        for q, place in self.places.items():
            rate = time_derivative(place, self.coordinates)
            found |= {q: place, q.d: rate, q.dd: time_derivative(rate, self.coordinates)}
        return found

    def into(self, expression: sp.Expr, budget: Budget) -> sp.Expr:
        """An expression of the whole system in the coordinates that are left."""
        if expression.free_symbols.isdisjoint(self.swap):
            return expression
        return tidy(exact(expression).xreplace(self.swap), budget)


def embedding(system: System, keep: Collection[str], budget: Budget) -> Embedding:
    """Solve as many constraints as can be. keep: coordinates that are to stay."""
    held = _reactions(system)
    search = _Search(system, keep, budget)
    left: list[str] = []
    pending = {}
    for name, expression, why in _positions(system):
        if why or held is None or name in held:
            left.append(f"{name!r} stays: {why or 'a force depends on its reaction'}")
        else:
            pending[name] = expression
    search.solve(pending)
    left += [f"{name!r} stays: {search.why_not(expression)}" for name, expression in pending.items()]
    return replace(search.embedding(), left=tuple(left))


def _reactions(system: System) -> set[str] | None:
    """Constraints whose multipliers a law or an event asks for; None where it asks for a force of all of them."""
    asked = [e for law in system.works for e in law.expressions()] + [event.expression for event in system.events]
    reactions = {atom for expression in asked for atom in expression.atoms(Reaction)}
    if any(reaction.kind != "multiplier" for reaction in reactions):
        return None
    return {reaction.coordinate for reaction in reactions}


def _positions(system: System) -> Iterator[tuple[str, sp.Expr, str]]:
    """Name, φ and why it cannot be solved, of each constraint that is none on velocities or accelerations at heart."""
    moving = [c for c in system.constraints if c.level == "velocity" and is_linear([c.expression], system.velocities)]
    integrals = {}
    if moving:
        found = Integrator(Sampler(standard_form(system))).integrability()
        integrals = {part.constraint: part.expression for part in found.integrals if part.constraint is not None}
    for constraint in system.constraints:
        if constraint.level == "position":
            yield constraint.name, constraint.expression, ""
        elif constraint.name in integrals:
            constant = Parameter.named(_fresh(system, f"c_{_word(constraint.name)}"))
            yield constraint.name, exact(integrals[constraint.name]) - constant, ""
        else:
            yield constraint.name, constraint.expression, _no_position(system, constraint)


def _no_position(system: System, constraint: Constraint) -> str:
    """Why a constraint is none on positions."""
    if constraint.level == "acceleration":
        return "it is a constraint on accelerations"
    if not is_linear([constraint.expression], system.velocities):
        return "it is not linear in the velocities"
    refuted = Integrator(Sampler(standard_form(system))).verdict().member.get(constraint.name) is False
    return "it is not integrable" if refuted else "no integral of it was found"


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_") or "x"


def _fresh(system: System, name: str, also: Collection[str] = ()) -> str:
    """A name that the model does not have yet."""
    taken = {s.name for s in (*system.coordinates, *system.parameter_symbols)} | {"t", *system.outputs, *also}
    while name in taken:
        name += "_"
    return name


Curve = tuple[str, dict[Coordinate, sp.Expr], Chosen]


class _Search:
    def __init__(self, system: System, keep: Collection[str], budget: Budget) -> None:
        self.system, self.keep, self.budget = system, set(keep), budget
        self.start = sp.sympify(system.initial.get(t, sp.S.Zero))
        self.coordinates = list(system.coordinates)
        self.places: dict[Coordinate, sp.Expr] = {}
        self.constants: dict[Parameter, sp.Expr] = {}
        self.chosen: list[Chosen] = []
        self.solved: dict[str, str] = {}

    def embedding(self) -> Embedding:
        # A coordinate that was chosen may have been eliminated in turn.
        places = {q: place for q, place in self.places.items() if q in self.system.coordinates}
        return Embedding(tuple(self.coordinates), places, self.constants, tuple(self.chosen), self.solved, left=())

    def solve(self, pending: dict[str, sp.Expr]) -> None:
        """Solve constraints one after the other, the simplest first; what is left in `pending` could not be."""
        given = dict(pending)
        while pending:
            for name in list(pending):
                pending[name] = self._now(pending[name])
                if self._follows(name, pending[name]):
                    self._done(name, given[name], "follows from the others")
                    del pending[name]
            step = min(self._linear(pending), key=lambda found: found[0], default=None)
            if step is not None:
                _, name, q, solution = step
                self._put({q: solution})
                self._done(name, given[name], f"gives {q.name}")
            elif (curve := next(self._curves(pending), None)) is not None:
                name, places, new = curve
                self.coordinates.insert(min(self.coordinates.index(q) for q in places), new.coordinate)
                self._put(places)
                self.chosen.append(new)
                self._done(name, given[name], f"gives {' and '.join(q.name for q in places)} by {new.coordinate.name}")
            else:
                return
            del pending[name]

    def why_not(self, expression: sp.Expr) -> str:
        inside = [q.name for q in self.coordinates if q in expression.free_symbols]
        if not inside:
            return "nothing is left in it that could be chosen"
        if len(self.coordinates) == 1:
            return "it holds the last coordinate"
        if set(inside) <= self.keep:
            return f"{', '.join(inside)} are to be kept"
        return f"it cannot be solved for {' or '.join(inside)} everywhere"

    def _now(self, expression: sp.Expr) -> sp.Expr:
        found = exact(expression).xreplace(self.places)
        # What is long is multiplied out by `tidy`, which takes seconds and only hides the squares of a circle.
        return found if is_long(found, LONG) else tidy(found, self.budget)

    def _follows(self, name: str, expression: sp.Expr) -> bool:
        """Whether nothing is left of a constraint. It has no choice where it has no coordinate."""
        if expression == 0:
            return True
        if expression.atoms(AppliedUndef):
            return False  # without its expression it has no values
        known = expression.xreplace(dict(self.system.parameters))
        variables = sorted(known.free_symbols, key=str)
        # Values at random places, to be measured against the terms they are sums of.
        draw = random.Random(7)
        terms = numeric_function(variables, sp.Add.make_args(known))
        rows = [terms(*(draw.uniform(0.3, 1.5) for _ in variables)) for _ in range(4)]
        small = [abs(sum(row)) <= ZERO * max(map(abs, row)) for row in rows if np.isfinite(row).all()]
        if small and all(small):
            return True
        if expression.free_symbols.isdisjoint(self.coordinates) and t not in expression.free_symbols:
            raise InconsistentConstraints(
                f"{self.system.name}: with the other constraints {name!r} says that {plain(expression)} = 0. Remove "
                "one of them, or correct the parameters."
            )
        return False

    def _done(self, name: str, given: sp.Expr, how: str) -> None:
        self.solved[name] = how
        for symbol in given.free_symbols:
            if isinstance(symbol, Parameter) and symbol not in self.system.parameter_symbols:
                self.constants[symbol] = given + symbol  # given is f − c

    def _put(self, places: Mapping[Coordinate, sp.Expr]) -> None:
        for q in places:
            self.coordinates.remove(q)
        changed = {q: tidy(place.xreplace(dict(places)), self.budget) for q, place in self.places.items()}
        self.places = changed | dict(places)

    def _free(self, expression: sp.Expr) -> list[Coordinate]:
        """Coordinates in an expression that may be eliminated; one must be left in the end."""
        if len(self.coordinates) == 1:
            return []
        return [q for q in self.coordinates if q in expression.free_symbols and q.name not in self.keep]

    def _linear(self, pending: Mapping[str, sp.Expr]) -> Iterator[tuple[tuple[int, ...], str, Coordinate, sp.Expr]]:
        """(cost, constraint, coordinate, its expression). Division by a parameter is avoided: it may become zero."""
        for name, expression in pending.items():
            for q in self._free(expression):
                slope = self._without(diff(expression, q), q)
                if slope is None or not keeps_sign(slope, self.system.parameters):
                    continue
                solution = tidy(-expression.xreplace({q: sp.S.Zero}) / slope, self.budget)
                if q not in solution.free_symbols and not solution.has(sp.nan, sp.zoo, sp.oo):
                    cost = int(not slope.is_number), int(sp.count_ops(solution)), self.coordinates.index(q)
                    yield cost, name, q, solution

    def _without(self, expression: sp.Expr, *coordinates: Coordinate) -> sp.Expr | None:
        """An expression in order, or None where it depends on these coordinates, which mostly shows at once."""
        if any(q in expression.free_symbols and self._depends(expression, q) for q in coordinates):
            return None
        found = tidy(expression, self.budget)
        return found if found.free_symbols.isdisjoint(coordinates) else None

    def _depends(self, expression: sp.Expr, q: Coordinate) -> bool:
        """Whether an expression changes with a coordinate, at a random place; True proves it, up to rounding."""
        rate = diff(expression, q).xreplace(dict(self.system.parameters))
        variables = sorted(rate.free_symbols, key=str)
        if rate.atoms(AppliedUndef):
            return False
        draw = random.Random(11)
        terms = numeric_function(variables, sp.Add.make_args(rate))(*(draw.uniform(0.3, 1.5) for _ in variables))
        return bool(np.isfinite(terms).all() and abs(sum(terms)) > 1e-6 * max(map(abs, terms)))

    def _curves(self, pending: Mapping[str, sp.Expr]) -> Iterator[Curve]:
        """Lines and circles in the plane of two coordinates: lines first, they are the simpler ones."""
        for curve in (self._line, self._circle):
            for name, expression in pending.items():
                free = self._free(expression)
                # The last ones first: of two points at a distance the second hangs on the first.
                for i in range(len(free) - 1, 0, -1):
                    for j in range(i - 1, -1, -1):
                        found = curve(name, expression, free[j], free[i])
                        if found is not None:
                            yield found

    def _line(self, name: str, e: sp.Expr, x: Coordinate, y: Coordinate) -> Curve | None:
        """e = a x + b y + c, with a² + b² zero nowhere."""
        a = self._without(diff(e, x), x, y)
        b = self._without(diff(e, y), x, y) if a is not None else None
        if a is None or b is None:
            return None
        square = tidy(a**2 + b**2, self.budget)
        if not keeps_sign(square, self.system.parameters):
            return None
        c = tidy(e.xreplace({x: sp.S.Zero, y: sp.S.Zero}), self.budget)
        new = self._new("along", name)
        places = {x: -(c * a + new * b) / square, y: (new * a - c * b) / square}
        places = {q: tidy(place, self.budget) for q, place in places.items()}
        return name, places, Chosen(new, a * y - b * x)

    def _circle(self, name: str, e: sp.Expr, x: Coordinate, y: Coordinate) -> Curve | None:
        """e = k_x (x − x₀)²/2 + k_y (y − y₀)²/2 + d, with k_x, k_y > 0 > d or the other way round."""
        kx = self._without(diff(diff(e, x), x), x, y)
        ky = self._without(diff(diff(e, y), y), x, y) if kx is not None else None
        if kx is None or ky is None or self._without(diff(diff(e, x), y), x, y) != 0:
            return None
        values = self.system.parameters
        sign = keeps_sign(kx, values)
        if not sign or keeps_sign(ky, values) != sign:
            return None
        origin = {x: sp.S.Zero, y: sp.S.Zero}
        x0, y0 = (tidy(-diff(e, z).xreplace(origin) / k, self.budget) for z, k in ((x, kx), (y, ky)))
        d = tidy(e.xreplace({x: x0, y: y0}), self.budget)
        # A radius that changes with time alone may vanish at some time: there the constraint itself has no gradient.
        if keeps_sign(d.xreplace({t: self.start}) if self._of_time(d) else d, values) != -sign:
            return None
        rx, ry = (_root(tidy(-2 * d / k, self.budget)) for k in (kx, ky))
        alpha = self._new("angle", name)
        places = {x: x0 + rx * sp.cos(alpha), y: y0 + ry * sp.sin(alpha)}
        return name, places, Chosen(alpha, sp.atan2((y - y0) / ry, (x - x0) / rx))

    def _new(self, kind: str, name: str) -> Coordinate:
        return Coordinate.named(_fresh(self.system, f"{kind}_{_word(name)}", [c.coordinate.name for c in self.chosen]))

    def _of_time(self, expression: sp.Expr) -> bool:
        return t in expression.free_symbols and expression.free_symbols.isdisjoint(self.coordinates)


def _root(square: sp.Expr) -> sp.Expr:
    """√ of what is positive everywhere. Either sign of a length goes round the same circle."""
    return sp.sqrt(sp.factor(square)).replace(sp.Abs, lambda inside: inside)
