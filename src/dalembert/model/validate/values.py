"""Reads the numbers of a model: values of its parameters, initial values, settings of simulations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import sympy as sp

from dalembert.errors import ExpressionError
from dalembert.model.language.adopt import in_own_symbols
from dalembert.model.language.parse import parse_expression
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, name_of, symbol_table
from dalembert.model.simulation_options import duration_faults, option_faults
from dalembert.model.validate.expressions import ExpressionReader

SETTINGS = {"duration": float, "rtol": float, "atol": float, "samples": int, "method": str, "project": bool}
SETTINGS |= {"step": float, "order": int, "max_step": float}

# What settings are, in words.
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def read_parameters(given: Iterable[tuple[str, Any]], reader: ExpressionReader) -> dict[sp.Symbol, sp.Expr]:
    """Those whose values could be read."""
    found = {}
    for name, value in given:
        number = _number(value, f"parameter {name}", reader)
        if number is not None:
            found[reader.declared[name]] = number
    return found


def read_initial(given: Any, coordinates: tuple[Coordinate, ...], reader: ExpressionReader) -> dict[sp.Symbol, sp.Expr]:
    """Initial values, which may be computed from parameters."""
    known = symbol_table(coordinates, order=1)
    found: dict[sp.Symbol, sp.Expr] = {}
    for key, value in reader.mapping(given, "initial", "{x: 0}").items():
        name = name_of(key)
        if name not in known:
            reader.faults.append(f"initial: {name!r} is neither a coordinate nor a velocity.{suggest(name, known)}")
            continue
        where = f"initial {name}"
        if isinstance(value, (str, sp.Expr)) and not isinstance(value, sp.Number):
            expression = _in_parameters(value, where, reader)
        else:
            expression = _number(value, where, reader)
        if expression is not None:
            found[known[name]] = expression
    return found


def read_settings(given: Any, reader: ExpressionReader) -> dict[str, Any]:
    """Options of simulations that are the system's own."""
    found = {}
    for key, value in reader.mapping(given, "settings", "{'rtol': 1e-9}").items():
        if key not in SETTINGS:
            reader.faults.append(f"simulate: unknown setting {key!r}.{suggest(key, SETTINGS)}")
            continue
        kind = SETTINGS[key]
        wrong = isinstance(value, bool) != (kind is bool) or not isinstance(
            value, (int, float) if kind is float else kind
        )
        if wrong:
            reader.faults.append(f"simulate: {key} is {KINDS[kind]}, got {value!r}")
        else:
            found[key] = kind(value)
    if found:
        faults = (duration_faults(found["duration"]) if "duration" in found else []) + option_faults(found)
        reader.faults += [f"simulate: {fault}" for fault in faults]
    return found


def _number(given: Any, where: str, reader: ExpressionReader) -> sp.Expr | None:
    """A finite constant: a number, or text or an expression without names."""
    if isinstance(given, bool) or given is None:
        reader.faults.append(f"{where}: a number is wanted, got {given!r}")
        return None
    try:
        if isinstance(given, float):
            expression = sp.Float(float(given))  # NumPy's too, which SymPy takes long to read
        else:
            expression = (
                parse_expression(given, {}, where=where) if isinstance(given, str) else sp.sympify(given, strict=True)
            )
    except ExpressionError as error:
        reader.faults.append(str(error))
        return None
    except (sp.SympifyError, TypeError, ValueError):
        reader.faults.append(f"{where}: a number is wanted, got {given!r}")
        return None
    fits = expression.is_Atom or reader.functions_fit(expression, where, False)
    return _finite(expression, where, reader) if fits else None


def _finite(expression: sp.Basic, where: str, reader: ExpressionReader) -> sp.Expr | None:
    try:
        value = float(expression)
    except (TypeError, ValueError):
        reader.faults.append(f"{where}: a number is wanted, got {expression}")
        return None
    if not math.isfinite(value):
        shown = "NaN" if math.isnan(value) else "infinite"
        reader.faults.append(f"{where} is {shown}; a finite number is wanted")
        return None
    return expression


def _in_parameters(given: str | sp.Expr, where: str, reader: ExpressionReader) -> sp.Expr | None:
    """An initial value may be computed from parameters."""
    if isinstance(given, str):
        try:
            return parse_expression(given, reader.declared, where=where)
        except ExpressionError as error:
            reader.faults.append(str(error))
            return None
    if not reader.functions_fit(given, where, False):
        return None
    expression = in_own_symbols(given, reader.table)
    if not expression.free_symbols:
        return _finite(expression, where, reader)
    others = [
        s.name for s in expression.free_symbols if s == reader.table.get(s.name) and s.name not in reader.declared
    ]
    if others:
        reader.faults.append(f"{where}: an initial value may use parameters only, not {', '.join(sorted(others))}")
        return None
    return expression
