"""Reads single expressions of a model; what is wrong with them is collected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import BooleanAtom

from dalembert.errors import ExpressionError, counted
from dalembert.model.definitions import NO_DEFINITIONS
from dalembert.model.language.adopt import faults_of_functions, function_faults, in_own_symbols
from dalembert.model.language.contents import contents, symbols_in
from dalembert.model.language.parse import parse_equation, parse_expression
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Definition, Parameter, name_of
from dalembert.model.language.vocabulary import RESERVED_FOR_CALLS
from dalembert.model.validate.names import Names

LEFT_UNDONE = (sp.Sum, sp.Product, sp.Integral, sp.Limit)
NO_NUMBERS = tuple(type(value) for value in (sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I))


class ExpressionReader(Names):
    """functions: without an expression, that text may apply, with their numbers of arguments. definitions: of the
    model, once they are read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.functions: dict[str, int] = {}
        self.definitions = NO_DEFINITIONS

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
                return self.with_possible_rates(read, where) if self.definitions.values else read
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
            got = type(expression).__name__
            if isinstance(expression, BooleanAtom):
                got = f"{expression}: Python's == compares; write the difference of both sides, or sp.Eq(left, right)"
            self.faults.append(f"{where}: a scalar expression is wanted, got {got}")
            return None
        found = contents(expression)
        if found.has(*LEFT_UNDONE) and not expression.has(AppliedUndef):
            self.faults.append(f"{where}: {expression} is not carried out; write what .doit() of it gives")
            return None
        if found.has(*NO_NUMBERS):
            self.faults.append(f"{where}: the expression holds NaN, infinity or an imaginary number: {expression}")
            return None
        special = found.has(AppliedUndef, sp.Derivative, sp.Subs)
        if special and not self.functions_fit(expression, where, functions):
            return None
        if not self._defined(found.symbols, where):
            return None
        own = in_own_symbols(expression, self.table, found)
        symbols = found.symbols if own is expression else symbols_in(own)
        unknown = [s for s in symbols if s.name not in self.table]
        strange = sorted(s.name for s in unknown if isinstance(s, Parameter))
        bad = [name for name in strange if not name.endswith("'") and not self.good_name(name, f"{where}: the symbol")]
        if bad:
            return None
        stray = [s.name for s in unknown if s.name.endswith("'")]
        if stray:
            self.faults.append(f"{where}: {', '.join(sorted(stray))} belongs to no coordinate of the system")
        return own if self._has_possible_rates(symbols, where) else None

    def with_local_names(self, given: Any, where: str, names: Mapping[str, sp.Symbol]) -> sp.Expr | None:
        """An expression in which some names stand for something else than in the model."""
        known = self.table
        self.table = {**known, **names} if names else known
        try:
            return self.expression(given, where, reactions=True, functions=False)
        finally:
            self.table = known

    def with_possible_rates(self, expression: sp.Expr, where: str) -> sp.Expr | None:
        """The expression, unless it holds rates of definitions that a model has no symbols for, which is told."""
        return expression if self._has_possible_rates(symbols_in(expression), where) else None

    def _has_possible_rates(self, symbols: Iterable[sp.Symbol], where: str) -> bool:
        if not self.definitions.values:
            return True
        orders = self.definitions.orders
        used = [s for s in symbols if isinstance(s, Definition) and s.base in orders]
        high = sorted(s.name for s in used if s.order and orders[s.base] + s.order > 2)
        if high:
            what = "accelerations" if orders[high[0].rstrip("'")] == 2 else "velocities"
            self.faults.append(
                f"{where}: {high[0]}: {high[0].rstrip(chr(39))} holds {what}, and a model has no third derivatives"
            )
        return not high

    def _defined(self, symbols: Iterable[sp.Symbol], where: str) -> bool:
        """Whether the model has the definitions that an expression uses; otherwise that is told."""
        unknown = {s.base for s in symbols if isinstance(s, Definition) and s.base not in self.table}
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

    def mass(self, given: Any, size: int) -> sp.ImmutableMatrix | None:
        """A matrix that is square and symmetric, or None, where what is wrong is told."""
        rows = given.tolist() if hasattr(given, "tolist") else given
        if isinstance(rows, str) or not isinstance(rows, Iterable):
            rows = [rows]
        rows = list(rows)
        if any(isinstance(row, (str, Mapping)) or not isinstance(row, Iterable) for row in rows):
            self.faults.append("mass: a square matrix is wanted, as a list of rows")
            return None
        rows = [list(row) for row in rows]
        if len(rows) != size or any(len(row) != size for row in rows):
            widths = sorted({len(row) for row in rows})
            shape = f"{len(rows)}×{widths[0]}" if len(widths) == 1 else f"rows of lengths {[len(row) for row in rows]}"
            self.faults.append(f"mass: for {counted(size, 'coordinate')} a {size}×{size} matrix is wanted, got {shape}")
            return None
        entries = [[self.expression(e, f"mass[{i + 1}][{j + 1}]") for j, e in enumerate(r)] for i, r in enumerate(rows)]
        if any(entry is None for row in entries for entry in row):
            return None
        matrix = sp.ImmutableMatrix(entries)
        for i in range(size):
            for j in range(i):
                if matrix[i, j] != matrix[j, i] and sp.simplify(matrix[i, j] - matrix[j, i]) != 0:
                    self.faults.append(f"mass: not symmetric, entry {i + 1},{j + 1} differs from {j + 1},{i + 1}")
        return matrix
