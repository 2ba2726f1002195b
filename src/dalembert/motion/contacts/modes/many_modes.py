"""One state in many modes at once: their accelerations and multipliers by elimination, a few calls for all of them.

Only of modes whose forces are determined; of others nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactState
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.kernel.ready.many import many_of
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Mode
from dalembert.motion.contacts.modes.regular import Equations, eliminate, is_linear
from dalembert.remember import remember

# Programs of one system.
KEPT = 2


@dataclass(frozen=True)
class ManyModes:
    """T modes at one state. sticks, slips, ways (T, contacts), closed (T, gaps): what they assume. state, acceleration
    (T, n), multipliers (T, m and one for each sliding component): what follows. served: where that is known.
    """

    sticks: NDArray[np.bool_]
    slips: NDArray[np.bool_]
    ways: Array
    closed: NDArray[np.bool_]
    state: ContactState
    acceleration: Array
    multipliers: Array
    served: NDArray[np.bool_]


def many_modes(contacts: Contacts, modes: Sequence[Mode], q: Array, v: Array, t: float) -> ManyModes | None:
    """None where this does not serve: where contacts slide in planes, or equations are not linear."""
    evaluation = contacts.evaluation(modes[0])
    graph, T = evaluation.graph, len(modes)
    one = modes[0].pushes, modes[0].frames
    if contacts.on_surfaces or any(mode.undetermined or (mode.pushes, mode.frames) != one for mode in modes):
        return None
    if not is_linear(evaluation):
        return None
    dynamics, work = (
        remember(contacts.kept_programs, name, lambda: many_of(getattr(graph, name), -1), KEPT)  # noqa: B023
        for name in ("dynamics", "work")
    )
    if dynamics is None or work is None:
        return None
    sticks, slips = (np.array([[own == state for own in mode.states] for mode in modes]) for state in (STICK, SLIP))
    ways, closed = np.array([mode.directions for mode in modes], dtype=float), np.array([mode.closed for mode in modes])
    p = contacts.parameters_of_modes(modes[0], slips, sticks, ways, closed)
    q, v, times = np.tile(q, (T, 1)), np.tile(v, (T, 1)), np.full(T, t)
    M, Q, A, b = dynamics(T, q, v, times, p)
    none = np.zeros((T, evaluation.n))
    C, _, slope = work(T, q, v, times, p, none, none, np.zeros((T, evaluation.m)))
    M, A, slope = (
        part.reshape(T, -1, columns) for part, columns in ((M, evaluation.n), (A, evaluation.n), (slope, evaluation.m))
    )
    if not all(np.isfinite(part).all() for part in (M, Q, A, b, C, slope)):
        return None
    found = eliminate(Equations(M, Q, A, b, C, slope))
    state = contact_states(
        contacts.graph, q, v, found.acceleration, times, p, np.ascontiguousarray(found.multipliers[:, : contacts.m])
    )
    return ManyModes(sticks, slips, ways, closed, state, found.acceleration, found.multipliers, found.served)
