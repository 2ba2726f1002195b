"""The source of a system whose members run in lanes: its functions, a method, and the loop over members."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca

from dalembert.errors import DoesNotApply
from dalembert.graph.functions import Graph
from dalembert.kernel.cuda.functions import (
    LEAST_PIVOT,
    ThreadFunction,
    ThreadFunctions,
    thread_functions,
    why_not_a_thread,
)
from dalembert.kernel.cuda.step import slope_rows
from dalembert.kernel.emit.explicit import dense_source, inside_source
from dalembert.kernel.emit.layout import STATE, limit_macros, runtime_text
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.emit.taylor import taylor_source
from dalembert.kernel.kernel import REPORT
from dalembert.kernel.lanes.in_lanes import in_lanes
from dalembert.kernel.lanes.series import sums_source
from dalembert.kernel.lanes.step import groups_of, reads_of, step_source
from dalembert.kernel.size import TaylorNotApplicable
from dalembert.methods.table import METHODS
from dalembert.methods.tableau import Nested, Tableau

if TYPE_CHECKING:
    from dalembert.model.system import System

FOLDER = Path(__file__).parent / "c"
# Up to so many instructions of the acceleration, each stage of a step has its own copy; longer ones are a loop.
MOST_UNROLLED = 400
# Operations whose answer is yes or no: no lane has a branch of its own.
ASKING = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_NOT, ca.OP_IF_ELSE_ZERO)
# What becomes of a member that needs more than lanes know; beyond the numbers of runtime/base/base.h.
LEFT = 32
# A member that takes more steps is left too: the other way looks whether it is stiff.
MOST_STEPS = 100_000


# Of series: enough for rtol 1e-13, as in runtime/steps/taylor.h, made odd.
MOST_ORDERS = 29
# Their factors lie on the stack, of which an integration has 16 MB: 29 orders of two factors each, 64 bytes a lane.
MOST_PAIRS = 2_000
# What series keep of a member from step to step, and what they make at each: see c/taylor.h.
KEPT_OF_SERIES = "da_lane factor[DA_TAYLOR_FACTOR], kept[DA_TAYLOR_KEPT], defect;"
MADE_OF_SERIES = (
    "da_lane x[DA_TAYLOR_MOST + 1][DA_NE], factor[DA_TAYLOR_FACTOR], kept0[DA_TAYLOR_KEPT], slope[DA_NE]; int order;"
)


def why_not_in_lanes(graph: Graph, rows: Sequence[int], constraints: int, method: str) -> str | None:
    """Why members of a system cannot run in lanes, as far as it is known without a source; None where they can."""
    obstacle = why_not_a_thread(graph, rows, constraints)
    if obstacle is not None:
        return obstacle.replace("on the CPU", "one member at a time")
    if graph.events.numel_out(0):
        return "events are located one member at a time"
    if METHODS[method].tableau is None and not METHODS[method].series:
        return f"lanes have no method {method!r}"
    return None


def lane_source(system: System, graph: Graph, rows: Sequence[int], method: str) -> str:
    """The source. rows: all of the constraints. Raises `DoesNotApply` where lanes cannot integrate the system, and
    `TaylorNotApplicable` where it has no series.
    """
    obstacle = why_not_in_lanes(graph, rows, len(system.constraints), method)
    if obstacle is not None:
        raise DoesNotApply(f"{system.name} does not run in lanes: {obstacle}", obstacle)
    functions, hoist = thread_functions(graph, rows), Hoist()
    tableau = METHODS[method].tableau
    parts = _functions(graph, functions, hoist, rows)
    sizes = _sizes(system, graph, rows, functions)
    if tableau is None:
        series = taylor_source(graph, rows, 0.0, hoist, lanes=True)
        if len(series.pairs) + len(series.ahead) > MOST_PAIRS:
            raise TaylorNotApplicable(f"{len(series.pairs) + len(series.ahead):,} products are too many for lanes")
        # One copy, in the loop over the orders.
        parts.append(series.text.replace("DA_PIECE void da_taylor_order(", "DA_LANE void da_taylor_order("))
        sizes |= {**series.sizes, "DA_TAYLOR_MOST": MOST_ORDERS, "DA_GROUPS": 1}
        sizes |= {"DA_METHOD_KEEPS": KEPT_OF_SERIES, "DA_METHOD_MAKES": MADE_OF_SERIES}
        method_text = [sums_source(series.pairs, series.ahead), _header("taylor.h")]
    else:
        rolled = functions.acceleration.n_instructions() > MOST_UNROLLED
        sizes |= {**_explicit_sizes(tableau), "DA_GROUPS": groups_of(rolled)}
        sizes |= {"DA_METHOD_KEEPS": "", "DA_METHOD_MAKES": "da_lane k[DA_KEPT][DA_N];"}
        method_text = [
            step_source(tableau, reads_of(functions.acceleration), rolled),
            _header("explicit.h"),
            in_lanes(dense_source("method", tableau) + inside_source("method", tableau)),
            _header("inside.h"),
        ]
    sizes |= {"DA_NC": hoist.size, **limit_macros()}
    defines = "\n".join(f"#define {name} {value}" for name, value in sizes.items())
    places = ", ".join(map(str, [list(rows).index(row) for row in graph.position_rows] or [0]))
    looked_at = (*graph.position_rows, *graph.position_rows, *graph.velocity_rows)
    look_rows = ", ".join(map(str, [list(rows).index(row) for row in looked_at] or [0]))
    return "\n".join(
        [
            f"/* Members of a system in lanes. */\n{defines}\ntypedef void da_requests;",
            *map(runtime_text, ("base/base.h", "run/pace.h", "run/asked_of_members.h")),
            _header("lane.h"),
            f"static const int da_position_places[] __attribute__((unused)) = {{{places}}};",
            f"static const int da_look_rows[] __attribute__((unused)) = {{{look_rows}}};",
            *map(in_lanes, parts),
            hoist.source(),
            *map(_header, ("project.h", *(("control.h",) if tableau is not None else ()), "group.h")),
            *method_text,
            _header("members.h"),
            _header("look.h"),
        ]
    )


def _header(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _functions(graph: Graph, functions: ThreadFunctions, hoist: Hoist, rows: Sequence[int]) -> list[str]:
    n = functions.acceleration.numel_in(0)
    parts = [
        (name, _change(function, n) if name == "backsolve" else function, inputs, outputs)
        for name, function, inputs, outputs in functions.of_a_step(graph)
    ]
    parts += _of_starts(graph, rows)
    for _, function, _, _ in parts:
        if any(function.instruction_id(k) in ASKING for k in range(function.n_instructions())):
            raise DoesNotApply("no lanes", "a condition is decided for one member at a time")
    return [
        straight_line(f"da_{name}", function, inputs, outputs, hoist, "DA_LANE", lanes=False)
        for name, function, inputs, outputs in parts
    ]


def _of_starts(graph: Graph, rows: Sequence[int]) -> list[ThreadFunction]:
    """What `look.h` calls: (q, v, t, p) -> the energy, φ and (φ̇, ψ), the lengths of the rows of A; and these alone."""
    q, v, t, p = state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate(STATE)]
    A = graph.dynamics(*state)[2]
    lengths = ca.vertcat(*(ca.norm_2(A[row, :].T) for row in rows))
    gaps = ca.vertcat(graph.position(q, t, p)[0], graph.velocity(q, v, t, p)[0])
    look = ca.cse([ca.densify(x) for x in (graph.energy(*state)[0], gaps, lengths)])
    beside = ca.cse([ca.densify(lengths)])
    return [
        ("look", ca.Function("look", state, look), STATE, ("energy", "gap", "length")),
        ("beside", ca.Function("beside", state, beside), STATE, ("length",)),
    ]


def _change(backsolve: ca.Function, n: int) -> ca.Function:
    """(p, factors, residuals) -> the change of n coordinates or velocities that removes these."""
    p, F = (ca.SX.sym(name, backsolve.numel_in(k)) for k, name in enumerate(("p", "F")))
    r = ca.SX.sym("r", backsolve.numel_in(2) - n)
    return ca.Function("change", [p, F, r], ca.cse([backsolve(p, F, ca.vertcat(ca.SX.zeros(n), r))[:n]]))


def _sizes(system: System, graph: Graph, rows: Sequence[int], functions: ThreadFunctions) -> dict[str, float | str]:
    n = len(system.coordinates)
    return {
        "DA_N": n,
        "DA_M": len(system.constraints),
        "DA_NE": 2 * n,
        "DA_NY": 2 * n,
        "DA_NW": 2 * n,
        "DA_ROW": 2 * n + 3 + len(graph.heats),
        "DA_NP": len(system.parameter_symbols),
        "DA_ROWS": len(rows),
        "DA_FAST_ROWS": len(rows),
        "DA_POSITION_ROWS": len(graph.position_rows),
        "DA_VELOCITY_ROWS": len(graph.position_rows) + len(graph.velocity_rows),
        "DA_FACTORS": functions.kernel.factor.nnz_out(0),
        "DA_LINEAR_RATES": int(not graph.curved),
        "DA_LEAST_PIVOT": LEAST_PIVOT,
        "DA_INSTRUCTIONS": functions.instructions,
        "DA_LEFT": LEFT,
        "DA_MOST_STEPS": MOST_STEPS,
        "DA_AT_LEAST_1(n)": "((n) > 0 ? (n) : 1)",
        **{f"DA_REPORT_{name.upper()}": k for k, name in enumerate(REPORT)},
    }


def _explicit_sizes(tableau: Tableau) -> dict[str, float | str]:
    nested = len(tableau.interpolant.rows) if isinstance(tableau.interpolant, Nested) else 0
    return {
        "DA_KEPT": len(slope_rows(tableau)),
        "DA_SLOPES": tableau.slopes,
        "DA_DENSE": 3 + nested,
        "DA_FALLS": tableau.falls,
    }
