"""Laws of nonideal constraints as a user gave them: expressions read, every fault told."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sp

from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.definitions import Definitions
from dalembert.model.friction.contact import SPEED
from dalembert.model.friction.frames import Inertia
from dalembert.model.friction.generic import Unclear
from dalembert.model.friction.laws import Law, Sliding
from dalembert.model.friction.surface import surface_of
from dalembert.model.language.functions import Unspecified
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Reaction

# Coefficients that differ by less than this share are the same.
ROUNDING = 1e-12


def value_of(expression: sp.Expr | None, parameters: Mapping[sp.Symbol, sp.Expr]) -> float | None:
    """The value of an expression where the parameters decide it."""
    if expression is None:
        return None
    value = expression.xreplace({symbol: sp.sympify(given) for symbol, given in parameters.items()})
    if value.free_symbols or value.has(Unspecified):
        return None
    number = complex(value.evalf())
    return number.real if math.isfinite(number.real) and not number.imag else None


@dataclass(frozen=True)
class LawReader:
    """What the laws of a model are read with.

    constraints: those that could be read; names: of all that were given. inertia: None where it could not be read.
    definitions: what is asked of an expression is asked of it written out, while a law keeps it as it was written.
    expression: reads one expression; work: one expression for each coordinate.
    """

    coordinates: tuple[Coordinate, ...]
    constraints: tuple[Constraint, ...]
    names: list[str]
    inertia: Inertia | None
    definitions: Definitions
    parameters: Mapping[sp.Symbol, sp.Expr]
    expression: Callable[[Any, str], sp.Expr | None]
    work: Callable[[Any], Mapping[Coordinate, sp.Expr]]
    faults: list[str]

    def read(self, given: Any) -> tuple[Law, ...]:
        """The laws that could be read."""
        if given is None or isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
            self.faults.append(f"nonideal: a list of laws such as da.Work(…) is wanted, got {given!r}")
            return ()
        laws: list[Law] = []
        for law in given:
            if isinstance(law, Law):
                found = law.read(self)
                laws += [found] if found is not None else []
            else:
                self.faults.append(f"nonideal: a law such as da.Coulomb(…) or da.Work(…) is wanted, got {law!r}")
        if laws and not self.constraints and not self.faults:
            self.faults.append("nonideal: there is no constraint to do the work; use forces= for impressed forces")
        self._one_dry_law_each(laws)
        return tuple(laws)

    def knows_constraints(self, law: Law, where: str) -> bool:
        """Whether the model has the constraints that a law names."""
        good = True
        for name in law.constraints:
            if not isinstance(name, str):
                self.faults.append(f"{where}: constraint is the name of one, or a list of names, got {name!r}")
            elif name not in self.names:
                self.faults.append(f"{where}: no constraint {name!r}.{suggest(name, self.names)}")
            else:
                continue
            good = False
        return good

    def read_sliding(self, law: Sliding) -> Law | None:
        """A law of a sliding point with its coefficients and its geometry read."""
        where = f"nonideal {law.law}"
        before = len(self.faults)
        known = self.knows_constraints(law, where)
        if not law.acts():
            methods = "drag(speed, normal) or dry_coefficient(speed)"
            self.faults.append(f"{where}: it does nothing; a law has a method {methods}")
        if known and (not law.constraints or len(set(law.constraints)) < len(law.constraints)):
            self.faults.append(f"{where}: name at least one constraint, and each once, got {law.constraint!r}")
            known = False
        where = f"{where} {' + '.join(map(str, law.constraints))!r}"
        values: dict[str, Any] = {key: self._coefficient(law, key, where) for key in law.numbers()}
        if law.point is not None and law.slide is not None:
            self.faults.append(f"{where}: give the point that slides, or its velocity as slide, not both")
        read = all(value is not None or getattr(law, key) is None for key, value in values.items())
        values |= {"slide": self._slide(law, where)} if law.has("slide") else {}
        values |= {"point": self._point(law.point, where)} if law.has("point") else {}
        found: Sliding = replace(law, **values)  # type: ignore[type-var]  # a law is a dataclass
        if read:
            self.faults.extend(f"{where}: {fault}" for fault in found.faults(self._value))
        if len(self.faults) == before:
            self.faults.extend(f"{where}: {fault}" for fault in _not_expressions(found))
        if len(self.faults) == before and found.dry:
            self.faults.extend(f"{where}: {fault}" for fault in self._static_limit_faults(found))
        if len(self.faults) > before:
            return None
        if known and self.inertia is not None:
            self._geometry(found, where)
        return found

    def _static_limit_faults(self, law: Sliding) -> Iterator[str]:
        """A point that sticks up to less than it rubs with as it sets off would stop and set off without end."""
        try:
            given = (law.static_limit(), law.dry_coefficient(sp.S.Zero))
            static, sliding = (self._value(sp.sympify(part, strict=True)) for part in given)
        except Exception:  # a law with a limit of its own need have no coefficient at rest
            return
        if static is not None and sliding is not None and static < sliding * (1 - ROUNDING):
            yield (
                f"it sticks up to {static:.6g}, static_limit(), and slides with {sliding:.6g} at the smallest speeds, "
                "dry_coefficient(0): the limit cannot be the smaller one"
            )

    def _value(self, expression: sp.Expr | None) -> float | None:
        return value_of(expression, self.parameters)

    def _coefficient(self, law: Sliding, key: str, where: str) -> sp.Expr | None:
        given = getattr(law, key)
        if given is None and law.optional(key):
            return None
        if given is None or isinstance(given, bool):
            self.faults.append(f"{where}: {key} is a number or an expression, got {given!r}")
            return None
        expression = self.expression(given, f"{where}, {key}")
        if expression is None:
            return None
        if self.definitions.order_of(expression) == 2:
            self.faults.append(f"{where}: accelerations cannot appear in {key}")
        if expression.atoms(Reaction):
            self.faults.append(f"{where}: constraint forces cannot appear in {key}")
        value = value_of(expression, self.parameters)
        if value is not None and key not in law.signed and (value < 0 or (key in law.positive and value == 0)):
            wanted = "greater than zero" if key in law.positive else "zero or greater"
            self.faults.append(f"{where}: {key} must be {wanted}, it is {value:.6g}")
        return expression

    def _point(self, given: Any, where: str) -> tuple[sp.Expr, ...] | None:
        if given is None:
            return None
        found = []
        for place, expression in self._components(given, "point", where):
            orders = self.definitions.orders_in(expression)
            if orders - {0}:
                self.faults.append(
                    f"{place}: {expression} is no place: coordinates and t may appear, no velocities (a velocity of "
                    "sliding is given as slide)"
                )
            elif not orders:
                self.faults.append(f"{place}: {expression} contains no coordinate, so it does not move")
            found.append(expression)
        return tuple(found)

    def _slide(self, law: Sliding, where: str) -> tuple[sp.Expr, ...] | None:
        """The velocity of sliding, or of rolling and spinning, where it is given as such."""
        if law.slide is None:
            if not law.has("point"):
                self.faults.append(f"{where}: slide is wanted: the {law.resisted} that the law resists")
            return None
        found = []
        for place, expression in self._components(law.slide, "slide", where):
            orders = self.definitions.orders_in(expression)
            if 1 not in orders:
                self.faults.append(f"{place}: {expression} contains no velocity (a place is given as point)")
            elif 2 in orders or not is_linear([self.definitions.expand(expression)], [q.d for q in self.coordinates]):
                self.faults.append(f"{place}: {expression} is not linear in the velocities")
            found.append(expression)
        return tuple(found)

    def _components(self, given: Any, key: str, where: str) -> list[tuple[str, sp.Expr]]:
        """One to three expressions, each with the words for its place."""
        items = given if isinstance(given, tuple) else (given,)
        if not 1 <= len(items) <= 3:
            self.faults.append(f"{where}: {key} has one to three expressions, got {len(items)}")
        found = []
        for k, item in enumerate(items, 1):
            place = f"{where}, {key}" if len(items) == 1 else f"{where}, {key} component {k}"
            if item is None or isinstance(item, bool):
                self.faults.append(f"{place}: an expression is wanted, got {item!r}")
                continue
            expression = self.expression(item, place)
            if expression is None:
                continue
            if expression.atoms(Reaction):
                self.faults.append(f"{place}: constraint forces cannot appear in it")
            found.append((place, expression))
        return found

    def _geometry(self, law: Sliding, where: str) -> None:
        """Tell where nothing slides, or what slides cannot be told."""
        law, (inertia, constraints) = law.map_expressions(self.definitions.expand), self._written_out
        by_name = {constraint.name: constraint for constraint in constraints}
        named = [by_name[name] for name in law.constraints if name in by_name]
        high = [constraint.name for constraint in named if constraint.level == "acceleration"]
        if high:
            self.faults.append(
                f"{where}: constraint {high[0]!r} is at acceleration level; friction needs a constraint on "
                "positions or velocities"
            )
        elif len(named) == len(law.constraints):
            try:
                others = tuple(c for c in constraints if c not in named)
                surface = surface_of(inertia, self.coordinates, tuple(named), law.point, law.slide, others)
                if surface.doubt and law.rests_on_reaction:
                    raise Unclear(surface.doubt)
            except Unclear as unclear:
                self.faults.append(f"{where}: {unclear}")

    @cached_property
    def _written_out(self) -> tuple[Inertia, tuple[Constraint, ...]]:
        """The inertia and the constraints without definitions."""
        assert self.inertia is not None  # or nothing slides that one could tell
        expand = self.definitions.expand
        if not self.definitions.values:
            return self.inertia, self.constraints
        matrix = isinstance(self.inertia, sp.MatrixBase)
        inertia = self.inertia.applyfunc(expand) if matrix else expand(self.inertia)
        return inertia, tuple(replace(c, expression=expand(c.expression)) for c in self.constraints)

    def _one_dry_law_each(self, laws: list[Law]) -> None:
        seen: set[tuple[str, frozenset[str]]] = set()
        for law in laws:
            if isinstance(law, Sliding) and law.dry_coefficient(SPEED) is not None:
                carried = law.kind, frozenset(law.constraints)
                if carried in seen:
                    self.faults.append(
                        f"nonideal: {law.name!r} has two laws of dry friction; give one, with a point of two or three "
                        "components where it slides in several ways"
                    )
                seen.add(carried)


def _not_expressions(law: Sliding) -> Iterator[str]:
    """Methods of a law of the user's own that fail, or give what is no expression."""
    asked: dict[str, Callable[[], Any]] = {
        "drag(speed, normal)": lambda: law.drag(SPEED, sp.Symbol("normal", positive=True)),
        "dry_coefficient(speed)": lambda: law.dry_coefficient(SPEED),
        "static_limit()": lambda: None if law.dry_coefficient(SPEED) is None else law.static_limit(),
    }
    for method, ask in asked.items():
        try:
            value = ask()
            dry = not method.startswith("drag")
            if not (dry and value is None) and not isinstance(sp.sympify(value, strict=True), sp.Expr):
                raise TypeError(f"got {value!r}")
        except Exception as error:  # whatever a method of a user's own may raise
            yield f"its method {method} gives no SymPy expression or number: {error or type(error).__name__}"
