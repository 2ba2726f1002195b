"""Liberation, the generalized Lagrange-d'Alembert principle: motion and reactions together (Đukić 2012).

Every particle is freed along the normals l_iΔ = ∇_i f_Δ of the constraints and carried by supplementary coordinates s_Δ
(q_{n+Δ} in the paper), which are zero on the motion:

    ρ_i = r_i + l_iΔ s_Δ                                                                   (2.4)
    E_k = (E_k)_0 + Ẽ_k + …,   Ẽ_k = Σ m_i ṙ_i·(l̇_iΔ s_Δ + l_iΔ ṡ_Δ)                       (5.3)
    tangential   (d/dt ∂E_k/∂q̇_α − ∂E_k/∂q_α)_0 = Q_α                                     (7.3)
    normal       (d/dt ∂E_k/∂ṡ_Δ − ∂E_k/∂s_Δ)_0 = N_Δ + R_Δ,   N_Δ = Σ F_i·l_iΔ            (7.4), (4.3)
    R_i = R_Δ (b⁻¹)_ΔΩ l_iΩ,   b_ΔΓ = Σ l_iΔ·l_iΓ                                          (7.5), (3.6)

Here the r_i are the coordinates themselves, held by f_Δ(t, x) = 0; the tangential equations are those on the
displacements that the constraints allow, Nᵀ(M ẍ − F) = 0 with A ẍ = b. Time may appear in f: (2.1) has it, and virtual
displacements do not move it. Where every constraint holds one coordinate, as at the joints of example 3, those
coordinates are the supplementary ones already and need not be Cartesian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.tidy import exact, tidy
from dalembert.mechanics.page.equations import Equations
from dalembert.mechanics.principles.shared.angles_as_lengths import weights_of
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of, affine_parts, euler_operator
from dalembert.mechanics.principles.shared.formulation import Answer, Solver, first, has_modes, nonholonomic
from dalembert.mechanics.principles.shared.scaled_constraints import solve_refined
from dalembert.mechanics.principles.shared.vanishing_gradients import vanishing_gradients
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, lagrangian, time_derivative
from dalembert.model.language.rates import partial
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System

# Normals whose direction is another's to this share count as the same: they come from derivatives at a state that
# satisfies the constraints to rounding.
SAME_NORMAL = 1e-10


def applies(system: System) -> str:
    if system.particles is not None and not system.constraints:
        return ""  # freed by their own constraints, which generalized coordinates do not show
    reason = first(has_modes(system), nonholonomic(system))
    if not reason and not system.constraints:
        reason = "there is no constraint to free particles from"
    if reason or held_coordinates(system) is not None:
        return reason
    return not_particles(system)


def state_size(system: System) -> int:
    return 2 * len(system.coordinates)


def derive(system: System) -> Equations:
    if system.particles is not None and not system.constraints:
        from dalembert.mechanics.liberate.liberate import liberate  # which is about particles

        return liberate(system.particles).equations()
    from dalembert.mechanics.principles.liberation_page import equations  # which needs what is freed here

    return equations(system)


# -- what is freed


def mass_entries(system: System) -> sp.Matrix:
    """∂²L/∂ẋ∂ẋ, or M as given."""
    if system.mass is not None:
        return sp.Matrix(system.mass)
    L = exact(lagrangian(system))
    momenta = [diff(L, v) for v in system.velocities]
    return sp.Matrix([[sp.expand(diff(p, v)) for v in system.velocities] for p in momenta])


def not_particles(system: System) -> str:
    """Why the coordinates are not Cartesian components of particles: M must be constant and diagonal."""
    M, names = mass_entries(system), [q.name for q in system.coordinates]
    varying = {*system.coordinates, *system.velocities, t}
    for i, one in enumerate(names):
        for j, other in enumerate(names[: i + 1]):
            entry = M[i, j]
            if entry == 0 or (i == j and entry.free_symbols.isdisjoint(varying)):
                continue
            entry = tidy(entry)
            if i != j and entry != 0:
                return f"the coordinates are no Cartesian components of particles: inertia couples {other} and {one}"
            if not entry.free_symbols.isdisjoint(varying):
                return f"the coordinates are no Cartesian components of particles: the inertia of {one} varies"
    return ""


def held_coordinates(system: System) -> dict[Coordinate, sp.Expr] | None:
    """The coordinates that the constraints hold, one each, at a value that may depend on time; None where a constraint
    is of another form.
    """
    found: dict[Coordinate, sp.Expr] = {}
    for constraint in system.constraints:
        inside = [q for q in system.coordinates if q in constraint.expression.free_symbols]
        if len(inside) != 1 or inside[0] in found:
            return None
        (q,) = inside
        slope = diff(constraint.expression, q)
        if slope == 0 or not slope.free_symbols.isdisjoint({q, t}):
            return None
        found[q] = sp.cancel(q - constraint.expression / slope)
        if q in found[q].free_symbols:
            return None
    return found if len(found) < len(system.coordinates) else None


def forces_of(system: System) -> list[sp.Expr]:
    """Impressed forces and the work of nonideal constraints, "added to the given set of forces", by coordinate."""
    return [system.forces.get(q, sp.S.Zero) + work for q, work in zip(system.coordinates, system.C, strict=True)]


def applied_forces(system: System, masses: list[sp.Expr]) -> list[sp.Expr]:
    """F on every component: all of L that is not Σ ½ m ẋ², the impressed forces and those of nonideal constraints."""
    forces = forces_of(system)
    if system.mass is not None:
        potential = system.potential if system.potential is not None else sp.S.Zero
        return [force - diff(potential, q) for force, q in zip(forces, system.coordinates, strict=True)]
    rest = lagrangian(system) - sp.Add(*(m * v**2 / 2 for m, v in zip(masses, system.velocities, strict=True)))
    if system.lagrangian is not None or system.kinetic is None:
        rest = sp.expand(rest)
    elif not sp.expand(rest + (system.potential or 0)).free_symbols.intersection(system.velocities):
        rest = -system.potential if system.potential is not None else sp.S.Zero
    # What is left is linear in the velocities, so that no acceleration appears.
    none = dict.fromkeys(system.accelerations, sp.S.Zero)
    return [
        force + diff(rest, q) - time_derivative(diff(rest, q.d), system.coordinates).xreplace(none)
        for force, q in zip(forces, system.coordinates, strict=True)
    ]


@dataclass(frozen=True)
class Freed:
    """Particles freed along the normals of their constraints. masses, forces: of every component. normals (s, n): l.
    normal: R_Δ of (7.4), affine in the accelerations. weights: of every component along its normals: 1, but mass over
    inertia for an angle, so that all components of a displacement have one unit (`angles_as_lengths`).
    """

    masses: list[sp.Expr]
    forces: list[sp.Expr]
    normals: sp.Matrix
    normal: list[sp.Expr]
    weights: list[sp.Expr]


def free_particles(system: System) -> Freed:
    """(2.4) to (7.4) for the particles whose components are the coordinates."""
    n, s = len(system.coordinates), len(system.constraints)
    M = mass_entries(system)
    masses = [tidy(M[j, j]) for j in range(n)]
    forces = applied_forces(system, masses)
    normals = sp.Matrix(s, n, [diff(c.expression, q) for c in system.constraints for q in system.coordinates])
    weights = weights_of(system, masses)
    weighted = normals * sp.diag(*weights)
    return Freed(masses, forces, normals, normal_reactions(system.coordinates, masses, forces, weighted), weights)


def normal_reactions(
    coordinates: tuple[Coordinate, ...], masses: list[sp.Expr], forces: list[sp.Expr], normals: sp.Matrix
) -> list[sp.Expr]:
    """R_Δ of (7.4), by Lagrange's operator on Ẽ_k, the part of E_k linear in the supplementary coordinates."""
    extra = tuple(Coordinate.named(f"supplementary_{k + 1}") for k in range(normals.rows))
    everything = (*coordinates, *extra)
    moved = [sp.Add(*(normals[k, j] * s for k, s in enumerate(extra))) for j in range(len(coordinates))]
    linear = sp.Add(
        *(m * q.d * time_derivative(rho, everything) for m, q, rho in zip(masses, coordinates, moved, strict=True))
    )
    on_motion = {symbol: sp.S.Zero for s in extra for symbol in (s, s.d, s.dd)}
    found = []
    for k, s in enumerate(extra):
        inertia = (time_derivative(diff(linear, s.d), everything) - diff(linear, s)).xreplace(on_motion)
        # d/dt (m ṙ·l) − m ṙ·l̇ leaves m r̈·l. Products of velocities cancel; as numbers they would leave their rounding.
        inertia = sp.Add(*(diff(inertia, q.dd) * q.dd for q in coordinates))
        work = sp.Add(*(force * normals[k, j] for j, force in enumerate(forces)))
        found.append(inertia - work)
    return found


# -- numbers


def prepare(system: System, sampler: Sampler) -> Solver:
    system = system.replace(nonideal=())  # C is given
    if not system.constraints:
        return _free_solver(system, sampler)
    held = held_coordinates(system)
    if held is not None:
        return _held_solver(system, sampler, held)
    freed, n, s = free_particles(system), len(system.coordinates), len(system.constraints)
    parts = sampler.function([*freed.masses, *freed.forces, *freed.normals])
    kinematics = affine_parts(sampler, accelerations_of(system))

    require_gradients = vanishing_gradients(sampler)

    def solve(state: Sample, C: Array) -> Answer:
        require_gradients(state)
        masses, forces, normals = np.split(parts(state), [n, 2 * n])
        forces = forces + C
        _, rest = kinematics(state)
        A = normals.reshape(s, n)
        # With ẍ = F/m + y the reactions are those of m y: no weight is taken from an inertia almost equal to it.
        heavy = masses > 0
        free = np.where(heavy, forces / np.where(heavy, masses, 1.0), 0.0)
        pull = np.where(heavy, 0.0, forces)
        b = -rest - A @ free
        y = solve_refined(lambda F, b: along_constraints(masses, F, A, b), np.diag(masses), pull, A, b)
        y = y + _balance_inertia(masses, pull - masses * y, A, b - A @ y) if heavy.all() else y
        return Answer(free + y, reactions(A, A @ (masses * y - pull)) + C)

    return solve


def along_constraints(masses: Array, forces: Array, A: Array, b: Array) -> Array:
    """ẍ with Nᵀ(M ẍ − F) = 0 and A ẍ = b, N the displacements that the constraints allow."""
    # In coordinates √m x all equations are of one size, whatever the masses.
    scale = np.sqrt(np.where(masses > 0, masses, 1.0))
    rows = A / scale
    lengths = _lengths(rows)
    rows, b = rows / lengths[:, None], b / lengths
    _, sigma, V = np.linalg.svd(rows)
    tangent = V[int(np.sum(sigma > SAME_NORMAL)) :]
    matrix = np.vstack([tangent * (masses / scale**2), rows])
    right = np.concatenate([tangent @ (forces / scale), b])
    # Redundant rows only repeat each other: least squares meets all of them.
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=SAME_NORMAL)[0]) / scale


def _balance_inertia(masses: Array, forces: Array, A: Array, b: Array) -> Array:
    """`along_constraints` with m ẍ for unknowns. What is left of its equations is corrected by this: accelerations of
    heavy particles, small there, are known as well as the reactions are.
    """
    rows = A / _lengths(A)[:, None]
    _, sigma, V = np.linalg.svd(rows)
    tangent = V[int(np.sum(sigma > SAME_NORMAL)) :]
    moved = A / masses
    lengths = _lengths(moved)
    matrix = np.vstack([tangent, moved / lengths[:, None]])
    right = np.concatenate([tangent @ forces, b / lengths])
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=SAME_NORMAL)[0]) / masses


def reactions(A: Array, R: Array) -> Array:
    """(7.5): R_i = R_Δ (b⁻¹)_ΔΩ l_iΩ with b = A Aᵀ is the shortest solution of A R_i = R_Δ, which exists for redundant
    normals as well.
    """
    lengths = _lengths(A)
    return np.asarray(np.linalg.lstsq(A / lengths[:, None], R / lengths, rcond=SAME_NORMAL)[0])


def _lengths(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=1)
    return np.where(lengths > 0, lengths, 1.0)


# -- supplementary coordinates that the model has already


def onto_motion(held: dict[Coordinate, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """The held coordinates and their derivatives on the motion."""
    swap: dict[sp.Symbol, sp.Expr] = {}
    for q, value in held.items():
        swap |= {q: value, q.d: partial(value, t), q.dd: partial(value, t, 2)}
    return swap


def operators(system: System, held: dict[Coordinate, sp.Expr]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """What (7.3) and (7.4) say is zero and R: the tangential operators from (E_k)_0, where the held coordinates are
    replaced before anything is differentiated, and the normal ones from all of E_k.
    """
    swap, kept = onto_motion(held), tuple(q for q in system.coordinates if q not in held)
    force = dict(zip(system.coordinates, forces_of(system), strict=True))
    if system.mass is not None:
        potential = system.potential if system.potential is not None else sp.S.Zero
        inertia = dict(zip(system.coordinates, system.mass * sp.Matrix(system.accelerations), strict=True))
        whole = {q: inertia[q] + diff(potential, q) - force[q] for q in system.coordinates}
        return [whole[q].xreplace(swap) for q in kept], [whole[q].xreplace(swap) for q in held]
    L = lagrangian(system)
    on_motion = L.xreplace(swap)
    tangential = [
        time_derivative(diff(on_motion, q.d), kept) - diff(on_motion, q) - force[q].xreplace(swap) for q in kept
    ]
    normal = [(time_derivative(diff(L, q.d), system.coordinates) - diff(L, q) - force[q]).xreplace(swap) for q in held]
    return tangential, normal


def _held_solver(system: System, sampler: Sampler, held: dict[Coordinate, sp.Expr]) -> Solver:
    tangential, normal = operators(system, held)
    places = {q: k for k, q in enumerate(system.coordinates)}
    kept = [places[q] for q in system.coordinates if q not in held]
    fixed = [places[q] for q in held]
    motion = affine_parts(sampler, tangential)
    prescribed = sampler.function([partial(value, t, 2) for value in held.values()])
    reaction = sampler.function(normal, system.accelerations)

    def solve(state: Sample, C: Array) -> Answer:
        acceleration, force = np.zeros(len(places)), np.zeros(len(places))
        S, rest = motion(state)
        acceleration[kept] = np.linalg.solve(S[:, kept], C[kept] - rest)
        acceleration[fixed] = prescribed(state)
        force[fixed] = reaction(state, *acceleration)
        force[kept] = C[kept]
        return Answer(acceleration, force)

    return solve


def _free_solver(system: System, sampler: Sampler) -> Solver:
    """(7.3) of particles in generalized coordinates, which have no reactions along them."""
    motion = affine_parts(sampler, euler_operator(system))

    def solve(state: Sample, C: Array) -> Answer:
        S, rest = motion(state)
        return Answer(np.asarray(np.linalg.solve(S, C - rest)), C)

    return solve
