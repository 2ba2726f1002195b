"""Derivatives by time: along a motion (`rate`), and with everything else held (`partial`)."""

from __future__ import annotations

from typing import Any, TypeVar

import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.errors import AmbiguousDerivative
from dalembert.model.language.symbols import Moving, Reaction, t

Of = TypeVar("Of", bound=sp.Basic)

# Stands for the time while one differentiates by it and holds everything else; `t` itself refuses that.
_CLOCK = sp.Dummy("t", real=True)


def rate(expression: Any) -> Any:
    """The derivative by time along a motion, d/dt = ∂/∂t + q̇ ∂/∂q + q̈ ∂/∂q̇, of an expression or a matrix of them.

    Coordinates and velocities change, as do functions of time, `sp.Function("g")(da.t)`, and definitions, which have
    their rate `tip.d`; every other symbol is a constant. There is none of an acceleration or of a constraint force: a
    model has no symbols for it.

    >>> import dalembert as da
    >>> x, a = da.coordinates("x a")
    >>> l, = da.parameters("l")
    >>> da.rate(x + l*sp.sin(a))
    a'*l*cos(a) + x'
    >>> da.rate(x.d * sp.sin(2*da.t))
    2*x'*cos(2*t) + x''*sin(2*t)
    """
    try:
        given = sp.sympify(expression, strict=True)
    except sp.SympifyError:
        message = f"the rate of an expression in SymPy's symbols is wanted, got {expression!r}"
        raise AmbiguousDerivative(message) from None
    if isinstance(given, sp.MatrixBase):
        return given.applyfunc(rate)
    if not isinstance(given, sp.Expr):
        raise AmbiguousDerivative(f"the rate of an expression is wanted, got {given}")
    if any(t in derivative.variables and _moves(derivative.expr) for derivative in given.atoms(sp.Derivative)):
        raise AmbiguousDerivative(f"{given} holds a derivative by t that is not taken: write da.rate(…) for it")
    moving = sorted(given.atoms(Moving), key=lambda symbol: symbol.name)
    _refuse(given, moving)
    times = {symbol for symbol in given.atoms(sp.Symbol) if symbol.name == t.name}
    parts = [partial(given, symbol) for symbol in sorted(times, key=str)]
    return sp.Add(*parts, *(partial(given, symbol) * symbol.d for symbol in moving))


def _moves(expression: sp.Expr) -> bool:
    """Whether coordinates or definitions stand in it other than as arguments of a function without an expression."""
    return not isinstance(expression, AppliedUndef) and bool(expression.atoms(Moving))


def _refuse(expression: sp.Expr, moving: list[Moving]) -> None:
    fast = [symbol.name for symbol in moving if symbol.order == 2]
    if fast:
        raise AmbiguousDerivative(f"the rate of {fast[0]}, a second derivative: a model has no third derivatives")
    forces = sorted(symbol.name for symbol in expression.atoms(Reaction))
    if forces:
        raise AmbiguousDerivative(f"the rate of {forces[0]}, a constraint force: a model has no symbol for it")
    names = {symbol.name for symbol in moving}
    for symbol in expression.atoms(sp.Symbol):
        if symbol.name in names and not isinstance(symbol, Moving):
            message = (
                f"{symbol.name} changes along a motion and is another symbol as well, which would count as constant"
            )
            raise AmbiguousDerivative(f"{message}: use the one of da.coordinates or da.definitions throughout")


def partial(expression: sp.Expr, symbol: sp.Symbol, times: int = 1) -> sp.Expr:
    """∂/∂symbol, so many times, with every other symbol held, also where it is the time. Where sign(…) jumps, the
    derivative is that of its sides: no motion stays on the jump.
    """
    if symbol not in expression.free_symbols:
        return sp.S.Zero if times else expression
    derivative = time_given_back(sp.diff(time_held(expression), time_held(symbol), times))
    return derivative.replace(sp.DiracDelta, lambda *_: sp.S.Zero) if derivative.has(sp.DiracDelta) else derivative


def time_held(expression: Of) -> Of:
    """The expression with a plain symbol for the time, for what SymPy does with it by differentiating."""
    return expression.xreplace({t: _CLOCK})


def time_given_back(expression: Of) -> Of:
    """The expression with the time again in the place of that symbol."""
    return expression.xreplace({_CLOCK: t})
