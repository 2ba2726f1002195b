"""Kinks of a model as switching functions: abs, sign, min, max and conditions on the state or on time.

Between two passages of g through zero its side σ = ±1 is constant, and with σ as a number the model is smooth there:

    |g| = σ g,    sign g = σ,    max(a, b) = w a + (1 − w) b   with g = a − b and w = (1 + σ)/2,

and so for conditions. `switched_kinks` is the model with the sides as parameters, and the functions g among its events:
an integration locates their zeros, changes sides and goes on. At g = 0 exactly, σ = 0 gives what the model itself does.
What cannot be continued beyond g = 0, as max(g, 0)^1.5, stays as it was written; only its zeros are located.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import sympy as sp

from dalembert.model.constraints import is_constant
from dalembert.model.definitions import NO_DEFINITIONS, Definitions
from dalembert.model.events import Event
from dalembert.model.friction.laws import Work
from dalembert.model.language.contents import contents
from dalembert.model.language.symbols import SIDE, Coordinate, Parameter, Reaction, t
from dalembert.model.system import System
from dalembert.remember import remember

KINKED = (sp.Abs, sp.sign, sp.Heaviside, sp.Min, sp.Max, sp.Piecewise)
# Functions that have no value beyond some argument: what stands in them may not be continued beyond a kink.
PARTIAL = (sp.log, sp.asin, sp.acos, sp.acosh, sp.atanh)
# As many models as graphs are kept.
KEPT = 64


@dataclass(frozen=True)
class Kink:
    """A switching function g, and the parameter that says on which side of zero it is."""

    function: sp.Expr
    side: Parameter


@dataclass(frozen=True)
class Switched:
    """A model with the sides of its kinks as parameters. Their functions are the last of its events, in this order."""

    system: System
    kinks: tuple[Kink, ...]


_made: dict[Hashable, Switched | None] = {}


def switched_kinks(system: System) -> Switched | None:
    """The model with its kinks switched, made once for each structure; None where it has none that a motion can pass.

    Kinks whose argument is constant, or depends on reactions or accelerations, stay as they are.
    """
    return remember(_made, system.structure, lambda: _switch(system), KEPT)


def sides_of(expression: sp.Expr) -> tuple[sp.Expr, tuple[Kink, ...]]:
    """An expression with its kinks switched, and these; those inside others come first."""
    swap = _Swap(NO_DEFINITIONS)
    changed = swap(expression)
    return changed, tuple(Kink(g, side) for g, side in swap.sides.items())


def _switch(system: System) -> Switched | None:
    friction_laws = system.works
    friction = (expression for work in friction_laws for expression in work.expressions())
    if not contents(*system.expressions(), *friction).has(*KINKED):
        return None
    if friction_laws or contents(*system.defined.values.values()).has(*KINKED):
        system = system.expanded
    swap = _Swap(system.defined)
    energies = {name: getattr(system, name) for name in ("kinetic", "potential", "lagrangian")}
    energies = {name: None if value is None else swap(value) for name, value in energies.items()}
    mass = None if system.mass is None else system.mass.applyfunc(swap)
    forces = {x: swap(force) for x, force in system.forces.items()}
    constraints = [replace(c, expression=swap(c.expression)) for c in system.constraints]
    works = [
        Work(
            {x: swap(part) for x, part in law.work.items()},
            heat={name: swap(power) for name, power in law.heat.items()},
        )
        for law in system.works
    ]
    if not swap.sides:
        return None
    kinks = tuple(Kink(g, side) for g, side in swap.sides.items())
    changed = System(
        system.name,
        coordinates=system.coordinates,
        definitions=system.definitions,
        mass=mass,
        forces=forces,
        constraints=constraints,
        nonideal=works if constraints else (),
        parameters={**system.parameters, **{kink.side: 1 for kink in kinks}},
        initial=system.initial,
        events=[*system.events, *(Event(kink.function, -1, 0, kink.side.name) for kink in kinks)],
        **energies,
    )
    return Switched(changed, kinks)


class _Swap:
    """Replaces kinks in expressions, from the inside out; equal switching functions share their side. Definitions are
    written out in terms with kinks, since switching functions are looked at as functions of coordinates.
    """

    def __init__(self, known: Definitions) -> None:
        self.known = known
        self.sides: dict[sp.Expr, Parameter] = {}
        self._done: dict[sp.Basic, tuple[sp.Basic, frozenset[Parameter]]] = {}

    def __call__(self, expression: sp.Expr) -> sp.Expr:
        if not expression.has(*KINKED):
            return expression
        terms = sp.Add.make_args(expression)
        return sp.Add(*(self._swapped(self.known.expand(term))[0] if term.has(*KINKED) else term for term in terms))

    def _swapped(self, expression: sp.Basic) -> tuple[sp.Basic, frozenset[Parameter]]:
        """The expression with its kinks replaced, and the sides that have a part in it."""
        if not expression.has(*KINKED):
            return expression, frozenset()
        done = self._done.get(expression)
        if done is None:
            done = self._done[expression] = self._swap(expression)
        return done

    def _swap(self, expression: sp.Basic) -> tuple[sp.Basic, frozenset[Parameter]]:
        if isinstance(expression, sp.Piecewise):
            return self._piecewise(expression)
        parts = [self._swapped(part) for part in expression.args]
        args, among = [part[0] for part in parts], frozenset[Parameter]().union(*(part[1] for part in parts))
        if isinstance(expression, (sp.Min, sp.Max)):
            return self._extreme(expression, args, among)
        if isinstance(expression, (sp.Abs, sp.sign, sp.Heaviside)):
            found = self._side(args[0])
            if found is None:
                return expression.func(*args), among
            way, side = found
            form = {sp.Abs: way * side * args[0], sp.sign: way * side, sp.Heaviside: (1 + way * side) / 2}
            return form[expression.func], among | {side}
        if among and _may_end(expression, args):
            return expression, among
        return expression.func(*args), among

    def _extreme(
        self, expression: sp.Basic, args: list[sp.Basic], among: frozenset[Parameter]
    ) -> tuple[sp.Basic, frozenset[Parameter]]:
        """max and min, two by two."""
        pairs = sorted(zip(args, expression.args, strict=True), key=lambda pair: sp.default_sort_key(pair[1]))
        result = pairs[0][0]
        for other, _ in pairs[1:]:
            found = self._side(result - other)
            if found is None:
                result = expression.func(result, other)
                continue
            way, side = found
            among |= {side}
            weight = (1 + way * side) / 2 if isinstance(expression, sp.Max) else (1 - way * side) / 2
            result = weight * result + (1 - weight) * other
        if any(_is_partial(part) for part in expression.args):
            return expression, among
        return result, among

    def _piecewise(self, expression: sp.Piecewise) -> tuple[sp.Basic, frozenset[Parameter]]:
        """Conditions as numbers 0 and 1 that depend on the sides alone."""
        pieces, among = [], frozenset[Parameter]()
        for value, condition in expression.args:
            one, inside = self._swapped(value)
            weight, sides = self._condition(condition)
            pieces.append((one, weight))
            among |= inside | sides
        partial = any(_is_partial(value) for value, _ in expression.args)
        if partial or expression.args[-1][1] != sp.true or any(weight is None for _, weight in pieces):
            return expression, among
        result = pieces[-1][0]
        for value, weight in reversed(pieces[:-1]):
            result = weight * value + (1 - weight) * result
        return result, among

    def _condition(self, condition: sp.Basic) -> tuple[sp.Expr | None, frozenset[Parameter]]:
        """A condition as a number, 1 or 0, that depends on sides and parameters; None where it has no such form."""
        if not _moves(condition):
            return sp.Piecewise((1, condition), (0, True)), frozenset()
        if isinstance(condition, (sp.And, sp.Or)):
            parts = [self._condition(part) for part in condition.args]
            sides = frozenset[Parameter]().union(*(part[1] for part in parts))
            weights = [weight for weight, _ in parts if weight is not None]
            if len(weights) < len(parts):
                return None, sides
            if isinstance(condition, sp.And):
                return sp.Mul(*weights), sides
            return 1 - sp.Mul(*(1 - weight for weight in weights)), sides
        if not isinstance(condition, (sp.StrictGreaterThan, sp.GreaterThan, sp.StrictLessThan, sp.LessThan)):
            return None, frozenset()
        left, right = self._swapped(condition.gts), self._swapped(condition.lts)
        among = left[1] | right[1]
        found = self._side(left[0] - right[0])
        if found is None:
            return None, among
        way, side = found
        # 1 for σ = 1 and 0 for σ = −1, whether σ = 0 counts or not
        above, below = way * side * (way * side + 1) / 2, way * side * (way * side - 1) / 2
        strict = isinstance(condition, (sp.StrictGreaterThan, sp.StrictLessThan))
        return (above if strict else 1 - below), among | {side}

    def _side(self, g: sp.Expr) -> tuple[int, Parameter] | None:
        """The side of g as (±1, parameter), so that g and −g share it; None where no motion can pass its zero."""
        if not _moves(g) or (t not in g.free_symbols and is_constant(g)):
            return None
        way = -1 if g.could_extract_minus_sign() else 1
        g = way * g
        return way, self.sides.setdefault(g, Parameter.named(f"{SIDE}{len(self.sides)}"))


def _moves(expression: sp.Basic) -> bool:
    """Whether an expression changes along a motion, and can be known without accelerations and forces."""
    symbols = expression.free_symbols
    if any(isinstance(s, Reaction) or (isinstance(s, Coordinate) and s.order == 2) for s in symbols):
        return False
    return t in symbols or any(isinstance(s, Coordinate) for s in symbols)


def _may_end(expression: sp.Basic, args: list[sp.Basic]) -> bool:
    """Whether a function of arguments that are continued beyond a kink may have no value there."""
    if isinstance(expression, sp.Pow):
        base, exponent = args
        return not (exponent.is_integer or base.is_nonnegative or base is sp.E or not _moves(base))
    return isinstance(expression, PARTIAL)


def _is_partial(expression: sp.Basic) -> bool:
    """Whether an expression may have no value at some states, as roots, logarithms and quotients have."""
    for part in sp.preorder_traversal(expression):
        if isinstance(part, PARTIAL) and _moves(part):
            return True
        if isinstance(part, sp.Pow) and _moves(part.base) and not part.base.is_positive:
            whole = part.exp.is_integer and part.exp.is_nonnegative
            root = part.exp.is_nonnegative and part.base.is_nonnegative
            if not (whole or root):
                return True
    return False
