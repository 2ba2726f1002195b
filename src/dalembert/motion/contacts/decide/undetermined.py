"""Friction that holds more than it must: forces that are not determined, but may suffice.

The multipliers of dependent constraints are not unique: λ + Z c with Aᵀ Z = 0 gives the same motion. Whether some
choice lies inside all cones of friction is a cone programme; of those that do, the smallest forces are told, one choice
among many. Where none is left, the dual of the programme says which contacts set off, and which way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import null_space
from dalembert.motion.contacts.decide.cone_programs import Cone, Deepest, deepest, smallest
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import STICK, Mode, ModeSolution

# Below this share of the forces, a distance from the cones is rounding of the programme.
INSIDE = 1e-9
# So many choices of the signs of two-sided reactions are looked at, those of the smallest forces first.
MOST_SIGNS = 64
# A reaction that no choice changes by more than this share of the forces is determined.
KEEPS = 1e-9
# A contact whose dual vector is below this share of the largest stays where it is.
STAYS = 1e-5


@dataclass(frozen=True)
class Giving:
    """Which contacts set off where friction gives way, and the velocity of each, the fastest as one."""

    ways: Mapping[int, Array]


def within_cones(contacts: Contacts, mode: Mode, s: ModeSolution, given: bool = False) -> ModeSolution | Giving | None:
    """The same motion with forces inside all cones; or how it gives way where there are none; or None where the forces
    are determined after all, as far as friction is concerned. given: it is known to give way here.
    """
    shared = _shared(contacts, mode, s)
    if shared is None:
        return None
    own = shared.cones(next(shared.signs()))
    if own and not given and all(cone.depth_at_zero() >= 0.0 for cone in own.values()):
        return _with_multipliers(contacts, mode, s, s.solution.multipliers)  # the smallest forces of all lie inside
    best = shared.deepest()
    if best is None:
        return None
    deep, cones = best
    if given or deep.depth < -INSIDE:
        pulls = {k: way for k, way in zip(cones, deep.ways, strict=True) if way.size}
        most = max((float(np.linalg.norm(way)) for way in pulls.values()), default=0.0)
        return Giving({k: way / most for k, way in pulls.items() if np.linalg.norm(way) > STAYS * most})
    c, Z = deep.x, shared.Z
    if deep.depth > INSIDE:
        shortest = smallest(list(cones.values()), Z.shape[1], Z, shared.start / shared.unit)
        c = c if shortest is None else shortest
    multipliers = s.solution.multipliers.copy()
    multipliers[shared.active] = shared.start + shared.unit * (Z @ c)
    return _with_multipliers(contacts, mode, s, multipliers)


def room(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> float:
    """How deep inside all cones the forces of a mode with undetermined ones can lie, as a share of the largest of
    them; below zero where no choice is left, and it gives way.
    """
    shared = _shared(contacts, mode, contacts.solve(mode, q, v, t))
    best = None if shared is None else shared.deepest()
    if best is None:
        return float("inf")
    return 0.0 if abs(best[0].depth) <= INSIDE else best[0].depth


@dataclass(frozen=True)
class _Shared:
    """The forces of rows `active` in a mode, start + unit · Z c for any c; unit: generalized forces of all rows, so
    that the unknowns are shares of the largest, `size`.
    """

    contacts: Contacts
    mode: Mode
    s: ModeSolution
    active: np.ndarray
    start: Array
    unit: Array
    Z: Array
    size: float

    def cones(self, signs: dict[int, float]) -> dict[int, Cone]:
        places = {int(row): k for k, row in enumerate(self.active)}
        return _cones(self.contacts, self.mode, self.s, signs, places, self.start, self.unit, self.Z, self.size)

    def signs(self) -> Iterator[dict[int, float]]:
        """The signs of reactions of what sticks: first those of the smallest forces, then others of two-sided
        constraints, as far as their reactions can change at all.
        """
        contacts, s = self.contacts, self.s
        changing = set(self.active[np.abs(self.Z).max(axis=1) > KEEPS].tolist())
        holding = [k for k, c in enumerate(contacts.contacts) if self.mode.states[k] == STICK and c.signed]
        own = {k: 1.0 if contacts.carrier[k] is not None or s.normal[k] >= 0 else -1.0 for k in holding}
        rows = {k: contacts.rows[contacts.contacts[k].constraints[0]] for k in holding}
        free = [k for k in holding if contacts.carrier[k] is None and rows[k] in changing]
        for flips in product((1.0, -1.0), repeat=len(free)):
            yield own | {k: flip * own[k] for k, flip in zip(free, flips, strict=True)}

    def deepest(self) -> tuple[Deepest, dict[int, Cone]] | None:
        """The choice deepest inside, over the signs of the reactions; None where no cone holds anything."""
        best: tuple[Deepest, dict[int, Cone]] | None = None
        for signs in islice(self.signs(), MOST_SIGNS):
            cones = self.cones(signs)
            if not cones:
                return None
            attempt = deepest(list(cones.values()), self.Z.shape[1])
            if attempt is not None and (best is None or attempt.depth > best[0].depth):
                best = attempt, cones
            if best is not None and best[0].depth > INSIDE:
                break
        return best


def _shared(contacts: Contacts, mode: Mode, s: ModeSolution) -> _Shared | None:
    """None where the forces are determined."""
    found = s.solution
    active = np.flatnonzero(np.any(found.A, axis=1))
    start = found.multipliers[active]
    Z = null_space(found.A[active].T)
    if not Z.shape[1] or STICK not in mode.states:
        return None
    size = float(np.abs(found.A[active].T * start).max(initial=0.0)) or 1.0
    unit = size / np.linalg.norm(found.A[active], axis=1)
    return _Shared(contacts, mode, s, active, start, unit, np.linalg.qr(Z / unit[:, None])[0], size)


def _cones(
    contacts: Contacts,
    mode: Mode,
    s: ModeSolution,
    signs: dict[int, float],
    places: dict[int, int],
    start: Array,
    unit: Array,
    Z: Array,
    size: float,
) -> dict[int, Cone]:
    """The cones of what sticks by contact, then, by −1 − row, the half lines of closed one-sided constraints that no
    cone holds, in units of the forces.
    """
    found: dict[int, Cone] = {}
    held: set[int] = set()
    for k, sign in signs.items():
        row = contacts.rows[contacts.contacts[k].constraints[0]]
        if row not in places:
            continue
        rows = [places[r] for r in contacts.stick_rows(k)]
        at = places[row]
        share = s.mu_static[k] * sign * s.lever[k] / size
        F, f = unit[rows, None] * Z[rows] / size, start[rows] / size
        found[k] = Cone(F, f, share * unit[at] * Z[at], float(share * start[at]))
        held.add(row)
    for j, row in enumerate(contacts.one_sided):
        if mode.closed[j] and row in places and row not in held:
            at, share = places[row], s.steep[row] / size
            none = np.zeros(0)
            found[-1 - row] = Cone(np.zeros((0, Z.shape[1])), none, share * unit[at] * Z[at], float(share * start[at]))
    return found


def _with_multipliers(contacts: Contacts, mode: Mode, s: ModeSolution, multipliers: Array) -> ModeSolution:
    """The solution with other multipliers of the same effect."""
    own, friction, normal = multipliers[: contacts.m], s.friction.copy(), s.normal.copy()
    for k, (contact, at) in enumerate(zip(contacts.contacts, contacts.components, strict=True)):
        if mode.states[k] == STICK:
            friction[at] = multipliers[contacts.stick_rows(k)]
            if contact.signed:
                normal[k] = s.lever[k] * own[contacts.rows[contact.constraints[0]]]
    return replace(s, multipliers=own, friction=friction, normal=normal, undetermined=True)
