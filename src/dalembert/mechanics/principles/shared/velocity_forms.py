"""Constraints in the form in which variations see them: g_k(q, q̇, t) = 0, and what Euler's operator makes of it.

    g_kj = d/dt ∂g_k/∂q̇_j − ∂g_k/∂q_j        (16) of Flannery 2011

A position constraint counts as its rate, g = φ̇; then g_kj = 0 identically.
"""

from __future__ import annotations

import sympy as sp

from dalembert.mechanics.classify.classify import integrability_of
from dalembert.mechanics.standard_form import diff, is_long, time_derivative
from dalembert.model.constraints import Constraint
from dalembert.model.system import System

# Parts of an entry that is multiplied out.
LARGEST = 400


def velocity_form(system: System, constraint: Constraint) -> sp.Expr:
    """g of a constraint on positions or velocities."""
    if constraint.level == "position":
        return time_derivative(constraint.expression, system.coordinates)
    return constraint.expression


def gradient(system: System, constraint: Constraint) -> list[sp.Expr]:
    """∂g/∂q̇."""
    g = velocity_form(system, constraint)
    return [diff(g, v) for v in system.velocities]


def lagrangian_derivative(system: System, constraint: Constraint) -> list[sp.Expr]:
    """g_kj, (16). It holds accelerations where g is nonlinear in the velocities."""
    if constraint.level == "position":
        return [sp.S.Zero] * len(system.coordinates)
    g = constraint.expression
    entries = [time_derivative(diff(g, q.d), system.coordinates) - diff(g, q) for q in system.coordinates]
    # What cancels is for the eye; in long entries it takes minutes to see.
    return [entry if is_long(entry, LARGEST) else sp.expand(entry) for entry in entries]


def not_integrable(system: System) -> str:
    """Which constraints on velocities are no position constraints in disguise, in the words of `classify`."""
    if all(constraint.level == "position" for constraint in system.constraints):
        return ""
    verdicts: dict[str, list[str]] = {}
    for name, words in integrability_of(system).items():
        verdicts.setdefault(words, []).append(name)
    return "; ".join(f"{words}: {', '.join(names)}" for words, names in verdicts.items())


def on_accelerations(system: System) -> str:
    names = [c.name for c in system.constraints if c.level == "acceleration"]
    return f"a constraint on accelerations: {', '.join(names)}" if names else ""
