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
from dalembert.graph.time_factors import time_factors
from dalembert.remember import remember_alone

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class Timed:
    """What of the entries changes with time, see `time_factors`. alone(t, p): by itself, whatever the state; and the
    sizes of the terms in it. joined(q, v, t, p, f, l): together with the state; f stands for constraint forces and l
    for multipliers, in C.
    """

    alone: ca.Function
    joined: ca.Function

    @property
    def is_joined(self) -> bool:
        """Whether what time does depends on where the motion is."""
        return self.joined.numel_out(0) > 0

    @cached_property
    def parameters(self) -> list[int]:
        """Those that have a part in it."""
        found = {*_columns(self.alone, 1), *_columns(self.joined, 3)}
        return sorted(found)

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """The coordinates and the velocities that have."""
        return _columns(self.joined, 0), _columns(self.joined, 1)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What others make of its functions, by name, once."""
        return {}


def _columns(function: ca.Function, of: int) -> list[int]:
    """The entries of an input that the first output depends on."""
    return sorted(set(function.jac_sparsity(0, of).get_triplet()[1]))


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
    function = ca.Function("timed", inputs, [ca.cse(ca.densify(everything[rows]))])
    own, alone, sizes, joined = time_factors(function, time=2, fixed=3)
    return Timed(
        ca.Function("alone", [own[2], own[3]], [ca.densify(alone), ca.densify(sizes)]),
        ca.Function("joined", own, [ca.densify(joined)]),
    )


def spread(count: int, seed: int) -> np.ndarray:
    """Numbers between −½ and ½ that nothing in a model was made for: multiples of the golden ratio, without their whole
    part.
    """
    return (np.arange(1, count + 1) * 0.6180339887498949 + 0.3819660112501051 * seed) % 1.0 - 0.5
