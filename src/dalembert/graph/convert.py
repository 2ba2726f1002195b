"""SymPy expressions as CasADi graphs. Only what keeps its meaning is converted; anything else is refused by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca
import sympy as sp

from dalembert.errors import ModelError
from dalembert.graph.rates import rate_node
from dalembert.model.definitions import NO_DEFINITIONS, Definitions
from dalembert.model.language.rates import rate
from dalembert.model.language.symbols import Definition

_UNARY: dict[type, Callable[[ca.SX], ca.SX]] = {
    sp.sin: ca.sin,
    sp.cos: ca.cos,
    sp.tan: ca.tan,
    sp.asin: ca.asin,
    sp.acos: ca.acos,
    sp.atan: ca.atan,
    sp.sinh: ca.sinh,
    sp.cosh: ca.cosh,
    sp.tanh: ca.tanh,
    sp.asinh: ca.asinh,
    sp.acosh: ca.acosh,
    sp.atanh: ca.atanh,
    sp.exp: ca.exp,
    sp.log: ca.log,
    sp.Abs: ca.fabs,
    sp.sign: ca.sign,
    sp.erf: ca.erf,
    sp.floor: ca.floor,
    sp.ceiling: ca.ceil,
    sp.sec: lambda x: 1 / ca.cos(x),
    sp.csc: lambda x: 1 / ca.sin(x),
    sp.cot: lambda x: 1 / ca.tan(x),
}
_COMPARE: dict[type, Callable[[ca.SX, ca.SX], ca.SX]] = {
    sp.StrictLessThan: lambda a, b: a < b,
    sp.LessThan: lambda a, b: a <= b,
    sp.StrictGreaterThan: lambda a, b: a > b,
    sp.GreaterThan: lambda a, b: a >= b,
    sp.Equality: lambda a, b: a == b,
    sp.Unequality: lambda a, b: a != b,
}


class Converter:
    """Turns SymPy expressions into CasADi scalars; shared subexpressions are converted once, as are definitions and
    their rates, which all that use them share.
    """

    def __init__(self, symbols: Mapping[sp.Symbol, ca.SX], definitions: Definitions = NO_DEFINITIONS) -> None:
        self._done: dict[sp.Basic, ca.SX] = dict(symbols)
        self._definitions = definitions

    def __call__(self, expression: sp.Basic) -> ca.SX:
        done = self._done.get(expression)
        if done is None:
            done = self._done[expression] = self._convert(expression)
        return done

    def column(self, expressions: list[sp.Expr]) -> ca.SX:
        """A column vector of the expressions, of length zero where there are none."""
        return ca.vertcat(*(self(e) for e in expressions)) if expressions else ca.SX(0, 1)

    def _convert(self, expression: sp.Basic) -> ca.SX:
        if isinstance(expression, Definition):
            for symbol in self._definitions.needed([expression], self._done):
                self._done[symbol] = self._defined(symbol)
            return self._done[expression]
        if isinstance(expression, sp.Symbol):
            raise ModelError("model", [f"{expression.name!r} is no coordinate, parameter or time of this system"])
        if expression.is_number and not expression.atoms(sp.Function):
            return ca.SX(float(expression))
        if isinstance(expression, sp.Add):
            terms = [self(term) for term in expression.args]
            return _fold(terms, lambda a, b: a + b)
        if isinstance(expression, sp.Mul):
            return self._product(expression)
        if isinstance(expression, sp.Pow):
            return self._power(*expression.args)
        if isinstance(expression, sp.atan2):
            return ca.atan2(self(expression.args[0]), self(expression.args[1]))
        if isinstance(expression, sp.Min):
            return _fold([self(a) for a in expression.args], ca.fmin)
        if isinstance(expression, sp.Max):
            return _fold([self(a) for a in expression.args], ca.fmax)
        if isinstance(expression, sp.Heaviside):
            return (1 + ca.sign(self(expression.args[0]))) / 2
        if isinstance(expression, sp.Piecewise):
            return self._piecewise(expression)
        convert = _UNARY.get(expression.func)
        if convert is None or len(expression.args) != 1:
            raise ModelError("model", [f"{expression.func} has no numeric form here (in {expression})"])
        return convert(self(expression.args[0]))

    def _defined(self, symbol: Definition) -> ca.SX:
        value = self._definitions.values[symbol.base]
        if symbol.order == 0:
            return self(value)
        return rate_node(value if symbol.order == 1 else rate(value), self)

    def _product(self, expression: sp.Mul) -> ca.SX:
        """Factors with negative powers are gathered into one denominator: one division instead of many."""
        above, below = [], []
        for factor in expression.args:
            base, exponent = factor.as_base_exp()
            if exponent.is_number and exponent.is_negative and not factor.is_number:
                below.append(self._power(base, -exponent))
            else:
                above.append(self(factor))
        top = _fold(above, lambda a, b: a * b) if above else ca.SX(1)
        return top / _fold(below, lambda a, b: a * b) if below else top

    def _power(self, base: sp.Basic, exponent: sp.Basic) -> ca.SX:
        if base is sp.E:
            return ca.exp(self(exponent))
        x = self(base)
        if exponent == sp.Rational(1, 2):
            return ca.sqrt(x)
        if exponent == sp.Rational(-1, 2):
            return 1 / ca.sqrt(x)
        if isinstance(exponent, sp.Integer):
            size = abs(int(exponent))
            result = _integer_power(x, size) if size <= 16 else x**size
            return 1 / result if exponent < 0 else result
        return x ** self(exponent)

    def _piecewise(self, expression: sp.Piecewise) -> ca.SX:
        result = ca.SX(float("nan"))
        for value, condition in reversed(expression.args):
            result = (
                self(value) if condition == sp.true else ca.if_else(self._condition(condition), self(value), result)
            )
        return result

    def _condition(self, condition: sp.Basic) -> ca.SX:
        compare = _COMPARE.get(condition.func)
        if compare is not None:
            return compare(self(condition.args[0]), self(condition.args[1]))
        if isinstance(condition, sp.And):
            return _fold([self._condition(a) for a in condition.args], ca.logic_and)
        if isinstance(condition, sp.Or):
            return _fold([self._condition(a) for a in condition.args], ca.logic_or)
        raise ModelError("model", [f"the condition {condition} has no numeric form here"])


def _fold(items: list[ca.SX], combine: Callable[[ca.SX, ca.SX], ca.SX]) -> ca.SX:
    result = items[0]
    for item in items[1:]:
        result = combine(result, item)
    return result


def _integer_power(x: ca.SX, exponent: int) -> ca.SX:
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        if exponent:
            x = x * x
    return ca.SX(1) if result is None else result
