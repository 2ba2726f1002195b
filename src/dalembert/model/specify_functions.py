"""Expressions in the place of unspecified functions: `system.replace(functions={g: sin(t)})`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction

from dalembert.errors import ExpressionError, MissingValues, ModelError
from dalembert.model.events import Event
from dalembert.model.language.adopt import function_faults, in_own_symbols
from dalembert.model.language.functions import Unspecified, functions_in, names_of
from dalembert.model.language.parse import parse_expression
from dalembert.model.language.rates import partial
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Parameter, t
from dalembert.model.language.vocabulary import RESERVED_FOR_CALLS

if TYPE_CHECKING:
    from dalembert.model.system import System

Change: TypeAlias = Callable[[sp.Expr], sp.Expr]


def require_specified(system: System) -> None:
    """`MissingValues` where numbers are asked for and a function has no expression."""
    if not system.functions:
        return
    found = functions_in([*system.expressions(), *system.outputs.values()])
    names = list(found)
    example = ", ".join(f"{name!r}: …" for name in names)
    of_time = [name for name, group in found.items() if all(f.args == (t,) for f in group)]
    hint = f" If {' or '.join(of_time)} is a coordinate, list it among the coordinates." if of_time else ""
    raise MissingValues(
        system.name,
        [
            f"no expression for {names_of(found)}: numbers need one; use system.replace(functions={{{example}}}), or "
            f"write it in the place of the function.{hint}"
        ],
    )


@dataclass(frozen=True)
class Expression:
    """What a function is: an expression in formal arguments."""

    arguments: tuple[sp.Symbol, ...]
    value: sp.Expr

    def applied(self, function: Unspecified, arguments: Iterable[sp.Expr]) -> sp.Expr:
        """The derivative that `function` is, at these arguments."""
        value = self.value
        for symbol, order in zip(self.arguments, function.orders, strict=True):
            value = partial(value, symbol, order)
        return value.xreplace(dict(zip(self.arguments, arguments, strict=True)))


def specify(system: System, given: Any) -> dict[str, Any]:
    """The parts of a system, those with expressions in them, with the functions given put in; `ModelError` with every
    fault of what is given.
    """
    expressions = [*system.expressions(), *system.outputs.values()]
    return map_expressions(system, substitution(system.name, expressions, system.symbols, given))


def substitution(name: str, expressions: Iterable[sp.Expr], symbols: Iterable[sp.Symbol], given: Any) -> Change:
    """What puts the functions given into an expression of a model of this name, expressions and symbols; `ModelError`
    with every fault of what is given.
    """
    reader = _Reader(symbols, functions_in(expressions))
    values = reader.read(given)
    if reader.faults:
        raise ModelError(name, reader.faults)
    return lambda expression: _put(expression, values)


def map_expressions(system: System, change: Change) -> dict[str, Any]:
    """The parts of a system that are made of expressions, each expression changed."""

    def put(expression: Any) -> Any:
        return None if expression is None else change(expression)

    return {
        "kinetic": put(system.kinetic),
        "potential": put(system.potential),
        "lagrangian": put(system.lagrangian),
        "mass": None if system.mass is None else system.mass.applyfunc(put),
        "forces": {q: put(force) for q, force in system.forces.items()},
        # The level may be another one then, and is read again.
        "constraints": [replace(c, expression=put(c.expression), level=None) for c in system.constraints],
        "nonideal": [law.map_expressions(put) for law in system.nonideal],
        "definitions": {name: put(value) for name, value in system.definitions.items()},
        "outputs": {name: put(output) for name, output in system.outputs.items()},
        "events": [Event(put(e.expression), e.direction, e.terminal, e.name) for e in system.events],
        "draw": [shape.map_expressions(put) for shape in system.draw],
    }


def _put(expression: sp.Expr, values: Mapping[str, Expression]) -> sp.Expr:
    """Simultaneously: what is put in is not looked through again."""
    swap: dict[sp.Basic, sp.Expr] = {}
    for applied in expression.atoms(Unspecified):
        arguments = [_put(argument, values) for argument in applied.args]
        if applied.title in values:
            swap[applied] = values[applied.title].applied(applied, arguments)
        elif tuple(arguments) != applied.args:
            swap[applied] = applied.func(*arguments)
    return expression.xreplace(swap)


class _Reader:
    """Reads what a user gave for functions; `faults` holds what is wrong with it."""

    def __init__(self, symbols: Iterable[sp.Symbol], known: Mapping[str, set[Unspecified]]) -> None:
        self.known = known
        self.faults: list[str] = []
        self.table = {symbol.name: symbol for symbol in symbols}

    def read(self, given: Any) -> dict[str, Expression]:
        if not isinstance(given, Mapping):
            self.faults.append(f"functions: a mapping such as {{g: sin(t)}} is wanted, got {given!r}")
            return {}
        found: dict[str, Expression] = {}
        for key, value in given.items():
            name = self._name(key)
            if name is None:
                continue
            if name in found:
                self.faults.append(f"functions: {name} is given twice")
                continue
            expression = self._expression(name, key, value)
            if expression is not None:
                found[name] = expression
        return found

    def _name(self, key: Any) -> str | None:
        if isinstance(key, str):
            name = key.strip()
        elif isinstance(key, UndefinedFunction):
            name = key.__name__
        elif isinstance(key, AppliedUndef):
            name = type(key).__name__
        else:
            self.faults.append(f"functions: a function, as sp.Function('g'), or its name is wanted, got {key!r}")
            return None
        if name in self.known:
            return name
        has = f" The model has {names_of(self.known)}." if self.known else " The model has none."
        self.faults.append(f"functions: the model has no function {name!r}.{suggest(name, self.known)}{has}")
        return None

    def _expression(self, name: str, key: Any, value: Any) -> Expression | None:
        where = f"functions: {name}"
        count = len(next(iter(self.known[name])).args)
        if isinstance(value, sp.Lambda) or (callable(value) and not isinstance(value, sp.Basic)):
            return self._of_call(where, count, value)
        formal = self._formal(name, key)
        if isinstance(key, AppliedUndef) and (len(formal or ()) != count or not all(s.is_Symbol for s in formal or ())):
            several = f"{count} arguments" if count > 1 else "one argument"
            self.faults.append(f"{where} has {several}: the key {key} must name each by a symbol of its own")
            return None
        expression = self._read(value, where, {s.name: s for s in formal or ()})
        if expression is None:
            return None
        if formal is None and not (expression.free_symbols & self._moving):
            formal = tuple(sp.Dummy(real=True) for _ in range(count))  # a constant
        if formal is None:
            self.faults.append(
                f"{where} is applied as {names_of({name: self.known[name]})}, so that its expression needs "
                f"arguments of its own: give sp.Lambda, a Python function, or write {name}(s) for the key"
            )
            return None
        return self._checked(where, formal, expression)

    @property
    def _moving(self) -> set[sp.Symbol]:
        return {s for s in self.table.values() if isinstance(s, Coordinate)} | {t}

    def _formal(self, name: str, key: Any) -> tuple[sp.Symbol, ...] | None:
        """The arguments of an expression: those of the key where it has some, else those in the model, if they are
        symbols and everywhere the same.
        """
        if isinstance(key, AppliedUndef):
            return tuple(dict.fromkeys(in_own_symbols(argument, self.table) for argument in key.args))
        ways = {f.args for f in self.known[name]}
        if len(ways) == 1 and next(iter(self.known[name])).plain_arguments:
            return next(iter(ways))
        return None

    def _read(self, value: Any, where: str, formal: Mapping[str, sp.Symbol]) -> sp.Expr | None:
        table = {**self.table, **formal}
        try:
            if isinstance(value, str):
                arities = {name: len(next(iter(used)).args) for name, used in self.known.items()}
                return parse_expression(value, table, where=where, functions=arities)
            expression = sp.sympify(value, strict=True)
        except ExpressionError as error:
            self.faults.append(str(error))
            return None
        except (sp.SympifyError, TypeError, ValueError):
            expression = None
        if not isinstance(expression, sp.Expr) or expression.is_Matrix or isinstance(value, bool):
            self.faults.append(
                f"{where}: an expression in its arguments, sp.Lambda or a Python function is wanted, got {value!r}"
            )
            return None
        faults = function_faults(expression, table, RESERVED_FOR_CALLS)
        self.faults += [f"{where}: {fault}" for fault in faults]
        return None if faults else in_own_symbols(expression, table)

    def _of_call(self, where: str, count: int, function: Callable[..., Any]) -> Expression | None:
        formal = tuple(Parameter.named(f"argument_{k}") for k in range(1, count + 1))
        try:
            value = function(*formal)
        except Exception as error:  # a user's function may raise anything
            several = f"{count} arguments" if count > 1 else "one argument"
            self.faults.append(
                f"{where}: the function given cannot be called with {several}: {error}. It takes SymPy symbols and "
                "returns an expression; use SymPy's sin, not math's or NumPy's"
            )
            return None
        if isinstance(value, str):
            self.faults.append(f"{where}: the function given returns {value!r}; an expression is wanted")
            return None
        expression = self._read(value, where, {s.name: s for s in formal})
        return None if expression is None else self._checked(where, formal, expression)

    def _checked(self, where: str, formal: tuple[sp.Symbol, ...], value: sp.Expr) -> Expression | None:
        """A function depends on its arguments and parameters, on nothing else that moves."""
        if value.has(sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I):
            self.faults.append(f"{where}: the expression holds NaN, infinity or an imaginary number: {value}")
            return None
        strange = sorted(s.name for s in (value.free_symbols & self._moving) - set(formal))
        if strange:
            self.faults.append(f"{where}: its expression {value} holds {', '.join(strange)}, no argument of it")
            return None
        # Formal arguments that are symbols of the model would be taken for them where arguments are put in.
        own = tuple(sp.Dummy(s.name, real=True) for s in formal)
        return Expression(own, value.xreplace(dict(zip(formal, own, strict=True))))
