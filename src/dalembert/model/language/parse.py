"""The expression language of model documents: read safely, never executed.

`'` marks a time derivative, `^` and `**` are powers, `left = right` is an equation, `left >= right` a
one-sided one. The text is cut into
tokens first; every name and number is replaced by a placeholder, and only then does Python's parser see it,
so that no word of the text has a meaning to Python. The tree that comes back may hold sums, products, powers,
signs, calls of known functions, `rate(…)` and comparisons in `where(…)`, nothing else. Constant parts are computed in
floating point before SymPy sees them: `9**9**9**9` is refused, not computed.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import NoReturn

import sympy as sp

from dalembert.errors import AmbiguousDerivative, ExpressionError
from dalembert.model.language.constants import (
    MAX_EXPONENT,
    Denominator,
    ExponentTooLarge,
    OutOfRange,
    logarithms_tamed,
    number_of_text,
    power,
    tame,
)
from dalembert.model.language.functions import Unspecified, function_of
from dalembert.model.language.rates import rate
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Reaction, is_name
from dalembert.model.language.vocabulary import (
    CHOICE,
    CONSTANTS,
    FUNCTIONS,
    MULTIPLIER_OF,
    PARTIAL,
    RATE,
    REACTIONS,
)

# Far above any hand-written or generated energy seen in practice, far below what could exhaust memory or the
# stack.
MAX_CHARACTERS = 400_000  # an energy of ten thousand bodies
MAX_TERMS = 1000  # that Python's parser is given at once
MAX_DEPTH = 80
MAX_DIGITS = 1100  # of a number as written: the longest double, written in full, has 767 digits after 307 zeros

MAX_RATE = 1000  # parts of what is differentiated: a product of n factors has a rate of n² ones

NONE: Mapping[str, int] = MappingProxyType({})

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)(?P<primes>['′’]*)"
    r"|(?P<operator>\*\*|==|>=|<=|[-+*/^(),=<>])"
    r"|(?P<space>\s+)"
)


@dataclass(frozen=True)
class _Piece:
    """A subexpression, with its floating value where it is a constant."""

    expression: sp.Expr
    value: float | None


def parse_expression(
    text: str,
    table: Mapping[str, sp.Symbol],
    *,
    where: str,
    reactions: bool = False,
    offered: Iterable[str] | None = None,
    functions: Mapping[str, int] = NONE,
) -> sp.Expr:
    """An expression from text. `table` maps every name that may appear to its symbol; `where` begins
    messages. offered: the names to propose in place of an unknown one (default: all). functions: those without an
    expression, each with the number of its arguments.

    >>> from dalembert.model.language.symbols import coordinates
    >>> x, = coordinates("x")
    >>> parse_expression("2*x'^2", {"x'": x.d}, where="kinetic")
    2*x'**2
    """
    reader = _Reader(text, table, where, reactions, offered, functions)
    sides = reader.sides()
    if len(sides) != 1:
        reader.refuse(f"an expression is wanted here, not an equation: remove {reader.relation!r}")
    return sides[0]


def parse_equation(
    text: str, table: Mapping[str, sp.Symbol], *, where: str, functions: Mapping[str, int] = NONE
) -> sp.Expr:
    """`left = right` as left − right; a bare expression as itself (it is understood to be zero)."""
    reader = _Reader(text, table, where, reactions=False, functions=functions)
    sides = reader.sides()
    if reader.relation in ("<=", ">="):
        reader.refuse(f"an equation is wanted here: write '=' instead of {reader.relation!r}")
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def parse_constraint(
    text: str, table: Mapping[str, sp.Symbol], *, where: str, functions: Mapping[str, int] = NONE
) -> tuple[sp.Expr, bool]:
    """As `parse_equation`; or `left >= right` as left − right, which is never negative, and whether it is of that kind.

    >>> from dalembert.model.language.symbols import coordinates
    >>> x, = coordinates("x")
    >>> parse_constraint("2 <= x", {"x": x}, where="wall")
    (x - 2, True)
    """
    reader = _Reader(text, table, where, reactions=False, functions=functions)
    sides = reader.sides()
    difference = sides[0] if len(sides) == 1 else sides[0] - sides[1]
    return (-difference, True) if reader.relation == "<=" else (difference, reader.relation == ">=")


class _Reader:
    def __init__(
        self,
        text: str,
        table: Mapping[str, sp.Symbol],
        where: str,
        reactions: bool,
        offered: Iterable[str] | None = None,
        functions: Mapping[str, int] = NONE,
    ) -> None:
        self.text, self.table, self.where, self.reactions = text, table, where, reactions
        self.functions = functions
        self.offered = table if offered is None else offered
        self.pieces: dict[str, str] = {}  # placeholder -> the name or number it stands for
        self.denominator = Denominator()
        self.relation = "="  # between the sides, where there are two

    def refuse(self, reason: str) -> NoReturn:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "…"
        reason = reason if len(reason) <= 400 else reason[:397] + "…"
        raise ExpressionError(f"{self.where}: {reason} (in {shown!r})")

    def sides(self) -> list[sp.Expr]:
        """The parts left and right of '=' (or '>=', '<='), one or two."""
        if not isinstance(self.text, str):
            raise ExpressionError(f"{self.where}: an expression is wanted, got {self.text!r}")
        if len(self.text) > MAX_CHARACTERS:
            self.refuse(f"{len(self.text):,} characters are too many; at most {MAX_CHARACTERS:,} are read")
        if not self.text.strip():
            self.refuse("the expression is empty")
        parts = self._placeholders()
        if len(parts) > 2:
            self.refuse("more than one '=', '>=' or '<='")
        return [self._read(part) for part in parts]

    def _placeholders(self) -> list[str]:
        """The text with placeholders for names and numbers, cut at '=', '>=' and '<='."""
        parts: list[str] = []
        current: list[str] = []
        position, depth, previous = 0, 0, ""
        while position < len(self.text):
            token = _TOKEN.match(self.text, position)
            if token is None:
                found = self.text[position]
                hint = " (quotes and text are not allowed)" if found in "\"'" else ""
                self.refuse(f"{found!r} is not allowed here, at character {position + 1}{hint}")
            position = token.end()
            if token["space"]:
                continue
            if token["operator"]:
                operator = {"^": "**", "==": "="}.get(token["operator"], token["operator"])
                depth += {"(": 1, ")": -1}.get(operator, 0)
                if depth > MAX_DEPTH:
                    self.refuse(f"parentheses are nested more than {MAX_DEPTH} deep")
                if operator in ("<", ">") and not depth:
                    self.refuse(f"{operator!r} is known only in {CHOICE}(…); one-sided constraints have '>=' or '<='")
                if operator == "=" and depth:
                    self.refuse("'=' inside parentheses")
                if operator in ("=", ">=", "<=") and not depth:
                    self.relation = operator
                    parts.append("".join(current))
                    current = []
                else:
                    if operator == "(" and previous == "number":
                        self.refuse("a product needs its sign: write 2*(…), not 2(…)")
                    current.append(operator)
                previous = operator
                continue
            if previous in ("operand", "number"):
                self.refuse(f"a sign is missing before {token[0]!r}; a product is written with *")
            current.append(self._placeholder(token["number"] or token["name"] + "'" * len(token["primes"])))
            previous = "number" if token["number"] else "operand"
            spoken = MULTIPLIER_OF.match(self.text, position) if token["name"] == "multiplier" else None
            if spoken is not None:  # the name of a constraint may have several words
                current.append(f"({self._placeholder(spoken['name'])})")
                position, previous = spoken.end(), ")"
        return [*parts, "".join(current)]

    def _placeholder(self, piece: str) -> str:
        """What stands for a name or number in the text that is taken apart."""
        self.pieces[f"p{len(self.pieces)}"] = piece
        return f"p{len(self.pieces) - 1}"

    def _read(self, source: str) -> sp.Expr:
        """A side. A long sum is taken apart term by term: Python's parser goes one level deeper for each of them."""
        terms = _terms(source) if len(source) > MAX_TERMS else []
        if len(terms) > MAX_TERMS:
            expression = self._joined(((sign, self._tree(term)) for sign, term in terms), 0, True).expression
        else:
            expression = self._convert(self._tree(source), 0).expression
        if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I):
            self.refuse("this has no finite real value, whatever the state")
        return expression

    def _tree(self, source: str) -> ast.expr:
        try:
            return ast.parse(source, mode="eval").body
        except (RecursionError, MemoryError):
            self.refuse(
                "this has too many terms for one expression; give long parts names, or use the Python interface"
            )
        except (SyntaxError, ValueError):
            self.refuse("this is not a complete expression; look for a missing operand or parenthesis")

    def _convert(self, node: ast.expr, depth: int) -> _Piece:
        if depth > 3 * MAX_DEPTH:
            self.refuse("signs, powers or calls are nested too deep")
        match node:
            case ast.Compare():
                self.refuse(f"a comparison in parentheses can only be the condition of {CHOICE}(x < 0, a, b)")
            case ast.Name(id=placeholder):
                return self._leaf(self.pieces[placeholder])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                piece = self._convert(operand, depth + 1)
                return _Piece(-piece.expression, None if piece.value is None else -piece.value)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._convert(operand, depth + 1)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return self._chain(node, (ast.Add, ast.Sub), depth)
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                return self._chain(node, (ast.Mult, ast.Div), depth)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(self._convert(left, depth + 1), self._convert(right, depth + 1))
            case ast.Call(func=ast.Name(id=placeholder), args=arguments, keywords=[]):
                return self._call(self.pieces[placeholder], arguments, depth)
        self.refuse("only sums, products, powers and calls of known functions are allowed")

    def _leaf(self, text: str) -> _Piece:
        if text[0] in "0123456789.":
            if len(text) > MAX_DIGITS:
                self.refuse(f"a number of {len(text)} characters is too long")
            value = float(text)
            digits = text.lower().partition("e")[0]
            if not math.isfinite(value) or (value == 0.0 and digits.strip("0.")):
                self.refuse(f"{text} is too large or too small for a number")
            return _Piece(number_of_text(text, value), value)
        if text in self.table:
            return _Piece(self.table[text], None)
        if text in CONSTANTS:
            return _Piece(*CONSTANTS[text])
        if not is_name(text.rstrip("'")):
            self.refuse(f"{text!r} is not allowed")
        if text in FUNCTIONS or text == CHOICE or text.rstrip("'") in self.functions:
            self.refuse(f"{text!r} is a function and needs an argument: {text}(…)")
        if text.startswith("_"):
            self.refuse(f"{text!r} is not allowed")
        if len(text) - len(text.rstrip("'")) > 2:
            self.refuse(f"{text!r}: derivatives above the second do not appear in a model")
        self.refuse(f"unknown name {text!r}.{suggest(text, [*self.offered, *CONSTANTS])}")

    def _chain(self, node: ast.expr, operators: tuple[type[ast.operator], ...], depth: int) -> _Piece:
        """A sum or a product, read along its left side in a loop: thousands of terms need no deep recursion."""
        terms: list[tuple[ast.operator | None, ast.expr]] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, operators):
            terms.append((node.op, node.right))
            node = node.left
        terms.append((None, node))
        return self._joined(terms[::-1], depth, ast.Add in operators)

    def _joined(self, terms: Iterable[tuple[ast.operator | None, ast.expr]], depth: int, added: bool) -> _Piece:
        """A sum, or else a product; terms: each with what stands before it."""
        expressions: list[sp.Expr] = []
        value: float | None = None
        for operator, term in terms:
            piece = self._convert(term, depth + 1)
            first = operator is None
            if isinstance(operator, ast.Div):
                if piece.value == 0 or piece.expression == 0:
                    self.refuse("division by zero")
                expressions.append(1 / piece.expression)
            else:
                expressions.append(-piece.expression if isinstance(operator, ast.Sub) else piece.expression)
            if first:
                value = piece.value
            elif value is None or piece.value is None:
                value = None
            else:
                value = self._finite(partial(_ARITHMETIC[type(operator)], value, piece.value))
        if added:
            return _Piece(sp.Add(*expressions), value)
        return self._tamed(sp.Mul(*expressions), value)

    def _power(self, base: _Piece, exponent: _Piece) -> _Piece:
        if exponent.value is not None and abs(exponent.value) > MAX_EXPONENT:
            self._refuse_exponent()
        value = None
        if base.value is not None and exponent.value is not None:
            b, e = base.value, exponent.value
            value = self._finite(lambda: math.pow(b, e))
            if value == 0.0 and b != 0.0:
                self.refuse("a constant part is too small for a number")
        try:
            found = power(base.expression, exponent.expression, value)
        except ExponentTooLarge:
            self._refuse_exponent()
        return self._tamed(found, value)

    def _tamed(self, product: sp.Expr, value: float | None) -> _Piece:
        try:
            return _Piece(tame(product, self.denominator), value)
        except ExponentTooLarge:
            if value is None:
                self._refuse_exponent()
        except OutOfRange as error:
            if not value:
                self.refuse(f"a constant part is too {error} for a number")
        # Parts of it are too long to be exact, but not all of it, which is a constant.
        return _Piece(sp.Float(value), value)

    def _refuse_exponent(self) -> NoReturn:
        self.refuse(f"an exponent beyond {MAX_EXPONENT} is too large")

    def _call(self, name: str, arguments: list[ast.expr], depth: int) -> _Piece:
        if name in REACTIONS:
            return self._reaction(name, arguments)
        if name == CHOICE:
            return self._choice(arguments, depth)
        if name.rstrip("'") in self.functions:
            return self._unspecified(name, arguments, depth)
        if name == PARTIAL:
            return self._partial(arguments, depth)
        if name == RATE and name not in self.table:
            return self._rate(arguments, depth)
        if name not in FUNCTIONS:
            if name in self.table:
                self.refuse(f"{name!r} is not a function; a product is written {name}*(…)")
            known = [*FUNCTIONS, CHOICE, RATE, PARTIAL, *self.functions]
            self.refuse(f"function {name!r} is not allowed.{suggest(name, known)}")
        symbolic, numeric, count = FUNCTIONS[name]
        if not arguments or (count is not None and len(arguments) != count):
            wanted = "at least one argument" if count is None else f"{count} argument{'s' * (count > 1)}"
            self.refuse(f"{name} takes {wanted}, got {len(arguments)}")
        pieces = [self._convert(argument, depth + 1) for argument in arguments]
        values = [piece.value for piece in pieces if piece.value is not None]
        value = self._finite(lambda: numeric(*values)) if len(values) == len(pieces) else None
        if name == "exp":
            return self._tamed(sp.exp(logarithms_tamed(pieces[0].expression)), value)
        return _Piece(symbolic(*(piece.expression for piece in pieces)), value)

    def _unspecified(self, name: str, arguments: list[ast.expr], depth: int) -> _Piece:
        """A function without an expression; primes are derivatives by its only argument: g'(t)."""
        base = name.rstrip("'")
        count, primes = self.functions[base], len(name) - len(base)
        if len(arguments) != count:
            self.refuse(f"{base} takes {count} argument{'s' * (count > 1)}, got {len(arguments)}")
        if primes and count > 1:
            self.refuse(f"{name}(…): primes are for functions of one argument; {base} has {count}")
        pieces = [self._convert(argument, depth + 1) for argument in arguments]
        orders = (primes, *(0 for _ in pieces[1:]))
        return _Piece(function_of(sp.Function(base), orders)(*(piece.expression for piece in pieces)), None)

    def _choice(self, arguments: list[ast.expr], depth: int) -> _Piece:
        """where(condition, value, otherwise)."""
        match arguments:
            case [ast.Compare(left=left, ops=[operator], comparators=[right]), then, otherwise]:
                sides = [self._convert(side, depth + 1) for side in (left, right)]
                chosen = [self._convert(side, depth + 1) for side in (then, otherwise)]
                condition = _COMPARISONS[type(operator)](*(side.expression for side in sides))
                if isinstance(condition, sp.logic.boolalg.BooleanAtom):
                    return chosen[0] if condition else chosen[1]
                pairs = ((chosen[0].expression, condition), (chosen[1].expression, True))
                return _Piece(sp.Piecewise(*pairs), None)
        self.refuse(f"{CHOICE} takes one comparison and two values: {CHOICE}(x < 0, value, otherwise)")

    def _rate(self, arguments: list[ast.expr], depth: int) -> _Piece:
        if len(arguments) != 1:
            self.refuse(f"{RATE} takes 1 argument, got {len(arguments)}")
        inner = self._convert(arguments[0], depth + 1).expression
        if next(islice(sp.preorder_traversal(inner), MAX_RATE, None), None) is not None:
            self.refuse(f"{RATE}(…) of more than {MAX_RATE} parts is too long; write velocities with x' instead")
        try:
            found = rate(inner)
        except AmbiguousDerivative as error:
            self.refuse(str(error))
        return _Piece(found, 0.0 if found == 0 else None)

    def _partial(self, arguments: list[ast.expr], depth: int) -> _Piece:
        pieces = [self._convert(argument, depth + 1).expression for argument in arguments]
        function, by = (pieces or [sp.S.Zero])[0], pieces[1:]
        count = len(function.args) if isinstance(function, Unspecified) else 0
        if not by or not all(number in range(1, count + 1) for number in by):
            self.refuse(
                f"{PARTIAL} takes a function without an expression and the numbers of its arguments by which it is "
                f"differentiated, as in {PARTIAL}(F(x, y), 2)"
            )
        for number in by:
            function = function.fdiff(int(number))
        return _Piece(function, None)

    def _reaction(self, kind: str, arguments: list[ast.expr]) -> _Piece:
        if not self.reactions:
            self.refuse(f"{kind}(…) is known only in the work expressions of nonideal constraints and in outputs")
        what = "constraint, in words of letters and digits" if kind == "multiplier" else "coordinate"
        if len(arguments) != 1 or not isinstance(arguments[0], ast.Name):
            self.refuse(f"{kind} takes the name of one {what}")
        name = self.pieces[arguments[0].id]
        if kind == "multiplier":
            return _Piece(Reaction.of(kind, name), None)  # whether there is such a constraint is known later
        along = self.table.get(name)
        if not isinstance(along, Coordinate) or along.order:
            self.refuse(f"{kind}({name}): {name!r} is not a coordinate")
        return _Piece(Reaction.of(kind, name), None)

    def _finite(self, compute: Callable[[], float]) -> float:
        try:
            value = float(compute())
        except OverflowError:
            value = math.inf
        except (ValueError, ZeroDivisionError):
            self.refuse("a constant part is not a real number")
        if not math.isfinite(value):
            self.refuse("a constant part is too large for a number")
        return value


_COMPARISONS: dict[type, Callable[[sp.Expr, sp.Expr], sp.Basic]] = {
    ast.Lt: sp.StrictLessThan,
    ast.LtE: sp.LessThan,
    ast.Gt: sp.StrictGreaterThan,
    ast.GtE: sp.GreaterThan,
}
_SIGNS = {"+": ast.Add(), "-": ast.Sub()}


def _terms(source: str) -> list[tuple[ast.operator | None, str]]:
    """The terms of a sum, as text, each with the sign before it; one with a sign of its own has that in its text."""
    found: list[tuple[ast.operator | None, str]] = []
    sign: ast.operator | None = None
    depth, start = 0, 0
    for k, mark in enumerate(source):
        depth += (mark == "(") - (mark == ")")
        if mark in _SIGNS and depth == 0 and k and (source[k - 1].isalnum() or source[k - 1] == ")"):
            found.append((sign, source[start:k]))
            sign, start = _SIGNS[mark], k + 1
    return [*found, (sign, source[start:])]


_ARITHMETIC: dict[type, Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
