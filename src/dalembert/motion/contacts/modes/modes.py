"""Modes of a system with contacts: which slip and which way, which stick, which one-sided constraints are open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array, largest
from dalembert.graph.contacts import ContactState
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.state.contact_history import STATES

SLIP, STICK, OPEN = STATES


@dataclass(frozen=True)
class Mode:
    """states: of each contact. directions: of those that slip along a line, the sign of the velocity. pushes: the sign
    of each reaction. closed: of each one-sided constraint. frames: the directions in tangent planes, see `frames`.
    undetermined: more contacts stick than hold the system, so that no event of their forces can say when they give way.
    Then, of the rows of the switched system, shared: those whose forces are not determined; spare: those that follow
    from the others, so that the motion is the same without them; lean: it is solved without them.
    """

    states: tuple[str, ...]
    directions: tuple[int, ...]
    pushes: tuple[int, ...]
    closed: tuple[bool, ...]
    frames: tuple[float, ...] = ()
    undetermined: bool = False
    shared: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()
    lean: bool = False

    @property
    def slipping(self) -> set[int]:
        """The contacts that slip."""
        return {k for k, state in enumerate(self.states) if state == SLIP}

    @property
    def sticking(self) -> set[int]:
        """The contacts that stick."""
        return {k for k, state in enumerate(self.states) if state == STICK}

    @property
    def without_spare(self) -> Mode:
        """The same motion by fewer constraints, which plain elimination solves."""
        return replace(self, lean=True) if self.spare else self

    def does_as(self, other: Mode) -> bool:
        """Whether all contacts do the same, whichever way they slip."""
        return (self.states, self.closed) == (other.states, other.closed)


def runs_of(modes: Sequence[Mode]) -> list[tuple[Mode, slice]]:
    """The modes of points that follow each other, and the points of each: those of a leg share theirs."""
    found: list[tuple[Mode, slice]] = []
    first = 0
    for _, own in groupby(modes, id):
        last = first + len(list(own))
        found.append((modes[first], slice(first, last)))
        first = last
    return found


def repeat_runs(runs: Sequence[tuple[Mode, slice]], values: Sequence[Any]) -> NDArray[Any]:
    """What each run has, at each of its points, (T, …)."""
    return np.repeat(np.array(values), [at.stop - at.start for _, at in runs], axis=0)


@dataclass(frozen=True)
class Ending:
    """What ends a mode: contact or one-sided constraint number `which` stops, breaks away, turns, opens or closes; all
    that sticks gives way; a surface to which something sticks jumps to another speed; or the directions in its tangent
    plane must be chosen anew ("face").
    """

    kind: str
    which: int


@dataclass(frozen=True, kw_only=True)
class ModeSolution(ContactState):
    """The instant in a mode, in terms of the whole system: the state of its contacts, and what makes it.

    multipliers: of its constraints, zero where open. friction: along the sliding components.
    """

    solution: Fundamental
    acceleration: Array
    multipliers: Array
    friction: Array
    steep: Array  # |a| of each constraint with gradient a: |a| λ is a force however its equation is scaled
    redundant: bool = False  # some of the constraints of the mode follow from the others
    undetermined: bool = False  # more friction holds than is needed: its forces are one choice among many
    is_apart: bool = False  # friction is known to change no reaction
    off: float | None = None  # how far the state is from the constraints of the mode, where that is known

    @property
    def C(self) -> Array:
        """All forces that are not impressed and not Aᵀλ."""
        s, own = self.solution, self.multipliers
        return np.asarray(s.M @ self.acceleration - s.Q - s.A[: own.size].T @ own)

    @property
    def force_size(self) -> float:
        """The size of the forces at the contacts."""
        parts = (self.normal, self.friction, self.steep * self.multipliers)
        return max(map(largest, parts))


@dataclass(frozen=True)
class ModeForces:
    """Forces at T points, each in its mode: C (T, n), the normal force of each contact (T, contacts), and its friction
    along the sliding components. served: at which points they are known.
    """

    C: Array
    normal: Array
    friction: Array
    served: NDArray[np.bool_]
