"""The balance of forces at rest as CasADi functions: q̇ = 0 put in, derivatives with respect to q taken."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from dalembert.graph.contacts import contact_graph
from dalembert.graph.functions import graph_of
from dalembert.model.system import System


@dataclass(frozen=True)
class StaticsGraph:
    """l are the multipliers of all constraints, f the friction along the sliding components of all contacts.

    balance(q, l, f, t, p)   -> r = Q + C + Aᵀl + F f at rest, ∂r/∂q, [Aᵀ F]
    conditions(q, t, p)      -> what must vanish at rest, one row per constraint: φ, ψ at q̇ = 0, or −b of an
                                acceleration constraint there; and its derivative
    slopes(q, v, l, f, t, p) -> M, −∂r/∂q, −∂r/∂q̇, r, at any velocity
    """

    balance: ca.Function
    conditions: ca.Function
    slopes: ca.Function


def statics_graph(system: System) -> StaticsGraph:
    graph, contacts = graph_of(system), contact_graph(system)
    n, m = len(system.coordinates), len(system.constraints)
    q, v, t = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t")
    l, p = ca.SX.sym("l", m), ca.SX.sym("p", len(system.parameter_symbols))
    columns = contacts.forces.size2_out(0)
    f, rest = ca.SX.sym("f", columns), ca.SX.zeros(n)

    def forces(speed: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        M, Q, A, b = graph.dynamics(q, speed, t, p)
        C = graph.work(q, speed, t, p, rest, rest, l)[0]
        F = contacts.forces(q, speed, t, p)
        reach = ca.horzcat(A.T, F)
        return M, b, reach, Q + C + reach @ ca.vertcat(l, f)

    _, b, reach, r = forces(rest)
    phi, psi = graph.position(q, t, p)[0], graph.velocity(q, rest, t, p)[0]
    held = []
    for k in range(m):
        if k in graph.position_rows:
            held.append(phi[graph.position_rows.index(k)])
        elif k in graph.velocity_rows:
            held.append(psi[len(graph.position_rows) + graph.velocity_rows.index(k)])
        else:
            held.append(-b[k])
    c = ca.vertcat(*held) if held else ca.SX(0, 1)
    M, _, _, moving = forces(v)
    dense = ca.densify
    return StaticsGraph(
        balance=ca.Function("balance", [q, l, f, t, p], [dense(r), dense(ca.jacobian(r, q)), dense(reach)]),
        conditions=ca.Function("conditions", [q, t, p], [dense(c), dense(ca.jacobian(c, q))]),
        slopes=ca.Function(
            "slopes",
            [q, v, l, f, t, p],
            [dense(M), dense(-ca.jacobian(moving, q)), dense(-ca.jacobian(moving, v)), dense(moving)],
        ),
    )
