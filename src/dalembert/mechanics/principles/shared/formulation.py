"""What every principle answers at a state, and how the work of the constraints, C, is found with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import constraint_row
from dalembert.model.constraints import is_linear
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.symbols import Reaction, t
from dalembert.model.system import System

# Actual reactions are solved with C until they are this well known, relative to their size: well below the 1e-9 to
# which principles are compared.
REACTION = 1e-13


@dataclass(frozen=True)
class Answer:
    """What a principle says at a state: the acceleration q̈ (n), and the whole force of the constraints, ideal and
    nonideal, Q_i + Q_ni = M q̈ − Q (n).
    """

    acceleration: Array
    force: Array


Solver = Callable[[Sample, Array], Answer]


class NotHere(DalembertError):
    """A principle that applies to the system says nothing at this state; the message says why."""


def answer(system: System, sampler: Sampler, solve: Solver) -> Callable[[Sample], Answer]:
    """A principle with the system's own work of the constraints.

    C may hold `ideal(x)`, the force that the principle itself finds for C = 0, and `actual(x)` or `multiplier(NAME)`,
    which are solved together with C.
    """
    if not system.works:
        none = np.zeros(len(system.coordinates))
        return lambda state: solve(state, none)
    n, names = len(system.coordinates), [c.name for c in system.constraints]
    kinds = [Reaction.of(kind, q.name) for kind in ("ideal", "actual") for q in system.coordinates]
    kinds += [Reaction.of("multiplier", name) for name in names]
    work = sampler.function(list(system.C), kinds)
    found = {reaction.kind for entry in system.C for reaction in entry.atoms(Reaction)}
    rows = [constraint_row(c, system.coordinates)[0] for c in system.constraints]
    gradients = sampler.function([entry for row in rows for entry in row]) if "multiplier" in found else None

    def at(state: Sample) -> Answer:
        zero, none = np.zeros(n), np.zeros(len(names))
        ideal = solve(state, zero).force if found else zero
        if found <= {"ideal"}:
            return solve(state, work(state, *ideal, *zero, *none))

        def given(force: Array) -> Array:
            lam: Array = none
            if gradients is not None:
                lam = np.asarray(np.linalg.lstsq(gradients(state).reshape(len(names), n).T, force, rcond=None)[0])
            return work(state, *ideal, *force, *lam)

        def surplus(force: Array) -> Array:
            value = given(force)
            return solve(state, value).force - value - force

        solved = root(surplus, ideal, tol=REACTION)
        if np.max(np.abs(surplus(solved.x))) > 1e-9 * max(1.0, float(np.max(np.abs(solved.x)))):
            raise NotHere("no constraint force was found that agrees with the work it does")
        return solve(state, given(solved.x))

    return at


# -- reasons why a principle may not apply, as several of them say it


def no_energies(system: System) -> str:
    """A Lagrangian is needed; a mass matrix with forces has one where M is constant."""
    if system.mass is not None and any(entry.free_symbols & {*system.coordinates, t} for entry in system.mass):
        return "the model gives M and Q; there is no Lagrangian where M depends on q or t"
    return ""


def nonholonomic(system: System) -> str:
    names = [c.name for c in system.constraints if c.level != "position"]
    return f"not a constraint on positions: {', '.join(names)}" if names else ""


def nonlinear_in_acceleration(system: System) -> str:
    names = [c.name for c in system.constraints if not is_linear([c.expression], system.accelerations)]
    return f"nonlinear in the accelerations: {', '.join(names)}" if names else ""


def nonpotential(system: System) -> str:
    names = [q.name for q, force in system.forces.items() if force != 0]
    return f"forces given without a potential act on {', '.join(names)}" if names else ""


def does_work(system: System) -> str:
    return "the constraints do work: it is no principle for nonideal ones" if system.nonideal else ""


def rheonomic(system: System) -> str:
    """Whether time appears in the energies or constraints."""
    parts = [system.kinetic, system.potential, system.lagrangian, *(c.expression for c in system.constraints)]
    parts += list(system.mass) if system.mass is not None else []
    return "time appears in the model" if any(p is not None and p.has(t) for p in parts) else ""


def has_modes(system: System) -> str:
    """Dry friction and one-sided constraints: a mode of them is compared, not the system."""
    return "dry friction or one-sided constraints change its equations as it moves" if needs_legs(system) else ""


def first(*reasons: str) -> str:
    """The first reason there is."""
    return next((reason for reason in reasons if reason), "")
