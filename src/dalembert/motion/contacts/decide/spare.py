"""Of constraints that depend on each other: whose forces are not determined, and which can be left out.

A motion is the same without constraints that follow from the others. Plain elimination solves what is left, and one
contact is joined to few others: rank-revealing algebra takes the cube of their number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.model.friction.contact import works_of
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Mode, ModeSolution
from dalembert.motion.integrate.trajectory import Trajectory

# A reaction that no choice changes by more than this share of the forces is determined.
KEEPS = 1e-9
# How much rows count that cannot be left out, and those of contacts that stick, beside one-sided constraints.
STAYS, STICKS = 1e3, 1e-3
# Constraints that were left out hold to this share of the lengths and speeds of a leg, or they do not follow from the
# others: far above rounding, and what a constraint does that is missing for a while grows far beyond it.
HOLDS = 1e-8


def shared_rows(A: Array) -> set[int]:
    """The rows of A (m, n) whose multipliers are not determined by Aᵀλ: those that a vector with Aᵀz = 0 has a part
    in, drawn at random.
    """
    active = np.flatnonzero(np.any(A, axis=1))
    rows = A[active] / np.linalg.norm(A[active], axis=1)[:, None]
    z = np.random.default_rng(0).standard_normal(active.size)
    z -= rows @ np.linalg.lstsq(rows, z, rcond=KEEPS)[0]
    return set(active[np.abs(z) > KEEPS * np.sqrt(active.size)].tolist())


def mode_with_undetermined_forces(contacts: Contacts, mode: Mode, s: ModeSolution) -> Mode:
    """A mode with what is known of its undetermined forces, from its instant."""
    shared = shared_rows(s.solution.A)
    spare = _spare_rows(contacts, mode, s, shared) if _motion_is_determined(contacts, mode, shared) else ()
    return replace(mode, undetermined=True, shared=tuple(sorted(shared)), spare=spare)


def _motion_is_determined(contacts: Contacts, mode: Mode, shared: set[int]) -> bool:
    """Whether nothing depends on forces that are not determined: neither slipping nor work, nor a passage that is
    asked for.
    """
    if contacts.whole.graph.uses_reactions or contacts.whole.graph.events_use_multipliers:
        return False
    for contact, state in zip(contacts.contacts, mode.states, strict=True):
        if state == STICK and not contact.signed:
            return False  # its own force is watched
        if state == SLIP and not shared.isdisjoint(contacts.rows[name] for name in contact.constraints):
            return False
    return True


def _spare_rows(contacts: Contacts, mode: Mode, s: ModeSolution, shared: set[int]) -> tuple[int, ...]:
    """Rows that are combinations of the others, as far as they have a switch of their own: one-sided constraints
    without work, and contacts that stick. Those stay that stand apart the most, one-sided constraints before friction.
    """
    laws = zip(contacts.system.nonideal, works_of(contacts.system), strict=True)
    working = {contacts.rows[name] for law, work in laws if work for name in law.constraints}
    gates = {row for row in contacts.one_sided if row not in working}
    sticking = [contacts.stick_rows(k) for k, state in enumerate(mode.states) if state == STICK]
    dependent = _dependent(s, gates, {row for rows in sticking for row in rows}) & shared
    held = (rows for rows in sticking if dependent.issuperset(rows))
    return tuple(sorted(gates & dependent | {row for rows in held for row in rows}))


def _dependent(s: ModeSolution, gates: set[int], sticking: set[int]) -> set[int]:
    """The rows that others imply: what is left where the largest is taken first, again and again, and those that
    cannot be left out count most.
    """
    from scipy.linalg import qr

    A = s.solution.A / mass_scale(s.solution.M)
    active = np.flatnonzero(np.any(A, axis=1))
    counts = np.array([STICKS if row in sticking else 1.0 if row in gates else STAYS for row in active.tolist()])
    rows = A[active] * (counts / np.linalg.norm(A[active], axis=1))[:, None]
    order = qr(rows.T, mode="r", pivoting=True)[-1]
    return set(active[order[int(s.solution.rank) :]].tolist())


def spare_rows_hold(contacts: Contacts, mode: Mode, leg: Trajectory) -> bool:
    """Whether the constraints that were left out hold along a leg all the same."""
    n, out = contacts.n, set(mode.spare)
    q, v = leg.y[:, :n], leg.y[:, n : 2 * n]
    state, duration = contacts.along(mode, q, v, leg.t), float(leg.t[-1] - leg.t[0])
    gates = [j for j, row in enumerate(contacts.one_sided) if row in out]
    slides = [i for i in range(state.slide.shape[1]) if contacts.m + i in out]
    start = leg.y[0, :n], leg.y[0, n : 2 * n], float(leg.t[0])
    steep, free = contacts.steepness(*start)[gates], largest(contacts.free(*start))
    apart = largest(state.gap[:, gates] / steep)
    speed = max(largest(state.slide[:, slides]), largest(state.gap_rate[:, gates] / steep))
    # What stands still has the size of what it would do without constraints.
    return apart <= HOLDS * max(largest(q), free * duration**2) and speed <= HOLDS * max(largest(v), free * duration)
