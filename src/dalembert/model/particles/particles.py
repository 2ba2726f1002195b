"""`Particles`: material particles at positions r_i(q, t) under forces, and the constraints that hold them there.

The positions satisfy the constraints, so that the generalized coordinates q describe the motion without them; the
constraints are kept because of their reactions, see `dalembert.liberate`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

import sympy as sp

from dalembert.errors import ModelError, counted
from dalembert.model.changes import UNCHANGED, require_parameters, require_parts, with_changes
from dalembert.model.constraints import Constraint
from dalembert.model.friction.laws import Law
from dalembert.model.language.functions import functions_in
from dalembert.model.language.rates import rate
from dalembert.model.language.signatures import signatures
from dalembert.model.language.symbols import Coordinate, Reaction, is_name, t
from dalembert.model.particles.read_particles import belongs, read_particles, require_complete
from dalembert.model.particles.supplementary import depends_on_reactions, held_system, in_short, pulled_back
from dalembert.model.specify_functions import Change, substitution
from dalembert.model.system import System, Value

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Particle:
    """A material particle: its mass, its position (one to three Cartesian components, expressions in the generalized
    coordinates, time and parameters) and the applied force on it (as many components; none by default).

    Its Cartesian coordinates, for constraints, forces and the potential, are `x`, `y`, `z`: symbols named x_NAME, ….

    >>> bob = Particle("bob", mass="m", position=("a*sin(alpha)", "a*cos(alpha)"), force=(0, "m*g"))
    >>> bob.x, bob.coordinates
    (x_bob, (x_bob, y_bob))
    """

    name: str
    mass: Any
    position: tuple[Any, ...]
    force: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for key in ("position", "force"):
            value = getattr(self, key)
            if not isinstance(value, Iterable) or isinstance(value, str):
                raise ModelError(f"particle {self.name!r}", [f"{key}: a list of components is wanted, got {value!r}"])
            object.__setattr__(self, key, tuple(value))
        faults = [] if self.mass is not None else ["a mass is wanted, got None"]
        if not isinstance(self.name, str) or not is_name(self.name):
            faults.append(f"the name has letters, digits and _ only and does not start with a digit, got {self.name!r}")
        if not 1 <= len(self.position) <= 3:
            faults.append(f"a position has one to three components, got {len(self.position)}")
        if self.force and len(self.force) != len(self.position):
            faults.append(
                f"{counted(len(self.force), 'component')} of the force, but {len(self.position)} of the position"
            )
        if faults:
            raise ModelError(f"particle {self.name!r}", faults)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Its Cartesian coordinates."""
        return tuple(Coordinate.named(f"{axis}_{self.name}") for axis in AXES[: len(self.position)])

    @property
    def x(self) -> Coordinate:
        return self._axis(0)

    @property
    def y(self) -> Coordinate:
        return self._axis(1)

    @property
    def z(self) -> Coordinate:
        return self._axis(2)

    def _axis(self, k: int) -> Coordinate:
        if k >= len(self.position):
            raise AttributeError(f"particle {self.name!r} has {len(self.position)} Cartesian coordinates, no {AXES[k]}")
        return self.coordinates[k]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Particles:
    """A system of particles in generalized coordinates.

    `constraints` maps names to functions of the particles' Cartesian coordinates and time that are zero at the given
    positions, whatever q. `potential`, of these coordinates as well, adds its force to those of the particles.
    `nonideal` holds the laws of constraints that do work, over the particles' coordinates as well: `da.Work`,
    `da.Viscous`, `da.Coulomb`, …; without `point`, the particle slides that the constraint holds.
    `system` is the motion in q, a `da.System`; `cartesian()` the same with the constraints in its place. Where a law
    depends on the reactions, as dry friction does, `system` has the supplementary coordinates beside q, held at zero.

    >>> import dalembert as da
    >>> from sympy import sin, cos
    >>> (alpha,), (m, a, g) = da.coordinates("alpha"), da.parameters("m a g")
    >>> bob = da.Particle("bob", mass=m, position=(a*sin(alpha), a*cos(alpha)), force=(0, m*g))
    >>> pendulum = da.Particles("pendulum", coordinates=[alpha], particles=[bob],
    ...     constraints={"rod": bob.x**2 + bob.y**2 - a**2})
    >>> da.liberate(pendulum).at_rest().generalized["rod"]
    -2*a*g*m*cos(alpha)
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    particles: tuple[Particle, ...]
    constraints: tuple[Constraint, ...]
    potential: sp.Expr | None
    nonideal: tuple[Law, ...]
    parameters: Mapping[sp.Symbol, sp.Expr]
    initial: Mapping[sp.Symbol, sp.Expr]
    settings: Mapping[str, Any]
    description: str

    def __init__(
        self,
        name: str,
        *,
        coordinates: Iterable[Any],
        particles: Iterable[Particle],
        constraints: Mapping[str, Any] | Iterable[Any] = (),
        potential: Any = None,
        nonideal: Iterable[Law] = (),
        parameters: Mapping[Any, Value] | None = None,
        initial: Mapping[Any, Value] | None = None,
        settings: Mapping[str, Any] | None = None,
        description: str = "",
        functions: Iterable[Any] = (),
        **unknown: Never,
    ) -> None:
        if unknown:
            require_parts("Particles", unknown, [*(part.name for part in fields(self)), "functions"])
        if not isinstance(particles, Iterable) or isinstance(particles, (str, Mapping)):
            raise ModelError(str(name), [f"particles: a list of da.Particle(…) is wanted, got {particles!r}"])
        given = list(particles)
        wrong = [item for item in given if not isinstance(item, Particle)]
        names = [item.name for item in given if isinstance(item, Particle)]
        faults = [f"particles: da.Particle(…) is wanted, got {wrong[0]!r}"] if wrong else []
        faults += [f"the particle {one!r} is given twice" for one in sorted(set(names)) if names.count(one) > 1]
        faults += [] if given else ["there are no particles"]
        if faults:
            raise ModelError(str(name), faults)
        own = coordinates.split() if isinstance(coordinates, str) else list(coordinates)
        read = read_particles(
            name, own, given, constraints, potential, nonideal, parameters, initial, settings, description, functions
        )
        positions, rest = read.constraints[: read.places], read.constraints[read.places :]
        assert read.system.mass is not None
        q = read.system.coordinates[: len(own)]
        entries = iter(positions)
        found, k = [], len(q)
        for item in given:
            place = tuple(s - next(entries).expression for s in item.coordinates)
            force = tuple(read.system.forces.get(s, sp.S.Zero) for s in item.coordinates)
            found.append(Particle(item.name, read.system.mass[k, k], place, force))
            k += len(item.coordinates)
        for key, value in (
            ("name", read.system.name),
            ("coordinates", q),
            ("particles", tuple(found)),
            ("constraints", rest),
            ("potential", read.system.potential),
            ("nonideal", read.system.nonideal),
            ("parameters", read.system.parameters),
            ("initial", MappingProxyType({s: v for s, v in read.system.initial.items() if s == t or belongs(s, q)})),
            ("settings", read.system.settings),
            ("description", read.system.description),
        ):
            object.__setattr__(self, key, value)
        require_complete(self)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return _rebuild, ({key: dict(value) if isinstance(value, Mapping) else value for key, value in parts.items()},)

    def with_values_of(self, system: System) -> Particles:
        """The same particles with the name, the values and the settings of their `system`, changed since."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        own = {s: v for s, v in system.initial.items() if s == t or belongs(s, self.coordinates)}
        parts |= {"name": system.name, "parameters": system.parameters, "initial": MappingProxyType(own)}
        return _rebuild({**parts, "settings": system.settings, "description": system.description})

    def replace(
        self,
        *,
        name: Any = UNCHANGED,
        coordinates: Any = UNCHANGED,
        particles: Any = UNCHANGED,
        constraints: Any = UNCHANGED,
        potential: Any = UNCHANGED,
        nonideal: Any = UNCHANGED,
        parameters: Any = UNCHANGED,
        initial: Any = UNCHANGED,
        settings: Any = UNCHANGED,
        description: Any = UNCHANGED,
        functions: Any = UNCHANGED,
        **unknown: Never,
    ) -> Particles:
        """New particles with some parts changed, as `System.replace`: `parameters`, `initial` and `settings` are merged
        into the old ones, other parts replaced; `functions` gives expressions to functions that have none.
        """
        given = {
            "name": name, "coordinates": coordinates, "particles": particles, "constraints": constraints,
            "potential": potential, "nonideal": nonideal, "parameters": parameters, "initial": initial,
            "settings": settings, "description": description, **unknown,
        }  # fmt: skip
        parts = with_changes("Particles", {f.name: getattr(self, f.name) for f in fields(self)}, given)
        changed = any(value is not UNCHANGED for value in given.values())
        found = Particles(**parts, functions=signatures(functions_in(self.expressions()))) if changed else self
        if functions is not UNCHANGED:
            own = (*found.coordinates, *found.cartesian_coordinates)
            symbols = (*own, *(q.d for q in own), *found.parameter_symbols, t)
            found = found.map_expressions(substitution(found.name, found.expressions(), symbols, functions))
        if parameters is not UNCHANGED:
            require_parameters(self.name, parameters, {*self.parameter_symbols, *found._parameters_used})
        return found

    def map_expressions(self, change: Change) -> Particles:
        """The particles with every expression changed."""

        def every(expressions: Iterable[sp.Expr]) -> tuple[sp.Expr, ...]:
            return tuple(change(expression) for expression in expressions)

        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        parts["particles"] = [
            Particle(p.name, change(p.mass), every(p.position), every(p.force)) for p in self.particles
        ]
        parts["constraints"] = [replace(c, expression=change(c.expression), level=None) for c in self.constraints]
        parts["potential"] = None if self.potential is None else change(self.potential)
        parts["nonideal"] = [law.map_expressions(change) for law in self.nonideal]
        return Particles(**parts)

    def __repr__(self) -> str:
        names = ", ".join(particle.name for particle in self.particles)
        return f"<Particles {self.name!r}: {names}; {counted(len(self.constraints), 'constraint')}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = f": ask particles.system.{name}" if not name.startswith("_") and hasattr(System, name) else ""
            raise AttributeError(f"Particles have no {name!r}{hint}")

    @cached_property
    def cartesian_coordinates(self) -> tuple[Coordinate, ...]:
        return tuple(s for particle in self.particles for s in particle.coordinates)

    @cached_property
    def masses(self) -> tuple[sp.Expr, ...]:
        """The mass of each Cartesian coordinate."""
        return tuple(particle.mass for particle in self.particles for _ in particle.position)

    @cached_property
    def positions(self) -> dict[sp.Symbol, sp.Expr]:
        """Cartesian coordinates and velocities in terms of q, q̇, t."""
        found: dict[sp.Symbol, sp.Expr] = {}
        for particle in self.particles:
            for s, place in zip(particle.coordinates, particle.position, strict=True):
                found |= {s: place, s.d: rate(place)}
        return found

    @cached_property
    def forces(self) -> tuple[sp.Expr, ...]:
        """The applied force along each Cartesian coordinate, that of the potential included."""
        given = [force for particle in self.particles for force in particle.force]
        if self.potential is None:
            return tuple(given)
        return tuple(F - sp.diff(self.potential, s) for F, s in zip(given, self.cartesian_coordinates, strict=True))

    @cached_property
    def acting(self) -> tuple[sp.Expr, ...]:
        """`forces` and what nonideal constraints add to them."""
        pairs = zip(self.forces, self.cartesian_coordinates, strict=True)
        return tuple(F + self.work.get(s, sp.S.Zero) for F, s in pairs)

    def expressions(self) -> list[sp.Expr]:
        """Every expression of the model."""
        parts = [e for p in self.particles for e in (p.mass, *p.position, *p.force)]
        parts += [c.expression for c in self.constraints] + [e for law in self.nonideal for e in law.expressions()]
        return parts if self.potential is None else [*parts, self.potential]

    @cached_property
    def parameter_symbols(self) -> tuple[sp.Symbol, ...]:
        """All parameters that appear or were given a value, in order of their names."""
        return tuple(sorted({*self.parameters, *self._parameters_used}, key=lambda symbol: symbol.name))

    @property
    def _parameters_used(self) -> set[sp.Symbol]:
        """Those that appear."""
        found = {s for e in (*self.expressions(), *self.initial.values()) for s in e.free_symbols}
        return {s for s in found if s != t and not isinstance(s, (Coordinate, Reaction))}

    @cached_property
    def bare(self) -> System:
        """The particles in Cartesian coordinates with their constraints and laws, and no applied forces."""
        kinetic = sp.Add(*(m * s.d**2 / 2 for s, m in zip(self.cartesian_coordinates, self.masses, strict=True)))
        return System(
            self.name,
            coordinates=self.cartesian_coordinates,
            kinetic=kinetic,
            constraints=self.constraints,
            nonideal=self.nonideal,
            parameters=self.parameters,
        )

    @cached_property
    def work(self) -> dict[sp.Symbol, sp.Expr]:
        """C along each Cartesian coordinate that has any, over these; dry friction as it is while sliding."""
        if not self.nonideal:
            return {}
        found = dict(zip(self.bare.coordinates, self.bare.sliding_C, strict=True))
        return {s: found[s] for s in self.cartesian_coordinates if found[s] != 0}

    @cached_property
    def kinetic_energy(self) -> sp.Expr:
        """The kinetic energy in generalized coordinates."""
        pairs = zip(self.cartesian_coordinates, self.masses, strict=True)
        return in_short(sp.Add(*(m * self.positions[s.d] ** 2 / 2 for s, m in pairs)))

    @cached_property
    def system(self) -> System:
        """The motion in generalized coordinates: no constraints, no reactions. Forces of nonideal constraints are among
        the others ("added to the given set of forces"); where they depend on reactions, the supplementary coordinates
        and the constraints that hold them are there too.
        """
        if depends_on_reactions(self):
            return held_system(self).replace(particles=self)
        place = self.positions
        given = [force.xreplace(place) for particle in self.particles for force in particle.force]
        acting = {
            s: F + self.work.get(s, sp.S.Zero).xreplace(place)
            for F, s in zip(given, self.cartesian_coordinates, strict=True)
        }
        forces = pulled_back(acting, place, self.coordinates)
        return System(
            self.name,
            coordinates=self.coordinates,
            kinetic=self.kinetic_energy,
            potential=None if self.potential is None else self.potential.xreplace(place),
            forces=forces,
            parameters=self.parameters,
            initial=self.initial,
            settings=self.settings,
            description=self.description,
            particles=self,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the particles as a TOML document; `da.load` gives their `system`."""
        self.system.save(path)

    def cartesian(self) -> System:
        """The particles in Cartesian coordinates, held by the constraints."""
        used = {q.name for F in self.forces for s in F.free_symbols for q in self.coordinates if belongs(s, (q,))}
        if used:
            raise ModelError(
                self.name,
                [
                    f"a force is given in terms of {', '.join(sorted(used))}, which Cartesian coordinates do not have; "
                    "use the coordinates of the particles (x, y, z) in it"
                ],
            )
        place, own = self.positions, {*self.coordinates, *(q.d for q in self.coordinates)}
        given = {s: v for s, v in self.initial.items() if s in own}
        initial = {}
        if own <= set(given):
            at = {**given, t: self.initial.get(t, sp.S.Zero)}
            initial = {s: expression.xreplace(at) for s, expression in place.items()}
        if t in self.initial:
            initial[t] = self.initial[t]
        forces = [force for particle in self.particles for force in particle.force]
        kinetic = sp.Add(*(m * s.d**2 / 2 for s, m in zip(self.cartesian_coordinates, self.masses, strict=True)))
        return System(
            self.name,
            coordinates=self.cartesian_coordinates,
            kinetic=kinetic,
            potential=self.potential,
            forces={s: F for s, F in zip(self.cartesian_coordinates, forces, strict=True) if F != 0},
            constraints=self.constraints,
            nonideal=self.nonideal,
            parameters=self.parameters,
            initial=initial,
            settings=self.settings,
            description=self.description,
        )


def _rebuild(parts: dict[str, Any]) -> Particles:
    """Particles from parts that have been read already."""
    found = object.__new__(Particles)
    for key, value in parts.items():
        object.__setattr__(found, key, MappingProxyType(value) if isinstance(value, dict) else value)
    return found
