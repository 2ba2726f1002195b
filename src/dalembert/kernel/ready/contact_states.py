"""What contacts do along a motion, at all its points in one call: by C that serves every model, else by CasADi."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactGraph, ContactState
from dalembert.kernel.ready.many import many_of
from dalembert.kernel.ready.together import LONGEST


def contact_states(
    graph: ContactGraph, q: Array, v: Array, a: Array, t: Array, p: Array, multipliers: Array
) -> ContactState:
    """As `ContactGraph.along`."""
    run = _many(graph, "state", graph.state, 4, p)
    if run is None:
        return graph.along(q, v, a, t, p, multipliers)
    return ContactState(*run(t.size, q, v, a, t, p, multipliers))


def unit_forces(graph: ContactGraph, q: Array, v: Array, t: Array, p: Array) -> Array:
    """As `ContactGraph.unit_forces_along`."""
    run = _many(graph, "forces", graph.forces, 3, p)
    if run is None:
        return graph.unit_forces_along(q, v, t, p)
    return np.asarray(run(t.size, q, v, t, p)[0].reshape(t.size, q.shape[1], -1))


def _many(
    graph: ContactGraph, name: str, function: ca.Function, parameters: int, p: Array
) -> Callable[..., list[Array]] | None:
    """parameters: the number of the input p, which is one vector, or has one for each point."""
    key = name, p.ndim
    if key not in graph.kept:
        short = function.n_instructions() <= LONGEST
        graph.kept[key] = many_of(function, parameters if p.ndim == 1 else -1) if short else None
    found: Callable[..., list[Array]] | None = graph.kept[key]
    return found
