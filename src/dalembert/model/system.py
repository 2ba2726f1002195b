"""`System`: a mechanical system as a person writes it down. Frozen; change it with `replace`.

Here are its parts: what they are, that they are checked, and what follows from them alone. What can be asked of it
(`equations`, `classify`, `at`, `simulate`, …) stands in `Verbs`, which it derives from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

import numpy as np
import sympy as sp

from dalembert.errors import MissingValues, ModelError, counted
from dalembert.model.changes import UNCHANGED, other_numbers, require_parameters, require_parts, with_changes
from dalembert.model.constraints import Constraint
from dalembert.model.definitions import Definitions
from dalembert.model.drawings.shapes import Drawing, Shape
from dalembert.model.events import Event
from dalembert.model.friction.contact import Contact
from dalembert.model.friction.law import Law
from dalembert.model.friction.sliding import Sliding
from dalembert.model.friction.work import Work, total
from dalembert.model.language.contents import contents
from dalembert.model.language.functions import Unspecified, functions_in
from dalembert.model.language.hashed import Hashed
from dalembert.model.language.signatures import signatures
from dalembert.model.language.symbols import Coordinate, Definition, Moving, Reaction, Time, t
from dalembert.model.specify_functions import map_expressions, require_specified, specify, substitution
from dalembert.model.units import Inherited
from dalembert.model.validate.read import Draft, build_parts
from dalembert.model.verbs import Verbs

if TYPE_CHECKING:
    from dalembert.model.particles.particles import Particles

Value = Any  # a number, an expression in parameters, or text of one
Settings = Mapping[str, Any]
# What may change while a system is still the motion of the same particles.
NUMBERS = frozenset({"name", "parameters", "initial", "settings", "description", "units", "draw"})
VALUES = NUMBERS | {"events", "outputs"}
# Lines of a model that notebooks show.
MOST_SHOWN = 40
# What a system remembers of its structure, whatever its numbers.
SHARED = frozenset({"velocities", "accelerations", "parameter_symbols", "structure", "functions", "_functions_used"})
SHARED |= {"works", "contacts", "C", "sliding_C", "shared", "_coefficients"}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class System(Verbs):
    """A constrained mechanical system.

    Inertia and potential forces come in one of three ways: `kinetic` with `potential`; or `lagrangian`; or
    `mass`, a symmetric matrix M(q, t), with `forces` holding all of Q in M q̈ = Q. `forces` are impressed
    forces by coordinate, besides those of the potential. `constraints` maps names to expressions that are
    zero, at any level (`y >= 0` is one-sided, see `da.Constraint`). `nonideal` holds the laws of constraints that do
    work: `da.Work`, `da.Viscous`, `da.Quadratic`, `da.Coulomb`, `da.Stribeck`. `parameters` and `initial` give
    values (numbers; `initial` may use parameters); they may be missing until a number is asked for. `events` maps names
    to expressions, or `da.Event`, whose passages through zero simulations find. `impacts`: how one-sided constraints
    that meet at one instant strike: "together" (the default), in "sequence", the fastest approach first, or a list of
    their names, in that order again and again. `outputs` maps names to expressions that motions evaluate,
    `motion[name]`: in coordinates and their derivatives, t, parameters, `da.ideal(x)` and `da.multiplier(constraint)`.
    `definitions` maps names to expressions that all others may use, with their rates, in any order: `da.definitions`
    makes symbols for them, text just names them, `tip` and `tip'`. They are kept as such, and computed once.
    `particles`: of the motion of a `da.Particles`, those. `units` are labels for pictures and files, `{"x": "m"}`.
    `draw` is how it looks, a list of `da.Disk`, `da.Rod` and other shapes, which `motion.animate` shows.

    Functions without an expression, `sp.Function("g")(da.t)`, may stand in expressions; text that applies them needs
    `functions`, as `["g(t)"]`. Numbers need `replace` with `functions`. Expressions are SymPy's, over `da.coordinates`
    or SymPy's own `dynamicsymbols`, or text in the document language. All faults found are raised together as
    `ModelError`.

    >>> import dalembert as da
    >>> x, y = da.coordinates("x y")
    >>> m, g, l = da.parameters("m g l")
    >>> pendulum = da.System("pendulum", coordinates=[x, y], kinetic=m*(x.d**2 + y.d**2)/2, potential=m*g*y,
    ...     constraints={"rod": x**2 + y**2 - l**2}, parameters={m: 1, g: 9.81, l: 1},
    ...     initial={x: 1, y: 0, x.d: 0, y.d: 0})
    >>> pendulum.at().acceleration
    array([ 0.  , -9.81])
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    kinetic: sp.Expr | None
    potential: sp.Expr | None
    lagrangian: sp.Expr | None
    mass: sp.ImmutableMatrix | None
    forces: Mapping[Coordinate, sp.Expr]
    constraints: tuple[Constraint, ...]
    nonideal: tuple[Law, ...]
    parameters: Mapping[sp.Symbol, sp.Expr]
    initial: Mapping[sp.Symbol, sp.Expr]
    settings: Settings = field(default_factory=dict)
    description: str = ""
    events: tuple[Event, ...] = ()
    impacts: str | tuple[str, ...] = "together"
    outputs: Mapping[str, sp.Expr] = field(default_factory=dict)
    definitions: Mapping[str, sp.Expr] = field(default_factory=dict)
    particles: Particles | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    draw: Drawing = field(default_factory=Drawing)

    def __init__(
        self,
        name: str,
        *,
        coordinates: Iterable[Any],
        kinetic: Any = None,
        potential: Any = None,
        lagrangian: Any = None,
        mass: Any = None,
        forces: Mapping[Any, Any] | None = None,
        constraints: Mapping[str, Any] | Iterable[Any] = (),
        nonideal: Iterable[Law] = (),
        parameters: Mapping[Any, Value] | None = None,
        initial: Mapping[Any, Value] | None = None,
        settings: Settings | None = None,
        description: str = "",
        events: Mapping[str, Any] | Iterable[Event] = (),
        impacts: str | Iterable[str] | None = None,
        outputs: Mapping[str, Any] | None = None,
        definitions: Mapping[Any, Any] | None = None,
        particles: Particles | None = None,
        units: Mapping[Any, str] | None = None,
        draw: Iterable[Shape] = (),
        functions: Iterable[Any] = (),
        **unknown: Never,
    ) -> None:
        if unknown:
            require_parts("a System", unknown, [*(part.name for part in fields(self)), "functions"])
        draft = Draft(
            name=name,
            coordinates=coordinates,
            kinetic=kinetic,
            potential=potential,
            lagrangian=lagrangian,
            mass=mass,
            forces=forces or {},
            constraints=constraints,
            nonideal=nonideal,
            parameters=parameters or {},
            initial=initial or {},
            settings=settings or {},
            description=description,
            events=events,
            impacts=impacts,
            outputs=outputs or {},
            functions=functions,
            definitions=definitions,
            units=units or {},
            draw=draw,
        )
        for key, value in build_parts(draft).items():
            object.__setattr__(self, key, MappingProxyType(dict(value)) if isinstance(value, Mapping) else value)
        object.__setattr__(self, "particles", None if particles is None else particles.with_values_of(self))

    def __repr__(self) -> str:
        names = ", ".join(q.name for q in self.coordinates)
        return f"<System {self.name!r}: coordinates {names}; {counted(len(self.constraints), 'constraint')}>"

    def _repr_latex_(self) -> str:
        """The model as Jupyter shows it: its name, energies, forces, constraints, work, and the values it has."""
        lines = self._latex_lines()
        values = [rf"{sp.latex(symbol)} = {sp.latex(value)}" for symbol, value in self.parameters.items()]
        rows = ["& " + r", \quad ".join(values[k : k + 6]) for k in range(0, len(values), 6)]
        shown = [rf"&\textbf{{{_plain(self.name)}}}", *_first(lines), *_first(rows)]
        return r"$$\begin{aligned}" + r" \\ ".join(shown) + r"\end{aligned}$$"

    def _latex_lines(self) -> list[str]:
        lines = []
        for symbol, value in (("T", self.kinetic), ("V", self.potential), ("L", self.lagrangian), ("M", self.mass)):
            if value is not None:
                lines.append(rf"{symbol} &= {sp.latex(value)}")
        lines += [rf"F_{{{sp.latex(q)}}} &= {sp.latex(force)}" for q, force in self.forces.items()]
        for c in self.constraints:
            sign = r"\le" if c.one_sided else "="
            lines.append(rf"0 &{sign} {sp.latex(c.expression)} && \text{{{_plain(c.name)}}}")
        lines += [
            rf"\text{{where }} {sp.latex(Definition.named(name))} &= {sp.latex(value)}"
            for name, value in self.definitions.items()
        ]
        for law in (*self.works, *(contact.slipping_work() for contact in self.contacts)):
            lines += [rf"C_{{{sp.latex(q)}}} &= {sp.latex(work)}" for q, work in law.work.items()]
        return lines

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._arguments(),)

    def _arguments(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {key: dict(value) if isinstance(value, Mapping) else value for key, value in values.items()}

    def replace(
        self,
        *,
        name: Any = UNCHANGED,
        coordinates: Any = UNCHANGED,
        kinetic: Any = UNCHANGED,
        potential: Any = UNCHANGED,
        lagrangian: Any = UNCHANGED,
        mass: Any = UNCHANGED,
        forces: Any = UNCHANGED,
        constraints: Any = UNCHANGED,
        nonideal: Any = UNCHANGED,
        parameters: Any = UNCHANGED,
        initial: Any = UNCHANGED,
        settings: Any = UNCHANGED,
        description: Any = UNCHANGED,
        events: Any = UNCHANGED,
        impacts: Any = UNCHANGED,
        outputs: Any = UNCHANGED,
        definitions: Any = UNCHANGED,
        particles: Any = UNCHANGED,
        units: Any = UNCHANGED,
        draw: Any = UNCHANGED,
        functions: Any = UNCHANGED,
        **unknown: Never,
    ) -> System:
        """A new system with some parts changed. `parameters`, `initial` and `settings` are merged into the
        old ones, other parts replaced. Values for names that the model does not have are refused.

        `functions` gives expressions to functions that have none, by the function or its name: an expression in the
        arguments it has in the model; with formal arguments, `{V(s): s**2}`; or `sp.Lambda` or a Python function.

        >>> import dalembert as da
        >>> heavy = da.library.pendulum().replace(parameters={"m": 10})
        >>> (x,), V = da.coordinates("x"), sp.Function("V")
        >>> ball = da.System("ball", coordinates=[x], kinetic=x.d**2/2, potential=V(x))
        >>> ball.replace(functions={V: x**2}).potential
        x**2
        """
        given = {
            "name": name, "coordinates": coordinates, "kinetic": kinetic, "potential": potential,
            "lagrangian": lagrangian, "mass": mass, "forces": forces, "constraints": constraints,
            "nonideal": nonideal, "parameters": parameters, "initial": initial, "settings": settings,
            "description": description, "events": events, "impacts": impacts, "outputs": outputs,
            "definitions": definitions, "particles": particles, "units": units, "draw": draw,
        }  # fmt: skip
        changes = {key: value for key, value in given.items() if value is not UNCHANGED} | unknown
        found = self._replaced(changes) if changes or functions is UNCHANGED else self
        found = found if functions is UNCHANGED else _specify(found, functions)
        if parameters is not UNCHANGED and found.parameters.keys() - self.parameters.keys():
            own = self.particles.parameter_symbols if self.particles is not None else ()
            require_parameters(self.name, parameters, {*own, *self.parameter_symbols, *found._parameters_used})
        return found

    def _replaced(self, changes: Mapping[str, Any]) -> System:
        plain = self.particles is None
        numbers = other_numbers({"parameters": self.parameters, "initial": self.initial}, changes) if plain else None
        if numbers is not None and not self._may_be_refused(numbers):
            return self._with_numbers(numbers)
        arguments = with_changes("a System", self._arguments(), changes)
        if "particles" not in changes and not VALUES.issuperset(changes):
            arguments["particles"] = None  # another mechanics is no longer theirs
        if "units" not in changes:
            arguments["units"] = Inherited(arguments["units"])
        if "draw" not in changes and changes.keys() & {"coordinates", "definitions"}:
            arguments["draw"] = ()  # it may speak of what is no longer there
        if "impacts" not in changes:
            arguments["impacts"] = _order_of(arguments["impacts"], arguments["constraints"])
        # Text among the changes may apply the functions there are; a name that is a parameter now is none.
        names = arguments["parameters"] if isinstance(arguments["parameters"], Mapping) else {}
        known = {} if NUMBERS.issuperset(changes) else self._functions_used
        known = {name: used for name, used in known.items() if name not in map(str, names)}
        return System(**arguments, functions=signatures(known))

    def _may_be_refused(self, numbers: Mapping[str, Mapping[sp.Symbol, sp.Expr]]) -> bool:
        """Whether coefficients of laws or restitutions get other values, which have to be looked at."""
        new = numbers.get("parameters", {})
        return any(float(new[s]) != float(self.parameters[s]) for s in self._coefficients if s in new)

    @cached_property
    def _coefficients(self) -> frozenset[sp.Symbol]:
        """The parameters in coefficients of laws and in restitutions."""
        own = [c.restitution for c in self.constraints if c.restitution is not None]
        own += [part for contact in self.contacts for part in (contact.mu, contact.mu_static)]
        sliding = [law for law in self.nonideal if isinstance(law, Sliding)]
        own += [value for law in sliding for name in law.numbers() if (value := getattr(law, name)) is not None]
        return frozenset(contents(*own).symbols)

    def _with_numbers(self, numbers: Mapping[str, Mapping[sp.Symbol, sp.Expr]]) -> System:
        """The same with other numbers, which decide about nothing else: all that was checked and found stays so."""
        _ = self.structure, self.functions, self.shared  # found once for all that have them in common
        made = object.__new__(System)
        names = {f.name for f in fields(self)} | SHARED
        vars(made).update({key: value for key, value in vars(self).items() if key in names})
        vars(made).update({key: MappingProxyType(value) for key, value in numbers.items()})
        with suppress(MissingValues, ModelError):  # there are none yet
            self.initial_values()
            self._hand_numbers_to(made, numbers)
        return made

    def _hand_numbers_to(self, made: System, numbers: Mapping[str, Mapping[sp.Symbol, sp.Expr]]) -> None:
        """Numbers that stay as they are: to evaluate expressions takes longer than many a motion."""
        values, symbols = self._parameter_numbers.copy(), self.parameter_symbols
        changed = {s for s, x in numbers.get("parameters", {}).items() if x is not self.parameters[s]}
        for k, symbol in enumerate(symbols):
            if symbol in changed:
                values[k] = float(made.parameters[symbol])
        vars(made)["_parameter_numbers"] = values
        q, v, t0 = self._initial_numbers
        state = [*q.tolist(), *v.tolist(), t0]
        for k, symbol in enumerate((*self.coordinates, *self.velocities, t)):
            new, old = made.initial.get(symbol), self.initial.get(symbol)
            if new is old and (new is None or not (changed and new.free_symbols & changed)):
                continue
            if new in symbols:
                state[k] = values[symbols.index(new)]
            elif isinstance(new, (sp.Float, sp.Rational)):
                state[k] = float(new)
            else:
                return  # evaluated when asked for
        n = len(self.coordinates)
        vars(made)["_initial_numbers"] = np.array(state[:n]), np.array(state[n:-1]), state[-1]

    # -- values

    @cached_property
    def velocities(self) -> tuple[Coordinate, ...]:
        return tuple(q.d for q in self.coordinates)

    @cached_property
    def accelerations(self) -> tuple[Coordinate, ...]:
        return tuple(q.dd for q in self.coordinates)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """What expressions may hold: coordinates with their derivatives, definitions likewise, parameters, time."""
        moving = (*self.coordinates, *self.velocities, *self.accelerations)
        own = [symbol for name in self.definitions for d in [Definition.named(name)] for symbol in (d, d.d, d.dd)]
        return (*moving, *own, *self.parameter_symbols, t)

    @cached_property
    def parameter_symbols(self) -> tuple[sp.Symbol, ...]:
        """All parameters that appear in the model or were given a value, in order of their names."""
        return tuple(sorted({*self.parameters, *self._parameters_used}, key=lambda symbol: symbol.name))

    @property
    def _parameters_used(self) -> set[sp.Symbol]:
        """Those that appear in the model."""
        symbols = contents(*self.expressions(), *self.initial.values(), *self.outputs.values()).symbols
        return {s for s in symbols if not isinstance(s, (Moving, Reaction, Time))}

    @cached_property
    def structure(self) -> tuple[Any, ...]:
        """All of the model but its values, hashable: systems of one structure share their graph and their kernel."""
        laws = tuple(law.structure() for law in self.nonideal)
        energies = (self.kinetic, self.potential, self.lagrangian, self.mass)
        events = tuple(event.expression for event in self.events)
        forces = tuple(self.forces.items())
        held = (self.constraints, laws, events, self.parameter_symbols, tuple(self.definitions.items()))
        return Hashed((self.coordinates, energies, forces, *held))

    def expressions(self) -> list[sp.Expr]:
        """Every expression of the model that decides about its motion or events."""
        parts = [self.kinetic, self.potential, self.lagrangian, *self.forces.values()]
        parts += [constraint.expression for constraint in self.constraints]
        parts += [constraint.restitution for constraint in self.constraints]
        parts += [expression for law in self.nonideal for expression in law.expressions()]
        parts += list(self.mass) if self.mass is not None else []
        parts += [event.expression for event in self.events]
        parts += self.definitions.values()
        return [part for part in parts if part is not None]

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of functions without an expression, see `replace`."""
        return tuple(self._functions_used)

    @cached_property
    def _functions_used(self) -> dict[str, set[Unspecified]]:
        return functions_in([*self.expressions(), *self.outputs.values()])

    def parameter_values(self) -> np.ndarray:
        """The parameters as an array in the order of `parameter_symbols`; missing ones are an error that
        lists them.
        """
        require_specified(self)
        missing = self._without_value
        if missing:
            raise MissingValues(self.name, [f"no value for parameter {', '.join(missing)}: give parameters={{…}}"])
        return self._parameter_numbers.copy()

    @cached_property
    def _without_value(self) -> list[str]:
        return [symbol.name for symbol in self.parameter_symbols if symbol not in self.parameters]

    @cached_property
    def _parameter_numbers(self) -> np.ndarray:
        return np.array([float(self.parameters[symbol]) for symbol in self.parameter_symbols], dtype=float)

    def initial_values(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Initial q, q̇ and t; missing values are an error that lists them. t is 0 unless given."""
        require_specified(self)
        wanted = (*self.coordinates, *self.velocities)
        missing = [symbol.name for symbol in wanted if symbol not in self.initial]
        if missing:
            remedy = f"give initial={{…}}, in a document under [initial], or --initial {missing[0]}=…"
            raise MissingValues(self.name, [f"no initial value for {', '.join(missing)}: {remedy}"])
        q, v, t0 = self._initial_numbers
        return q.copy(), v.copy(), t0

    @cached_property
    def _initial_numbers(self) -> tuple[np.ndarray, np.ndarray, float]:
        wanted: tuple[sp.Symbol, ...] = (*self.coordinates, *self.velocities, t)
        values = dict(zip(self.parameter_symbols, self.parameter_values().tolist(), strict=True))
        numbers = []
        for symbol in wanted:
            expression = self.initial.get(symbol, sp.Integer(0))
            if isinstance(expression, (sp.Float, sp.Rational)) or expression in values:
                # Numbers as they stand: to evaluate expressions takes a hundred times as long.
                numbers.append(values[expression] if expression in values else float(expression))
                continue
            known = {parameter: sp.Float(value) for parameter, value in values.items()}
            expression = sp.sympify(expression)
            value = complex(expression.xreplace(known).evalf()) if expression.free_symbols else complex(expression)
            if value.imag or not np.isfinite(value.real):
                raise ModelError(
                    self.name, [f"the initial value of {symbol.name}, {expression}, is not a finite number"]
                )
            numbers.append(value.real)
        n = len(self.coordinates)
        return np.array(numbers[:n]), np.array(numbers[n : 2 * n]), numbers[-1]

    @property
    def has_particles(self) -> bool:
        return self.particles is not None

    # -- definitions

    @cached_property
    def defined(self) -> Definitions:
        """The definitions, with their rates and what they are written out."""
        return Definitions(self.definitions)

    @cached_property
    def expanded(self) -> System:
        """The same system with its definitions written out wherever they are used; itself where it has none."""
        if not self.definitions:
            return self
        return self.replace(**{**map_expressions(self, self.defined.expand), "definitions": {}})

    # -- the laws of nonideal constraints, as mechanics uses them

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """The smooth laws as `Work`; regularised friction is among them, in terms of `multiplier(NAME)`."""
        own = self if all(isinstance(law, Work) for law in self.nonideal) else self.expanded
        return tuple(work for law in own.nonideal if (work := law.smooth_work(own)) is not None)

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """The laws of dry friction, with stick and slip."""
        own = self.expanded if any(law.dry for law in self.nonideal) else self
        return tuple(contact for law in own.nonideal if (contact := law.contact(own)) is not None)

    @cached_property
    def C(self) -> tuple[sp.Expr, ...]:
        """The vector C of all smooth laws together, in the order of the coordinates."""
        return total(self.works, self.coordinates)

    @cached_property
    def sliding_C(self) -> tuple[sp.Expr, ...]:
        """The same while every contact slides: with dry friction, which has no value at rest."""
        return total((*self.works, *(contact.slipping_work() for contact in self.contacts)), self.coordinates)


def _first(lines: list[str]) -> list[str]:
    """As many as a person reads; MathJax takes long over hundreds."""
    rest = len(lines) - MOST_SHOWN
    return lines if rest <= 0 else [*lines[:MOST_SHOWN], rf"&\text{{… and {rest} more lines}}"]


def _plain(text: str) -> str:
    """Text without what LaTeX would read as a command."""
    return "".join(character if character.isalnum() or character in " -.,:()" else " " for character in text)


def _specify(system: System, given: Any) -> System:
    """The system with expressions in the place of its functions."""
    if system.particles is None:
        return system.replace(**specify(system, given))
    expressions = [*system.particles.expressions(), *system.expressions(), *system.outputs.values()]
    put = substitution(system.name, expressions, system.symbols, given)
    freed = system.particles.map_expressions(put).system
    parts = map_expressions(system, put)
    own = {key: parts[key] for key in ("events", "outputs", "draw")}
    return freed.replace(**own, particles=freed.particles)


def _rebuild(arguments: dict[str, Any]) -> System:
    return System(**arguments)


def _order_of(impacts: str | tuple[str, ...], constraints: Any) -> str | tuple[str, ...] | None:
    """The order of impacts among constraints that replace others: of those that are still one-sided."""
    given = list(constraints)
    if isinstance(impacts, str) or not all(isinstance(item, Constraint) for item in given):
        return impacts
    sided = {item.name for item in given if item.one_sided}
    return tuple(name for name in impacts if name in sided) or None
