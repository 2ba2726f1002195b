"""Every force of a large system at a state, from the equations as the model gives them: sparse products only.

What acts on a defined quantity acts on the coordinates that it is made of, by virtual work: forces are handed down
along the definitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import DRIFT_TOLERANCE
from dalembert.motion.large.state import LargeState

# Columns that SuperLU takes together. It works on so many full ones, and finds the same factors by one at a time.
PANEL = 1
# Of a matrix in an order in which it is triangular.
TRIANGULAR: dict[str, Any] = {
    "permc_spec": "NATURAL", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}
}  # fmt: skip
# What a constraint misses beyond this share of its terms is looked at more closely.
LITTLE = 1e-12


@dataclass(frozen=True, eq=False)
class Entries:
    """The equations at one state: K (symmetric, quantities then constraints), forces of inertia and impressed ones on
    the quantities, b, and d̈ = J z̈ + γ.
    """

    K: Any
    inertia: Array
    impressed: Array
    b: Array
    J: Any
    gamma: Array
    n: int

    @property
    def nz(self) -> int:
        return self.inertia.size

    @cached_property
    def _chain(self) -> Any:
        """Factors of I − J among the defined quantities: they are in an order in which that is triangular."""
        from scipy.sparse import eye_array
        from scipy.sparse.linalg import splu

        count = self.nz - self.n
        among = (eye_array(count, format="csc") - self.J[:, self.n :]).tocsc()
        return splu(among, panel_size=PANEL, **TRIANGULAR)

    def forces_on_coordinates(self, forces: Array) -> Array:
        """Forces on all quantities as forces on the coordinates."""
        if self.nz == self.n:
            return forces
        carried = self._chain.solve(forces[self.n :], trans="T")
        return np.asarray(forces[: self.n] + self.J[:, : self.n].T @ carried)

    def accelerations_of_all(self, q: Array, gamma: Array | None = None) -> Array:
        """Accelerations of all quantities from those of the coordinates; gamma: what is added, γ or nothing."""
        if self.nz == self.n:
            return q
        more = self.J[:, : self.n] @ q
        return np.concatenate([q, self._chain.solve(more if gamma is None else more + gamma)])

    def on_masses(self, forces: Array) -> Array:
        """Sizes of forces on all quantities, where they meet masses: one on a defined quantity that has no mass of its
        own acts on those that define it.
        """
        if self.nz == self.n:
            return forces
        light = np.where(self.K.diagonal()[self.n : self.nz] == 0, 1.0, 0.0)
        if not (forces[self.n :] * light).any():
            return forces
        from scipy.sparse import diags_array, eye_array
        from scipy.sparse.linalg import splu

        handed = diags_array(light) @ abs(self.J)  # by those without mass alone
        among = (eye_array(light.size, format="csc") - handed[:, self.n :]).tocsc()
        carried = splu(among, panel_size=PANEL, **TRIANGULAR).solve(forces[self.n :], trans="T")
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
        A, n = self.K[self.nz :, : self.nz], self.n
        missed = np.abs(A @ a - self.b)
        terms = abs(A) @ np.concatenate([moved[:n], self.terms_of_defined(moved)]) + np.abs(self.b)
        for k in np.flatnonzero(missed > LITTLE * terms) if self.nz > n else ():
            slopes = self.forces_on_coordinates(A[[k], :].toarray().ravel())
            terms[k] = max(terms[k], float(np.abs(slopes) @ moved[:n]))
        return missed, terms

    def terms_of_defined(self, moved: Array) -> Array:
        """Of the accelerations of defined quantities, where all have at most these: what is held at rest by a
        constraint is made of terms that are not.
        """
        return np.asarray(moved[self.n :] + abs(self.J) @ moved + np.abs(self.gamma))


class EntriesOf:
    """Reads the equations of one model off the numbers of its program."""

    def __init__(self, state: LargeState) -> None:
        self.state, self.count, self.places = state, state.nz + state.m, state.model.entries

    def at(self, q: Array, v: Array, t: float) -> Entries:
        from scipy.sparse import csr_array

        w, nz, where = self.state.run("entries", q, v, t), self.state.nz, self.places
        K = csr_array((w[where.places], (where.rows, where.columns)), shape=(self.count, self.count))
        right, pulled = where.right(w), where.pulled(w)
        defined = nz - self.state.n
        J = csr_array((where.slope(w), (where.slope_of, where.slope_by)), shape=(defined, nz))
        return Entries(K, right[:nz], pulled[:nz], right[nz:], J, where.bias(w), self.state.n)

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
    nz, n = entries.nz, entries.n
    M, A = entries.K[:nz, :nz], entries.K[nz:, :nz]
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
            _share(*entries.missed_by_rows(a, moved)),
            _share(own, made),
        ),
    )


def contradictions(entries: Entries, a: Array) -> np.ndarray:
    """Constraints that accelerations a of all quantities miss by more than rounding; forces of constraints may be
    anything where these contradict each other, and do not count.
    """
    moved = np.abs(a) + entries.accelerations_alone(np.abs(entries.impressed) + np.abs(entries.inertia))
    missed, terms = entries.missed_by_rows(a, moved)
    return np.flatnonzero(missed > DRIFT_TOLERANCE * np.maximum(terms, 1e-6 * terms.max(initial=0.0)))


def _share(part: Array, terms: Array) -> float:
    """A row whose terms all vanish for a moment counts with a millionth of the largest."""
    of = np.maximum(terms, 1e-6 * terms.max(initial=0.0))
    return float((part / np.where(of > 0, of, 1.0)).max(initial=0.0))
