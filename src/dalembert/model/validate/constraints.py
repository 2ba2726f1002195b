"""Reads the constraints of a model, and how those that are one-sided strike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from dalembert.errors import ExpressionError
from dalembert.model.constraints import IMPACT_LAWS, IMPACT_ORDERS, LEVELS, Constraint, is_constant, level_of
from dalembert.model.friction.read_laws import value_of
from dalembert.model.language.parse import parse_constraint
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Parameter
from dalembert.model.validate.expressions import ExpressionReader


@dataclass(frozen=True)
class ConstraintReader:
    """reader: of their expressions, which collects the faults; values: of the parameters."""

    reader: ExpressionReader
    values: Mapping[sp.Symbol, sp.Expr]

    def read(self, given: Any) -> tuple[tuple[Constraint, ...], list[str]]:
        """The constraints that could be read, and the names of all that were given."""
        if isinstance(given, Mapping):
            items = [item if isinstance(item, Constraint) else (str(name), item) for name, item in given.items()]
        elif isinstance(given, Iterable) and not isinstance(given, str):
            items = [
                item if isinstance(item, (Constraint, tuple)) else (f"c{k}", item) for k, item in enumerate(given, 1)
            ]
        else:
            self.reader.faults.append(f"constraints: a mapping from names to expressions is wanted, got {given!r}")
            return (), []
        named: dict[str, tuple[Constraint, str | None]] = {}  # each with the level that is said of it
        for item in items:
            level = item.level if isinstance(item, Constraint) else None
            one = item if isinstance(item, Constraint) else Constraint(item[0], item[1])
            where = f"constraint {one.name!r}"
            if one.name in named:
                self.reader.faults.append(f"{where}: the name is given twice")
            elif not isinstance(one.name, str) or not one.name.strip() or not one.name.isprintable():
                self.reader.faults.append(f"{where}: a name is one line of printable text")
            else:
                named[one.name] = one, level
        read = [self._relation(one.expression, f"constraint {name!r}") for name, (one, _) in named.items()]
        found = [self._constraint(*given, *parts) for given, parts in zip(named.values(), read, strict=True)]
        return tuple(constraint for constraint in found if constraint is not None), list(named)

    def _constraint(
        self, given: Constraint, level: str | None, parsed: sp.Expr | None, one_sided: bool
    ) -> Constraint | None:
        """One of them, with its expression read. What is wrong is told, and None where nothing is left of it."""
        where = f"constraint {given.name!r}"
        if not isinstance(given.one_sided, bool):
            self.reader.faults.append(f"{where}: one_sided is true or false, got {given.one_sided!r}")
        one_sided = (one_sided or given.one_sided) if isinstance(given.one_sided, bool) else False
        restitution = None if given.restitution is None else self._restitution(given.restitution, one_sided, where)
        law = None if given.impact is None else self._impact_law(given.impact, one_sided, where)
        if parsed is None:
            if given.expression is None:
                self.reader.faults.append(f"{where}: no equation given")
            return None
        parsed, real = self._level(parsed)
        if real is None:
            never = parsed.is_number and parsed != 0
            effect = "can never hold" if never else "constrains nothing"
            self.reader.faults.append(f"{where}: {parsed} = 0 contains no coordinate, so it {effect}")
            return None
        known = self.reader.definitions
        if not known.certainly_holds(parsed, LEVELS.index(real)) and is_constant(known.expand(parsed)):
            self.reader.faults.append(
                f"{where}: {parsed} has one value whatever the coordinates, so it constrains nothing: remove it"
            )
            return None
        if level is not None and level not in LEVELS:
            self.reader.faults.append(f"{where}: level {level!r} is unknown.{suggest(str(level), LEVELS)}")
        elif level is not None and level != real:
            self.reader.faults.append(f"{where}: said to be at {level} level, but {parsed} = 0 is at {real} level")
        if one_sided and real != "position":
            self.reader.faults.append(
                f"{where}: one-sided constraints are at position level, this one is at {real} level"
            )
        friction, switch = given.by_friction, given.switch
        return Constraint(given.name, parsed, real, one_sided, restitution, friction, switch, law)

    def _level(self, parsed: sp.Expr) -> tuple[sp.Expr, str | None]:
        """The level of a constraint, and its expression: without its definitions where what makes the level cancels
        when they are written out, as in w − x' = 0 with w = x' + y.
        """
        known = self.reader.definitions
        order = known.order_of(parsed)
        if not known.values or (order >= 0 and known.certainly_holds(parsed, order)):
            return parsed, LEVELS[order] if order >= 0 else None
        written_out = known.expand(parsed)
        level = level_of(written_out)
        return (parsed, level) if order >= 0 and level == LEVELS[order] else (written_out, level)

    def _relation(self, given: Any, where: str) -> tuple[sp.Expr | None, bool]:
        """What is zero on every motion, or never negative, and whether it is the latter."""
        if not isinstance(given, str):
            if isinstance(given, (sp.StrictGreaterThan, sp.StrictLessThan)):
                self.reader.faults.append(
                    f"{where}: {given}: a one-sided constraint includes its bound: write >= or <="
                )
                return None, True
            return self.reader.expression(given, where, equation=True), False
        try:
            read, one_sided = parse_constraint(given, self.reader.table, where=where, functions=self.reader.functions)
            return (self.reader.with_possible_rates(read, where) if self.reader.definitions.values else read), one_sided
        except ExpressionError as error:
            self.reader.faults.append(str(error))
            return None, True  # so it may be: its restitution is no fault

    def _restitution(self, given: Any, one_sided: bool, where: str) -> sp.Expr | None:
        """A number from 0 to 1, which may be computed from parameters."""
        if not one_sided:
            self.reader.faults.append(
                f"{where}: restitution belongs to one-sided constraints: add one_sided, or write >="
            )
        if isinstance(given, bool):
            self.reader.faults.append(f"{where}: restitution is a number from 0 to 1, got {given!r}")
            return None
        parameters = [name for name, symbol in self.reader.table.items() if isinstance(symbol, Parameter)]
        expression = self.reader.expression(given, f"{where}, restitution", offered=parameters, functions=False)
        if expression is None:
            return None
        others = sorted(s.name for s in expression.free_symbols if not isinstance(s, Parameter))
        if others:
            self.reader.faults.append(f"{where}: restitution may use parameters only, not {', '.join(others)}")
            return None
        value = value_of(expression, self.values)
        if value is not None and not 0 <= value <= 1:
            self.reader.faults.append(f"{where}: restitution is from 0 to 1, it is {value:.6g}")
        return expression

    def _impact_law(self, given: Any, one_sided: bool, where: str) -> str | None:
        if not one_sided:
            self.reader.faults.append(f"{where}: impact belongs to one-sided constraints: add one_sided, or write >=")
        if given not in IMPACT_LAWS:
            known = ", ".join(map(repr, IMPACT_LAWS))
            self.reader.faults.append(
                f"{where}: impact is one of {known}, got {given!r}.{suggest(str(given), IMPACT_LAWS)}"
            )
            return None
        return str(given)

    def impacts(self, given: Any, constraints: tuple[Constraint, ...]) -> str | tuple[str, ...]:
        """How contacts that meet at one instant strike: together, in sequence, or in an order of names."""
        if isinstance(given, str) and given in IMPACT_ORDERS:
            return given
        if isinstance(given, str) or not isinstance(given, Iterable):
            known = " or ".join(map(repr, IMPACT_ORDERS))
            self.reader.faults.append(
                f"impacts: {known}, or a list of one-sided constraints in the order in which they strike, got {given!r}"
            )
            return IMPACT_ORDERS[0]
        names = list(given)
        sided = [c.name for c in constraints if c.one_sided]
        for k, name in enumerate(names):
            if name not in sided:
                self.reader.faults.append(f"impacts: no one-sided constraint {name!r}.{suggest(str(name), sided)}")
            elif name in names[:k]:
                self.reader.faults.append(f"impacts: {name!r} is named twice; the order repeats by itself")
        if not names:
            self.reader.faults.append(
                "impacts: the list is empty: name one-sided constraints in the order in which they strike"
            )
        return tuple(map(str, names))
