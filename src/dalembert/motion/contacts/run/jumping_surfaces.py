"""Forces that jump, and surfaces that jump to another speed, as a belt that is switched on does: what sticks to them
slips from there on.

Sticking is a constraint on velocities, and a leg ends where its constraints ask for another velocity than the motion
has. If it is a contact that asks, its friction is finite, and nothing strikes.
"""

from __future__ import annotations

from math import inf, nextafter

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.kinks import kink_graph
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.moments import LOCATED, moment_in, rounding_of
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.remember import changed

JUMPS = "jumps (contact)"
# What changes by more than this share of its size within a moment jumps there.
JUMPED = 1e-9


class Jumps:
    """What jumps at an instant of a motion as long as `span`, by the kinks of its model."""

    def __init__(self, contacts: Contacts, span: float) -> None:
        self.contacts, self.span = contacts, span
        self._p = contacts.system.parameter_values()

    def are_at(self, q: Array, v: Array, t: float) -> bool:
        """Whether a kink of the model is passed just here."""
        if not self.contacts.system.may_have_kinks:
            return False
        moment = moment_in(t, self.span, q, v)
        return bool((self._sides(q, v, t, -moment) != self._sides(q, v, t, moment)).any())

    def beyond(self, q: Array, v: Array, t: float) -> tuple[Array, float]:
        """Place and time where all kinks that are passed just here are surely passed, and as soon as that."""
        later, moment = LOCATED * rounding_of(t, self.span), moment_in(t, self.span, q, v)
        passed = self._sides(q, v, t, moment)
        while later < moment and (self._sides(q, v, t, later) != passed).any():
            later *= 2
        return q + later * v, t + later

    def first_beyond(self, times: Array, q: Array, v: Array, t: float, since: float) -> float:
        """The first output time that belongs to what follows an instant, of those that it may belong to: beyond a jump
        those where the model has jumped, be it by a rounding. Without a jump those from `since` on do.
        """
        if not self.are_at(q, v, t):
            return since
        moment = moment_in(t, self.span, q, v)
        before, after = (self._seen(q, v, t, way * moment) for way in (-1, 1))
        jumps = np.abs(after - before) > JUMPED * (np.abs(after) + np.abs(before))
        for time in times[slice(*times.searchsorted((t - moment, nextafter(t, inf))))].tolist():
            here = self._seen(q, v, t, time - t, time)
            if (np.abs(here - after) <= np.abs(here - before))[jumps].all():
                return float(time)
        return nextafter(t, inf)

    def _sides(self, q: Array, v: Array, t: float, later: float) -> Array:
        graph = kink_graph(self.contacts.system)
        if graph is None:
            return np.zeros(0)
        evaluate = graph.kept.get("at")
        if evaluate is None:
            evaluate = graph.kept["at"] = Evaluator(graph.functions)
        return np.sign(evaluate(q + later * v, v, t + later, self._p)[0])

    def _seen(self, q: Array, v: Array, t: float, later: float, time: float | None = None) -> Array:
        """All numbers of the model there. time: that one, to the last bit."""
        place, time = q + later * v, t + later if time is None else time
        state = self.contacts.at(place, v, time)
        parts = [*self.contacts.unconstrained(place, v, time), state.slide, state.slide_rate, state.mu, state.mu_static]
        return np.concatenate([np.ravel(part) for part in parts])


def ended_by_jump(leg: Trajectory, t: float, y: Array) -> Trajectory:
    """A leg that failed at a corner, ended there."""
    before = int(leg.t.searchsorted(t))
    times, states = np.append(leg.t[:before], t), np.concatenate([leg.y[:before], y[None, : leg.y.shape[1]]])
    return changed(leg, t=times, y=states, failure=None, ended=JUMPS)
