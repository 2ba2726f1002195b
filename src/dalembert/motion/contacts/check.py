"""Whether friction along a motion obeys its law, measured on the motion's own forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.mechanics.fundamental import Array
from dalembert.motion.contacts.indeterminate import least_excess
from dalembert.motion.contacts.modes import OPEN, Contacts
from dalembert.motion.contacts.transitions import REST

if TYPE_CHECKING:
    from dalembert.motion.motion import Motion


def contact_residual(motion: Motion) -> float:
    """The largest departure from the laws of contact, relative to the largest force (or size of the state).

    The friction forces are taken from C, whatever mode made them: what the laws of work and of slipping give is
    subtracted, and the rest must be forces along the directions of what rests, inside its cones. Forces and lengths
    are compared in coordinates scaled by the root of their own mass, in which all have one unit, and along gradients
    of unit length: neither the units of the model nor the scale of an equation matter.
    """
    assert motion.C is not None
    contacts = Contacts(motion.system)
    one_sided = list(contacts.one_sided)
    rubbing = motion.C - _smooth(motion, contacts)
    M, Q, A, _ = contacts.whole.dynamics_along(motion.q, motion.v, motion.t)
    root = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    root = np.where(root > 0, root, 1.0)
    steep = np.linalg.norm(A / root[:, None, :], axis=2)
    reactions = steep * motion.multipliers
    units = np.stack([contacts.forces(q, v, float(t)) for q, v, t in zip(motion.q, motion.v, motion.t, strict=True)])
    weights = np.linalg.norm(units / root[:, :, None], axis=1)  # of a unit force on each sliding component
    # C is what remains of all forces: in flight, their rounding.
    present = (motion.C / root, Q / root, np.einsum("tij,tj->ti", M, motion.a) / root, reactions)
    span = float(motion.t[-1] - motion.t[0])
    largest = max(float(np.abs(part).max(initial=0.0)) for part in present) or 1.0
    # Between impacts there may be no force at all: rounding is small against what would stop the motion within it.
    largest = max(largest, 1e-6 * float(np.abs(root * motion.v).max()) / (span or 1.0))
    # From rest at the origin, places are rounding of where the forces would have led.
    reach = max(float(np.abs(root * motion.q).max()), 1e-6 * span**2 * float(np.abs(Q / root).max())) or 1.0
    resting = _resting(motion)
    forces, gaps = 0.0, 0.0
    for i in range(motion.t.size):
        q, v, t = motion.q[i], motion.v[i], float(motion.t[i])
        N, u, _, mu, mu_static, gap, _, _ = contacts.look(q, v, motion.a[i], t, motion.multipliers[i])
        rest, resting_at, limits = rubbing[i].copy(), [], []
        for k, contact in enumerate(contacts.contacts):
            at, speed = contacts.components[k], float(np.linalg.norm(u[contacts.components[k]]))
            if motion.contacts[contact.name].state[i] == OPEN:
                continue
            if speed > resting:
                rest += units[i][:, at] @ (mu[k] * abs(N[k]) * u[at] / speed)
                # A coefficient below zero drives what it should brake.
                forces = max(forces, -float(weights[i, at].max()) * mu[k] * abs(N[k]))
            else:
                resting_at.append(at)
                limits.append(max(mu_static[k], mu[k]) * abs(N[k]))
        forces = max(forces, _outside(units[i] / root[i][:, None], rest / root[i], resting_at, np.array(limits)))
        lengths = np.where(steep[i, one_sided] > 0, steep[i, one_sided], 1.0)
        forces = max(forces, float(np.max(-reactions[i, one_sided], initial=0.0)))
        gaps = max(gaps, float(np.max(-gap / lengths, initial=0.0)))
    return max(forces / largest, gaps / reach)


def _outside(units: Array, force: Array, places: list[slice], limits: Array) -> float:
    """How far a force is from one that contacts at rest, at some places of the components, can hold within limits."""
    columns = np.hstack([units[:, at] for at in places]) if places else np.zeros((force.size, 0))
    held: Array = np.asarray(np.linalg.lstsq(columns, force, rcond=1e-12)[0]) if places else np.zeros(0)
    missed = float(np.abs(columns @ held - force).max(initial=0.0))
    own = np.split(held, np.cumsum([at.stop - at.start for at in places])[:-1]) if places else []
    weights = [float(np.linalg.norm(units[:, at], axis=0).max()) for at in places]
    beyond = [w * (float(np.linalg.norm(f)) - limit) for w, f, limit in zip(weights, own, limits, strict=True)]
    worst = max(beyond, default=0.0)
    if worst > 0 and np.linalg.matrix_rank(columns, tol=1e-9 * np.abs(columns).max(initial=1.0)) < columns.shape[1]:
        # The smallest forces are not the only ones: others may lie inside.
        worst = least_excess(columns, held, [f.size for f in own], limits, np.array(weights))
    return max(missed, worst)


def _smooth(motion: Motion, contacts: Contacts) -> Array:
    """What the smooth laws contribute to C: those of open constraints nothing."""
    assert motion.acting is not None
    C = np.zeros_like(motion.q)
    acting = motion.acting[:, list(contacts.one_sided)]
    for closed in sorted({tuple(map(bool, row)) for row in acting}):
        at = np.flatnonzero((acting == np.array(closed, dtype=bool)).all(axis=1))
        of, ideal = contacts.smooth(closed), motion.ideal[at]
        C[at] = of.work_along(motion.q[at], motion.v[at], motion.t[at], ideal, ideal, motion.multipliers[at])
    return C


def _resting(motion: Motion) -> float:
    """The speed that counts as rest. A system that rests all the time has velocities of rounding only."""
    span = float(motion.t[-1] - motion.t[0]) or 1.0
    return max(REST * float(np.abs(motion.v).max()), 1e-12 * float(np.abs(motion.q).max()) / span)
