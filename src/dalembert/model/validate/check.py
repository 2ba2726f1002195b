"""Checks that the parts of a model fit together, once they are read. Each gives what is wrong, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from dalembert.model.definitions import Definitions
from dalembert.model.friction.law import Law
from dalembert.model.language.contents import contents, symbols_in
from dalembert.model.language.functions import functions_in, names_of
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Definition, Reaction

INERTIA = ("kinetic", "lagrangian", "mass")


def not_one_inertia(given: Mapping[str, Any]) -> list[str]:
    """Where inertia is given in no way, in two, or together with what it holds already. given: as the user wrote it."""
    faults = []
    ways = [key for key in INERTIA if given[key] is not None]
    if not ways:
        faults.append("no inertia: give kinetic= (with potential=), or lagrangian=, or mass= with forces=")
    elif len(ways) > 1:
        faults.append(f"{' and '.join(ways)} are both given; give one of them")
    if given["lagrangian"] is not None and given["potential"] is not None:
        faults.append("potential is already part of the lagrangian; remove one")
    return faults


def derivatives_out_of_place(parts: Mapping[str, Any], names: list[str], definitions: Definitions) -> list[str]:
    """Accelerations in an energy or force, velocities in a potential, reactions outside a work expression, or of no
    constraint or coordinate. names: of the constraints.
    """
    faults: list[str] = []
    orders = definitions.orders_in

    def through(expression: sp.Expr, least: int) -> str:
        """Which definitions bring them in."""
        found = sorted(s.name for s in expression.free_symbols if isinstance(s, Definition))
        found = [name for name in found if definitions.order_of(Definition.named(name)) >= least]
        return f" (look at {', '.join(found)})" if found else ""

    for key in ("kinetic", "lagrangian"):
        if 2 in orders(parts[key]):
            faults.append(f"{key}: accelerations cannot appear in it{through(parts[key], 2)}")
    potential = parts["potential"]
    if orders(potential) & {1, 2}:
        what = f"it depends on positions and time only{through(potential, 1)}"
        faults.append(f"potential: {what}; put velocity terms in a lagrangian")
    for q, force in parts["forces"].items():
        if 2 in orders(force):
            faults.append(f"forces {q.name}: accelerations cannot appear in a force{through(force, 2)}")
    for entry in parts["mass"] or ():
        if orders(entry) & {1, 2}:
            faults.append(f"mass: the matrix depends on positions and time only{through(entry, 1)}")
            break
    laws: tuple[Law, ...] = parts["nonideal"]
    for law in laws:
        high = [expression for expression in law.written_work.values() if 2 in orders(expression)]
        if high:
            faults.append(f"work: accelerations cannot appear in it{through(high[0], 2)}")
    places = [(key, parts[key]) for key in ("kinetic", "potential", "lagrangian")]
    places += [(f"forces {q.name}", force) for q, force in parts["forces"].items()]
    places += [(f"constraint {c.name!r}", c.expression) for c in parts["constraints"]]
    places += [("mass", entry) for entry in parts["mass"] or ()]
    for where, expression in places:
        symbols = symbols_in(expression) if expression is not None else ()
        found = sorted(s.name for s in symbols if isinstance(s, Reaction))
        if found:
            faults.append(f"{where}: {', '.join(found)}: a constraint force can appear in a work expression only")
    used = [("work", expression) for law in laws for expression in law.written_work.values()]
    used += [(f"event {event.name!r}", event.expression) for event in parts["events"]]
    for where, reaction in sorted({(where, r) for where, e in used for r in e.atoms(Reaction)}, key=str):
        of_constraint = reaction.kind == "multiplier"
        known_names = names if of_constraint else [q.name for q in parts["coordinates"]]
        if reaction.coordinate not in known_names:
            what, known = "constraint" if of_constraint else "coordinate", suggest(reaction.coordinate, known_names)
            faults.append(f"{where}: {reaction}: {reaction.coordinate!r} is not a {what}.{known}")
    return faults


def functions_at_odds(parts: Mapping[str, Any], declared: Iterable[str]) -> list[str]:
    """Functions whose name does not stand for one function, of so many arguments, and for nothing else."""
    faults: list[str] = []
    every = [parts[key] for key in ("kinetic", "potential", "lagrangian") if parts[key] is not None]
    every += [*parts["forces"].values(), *(parts["mass"] or ())]
    every += [expression for law in parts["nonideal"] for expression in law.expressions()]
    every += [item.expression for item in (*parts["constraints"], *parts["events"])]
    every += parts["definitions"].values()
    functions = functions_in(every)
    symbols = {symbol.name for symbol in contents(*every).symbols} if functions else set()
    for name, applied in functions.items():
        if len({len(f.args) for f in applied}) > 1:
            faults.append(f"the function {name} has different numbers of arguments: {names_of({name: applied})}")
        if len({f.origin for f in applied}) > 1:
            faults.append(f"the function {name} is made twice, with different assumptions; make it once")
        if name in symbols and name not in declared:
            faults.append(f"{name} is a parameter and a function, {names_of({name: applied})}; rename one")
    return faults
