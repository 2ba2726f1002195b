"""Whether the reactions that forces depend on are determined: redundant constraints share a load in any way.

Aᵀλ is the same for all multipliers λ + z with Aᵀz = 0, and so is the motion, unless work or friction reads a λ that
such a z changes. Then the smallest λ is taken, as everywhere, but that is a choice and not mechanics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import null_space
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.contacts.modes.contacts import Contacts
    from dalembert.motion.result.motion import Motion

# So many output points are looked at: redundancy comes and goes slowly, if at all.
POINTS = 8
# A force that changes by more than this share, when all multipliers may change by their own size, is not determined.
CHANGED = 1e-6
# Where multipliers are below this share of the largest ones of the motion there is no load: nothing is shared.
IDLE = 1e-9


def undetermined_loads(motion: Motion, evaluation: Evaluation, A: Array, contacts: Contacts | None) -> tuple[str, ...]:
    """Names of constraints whose reactions act on the motion by friction or work though they are not determined.

    A (T, m, n): the constraints along the motion, zero where open. contacts: of its system, where they make legs.
    """
    if A.shape[1] == 0:
        return ()
    short = np.flatnonzero(motion.rank < np.any(A, axis=2).sum(axis=1))
    found = dict.fromkeys(() if contacts is None else _braced(motion, A, short, contacts))
    largest = float(np.abs(motion.multipliers).max(initial=0.0))
    for i in short[np.unique(np.linspace(0, short.size - 1, POINTS).round().astype(int))] if short.size else ():
        acting = np.flatnonzero(np.any(A[i], axis=1))
        size = float(np.abs(motion.multipliers[i]).max())
        if size <= IDLE * largest:
            continue
        for z in null_space(A[i, acting].T).T:
            for way in (z, -z):
                other = motion.multipliers[i].copy()
                other[acting] += _step(motion, acting, other[acting] / size, way) * size * way
                if _matters(motion, evaluation, contacts, int(i), other):
                    found |= dict.fromkeys(motion.system.constraints[k].name for k in acting[np.abs(z) > CHANGED])
                    break
    return tuple(found)


def _braced(motion: Motion, A: Array, short: np.ndarray, contacts: Contacts) -> list[str]:
    """Names of two-sided constraints that press against each other though nothing makes them, next to friction that
    holds by it: of a floor stated twice, one that pushes and one that pulls hold any block on it.
    """
    from dalembert.motion.contacts.modes.modes import STICK  # needs SymPy

    names = [constraint.name for constraint in motion.system.constraints]
    two_sided = np.array([not constraint.one_sided for constraint in motion.system.constraints])
    holding = {name: motion.contacts[name].state == STICK for name in (c.name for c in contacts.contacts)}
    found: set[int] = set()
    for i in short:
        rough = {name for c in contacts.contacts if holding[c.name][i] for name in c.constraints}
        acting = np.flatnonzero(np.any(A[i], axis=1) & two_sided)
        if not rough & {names[k] for k in acting}:
            continue
        lengths = np.linalg.norm(A[i, acting], axis=1)
        forces, Z = lengths * motion.multipliers[i, acting], null_space((A[i, acting] / lengths[:, None]).T)
        size = np.abs(forces).max(initial=0.0)
        least = forces - Z @ (Z.T @ forces)
        turned = (np.abs(forces) > CHANGED * size) & (np.sign(forces) * least < CHANGED * size)
        for z in Z.T:
            if turned[np.abs(z) > CHANGED].any():
                found |= {int(k) for k in acting[np.abs(z) > CHANGED]}
    return [names[k] for k in sorted(found)]


def _step(motion: Motion, acting: np.ndarray, multipliers: Array, way: Array) -> float:
    """How far multipliers, of unit size, may go some way: by their own size, but no further than where one turns its
    sign. |N| of friction would change there, though nothing but the sharing of a load between the same feet is asked
    for. What carries nothing may go either way, except a one-sided constraint, which never pulls.
    """
    step = 1 / float(np.abs(way).max())
    for k, value, slope in zip(acting, multipliers, way, strict=True):
        if abs(value) > CHANGED:
            step = min(step, abs(value / slope)) if value * slope < 0 else step
        elif slope < -CHANGED and motion.system.constraints[k].one_sided:
            return 0.0
    return step


def _matters(motion: Motion, evaluation: Evaluation, contacts: Contacts | None, i: int, other: Array) -> bool:
    """Whether the forces at an output point would differ with other multipliers of the same effect."""
    q, v, t, lam = motion.q[i], motion.v[i], float(motion.t[i]), motion.multipliers[i]
    if evaluation.graph.uses_actual:
        actual = np.zeros(evaluation.n)
        C, changed = (evaluation.work(q, v, t, motion.ideal[i], actual, l)[0] for l in (lam, other))
        if np.abs(changed - C).max() > CHANGED * max(float(np.abs(C).max()), float(np.abs(changed).max())):
            return True
    if contacts is None:
        return False
    friction, other_friction = (_slipping(motion, contacts, i, l) for l in (lam, other))
    size = max(float(np.abs(friction).max(initial=0.0)), float(np.abs(other_friction).max(initial=0.0)))
    return bool(np.abs(other_friction - friction).max(initial=0.0) > CHANGED * size)


def _slipping(motion: Motion, contacts: Contacts, i: int, multipliers: Array) -> Array:
    """The generalized force of all friction that slips at an output point, with some multipliers: four feet share a
    load in any way, but friction on a table that they cross together is the same.
    """
    from dalembert.motion.contacts.modes.modes import SLIP  # needs SymPy

    q, v, t = motion.q[i], motion.v[i], float(motion.t[i])
    frames = contacts.frames_at(q, v, t)
    found = contacts.at(q, v, t, motion.a[i], multipliers, frames)
    units, total = contacts.forces(q, v, t, frames), np.zeros(contacts.n)
    for k, (contact, at) in enumerate(zip(contacts.contacts, contacts.components, strict=True)):
        u = found.slide[at]
        speed = float(np.linalg.norm(u))
        if motion.contacts[contact.name].state[i] == SLIP and speed > 0:
            total -= found.mu[k] * abs(found.normal[k]) * units[:, at] @ (u / speed)
    return total


def undetermined_warning(names: tuple[str, ...]) -> str:
    """The warning about constraints whose reactions nothing determines."""
    quoted = " and ".join(map(repr, names))
    return (
        f"{quoted} share a load in a way that nothing determines, and friction or work depends on it: the motion is "
        "one of many. Remove what is redundant"
    )
