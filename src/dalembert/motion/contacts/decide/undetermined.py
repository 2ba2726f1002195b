"""Friction that holds more than it must: forces that are not determined, but may suffice.

The multipliers of dependent constraints are not unique: all λ with the same Aᵀλ give the same motion. Whether some
choice lies inside all cones of friction is a cone programme; of those that do, the smallest forces are told, one choice
among many. Where none is left, the dual of the programme says which contacts set off, and which way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.timed import timed_of
from dalembert.motion.contacts.decide.cone_programs import Deepest, Entries, Programme
from dalembert.motion.contacts.decide.spare import shared_rows
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.contacts_at_states import MOST_NUMBERS, is_unchanged
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode, ModeSolution

# Below this share of the forces, a distance from the cones is rounding of the programme.
INSIDE = 1e-9
# So many choices of the signs of two-sided reactions are looked at, those of the smallest forces first.
MOST_SIGNS = 64
# A contact whose dual vector is below this share of the largest stays where it is.
STAYS = 1e-5


@dataclass(frozen=True)
class Giving:
    """Which contacts set off where friction gives way, and the velocity of each, the fastest as one."""

    ways: Mapping[int, Array]


def within_cones(
    contacts: Contacts, mode: Mode, s: ModeSolution, q: Array, v: Array, t: float, given: bool = False
) -> ModeSolution | Giving | None:
    """The same motion with forces inside all cones; or how it gives way where there are none; or None where no cone
    holds anything. s: the instant of the mode at that state. given: it is known to give way here.
    """
    held = _held(contacts, mode, s, q, v, t)
    first = next(held.signs())
    if not given and held.names(first):
        shortest = held.programme(first).shortest_if_inside()
        if shortest is not None:
            return held.solution(shortest)
    best = held.deepest()
    if best is None:
        return None
    deep, signs = best
    if given or deep.depth < -INSIDE:
        pulls = {k: way for k, way in zip(held.names(signs), deep.ways, strict=True) if way.size}
        most = max((float(np.linalg.norm(way)) for way in pulls.values()), default=0.0)
        return Giving({k: way / most for k, way in pulls.items() if np.linalg.norm(way) > STAYS * most})
    shortest = held.programme(signs).smallest() if deep.depth > INSIDE else None
    return held.solution(deep.x if shortest is None else shortest)


def smallest_within_cones(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
    """The instant in a mode with undetermined forces that is known to hold, with the smallest forces inside its cones.
    Where they are none after all, but for rounding, those nearest to them.
    """
    return _smallest(_held(contacts, mode, _solved(contacts, mode, q, v, t), q, v, t))


def smallest_along(contacts: Contacts, mode: Mode, q: Array, v: Array, t: Array) -> Iterator[ModeSolution]:
    """The same at T points of a mode, one after the other. At rest nothing changes, and nothing is asked again."""
    chunk = max(1, MOST_NUMBERS // (contacts.n + contacts.evaluation(mode).m) ** 2)
    last: ModeSolution | None = None
    for first in range(0, t.size, chunk):
        at = slice(first, first + chunk)
        solved = contacts.solve_without_spare(mode, q[at], v[at], t[at])
        if solved is None:
            solved = _solved_along(contacts, mode, q[at], v[at], t[at])
        for s, *here in zip(solved, q[at], v[at], t[at].tolist(), strict=True):
            if last is None or not _is_same(s, last):
                last, found = s, _smallest(_held(contacts, mode, s, *here))
            yield found


def _solved_along(contacts: Contacts, mode: Mode, q: Array, v: Array, t: Array) -> list[ModeSolution]:
    """One after the other; of points in one state one, where nothing depends on time."""
    y = np.concatenate([q, v], axis=1)
    stays = (y[1:] == y[:-1]).all(axis=1) & (timed_of(contacts.system) is None)
    found = [_solved(contacts, mode, q[0], v[0], float(t[0]))]
    for k, same in enumerate(stays.tolist(), start=1):
        found.append(found[-1] if same else _solved(contacts, mode, q[k], v[k], float(t[k])))
    return found


def _is_same(now: ModeSolution, before: ModeSolution) -> bool:
    """Whether the forces of two instants are the same but for rounding: all that they follow from is."""
    for one in ("slide", "mu", "mu_static"):
        if not is_unchanged(getattr(now, one), getattr(before, one)):
            return False
    return all(is_unchanged(getattr(now.solution, one), getattr(before.solution, one)) for one in ("Q", "b", "A", "M"))


def _smallest(held: _Held) -> ModeSolution:
    for signs in islice(held.signs(), MOST_SIGNS):
        shortest = held.programme(signs).smallest()
        if shortest is not None:
            return held.solution(shortest)
    best = held.deepest()
    return held.s if best is None else held.solution(best[0].x)


def room(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> float:
    """How deep inside all cones the forces of a mode with undetermined ones can lie, as a share of the largest of
    them; below zero where no choice is left, and it gives way.
    """
    s = _solved(contacts, mode, q, v, t)
    held = _held(contacts, mode, s, q, v, t)
    if not (mode.spare or s.redundant):  # they are determined after all
        signs = next(held.signs())
        return held.programme(signs).depth_at(held.start / held.unit) if held.names(signs) else float("inf")
    best = held.deepest()
    return float("inf") if best is None else best[0].depth


def _solved(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
    """The instant in a mode by as few constraints as make it, with the A of all of them."""
    s = contacts.solve(mode.without_spare, q, v, t)
    if not mode.spare:
        return s
    A = contacts.evaluation(mode).dynamics(q, v, t)[2]
    return replace(s, solution=replace(s.solution, A=A))


@dataclass(frozen=True)
class _Held:
    """What holds in a mode: multipliers unit · x of the rows `active`, for any x with the force of `start`. A: what
    each of them makes, with the friction of what slips under it. size: the largest part of a generalized force that one
    of them makes; x = 1 is such a force, however its row is scaled.
    """

    contacts: Contacts
    mode: Mode
    s: ModeSolution
    A: Array
    active: np.ndarray
    start: Array
    unit: Array
    size: float

    def names(self, signs: Mapping[int, float]) -> list[int]:
        """What the cones belong to: contacts that stick, then, as −1 − row, closed one-sided constraints that no cone
        holds, and two-sided ones under contacts that slip, whose reactions keep the sign that their friction goes by.
        """
        contacts, active = self.contacts, set(self.active.tolist())
        rows = {k: contacts.rows[contacts.contacts[k].constraints[0]] for k in signs}
        found = [k for k, row in rows.items() if row in active]
        held = {rows[k] for k in found}
        gates = zip(contacts.one_sided, self.mode.closed, strict=True)
        kept = [row for row in self._pressed() if row in active and row not in held]
        return (
            found
            + [-1 - row for row, shut in gates if shut and row in active and row not in held]
            + [-1 - row for row in kept]
        )

    def _pressed(self) -> dict[int, float]:
        """The two-sided constraints under contacts that slip, and the sign of the reaction of each."""
        contacts, mode = self.contacts, self.mode
        slips = [k for k, c in enumerate(contacts.contacts) if mode.states[k] == SLIP and c.signed]
        alone = [k for k in slips if contacts.carrier[k] is None and self.s.mu[k] != 0.0]
        return {contacts.rows[contacts.contacts[k].constraints[0]]: float(mode.pushes[k]) for k in alone}

    def programme(self, signs: Mapping[int, float]) -> Programme:
        """|friction| ≤ μ · reaction of what sticks, reaction ≥ 0 of what is closed, and the force that all make."""
        contacts, s, size = self.contacts, self.s, self.size
        place = {int(row): k for k, row in enumerate(self.active)}
        at, parts, sizes, pressed = [], [], [], self._pressed()
        for k in self.names(signs):
            row = -1 - k if k < 0 else contacts.rows[contacts.contacts[k].constraints[0]]
            limit = s.steep[row] * pressed.get(row, 1.0) if k < 0 else s.mu_static[k] * signs[k] * s.lever[k]
            own = [place[row], *([] if k < 0 else (place[r] for r in contacts.stick_rows(k)))]
            at += own
            parts += [limit, *([1.0] * (len(own) - 1))]
            sizes.append(len(own))
        entries = -np.array(parts) * self.unit[at] / size
        G = Entries(np.arange(len(at)), np.array(at), entries, (len(at), self.active.size))
        A = self.A[self.active]
        moved = A.any(axis=0)  # a coordinate that nothing holds has no equation
        A = A[:, moved]
        E = Entries.of((A * self.unit[:, None]).T / size)
        return Programme(G, np.zeros(len(at)), sizes, np.ones(len(sizes)), E, self.start @ A / size)

    def signs(self) -> Iterator[dict[int, float]]:
        """The signs of reactions of what sticks: first those of the solution, then others of two-sided constraints, as
        far as their reactions can change at all.
        """
        contacts, s = self.contacts, self.s
        holding = [k for k, c in enumerate(contacts.contacts) if self.mode.states[k] == STICK and c.signed]
        own = {k: 1.0 if contacts.carrier[k] is not None or s.normal[k] >= 0 else -1.0 for k in holding}
        yield own
        rows = {k: contacts.rows[contacts.contacts[k].constraints[0]] for k in holding if contacts.carrier[k] is None}
        changing = shared_rows(self.A) if rows else set()
        free = [k for k, row in rows.items() if row in changing]
        for flips in islice(product((1.0, -1.0), repeat=len(free)), 1, None):
            yield own | {k: flip * own[k] for k, flip in zip(free, flips, strict=True)}

    def deepest(self) -> tuple[Deepest, Mapping[int, float]] | None:
        """The choice deepest inside, over the signs of the reactions; None where no cone holds anything."""
        best: tuple[Deepest, Mapping[int, float]] | None = None
        for signs in islice(self.signs(), MOST_SIGNS):
            if not self.names(signs):
                return None
            attempt = self.programme(signs).deepest()
            if attempt is not None and (best is None or attempt.depth > best[0].depth):
                best = attempt, signs
            if best is not None and best[0].depth > INSIDE:
                break
        return best

    def solution(self, x: Array) -> ModeSolution:
        """The instant with these forces, which have the same effect."""
        contacts, s = self.contacts, self.s
        multipliers = np.zeros_like(s.solution.multipliers)
        multipliers[self.active] = self.unit * x
        own, friction, normal = multipliers[: contacts.m], s.friction.copy(), s.normal.copy()
        for k, (contact, at) in enumerate(zip(contacts.contacts, contacts.components, strict=True)):
            if self.mode.states[k] == OPEN or not (contact.signed or self.mode.states[k] == STICK):
                continue
            if contact.signed:
                normal[k] = s.lever[k] * own[contacts.rows[contact.constraints[0]]]
            if self.mode.states[k] == STICK:
                friction[at] = multipliers[contacts.stick_rows(k)]
            else:
                friction[at] = -s.mu[k] * abs(normal[k]) * _way(self.mode, s, k, at)
        return replace(s, multipliers=own, friction=friction, normal=normal, undetermined=True)


def _held(contacts: Contacts, mode: Mode, s: ModeSolution, q: Array, v: Array, t: float) -> _Held:
    A = _with_slipping(contacts, mode, s, q, v, t)
    active = np.flatnonzero(np.any(A, axis=1))
    start = s.solution.multipliers[active]
    size = float(np.abs(A[active].T * start).max(initial=0.0)) or 1.0
    return _Held(contacts, mode, s, A, active, start, size / np.linalg.norm(A[active], axis=1), size)


def _with_slipping(contacts: Contacts, mode: Mode, s: ModeSolution, q: Array, v: Array, t: float) -> Array:
    """The rows of A, those that press on a contact which slips with its friction for a unit multiplier: another choice
    of reactions rubs otherwise.
    """
    slips = [k for k, c in enumerate(contacts.contacts) if mode.states[k] == SLIP and c.signed and s.mu[k] != 0.0]
    if not slips:
        return s.solution.A
    A, F = s.solution.A.copy(), contacts.forces(q, v, t, mode.frames)
    for k in slips:
        row, at = contacts.rows[contacts.contacts[k].constraints[0]], contacts.components[k]
        push = 1.0 if contacts.carrier[k] is not None else float(mode.pushes[k])
        A[row] -= s.mu[k] * push * s.lever[k] * (F[:, at] @ _way(mode, s, k, at))
    return A


def _way(mode: Mode, s: ModeSolution, k: int, at: slice) -> Array:
    """The direction in which contact k slips, along its components."""
    if at.stop - at.start == 1:
        return np.array([float(mode.directions[k])])
    return s.slide[at] / max(float(np.linalg.norm(s.slide[at])), 1e-300)
