"""One C source per system: its sizes, its straight-line functions, then the runtime with its methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.emit.dispatch import dispatch, methods_of, sizes, steppers
from dalembert.kernel.emit.functions import KernelFunctions, kernel_functions
from dalembert.kernel.emit.layout import (
    ACTUAL,
    AT_A_STATE,
    BASE,
    COLD,
    INPUTS,
    INSIDE,
    MULTIPLIERS,
    NONLINEAR,
    OUTPUTS,
    RUN,
    STATE,
    WATCH,
    limit_macros,
    runtime_text,
)
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.emit.taylor import taylor_source
from dalembert.kernel.size import MOST_INSTRUCTIONS, KernelTooLarge

if TYPE_CHECKING:
    from dalembert.model.system import System


def kernel_source(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    asked: Collection[str] = (),
    completion: float = 0.0,
    limit: int = MOST_INSTRUCTIONS,
) -> str:
    """The C source of a system. `rows` is an independent set of its constraints, used by the straight-line
    code, in which those nonlinear in q̈ have no part.

    asked: methods that not every kernel has. An implicit one needs slopes, which can be longer than everything else
    together; one of series raises `TaylorNotApplicable` where the model has none.
    """
    rows = [row for row in rows if row not in graph.nonlinear]
    methods = methods_of(asked)
    functions = kernel_functions(graph, rows, any(method.stiff for method in methods), completion)
    named = functions_by_name(graph, functions)
    size = sum(f.n_instructions() for f in named.values())
    if size > limit:
        raise KernelTooLarge(size, limit)
    hoist = Hoist()
    model = [_function(name, function, hoist) for name, function in named.items()]
    macros = sizes(methods) | _effort(functions)
    if any(method.series for method in methods):
        series = taylor_source(graph, rows, completion, hoist)
        size += series.instructions
        if size > limit:
            raise KernelTooLarge(size, limit)
        model.append(series.text)
        macros |= series.sizes
    extra: tuple[str, ...] = NONLINEAR if graph.nonlinear else ()
    extra += MULTIPLIERS if graph.uses_actual or graph.events_use_multipliers else ()
    extra += ACTUAL if graph.uses_actual else ()
    headers = [method.header for method in methods if method.header is not None]
    macros |= {**model_sizes(system, graph, rows, functions, bool(completion)), "DA_NC": hoist.size}
    macros["DA_INSTRUCTIONS"] = size
    return "\n".join(
        [
            _header(system, macros),
            *map(runtime_text, BASE),
            *(f"DA_LIST({name}) = {_list(rows)};" for name, rows in model_lists(graph, rows).items()),
            *model,
            hoist.source(),
            *map(runtime_text, AT_A_STATE),
            steppers(methods),
            *map(runtime_text, (*WATCH, *extra, *headers)),
            dispatch(methods),
            *map(runtime_text, (*INSIDE, *RUN)),
        ]
    )


def _effort(functions: KernelFunctions) -> dict[str, int]:
    """Instructions of an evaluation and of a return to the constraints; series say themselves what they have."""
    back = (functions.factor, functions.backsolve, functions.position_gap, functions.velocity_gap)
    return {
        "DA_EFFORT_FAST": 0 if functions.fast is None else functions.fast.n_instructions(),
        "DA_EFFORT_RETURN": sum(function.n_instructions() for function in back),
        "DA_EFFORT_START": 0,
        "DA_EFFORT_ORDER": 0,
        "DA_EFFORT_PAIRS": 0,
    }


def functions_by_name(graph: Graph, functions: KernelFunctions) -> dict[str, ca.Function]:
    """The functions that a model has, as the runtime calls them: after what they need, where that differs."""
    actual = "_of_actual" if graph.uses_actual else ""
    other = {
        "work": f"work{actual}",
        "heat": f"heat{actual}",
        "events": "events_of_multipliers" if graph.events_use_multipliers else "events",
    }
    every = {other.get(name, name): function for name, function in vars(functions).items()}
    return {name: every[name] for name in OUTPUTS if every.get(name) is not None}


def _function(name: str, function: ca.Function, hoist: Hoist) -> str:
    qualifier = "DA_COLD" if name in COLD else "DA_FN"
    return straight_line(f"da_{name}", function, INPUTS.get(name, STATE), OUTPUTS[name], hoist, qualifier)


def model_sizes(
    system: System, graph: Graph, rows: Sequence[int], functions: KernelFunctions, singular: bool
) -> dict[str, int]:
    """What the runtime asks of a model, by name: sizes, and whether it has this or that."""
    n, m = len(system.coordinates), len(system.constraints)
    straight = functions.fast is not None
    return {
        "DA_N": n,
        "DA_M": m,
        "DA_NP": len(system.parameter_symbols),
        "DA_NE": 2 * n,
        "DA_NG": graph.events.numel_out(0),
        "DA_KINKS": graph.kinks,
        "DA_SWITCHED": int(bool(graph.switched)),
        "DA_NY": 2 * n + 3 + len(graph.heats),
        "DA_HEATS": len(graph.heats),
        "DA_BY_FRICTION": len(graph.by_friction),
        "DA_FAST_ROWS": len(rows),
        "DA_FACTORS": functions.factor.nnz_out(0),
        "DA_LARGE": int(functions.rest is not None),
        "DA_POSITION_ROWS": len(graph.position_rows),
        "DA_VELOCITY_ROWS": len(graph.position_rows) + len(graph.velocity_rows),
        "DA_LINEAR_RATES": int(not graph.curved),
        "DA_SINGULAR_MASS": int(singular),
        "DA_NONLINEAR": len(graph.nonlinear),
        "DA_HAS_WORK": int(functions.work.nnz_out(0) > 0),
        "DA_USES_IDEAL": int(graph.uses_reactions),
        "DA_USES_ACTUAL": int(graph.uses_actual),
        "DA_EVENT_MULTIPLIERS": int(graph.events_use_multipliers),
        "DA_STRAIGHT_MULTIPLIERS": int(functions.multipliers is not None),
        "DA_STRAIGHT": int(straight),
        "DA_WATCHED": int(straight and len(rows) > 1 and not graph.uses_actual),
    }


def model_lists(graph: Graph, rows: Sequence[int]) -> dict[str, Sequence[int]]:
    """Rows of constraints of one kind, by name."""
    return {
        "da_fast_rows": rows,
        "da_position_rows": graph.position_rows,
        "da_nonlinear_rows": graph.nonlinear,
        "da_friction_rows": graph.by_friction,
    }


def _header(system: System, macros: Mapping[str, int]) -> str:
    names = "\n".join(
        [f"     q[{k}] {_safe(q.name)}, v[{k}] its velocity" for k, q in enumerate(system.coordinates)]
        + [f"     p[{k}] {_safe(p.name)}" for k, p in enumerate(system.parameter_symbols)]
        + [f"     row {k} {_safe(c.name)}, {c.level} level" for k, c in enumerate(system.constraints)]
    )
    defines = "\n".join(f"#define {name} {value}" for name, value in {**macros, **limit_macros()}.items())
    return (
        f"/* Equations of motion of: {_safe(system.name)}\n{names}\n"
        "     y = q, v, the work of impressed, ideal and nonideal forces, and the heat of friction */\n"
        f"{defines}\n"
    )


def _list(rows: Sequence[int]) -> str:
    """Rows as an initialiser, of at least one entry."""
    return "{" + ", ".join(str(row) for row in rows or (0,)) + "}"


def _safe(text: str) -> str:
    """A name as it may stand in a comment of the source: letters, digits and a few marks, nothing that C could read.

    Names come from model documents, and text from outside must never become code: `*/`, a backslash before the end
    of a line or a trigraph would end the comment.
    """
    return "".join(c if c.isascii() and (c.isalnum() or c in " _-.,") else "_" for c in text[:80])
