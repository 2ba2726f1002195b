"""The mode of a state by itself, without a motion: for instants and for comparisons of formulations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import Fundamental, solve
from dalembert.model.system import System
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import Mode, ModeSolution
from dalembert.motion.contacts.run.transitions import Transitions
from dalembert.motion.state.evaluation import Evaluation


@dataclass(frozen=True)
class ModeOfState:
    """v: the velocity after what happens at once, an impact of what meets. solution: the instant in the mode."""

    mode: Mode
    v: Array
    solution: ModeSolution


def mode_of(contacts: Contacts, q: Array, v: Array, t: float) -> ModeOfState:
    """The mode that a system with contacts takes at a state. Refuses a state off the constraints."""
    between = Transitions(contacts)
    v, touching = between.start(q, v, t, 0.0)
    mode, found, _ = between.mode_at(t, q, v, touching)
    return ModeOfState(mode, v, found)


def instant_with_contacts(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental:
    """The fundamental equation of a system with contacts at a state, in the mode that it takes there."""
    contacts = Contacts(evaluation.system)
    here = mode_of(contacts, q, v, t)
    M, Q, A, b = evaluation.dynamics(q, here.v, t)
    acting = np.ones(contacts.m, dtype=bool)
    acting[list(contacts.one_sided)] = here.mode.closed
    return solve(M, Q, np.where(acting[:, None], A, 0.0), np.where(acting, b, 0.0), here.solution.C)


def initial_mode(system: System) -> System:
    """The mode that a system with contacts takes at its initial state, as a system with values of its own."""
    contacts = Contacts(system)
    here = mode_of(contacts, *system.initial_values())
    return contacts.plain(here.mode).replace(initial=dict(zip(system.velocities, here.v, strict=True)))
