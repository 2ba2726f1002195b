"""The steps of liberation, each a result: free positions, normals, displacements, b, generalized forces, energies,
virtual works, reactions (Đukić 2012, sections 2 to 7).

    ρ_i = r_i + l_iΔ q_{n+Δ},   l_iΔ = ∇_i f_Δ                                              (2.3), (2.4)
    (δρ_i)_0 = δr_i + l_iΔ δq_{n+Δ}: tangential and normal parts, orthogonal in sum         (2.5)–(2.8)
    b_ΔΓ = Σ l_iΔ·l_iΓ,   R_Δ = b_ΔΓ (R⁻¹)_Γ,   R_i = (R⁻¹)_Δ l_iΔ                          (3.5)–(3.8)
    Q_α = Σ F_i·∂r_i/∂q_α,   N_Δ = Σ F_i·l_iΔ                                               (4.2), (4.3)
    E_k = (E_k)_0 + Ẽ_k + NLT,   Ẽ_k = Σ m_i ṙ_i·(l̇_iΔ q_{n+Δ} + l_iΔ q̇_{n+Δ})              (5.3)
    δA^I + δA^F + δA^R = (Z_α + Q_α) δq_α + (Z_{n+Δ} + N_Δ + R_Δ) δq_{n+Δ} = 0              (6.1), (7.2)

Forces of nonideal constraints are among the F_i, as the paper says. (R⁻¹)_Δ is Lagrange's multiplier of f_Δ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from sympy import ImmutableMatrix as Vector

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.page.equations import Equations, Line, ShownByEquations
from dalembert.mechanics.principles.liberation_page import inverse_reaction
from dalembert.mechanics.principles.shared.variations import displacement
from dalembert.model.language.rates import rate
from dalembert.model.language.symbols import Coordinate, Reaction, multiplier, t
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.motion.instant import Instant
    from dalembert.motion.result.motion import Motion


@dataclass(frozen=True)
class VirtualWork:
    """δA of inertial, active and reaction forces on the generalized displacement, in δq: (7.1), (4.2), (6.4)."""

    steps: Steps

    @cached_property
    def inertia(self) -> sp.Expr:
        return sp.Add(*(Z * displacement(q) for q, Z in self.steps.inertia.items()))

    @cached_property
    def applied(self) -> sp.Expr:
        along = sp.Add(*(Q * displacement(q) for q, Q in self.steps.forces.items()))
        return along + self._across(self.steps.applied)

    @cached_property
    def reactions(self) -> sp.Expr:
        return self._across(self.steps.generalized)

    @property
    def total(self) -> sp.Expr:
        """What the generalized principle (6.1) says is zero for every displacement: (7.2)."""
        return self.inertia + self.applied + self.reactions

    def _across(self, forces: Mapping[str, sp.Expr]) -> sp.Expr:
        pairs = zip(forces.values(), self.steps.supplementary, strict=True)
        return sp.Add(*(force * displacement(s) for force, s in pairs))


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps(ShownByEquations):
    """What liberation makes of particles on its way to the reactions.

    system: of these equations. coordinates: q_α; supplementary: q_{n+Δ}; constraints: the names of f_Δ. axes: the
    particles' names with their Cartesian components. place: r of every component. gradient (s, components): l. weight:
    of every component in b, 1 for a Cartesian one. kinetic: (E_k)_0; linear_kinetic: Ẽ_k. forces: Q_α and applied: N_Δ,
    with the work of nonideal constraints in them. generalized: R_Δ. inertia_along: the left sides of (7.3); motion:
    (7.3) as lines.
    bound: whether the δq_α obey l·δr = 0, as where q are the Cartesian coordinates themselves; else they are free.
    held: the constraints hold coordinates of the model, which are the supplementary ones; nothing else is freed.
    still: whether the conditions of equilibrium are those of motion with velocities zero.
    """

    system: System
    coordinates: tuple[Coordinate, ...]
    supplementary: tuple[Coordinate, ...]
    constraints: tuple[str, ...]
    axes: tuple[tuple[str, tuple[Coordinate, ...]], ...]
    place: tuple[sp.Expr, ...]
    gradient: sp.ImmutableMatrix
    weight: tuple[sp.Expr, ...]
    kinetic: sp.Expr
    linear_kinetic: sp.Expr
    forces: Mapping[Coordinate, sp.Expr]
    applied: Mapping[str, sp.Expr]
    generalized: Mapping[str, sp.Expr]
    inertia_along: tuple[sp.Expr, ...]
    motion: tuple[Line, ...]
    independent: tuple[int, ...]
    bound: bool
    held: bool
    still: bool
    note: str = ""

    # -- section 2: displacements

    @cached_property
    def positions(self) -> dict[str, Vector]:
        """r_i of each particle."""
        return self._by_particle(list(self.place))

    @cached_property
    def liberated(self) -> dict[str, Vector]:
        """ρ_i of each particle, (2.4)."""
        extra = sp.Matrix(self.supplementary)
        along = self.gradient.T * extra
        return self._by_particle([r + W * s for r, W, s in zip(self.place, self.weight, along, strict=True)])

    @cached_property
    def velocities(self) -> dict[str, Vector]:
        """ρ̇_i of each particle, (5.2); E_k = ½ Σ m_i ρ̇_i·ρ̇_i, (5.1)."""
        return {name: Vector(place.applyfunc(rate)) for name, place in self.liberated.items()}

    @cached_property
    def normals(self) -> dict[str, dict[str, Vector]]:
        """l_iΔ: for each constraint the vectors of all particles, (2.3)."""
        return {name: self._by_particle(list(self.gradient.row(k))) for k, name in enumerate(self.constraints)}

    @cached_property
    def tangential_displacements(self) -> dict[str, Vector]:
        """(δρ_i)_0T = δr_i = ∂r_i/∂q_α δq_α, (2.7), (3.2)."""
        moved = [sp.Add(*(sp.diff(r, q) * displacement(q) for q in self.coordinates)) for r in self.place]
        return self._by_particle(moved)

    @cached_property
    def normal_displacements(self) -> dict[str, Vector]:
        """(δρ_i)_0N = l_iΔ δq_{n+Δ}, (2.8)."""
        moved = self.gradient.T * sp.Matrix([displacement(s) for s in self.supplementary])
        return self._by_particle([W * s for W, s in zip(self.weight, moved, strict=True)])

    @cached_property
    def tangency(self) -> Vector:
        """Σ ∂r_i/∂q_α·l_iΔ, a row for each q_α: zero by (3.3), where the q_α are independent."""
        slopes = sp.Matrix([[sp.diff(r, q) for r in self.place] for q in self.coordinates])
        return Vector((slopes * self.gradient.T).applyfunc(lambda entry: tidy(entry, self._budget)))

    # -- section 3: reactions along normals

    @cached_property
    def b(self) -> Vector:
        """b_ΔΓ, (3.6); singular where normals depend on each other."""
        weighted = self.gradient * sp.diag(*self.weight)
        return Vector((weighted * self.gradient.T).applyfunc(lambda entry: tidy(entry, self._budget)))

    @cached_property
    def b_inverse(self) -> Vector | None:
        """b⁻¹ of the independent normals (`independent` has their places), (3.7); None where it fills pages."""
        rows = list(self.independent)
        try:
            return inverse_of(Vector(self.b.extract(rows, rows)), self._budget)
        except TooLarge:
            return None

    @cached_property
    def inverse(self) -> dict[str, sp.Expr] | None:
        """(R⁻¹)_Δ of each constraint, (3.8); of normals that repeat others zero. None where b⁻¹ fills pages, or where
        friction makes them depend on each other.
        """
        found = self._inverse
        return None if found is None or any(value.atoms(Reaction) for value in found.values()) else found

    @cached_property
    def _inverse(self) -> dict[str, sp.Expr] | None:
        """The same, those that friction makes depend on others in terms of `multiplier(NAME)` and the like."""
        if self.b_inverse is None:
            return None
        R = list(self.generalized.values())
        found = self.b_inverse * sp.Matrix([R[k] for k in self.independent])
        values = dict.fromkeys(self.constraints, sp.S.Zero)
        values |= {self.constraints[k]: value for k, value in zip(self.independent, found, strict=True)}
        for _ in values:  # reactions that depend on no others first, then those that depend on these
            known = {multiplier(name): value for name, value in values.items() if not value.atoms(Reaction)}
            values = {name: value.xreplace(known) for name, value in values.items()}
        return {name: tidy(value, self._budget) for name, value in values.items()}

    @property
    def implicit(self) -> bool:
        """Whether friction makes reactions depend on each other, so that none of them comes first."""
        return self.inverse is None and any(R.atoms(Reaction) for R in self.generalized.values())

    @cached_property
    def by_constraint(self) -> dict[str, dict[str, Vector]] | None:
        """(R⁻¹)_Δ l_iΔ: what each constraint does to each particle; their sum is R_i, (3.5)."""
        if self.inverse is None:
            return None
        return {
            name: {who: Vector(l * self.inverse[name]) for who, l in vectors.items()}
            for name, vectors in self.normals.items()
        }

    @cached_property
    def on(self) -> dict[str, Vector] | None:
        """R_i of each particle, (7.5); None where no closed form is worth having."""
        if self.inverse is None:
            return None
        total = self.gradient.T * sp.Matrix([self.inverse[name] for name in self.constraints])
        return self._by_particle([tidy(entry, self._budget) for entry in total])

    def reactions(self, of: Motion | Instant) -> dict[str, Array]:
        """R_i in numbers, Σ λ_Δ grad f_Δ: (T, d) along a motion of the system, or (d,) at an instant of it."""
        if self.system.particles is not None:
            from dalembert.mechanics.liberate.liberate import liberate  # which makes these steps

            return liberate(self.system.particles).reactions(of)
        names = [q.name for q in self.system.coordinates]
        if [q.name for q in getattr(getattr(of, "system", None), "coordinates", ())] != names:
            told = f"a motion or an instant of this system, in {', '.join(names)}, is wanted; got {of!r}"
            raise ModelError(self.system.name, [told])
        system, time = of.system, np.atleast_1d(np.asarray(of.t, dtype=float))
        slopes = [sp.diff(c.expression, q) for c in system.constraints for q in system.coordinates]
        run = numeric_function([*system.coordinates, t, *system.parameter_symbols], slopes)
        entries = run(*np.atleast_2d(of.q).T, time, *system.parameter_values())
        A = np.array([np.broadcast_to(entry, time.shape) for entry in entries], dtype=float)
        A = A.reshape(len(system.constraints), len(names), time.size)
        force = np.einsum("kit,tk->ti", A, np.atleast_2d(of.multipliers))
        columns = {who: [names.index(s.name) for s in axes] for who, axes in self.axes}
        return {who: force[0, at] if np.ndim(of.q) == 1 else force[:, at] for who, at in columns.items()}

    # -- sections 6 and 7: virtual work

    @cached_property
    def inertia(self) -> dict[Coordinate, sp.Expr]:
        """Z_U of (7.1) on the motion, by q_α and q_{n+Δ}."""
        along = dict(zip(self.coordinates, (tidy(-exact(E), self._budget) for E in self.inertia_along), strict=True))
        across = [
            tidy(-(R + N), self._budget) for R, N in zip(self.generalized.values(), self.applied.values(), strict=True)
        ]
        return along | dict(zip(self.supplementary, across, strict=True))

    @cached_property
    def virtual_work(self) -> VirtualWork:
        """On δq_α and δq_{n+Δ}. Where the q_α are Cartesian, their δ obey (2.2)."""
        return VirtualWork(self)

    # -- to read

    def equations(self) -> Equations:
        """All steps as text and LaTeX."""
        from dalembert.mechanics.liberate.pages import equations  # which shows what is computed here

        return equations(self)

    def headline(self) -> str:
        return f"of liberation of {self.system.name!r}, from the free positions to the reactions"

    @cached_property
    def named(self) -> dict[sp.Symbol, sp.Expr]:
        """Multipliers in the laws of friction as (R⁻¹)_Δ: closed forms where R_Δ is made of the state alone, else their
        signs on the page.
        """
        found: dict[sp.Symbol, sp.Expr] = {
            multiplier(name): inverse_reaction(k) for k, name in enumerate(self.constraints)
        }
        accelerations = {q.dd for q in self.coordinates}
        for name, value in (self._inverse or {}).items():
            if value.free_symbols.isdisjoint(accelerations) and not value.atoms(Reaction):
                found[multiplier(name)] = value
        return found

    @cached_property
    def _budget(self) -> Budget:
        return Budget()

    def _by_particle(self, entries: list[sp.Expr]) -> dict[str, Vector]:
        found, k = {}, 0
        for name, axes in self.axes:
            found[name] = Vector(entries[k : k + len(axes)])
            k += len(axes)
        return found
