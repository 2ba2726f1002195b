"""Every force of a large system, from the equations as the model gives them: sparse products only.

What acts on a defined quantity acts on the coordinates that it is made of, by virtual work: forces are handed down
along the definitions. Many points are one system whose parts do not touch: one product serves all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import DRIFT_TOLERANCE
from dalembert.kernel.ready.along import Along
from dalembert.motion.large.state import LargeState

# Columns that SuperLU takes together. It works on so many full ones, and finds the same factors by one at a time.
PANEL = 1
# Unknowns of the points that are taken together: some hundred bytes each.
TOGETHER = 100_000
# What a constraint misses beyond this share of its terms is looked at more closely.
LITTLE = 1e-12


@dataclass(frozen=True, eq=False)
class Entries:
    """The equations at one state, or at several: K (symmetric, quantities then constraints), forces of inertia and
    impressed ones on the quantities, b, and d̈ = J z̈ + γ. Of several, coordinates come first, point by point, then
    defined quantities, then constraints; n: all coordinates.
    """

    K: Any
    inertia: Array
    impressed: Array
    b: Array
    J: Any
    gamma: Array
    n: int
    points: int = 1

    @property
    def nz(self) -> int:
        return self.inertia.size

    @cached_property
    def M(self) -> Any:
        return self.K[: self.nz, : self.nz]

    @cached_property
    def A(self) -> Any:
        return self.K[self.nz :, : self.nz]

    @cached_property
    def _by_coordinates(self) -> Any:
        """The part of J that belongs to coordinates."""
        return self.J[:, : self.n]

    @cached_property
    def _along(self) -> Along:
        return Along(self.J)

    def forces_on_coordinates(self, forces: Array) -> Array:
        """Forces on all quantities as forces on the coordinates."""
        if self.nz == self.n:
            return forces
        carried = self._along.hand_down(forces[self.n :])
        return np.asarray(forces[: self.n] + self._by_coordinates.T @ carried)

    def accelerations_of_all(self, q: Array, gamma: Array | None = None) -> Array:
        """Accelerations of all quantities from those of the coordinates; gamma: what is added, γ or nothing."""
        if self.nz == self.n:
            return q
        more = self._by_coordinates @ q
        return np.concatenate([q, self._along.follow(more if gamma is None else more + gamma)])

    def on_masses(self, forces: Array) -> Array:
        """Sizes of forces on all quantities, where they meet masses: one on a defined quantity that has no mass of its
        own acts on those that define it.
        """
        if self.nz == self.n:
            return forces
        light = np.where(self.K.diagonal()[self.n : self.nz] == 0, 1.0, 0.0)
        if not (forces[self.n :] * light).any():
            return forces
        from scipy.sparse import diags_array

        handed = diags_array(light) @ abs(self.J)  # by those without mass alone
        carried = Along(handed).hand_down(forces[self.n :])
        met = np.concatenate([forces[: self.n], np.zeros(light.size)])
        met += handed.T @ carried
        met[self.n :] = carried * (1.0 - light)
        return met

    def accelerations_alone(self, forces: Array) -> Array:
        """What forces of such sizes would make of each quantity by itself; nothing where it has no mass of its own."""
        own = np.abs(self.K.diagonal()[: self.nz])
        return np.where(own > 0, self.on_masses(forces) / np.where(own > 0, own, 1.0), 0.0)

    def missed_by_rows(self, a: Array, moved: Array) -> tuple[Array, Array]:
        """|A z̈ − b| of each constraint, and the size of its terms where accelerations have at most the sizes `moved`.
        Of those that are missed by more than a little, terms count as they are in the coordinates: a sum that a
        constraint holds at rest may go on from one that rests as well.
        """
        A, n = self.A, self.n
        missed = np.abs(A @ a - self.b)
        terms = abs(A) @ np.concatenate([moved[:n], self.terms_of_defined(moved)]) + np.abs(self.b)
        for rows in _one_of_each(missed > LITTLE * terms, self.points) if self.nz > n else ():
            chosen = np.zeros(terms.size)
            chosen[rows] = 1.0
            made = np.abs(self.forces_on_coordinates(A.T @ chosen)) * moved[:n]
            at = rows // (terms.size // self.points)
            terms[rows] = np.maximum(terms[rows], made.reshape(self.points, -1).sum(axis=1)[at])
        return missed, terms

    def terms_of_defined(self, moved: Array) -> Array:
        """Of the accelerations of defined quantities, where all have at most these: what is held at rest by a
        constraint is made of terms that are not.
        """
        return np.asarray(moved[self.n :] + abs(self.J) @ moved + np.abs(self.gamma))


def _one_of_each(flagged: np.ndarray, points: int) -> list[np.ndarray]:
    """Rows that are flagged, in groups with one of each point at most."""
    rows = np.flatnonzero(flagged)
    at = rows // max(1, flagged.size // points)
    turn = np.arange(rows.size) - np.searchsorted(at, at)  # how many of its point come before
    return [rows[turn == k] for k in range(int(turn.max(initial=-1)) + 1)]


class EntriesOf:
    """Reads the equations of one model off the numbers of its program."""

    def __init__(self, state: LargeState) -> None:
        self.state, self.places = state, state.model.entries

    def at(self, q: Array, v: Array, t: float) -> Entries:
        return self.at_points(q[None, :], v[None, :], np.array([t]))

    def at_points(self, q: Array, v: Array, t: Array) -> Entries:
        """The equations at several states as those of one system."""
        from scipy.sparse import csr_array

        n, nz, m, where, count = self.state.n, self.state.nz, self.state.m, self.places, t.size
        table: dict[str, list[Array]] = {name: [] for name in ("entries", "right", "pulled", "slopes", "bias")}
        for k in range(count):
            w = self.state.run("entries", q[k], v[k], float(t[k]))
            row = (w[where.places], where.right(w), where.pulled(w), where.slope(w), where.bias(w))
            for name, numbers in zip(table, row, strict=True):
                table[name].append(numbers)
        all_of = {name: np.array(rows) for name, rows in table.items()}
        place = self._places_among(count)
        K = csr_array(
            (all_of["entries"].ravel(), (place[:, where.rows].ravel(), place[:, where.columns].ravel())),
            shape=(count * (nz + m), count * (nz + m)),
        )
        of = (place[:, n:nz] - count * n)[:, where.slope_of]
        J = csr_array(
            (all_of["slopes"].ravel(), (of.ravel(), place[:, where.slope_by].ravel())),
            shape=(count * (nz - n), count * nz),
        )
        right, pulled = self.in_order(all_of["right"][:, :nz]), self.in_order(all_of["pulled"][:, :nz])
        b, gamma = all_of["right"][:, nz:].ravel(), all_of["bias"].ravel()
        return Entries(K, right, pulled, b, J, gamma, count * n, count)

    def _places_among(self, count: int) -> np.ndarray:
        """Of each unknown of each point (count, nz + m) its place among all."""
        parts, first = [], 0
        for size in (self.state.n, self.state.nz - self.state.n, self.state.m):
            parts.append(first + np.arange(count * size, dtype=np.int64).reshape(count, size))
            first += count * size
        return np.concatenate(parts, axis=1)

    def in_order(self, of_quantities: Array) -> Array:
        """Numbers of all quantities of several points (points, nz) in the order of their system."""
        n = self.state.n
        return np.concatenate([of_quantities[:, :n].ravel(), of_quantities[:, n:].ravel()])

    def chunks(self, points: int) -> list[slice]:
        """Points to be taken together: so many that their system is not too large for memory."""
        step = max(1, TOGETHER // (self.state.nz + self.state.m))
        return [slice(k, min(k + step, points)) for k in range(0, points, step)]

    def contradicting_constraints(self, q: Array, v: Array, t: float) -> list[str]:
        """Names of constraints that no acceleration satisfies at the state that was solved last: others, on which they
        depend, ask for something else. The first few.
        """
        if not self.state.may_contradict():
            return []
        a, _ = self.state.solve(q, v, t)
        return [self.state.system.constraints[k].name for k in contradictions(self.at(q, v, t), a)[:6]]


@dataclass(frozen=True)
class Forces:
    """On the coordinates at one state, with inertia M q̈ = impressed + inertial + ideal, `unbalanced` what is not so;
    `missed`: of A z̈ = b and of d̈ = J z̈ + γ, relative to their terms. `size`: of the terms of each balance.
    """

    impressed: Array
    inertial: Array
    ideal: Array
    inertia: Array
    unbalanced: Array
    size: Array
    missed: float


def forces_at(entries: Entries, a: Array, multipliers: Array) -> Forces:
    """a: accelerations of all quantities."""
    n, M, A = entries.n, entries.M, entries.A
    held = A.T @ multipliers
    rest = entries.accelerations_of_all(np.zeros(n), entries.gamma)  # accelerations of the defined ones at q̈ = 0
    parts = (entries.impressed, entries.inertia - M @ rest, held, M @ (a - rest))
    impressed, inertial, ideal, inertia = (entries.forces_on_coordinates(part) for part in parts)
    unbalanced = entries.forces_on_coordinates(M @ a - entries.inertia - entries.impressed - held)
    # At rest accelerations are rounding of what forces would make of them: they count with that.
    moved = np.abs(a) + entries.accelerations_alone(np.abs(entries.impressed) + np.abs(entries.inertia) + np.abs(held))
    made = entries.terms_of_defined(moved)
    own = np.abs(a[n:] - entries.J @ a - entries.gamma)
    return Forces(
        impressed=impressed,
        inertial=inertial,
        ideal=ideal,
        inertia=inertia,
        unbalanced=unbalanced,
        size=np.abs(impressed) + np.abs(inertial) + np.abs(ideal) + np.abs(inertia),
        missed=max(
            _share(*entries.missed_by_rows(a, moved), entries.points),
            _share(own, made, entries.points),
        ),
    )


def contradictions(entries: Entries, a: Array) -> np.ndarray:
    """Constraints that accelerations a of all quantities miss by more than rounding; forces of constraints may be
    anything where these contradict each other, and do not count.
    """
    moved = np.abs(a) + entries.accelerations_alone(np.abs(entries.impressed) + np.abs(entries.inertia))
    missed, terms = entries.missed_by_rows(a, moved)
    return np.flatnonzero(missed > DRIFT_TOLERANCE * np.maximum(terms, 1e-6 * terms.max(initial=0.0)))


def _share(part: Array, terms: Array, points: int) -> float:
    """The largest share. A row whose terms all vanish for a moment counts with a millionth of the largest of its
    point.
    """
    part, of = part.reshape(points, -1), at_least_a_share(terms.reshape(points, -1))
    return float((part / of).max(initial=0.0))


def at_least_a_share(terms: Array) -> Array:
    """Terms of points (points, k), not below a millionth of the largest of their point; 1 where there are none."""
    of = np.maximum(terms, 1e-6 * terms.max(axis=1, keepdims=True, initial=0.0))
    return np.where(of > 0, of, 1.0)
