"""Reads single expressions, numbers and names of a model; what is wrong with them is collected."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from dalembert.errors import ExpressionError
from dalembert.model.definitions import NO_DEFINITIONS
from dalembert.model.language.adopt import faults_of_functions, function_faults, in_own_symbols
from dalembert.model.language.parse import RESERVED, RESERVED_FOR_CALLS, parse_equation, parse_expression, suggest
from dalembert.model.language.symbols import (
    Coordinate,
    Definition,
    Parameter,
    is_name,
    name_of,
    symbol_table,
)


class ExpressionReader:
    """table: the symbols of the model by name, as they become known; declared: the parameters with a value among them.
    functions: without an expression, that text may apply, with their numbers of arguments. definitions: of the model,
    once they are read.
    faults: everything found to be wrong so far, also by those who read with it.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.table: dict[str, sp.Symbol] = symbol_table(())
        self.declared: dict[str, sp.Symbol] = {}
        self.functions: dict[str, int] = {}
        self.definitions = NO_DEFINITIONS

    def good_name(self, name: str, what: str) -> bool:
        if not is_name(name):
            self.faults.append(
                f"{what} {name!r}: a name has letters, digits and _ only and does not start with a digit"
            )
        elif name in RESERVED:
            self.faults.append(f"{what} {name!r}: this name has a meaning of its own; choose another")
        else:
            return True
        return False

    def mapping(self, given: Any, what: str, example: str) -> Mapping[Any, Any]:
        if isinstance(given, Mapping):
            return given
        self.faults.append(f"{what}: a mapping such as {example} is wanted, got {given!r}")
        return {}

    def expression(
        self,
        given: Any,
        where: str,
        *,
        equation: bool = False,
        reactions: bool = False,
        offered: Iterable[str] | None = None,
        functions: bool = True,
    ) -> sp.Expr | None:
        """An expression as it may be given; None where it cannot be read, which is told, or is None. functions: whether
        it may hold functions without an expression.
        """
        if given is None:
            return None
        known = self.functions if functions else {}
        try:
            if isinstance(given, str):
                if equation:
                    read = parse_equation(given, self.table, where=where, functions=known)
                else:
                    read = parse_expression(
                        given, self.table, where=where, reactions=reactions, offered=offered, functions=known
                    )
                return self.with_possible_rates(read, where)
            if isinstance(given, sp.Equality):
                given = given.lhs - given.rhs
            expression = sp.sympify(given, strict=True)
        except ExpressionError as error:
            self.faults.append(str(error))
            return None
        except (sp.SympifyError, TypeError, ValueError):
            self.faults.append(f"{where}: an expression is wanted, got {given!r}")
            return None
        if not isinstance(expression, sp.Expr) or expression.is_Matrix:
            self.faults.append(f"{where}: a scalar expression is wanted, got {type(expression).__name__}")
            return None
        if expression.has(sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I):
            self.faults.append(f"{where}: the expression holds NaN, infinity or an imaginary number: {expression}")
            return None
        if not self.functions_fit(expression, where, functions) or not self._defined(expression, where):
            return None
        expression = in_own_symbols(expression, self.table)
        strange = sorted(
            s.name for s in expression.free_symbols if isinstance(s, Parameter) and s.name not in self.table
        )
        bad = [name for name in strange if not name.endswith("'") and not self.good_name(name, f"{where}: the symbol")]
        if bad:
            return None
        stray = [s.name for s in expression.free_symbols if s.name.endswith("'") and s.name not in self.table]
        if stray:
            self.faults.append(f"{where}: {', '.join(sorted(stray))} belongs to no coordinate of the system")
        return self.with_possible_rates(expression, where)

    def with_possible_rates(self, expression: sp.Expr, where: str) -> sp.Expr | None:
        """The expression, unless it holds rates of definitions that a model has no symbols for, which is told."""
        orders = self.definitions.orders
        if not orders:
            return expression
        used = [s for s in expression.free_symbols if isinstance(s, Definition) and s.base in orders]
        high = sorted(s.name for s in used if s.order and orders[s.base] + s.order > 2)
        if high:
            what = "accelerations" if orders[high[0].rstrip("'")] == 2 else "velocities"
            self.faults.append(
                f"{where}: {high[0]}: {high[0].rstrip(chr(39))} holds {what}, and a model has no third derivatives"
            )
        return None if high else expression

    def _defined(self, expression: sp.Basic, where: str) -> bool:
        """Whether the model has the definitions that an expression uses; otherwise that is told."""
        unknown = {s.base for s in expression.free_symbols if isinstance(s, Definition) and s.base not in self.table}
        for name in sorted(unknown):
            known = [
                other for other, symbol in self.table.items() if isinstance(symbol, Definition) and not symbol.order
            ]
            self.faults.append(f"{where}: there is no definition {name!r}.{suggest(name, known)}")
        return not unknown

    def functions_fit(self, expression: sp.Basic, where: str, allowed: bool) -> bool:
        """Whether the functions of an expression can stand where they do; otherwise that is told."""
        faults = (
            function_faults(expression, self.table, RESERVED_FOR_CALLS) if allowed else faults_of_functions(expression)
        )
        self.faults += [f"{where}: {fault}" for fault in faults]
        return not faults

    def number(self, given: Any, where: str) -> sp.Expr | None:
        """A finite constant: a number, or text or an expression without names."""
        if isinstance(given, bool) or given is None:
            self.faults.append(f"{where}: a number is wanted, got {given!r}")
            return None
        if isinstance(given, str):
            try:
                expression = parse_expression(given, {}, where=where)
            except ExpressionError as error:
                self.faults.append(str(error))
                return None
        else:
            try:
                expression = sp.sympify(given, strict=True)
            except (sp.SympifyError, TypeError, ValueError):
                self.faults.append(f"{where}: a number is wanted, got {given!r}")
                return None
        return self.finite(expression, where) if self.functions_fit(expression, where, False) else None

    def finite(self, expression: sp.Basic, where: str) -> sp.Expr | None:
        try:
            value = float(expression)
        except (TypeError, ValueError):
            self.faults.append(f"{where}: a number is wanted, got {expression}")
            return None
        if not math.isfinite(value):
            shown = "NaN" if math.isnan(value) else "infinite"
            self.faults.append(f"{where} is {shown}; a finite number is wanted")
            return None
        return expression

    def by_coordinate(self, given: Any, where: str, *, reactions: bool = False) -> dict[Coordinate, sp.Expr]:
        if not isinstance(given, Mapping):
            self.faults.append(f"{where}: a mapping from coordinates to expressions is wanted, got {given!r}")
            return {}
        found: dict[Coordinate, sp.Expr] = {}
        if not given:
            return {}
        names = {name for name, q in self.table.items() if isinstance(q, Coordinate) and not q.order}
        for key, value in given.items():
            name = name_of(key)
            if name not in names:
                self.faults.append(f"{where}: {name!r} is not a coordinate.{suggest(name, names)}")
                continue
            expression = self.expression(value, f"{where} {name}", reactions=reactions)
            if expression is not None:
                found[Coordinate.named(name)] = expression
        return found

    def in_parameters(self, given: str | sp.Expr, where: str) -> sp.Expr | None:
        """An initial value may be computed from parameters."""
        if isinstance(given, str):
            try:
                return parse_expression(given, self.declared, where=where)
            except ExpressionError as error:
                self.faults.append(str(error))
                return None
        if not self.functions_fit(given, where, False):
            return None
        expression = in_own_symbols(given, self.table)
        if not expression.free_symbols:
            return self.finite(expression, where)
        others = [
            s.name for s in expression.free_symbols if s == self.table.get(s.name) and s.name not in self.declared
        ]
        if others:
            self.faults.append(f"{where}: an initial value may use parameters only, not {', '.join(sorted(others))}")
            return None
        return expression
