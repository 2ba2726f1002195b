"""What is held in every direction, on ground that does not move and under forces that do not change, stays for ever."""

from __future__ import annotations

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.graph.functions import Graph
from dalembert.graph.timed import timed_of
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.remember import changed


def stays(contacts: Contacts, start: Fundamental) -> bool:
    """Whether the state at a start never changes: the constraints of its mode leave no velocity but zero, and nothing
    in the model depends on the time, so that forces which hold it now hold it then.
    """
    held = int(start.rank) == contacts.n and contacts.is_workless and contacts.switched.on_still_ground
    return held and timed_of(contacts.system) is None and not _gains_energy_by_itself(contacts.whole.graph)


def _gains_energy_by_itself(graph: Graph) -> bool:
    """Whether energy depends on the time where no force does."""
    if "gains energy by itself" not in graph.kept:
        state = [ca.SX.sym(graph.energy.name_in(k), graph.energy.numel_in(k)) for k in range(graph.energy.n_in())]
        graph.kept["gains energy by itself"] = ca.sparsify(graph.energy(*state)[1]).nnz() > 0
    return bool(graph.kept["gains energy by itself"])


def standing(before: Trajectory, times: Array, q: Array, work: Array) -> Trajectory:
    """The leg over these times. before: the leg before it, for how it is made."""
    y = np.concatenate([q, np.zeros(q.size), work])
    return changed(
        before,
        t=times,
        y=np.tile(y, (times.size, 1)),
        guesses=None,
        steps=0,
        evaluations=0,
        compile_s=0.0,
        events=(),
        ended=None,
        warnings=(),
        stiff=(0.0, 0.0),
        fastest=None,
    )
