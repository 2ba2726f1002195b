"""The heat of friction by its laws at places between outputs: where powers change faster than the outputs show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.model.friction.legs import needs_legs
from dalembert.motion.certificate.modes_inside import modes_inside
from dalembert.motion.certificate.stretches import states_inside
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import Mode
from dalembert.motion.contacts.run.at_outputs import forces_in_modes
from dalembert.motion.state.contact_history import Held
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.remember import changed

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Gauss's rule with so many places, and the one that it is compared with: they lie elsewhere.
FINE, COARSE = 16, 11
# The difference of the two times this is allowed for.
ALLOWED = 3.0


def heat_missed_inside(
    motion: Motion, told: Array, broken: NDArray[np.bool_], powers: Callable[[Motion], Array]
) -> tuple[float, NDArray[np.bool_]]:
    """The largest distance of the heat told (T, places) from the integral of its powers, over outputs that follow each
    other without anything broken (T − 1) between, beyond what that may err by; and the stretches (T − 1) of which this
    says nothing: in them, or in others of the same part, it is not clear what contacts do. powers: of the motion that
    it is given.

    Places and velocities between outputs are on the cubics through both. How far these may be off is told by the
    accelerations that the laws give there.
    """
    try:
        fine, unsure, seen = _integrals(motion, broken, powers, FINE)
        coarse, _, both = _integrals(motion, broken, powers, COARSE)
    except DalembertError:  # a place at which the mode has no solution
        return 0.0, ~broken
    # A sum over all of a part is not known where one of its stretches is not.
    part = np.cumsum(broken)
    unknown = ~broken & np.isin(part, part[~broken & ~(seen & both)])
    missed = np.where((broken | unknown)[:, None], 0.0, np.diff(told, axis=0) - fine)
    allowed = ALLOWED * np.abs(fine - coarse) + unsure[:, None]
    beyond = np.sign(missed) * np.maximum(np.abs(missed) - allowed, 0.0)
    parts = np.split(beyond, np.flatnonzero(broken))  # what is broken misses nothing
    return max(float(np.abs(np.cumsum(own, axis=0)).max(initial=0.0)) for own in parts), unknown


def _integrals(
    motion: Motion, broken: NDArray[np.bool_], powers: Callable[[Motion], Array], places: int
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Over each stretch (T − 1) by so many places: the integral of all powers, and how far it may be off because states
    between outputs are; and which stretches were looked at: those in which it is clear what contacts do.
    """
    nodes, weights = np.polynomial.legendre.leggauss(places)
    shares, h, n = (nodes + 1) / 2, np.diff(motion.t), motion.q.shape[1]
    t, q, v = (part.reshape(places, h.size, -1) for part in states_inside(motion, shares))
    contacts = Contacts(motion.system) if needs_legs(motion.system) else None
    seen = ~broken
    modes: list[Sequence[Mode] | None] = []
    if contacts is not None:
        modes = modes_inside(motion, contacts, seen, t[:, :, 0], q, v)
        seen = seen & np.array([own is not None for own in modes])
    at = np.flatnonzero(seen)
    found, unsure = np.zeros((h.size, len(motion.heat))), np.zeros(h.size)
    if not at.size:
        return found, unsure, seen
    flat = (t[:, at].reshape(-1), q[:, at].reshape(-1, n), v[:, at].reshape(-1, n))
    held: Held | None = None
    if contacts is not None:
        clear = [own for own in (modes[k] for k in at.tolist()) if own is not None]
        held = forces_in_modes(contacts, [own[k] for k in range(places) for own in clear], *flat)
    solution = evaluate_points(Evaluation(motion.system), *flat, None, held).solution
    inside = changed(
        motion, t=flat[0], q=flat[1], v=flat[2], a=solution.acceleration, multipliers=solution.multipliers,
        ideal=solution.ideal, acting=None if held is None else held.acting,
        contacts={} if held is None else held.contacts,
    )  # fmt: skip
    each = powers(inside).reshape(places, at.size, -1)
    found[at] = h[at, None] / 2 * np.einsum("s,skp->kp", weights, each)
    off = np.abs(solution.acceleration.reshape(places, at.size, n) - _rates_of_cubics(motion, shares)[:, at]).max(
        axis=0
    )
    force = np.abs(solution.nonideal.reshape(places, at.size, n)).max(axis=0)
    unsure[at] = h[at] ** 2 * np.einsum("kn,kn->k", force, off)
    return found, unsure, seen


def _rates_of_cubics(motion: Motion, shares: Array) -> Array:
    """q̈ of the cubics of q̇ at shares (S) of every stretch, (S, T − 1, n)."""
    x, h = shares[:, None, None], np.diff(motion.t)[:, None]
    rise = (motion.v[1:] - motion.v[:-1]) / h
    return (6 * x - 6 * x**2) * rise + (1 - 4 * x + 3 * x**2) * motion.a[:-1] + (3 * x**2 - 2 * x) * motion.a[1:]
