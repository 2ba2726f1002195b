"""A model as a TOML document: load, loads, save, dumps. Its text is parsed, never executed; unknown keys are
faults, not ignored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from dalembert.errors import DocumentError, ModelError
from dalembert.model.constraints import IMPACT_ORDERS, Constraint
from dalembert.model.documents.particle_document import PARTICLE, clashes, particle_faults, system_of_particles
from dalembert.model.documents.salvage import salvage
from dalembert.model.documents.write_files import write_atomically
from dalembert.model.drawings.read_drawings import entry_faults, entry_of_shape, shape_of_entry
from dalembert.model.events import Event
from dalembert.model.friction.laws import LAWS
from dalembert.model.language.constants import MAX_EXPONENT, ExponentTooLarge, OutOfRange, writable
from dalembert.model.language.functions import Unspecified, functions_in
from dalembert.model.language.signatures import signatures, unwritable_functions
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Reaction
from dalembert.model.language.vocabulary import CHOICE, FUNCTIONS, PARTIAL, is_speakable
from dalembert.model.particles.particles import Particle
from dalembert.model.system import System

# Each table of the document with the keys it may hold; None where the keys are names of the model.
TABLES: dict[str, tuple[str, ...] | None] = {
    "parameters": None,
    "energy": ("kinetic", "potential", "lagrangian"),
    "mass": ("matrix",),
    "definitions": None,
    "forces": None,
    "outputs": None,
    "units": None,
    "initial": None,
    "simulate": None,
}
LISTS = {
    "constraints": ("name", "equation", "level", "one_sided", "restitution", "impact"),
    "nonideal": ("law", "constraint"),
    "events": ("name", "expression", "direction", "terminal"),
    "particles": PARTICLE,
    "draw": ("kind",),
}
REQUIRED = {
    "constraints": ("name", "equation"),
    "nonideal": ("law",),
    "events": ("name", "expression"),
    "particles": ("name", "mass", "position"),
}
# Entries of lists that need not be texts: what they may be is checked where they are read.
NO_TEXTS = ("work", "direction", "terminal", "one_sided", "restitution", "mass", "position", "force")
PLAIN = ("name", "description", "coordinates", "impacts", "functions")
MAX_BYTES = 5_000_000
# Functions of SymPy that the printer writes by others, or under another name.
WRITTEN_BY_OTHERS = {"sec", "csc", "cot", "Heaviside", "Min", "Max", "Piecewise"}


def load(path: str | os.PathLike[str]) -> System:
    """Read a model document from a file."""
    file = Path(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise DocumentError(
                str(file), [f"the file is larger than {MAX_BYTES // 1_000_000} MB; this is no model document"]
            )
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DocumentError(str(file), ["there is no such file"]) from None
    except IsADirectoryError:
        raise DocumentError(str(file), ["this is a folder, not a model document"]) from None
    except UnicodeDecodeError:
        raise DocumentError(str(file), ["the file is not text in UTF-8, so it is no model document"]) from None
    except OSError as error:
        raise DocumentError(str(file), [f"the file cannot be read: {error.strerror}"]) from None
    return loads(text, where=str(file))


def loads(text: str, *, where: str = "document") -> System:
    """Read a model document from text."""
    import tomllib  # only where a document is read: most motions need none

    try:
        data = tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # TOMLDecodeError is a ValueError; absurdly long integers raise a plain one
        raise DocumentError(where, [f"this is not TOML: {error}"]) from None
    return from_data(data, where=where)


def from_data(data: Mapping[str, Any], *, where: str = "document") -> System:
    """A system from the tables of a document."""
    faults = _shape_faults(data)
    if faults:
        rest = salvage(data, TABLES, LISTS, PLAIN, _entry_faults)
        try:
            if rest is not None:
                _system(rest)
        except ModelError as error:
            faults += error.faults
        raise DocumentError(where, faults)
    try:
        return _system(data)
    except ModelError as error:
        raise DocumentError(where, error.faults) from None


def _system(data: Mapping[str, Any]) -> System:
    """The system of tables that have the right shape."""
    energy = data.get("energy", {})
    shapes = [shape_of_entry(entry) for entry in data.get("draw", [])]
    if "particles" in data:
        constraints = [_constraint(entry) for entry in data.get("constraints", [])]
        laws = [LAWS[entry["law"]].from_entry(entry) for entry in data.get("nonideal", [])]
        found = system_of_particles(data, constraints, laws, [_event(entry) for entry in data.get("events", [])])
        return found.replace(draw=shapes) if shapes else found
    return System(
        data["name"],
        coordinates=data["coordinates"],
        kinetic=energy.get("kinetic"),
        potential=energy.get("potential"),
        lagrangian=energy.get("lagrangian"),
        mass=data.get("mass", {}).get("matrix"),
        forces=data.get("forces", {}),
        constraints=[_constraint(entry) for entry in data.get("constraints", [])],
        nonideal=[LAWS[entry["law"]].from_entry(entry) for entry in data.get("nonideal", [])],
        parameters=data.get("parameters", {}),
        initial=data.get("initial", {}),
        settings=data.get("simulate", {}),
        description=data.get("description", ""),
        events=[_event(entry) for entry in data.get("events", [])],
        impacts=data.get("impacts"),
        outputs=data.get("outputs", {}),
        definitions=data.get("definitions", {}),
        units=data.get("units", {}),
        functions=data.get("functions", ()),
        draw=shapes,
    )


def _shape_faults(data: Mapping[str, Any]) -> list[str]:
    """Everything wrong with the tables themselves, before any expression is read."""
    faults = []
    known = [*PLAIN, *TABLES, *LISTS]
    for key, value in data.items():
        if key not in known:
            faults.append(f"unknown entry {key!r}.{suggest(key, known)}")
        elif key in TABLES:
            allowed = TABLES[key]
            if not isinstance(value, Mapping):
                faults.append(f"{key!r} is a table: write [{key}] and its entries below")
            elif allowed is not None:
                faults += [f"[{key}]: unknown entry {k!r}.{suggest(k, allowed)}" for k in value if k not in allowed]
        elif key in LISTS:
            if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
                faults.append(f"{key!r} is a list of tables: write [[{key}]] before each")
                continue
            for number, entry in enumerate(value, 1):
                faults += _entry_faults(key, number, entry)
    faults += clashes(data)
    if not isinstance(data.get("name"), str):
        got = f", got {data['name']!r}" if "name" in data else ""
        faults.append(f'the name of the model is missing or no text{got}: write name = "…" at the top')
    names = data.get("coordinates")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        got = f", got {names!r}" if "coordinates" in data else ""
        faults.append(f'coordinates are missing or no list of names{got}: write coordinates = ["x", "y"] at the top')
    return faults


def _entry_faults(key: str, number: int, entry: Mapping[str, Any]) -> list[str]:
    place = f"[[{key}]] number {number}"
    if key == "draw":
        return entry_faults(place, entry)
    allowed = LISTS[key]
    required = REQUIRED[key]
    if key == "nonideal" and isinstance(entry.get("law"), str):
        law = entry["law"]
        if law not in LAWS:
            # What else it says belongs to a law that is not known.
            return [f"{place}: law {law!r} is unknown.{suggest(law, LAWS)}"]
        allowed = ("law", "constraint", *LAWS[law].entries())
        place = f"{place}, law {law!r}"
        unknown = [f"{place}: unknown entry {k!r}.{suggest(k, allowed)}" for k in entry if k not in allowed]
        return unknown + LAWS[law].entry_faults(place, entry)
    faults = particle_faults(place, entry) if key == "particles" else []
    faults += [f"{place}: no {k!r}" for k in required if k not in entry]
    faults += [f"{place}: unknown entry {k!r}.{suggest(k, allowed)}" for k in entry if k not in allowed]
    texts = [k for k in allowed if k not in NO_TEXTS and k in entry and not isinstance(entry[k], str)]
    return faults + [f"{place}: {k!r} is a text, got {entry[k]!r}" for k in texts]


def _constraint(entry: Mapping[str, Any]) -> Constraint:
    return Constraint(
        entry["name"],
        entry["equation"],
        entry.get("level"),
        entry.get("one_sided", False),
        entry.get("restitution"),
        impact=entry.get("impact"),
    )


def _constraint_data(constraint: Constraint) -> dict[str, Any]:
    sign = ">=" if constraint.one_sided else "="
    equation = f"{text_of(constraint.expression)} {sign} 0"
    data: dict[str, Any] = {"name": constraint.name, "equation": equation, "level": constraint.level}
    if constraint.restitution is not None:
        data["restitution"] = _exactly(constraint.restitution)
    if constraint.impact is not None:
        data["impact"] = constraint.impact
    return data


def _particle_data(particle: Particle) -> dict[str, Any]:
    data: dict[str, Any] = {"name": particle.name, "mass": _exactly(particle.mass)}
    data["position"] = [text_of(entry) for entry in particle.position]
    return {**data, "force": [text_of(entry) for entry in particle.force]} if any(particle.force) else data


def _event(entry: Mapping[str, Any]) -> Event:
    return Event(entry["expression"], entry.get("direction", 0), entry.get("terminal", False), entry["name"])


def _event_data(event: Event) -> dict[str, Any]:
    data: dict[str, Any] = {"name": event.name, "expression": text_of(event.expression)}
    if event.direction:
        data["direction"] = event.direction_name
    if event.terminal:
        data["terminal"] = True if event.terminal == 1 else event.terminal
    return data


def _exactly(value: sp.Expr) -> float | int | str:
    """A number that is read back as the same one; fractions as text."""
    return text_of(value) if isinstance(value, sp.Rational) and not value.is_Integer else _number_or_text(value)


class _DocumentPrinter(StrPrinter):
    """Expressions in the document language."""

    def _print(self, expr: sp.Basic, **kwargs: Any) -> str:
        if not isinstance(expr, Unspecified) or not any(expr.orders) or (len(expr.args) == 1 and expr.orders[0] <= 3):
            return str(super()._print(expr, **kwargs))
        by = ", ".join(str(k) for k, order in enumerate(expr.orders, 1) for _ in range(order))
        return f"{PARTIAL}({expr.title}({', '.join(map(self._print, expr.args))}), {by})"

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Min(self, expr: sp.Min) -> str:
        return f"min({', '.join(self._print(a) for a in expr.args)})"

    def _print_Max(self, expr: sp.Max) -> str:
        return f"max({', '.join(self._print(a) for a in expr.args)})"

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Exp1(self, expr: sp.Basic) -> str:
        return "exp(1)"

    def _print_sec(self, expr: sp.sec) -> str:
        return f"(1/cos({self._print(expr.args[0])}))"

    def _print_csc(self, expr: sp.csc) -> str:
        return f"(1/sin({self._print(expr.args[0])}))"

    def _print_cot(self, expr: sp.cot) -> str:
        return f"(1/tan({self._print(expr.args[0])}))"

    def _print_Heaviside(self, expr: sp.Heaviside) -> str:
        return f"((1 + sign({self._print(expr.args[0])}))/2)"

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        *cases, (last, _) = expr.args
        text = str(self._print(last))
        for value, condition in reversed(cases):
            text = self._where(condition, str(self._print(value)), text)
        return text

    def _where(self, condition: sp.Basic, value: str, otherwise: str) -> str:
        """A choice in the document language, whose conditions are single comparisons."""
        if isinstance(condition, sp.And):
            for part in condition.args:
                value = self._where(part, value, otherwise)
            return value
        if isinstance(condition, sp.Or):
            for part in condition.args:
                otherwise = self._where(part, value, otherwise)
            return otherwise
        left, right = (self._print(side) for side in condition.args)
        return f"{CHOICE}({left} {condition.rel_op} {right}, {value}, {otherwise})"


def can_be_written(choice: sp.Piecewise) -> bool:
    """Whether a choice has a value everywhere, and conditions made of comparisons by <, <=, > and >=."""
    comparisons = (sp.StrictLessThan, sp.LessThan, sp.StrictGreaterThan, sp.GreaterThan)

    def known(condition: sp.Basic) -> bool:
        if isinstance(condition, (sp.And, sp.Or)):
            return all(map(known, condition.args))
        return isinstance(condition, comparisons)

    *cases, (_, last) = choice.args
    return last == sp.true and all(known(condition) for _, condition in cases)


class _PagePrinter(_DocumentPrinter):
    """The same for a reader: ∂F/∂x instead of the word of documents."""

    def _print(self, expr: sp.Basic, **kwargs: Any) -> str:
        return str(StrPrinter._print(self, expr, **kwargs))


def text_of(expression: sp.Expr, for_reading: bool = False) -> str:
    """An expression as text of the document language, which `parse` reads back; or as a page shows it."""
    printer = _PagePrinter() if for_reading else _DocumentPrinter()
    return str(printer.doprint(writable(expression)))


def _number_or_text(value: sp.Expr) -> float | int | str:
    if isinstance(value, sp.Integer):
        return int(value)
    if isinstance(value, (sp.Float, sp.Rational)):
        return float(value)
    return text_of(value)


def to_data(system: System) -> dict[str, Any]:
    """The tables of a document from a system; `ModelError` where the language lacks something it needs."""
    freed = system.particles
    shown = system if freed is None else freed
    missing = [symbol.name for symbol in shown.parameter_symbols if symbol not in system.parameters]
    if missing:
        raise ModelError(
            system.name, [f"a document needs a value for every parameter: give one for {', '.join(missing)}"]
        )
    expressions = [*shown.expressions(), *system.outputs.values()]
    expressions += [event.expression for event in system.events if freed is not None]
    expressions += [expression for shape in system.draw for expression in shape.expressions()]
    functions = functions_in(expressions)
    used = {f.func.__name__ for e in expressions for f in e.atoms(sp.Function, sp.Piecewise, sp.Min, sp.Max)}
    lacking = sorted(used - set(FUNCTIONS) - WRITTEN_BY_OTHERS - set(functions)) + unwritable_functions(functions)
    choices = {f for e in expressions for f in e.atoms(sp.Piecewise)}
    lacking += sorted(str(choice) for choice in choices if not can_be_written(choice))
    if lacking:
        raise ModelError(
            system.name, [f"a document cannot hold {', '.join(lacking)}; use the functions of its language"]
        )
    for expression in (*expressions, *system.parameters.values(), *system.initial.values()):
        try:
            writable(expression)
        except (OutOfRange, ExponentTooLarge) as error:
            what = f"an exponent beyond {MAX_EXPONENT}"
            if isinstance(error, OutOfRange):
                what = f"a number too {error} for a double"
            raise ModelError(system.name, [f"a document cannot hold {what}, as in {str(expression)[:60]}"]) from None
    spoken = {r.coordinate for e in expressions for r in e.atoms(Reaction) if r.kind == "multiplier"}
    unwritable = sorted(name for name in spoken if not is_speakable(name))
    if unwritable:
        raise ModelError(
            system.name,
            [f"a document writes multiplier(NAME) for names in words of letters and digits, not {unwritable[0]!r}"],
        )
    data: dict[str, Any] = {"name": system.name}
    if system.description:
        data["description"] = system.description
    data["coordinates"] = [q.name for q in shown.coordinates]
    data["functions"] = signatures(functions)
    if system.impacts != IMPACT_ORDERS[0]:
        data["impacts"] = system.impacts if isinstance(system.impacts, str) else list(system.impacts)
    data["definitions"] = {name: text_of(value) for name, value in system.definitions.items()}
    data["parameters"] = {symbol.name: _number_or_text(value) for symbol, value in system.parameters.items()}
    data["particles"] = [] if freed is None else [_particle_data(particle) for particle in freed.particles]
    energy = {key: getattr(shown, key, None) for key in ("kinetic", "potential", "lagrangian")}
    data["energy"] = {key: text_of(value) for key, value in energy.items() if value is not None}
    if freed is None and system.mass is not None:
        data["mass"] = {"matrix": [[text_of(entry) for entry in row] for row in system.mass.tolist()]}
    data["forces"] = {q.name: text_of(force) for q, force in system.forces.items() if freed is None}
    data["constraints"] = [_constraint_data(constraint) for constraint in shown.constraints]
    data["nonideal"] = [law.entry(text_of, _exactly) for law in shown.nonideal]
    data["events"] = [_event_data(event) for event in system.events]
    data["outputs"] = {name: text_of(expression) for name, expression in system.outputs.items()}
    data["units"] = dict(system.units)
    data["draw"] = [entry_of_shape(shape, _exactly) for shape in system.draw]
    data["initial"] = {symbol.name: _number_or_text(value) for symbol, value in shown.initial.items()}
    data["simulate"] = dict(system.settings)
    return {key: value for key, value in data.items() if value or key in ("name", "coordinates")}


def dumps(system: System) -> str:
    """A system as a TOML document."""
    import tomli_w

    return tomli_w.dumps(to_data(system))


def save(system: System, path: str | os.PathLike[str]) -> None:
    """Write a system as a TOML document."""
    write_atomically(path, dumps(system).encode("utf-8"))
