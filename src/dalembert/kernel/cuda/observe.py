"""What a thread can tell of a state: coordinates, velocities, the energy, and outputs that need no forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import sympy as sp

from dalembert.graph.functions import Graph
from dalembert.graph.outputs import output_function

if TYPE_CHECKING:
    from dalembert.model.system import System

ENERGY = "energy"


def observables(
    system: System, graph: Graph, expressions: Mapping[str, sp.Expr | None] | None = None
) -> tuple[tuple[str, ...], ca.Function]:
    """Their names, and one function (q, v, t, p) -> all of them. Outputs that use accelerations or constraint forces
    are left out, and those whose name is taken. expressions: what stands beside coordinates and velocities instead of
    energy and outputs, by name; None is the energy. They use no forces.
    """
    state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate(("q", "v", "t", "p"))]
    q, v, t, p = state
    names = [*(x.name for x in system.coordinates), *(x.name for x in system.velocities)]
    parts = [q, v]
    if expressions is not None:
        function = output_function(system, [sp.Integer(0) if e is None else e for e in expressions.values()])
        none = [ca.SX.zeros(function.numel_in(k)) for k in (2, 5, 6)]
        values, energy = function(q, v, none[0], t, p, none[1], none[2]), graph.energy(*state)[0]
        names += expressions
        parts += [energy if e is None else values[k] for k, e in enumerate(expressions.values())]
    elif ENERGY not in names:
        names.append(ENERGY)
        parts.append(graph.energy(*state)[0])
    if system.outputs and expressions is None:
        function = output_function(system)
        others = [ca.SX.sym(f"o{k}", function.numel_in(k)) for k in (2, 5, 6)]
        values = function(q, v, others[0], t, p, others[1], others[2])
        uses = ca.which_depends(values, ca.vertcat(*others), 1, True)
        for k, name in enumerate(system.outputs):
            if not uses[k] and name not in names:
                names.append(name)
                parts.append(values[k])
    return tuple(names), ca.Function("observe", state, ca.cse([ca.densify(ca.vertcat(*parts))]))
