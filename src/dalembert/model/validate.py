"""From what a user wrote to the parts of a `System`: names matched, text parsed, every fault collected before
one error is raised.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.errors import ExpressionError, ModelError
from dalembert.model.constraints import IMPACT_LAWS, IMPACT_ORDERS, LEVELS, Constraint, is_constant, level_of
from dalembert.model.events import read_events
from dalembert.model.friction.frames import inertia_of
from dalembert.model.friction.laws import Law
from dalembert.model.friction.read_laws import LawReader, value_of
from dalembert.model.language.adopt import canonical, function_faults, refused
from dalembert.model.language.functions import functions_in, listed
from dalembert.model.language.parse import RESERVED, parse_constraint, parse_equation, parse_expression, suggest
from dalembert.model.language.symbols import Coordinate, Parameter, Reaction, is_name, is_of_time, name_of, t
from dalembert.model.outputs import reaction_faults, read_outputs
from dalembert.model.simulation_options import duration_faults, option_faults

SETTINGS = {"duration": float, "rtol": float, "atol": float, "samples": int, "method": str, "project": bool}
SETTINGS |= {"step": float, "order": int, "max_step": float}


@dataclass(frozen=True)
class Draft:
    """The arguments of `System` as given."""

    name: Any
    coordinates: Any
    kinetic: Any
    potential: Any
    lagrangian: Any
    mass: Any
    forces: Any
    constraints: Any
    nonideal: Any
    parameters: Any
    initial: Any
    settings: Any
    description: Any
    events: Any
    impacts: Any = None
    outputs: Any = None


def build_parts(draft: Draft) -> dict[str, Any]:
    """The parts of a `System`, or `ModelError` with every fault found."""
    return _Builder(draft).parts()


class _Builder:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.faults: list[str] = []
        self.table: dict[str, sp.Symbol] = {"t": t}
        self.declared: dict[str, sp.Symbol] = {}
        self.names: list[str] = []  # of the constraints
        self.values: dict[sp.Symbol, sp.Expr] = {}  # of the parameters

    def parts(self) -> dict[str, Any]:
        draft = self.draft
        title = draft.name if isinstance(draft.name, str) and draft.name.strip() else "system"
        if title != draft.name:
            self.faults.append(f"the name of a system is a text, got {draft.name!r}")
        if not title.isprintable():
            self.faults.append(f"the name of a system is one line of printable text, got {title!r}")
        coordinates = self._coordinates()
        self.values = parameters = self._parameters(coordinates)
        energies = {key: self._expression(getattr(draft, key), key) for key in ("kinetic", "potential", "lagrangian")}
        mass = self._mass(len(coordinates))
        self._one_inertia(energies, mass)
        constraints, names = self._constraints()
        self.names = names
        parts: dict[str, Any] = {
            "name": title,
            "coordinates": coordinates,
            **energies,
            "mass": mass,
            "forces": self._by_coordinate(draft.forces, "forces"),
            "constraints": constraints,
            "nonideal": LawReader(
                coordinates=coordinates,
                constraints=constraints,
                names=names,
                inertia=inertia_of(energies["kinetic"], energies["lagrangian"], mass),
                parameters=parameters,
                expression=self._expression,
                work=lambda given: self._by_coordinate(given, "work", reactions=True),
                faults=self.faults,
            ).read(draft.nonideal),
            "parameters": parameters,
            "initial": self._initial(coordinates),
            "settings": self._settings(),
            "description": str(draft.description),
        }
        switches = any(c.one_sided for c in constraints) or any(law.dry for law in parts["nonideal"])
        parts["events"] = read_events(
            draft.events, lambda given, where: self._expression(given, where, equation=True), self.faults, switches
        )
        parts["impacts"] = self._impacts(constraints)
        parts["outputs"] = outputs = read_outputs(
            draft.outputs or {}, coordinates, lambda e, where: self._expression(e, where, reactions=True), self.faults
        )
        self.faults += reaction_faults(outputs, coordinates, names)
        self._derivatives_in_place(parts)
        self._functions_agree(parts)
        if self.faults:
            raise ModelError(title, self.faults)
        return parts

    # -- names

    def _good_name(self, name: str, what: str) -> bool:
        if not is_name(name):
            self.faults.append(
                f"{what} {name!r}: a name has letters, digits and _ only and does not start with a digit"
            )
        elif name in RESERVED:
            self.faults.append(f"{what} {name!r}: this name has a meaning of its own; choose another")
        else:
            return True
        return False

    def _coordinates(self) -> tuple[Coordinate, ...]:
        given = self.draft.coordinates
        if isinstance(given, str):
            given = given.split()
        if not isinstance(given, Iterable):
            self.faults.append(f"coordinates: a list of coordinates is wanted, got {given!r}")
            return ()
        found: list[Coordinate] = []
        for item in given:
            name = name_of(item)
            if not isinstance(item, (str, sp.Expr)):
                self.faults.append(f"coordinates: {item!r} is not a coordinate")
            elif isinstance(item, AppliedUndef) and not is_of_time(item):
                self.faults.append(f"coordinates: {item}: a coordinate is a function of the time t alone, or a symbol")
            elif any(q.name == name for q in found):
                self.faults.append(f"coordinate {name!r} is given twice")
            elif self._good_name(name, "coordinate"):
                found.append(Coordinate.named(name))
        if not found and not self.faults:
            self.faults.append("a system needs at least one coordinate")
        for q in found:
            self.table |= {q.name: q, q.d.name: q.d, q.dd.name: q.dd}
        return tuple(found)

    def _parameters(self, coordinates: tuple[Coordinate, ...]) -> dict[sp.Symbol, sp.Expr]:
        values: dict[sp.Symbol, sp.Expr] = {}
        taken = {q.name for q in coordinates}
        for key, given in self._mapping(self.draft.parameters, "parameters", "{m: 1.5}").items():
            name = str(key)
            if isinstance(key, AppliedUndef):
                self.faults.append(f"parameter {name}: a parameter is a constant, not a function; use a symbol")
                continue
            if name in taken:
                self.faults.append(f"{name!r} is both a coordinate and a parameter; rename one")
                continue
            if not self._good_name(name, "parameter"):
                continue
            symbol = Parameter.named(name)
            self.declared[name] = symbol
            value = self._number(given, f"parameter {name}")
            if value is not None:
                values[symbol] = value
        self.table |= self.declared
        return values

    def _mapping(self, given: Any, what: str, example: str) -> Mapping[Any, Any]:
        if isinstance(given, Mapping):
            return given
        self.faults.append(f"{what}: a mapping such as {example} is wanted, got {given!r}")
        return {}

    # -- expressions

    def _expression(
        self,
        given: Any,
        where: str,
        *,
        equation: bool = False,
        reactions: bool = False,
        offered: Iterable[str] | None = None,
        functions: bool = True,
    ) -> sp.Expr | None:
        """An expression as it may be given; None where it cannot be read, which is told, or is None. functions: whether
        it may hold functions without an expression.
        """
        if given is None:
            return None
        try:
            if isinstance(given, str):
                if equation:
                    return parse_equation(given, self.table, where=where)
                return parse_expression(given, self.table, where=where, reactions=reactions, offered=offered)
            if isinstance(given, sp.Equality):
                given = given.lhs - given.rhs
            expression = sp.sympify(given, strict=True)
        except ExpressionError as error:
            self.faults.append(str(error))
            return None
        except (sp.SympifyError, TypeError, ValueError):
            self.faults.append(f"{where}: an expression is wanted, got {given!r}")
            return None
        if not isinstance(expression, sp.Expr) or expression.is_Matrix:
            self.faults.append(f"{where}: a scalar expression is wanted, got {type(expression).__name__}")
            return None
        if expression.has(sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I):
            self.faults.append(f"{where}: the expression holds NaN, infinity or an imaginary number: {expression}")
            return None
        if not self._functions_fit(expression, where, functions):
            return None
        expression = canonical(expression, self.table)
        strange = sorted(
            s.name for s in expression.free_symbols if isinstance(s, Parameter) and s.name not in self.table
        )
        bad = [name for name in strange if not name.endswith("'") and not self._good_name(name, f"{where}: the symbol")]
        if bad:
            return None
        stray = [s.name for s in expression.free_symbols if s.name.endswith("'") and s.name not in self.table]
        if stray:
            self.faults.append(f"{where}: {', '.join(sorted(stray))} belongs to no coordinate of the system")
        return expression

    def _functions_fit(self, expression: sp.Basic, where: str, allowed: bool) -> bool:
        """Whether the functions of an expression can stand where they do; otherwise that is told."""
        faults = function_faults(expression, self.table, RESERVED) if allowed else refused(expression)
        self.faults += [f"{where}: {fault}" for fault in faults]
        return not faults

    def _number(self, given: Any, where: str) -> sp.Expr | None:
        """A finite constant: a number, or text or an expression without names."""
        if isinstance(given, bool) or given is None:
            self.faults.append(f"{where}: a number is wanted, got {given!r}")
            return None
        if isinstance(given, str):
            try:
                expression = parse_expression(given, {}, where=where)
            except ExpressionError as error:
                self.faults.append(str(error))
                return None
        else:
            try:
                expression = sp.sympify(given, strict=True)
            except (sp.SympifyError, TypeError, ValueError):
                self.faults.append(f"{where}: a number is wanted, got {given!r}")
                return None
        return self._finite(expression, where) if self._functions_fit(expression, where, False) else None

    def _finite(self, expression: sp.Basic, where: str) -> sp.Expr | None:
        try:
            value = float(expression)
        except (TypeError, ValueError):
            self.faults.append(f"{where}: a number is wanted, got {expression}")
            return None
        if not math.isfinite(value):
            shown = "NaN" if math.isnan(value) else "infinite"
            self.faults.append(f"{where} is {shown}; a finite number is wanted")
            return None
        return expression

    def _by_coordinate(self, given: Any, where: str, *, reactions: bool = False) -> dict[Coordinate, sp.Expr]:
        if not isinstance(given, Mapping):
            self.faults.append(f"{where}: a mapping from coordinates to expressions is wanted, got {given!r}")
            return {}
        found: dict[Coordinate, sp.Expr] = {}
        names = [name for name in self.table if name + "''" in self.table]
        for key, value in given.items():
            name = name_of(key)
            if name not in names:
                self.faults.append(f"{where}: {name!r} is not a coordinate.{suggest(name, names)}")
                continue
            expression = self._expression(value, f"{where} {name}", reactions=reactions)
            if expression is not None:
                found[Coordinate.named(name)] = expression
        return found

    def _mass(self, size: int) -> sp.ImmutableMatrix | None:
        given = self.draft.mass
        if given is None:
            return None
        rows = given.tolist() if hasattr(given, "tolist") else given
        if isinstance(rows, str) or not isinstance(rows, Iterable):
            rows = [rows]
        rows = list(rows)
        if any(isinstance(row, (str, Mapping)) or not isinstance(row, Iterable) for row in rows):
            self.faults.append("mass: a square matrix is wanted, as a list of rows")
            return None
        rows = [list(row) for row in rows]
        if len(rows) != size or any(len(row) != size for row in rows):
            widths = sorted({len(row) for row in rows})
            shape = f"{len(rows)}×{widths[0]}" if len(widths) == 1 else f"rows of lengths {[len(row) for row in rows]}"
            self.faults.append(f"mass: {size} coordinates need a {size}×{size} matrix, got {shape}")
            return None
        entries = [
            [self._expression(e, f"mass[{i + 1}][{j + 1}]") for j, e in enumerate(r)] for i, r in enumerate(rows)
        ]
        if any(entry is None for row in entries for entry in row):
            return None
        matrix = sp.ImmutableMatrix(entries)
        for i in range(size):
            for j in range(i):
                if matrix[i, j] != matrix[j, i] and sp.simplify(matrix[i, j] - matrix[j, i]) != 0:
                    self.faults.append(f"mass: not symmetric, entry {i + 1},{j + 1} differs from {j + 1},{i + 1}")
        return matrix

    def _one_inertia(self, energies: Mapping[str, sp.Expr | None], mass: sp.ImmutableMatrix | None) -> None:
        given = [key for key in ("kinetic", "lagrangian", "mass") if getattr(self.draft, key) is not None]
        if not given:
            self.faults.append("no inertia: give kinetic= (with potential=), or lagrangian=, or mass= with forces=")
        elif len(given) > 1:
            self.faults.append(f"{' and '.join(given)} are both given; give one of them")
        if self.draft.lagrangian is not None and self.draft.potential is not None:
            self.faults.append("potential is already part of the lagrangian; remove one")

    def _constraints(self) -> tuple[tuple[Constraint, ...], list[str]]:
        """The constraints that could be read, and the names of all that were given."""
        given = self.draft.constraints
        if isinstance(given, Mapping):
            items = [item if isinstance(item, Constraint) else (str(name), item) for name, item in given.items()]
        elif isinstance(given, Iterable) and not isinstance(given, str):
            items = [
                item if isinstance(item, (Constraint, tuple)) else (f"c{k}", item) for k, item in enumerate(given, 1)
            ]
        else:
            self.faults.append(f"constraints: a mapping from names to expressions is wanted, got {given!r}")
            return (), []
        found: list[Constraint] = []
        names: list[str] = []
        for item in items:
            level = item.level if isinstance(item, Constraint) else None
            item = item if isinstance(item, Constraint) else Constraint(item[0], item[1])
            name, expression = item.name, item.expression
            where = f"constraint {name!r}"
            if name in names:
                self.faults.append(f"{where}: the name is given twice")
                continue
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                self.faults.append(f"{where}: a name is one line of printable text")
                continue
            names.append(name)
            parsed, one_sided = self._relation(expression, where)
            one_sided = self._one_sided(item, one_sided, where)
            restitution = self._restitution(item.restitution, one_sided, where)
            law = self._impact_law(item.impact, one_sided, where)
            if parsed is None:
                if expression is None:
                    self.faults.append(f"{where}: no equation given")
                continue
            real = level_of(parsed)
            if real is None:
                never = parsed.is_number and parsed != 0
                effect = "can never hold" if never else "constrains nothing"
                self.faults.append(f"{where}: {parsed} = 0 contains no coordinate, so it {effect}")
                continue
            if is_constant(parsed):
                self.faults.append(
                    f"{where}: {parsed} has one value whatever the coordinates, so it constrains nothing: remove it"
                )
                continue
            if level is not None and level not in LEVELS:
                self.faults.append(f"{where}: level {level!r} is unknown.{suggest(str(level), LEVELS)}")
            elif level is not None and level != real:
                self.faults.append(f"{where}: said to be at {level} level, but {parsed} = 0 is at {real} level")
            if one_sided and real != "position":
                self.faults.append(f"{where}: one-sided constraints are at position level, this one is at {real} level")
            found.append(Constraint(name, parsed, real, one_sided, restitution, item.by_friction, item.switch, law))
        return tuple(found), names

    def _relation(self, given: Any, where: str) -> tuple[sp.Expr | None, bool]:
        """What is zero on every motion, or never negative, and whether it is the latter."""
        if not isinstance(given, str):
            if isinstance(given, (sp.StrictGreaterThan, sp.StrictLessThan)):
                self.faults.append(f"{where}: {given}: a one-sided constraint includes its bound: write >= or <=")
                return None, True
            return self._expression(given, where, equation=True), False
        try:
            return parse_constraint(given, self.table, where=where)
        except ExpressionError as error:
            self.faults.append(str(error))
            return None, True  # so it may be: its restitution is no fault

    def _one_sided(self, item: Constraint, read: bool, where: str) -> bool:
        if not isinstance(item.one_sided, bool):
            self.faults.append(f"{where}: one_sided is true or false, got {item.one_sided!r}")
            return False
        return item.one_sided or read

    def _restitution(self, given: Any, one_sided: bool, where: str) -> sp.Expr | None:
        """A number from 0 to 1, which may be computed from parameters."""
        if given is None:
            return None
        if not one_sided:
            self.faults.append(f"{where}: restitution belongs to one-sided constraints: add one_sided, or write >=")
        if isinstance(given, bool):
            self.faults.append(f"{where}: restitution is a number from 0 to 1, got {given!r}")
            return None
        parameters = [name for name, symbol in self.table.items() if isinstance(symbol, Parameter)]
        expression = self._expression(given, f"{where}, restitution", offered=parameters, functions=False)
        if expression is None:
            return None
        others = sorted(s.name for s in expression.free_symbols if not isinstance(s, Parameter))
        if others:
            self.faults.append(f"{where}: restitution may use parameters only, not {', '.join(others)}")
            return None
        value = value_of(expression, self.values)
        if value is not None and not 0 <= value <= 1:
            self.faults.append(f"{where}: restitution is from 0 to 1, it is {value:.6g}")
        return expression

    def _impact_law(self, given: Any, one_sided: bool, where: str) -> str | None:
        if given is None:
            return None
        if not one_sided:
            self.faults.append(f"{where}: impact belongs to one-sided constraints: add one_sided, or write >=")
        if given not in IMPACT_LAWS:
            known = ", ".join(map(repr, IMPACT_LAWS))
            self.faults.append(f"{where}: impact is one of {known}, got {given!r}.{suggest(str(given), IMPACT_LAWS)}")
            return None
        return str(given)

    def _impacts(self, constraints: tuple[Constraint, ...]) -> str | tuple[str, ...]:
        """How contacts that meet at one instant strike: together, in sequence, or in an order of names."""
        given = self.draft.impacts
        if given is None:
            return IMPACT_ORDERS[0]
        if isinstance(given, str) and given in IMPACT_ORDERS:
            return given
        if isinstance(given, str) or not isinstance(given, Iterable):
            known = " or ".join(map(repr, IMPACT_ORDERS))
            self.faults.append(
                f"impacts: {known}, or a list of one-sided constraints in the order in which they strike, got {given!r}"
            )
            return IMPACT_ORDERS[0]
        names = list(given)
        sided = [c.name for c in constraints if c.one_sided]
        for k, name in enumerate(names):
            if name not in sided:
                self.faults.append(f"impacts: no one-sided constraint {name!r}.{suggest(str(name), sided)}")
            elif name in names[:k]:
                self.faults.append(f"impacts: {name!r} is named twice; the order repeats by itself")
        if not names:
            self.faults.append(
                "impacts: the list is empty: name one-sided constraints in the order in which they strike"
            )
        return tuple(map(str, names))

    def _initial(self, coordinates: tuple[Coordinate, ...]) -> dict[sp.Symbol, sp.Expr]:
        known: dict[str, sp.Symbol] = {"t": t}
        for q in coordinates:
            known |= {q.name: q, q.d.name: q.d}
        found: dict[sp.Symbol, sp.Expr] = {}
        for key, given in self._mapping(self.draft.initial, "initial", "{x: 0}").items():
            name = name_of(key)
            if name not in known:
                self.faults.append(f"initial: {name!r} is neither a coordinate nor a velocity.{suggest(name, known)}")
                continue
            where = f"initial {name}"
            if isinstance(given, (str, sp.Expr)) and not isinstance(given, sp.Number):
                expression = self._in_parameters(given, where)
            else:
                expression = self._number(given, where)
            if expression is not None:
                found[known[name]] = expression
        return found

    def _in_parameters(self, given: str | sp.Expr, where: str) -> sp.Expr | None:
        """An initial value may be computed from parameters."""
        if isinstance(given, str):
            try:
                return parse_expression(given, self.declared, where=where)
            except ExpressionError as error:
                self.faults.append(str(error))
                return None
        if not self._functions_fit(given, where, False):
            return None
        expression = canonical(given, self.table)
        if not expression.free_symbols:
            return self._finite(expression, where)
        others = [
            s.name for s in expression.free_symbols if s in (*self.table.values(),) and s.name not in self.declared
        ]
        if others:
            self.faults.append(f"{where}: an initial value may use parameters only, not {', '.join(sorted(others))}")
            return None
        return expression

    def _settings(self) -> dict[str, Any]:
        found = {}
        for key, value in self._mapping(self.draft.settings, "settings", "{'rtol': 1e-9}").items():
            if key not in SETTINGS:
                self.faults.append(f"simulate: unknown setting {key!r}.{suggest(key, SETTINGS)}")
                continue
            kind = SETTINGS[key]
            wrong = isinstance(value, bool) != (kind is bool) or not isinstance(
                value, (int, float) if kind is float else kind
            )
            if wrong:
                self.faults.append(f"simulate: {key} is a {kind.__name__}, got {value!r}")
            else:
                found[key] = kind(value)
        faults = option_faults(found) + (duration_faults(found["duration"]) if "duration" in found else [])
        self.faults += [f"simulate: {fault}" for fault in faults]
        return found

    def _derivatives_in_place(self, parts: Mapping[str, Any]) -> None:
        """No acceleration in an energy or force, no velocity in a potential, no reaction outside a work
        expression.
        """

        def orders(expression: sp.Expr | None) -> set[int]:
            symbols = expression.free_symbols if expression is not None else set()
            return {symbol.order for symbol in symbols if isinstance(symbol, Coordinate)}

        for key in ("kinetic", "lagrangian"):
            if 2 in orders(parts[key]):
                self.faults.append(f"{key}: accelerations cannot appear in it")
        if orders(parts["potential"]) & {1, 2}:
            self.faults.append("potential: it depends on positions and time only; put velocity terms in a lagrangian")
        for q, force in parts["forces"].items():
            if 2 in orders(force):
                self.faults.append(f"forces {q.name}: accelerations cannot appear in a force")
        for entry in parts["mass"] or ():
            if orders(entry) & {1, 2}:
                self.faults.append("mass: the matrix depends on positions and time only")
                break
        laws: tuple[Law, ...] = parts["nonideal"]
        for law in laws:
            if any(2 in orders(expression) for expression in law.written.values()):
                self.faults.append("work: accelerations cannot appear in it")
        places = [(key, parts[key]) for key in ("kinetic", "potential", "lagrangian")]
        places += [(f"forces {q.name}", force) for q, force in parts["forces"].items()]
        places += [(f"constraint {c.name!r}", c.expression) for c in parts["constraints"]]
        places += [("mass", entry) for entry in parts["mass"] or ()]
        for where, expression in places:
            found = sorted(r.name for r in expression.atoms(Reaction)) if expression is not None else []
            if found:
                self.faults.append(
                    f"{where}: {', '.join(found)}: a constraint force can appear in a work expression only"
                )
        used = [("work", expression) for law in laws for expression in law.written.values()]
        used += [(f"event {event.name!r}", event.expression) for event in parts["events"]]
        for where, reaction in sorted({(where, r) for where, e in used for r in e.atoms(Reaction)}, key=str):
            of_constraint = reaction.kind == "multiplier"
            names = self.names if of_constraint else [q.name for q in parts["coordinates"]]
            if reaction.coordinate not in names:
                what, known = "constraint" if of_constraint else "coordinate", suggest(reaction.coordinate, names)
                self.faults.append(f"{where}: {reaction}: {reaction.coordinate!r} is not a {what}.{known}")

    def _functions_agree(self, parts: Mapping[str, Any]) -> None:
        """One name stands for one function, of so many arguments, and for nothing else."""
        every = [parts[key] for key in ("kinetic", "potential", "lagrangian") if parts[key] is not None]
        every += [*parts["forces"].values(), *(parts["mass"] or ())]
        every += [expression for law in parts["nonideal"] for expression in law.expressions()]
        every += [item.expression for item in (*parts["constraints"], *parts["events"])]
        symbols = {symbol.name for expression in every for symbol in expression.free_symbols}
        for name, applied in functions_in(every).items():
            if len({len(f.args) for f in applied}) > 1:
                self.faults.append(f"the function {name} has different numbers of arguments: {listed({name: applied})}")
            if len({f.origin for f in applied}) > 1:
                self.faults.append(f"the function {name} is made twice, with different assumptions; make it once")
            if name in symbols and name not in self.declared:
                self.faults.append(f"{name} is a parameter and a function, {listed({name: applied})}; rename one")
