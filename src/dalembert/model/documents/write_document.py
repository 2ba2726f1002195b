"""Writes models as TOML documents, which `document.py` reads back."""

from __future__ import annotations

import os
from typing import Any

import sympy as sp

from dalembert.errors import ModelError
from dalembert.model.constraints import IMPACT_ORDERS, Constraint
from dalembert.model.documents.expression_text import WRITTEN_BY_OTHERS, can_be_written, text_of
from dalembert.model.documents.write_files import write_atomically
from dalembert.model.drawings.read_drawings import entry_of_shape
from dalembert.model.events import Event
from dalembert.model.language.constants import MAX_EXPONENT, ExponentTooLarge, OutOfRange, writable
from dalembert.model.language.functions import functions_in
from dalembert.model.language.signatures import signatures, unwritable_functions
from dalembert.model.language.symbols import Reaction
from dalembert.model.language.vocabulary import FUNCTIONS, is_speakable
from dalembert.model.particles.particles import Particle
from dalembert.model.system import System

# Lists that fit into so many columns stand in one line.
WIDTH = 100


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

    return _with_short_lists(tomli_w.dumps(to_data(system)))


def _with_short_lists(document: str) -> str:
    """A document of `tomli_w`, which gives every entry of a list a line of its own, with short lists of names and
    numbers in one line. Rows of a matrix and tables keep their lines. A text never goes over several lines here.
    """
    found: list[str] = []
    entries: list[str] | None = None  # of the list whose beginning is the last line found
    for line in document.removesuffix("\n").split("\n"):  # other characters that end lines may stand in a text
        if line.endswith("["):
            found += [*(entries or ()), line]
            entries = []
            continue
        if entries is None:
            found.append(line)
            continue
        entry = line.strip()
        if entry not in ("]", "],"):
            entries.append(line)
            continue
        short = found[-1] + ", ".join(one.strip().removesuffix(",") for one in entries) + entry
        if len(short) <= WIDTH and not any(one.lstrip().startswith("{") for one in entries):
            found[-1] = short
        else:
            found += [*entries, line]
        entries = None
    return "\n".join(found) + "\n"


def save(system: System, path: str | os.PathLike[str]) -> None:
    """Write a system as a TOML document."""
    write_atomically(path, dumps(system).encode("utf-8"))


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


def _number_or_text(value: sp.Expr) -> float | int | str:
    if isinstance(value, sp.Integer):
        return int(value)
    if isinstance(value, (sp.Float, sp.Rational)):
        return float(value)
    return text_of(value)
