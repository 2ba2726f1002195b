"""The heat of friction over stretches in which contacts stop, set off or turn, from the laws on each piece between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.model.friction.contact import works_of
from dalembert.motion.certificate.again_in_modes import advance_of
from dalembert.motion.certificate.pieces import Pieces, pieces_beside_changes, pieces_with_kinks
from dalembert.motion.certificate.told_modes import told_modes
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, Mode
from dalembert.motion.contacts.run.at_outputs import forces_in_modes
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.remember import changed

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# So many stretches are looked at, over which heat differs most from what their ends say; and the last one.
MOST = 12
# These changes make no blow.
QUIET = ("stick", "slip", "reversal")
# Pieces are led on in so many steps. What the integral of their powers may be off by is allowed for so many times.
STEPS, ALLOWED = 16, 3.0


def heat_missed_at_changes(motion: Motion, told: Array, powers: Callable[[Motion], Array], at_outputs: Array) -> float:
    """How far heat is from the integral of its powers over some stretches in which contacts change, beyond what that
    may err by, as an energy. told (T, places): the heat. powers: of the motion that it is given; at_outputs: of this.
    """
    pieces = pieces_beside_changes(motion)
    if pieces is None or not pieces.t.size:
        return 0.0
    stretches = np.unique(pieces.stretch)
    stretches = np.array([k for k in stretches.tolist() if _is_quiet(motion, pieces, k)], dtype=int)
    if not stretches.size:
        return 0.0
    first, last = pieces.outputs[:-1], pieces.outputs[1:]
    change = told[last] - told[first]
    trapezoids = (motion.t[last] - motion.t[first])[:, None] * (at_outputs[last] + at_outputs[first]) / 2
    unlike = np.abs(change - trapezoids).max(axis=1, initial=0.0)
    chosen = np.union1d(stretches[np.argsort(unlike[stretches])[-MOST:]], stretches[-1:])
    try:
        found, unsure = _heats(motion, Contacts(motion.system), pieces, chosen, powers)
    except DalembertError:  # a place at which a mode has no solution
        return 0.0
    return float(np.maximum(np.abs(change[chosen] - found) - unsure, 0.0).max(initial=0.0))


def _is_quiet(motion: Motion, pieces: Pieces, stretch: int) -> bool:
    """Whether a stretch has no changes but such without a blow."""
    low, high = motion.t[pieces.outputs[stretch : stretch + 2]].tolist()
    inside = np.flatnonzero((pieces.instants > low) & (pieces.instants < high)).tolist()
    return all(e["name"] in QUIET and "impulse" not in e for k in inside for e in pieces.changes[k])


def _heats(
    motion: Motion, contacts: Contacts, pieces: Pieces, stretches: np.ndarray, powers: Callable[[Motion], Array]
) -> tuple[Array, Array]:
    """The heat over stretches (B, places), and how far it may be off: infinitely where it is not
    clear what contacts do.
    """
    own = np.flatnonzero(np.isin(pieces.stretch, stretches))
    t, length, start, end = (x[own] for x in (pieces.t, pieces.length, pieces.start, pieces.end))
    told = pieces.told(motion, contacts, own.tolist())
    modes = told_modes(motion, contacts, told, t, start, t + length, end)
    kinked = pieces_with_kinks(motion, pieces, own.tolist())
    at = np.flatnonzero(np.array([mode is not None for mode in modes]) & ~kinked)
    heat, unsure = np.zeros((own.size, len(motion.heat))), np.full(own.size, np.inf)
    if not any(work and work.heat for work in works_of(motion.system)):
        rests = np.array([not {None, SLIP}.intersection(one.states) for one in told])
        unsure[rests], at = 0.0, at[~rests[at]]
    if at.size:
        made: dict[Mode, Mode] = {}  # the same mode is one object: what follows goes by these
        some = [made.setdefault(mode, mode) for mode in (modes[k] for k in at.tolist()) if mode is not None]
        heat[at], off = _integrals(motion, contacts, some, t[at], length[at], start[at], end[at], powers)
        unsure[at] = ALLOWED * off
    which = np.searchsorted(stretches, pieces.stretch[own])
    found, allowed = np.zeros((stretches.size, heat.shape[1])), np.zeros(stretches.size)
    np.add.at(found, which, heat)
    np.add.at(allowed, which, np.where(np.isnan(unsure), np.inf, unsure))
    return found, allowed[:, None]


def _integrals(
    motion: Motion, contacts: Contacts, modes: list[Mode], t: Array, length: Array, start: Array, end: Array,
    powers: Callable[[Motion], Array],
) -> tuple[Array, Array]:  # fmt: skip
    """Over each piece: the integrals (P, places) of all powers by Simpson's rule, along the piece led on again from its
    start, and how far they may be off.
    """
    n, every = contacts.n, np.arange(t.size)
    advance = advance_of(contacts, modes, contacts.mode_parameters(modes))
    states = [start]
    for k in range(STEPS):
        states.append(advance(every, t + k / STEPS * length, states[-1], length / STEPS, 1))
    y = np.concatenate(states)
    if not np.isfinite(y).all():
        return np.zeros((t.size, len(motion.heat))), np.full(t.size, np.inf)
    at = np.concatenate([t + k / STEPS * length for k in range(STEPS + 1)])
    held = forces_in_modes(contacts, modes * (STEPS + 1), at, y[:, :n], y[:, n:])
    solution = evaluate_points(Evaluation(motion.system), at, y[:, :n], y[:, n:], None, held).solution
    inside = changed(
        motion, t=at, q=y[:, :n], v=y[:, n:], a=solution.acceleration, multipliers=solution.multipliers,
        ideal=solution.ideal, acting=held.acting, contacts=held.contacts,
    )  # fmt: skip
    along = powers(inside).reshape(STEPS + 1, t.size, -1)
    fine, coarse = _simpson(along, length), _simpson(along[::2], length)
    # Where it ends elsewhere than the motion, steps were too long.
    force = np.abs(solution.nonideal.reshape(STEPS + 1, t.size, n)).max(axis=0)
    apart = np.abs(states[-1] - end)
    missed = np.einsum("kn,kn->k", force, apart[:, :n] + length[:, None] * apart[:, n:])
    return fine, np.abs(fine - coarse).max(axis=1, initial=0.0) + missed


def _simpson(powers: Array, length: Array) -> Array:
    """powers (places, P, contacts), at an odd number of places."""
    weights = np.ones(powers.shape[0])
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return np.asarray(length[:, None] * np.einsum("s,skp->kp", weights / weights.sum(), powers))
