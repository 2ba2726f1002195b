"""`Graph`: the mathematics of a system as CasADi functions. What makes it of expressions is in `graph.graph`, which is
loaded only where one is made: a graph that was kept needs no SymPy.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from dalembert.graph.evaluate import Evaluators
from dalembert.remember import remember, remember_alone

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class Graph:
    """CasADi functions of a system. Rows of A and b keep the order of `system.constraints`.

    dynamics(q, v, t, p)            -> M, Q, A, b; the rows of `nonlinear` constraints are zero here
    work(q, v, t, p, fi, fa, l)     -> C, ∂C/∂fa, ∂C/∂l; fi and fa are the ideal and the actual constraint force, l the
                                       multipliers of the constraints
    position(q, t, p)               -> φ, ∂φ/∂q
    velocity(q, v, t, p)            -> (φ̇, ψ), their derivative with respect to q̇
    acceleration(q, v, a, t, p, k)  -> h, ∂h/∂q̈, ∂²(kᵀh)/∂q̈²; rows nonlinear in q̈ only
    energy(q, v, t, p)              -> E, explicit power ∂E/∂t, F (nonpotential impressed), inertial part of Q
    events(q, v, t, p, s, l, k)     -> the event functions g, and the size of what they are made of, Σ |∂g/∂z| |z| over
                                       state (of sizes at least s), time, parameters and multipliers (of sizes at least
                                       k): g rounds in proportion
    slopes(q, v, a, l, t, p, fi, fa) -> ∂(M a − Aᵀl − Q − C)/∂(q, v), ∂(A a − b)/∂(q, v)
    heat(q, v, t, p, l)             -> the powers that friction turns into heat, one for each of `heats`

    `nonlinear` are the rows nonlinear in q̈, `curved` those of velocity level that are nonlinear in q̇. `uses_reactions`:
    C depends on constraint forces; `uses_actual`: on the actual ones, as components or as multipliers.
    `events_use_multipliers`: the event functions do. `by_friction`: rows of friction that holds. `switched`: rows
    that a parameter, 1 or 0, switches on and off, with the number of the parameter. `affine`: C is an affine function
    of the multipliers and uses no other constraint forces. `kinks`: so many of the event functions, the last ones, are
    those of kinks whose sides are parameters (`model.kinks`).
    """

    dynamics: ca.Function
    work: ca.Function
    position: ca.Function
    velocity: ca.Function
    acceleration: ca.Function
    energy: ca.Function
    slopes: ca.Function
    events: ca.Function
    heat: ca.Function
    heats: tuple[str, ...]
    nonlinear: tuple[int, ...]
    position_rows: tuple[int, ...]
    velocity_rows: tuple[int, ...]
    by_friction: tuple[int, ...]
    curved: tuple[int, ...]
    uses_reactions: bool
    uses_actual: bool
    events_use_multipliers: bool
    switched: tuple[tuple[int, int], ...] = ()
    affine: bool = False
    kinks: int = 0

    @cached_property
    def evaluators(self) -> Evaluators:
        """Its functions for numbers, shared by all who evaluate the graph."""
        return Evaluators(self)

    kept: ClassVar[dict[str, Any]]  # what others make of its functions, by name, once; each graph has its own

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", {})

    def __getstate__(self) -> dict[str, Any]:
        """Without what others made, which may belong to this process."""
        return {**vars(self), "kept": {}}


# Enough for a study that goes back and forth between models; each takes a few hundred kilobytes at most.
KEPT = 64
_made: dict[Hashable, Graph] = {}


def graph_of(system: System) -> Graph:
    """The graph of a system, made once for each structure: other values of parameters change nothing in it."""
    return remember_alone(_made, system.structure, lambda: _made_of(system), KEPT)


def plain_parts(graph: Graph) -> dict[str, Any]:
    """The parts of a graph in values that JSON has."""
    parts = {field.name: getattr(graph, field.name) for field in fields(graph)}
    return {
        name: {"function": part.serialize()} if isinstance(part, ca.Function) else part for name, part in parts.items()
    }


def take_graph(parts: Mapping[str, Any], structure: Hashable) -> None:
    """Take the graph that `plain_parts` gave, read from JSON, for that of a structure."""
    graph = Graph(**{name: _part(part) for name, part in parts.items()})
    remember(_made, structure, lambda: graph, KEPT)


def _part(plain: Any) -> Any:
    if isinstance(plain, dict):
        return ca.Function.deserialize(plain["function"])
    return tuple(map(_part, plain)) if isinstance(plain, list) else plain


def _made_of(system: System) -> Graph:
    from dalembert.graph.graph import build_graph

    return build_graph(system)
