"""Reactions on every particle of a system in generalized coordinates, by liberation (Đukić 2012).

    ρ_i = r_i(q, t) + l_iΔ s_Δ,   l_iΔ = ∇_i f_Δ at r(q, t)                                (2.3), (2.4)
    tangential   d/dt ∂E/∂q̇_α − ∂E/∂q_α = Q_α,   E = Σ ½ m_i ṙ_i²                          (7.3)
    normal       R_Δ = d/dt ∂Ẽ/∂ṡ_Δ − ∂Ẽ/∂s_Δ − Σ F_i·l_iΔ                                 (7.4)
    R_i = R_Δ (b⁻¹)_ΔΩ l_iΩ,   b_ΔΓ = Σ l_iΔ·l_iΓ                                          (7.5)

With velocities and accelerations zero they are the conditions of equilibrium, applied forces and reactions together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import MissingValues, ModelError
from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.page.decimals import as_written, has_decimals
from dalembert.mechanics.page.equations import Equations, Line, Section, ShownByEquations
from dalembert.mechanics.page.function_names import as_sympy
from dalembert.mechanics.principles.liberation import SAME_NORMAL
from dalembert.mechanics.principles.liberation_page import (
    MOTION,
    NONE_AT_REST,
    NORMAL,
    REACTIONS,
    TITLE,
    has_value,
    reactions_of,
)
from dalembert.mechanics.solve.fundamental import independent_rows
from dalembert.mechanics.standard_form import diff, time_derivative
from dalembert.model.language.functions import functions_in, names_of
from dalembert.model.language.stand_ins import stood_in
from dalembert.model.language.symbols import Reaction, t
from dalembert.model.particles.particles import Particles
from dalembert.model.particles.supplementary import depends_on_reactions, normals_of
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.liberate.steps import Steps
    from dalembert.motion.instant import Instant
    from dalembert.motion.result.motion import Motion


@dataclass(frozen=True, eq=False)
class Liberation(ShownByEquations):
    """What liberation says of `particles`. tangential: what is zero on the motion, one expression in q, q̇, q̈, t for
    each generalized coordinate. generalized: R_Δ by constraint. on: the reaction on each particle as a vector, or None
    where no closed form is worth having (`reactions` gives the numbers all the same).
    """

    particles: Particles
    tangential: tuple[sp.Expr, ...]
    generalized: Mapping[str, sp.Expr]
    on: Mapping[str, sp.ImmutableMatrix] | None
    reason: str = ""

    def __post_init__(self) -> None:
        for key in ("generalized", "on"):
            if getattr(self, key) is not None:
                object.__setattr__(self, key, MappingProxyType(dict(getattr(self, key))))

    def __reduce__(self) -> tuple[Any, ...]:
        on = None if self.on is None else dict(self.on)
        return Liberation, (self.particles, self.tangential, dict(self.generalized), on, self.reason)

    @cached_property
    def steps(self) -> Steps:
        """Every step from the free positions to the reactions, as results and as a page to read."""
        from dalembert.mechanics.liberate.steps_of import steps_of  # which needs what is written here

        rows = _independent(normals_of(self.particles).applyfunc(exact))
        return steps_of(self.particles, self.tangential, dict(self.generalized), rows)

    def at_rest(self) -> Liberation:
        """The same in equilibrium: all velocities and accelerations zero."""
        if self.particles.bare.contacts:
            raise ModelError(
                self.particles.name,
                ["dry friction at rest is whatever holds, within its limit: ask particles.system.equilibrium()"],
            )
        if any(place.has(t) for particle in self.particles.particles for place in particle.position):
            raise ModelError(self.particles.name, ["positions depend on time: nothing stays at rest"])
        rest = {symbol: sp.S.Zero for q in self.particles.coordinates for symbol in (q.d, q.dd)}
        on = None
        if self.on is not None:
            on = {name: R.xreplace(rest).applyfunc(tidy) for name, R in self.on.items()}
        tangential = tuple(tidy(E.xreplace(rest)) for E in self.tangential)
        generalized = {name: tidy(R.xreplace(rest)) for name, R in self.generalized.items()}
        if not all(map(has_value, [*tangential, *generalized.values()])):
            raise ModelError(self.particles.name, [f"nothing is told of equilibrium: {NONE_AT_REST}"])
        return Liberation(self.particles, tangential, generalized, on, self.reason)

    def equations(self) -> Equations:
        none = {q.dd: sp.S.Zero for q in self.particles.coordinates}
        named = self.steps.named if self.particles.nonideal else {}
        rest = [E.xreplace(none).xreplace(named) for E in self.tangential]
        motion = [
            Line(tidy(E - E.xreplace(none)), (("", tidy(-part)),))
            for E, part in zip(self.tangential, rest, strict=True)
        ]
        normal = [
            Line(sp.Symbol(f"R_{k}"), (("", R.xreplace(named)),), name)
            for k, (name, R) in enumerate(self.generalized.items(), 1)
        ]
        sections = [Section(MOTION, tuple(motion)), Section(NORMAL, tuple(normal))]
        if self.on is not None:
            lines = [
                Line(sp.Symbol(f"R_{s.name}"), (("", component),))
                for particle in self.particles.particles
                for s, component in zip(particle.coordinates, self.on[particle.name], strict=True)
            ]
            sections.append(Section(REACTIONS, tuple(lines)))
        system = self.particles.system
        return Equations(
            system=system,
            form="liberation",
            explicit=False,
            reason=self.reason,
            title=TITLE,
            sections=as_written(sections) if has_decimals(system) else tuple(sections),
        )

    def headline(self) -> str:
        return f"of {self.particles.name!r}: reactions on {', '.join(p.name for p in self.particles.particles)}"

    # -- numbers

    def reactions(self, of: Motion | Instant) -> dict[str, Array]:
        """The reaction on every particle, (T, d) along a motion of `particles.system`, or (d,) at an instant of it:
        the part along the normals; friction is what `nonideal` tells.
        """
        q, v, a, time, known = self._values(of)
        normals, R, _ = self._numbers(q, v, a, time, known)
        if depends_on_reactions(self.particles):
            # The multipliers of such a motion are the (R⁻¹)_Δ, found with the friction that depends on them.
            found = np.einsum("tki,tk->ti", normals, np.atleast_2d(of.multipliers))
            return self._by_particle(found, np.ndim(of.q) == 1)
        lengths = np.linalg.norm(normals, axis=2)
        lengths = np.where(lengths > 0, lengths, 1.0)
        # (b⁻¹)_ΔΩ l_Ω is the pseudoinverse of the normals, which redundant ones have as well.
        inverse = np.linalg.pinv(normals / lengths[:, :, None], rcond=SAME_NORMAL)
        return self._by_particle(np.einsum("tij,tj->ti", inverse, R / lengths), np.ndim(of.q) == 1)

    def inverse(self, of: Motion | Instant) -> dict[str, Array]:
        """(R⁻¹)_Δ of (3.8) by constraint, (T,) or a number: Lagrange's multipliers. A joint's are the force in it. Of
        normals that depend on each other, the smallest, for normals of unit length.
        """
        q, v, a, time, known = self._values(of)
        normals, _, _ = self._numbers(q, v, a, time, known)
        R = np.concatenate([np.atleast_2d(vector) for vector in self.reactions(of).values()], axis=1)
        lengths = np.linalg.norm(normals, axis=2)
        lengths = np.where(lengths > 0, lengths, 1.0)
        unit = np.swapaxes(normals / lengths[:, :, None], 1, 2)
        found = np.einsum("tij,tj->ti", np.linalg.pinv(unit, rcond=SAME_NORMAL), R) / lengths
        single = np.ndim(of.q) == 1
        return {c.name: found[0, k] if single else found[:, k] for k, c in enumerate(self.particles.constraints)}

    def nonideal(self, of: Motion | Instant) -> dict[str, Array]:
        """What nonideal constraints do to every particle beside the reactions: m r̈ − F − R, of the same shapes. Of
        friction that holds it is the force that does so.
        """
        q, v, a, time, known = self._values(of)
        _, _, free = self._numbers(q, v, a, time, known)
        R = np.concatenate([np.atleast_2d(vector) for vector in self.reactions(of).values()], axis=1)
        return self._by_particle(free - R, np.ndim(of.q) == 1)

    def _values(self, of: Motion | Instant) -> tuple[Array, Array, Array, Array, dict[str, float]]:
        """q, v, a of the generalized coordinates, times, and parameters by name."""
        names = [q.name for q in self.particles.system.coordinates]
        if not hasattr(of, "system") or not hasattr(of, "multipliers"):
            told = "particles.system.simulate(…), or an instant of it, particles.system.at(…)"
            raise ModelError(self.particles.name, [f"a motion is wanted, {told}; got {of!r}"])
        if [q.name for q in of.system.coordinates] != names:
            raise ModelError(
                self.particles.name,
                [f"a motion in {', '.join(names)} is wanted: that of particles.system, not of {of.system.name!r}"],
            )
        n = len(self.particles.coordinates)
        a: Any = of.a if hasattr(of, "a") else of.acceleration
        q, v, a = (np.atleast_2d(np.asarray(part, dtype=float))[:, :n] for part in (of.q, of.v, a))
        time = np.atleast_1d(np.asarray(of.t, dtype=float))
        symbols = of.system.parameter_symbols
        values = of.system.parameter_values()
        known = {s.name: value for s, value in zip(symbols, values, strict=True)}
        known |= {s.name: float(value) for s, value in self.particles.parameters.items() if s.name not in known}
        return q, v, a, time, known

    def _by_particle(self, found: Array, single: bool) -> dict[str, Array]:
        parts, k = {}, 0
        for particle in self.particles.particles:
            size = len(particle.position)
            parts[particle.name] = found[0, k : k + size] if single else found[:, k : k + size]
            k += size
        return parts

    @cached_property
    def _compiled(self) -> tuple[Any, tuple[sp.Symbol, ...]]:
        own = self.particles.coordinates
        variables = [*own, *(q.d for q in own), *(q.dd for q in own), t]
        l, R = normals_of(self.particles), normal_reactions(self.particles)
        if depends_on_reactions(self.particles):
            R = []
        expressions = [*l, *R, *surplus(self.particles)]
        if functions := functions_in(expressions):
            raise MissingValues(
                self.particles.name,
                [f"no expression for {names_of(functions)}: numbers need one; write it where the function stands"],
            )
        others = tuple(sorted({s for e in expressions for s in e.free_symbols} - set(variables), key=str))
        return sp.lambdify([*variables, *others], expressions, modules="numpy", cse=True), others

    def _numbers(
        self, q: Array, v: Array, a: Array, time: Array, known: Mapping[str, float]
    ) -> tuple[Array, Array, Array]:
        """Normals, R_Δ (none where they depend on reactions), and m r̈ − F, at each time."""
        compiled, others = self._compiled
        missing = [s.name for s in others if s.name not in known]
        if missing:
            raise ModelError(self.particles.name, [f"no value for parameter {', '.join(missing)}"])
        columns = [*q.T, *v.T, *a.T, time]
        values = compiled(*columns, *(known[s.name] for s in others))
        table = np.array([np.broadcast_to(np.asarray(value, dtype=float), time.shape) for value in values]).T
        rows, n = len(self.particles.constraints), len(self.particles.cartesian_coordinates)
        normals = table[:, : rows * n].reshape(time.size, rows, n)
        return normals, table[:, rows * n : -n], table[:, -n:]


@overload
def liberate(particles: Particles) -> Liberation: ...


@overload
def liberate(particles: System) -> Liberation | Steps: ...


def liberate(particles: Particles | System) -> Liberation | Steps:
    """Free every particle of its constraints: motion, and the reactions that held it.

    Of a `System` in Cartesian coordinates, or with constraints that hold coordinates, the steps of the same.

    >>> import dalembert as da
    >>> x, y = da.coordinates("x y")
    >>> puck = da.Particle("puck", mass=1, position=(x, y, 0), force=(0, 0, -10))
    >>> table = da.Particles("table", coordinates=[x, y], particles=[puck], constraints={"top": puck.z})
    >>> liberate(table).on["puck"]
    Matrix([
    [ 0],
    [ 0],
    [10]])
    """
    if isinstance(particles, System):
        if particles.particles is None:
            from dalembert.mechanics.liberate.steps_of import steps_of_system  # which needs what is written here

            return steps_of_system(particles)
        particles = particles.particles
    if not isinstance(particles, Particles):
        raise ModelError("liberate", [f"da.Particles(…) or a da.System(…) is wanted, got {particles!r}"])
    budget = Budget()
    tangential = tuple(tidy(exact(E), budget) for E in _tangential(particles))
    R = [tidy(exact(entry), budget) for entry in normal_reactions(particles)]
    on: Mapping[str, sp.ImmutableMatrix] | None = None
    reason = ""
    generalized = dict(zip((c.name for c in particles.constraints), R, strict=True))
    if any(entry.atoms(Reaction) for entry in R):
        from dalembert.mechanics.liberate.steps_of import steps_of  # which needs what is written here

        on = steps_of(particles, tangential, generalized, _independent(normals_of(particles).applyfunc(exact))).on
        reason = "" if on is not None else "friction depends on the reactions, which stand on both sides"
    else:
        try:
            on = _on_particles(particles, R, budget)
        except TooLarge as error:
            reason = f"{error}; numbers need no closed form"
    return as_sympy(Liberation(particles, tangential, generalized, on, reason))


def normal_reactions(particles: Particles) -> list[sp.Expr]:
    """R_Δ of (7.4). Lagrange's operator on Ẽ_k, d/dt Σ m ṙ·l − Σ m ṙ·l̇, leaves Σ m r̈·l: products of velocities cancel,
    and long ones are not written down first.
    """
    l = normals_of(particles)
    acting, place = particles.acting, particles.positions
    pushes = [
        m * time_derivative(place[s.d], particles.coordinates) - F.xreplace(place)
        for s, m, F in zip(particles.cartesian_coordinates, particles.masses, acting, strict=True)
    ]
    return [sp.Add(*(push * l[k, j] for j, push in enumerate(pushes))) for k in range(l.rows)]


def surplus(particles: Particles) -> list[sp.Expr]:
    """m r̈ − F of every component: what all constraints together do, by Newton's law."""
    place, q = particles.positions, particles.coordinates
    return [
        m * time_derivative(place[s.d], q) - F.xreplace(place)
        for s, m, F in zip(particles.cartesian_coordinates, particles.masses, particles.forces, strict=True)
    ]


def _tangential(particles: Particles) -> list[sp.Expr]:
    """(7.3), what is zero."""
    place, cartesian = particles.positions, particles.cartesian_coordinates
    energy, found = particles.kinetic_energy, []
    for q in particles.coordinates:
        force = sp.Add(
            *(F.xreplace(place) * diff(place[s], q) for F, s in zip(particles.acting, cartesian, strict=True))
        )
        found.append(time_derivative(diff(energy, q.d), particles.coordinates) - diff(energy, q) - force)
    return found


def _on_particles(particles: Particles, R: list[sp.Expr], budget: Budget) -> dict[str, sp.ImmutableMatrix]:
    l = normals_of(particles).applyfunc(lambda entry: tidy(exact(entry), budget))
    found = reactions_of(l, R, _independent(l), budget, written_out=True)
    parts, k = {}, 0
    for particle in particles.particles:
        size = len(particle.position)
        parts[particle.name] = sp.ImmutableMatrix(found[k : k + size])
        k += size
    return parts


def _independent(l: sp.Matrix) -> list[int]:
    """Normals that do not depend on those before them, at a random place."""
    rng = np.random.default_rng(3)
    at = {s: sp.Float(rng.uniform(0.5, 2.0)) for s in sorted(l.free_symbols, key=str)}
    return independent_rows(np.array(l.applyfunc(stood_in).xreplace(at).evalf().tolist(), dtype=float).reshape(l.shape))
