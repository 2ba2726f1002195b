"""Functions without an expression, g(t), V(x), F(x, y, z): what they depend on is known, and nothing else.

SymPy writes them `sp.Function("g")(t)` and their derivatives `Derivative`, which may be taken with respect to symbols
only: once a formulation puts another expression in the place of a velocity, no derivative is left. So a model holds
them as functions of their own kind, which know the order of the derivative in each argument; `given_back` writes
results in SymPy's way again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import sympy as sp
from sympy.core.function import AppliedUndef, ArgumentIndexError, UndefinedFunction
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.printer import Printer

from dalembert.model.language.contents import contents
from dalembert.model.language.symbols import Coordinate, t

Orders: TypeAlias = tuple[int, ...]
# Assumptions of a user's function that its values keep. They are real numbers anyway.
SIGNS = ("positive", "negative", "nonnegative", "nonpositive", "nonzero")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Unspecified(AppliedUndef):
    """A function without an expression, or a derivative of one, applied to arguments.

    `origin` is the user's `sp.Function`, `orders` how often it is differentiated with respect to each argument.
    `bare`: shown without its arguments, on a page that tells them once.

    >>> F = function_of(sp.Function("F"), (0, 0))(sp.Symbol("x"), t)
    >>> F, F.diff(t), F.diff(t, 2).orders
    (F(x, t), ∂F/∂t, (0, 2))
    """

    origin: Any = None
    orders: Orders = ()
    bare = False

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        # Derivatives of one function differ here, so that sums and products have one order: ∂F/∂x before ∂F/∂y.
        return 4, 0, f"{cls.__name__} {sum(cls.orders):04} {''.join(chr(1000 - n) for n in cls.orders)}"

    @property
    def title(self) -> str:
        """The name of the function."""
        return str(type(self).__name__)

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        if not 1 <= argindex <= len(self.args):
            raise ArgumentIndexError(self, argindex)
        orders = tuple(n + (k == argindex - 1) for k, n in enumerate(self.orders))
        return function_of(self.origin, orders)(*self.args)

    def lowered(self, variable: sp.Symbol) -> sp.Expr | None:
        """What this is the derivative of with respect to a variable, where it is one."""
        for k, argument in enumerate(self.args):
            others = (*self.args[:k], *self.args[k + 1 :])
            if argument == variable and self.orders[k] and not any(a.has(variable) for a in others):
                orders = tuple(n - (j == k) for j, n in enumerate(self.orders))
                return function_of(self.origin, orders)(*self.args)
        return None

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        kept = {key: True for key in SIGNS if self.origin._kwargs.get(key)}
        return _rebuild, (self.title, kept, self.origin._kwargs.get("real"), self.orders, self.args)

    # -- on a page

    @property
    def plain_arguments(self) -> bool:
        """Whether the arguments are symbols, each once, so that a derivative can be told by them: ∂F/∂x."""
        return all(a.is_Symbol for a in self.args) and len(set(self.args)) == len(self.args)

    @property
    def _by_arguments(self) -> bool:
        """Whether it is shown as ∂F/∂x, which tells arguments enough."""
        return any(self.orders) and len(self.args) > 1 and self.plain_arguments

    @property
    def precedence(self) -> int:
        return PRECEDENCE["Mul"] - 1 if self._by_arguments else PRECEDENCE["Atom"]

    def _sympystr(self, printer: Printer) -> str:
        text = function_name(self, printer)
        if self.bare or self._by_arguments:
            return text
        return f"{text}({', '.join(printer.doprint(argument) for argument in self.args)})"

    def _sympyrepr(self, printer: Printer) -> str:
        return self._sympystr(sp.printing.str.StrPrinter())

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        text = latex_written(self, printer)
        after = ""
        if not self.bare and not self._by_arguments:
            after = rf"\left({', '.join(printer.doprint(argument) for argument in self.args)}\right)"
        if exp is None:
            return text + after
        return rf"\left({text}{after}\right)^{{{exp}}}" if any(self.orders) else f"{text}^{{{exp}}}{after}"


def function_name(function: Unspecified, printer: Printer) -> str:
    """The function without its arguments: g, g', ∂F/∂x, ∂²F/∂x∂y; ∂₁F where an argument is no symbol."""
    name, orders = function.title, function.orders
    total = sum(orders)
    if not total:
        return name
    if len(orders) == 1:
        return name + ("'" * total if total <= 3 else f"^({total})")
    if function.plain_arguments:
        power = "" if total == 1 else str(total).translate(_SUPERSCRIPTS)
        below = "".join(
            f"∂{printer.doprint(a)}{'' if n == 1 else str(n).translate(_SUPERSCRIPTS)}"
            for a, n in zip(function.args, orders, strict=True)
            if n
        )
        return f"∂{power}{name}/{below}"
    return "".join(f"∂{str(k).translate(_SUBSCRIPTS)}" * n for k, n in enumerate(orders, 1)) + name


def latex_written(function: Unspecified, printer: Printer) -> str:
    """The same for LaTeX, with dots for derivatives of functions of time."""
    name, orders = printer.doprint(sp.Symbol(function.title)), function.orders
    total = sum(orders)
    if not total:
        return str(name)
    if len(orders) == 1:
        if function.args[0] == t and total <= 3:
            return rf"\{'d' * total}ot{{{name}}}"
        return f"{name}" + ("'" * total if total <= 3 else f"^{{({total})}}")
    power = "" if total == 1 else f"^{{{total}}}"
    if function.plain_arguments:
        below = " ".join(
            rf"\partial {printer.doprint(a)}" + ("" if n == 1 else f"^{{{n}}}")
            for a, n in zip(function.args, orders, strict=True)
            if n
        )
        return rf"\frac{{\partial{power} {name}}}{{{below}}}"
    below = " ".join(rf"\partial_{{{k}}}" + ("" if n == 1 else f"^{{{n}}}") for k, n in enumerate(orders, 1) if n)
    return rf"{below} {name}"


@lru_cache(maxsize=4096)
def function_of(origin: Any, orders: Orders, bare: bool = False) -> Any:
    """The derivative of these orders of a function, to be applied."""
    kept = {key: True for key in SIGNS if origin._kwargs.get(key)} if not any(orders) else {}
    known = {"origin": origin, "orders": orders, "bare": bare, "real": True, **kept}
    return UndefinedFunction(origin.__name__, bases=(Unspecified,), **known)


def _rebuild(
    name: str, kept: dict[str, bool], real: bool | None, orders: Orders, args: tuple[sp.Basic, ...]
) -> sp.Expr:
    origin = sp.Function(name, **kept, **({} if real is None else {"real": real}))
    return function_of(origin, orders)(*args)


# -- as SymPy writes them


def given_back(expression: sp.Basic) -> Any:
    """An expression as SymPy writes it: `g(t)`, `Derivative(g(t), t)`, `Subs(Derivative(V(u), u), u, 2*x)`."""
    if not expression.has(Unspecified):
        return expression
    if isinstance(expression, sp.MatrixBase):
        return expression.applyfunc(given_back)
    parts = [given_back(part) for part in expression.args]
    if not isinstance(expression, Unspecified):
        return expression.func(*parts)
    f, orders = expression.origin, expression.orders
    moved = [k for k, n in enumerate(orders) if n]
    if not moved:
        return f(*parts)
    # By t beside coordinates: once the function has an expression, t itself would refuse to differentiate it.
    ambiguous = any(parts[k] == t for k in moved) and any(part.has(Coordinate) for part in parts)
    symbols = all(parts[k].is_Symbol and not any(p.has(parts[k]) for j, p in enumerate(parts) if j != k) for k in moved)
    if symbols and not ambiguous:
        return sp.Derivative(f(*parts), *((parts[k], orders[k]) for k in moved))
    names = {k: sp.Dummy(f"xi_{k + 1}") for k in moved}
    inner = f(*(names.get(k, part) for k, part in enumerate(parts)))
    slope = sp.Derivative(inner, *((names[k], orders[k]) for k in moved))
    return sp.Subs(slope, tuple(names.values()), tuple(parts[k] for k in moved))


# -- which there are


def functions_in(expressions: Iterable[sp.Basic]) -> dict[str, set[Unspecified]]:
    """The functions of expressions by name, each with the ways in which it is applied."""
    found: dict[str, set[Unspecified]] = {}
    every = list(expressions)
    if not contents(*every).has(Unspecified):
        return found
    for expression in every:
        for applied in expression.atoms(Unspecified):
            found.setdefault(applied.title, set()).add(applied)
    return dict(sorted(found.items()))


def names_of(functions: Mapping[str, Iterable[Unspecified]]) -> str:
    """The functions as one writes them, g(t), F(x, y)."""
    shown = {f"{name}({', '.join(map(str, applied.args))})" for name, group in functions.items() for applied in group}
    return ", ".join(sorted(shown))
