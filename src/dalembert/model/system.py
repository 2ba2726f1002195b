"""`System`: a mechanical system as a person writes it down. Frozen; change it with `replace`.

The verbs at the end (`equations`, `classify`, `at`, `simulate`, …) hand over to the packages that do the
work. They are the only places where this package names one to its right, and they import it only when called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from dalembert.errors import MissingValues, ModelError, counted
from dalembert.model.changes import UNCHANGED, with_changes
from dalembert.model.constraints import Constraint
from dalembert.model.events import Event
from dalembert.model.friction.contact import Contact
from dalembert.model.friction.law import Law
from dalembert.model.friction.work import Work, total
from dalembert.model.language.functions import Unspecified, functions_in
from dalembert.model.language.hashed import Hashed
from dalembert.model.language.parse import suggest
from dalembert.model.language.signatures import signatures
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.specify_functions import mapped, require_specified, specified, substitution
from dalembert.model.validate.read import Draft, build_parts

if TYPE_CHECKING:
    from dalembert.mechanics.classify.classify import Classification
    from dalembert.mechanics.page.equations import Equations
    from dalembert.model.particles.particles import Particles
    from dalembert.motion.instant import Instant
    from dalembert.motion.prepare import Prepared
    from dalembert.motion.result.motion import Motion
    from dalembert.statics.result import Equilibria
    from dalembert.study.between import Passage
    from dalembert.study.compare import Comparison
    from dalembert.study.displacements import Displacements
    from dalembert.study.path import Path
    from dalembert.study.reduced import ReducedSystem
    from dalembert.study.vakonomic import VakonomicMotion

Value = Any  # a number, an expression in parameters, or text of one
Settings = Mapping[str, Any]
# What may change while a system is still the motion of the same particles.
NUMBERS = frozenset({"name", "parameters", "initial", "settings", "description"})
VALUES = NUMBERS | {"events"}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class System:
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
    `particles`: of the motion of a `da.Particles`, those.

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
    particles: Particles | None = None

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
        particles: Particles | None = None,
        functions: Iterable[Any] = (),
    ) -> None:
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
        )
        for key, value in build_parts(draft).items():
            object.__setattr__(self, key, MappingProxyType(dict(value)) if isinstance(value, Mapping) else value)
        object.__setattr__(self, "particles", None if particles is None else particles.valued(self))

    def __repr__(self) -> str:
        names = ", ".join(q.name for q in self.coordinates)
        return f"<System {self.name!r}: coordinates {names}; {counted(len(self.constraints), 'constraint')}>"

    def _repr_latex_(self) -> str:
        """The model as Jupyter shows it: energies, forces, constraints, work."""
        lines = []
        for symbol, value in (("T", self.kinetic), ("V", self.potential), ("L", self.lagrangian), ("M", self.mass)):
            if value is not None:
                lines.append(rf"{symbol} &= {sp.latex(value)}")
        lines += [rf"F_{{{sp.latex(q)}}} &= {sp.latex(force)}" for q, force in self.forces.items()]
        for c in self.constraints:
            sign = r"\le" if c.one_sided else "="
            lines.append(rf"0 &{sign} {sp.latex(c.expression)} && \text{{{_plain(c.name)}}}")
        for law in (*self.works, *(contact.slipping() for contact in self.contacts)):
            lines += [rf"C_{{{sp.latex(q)}}} &= {sp.latex(work)}" for q, work in law.work.items()]
        return r"$$\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}$$"

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
        particles: Any = UNCHANGED,
        functions: Any = UNCHANGED,
        **unknown: Never,
    ) -> System:
        """A new system with some parts changed. `parameters`, `initial` and `settings` are merged into the
        old ones, other parts replaced.

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
            "particles": particles,
        }  # fmt: skip
        changes = {key: value for key, value in given.items() if value is not UNCHANGED} | unknown
        if functions is UNCHANGED:
            return self._replaced(changes)
        return _specified(self._replaced(changes) if changes else self, functions)

    def _replaced(self, changes: Mapping[str, Any]) -> System:
        arguments = with_changes("a System", self._arguments(), changes)
        if "particles" not in changes and not VALUES.issuperset(changes):
            arguments["particles"] = None  # another mechanics is no longer theirs
        if "impacts" not in changes:
            arguments["impacts"] = _order_of(arguments["impacts"], arguments["constraints"])
        # Text among the changes may apply the functions there are; a name that is a parameter now is none.
        names = arguments["parameters"] if isinstance(arguments["parameters"], Mapping) else {}
        known = {} if NUMBERS.issuperset(changes) else self._functions_used
        known = {name: used for name, used in known.items() if name not in map(str, names)}
        return System(**arguments, functions=signatures(known))

    # -- values

    @cached_property
    def velocities(self) -> tuple[Coordinate, ...]:
        return tuple(q.d for q in self.coordinates)

    @cached_property
    def accelerations(self) -> tuple[Coordinate, ...]:
        return tuple(q.dd for q in self.coordinates)

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """What expressions may hold: coordinates with their derivatives, parameters, time."""
        return (*self.coordinates, *self.velocities, *self.accelerations, *self.parameter_symbols, t)

    @cached_property
    def parameter_symbols(self) -> tuple[sp.Symbol, ...]:
        """All parameters that appear in the model or were given a value, in order of their names."""
        found = set(self.parameters)
        known = {*self.coordinates, *self.velocities, *self.accelerations, t}
        for expression in (*self.expressions(), *self.initial.values(), *self.outputs.values()):
            found |= {s for s in expression.free_symbols if s not in known and "(" not in s.name}
        return tuple(sorted(found, key=lambda symbol: symbol.name))

    @cached_property
    def structure(self) -> tuple[Any, ...]:
        """All of the model but its values, hashable: systems of one structure share their graph and their kernel."""
        laws = tuple(law.structure() for law in self.nonideal)
        energies = (self.kinetic, self.potential, self.lagrangian, self.mass)
        events = tuple(event.expression for event in self.events)
        forces = tuple(self.forces.items())
        return Hashed((self.coordinates, energies, forces, self.constraints, laws, events, self.parameter_symbols))

    def expressions(self) -> list[sp.Expr]:
        """Every expression of the model that decides about its motion or events."""
        parts = [self.kinetic, self.potential, self.lagrangian, *self.forces.values()]
        parts += [constraint.expression for constraint in self.constraints]
        parts += [constraint.restitution for constraint in self.constraints]
        parts += [expression for law in self.nonideal for expression in law.expressions()]
        parts += list(self.mass) if self.mass is not None else []
        parts += [event.expression for event in self.events]
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
        missing = [symbol.name for symbol in self.parameter_symbols if symbol not in self.parameters]
        if missing:
            raise MissingValues(self.name, [f"no value for parameter {', '.join(missing)}: give parameters={{…}}"])
        return self._parameter_numbers.copy()

    @cached_property
    def _parameter_numbers(self) -> np.ndarray:
        return np.array([float(self.parameters[symbol]) for symbol in self.parameter_symbols], dtype=float)

    def initial_values(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Initial q, q̇ and t; missing values are an error that lists them. t is 0 unless given."""
        require_specified(self)
        wanted = (*self.coordinates, *self.velocities)
        missing = [symbol.name for symbol in wanted if symbol not in self.initial]
        if missing:
            raise MissingValues(self.name, [f"no initial value for {', '.join(missing)}: give initial={{…}}"])
        q, v, t0 = self._initial_numbers
        return q.copy(), v.copy(), t0

    @cached_property
    def _initial_numbers(self) -> tuple[np.ndarray, np.ndarray, float]:
        wanted: tuple[sp.Symbol, ...] = (*self.coordinates, *self.velocities, t)
        values = self.parameter_values()
        known = {symbol: sp.Float(value) for symbol, value in zip(self.parameter_symbols, values, strict=True)}
        numbers = []
        for symbol in wanted:
            expression = sp.sympify(self.initial.get(symbol, 0))
            value = complex(expression.xreplace(known).evalf()) if expression.free_symbols else complex(expression)
            if value.imag or not np.isfinite(value.real):
                raise ModelError(
                    self.name, [f"the initial value of {symbol.name}, {expression}, is not a finite number"]
                )
            numbers.append(value.real)
        n = len(self.coordinates)
        return np.array(numbers[:n]), np.array(numbers[n : 2 * n]), numbers[-1]

    # -- the laws of nonideal constraints, as mechanics uses them

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """The smooth laws as `Work`; regularised friction is among them, in terms of `multiplier(NAME)`."""
        return tuple(work for law in self.nonideal if (work := law.smooth(self)) is not None)

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """The laws of dry friction, with stick and slip."""
        return tuple(contact for law in self.nonideal if (contact := law.contact(self)) is not None)

    @cached_property
    def C(self) -> tuple[sp.Expr, ...]:
        """The vector C of all smooth laws together, in the order of the coordinates."""
        return total(self.works, self.coordinates)

    @cached_property
    def sliding_C(self) -> tuple[sp.Expr, ...]:
        """The same while every contact slides: with dry friction, which has no value at rest."""
        return total((*self.works, *(contact.slipping() for contact in self.contacts)), self.coordinates)

    # -- verbs

    def equations(
        self,
        form: str = "fundamental",
        *,
        quasi_velocities: Mapping[str, Any] | None = None,
        dependent: Any = None,
        **unknown: Never,
    ) -> Equations:
        """The equations of motion: explicit, (26) of Udwadia 2005 with the three kinds of force kept apart, or in
        another `form`, by another principle: "lagrange", "gauss", "appell", "kane", "hamilton", "routh", "hertz",
        "action", "maupertuis", "liberation", "vakonomic", "transposition".

        quasi_velocities: of "appell" and "kane", names with expressions in the velocities; chosen unless given.
        dependent: of "transposition", coordinates whose displacements follow from the others.
        """
        from dalembert.mechanics.equations import equations

        return equations(self, form, {"quasi_velocities": quasi_velocities, "dependent": dependent, **unknown})

    def classify(self) -> Classification:
        """The kind of each constraint, integrability, degrees of freedom, conserved quantities."""
        from dalembert.mechanics.classify.classify import classify

        return classify(self)

    def at(
        self,
        state: Mapping[Any, Value] | None = None,
        t: float | None = None,
        parameters: Mapping[Any, Value] | None = None,
    ) -> Instant:
        """Everything at one state: acceleration, forces, multipliers, rank. Missing parts come from the
        initial state.
        """
        from dalembert.motion.instant import at

        return at(self, state, t, parameters)

    def between(
        self, start: Mapping[Any, Value] | None, end: Mapping[Any, Value], duration: float, *, guess: Any = None
    ) -> Passage:
        """The motion from one configuration to another in a given time, by stationary action: with its action, and
        whether that is a minimum or a saddle.
        """
        from dalembert.study.between import between

        return between(self, start, end, duration, guess=guess)

    def compare(self, forms: Iterable[str] | None = None, *, states: int = 4) -> Comparison:
        """Every formulation side by side: which apply, why others do not, and by how much they differ."""
        from dalembert.study.compare import compare

        if isinstance(forms, str):
            forms = [forms]
        return compare(self, None if forms is None else [str(form) for form in forms], states)

    def equilibrium(
        self,
        state: Mapping[Any, Value] | None = None,
        *,
        t: float | None = None,
        starts: int = 1,
        range_of: Any = None,
        between: tuple[float, float] | None = None,
    ) -> Equilibria:
        """Configurations at rest with all forces, their stability and natural frequencies; with friction, whether the
        configuration can be held and over which range. See `dalembert.statics.find.equilibrium`.
        """
        from dalembert.statics.find import equilibrium

        return equilibrium(self, state, t=t, starts=starts, range_of=range_of, between=between)

    def consistent(
        self, initial: Mapping[Any, Value] | None = None, hold: Iterable[Any] = ()
    ) -> dict[sp.Symbol, float]:
        """The state nearest to `initial` (in the mass metric) that satisfies all constraints, with the
        symbols in `hold` kept.
        """
        from dalembert.motion.state.consistent import consistent

        return consistent(self, initial, hold)

    def displacements(
        self,
        state: Mapping[Any, Value] | None = None,
        t: float | None = None,
        parameters: Mapping[Any, Value] | None = None,
    ) -> Displacements:
        """Whether displaced states are possible ones, constraint by constraint: the transpositional relations measured
        at a state.
        """
        from dalembert.study.displacements import displacements

        return displacements(self, state, t, parameters)

    def simulate(
        self,
        duration: float | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        samples: int | None = None,
        times: ArrayLike | None = None,
        method: str | None = None,
        project: bool | None = None,
        backend: str | None = None,
        events: Mapping[str, Any] | Iterable[Any] | None = None,
        progress: bool | None = None,
        step: float | None = None,
        order: int | None = None,
        max_step: float | None = None,
        **unknown: Never,
    ) -> Motion:
        """The motion from the initial state, with its forces and its certificate.

        duration: how long, from the initial time.
        rtol: relative tolerance, 0.1 … 1e-13 (default 1e-9).
        atol: absolute tolerance (default: a thousandth of rtol, of the size that the motion will have).
        samples: number of equidistant output times (default 501); or times: the output times themselves, increasing.
        method: "auto", "dop853", "dopri5", "stiff" (an implicit method with the exact Jacobian), or "taylor" (Taylor
        series: quickest at tight tolerances on long runs; native backend, smooth models), or "variational" (steps of
        one length that make a discrete action stationary: momenta are kept to rounding and the energy within a bound
        for very long times; constraints on positions only).
        project: return to the constraints after each step (default True); False shows the drift.
        backend: "auto", "native" (compiled C), or "reference" (CasADi's virtual machine and SciPy).
        events: besides those of the system, names with expressions (or `da.Event`) whose passages through zero go to
        `motion.events`; a terminal one ends the motion.
        progress: a bar on long runs (default: on terminals).
        step, order: of the variational method, the longest step (it is shortened to end at output times, of which there
        are at most `samples`) and the order 2, 4 or 6 (default 2). The tolerance of such a motion, by which its
        certificate is judged, is the error of its steps as measured along it.
        max_step: the longest step of the other methods. Explicit functions of time are sampled in advance, so that
        pulses longer than 1/2000 of the duration are seen without it; it is for shorter ones, and for forces that act
        in a small place only.

        Options not given come from `settings`, the `[simulate]` table of the system's document. Raises
        `InconsistentState` where the initial state violates a constraint and `MotionFailed`, with the motion so far,
        where the integration cannot go on.
        """
        from dalembert.motion.simulate import simulate

        if unknown:
            raise ModelError(self.name, [_no_such_option("simulate", name, self.simulate) for name in unknown])
        options = {
            "rtol": rtol, "atol": atol, "samples": samples, "method": method, "project": project, "backend": backend,
            "step": step, "order": order, "max_step": max_step,
        }  # fmt: skip
        return simulate(self, duration, times, options, events, progress)

    def prepare(
        self,
        duration: float | None = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        samples: int | None = None,
        times: ArrayLike | None = None,
        method: str | None = None,
        project: bool | None = None,
        backend: str | None = None,
        events: Mapping[str, Any] | Iterable[Any] | None = None,
        step: float | None = None,
        order: int | None = None,
        max_step: float | None = None,
        **unknown: Never,
    ) -> Prepared:
        """The system ready to be run from many states and with many values of its parameters; options as in `simulate`.

        >>> import dalembert as da
        >>> prepared = da.library.pendulum().prepare(1.0, rtol=1e-8)
        >>> run = prepared.run(parameters={"m": 2.0})
        >>> run.q.shape, run.motion().certificate.holds
        ((501, 2), True)
        """
        from dalembert.motion.prepare import prepare

        if unknown:
            raise ModelError(self.name, [_no_such_option("prepare", name, self.prepare) for name in unknown])
        options = {
            "rtol": rtol, "atol": atol, "samples": samples, "method": method, "project": project, "backend": backend,
            "step": step, "order": order, "max_step": max_step,
        }  # fmt: skip
        return prepare(self, duration, times, options, events)

    def vakonomic(
        self,
        duration: float | None = None,
        *,
        multipliers: Mapping[str, float] | None = None,
        rtol: float = 1e-10,
        samples: int = 501,
    ) -> VakonomicMotion:
        """Not the motion: stationary action among paths that keep the constraints, from the initial state with μ as
        given (0 by default). `.against()` shows where it leaves the motion.
        """
        from dalembert.study.vakonomic import vakonomic

        return vakonomic(self, duration, multipliers, rtol, samples)

    def path(self, start: Any, end: Any, *, energy: float, guess: Any = "direct", samples: int = 201) -> Path:
        """The path between two points at a given energy, by Maupertuis' principle. See `dalembert.study.path.path`."""
        from dalembert.study.path import path

        return path(self, start, end, energy=energy, guess=guess, samples=samples)

    def reduce(self, keep: Iterable[Any] = ()) -> ReducedSystem:
        """A system with fewer coordinates and the same motion: solvable position constraints give independent
        coordinates, ignorable ones are replaced by their momenta. See `dalembert.study.reduced.reduce`.
        """
        from dalembert.study.reduced import reduce

        return reduce(self, keep)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a TOML document."""
        from dalembert.model.documents.document import save

        save(self, path)


def _no_such_option(verb: str, name: str, function: Callable[..., Any]) -> str:
    known = [key for key, value in signature(function).parameters.items() if value.kind is value.KEYWORD_ONLY]
    return f"{verb} has no option {name!r}.{suggest(name, ['duration', *known])}"


def _plain(text: str) -> str:
    """Text without what LaTeX would read as a command."""
    return "".join(character if character.isalnum() or character in " -.,:()" else " " for character in text)


def _specified(system: System, given: Any) -> System:
    """The system with expressions in the place of its functions."""
    if system.particles is None:
        return system.replace(**specified(system, given))
    expressions = [*system.particles.expressions(), *system.expressions(), *system.outputs.values()]
    put = substitution(system.name, expressions, system.symbols, given)
    freed = system.particles.put(put).system
    parts = mapped(system, put)
    return freed.replace(events=parts["events"], outputs=parts["outputs"], particles=freed.particles)


def _rebuild(arguments: dict[str, Any]) -> System:
    return System(**arguments)


def _order_of(impacts: str | tuple[str, ...], constraints: Any) -> str | tuple[str, ...] | None:
    """The order of impacts among constraints that replace others: of those that are still one-sided."""
    given = list(constraints)
    if isinstance(impacts, str) or not all(isinstance(item, Constraint) for item in given):
        return impacts
    sided = {item.name for item in given if item.one_sided}
    return tuple(name for name in impacts if name in sided) or None
