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
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from dalembert.errors import MissingValues, ModelError
from dalembert.mechanics.cofactors import TooLarge
from dalembert.mechanics.equations import Equations, Line, Section
from dalembert.mechanics.function_names import as_sympy
from dalembert.mechanics.fundamental import independent_rows
from dalembert.mechanics.principles.liberated import MOTION, NORMAL, REACTIONS, TITLE, reactions_of
from dalembert.mechanics.principles.liberation import SAME_NORMAL
from dalembert.mechanics.sample import Array
from dalembert.mechanics.standard_form import diff, time_derivative
from dalembert.mechanics.tidy import Budget, exact, tidy
from dalembert.model.functions import functions_in, listed
from dalembert.model.particles import Particles
from dalembert.model.stand_ins import stood_in
from dalembert.model.symbols import Coordinate, t

if TYPE_CHECKING:
    from dalembert.motion.instant import Instant
    from dalembert.motion.motion import Motion


@dataclass(frozen=True, eq=False)
class Liberation:
    """What liberation says of `particles`. tangential: what is zero on the motion, one expression in q, q̇, q̈, t for
    each generalized coordinate. generalized: R_Δ by constraint. on: the reaction on each particle as a vector, or None
    where no closed form is worth having (`reactions` gives the numbers all the same).
    """

    particles: Particles
    tangential: tuple[sp.Expr, ...]
    generalized: Mapping[str, sp.Expr]
    on: Mapping[str, sp.ImmutableMatrix] | None
    reason: str = ""

    def at_rest(self) -> Liberation:
        """The same in equilibrium: all velocities and accelerations zero."""
        if any(place.has(t) for particle in self.particles.particles for place in particle.position):
            raise ModelError(self.particles.name, ["positions depend on time: nothing stays at rest"])
        rest = {symbol: sp.S.Zero for q in self.particles.coordinates for symbol in (q.d, q.dd)}
        on = None
        if self.on is not None:
            on = MappingProxyType({name: R.xreplace(rest).applyfunc(tidy) for name, R in self.on.items()})
        return Liberation(
            self.particles,
            tuple(tidy(E.xreplace(rest)) for E in self.tangential),
            MappingProxyType({name: tidy(R.xreplace(rest)) for name, R in self.generalized.items()}),
            on,
            self.reason,
        )

    def equations(self) -> Equations:
        """Everything to read, as text and LaTeX."""
        none = {q.dd: sp.S.Zero for q in self.particles.coordinates}
        motion = [Line(tidy(E - E.xreplace(none)), (("", tidy(-E.xreplace(none))),)) for E in self.tangential]
        normal = [
            Line(sp.Symbol(f"R_{k}"), (("", R),), name) for k, (name, R) in enumerate(self.generalized.items(), 1)
        ]
        sections = [Section(MOTION, tuple(motion)), Section(NORMAL, tuple(normal))]
        if self.on is not None:
            lines = [
                Line(sp.Symbol(f"R_{s.name}"), (("", component),))
                for particle in self.particles.particles
                for s, component in zip(particle.coordinates, self.on[particle.name], strict=True)
            ]
            sections.append(Section(REACTIONS, tuple(lines)))
        return Equations(
            system=self.particles.system,
            form="liberation",
            explicit=False,
            reason=self.reason,
            title=TITLE,
            sections=tuple(sections),
        )

    def latex(self) -> str:
        return self.equations().latex()

    def __str__(self) -> str:
        return self.equations().text()

    def _repr_latex_(self) -> str:
        return self.equations()._repr_latex_()

    # -- numbers

    def reactions(self, of: Motion | Instant) -> dict[str, Array]:
        """The reaction on every particle, (T, d) along a motion of `particles.system`, or (d,) at an instant of it."""
        names = [q.name for q in self.particles.coordinates]
        if [q.name for q in of.system.coordinates] != names:
            raise ModelError(
                self.particles.name,
                [f"a motion in {', '.join(names)} is wanted: that of particles.system, not of {of.system.name!r}"],
            )
        a: Any = of.a if hasattr(of, "a") else of.acceleration
        single = np.ndim(of.q) == 1
        q, v, a = (np.atleast_2d(np.asarray(part, dtype=float)) for part in (of.q, of.v, a))
        time = np.atleast_1d(np.asarray(of.t, dtype=float))
        symbols = of.system.parameter_symbols
        values = of.system.parameter_values()
        known = {s.name: value for s, value in zip(symbols, values, strict=True)}
        known |= {s.name: float(value) for s, value in self.particles.parameters.items() if s.name not in known}
        normals, R = self._numbers(q, v, a, time, known)
        lengths = np.linalg.norm(normals, axis=2)
        lengths = np.where(lengths > 0, lengths, 1.0)
        # (b⁻¹)_ΔΩ l_Ω is the pseudoinverse of the normals, which redundant ones have as well.
        inverse = np.linalg.pinv(normals / lengths[:, :, None], rcond=SAME_NORMAL)
        found = np.einsum("tij,tj->ti", inverse, R / lengths)
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
        expressions = [*l, *R]
        if functions := functions_in(expressions):
            raise MissingValues(
                self.particles.name,
                [f"no expression for {listed(functions)}: numbers need one; write it in the particles and constraints"],
            )
        others = tuple(sorted({s for e in expressions for s in e.free_symbols} - set(variables), key=str))
        return sp.lambdify([*variables, *others], expressions, modules="numpy", cse=True), others

    def _numbers(self, q: Array, v: Array, a: Array, time: Array, known: Mapping[str, float]) -> tuple[Array, Array]:
        compiled, others = self._compiled
        missing = [s.name for s in others if s.name not in known]
        if missing:
            raise ModelError(self.particles.name, [f"no value for parameter {', '.join(missing)}"])
        columns = [*q.T, *v.T, *a.T, time]
        values = compiled(*columns, *(known[s.name] for s in others))
        table = np.array([np.broadcast_to(np.asarray(value, dtype=float), time.shape) for value in values]).T
        rows, n = len(self.particles.constraints), len(self.particles.cartesian_coordinates)
        return table[:, : rows * n].reshape(time.size, rows, n), table[:, rows * n :]


def liberate(particles: Particles) -> Liberation:
    """Free every particle of its constraints: motion, and the reactions that held it.

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
    if not isinstance(particles, Particles):
        raise ModelError(
            "liberate", [f"da.Particles(…) is wanted, got {particles!r}; a system has equations(form='liberation')"]
        )
    budget = Budget()
    tangential = tuple(tidy(exact(E), budget) for E in _tangential(particles))
    R = [tidy(exact(entry), budget) for entry in normal_reactions(particles)]
    on, reason = None, ""
    try:
        on = MappingProxyType(_on_particles(particles, R, budget))
    except TooLarge as error:
        reason = f"{error}; numbers need no closed form"
    generalized = dict(zip((c.name for c in particles.constraints), R, strict=True))
    return as_sympy(Liberation(particles, tangential, MappingProxyType(generalized), on, reason))


def normals_of(particles: Particles) -> sp.Matrix:
    """l, a row for each constraint, at r(q, t)."""
    cartesian = particles.cartesian_coordinates
    entries = [diff(c.expression, s).xreplace(particles.positions) for c in particles.constraints for s in cartesian]
    return sp.Matrix(len(particles.constraints), len(cartesian), entries)


def normal_reactions(particles: Particles) -> list[sp.Expr]:
    """R_Δ of (7.4): Lagrange's operator on the part of the kinetic energy linear in the supplementary coordinates."""
    place, l = particles.positions, normals_of(particles)
    extra = tuple(Coordinate.named(f"supplementary_{k + 1}") for k in range(l.rows))
    everything = (*particles.coordinates, *extra)
    linear = sp.S.Zero
    for j, (s, m) in enumerate(zip(particles.cartesian_coordinates, particles.masses, strict=True)):
        along = sp.Add(*(l[k, j] * each for k, each in enumerate(extra)))
        linear += m * place[s.d] * time_derivative(along, everything)
    on_motion = {symbol: sp.S.Zero for each in extra for symbol in (each, each.d, each.dd)}
    forces = [F.xreplace(place) for F in particles.forces]
    found = []
    for k, each in enumerate(extra):
        inertia = time_derivative(diff(linear, each.d), everything) - diff(linear, each)
        found.append(inertia.xreplace(on_motion) - sp.Add(*(F * l[k, j] for j, F in enumerate(forces))))
    return found


def _tangential(particles: Particles) -> list[sp.Expr]:
    """(7.3), what is zero."""
    place, cartesian = particles.positions, particles.cartesian_coordinates
    energy = particles.system.kinetic
    assert energy is not None
    found = []
    for q in particles.coordinates:
        force = sp.Add(
            *(F.xreplace(place) * diff(place[s], q) for F, s in zip(particles.forces, cartesian, strict=True))
        )
        found.append(time_derivative(diff(energy, q.d), particles.coordinates) - diff(energy, q) - force)
    return found


def _on_particles(particles: Particles, R: list[sp.Expr], budget: Budget) -> dict[str, sp.ImmutableMatrix]:
    l = normals_of(particles).applyfunc(lambda entry: tidy(exact(entry), budget))
    rows = _independent(l)
    found = reactions_of(l.extract(rows, list(range(l.cols))), R, rows, budget, written_out=True)
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
