"""The symbols of a model: coordinates with their time derivatives, parameters, time, reactions.

All are plain SymPy symbols with a readable name (`x`, `x'`, `x''`), so every SymPy function works on them,
and differentiation with respect to time is ours to do explicitly: no hidden functions of time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef


def is_name(text: str) -> bool:
    """Whether a text may name a coordinate or parameter: letters, digits and _, not starting with a digit."""
    return text.isidentifier()


def name_of(item: object) -> str:
    """The name of a symbol, of a `dynamicsymbols` function or its derivative (`x`, `x'`, `x''`), or of a text."""
    if isinstance(item, sp.Derivative):
        return name_of(item.expr) + "'" * int(item.derivative_count)
    return type(item).__name__ if is_of_time(item) else str(item)


def is_of_time(item: object) -> bool:
    """Whether this is a function of the time t alone, as `dynamicsymbols` makes them."""
    return isinstance(item, AppliedUndef) and len(item.args) == 1 and str(item.args[0]) == "t"


class Coordinate(sp.Symbol):
    """A generalized coordinate, or its first or second time derivative.

    >>> x = Coordinate.named("x")
    >>> x.d, x.dd, x.d.order
    (x', x'', 1)
    """

    @classmethod
    def named(cls, name: str) -> Coordinate:
        return cls(name, real=True)

    @property
    def base(self) -> str:
        """The name without primes."""
        return self.name.rstrip("'")

    @property
    def order(self) -> int:
        """0 for a coordinate, 1 for its velocity, 2 for its acceleration."""
        return len(self.name) - len(self.base)

    @property
    def d(self) -> Coordinate:
        """The time derivative."""
        if self.order >= 2:
            raise AttributeError(f"{self.name} is an acceleration; a model has no higher derivatives")
        return Coordinate.named(self.name + "'")

    @property
    def dd(self) -> Coordinate:
        """The second time derivative."""
        return self.d.d

    def _latex(self, printer: sp.printing.printer.Printer, exp: str | None = None) -> str:
        body = printer.doprint(sp.Symbol(self.base))
        text = {0: body, 1: rf"\dot{{{body}}}", 2: rf"\ddot{{{body}}}"}[self.order]
        return text if exp is None else f"{text}^{{{exp}}}"


class Parameter(sp.Symbol):
    """A constant of the model."""

    @classmethod
    def named(cls, name: str) -> Parameter:
        return cls(name, real=True)


class Reaction(sp.Symbol):
    """What a constraint answers: `ideal(x)` or `actual(x)`, a component of the force of all constraints together, or
    `multiplier(name)`, the multiplier of one of them.
    """

    @classmethod
    def of(cls, kind: str, name: str) -> Reaction:
        return cls(f"{kind}({name})", real=True)

    @property
    def kind(self) -> str:
        return self.name.partition("(")[0]

    @property
    def coordinate(self) -> str:
        """The name in parentheses: of a coordinate, or of a constraint where the kind is "multiplier"."""
        return self.name[len(self.kind) + 1 : -1]

    def _latex(self, printer: sp.printing.printer.Printer, exp: str | None = None) -> str:
        if self.kind == "multiplier":
            # The name of a constraint is free text.
            name = "".join(_LATEX_MARKS.get(mark, mark) for mark in self.coordinate)
            text = rf"\lambda_{{\text{{{name}}}}}"
        else:
            which = {"ideal": "i", "actual": "c"}[self.kind]
            text = rf"Q^{{{which}}}_{{{printer.doprint(sp.Symbol(self.coordinate))}}}"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


_LATEX_MARKS = {mark: "\\" + mark for mark in "{}$&#_%"}
_LATEX_MARKS |= {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}

#: The parameters that say on which side of a kink a motion is begin like this: see `kinks`.
SIDE = "dalembert_side_"
#: Time.
t = sp.Symbol("t", real=True)


def _split(names: str) -> list[str]:
    found = [name for name in re.split(r"[\s,]+", names) if name]
    for name in found:
        if not is_name(name):
            raise ValueError(f"{name!r} is not a name: letters, digits and _ only, not starting with a digit")
    if not found:
        raise ValueError("no name given")
    return found


def coordinates(names: str) -> tuple[Coordinate, ...]:
    """Coordinates from a text of names: always a tuple, so one alone is taken as `x, = coordinates("x")`.

    >>> x, y = coordinates("x y")
    >>> x.d
    x'
    """
    return tuple(Coordinate.named(name) for name in _split(names))


def parameters(names: str) -> tuple[Parameter, ...]:
    """Parameters from a text of names, as a tuple.

    >>> m, g = parameters("m g")
    """
    return tuple(Parameter.named(name) for name in _split(names))


def canonical(expression: sp.Basic, table: Mapping[str, sp.Symbol]) -> sp.Expr:
    """The same expression in this package's symbols, matched by name.

    Accepts SymPy's `dynamicsymbols` of coordinates (functions of t and their derivatives) and plain symbols. A symbol
    whose name is not in `table` becomes a parameter. Functions that are no coordinate stay as they are: they are no
    constants, and `unknown_functions` tells of them.
    """
    swap: dict[sp.Basic, sp.Basic] = {}
    for derivative in expression.atoms(sp.Derivative):
        inner, *counts = derivative.args
        if is_of_time(inner) and len(counts) == 1 and _is_coordinate(name_of(inner), table):
            name = name_of(derivative)
            swap[derivative] = table.get(name, Parameter.named(name))
    for function in expression.atoms(AppliedUndef):
        if is_of_time(function) and _is_coordinate(name_of(function), table):
            swap[function] = table[name_of(function)]
    # From the outside in, so that a second derivative is met before the function inside it.
    expression = expression.xreplace(swap)
    rename = {
        symbol: table.get(symbol.name, Parameter.named(symbol.name))
        for symbol in expression.free_symbols
        if isinstance(symbol, sp.Symbol) and not isinstance(symbol, Reaction)
    }
    return expression.xreplace({old: new for old, new in rename.items() if old != new})


def _is_coordinate(name: str, table: Mapping[str, sp.Symbol]) -> bool:
    return isinstance(table.get(name), Coordinate)


def unknown_functions(expression: sp.Basic, table: Mapping[str, sp.Symbol]) -> list[str]:
    """What is wrong with the functions of an expression that SymPy does not define, as `sp.Function("g")(t)`: all but
    `dynamicsymbols` of coordinates. `table` has the coordinates among its symbols. Empty where nothing is.
    """
    functions = expression.atoms(AppliedUndef, sp.Derivative)
    if not functions:
        return []
    names = [s.name for s in table.values() if isinstance(s, Coordinate) and not s.order]
    faults = []
    for function in sorted(expression.atoms(AppliedUndef), key=str):
        name = str(function.func.__name__)
        if name in names:
            if not is_of_time(function):
                faults.append(f"{function}: the coordinate {name} is a function of the time t; write {name}(t)")
        elif is_of_time(function):
            also = f"; {name} is a parameter, which is constant" if name in table else ""
            faults.append(
                f"the function {function} has no expression and is no coordinate{also} (coordinates: "
                f"{', '.join(names) or 'none'}). Write its expression in its place, such as sin(t)"
            )
        else:
            faults.append(f"the function {function} has no expression. Write its expression in its place")
    if faults:
        return faults
    for derivative in sorted(expression.atoms(sp.Derivative), key=str):
        if not is_of_time(derivative.expr):
            faults.append(f"{derivative} is not carried out. Write what it is, with x.d for the derivative of x")
    return faults


def ideal(coordinate: Coordinate) -> Reaction:
    """In a work expression: the component along a coordinate of the ideal constraint force, as if C were
    zero.
    """
    return Reaction.of("ideal", coordinate.name)


def actual(coordinate: Coordinate) -> Reaction:
    """In a work expression: the component along a coordinate of the actual constraint force Aᵀλ."""
    return Reaction.of("actual", coordinate.name)


def multiplier(name: str) -> Reaction:
    """In a work expression or an event: the multiplier λ of the constraint of this name, M q̈ = Q + C + Aᵀλ."""
    return Reaction.of("multiplier", name)
