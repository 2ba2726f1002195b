"""From SymPy as a user writes it to the symbols and functions of a model, matched by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.model.language.contents import Contents, contents
from dalembert.model.language.functions import Unspecified, function_of
from dalembert.model.language.rates import partial
from dalembert.model.language.symbols import (
    Definition,
    Moving,
    Parameter,
    Reaction,
    is_name,
    is_of_time,
    name_of,
)


def in_own_symbols(expression: sp.Basic, table: Mapping[str, sp.Symbol], found: Contents | None = None) -> sp.Expr:
    """The same expression in this package's symbols, matched by name. found: what is in it, where that is known.

    Accepts SymPy's `dynamicsymbols` of coordinates and definitions (functions of t and their derivatives) and plain
    symbols. A symbol whose name is not in `table` becomes a parameter, a function that is no coordinate `Unspecified`.
    """
    found = contents(expression) if found is None else found
    if found.has(AppliedUndef, sp.Derivative, sp.Subs):
        expression = _with_symbols(expression, table)
        found = contents(expression)
    rename: dict[sp.Basic, sp.Basic] = {}
    for symbol in found.symbols:
        if isinstance(symbol, sp.Symbol) and not isinstance(symbol, Reaction):
            own = table.get(symbol.name)
            own = Parameter.named(symbol.name) if own is None else own
            if own != symbol:
                rename[symbol] = own
    return expression.xreplace(rename) if rename else expression


def _with_symbols(expression: sp.Basic, table: Mapping[str, sp.Symbol]) -> Any:
    """The expression with symbols for its functions of time, and its other functions as `Unspecified`."""
    # A total derivative is carried out before coordinates become symbols, which do not depend on t.
    total = {
        derivative: derivative.doit()
        for derivative in expression.atoms(sp.Derivative)
        if not is_of_time(derivative.expr) and any(is_of_time(f) for f in derivative.expr.atoms(AppliedUndef))
    }
    expression = expression.xreplace(total)
    swap: dict[sp.Basic, sp.Basic] = {}
    for derivative in expression.atoms(sp.Derivative):
        inner, *counts = derivative.args
        if is_of_time(inner) and len(counts) == 1 and _is_moving(name_of(inner), table):
            name = name_of(derivative)
            swap[derivative] = table.get(name, Parameter.named(name))
    for function in expression.atoms(AppliedUndef):
        if is_of_time(function) and _is_moving(name_of(function), table):
            swap[function] = table[name_of(function)]
    # From the outside in, so that a second derivative is met before the function inside it.
    return adopt(expression.xreplace(swap))


def _is_moving(name: str, table: Mapping[str, sp.Symbol]) -> bool:
    return isinstance(table.get(name), Moving)


def adopt(expression: sp.Basic) -> Any:
    """An expression with SymPy's undefined functions, `Derivative` and `Subs` of them as `Unspecified`."""
    if not expression.has(AppliedUndef, sp.Derivative, sp.Subs):
        return expression
    if isinstance(expression, sp.Subs):
        point = [adopt(value) for value in expression.point]
        return adopt(expression.expr).xreplace(dict(zip(expression.variables, point, strict=True)))
    if isinstance(expression, sp.Derivative):
        inner = adopt(expression.expr)
        for variable, count in expression.variable_count:
            inner = partial(inner, variable, int(count))
        return inner
    parts = [adopt(part) for part in expression.args]
    if isinstance(expression, AppliedUndef) and not isinstance(expression, Unspecified):
        return function_of(expression.func, (0,) * len(parts))(*parts)
    return expression.func(*parts) if tuple(parts) != expression.args else expression


def function_faults(expression: sp.Basic, table: Mapping[str, sp.Symbol], reserved: Iterable[str]) -> list[str]:
    """What is wrong with the functions of an expression that SymPy does not define. `table` has the names of the model
    (a `dynamicsymbols` of a coordinate is the coordinate), `reserved` those that mean something else.
    """
    faults: list[str] = []
    if not expression.has(AppliedUndef, sp.Derivative):
        return faults
    for function in sorted(expression.atoms(AppliedUndef), key=str):
        name = str(function.func.__name__)
        if isinstance(table.get(name), Moving):
            if not is_of_time(function):
                what = "definition" if isinstance(table[name], Definition) else "coordinate"
                faults.append(f"{function}: the {what} {name} is a function of the time t; write {name}(t)")
        elif name in table:
            faults.append(
                f"the function {function}: {name} is a parameter, which is constant; give the function another name"
            )
        elif not is_name(name):
            faults.append(f"the function {function}: a name has letters, digits and _ only, not starting with a digit")
        elif name in reserved:
            faults.append(f"the function {function}: the name {name} has a meaning of its own; choose another")
    for derivative in sorted(expression.atoms(sp.Derivative), key=str):
        inner, variables = derivative.expr, derivative.variables
        if not isinstance(inner, AppliedUndef) or not inner.free_symbols.issuperset(
            s for v in variables for s in v.free_symbols
        ):
            faults.append(f"{derivative} is not carried out. Write what it is, with x.d for the derivative of x")
    return faults


def faults_of_functions(expression: sp.Basic) -> list[str]:
    """Why a place that takes values cannot hold the functions of an expression; empty where it has none."""
    if not expression.has(AppliedUndef):
        return []
    return [
        f"the function {function} has no expression. Write its expression in its place"
        for function in sorted(expression.atoms(AppliedUndef), key=str)
    ]
