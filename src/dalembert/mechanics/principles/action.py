"""The principle of stationary action, Hamilton's: (5)–(7) of Somani 2019.

    S = ∫ (L + λ_k φ_k) dt,      δS + ∫ Q_np,j δq_j dt = 0      for every δq that vanishes at both ends

Varied, ∂L/∂q_j − d/dt ∂L/∂q̇_j + Q_np,j + λ_k ∂φ_k/∂q_j = 0. Impressed forces without a potential are no part of an
action; they enter by their virtual work, in d'Alembert's way (the extended principle). Constraints must be on
positions: with others, paths varied between fixed ends leave the constraints (see `transposition`), and making S
stationary among those that keep them is another mechanics (see `vakonomic`).

The numbers come from the principle and from nothing else: among polynomial paths through the state, on a short interval
about it, the one whose action is stationary. Only L, φ and their first derivatives are evaluated; there is no mass
matrix, and no equation of motion is ever formed.
"""

from __future__ import annotations

import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import lambda_of
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    does_work,
    first,
    has_modes,
    no_energies,
    nonholonomic,
)
from dalembert.mechanics.principles.shared.page_marks import derivative, mark
from dalembert.mechanics.principles.shared.stationary_path import StationaryPath
from dalembert.mechanics.principles.shared.vanishing_gradients import vanishing_gradients
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, lagrangian, time_derivative
from dalembert.model.language.symbols import t
from dalembert.model.system import System


def applies(system: System) -> str:
    return first(has_modes(system), no_energies(system), nonholonomic(system), does_work(system))


def state_size(system: System) -> int:
    return 2 * len(system.coordinates) + len(system.constraints)


def derive(system: System) -> Equations:
    """The action, its first variation coordinate by coordinate, and what makes it vanish."""
    budget = budget_for(system)
    L = lagrangian(system)
    reactions = [lambda_of(k) * c.expression for k, c in enumerate(system.constraints)]
    ends = (t, sp.Symbol("t_1"), sp.Symbol("t_2"))
    action = Line(sp.Symbol("S"), (("", sp.Integral(sp.Add(L, *reactions), ends)),))
    variations, equations = [], []
    for q in system.coordinates:
        pull, momentum = tidy(diff(L, q), budget), tidy(diff(L, q.d), budget)
        force = system.forces.get(q, sp.S.Zero)
        reaction = sp.Add(*(diff(part, q) for part in reactions))
        terms = [(r"\partial L/\partial q", pull), (r"-d/dt\,\partial L/\partial\dot{q}", -derivative(momentum))]
        terms += [(r"A^T\lambda", reaction)] if reaction != 0 else []
        terms += [("Q_{np}", force)] if force != 0 else []
        variations.append(Line(_variation(q.name, force != 0), tuple(term for term in terms if term[1] != 0)))
        rate = tidy(time_derivative(diff(L, q.d), system.coordinates), budget)
        right = [(name, value) for name, value in (terms[0], *terms[2:]) if value != 0]
        equations.append(Line(rate, tuple(right) or (("", sp.S.Zero),)))
    forced = any(force != 0 for force in system.forces.values())
    extended = "first variation, with the virtual work of impressed forces" if forced else "first variation"
    sections = [
        Section("action", (action,)),
        Section(f"{extended}: the coefficients of dq, zero on the motion", tuple(variations)),
        Section("Euler-Lagrange equations", tuple(equations)),
    ]
    rows = tuple(Line(sp.S.Zero, (("", c.expression),), c.name) for c in system.constraints)
    sections += [Section("constraints, from the variation of the multipliers", rows)] if rows else []
    return Equations(
        system=system,
        form="action",
        explicit=False,
        reason="",
        title="stationary action, delta S = 0" if not forced else "stationary action, delta S + int Q dq dt = 0",
        sections=tuple(sections),
    )


def _variation(name: str, forced: bool) -> sp.Symbol:
    if forced:
        return mark(f"dS/d{name} + Q", rf"\frac{{\delta S}}{{\delta {sp.latex(sp.Symbol(name))}}} + Q_{{np}}")
    return mark(f"dS/d{name}", rf"\frac{{\delta S}}{{\delta {sp.latex(sp.Symbol(name))}}}")


def prepare(system: System, sampler: Sampler) -> Solver:
    path, require_gradients = StationaryPath(sampler), vanishing_gradients(sampler)

    def solve(state: Sample, C: Array) -> Answer:
        if C.any():
            raise NotHere("the constraints do work, and their work has no action")
        require_gradients(state)
        try:
            return Answer(*path.at(state))
        except DalembertError as error:
            raise NotHere(str(error)) from None

    return solve
