"""A motion with both sides of its jumps: where a contact changes or a blow falls between two outputs, the state just
before and just after it stand among the outputs, with the forces of the mode on either side.

`motion.t` has the times that were asked for; pictures need these besides, or they would draw jumps as slopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points

if TYPE_CHECKING:
    from dalembert.motion.contacts.modes.contacts import Contacts
    from dalembert.motion.contacts.modes.modes import Mode
    from dalembert.motion.result.motion import Motion

# Beyond this many jumps the forces beside them take longer than the rest of a picture; they are left out then.
MOST_JUMPS = 400
COLUMNS = frozenset(("a", "impressed", "inertial", "ideal", "nonideal", "multipliers", "energy", "work"))


@dataclass(frozen=True, eq=False)
class Jump:
    """t, q, and the velocities just before and just after: the same where a contact changes without a blow."""

    t: float
    q: Array
    before: Array
    after: Array


def jumps_of(motion: Motion) -> list[Jump]:
    """Where contacts change and blows fall, in order of time. Blows at one instant are one jump."""
    found: dict[float, Jump] = {}
    for blow in motion.blows:
        first = found.get(blow.t)
        found[blow.t] = Jump(blow.t, blow.q, blow.before if first is None else first.before, blow.after)
    names = [coordinate.name for coordinate in motion.system.coordinates]
    for event in motion.events:
        if "contact" in event and "state" in event and event["t"] not in found:
            q, v = (np.array([event["state"][name + mark] for name in names]) for mark in ("", "'"))
            found[event["t"]] = Jump(event["t"], q, v, v)
    return [found[t] for t in sorted(found) if motion.t[0] < t <= motion.t[-1]]


class BothSides:
    """The points of a motion with both sides of its jumps among them. t (K,), q, v, accelerations a and forces (K, n),
    multipliers (K, m), energy (K,), work (K, 3). source (K,): the number of the output that a point is, −1 beside a
    jump. leg (K,): how many jumps lie before it.
    """

    a: Array
    impressed: Array
    inertial: Array
    ideal: Array
    nonideal: Array
    multipliers: Array
    energy: Array
    work: Array

    def __init__(self, motion: Motion) -> None:
        self.motion, self.jumps = motion, jumps_of(motion)
        times = np.array([jump.t for jump in self.jumps])
        # An output at the very time of a jump is one of its sides.
        outputs = np.flatnonzero(~np.isin(motion.t, times))
        t = [motion.t[outputs], times, times]
        legs = [np.searchsorted(times, motion.t[outputs]), np.arange(times.size), np.arange(times.size) + 1]
        q = np.array([jump.q for jump in self.jumps]).reshape(times.size, motion.q.shape[1])
        before, after = (
            np.array([getattr(jump, side) for jump in self.jumps]).reshape(q.shape) for side in ("before", "after")
        )
        own = np.full(times.size, -1)
        leg = np.concatenate(legs)
        order = np.lexsort((np.concatenate(t), leg))
        self.t: Array = np.concatenate(t)[order]
        self.q: Array = np.concatenate([motion.q[outputs], q, q])[order]
        self.v: Array = np.concatenate([motion.v[outputs], before, after])[order]
        self.source: NDArray[np.int_] = np.concatenate([outputs, own, own])[order]
        self.leg: NDArray[np.int_] = leg[order]

    if not TYPE_CHECKING:  # type checkers know the columns

        def __getattr__(self, name: str) -> Array:
            """Called for what is no state: accelerations, forces, multipliers, energy."""
            if name not in COLUMNS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return self._work() if name == "work" else self._column(name)

    def _column(self, name: str) -> Array:
        """One of `COLUMNS` at all points; NaN beside a jump where it is not known: an instant between two jumps without
        an output.
        """
        values = np.asarray(getattr(self.motion, name), dtype=float)
        if not self.jumps:
            return values
        found = np.full((self.t.size, *values.shape[1:]), np.nan)
        outputs = self.source >= 0
        found[outputs] = values[self.source[outputs]]
        beside = ~outputs
        if name == "energy":  # which the state alone decides
            found[beside] = Evaluation(self.motion.system).energetics_along(
                self.q[beside], self.v[beside], self.t[beside]
            )[0]
        elif self._forces is not None:
            at, forces = self._forces
            found[at] = forces[name]
        return found

    def _work(self) -> Array:
        """What impressed, ideal and nonideal forces have done, (K, 3): beside jumps the balance of energy tells it. The
        work of impressed forces has no jumps; a blow takes its loss from that of nonideal forces, and moving surfaces
        give the rest.
        """
        motion, t = self.motion, self.t
        if not motion.blows:
            return np.column_stack([np.interp(t, motion.t, motion.work[:, k]) for k in range(3)])
        losses: dict[float, float] = {}
        for blow in motion.blows:
            losses[blow.t] = losses.get(blow.t, 0.0) + blow.loss + blow.left_out
        whole, found = self.energy, np.empty((t.size, 3))
        for k, source in enumerate(self.source.tolist()):
            if source >= 0:
                found[k] = motion.work[source]
                continue
            now = float(t[k])
            impressed = float(np.interp(now, motion.t, motion.work[:, 0]))
            if self.source[k - 1] < 0 and t[k - 1] == now and self.leg[k - 1] < self.leg[k]:  # just after a jump
                lost, gained = losses.get(now, 0.0), float(whole[k] - whole[k - 1])
                found[k] = impressed, found[k - 1, 1] + gained + lost, found[k - 1, 2] - lost
            else:
                ideal = found[k - 1, 1]
                found[k] = impressed, ideal, float(whole[k] - whole[0]) - impressed - ideal
        return found

    @cached_property
    def _forces(self) -> tuple[NDArray[np.int_], dict[str, Array]] | None:
        """The points beside jumps whose mode is known, and what acts there."""
        if len(self.jumps) > MOST_JUMPS or self.motion.C is None:
            return None
        from dalembert.motion.contacts.modes.contacts import Contacts  # need SymPy, which has read such a system
        from dalembert.motion.contacts.run.at_outputs import forces_in_modes

        evaluation, contacts = Evaluation(self.motion.system), Contacts(self.motion.system)
        modes = {leg: mode for leg in sorted(set(self.leg.tolist())) if (mode := self._mode_of_leg(contacts, leg))}
        at = np.array([k for k in np.flatnonzero(self.source < 0).tolist() if self.leg[k] in modes], dtype=int)
        if not at.size:
            return None
        t, q, v = self.t[at], self.q[at], self.v[at]
        try:
            held = forces_in_modes(contacts, [modes[int(self.leg[k])] for k in at], t, q, v)
            points = evaluate_points(evaluation, t, q, v, None, held)
        except DalembertError:
            return None
        solution = points.solution
        return at, {
            "a": solution.acceleration,
            "impressed": solution.Q - points.inertial,
            "inertial": points.inertial,
            "ideal": solution.ideal,
            "nonideal": solution.nonideal,
            "multipliers": solution.multipliers,
        }

    def _mode_of_leg(self, contacts: Contacts, leg: int) -> Mode | None:
        """The mode between two jumps: that of an output there, None where there is none."""
        from dalembert.motion.contacts.run.mode_of_state import mode_of

        outputs = np.flatnonzero((self.leg == leg) & (self.source >= 0))
        if not outputs.size:
            return None
        k = int(outputs[outputs.size // 2])
        try:
            return mode_of(contacts, self.q[k], self.v[k], float(self.t[k])).mode
        except DalembertError:
            return None
