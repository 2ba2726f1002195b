"""The symbols of a model: coordinates and definitions with their time derivatives, parameters, time, reactions.

All are SymPy symbols with a readable name (`x`, `x'`, `x''`), so every SymPy function works on them, and
differentiation with respect to time is ours to do explicitly: no hidden functions of time. For SymPy a symbol is a
constant beside the time, so that the time refuses a derivative by it that would lose velocities: `rates` has `rate`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Never, Self, TypeVar

import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.errors import AmbiguousDerivative, ModelError
from dalembert.model.language.one_object import OneObject

Kind = TypeVar("Kind", bound=sp.Symbol)


def is_name(text: str) -> bool:
    """Whether a text may name a coordinate or parameter: letters, digits and _, not starting with a digit."""
    return text.isidentifier()


def name_of(item: object) -> str:
    """The name of a symbol, of a `dynamicsymbols` function or its derivative (`x`, `x'`, `x''`), or of a text."""
    if isinstance(item, sp.Symbol):
        return str(item.name)
    if isinstance(item, sp.Derivative):
        return name_of(item.expr) + "'" * int(item.derivative_count)
    return type(item).__name__ if is_of_time(item) else str(item)


def is_of_time(item: object) -> bool:
    """Whether this is a function of the time t alone, as `dynamicsymbols` makes them."""
    return isinstance(item, AppliedUndef) and len(item.args) == 1 and str(item.args[0]) == "t"


class Moving(OneObject):
    """What changes along a motion: a symbol that has time derivatives, themselves symbols with primes."""

    __slots__ = ("_rate",)

    @property
    def base(self) -> str:
        """The name without primes."""
        return self.name.rstrip("'")

    @property
    def order(self) -> int:
        """How often it is differentiated: 0, 1 or 2."""
        return self.name.count("'")

    @property
    def d(self) -> Self:
        """The time derivative."""
        try:
            return self._rate
        except AttributeError:
            if self.order >= 2:
                message = f"{self.name} is a second derivative; a model has no higher ones"
                raise AttributeError(message) from None
        self._rate: Self = self.named(self.name + "'")
        return self._rate

    @property
    def dd(self) -> Self:
        """The second time derivative."""
        return self.d.d

    def _latex(self, printer: sp.printing.printer.Printer, exp: str | None = None) -> str:
        body = printer.doprint(sp.Symbol(self.base))
        text = {0: body, 1: rf"\dot{{{body}}}", 2: rf"\ddot{{{body}}}"}[self.order]
        return text if exp is None else f"{text}^{{{exp}}}"


class Coordinate(Moving):
    """A generalized coordinate, or its first or second time derivative.

    >>> x = Coordinate.named("x")
    >>> x.d, x.dd, x.d.order
    (x', x'', 1)
    """

    __slots__ = ()


class Definition(Moving):
    """A quantity that a model defines by an expression, or its first or second rate: see `System.definitions`.

    >>> tip, = definitions("tip")
    >>> tip.d**2
    tip'**2
    """

    __slots__ = ()


class Parameter(OneObject):
    """A constant of the model."""

    __slots__ = ()


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


class Time(sp.Symbol):
    """The time. Derivatives by it are SymPy's, but for what changes with time without showing it: a coordinate, a
    velocity, a definition, a constraint force, a function of another symbol called t. SymPy would take these for
    constants, and a model would be wrong without a sign of it; so this raises `AmbiguousDerivative`, which names the
    alternatives.

    ∂F/∂t of a function without expression, F(x, t), is let be: it is written as such. So is a derivative that is not
    carried out, `sp.Derivative(x, t)`, which models refuse.
    """

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        """In sums and products it stands where a plain symbol does."""
        return 2, 0, "Symbol"

    @property
    def _diff_wrt(self) -> bool:
        # SymPy asks a symbol whether one may differentiate by it, and finds 0 at once where the symbol is not in the
        # expression: there is no later place to object. What is differentiated stands in the frame that asks.
        asking = sys._getframe(1)
        if asking.f_globals.get("__name__") != "sympy.core.function" or asking.f_code.co_name != "__new__":
            return True
        if "expr" not in asking.f_locals or "kwargs" not in asking.f_locals:
            return False  # a SymPy that does not show what is differentiated: then nothing is
        expression, carried_out = asking.f_locals["expr"], asking.f_locals["kwargs"].get("evaluate", False)
        if not carried_out or not isinstance(expression, sp.Basic):
            return True
        moving = self._changing_unseen(expression)
        if moving and not self._is_argument_of(expression) and not self._is_argument_of(_differentiated_by(asking)):
            shown = str(expression)
            raise AmbiguousDerivative(
                f"the derivative by t of {shown if len(shown) <= 80 else shown[:77] + '…'}: {', '.join(moving)} would "
                "count as constant. Write da.rate(…) for the derivative along a motion; for the partial one, put "
                "another symbol in the place of da.t first"
            )
        return True

    def _changing_unseen(self, expression: sp.Basic) -> list[str]:
        found = expression.atoms(Moving, Reaction)
        found |= {symbol for symbol in expression.atoms(sp.Symbol) if symbol.name == self.name and symbol != self}
        return sorted({f"{s} (another symbol than da.t)" if s.name == self.name else s.name for s in found})

    def _is_argument_of(self, expression: object) -> bool:
        """Whether this is a function without expression, or a derivative of one, with t for an argument."""
        function = expression.expr if isinstance(expression, sp.Derivative) else expression
        return isinstance(function, AppliedUndef) and self in function.args


def _differentiated_by(frame: FrameType) -> object:
    """What differentiates its parts by the chain rule and has come to this frame of SymPy with one of them."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_name in ("_derivative_dispatch", "diff"):
        caller = caller.f_back
    return caller.f_locals.get("self") if caller is not None and caller.f_code.co_name == "_eval_derivative" else None


_LATEX_MARKS = {mark: "\\" + mark for mark in "{}$&#_%"}
_LATEX_MARKS |= {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}

#: The parameters that say on which side of a kink a motion is begin like this: see `kinks`.
SIDE = "dalembert_side_"
#: Time.
t = Time("t", real=True)


def _split(names: str, maker: str) -> list[str]:
    if not isinstance(names, str):
        raise ModelError(f"da.{maker}", [f'names are one text, as in da.{maker}("a b"), got {names!r}'])
    found = [name for name in re.split(r"[\s,]+", names) if name]
    for name in found:
        if not is_name(name):
            raise ValueError(f"{name!r} is not a name: letters, digits and _ only, not starting with a digit")
    if not found:
        raise ValueError("no name given")
    return found


class Symbols(tuple[Kind, ...]):
    """Symbols made together. It is a tuple also where there is only one, unlike what SymPy gives for one name: so
    `System(coordinates=da.coordinates(names))` takes any number of them. Used as a symbol, it says how to take it out.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Never:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"a tuple of symbols has no {name!r}: {self._remedy()}")

    def _is_no_symbol(self, *others: object) -> Never:
        raise TypeError(f"a tuple of symbols is not one: {self._remedy()}")

    def _remedy(self) -> str:
        names = [symbol.name for symbol in self]
        kinds = {Parameter: "parameters", Definition: "definitions"}
        maker = kinds.get(type(self[0]), "coordinates") if self else "coordinates"
        comma = "," if len(names) == 1 else ""
        alone = " (the comma takes the one that is in it)" if comma else ""
        return f'write {", ".join(names)}{comma} = da.{maker}("{" ".join(names)}"){alone}'

    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _is_no_symbol
    __sub__ = __rsub__ = __neg__ = _is_no_symbol


def coordinates(names: str) -> Symbols[Coordinate]:
    """Coordinates from a text of names: always a tuple, so one alone is taken as `x, = coordinates("x")`.

    >>> x, y = coordinates("x y")
    >>> x.d
    x'
    >>> theta, = coordinates("theta")
    """
    return Symbols(Coordinate.named(name) for name in _split(names, "coordinates"))


def parameters(names: str) -> Symbols[Parameter]:
    """Parameters from a text of names: always a tuple, so one alone is taken as `m, = parameters("m")`.

    >>> m, g = parameters("m g")
    """
    return Symbols(Parameter.named(name) for name in _split(names, "parameters"))


def definitions(names: str) -> Symbols[Definition]:
    """Symbols of definitions from a text of names, to write expressions that use them: always a tuple.

    >>> import dalembert as da
    >>> a, = da.coordinates("a")
    >>> tip, = da.definitions("tip")
    >>> swing = da.System("swing", coordinates=[a], definitions={tip: 2*sp.sin(a)}, kinetic=tip.d**2/2 + a.d**2)
    >>> swing.kinetic, dict(swing.definitions)
    (a'**2 + tip'**2/2, {'tip': 2*sin(a)})
    """
    return Symbols(Definition.named(name) for name in _split(names, "definitions"))


def symbol_table(
    moving: Iterable[Moving], parameters: Iterable[sp.Symbol] = (), *, order: int = 2
) -> dict[str, sp.Symbol]:
    """The symbols of a model by their names: time, coordinates (and definitions) with their derivatives up to an order,
    parameters.
    """
    found: dict[str, sp.Symbol] = {t.name: t}
    for q in moving:
        found.update((symbol.name, symbol) for symbol in (q, q.d, q.dd)[: order + 1])
    found.update((symbol.name, symbol) for symbol in parameters)
    return found


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
