"""Events: functions of the state whose passages through zero a simulation finds, counts, or ends at."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from dalembert.errors import ModelError
from dalembert.model.constraints import is_constant
from dalembert.model.definitions import NO_DEFINITIONS, Definitions
from dalembert.model.language.adopt import in_own_symbols
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Definition, Parameter, Reaction, symbol_table, t

if TYPE_CHECKING:
    from dalembert.model.system import System

DIRECTIONS = {"falling": -1, "any": 0, "rising": 1}
# What an integration reports by itself, under names that a reader of `motion.events` must be able to rely on.
TAKEN = ("rank change", "singular configuration")
# Likewise in systems with dry friction or one-sided constraints, which also mark what ends a mode of theirs.
OF_CONTACTS, MARK = ("stick", "slip", "reversal", "release", "impact", "contact"), "(contact)"


@dataclass(frozen=True)
class Event:
    """A passage of `expression` through zero (an `Eq` or a text "left = right" is accepted too).

    direction: which passages count, "rising" (or 1), "falling" (-1), "any" (0). terminal: whether the motion ends
    there; a number n ends it at the n-th passage. name: only where events are given as a list instead of by name.

    >>> from dalembert.model.language.symbols import coordinates, symbol_table
    >>> z, = coordinates("z")
    >>> Event(z, direction="falling", terminal=True)
    Event(expression=z, direction='falling', terminal=True, name='')

    In a `System` the expression has been read, direction is -1, 0 or 1, and terminal a count, 0 where it never ends a
    motion.
    """

    expression: Any
    direction: Any = 0
    terminal: Any = False
    name: str = ""

    @property
    def direction_name(self) -> str:
        return next(word for word, sign in DIRECTIONS.items() if sign == self.direction)


def as_list(given: Any, faults: list[str]) -> list[Event]:
    """Events as they may be given, by name or as a list, each with its name."""
    if isinstance(given, Mapping):
        found = []
        for name, value in given.items():
            event = value if isinstance(value, Event) else Event(value)
            found.append(Event(event.expression, event.direction, event.terminal, name))
        return found
    if given is None or isinstance(given, (str, sp.Basic)) or not isinstance(given, Iterable):
        faults.append(f"events: a mapping from names to expressions or da.Event(…) is wanted, got {given!r}")
        return []
    items = list(given)
    strange = [item for item in items if not isinstance(item, Event)]
    faults += [f"events: in a list, da.Event(…, name=…) is wanted, got {item!r}" for item in strange]
    return [item for item in items if isinstance(item, Event)]


def read_events(
    given: Any,
    read: Callable[[Any, str], sp.Expr | None],
    faults: list[str],
    contacts: bool = False,
    definitions: Definitions = NO_DEFINITIONS,
) -> tuple[Event, ...]:
    """The events that could be read; what is wrong with the others goes to `faults`. `read` reads one expression.
    contacts: whether the system has events of contacts.
    """
    found: list[Event] = []
    names: set[str] = set()
    for event in as_list(given, faults):
        name, where = event.name, f"event {event.name!r}"
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            faults.append(f"{where}: a name is one line of printable text")
            continue
        if name in names:
            faults.append(f"{where}: the name is given twice")
            continue
        if name in TAKEN or (contacts and (name in OF_CONTACTS or name.endswith(MARK))):
            faults.append(f"{where}: a simulation reports events of this name by itself; choose another")
        names.add(name)
        direction, terminal = _direction(event.direction, where, faults), _count(event.terminal, where, faults)
        expression = read(event.expression, where)
        if expression is None:
            if event.expression is None:
                faults.append(f"{where}: no expression given")
            continue
        fault = _unfit(expression, definitions)
        if fault:
            faults.append(f"{where}: {fault}")
        found.append(Event(expression, direction, terminal, name))
    return tuple(found)


def with_events(system: System, given: Any) -> System:
    """The system with more events. Names that it does not know are faults here: they could only be mistyped."""
    faults: list[str] = []
    extra = as_list(given, faults)
    moving = (*system.coordinates, *map(Definition.named, system.definitions))
    table = symbol_table(moving, system.parameter_symbols)
    for event in extra:
        expression = event.expression
        if not isinstance(expression, sp.Basic):
            continue
        names = {s.name for s in in_own_symbols(expression, table).free_symbols if isinstance(s, Parameter)}
        for name in sorted(name for name in names if name not in table and not name.endswith("'")):
            faults.append(f"event {event.name!r}: unknown name {name!r}.{suggest(name, table)}")
    try:
        changed = system.replace(events=[*system.events, *extra])
    except ModelError as error:
        faults += error.faults
    if faults:
        raise ModelError(system.name, faults)
    return changed


def _direction(given: Any, where: str, faults: list[str]) -> int:
    sign = DIRECTIONS.get(given.lower()) if isinstance(given, str) else given
    if isinstance(sign, bool) or sign not in (-1, 0, 1):
        faults.append(f"{where}: direction is 'rising' (1), 'falling' (-1) or 'any' (0), got {given!r}")
        return 0
    return int(sign)


def _count(given: Any, where: str, faults: list[str]) -> int:
    if isinstance(given, numbers.Integral) and 0 <= int(given) < 2**31:  # bool is integral: False 0, True 1
        return int(given)
    faults.append(f"{where}: terminal is true, false, or how many passages end the motion, got {given!r}")
    return 0


def _unfit(expression: sp.Expr, definitions: Definitions) -> str | None:
    """Why an expression cannot be an event."""
    if definitions.order_of(expression) < 2 and definitions.certainly_holds(expression, 0):
        return None  # as most do
    expression = definitions.expand(expression)
    symbols = expression.free_symbols
    if any(isinstance(symbol, Coordinate) and symbol.order == 2 for symbol in symbols):
        return "accelerations cannot appear in it; it depends on positions, velocities, time and parameters"
    reactions = [symbol for symbol in symbols if isinstance(symbol, Reaction)]
    if any(reaction.kind != "multiplier" for reaction in reactions):
        return "constraint forces cannot appear in it, other than as multiplier(name of the constraint)"
    if reactions:
        return None
    moves = any(isinstance(symbol, Coordinate) for symbol in symbols)
    if t not in symbols and (not moves or is_constant(expression)):
        return f"{expression} has one value whatever the motion, so it never passes through zero"
    return None
