"""`Steps` of particles in generalized coordinates, of a system in Cartesian ones, and of one whose constraints hold
coordinates, as at the joints of rods.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from dalembert.errors import DoesNotApply
from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.liberate.steps import Steps
from dalembert.mechanics.page.decimals import exactly, has_decimals
from dalembert.mechanics.page.equations import Line, conditions
from dalembert.mechanics.principles import liberation
from dalembert.mechanics.principles import liberation_page as liberated
from dalembert.mechanics.principles.shared.formulation import rheonomic
from dalembert.mechanics.standard_form import diff, lagrangian, time_derivative
from dalembert.model.friction.contact import needs_legs, sliding_system
from dalembert.model.friction.frames import frames_of, inertia_of
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.particles.particles import Particles
from dalembert.model.particles.supplementary import LETTERS, normals_of, supplementary_coordinates
from dalembert.model.system import System


def steps_of(particles: Particles, tangential: tuple[sp.Expr, ...], R: dict[str, sp.Expr], rows: list[int]) -> Steps:
    """Those of particles: what is zero by (7.3), the R_Δ, and the places of the independent normals are known."""
    budget, place, q = Budget(), particles.positions, particles.coordinates
    cartesian, extra = particles.cartesian_coordinates, supplementary_coordinates(particles)
    l = normals_of(particles).applyfunc(lambda entry: tidy(exact(entry), budget))
    pairs = list(zip(cartesian, particles.masses, strict=True))
    kinetic = tidy(exact(sp.Add(*(m * place[s.d] ** 2 / 2 for s, m in pairs))), budget)
    freed = l.T * sp.Matrix(extra)
    linear = sp.Add(*(m * place[s.d] * time_derivative(freed[j], (*q, *extra)) for j, (s, m) in enumerate(pairs)))
    acting = [exact(F.xreplace(place)) for F in particles.acting]
    along = [time_derivative(diff(kinetic, each.d), q) - diff(kinetic, each) for each in q]
    none = {each.dd: sp.S.Zero for each in q}
    return Steps(
        system=particles.system,
        coordinates=q,
        supplementary=extra,
        constraints=tuple(c.name for c in particles.constraints),
        axes=tuple((p.name, p.coordinates) for p in particles.particles),
        place=tuple(place[s] for s in cartesian),
        gradient=sp.ImmutableMatrix(l),
        weight=(sp.S.One,) * len(cartesian),
        kinetic=kinetic,
        linear_kinetic=_by_rates(exact(linear), extra, budget),
        forces={each: tidy(_work_along([place[s] for s in cartesian], acting, each), budget) for each in q},
        applied=_applied(particles, l, acting, budget),
        generalized=R,
        inertia_along=tuple(along),
        motion=tuple(
            Line(tidy(E - E.xreplace(none), budget), (("", tidy(-E.xreplace(none), budget)),)) for E in tangential
        ),
        independent=tuple(rows),
        bound=False,
        held=False,
        still=not any(r.has(t) for p in particles.particles for r in p.position) and not particles.bare.contacts,
        note="; ".join(conditions(particles.bare)),
    )


def steps_of_system(system: System) -> Steps:
    """Those of a system to which the form "liberation" applies."""
    system = system.expanded
    smooth = sliding_system(system)
    reason = liberation.applies(smooth)
    if reason:
        raise DoesNotApply(f"{system.name}: liberation does not apply: {reason}", reason)
    smooth = exactly(smooth) if has_decimals(smooth) else smooth
    held = liberation.held_coordinates(smooth)
    found = _cartesian(smooth) if held is None else _held(smooth, held)
    note = "; ".join(filter(None, [found["note"], *conditions(system)]))
    still = not rheonomic(smooth) and not needs_legs(system)
    return Steps(**{**found, "system": system, "still": still, "note": note})


def _cartesian(system: System) -> dict[str, Any]:
    budget, q = Budget(), system.coordinates
    freed = liberated.exactly(liberation.free_particles(system))
    rows, dependent = liberated.independent(system, freed)
    R = liberated.generalized_reactions(system, freed, budget)
    l, names = freed.normals, tuple(c.name for c in system.constraints)
    extra = _supplementary(system, len(q) - len(rows), len(names))
    moved = [W * s for W, s in zip(freed.weights, l.T * sp.Matrix(extra), strict=True)]
    linear = sp.Add(
        *(m * s.d * time_derivative(rho, (*q, *extra)) for m, s, rho in zip(freed.masses, q, moved, strict=True))
    )
    weighted = l * sp.diag(*freed.weights)
    note = liberated.note_on_weights(system, freed)
    try:
        motion = tuple(liberated.tangential_lines(system, freed, rows, dependent, budget))
    except TooLarge as error:
        motion, note = (), "; ".join(filter(None, [note, f"{error}; numbers need no closed form"]))
    return {
        "coordinates": q,
        "supplementary": extra,
        "constraints": names,
        "axes": _particles(system),
        "place": q,
        "gradient": sp.ImmutableMatrix(l),
        "weight": tuple(freed.weights),
        "kinetic": sp.Add(*(m * s.d**2 / 2 for m, s in zip(freed.masses, q, strict=True))),
        "linear_kinetic": _by_rates(linear, extra, budget),
        "forces": {s: tidy(F, budget) for s, F in zip(q, freed.forces, strict=True)},
        "applied": {name: tidy(N, budget) for name, N in zip(names, weighted * sp.Matrix(freed.forces), strict=True)},
        "generalized": dict(zip(names, R, strict=True)),
        "inertia_along": tuple(m * s.dd for m, s in zip(freed.masses, q, strict=True)),
        "motion": motion,
        "independent": tuple(rows),
        "bound": True,
        "held": False,
        "note": note,
    }


def _held(system: System, held: dict[Coordinate, sp.Expr]) -> dict[str, Any]:
    budget = Budget()
    swap, kept = liberation.onto_motion(held), tuple(q for q in system.coordinates if q not in held)
    tangential, normal = liberation.operators(system, held)
    T, rest = _energies(system)
    # q_h − its value is what frees it; of joints that value is zero.
    on_motion = T.xreplace(swap)
    linear = sp.Add(*(diff(T, symbol).xreplace(swap) * (symbol - swap[symbol]) for q in held for symbol in (q, q.d)))
    force = dict(zip(system.coordinates, liberation.forces_of(system), strict=True))
    none = dict.fromkeys(system.accelerations, sp.S.Zero)
    for q in system.coordinates:
        force[q] += diff(rest, q) - time_derivative(diff(rest, q.d), system.coordinates).xreplace(none)
    names = tuple(c.name for c in system.constraints)
    along = [time_derivative(diff(on_motion, q.d), kept) - diff(on_motion, q) for q in kept]
    return {
        "coordinates": kept,
        "supplementary": tuple(held),
        "constraints": names,
        "axes": tuple((q.name, (q,)) for q in held),
        "place": tuple(held.values()),
        "gradient": sp.ImmutableMatrix(sp.eye(len(held))),
        "weight": (sp.S.One,) * len(held),
        "kinetic": tidy(exact(on_motion), budget),
        "linear_kinetic": _by_rates(exact(linear), tuple(held), budget),
        "forces": {q: tidy(force[q].xreplace(swap), budget) for q in kept},
        "applied": {name: tidy(force[q].xreplace(swap), budget) for q, name in zip(held, names, strict=True)},
        "generalized": {name: tidy(R, budget) for name, R in zip(names, normal, strict=True)},
        "inertia_along": tuple(along),
        "motion": tuple(liberated.balance(E, system, budget) for E in tangential),
        "independent": tuple(range(len(held))),
        "bound": False,
        "held": True,
        "note": "",
    }


def _energies(system: System) -> tuple[sp.Expr, sp.Expr]:
    """The kinetic energy, and the rest of the Lagrangian: at most linear in the velocities where L is given as such."""
    potential = system.potential if system.potential is not None else sp.S.Zero
    v = sp.Matrix(system.velocities)
    if system.kinetic is not None:
        return system.kinetic, -potential
    if system.mass is not None:
        return (v.T * sp.Matrix(system.mass) * v)[0] / 2, -potential
    L = lagrangian(system)
    quadratic = sp.expand((v.T * liberation.mass_entries(system) * v)[0] / 2)
    return quadratic, sp.expand(L - quadratic)


def _supplementary(system: System, n: int, s: int) -> tuple[Coordinate, ...]:
    """q_{n+1}, …, under another letter where the system has such names."""
    taken = {symbol.name for symbol in (*system.coordinates, *system.parameter_symbols)}
    for letter in LETTERS:
        names = [f"{letter}_{n + k}" for k in range(1, s + 1)]
        if taken.isdisjoint(names):
            break
    return tuple(map(Coordinate.named, names))


def _particles(system: System) -> tuple[tuple[str, tuple[Coordinate, ...]], ...]:
    """The coordinates that belong together, as far as it can be told, by the names of all."""
    inertia = inertia_of(system.kinetic, system.lagrangian, system.mass)
    assert inertia is not None
    frames = frames_of(inertia, system.coordinates)
    groups = [*frames.bodies, *((s,) for crowd in frames.crowds for s in crowd), *((s,) for s in frames.others)]
    places = {s: k for k, s in enumerate(system.coordinates)}
    return tuple(
        (", ".join(s.name for s in group), tuple(group)) for group in sorted(groups, key=lambda g: places[g[0]])
    )


def _work_along(place: list[sp.Expr], acting: list[sp.Expr], q: Coordinate) -> sp.Expr:
    return sp.Add(*(F * diff(r, q) for r, F in zip(place, acting, strict=True)))


def _applied(particles: Particles, l: sp.Matrix, acting: list[sp.Expr], budget: Budget) -> dict[str, sp.Expr]:
    N = l * sp.Matrix(acting)
    return {c.name: tidy(entry, budget) for c, entry in zip(particles.constraints, N, strict=True)}


def _by_rates(linear: sp.Expr, extra: tuple[Coordinate, ...], budget: Budget) -> sp.Expr:
    """Ẽ_k as a sum over the supplementary coordinates and their rates."""
    symbols = [symbol for s in extra for symbol in (s, s.d)]
    return sp.Add(*(tidy(diff(linear, symbol), budget) * symbol for symbol in symbols))
