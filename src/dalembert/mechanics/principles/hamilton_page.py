"""Hamilton's equations on a page: momenta, H, the canonical equations, cyclic coordinates, and what H is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import lambda_of, plain
from dalembert.mechanics.principles.hamilton import Hamiltonian, hamiltonian, momentum_symbols, prepare
from dalembert.mechanics.principles.lagrange import gradient
from dalembert.mechanics.principles.shared.formulation import NotHere, answer
from dalembert.mechanics.principles.shared.powers_of_velocity import momenta_of, powers_of
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, lagrangian, standard_form
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System

H_SYMBOL, T_SYMBOL, V_SYMBOL = Coordinate.named("H"), sp.Symbol("T"), sp.Symbol("V")
REACTION = r"A^T\lambda"
STATES = 6
# Powers below this fraction of the terms they are sums of are rounding: states satisfy the constraints to 1e-12.
RATE = 1e-9

Term = tuple[str, sp.Expr]


@dataclass(frozen=True, kw_only=True)
class HamiltonEquations(Equations):
    """`hamiltonian` H(q, p, t), or in velocities where `reason` says so; `momenta`: p_x = ∂L/∂x' by its symbol;
    `velocities`: q̇ = ∂H/∂p, empty where H is in velocities.
    """

    hamiltonian: sp.Expr
    momenta: Mapping[sp.Symbol, sp.Expr]
    velocities: Mapping[sp.Symbol, sp.Expr]

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "hamiltonian": plain(self.hamiltonian),
            "momenta": {p.name: plain(value) for p, value in self.momenta.items()},
        }


def show(system: System) -> HamiltonEquations:
    budget = budget_for(system)
    found = hamiltonian(system, budget)
    q, symbols = system.coordinates, momentum_symbols(system)
    momenta = [
        Line(symbol, (("", tidy(exact(p), budget)),)) for symbol, p in zip(symbols, momenta_of(system), strict=True)
    ]
    H = exact(_energy_function(system)) if isinstance(found, str) else found.H
    shown_H = _shortest(H, budget)
    sections = [Section("momenta", tuple(momenta)), Section("Hamiltonian", (Line(H_SYMBOL, (("", shown_H),)),))]
    forces = [_forces(system, j) for j in range(len(q))]
    lines = []
    if isinstance(found, Hamiltonian):
        rates = [tidy(diff(H, symbol), budget) for symbol in symbols]
        lines += [Line(c.d, (("", rate),)) for c, rate in zip(q, rates, strict=True)]
        by_q = [tidy(-diff(H, c), budget) for c in q]
        known = dict(zip(system.velocities, rates, strict=True))
    else:
        by_q = [tidy(exact(diff(lagrangian(system), c)), budget) for c in q]
        known = {}
    for symbol, slope, terms in zip(symbols, by_q, forces, strict=True):
        shown = [(label, tidy(term.xreplace(known), budget)) for label, term in terms]
        if slope != 0 or not shown:
            shown.insert(0, (r"-\partial H/\partial q" if shown else "", slope))
        lines.append(Line(symbol.d, tuple(shown)))
    sections.append(Section("canonical equations", tuple(lines)))
    rows = [Line(sp.S.Zero, (("", tidy(c.expression.xreplace(known), budget)),), c.name) for c in system.constraints]
    sections += [Section("constraints", tuple(rows))] if rows else []
    cyclic = _cyclic(system, symbols, forces, lines[-len(q) :], budget)
    sections += [Section("cyclic coordinates", cyclic)] if cyclic else []
    sections.append(Section("conservation", _conservation(system, forces, known, budget)))
    return HamiltonEquations(
        system=system,
        form="hamilton",
        explicit=False,
        reason=f"H is shown in velocities: {found}" if isinstance(found, str) else "",
        title=r"q' = dH/dp, p' = -dH/dq + Q + C + A^T lambda, Somani (14)",
        sections=tuple(sections),
        hamiltonian=shown_H,
        momenta={symbol: line.terms[0][1] for symbol, line in zip(symbols, momenta, strict=True)},
        velocities=dict(known),
    )


def _shortest(H: sp.Expr, budget: Budget) -> sp.Expr:
    """H term by term as (17) writes it, or on one denominator, whichever is shorter."""
    expanded = sp.expand(H) if sp.count_ops(H) <= 150 else H
    termwise = sp.Add(*(tidy(term, budget) for term in sp.Add.make_args(H)))
    return min((termwise, tidy(H, budget), expanded), key=sp.count_ops)


def _energy_function(system: System) -> sp.Expr:
    """q̇ᵀp − L, in velocities."""
    momenta = momenta_of(system)
    power = sp.Add(*(v * p for v, p in zip(system.velocities, momenta, strict=True)))
    return power - lagrangian(system)


def _forces(system: System, j: int) -> list[Term]:
    """What changes p_j besides −∂H/∂q_j, with the name of each."""
    q = system.coordinates[j]
    parts = [
        ("Q", system.forces.get(q, sp.S.Zero)),
        ("C", system.C[j]),
        (REACTION, sp.Add(*(lambda_of(k) * gradient(system, k)[j] for k in range(len(system.constraints))))),
    ]
    return [(label, term) for label, term in parts if term != 0]


def _cyclic(
    system: System, symbols: tuple[Coordinate, ...], forces: list[list[Term]], rates: list[Line], budget: Budget
) -> tuple[Line, ...]:
    """(18): coordinates that are not in L. A force along one of them changes its momentum all the same."""
    names = {"Q": "impressed forces", "C": "the work of the constraints", REACTION: "constraint forces"}
    L, lines = lagrangian(system), []
    for q, p, terms, rate in zip(system.coordinates, symbols, forces, rates, strict=True):
        if tidy(diff(L, q), budget) != 0:
            continue
        label = f"{q.name} is cyclic: {p.name} is conserved"
        if terms:
            label = f"{q.name} is cyclic, but {p.name} changes by {' and '.join(names[kind] for kind, _ in terms)}"
        lines.append(replace(rate, label=label))
    return tuple(lines)


def _conservation(
    system: System, forces: list[list[Term]], known: dict[Coordinate, sp.Expr], budget: Budget
) -> tuple[Line, ...]:
    """(19) with the power of what is not in H, and whether H is the energy.

    What vanishes only where the constraints hold (an ideal constraint at rest in space does no work) is told by its
    values at random states that satisfy them.
    """
    sampler = Sampler(standard_form(system))
    states = sampler.states(STATES)

    def zero(expression: sp.Expr) -> bool:
        return expression == 0 or (bool(states) and sampler.vanishes(expression, states))

    power = dict.fromkeys(("Q", "C"), sp.S.Zero)
    for q, terms in zip(system.coordinates, forces, strict=True):
        for kind, term in terms:
            if kind in power:
                power[kind] += q.d * term
    parts = [("", -diff(lagrangian(system), t)), *((rf"\dot q^T {kind}", term) for kind, term in power.items())]
    for k, work in enumerate(_works(system, sampler, states)):
        slope = gradient(system, k)
        along = sp.Add(*(a * v for a, v in zip(slope, system.velocities, strict=True)))
        parts += [(rf"\dot q^T {REACTION}", lambda_of(k) * along)] if work else []
    left = [(label, tidy(term.xreplace(known), budget)) for label, term in parts if term != 0]
    if not left:
        rate = Line(H_SYMBOL.d, (("", sp.S.Zero),), "H is conserved")
    elif _constant(system, sampler, states):
        rate = Line(H_SYMBOL.d, tuple(left), "which is zero: H is conserved")
    else:
        rate = Line(H_SYMBOL.d, tuple(left), "H is not conserved")
    return rate, *_what_is_H(system, zero, known, budget)


def _works(system: System, sampler: Sampler, states: list[Sample]) -> list[bool]:
    """Which constraints can do work: those whose force, along their gradient, is not across the velocity."""
    found = []
    for k in range(len(system.constraints)):
        along = sampler.function(gradient(system, k)) if system.constraints[k].level != "acceleration" else None
        if along is None or not states:
            found.append(True)
            continue
        rows = [(along(state), state.v) for state in states]
        sizes = [np.linalg.norm(a) * np.linalg.norm(v) for a, v in rows]
        found.append(any(abs(a @ v) > RATE * size for (a, v), size in zip(rows, sizes, strict=True)))
    return found


def _constant(system: System, sampler: Sampler, states: list[Sample]) -> bool:
    """Whether dH/dt vanishes at the states, all forces taken together."""
    ask = answer(system, sampler, prepare(system, sampler))
    explicit = sampler.function([-diff(lagrangian(system), t)])
    impressed = sampler.function([system.forces.get(q, sp.S.Zero) for q in system.coordinates])
    for state in states:
        try:
            force = ask(state).force
        except NotHere:
            return False
        terms = np.concatenate([explicit(state), impressed(state) * state.v, force * state.v])
        if not abs(terms.sum()) <= RATE * np.abs(terms).sum():
            return False
    return bool(states)


def _what_is_H(
    system: System, zero: Callable[[sp.Expr], bool], known: dict[Coordinate, sp.Expr], budget: Budget
) -> list[Line]:
    """H as T + V and what else; nothing where L alone is given and does not say what T is."""
    both = (("", T_SYMBOL), ("", V_SYMBOL))
    if system.lagrangian is not None:
        label = "T the part of L of second degree in the velocities, -V that of degree zero"
        return [Line(H_SYMBOL, both, label)] if powers_of(system) is not None else []
    V = system.potential if system.potential is not None else sp.S.Zero
    rest = _energy_function(system) - lagrangian(system) - 2 * V
    if zero(rest):
        return [Line(H_SYMBOL, both, "H is the energy")]
    more = tidy(sp.expand(rest).xreplace(known), budget)
    return [Line(H_SYMBOL, (*both, ("", more)), "H is not the energy")]
