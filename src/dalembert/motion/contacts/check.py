"""Whether friction along a motion obeys its law, measured on the motion's own forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.motion.contacts.modes import OPEN, Contacts
from dalembert.motion.contacts.transitions import REST

if TYPE_CHECKING:
    from dalembert.motion.motion import Motion


def contact_residual(motion: Motion) -> float:
    """The largest departure from the laws of contact, relative to the largest force (or size of the state).

    The friction forces are taken from C, whatever mode made them: what the laws of work give is subtracted, and the
    rest resolved along the sliding directions.
    """
    assert motion.C is not None
    contacts = Contacts(motion.system)
    works = contacts.whole.work_along(motion.q, motion.v, motion.t, motion.ideal, motion.ideal, motion.multipliers)
    forces, gaps = 0.0, 0.0
    largest = max(float(np.abs(motion.C).max()), float(np.abs(motion.multipliers).max(initial=0.0)), 1e-300)
    fastest = max(float(np.abs(motion.v).max()), 1e-300)
    reach = max(float(np.abs(motion.q).max()), 1e-300)
    # A system that rests all the time has velocities of rounding only.
    resting = max(REST * fastest, 1e-12 * reach / (float(motion.t[-1] - motion.t[0]) or 1.0))
    for i in range(motion.t.size):
        q, v, t = motion.q[i], motion.v[i], float(motion.t[i])
        N, u, _, mu, mu_static, gap, _, _ = contacts.look(q, v, motion.a[i], t, motion.multipliers[i])
        units, rubbing = contacts.forces(q, v, t), motion.C[i] - works[i]
        f = np.linalg.lstsq(units, rubbing, rcond=1e-12)[0] if units.size else np.zeros(0)
        forces = max(forces, float(np.abs(units @ f - rubbing).max(initial=0.0)))
        for k, contact in enumerate(contacts.contacts):
            at = contacts.components[k]
            speed = float(np.linalg.norm(u[at]))
            if motion.contacts[contact.name].state[i] == OPEN:
                forces = max(forces, float(np.abs(f[at]).max()))
            elif speed > resting:
                forces = max(forces, float(np.abs(f[at] + mu[k] * abs(N[k]) * u[at] / speed).max()))
            else:
                forces = max(forces, float(np.linalg.norm(f[at])) - max(mu_static[k], mu[k]) * abs(N[k]))
        for k, row in enumerate(contacts.one_sided):
            forces = max(forces, -float(motion.multipliers[i, row]))
            gaps = max(gaps, -float(gap[k]))
    return max(forces / largest, gaps / reach)
