"""What of a system depends explicitly on time, as one CasADi function: the entries of M, Q, A, b and C, φ and φ̇; of
contacts the reactions, sliding velocities and coefficients.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from dalembert.graph.functions import graph_of
from dalembert.remember import remember_alone

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class Timed:
    """entries(q, v, t, p, f, l): only those that depend on t. f stands for constraint forces and l for multipliers, in
    C. mixed: some of them depend on the state as well.
    """

    entries: ca.Function
    mixed: bool

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What others make of its function, by name, once."""
        return {}


KEPT = 64
_made: dict[Hashable, Timed | None] = {}


def timed_of(system: System) -> Timed | None:
    """Made once for each structure; None where nothing depends on t."""
    return remember_alone(_made, system.structure, lambda: _build(system), KEPT)


def _build(system: System) -> Timed | None:
    graph, n = graph_of(system), len(system.coordinates)
    q, v, t = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t")
    p, f, lam = (
        ca.SX.sym(name, size)
        for name, size in (("p", graph.dynamics.numel_in(3)), ("f", n), ("l", graph.work.numel_in(6)))
    )
    parts = [*graph.dynamics(q, v, t, p), graph.work(q, v, t, p, f, f, lam)[0]]
    parts += [graph.position(q, t, p)[0], graph.velocity(q, v, t, p)[0]]
    if system.contacts:
        from dalembert.graph.contacts import contact_graph  # needs SymPy

        N, u, _, mu, mu_static, *_ = contact_graph(system).state(q, v, ca.SX.zeros(n), t, p, lam)
        parts += [N, u, mu, mu_static]
    everything = ca.vertcat(*(ca.vec(ca.SX(part)) for part in parts))
    inputs = [q, v, t, p, f, lam]
    rows = sorted(set(ca.Function("all", inputs, [everything]).jac_sparsity(0, 2).row()))
    if not rows:
        return None
    entries = ca.Function("timed", inputs, [ca.densify(everything[rows])])
    mixed = any(entries.jac_sparsity(0, k).nnz() for k in (0, 1))
    return Timed(entries, bool(mixed))


def spread(count: int, seed: int) -> np.ndarray:
    """Numbers between −½ and ½ that nothing in a model was made for: multiples of the golden ratio, without their whole
    part.
    """
    return (np.arange(1, count + 1) * 0.6180339887498949 + 0.3819660112501051 * seed) % 1.0 - 0.5
