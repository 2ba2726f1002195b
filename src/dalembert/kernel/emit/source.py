"""One C source per system: its sizes, its straight-line functions, then the runtime with its methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from dalembert.graph.graph import Graph
from dalembert.kernel.emit.dispatch import dispatch, methods_of, sizes, steppers
from dalembert.kernel.emit.functions import KernelFunctions, kernel_functions
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.emit.taylor import taylor_source
from dalembert.kernel.limits import LIMITS
from dalembert.kernel.size import MOST_INSTRUCTIONS, KernelTooLarge
from dalembert.model.system import System

RUNTIME = Path(__file__).parents[1] / "runtime"
# In the order of the source: what comes before the functions of a model, what follows on them, …
BASE = ("base/base.h", "base/elementary.h", "base/context.h")
AT_A_STATE = ("state/lu.h", "state/weak.h", "state/robust.h", "state/fading.h", "state/project.h")
WATCH = ("watch/stiffness.h", "watch/singular.h")
NONLINEAR, MULTIPLIERS, ACTUAL = ("state/branch.h",), ("state/multipliers.h",), ("state/actual.h",)
# … and what comes after the methods.
INSIDE = ("steps/dense.h", "events/sample.h", "events/locate.h", "events/passages.h", "events/kinks.h")
RUN = tuple(f"run/{name}.h" for name in ("pace", "settle", "control", "run", "step", "turn", "inside", "report"))
RUN += ("run/integrate.h",)
STATE = ("q", "v", "t", "p")
INPUTS = {
    "work": (*STATE, "fi", "fa", "l"),
    "acceleration": ("q", "v", "a", "t", "p", "k"),
    "heat": (*STATE, "l"),
    "factor": (*STATE, "weight"),
    "backsolve": ("F", "r"),
    "events": (*STATE, "s", "l", "k"),
    "rest": (*STATE, "x", "f"),
}
OUTPUTS = {
    "fast": ("a", "power", "pivot", "size"),
    "dynamics": ("M", "Q", "A", "b"),
    "work": ("C", "by_force", "by_multipliers"),
    "acceleration": ("h", "J", "H"),
    "energetics": ("F", "power"),
    "heat": ("power",),
    "position": ("r", "J"),
    "velocity": ("r", "J"),
    "factor": ("F", "pivot", "length"),
    "backsolve": ("x",),
    "position_gap": ("r",),
    "velocity_gap": ("r",),
    "right": ("r",),
    "rest": ("r",),
    "slopes": ("J", "pivot"),
    "multipliers": ("l", "size", "pivot", "lengths"),
    "events": ("g", "scale"),
}


# Those that the robust path alone calls.
COLD = ("dynamics", "work", "energetics", "heat", "position", "velocity")


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
    size = sum(f.n_instructions() for name in OUTPUTS if (f := getattr(functions, name)) is not None)
    if size > limit:
        raise KernelTooLarge(size, limit)
    hoist = Hoist()
    model = [_function(name, functions, hoist) for name in OUTPUTS if getattr(functions, name) is not None]
    macros = sizes(methods)
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
    return "\n".join(
        [
            _header(system, graph, rows, hoist.size, functions, bool(completion), size, macros),
            *map(_runtime, BASE),
            *model,
            hoist.source(),
            *map(_runtime, AT_A_STATE),
            steppers(methods),
            *map(_runtime, (*WATCH, *extra, *headers)),
            dispatch(methods),
            *map(_runtime, (*INSIDE, *RUN)),
        ]
    )


def _function(name: str, functions: KernelFunctions, hoist: Hoist) -> str:
    qualifier = "DA_COLD" if name in COLD else "DA_FN"
    function = getattr(functions, name)
    inputs, outputs = INPUTS.get(name, STATE)[: function.n_in()], OUTPUTS[name][: function.n_out()]
    return straight_line(f"da_{name}", function, inputs, outputs, hoist, qualifier)


def _runtime(name: str) -> str:
    return (RUNTIME / name).read_text(encoding="utf-8")


def _header(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    constants: int,
    functions: KernelFunctions,
    singular: bool,
    size: int,
    of_methods: Mapping[str, int],
) -> str:
    n, m = len(system.coordinates), len(system.constraints)
    straight = functions.fast is not None
    names = "\n".join(
        [f"     q[{k}] {_safe(q.name)}, v[{k}] its velocity" for k, q in enumerate(system.coordinates)]
        + [f"     p[{k}] {_safe(p.name)}" for k, p in enumerate(system.parameter_symbols)]
        + [f"     row {k} {_safe(c.name)}, {c.level} level" for k, c in enumerate(system.constraints)]
    )
    macros = {
        "DA_N": n,
        "DA_M": m,
        "DA_NP": len(system.parameter_symbols),
        "DA_NC": constants,
        "DA_NE": 2 * n,
        "DA_NG": graph.events.numel_out(0),
        "DA_KINKS": graph.kinks,
        "DA_NY": 2 * n + 3 + len(graph.heats),
        "DA_HEATS": len(graph.heats),
        "DA_BY_FRICTION": len(graph.by_friction),
        "DA_FRICTION_LIST": _list(graph.by_friction),
        "DA_FAST_ROWS": len(rows),
        "DA_FACTORS": functions.factor.nnz_out(0),
        "DA_LARGE": int(functions.rest is not None),
        "DA_POSITION_ROWS": len(graph.position_rows),
        "DA_VELOCITY_ROWS": len(graph.position_rows) + len(graph.velocity_rows),
        "DA_LINEAR_RATES": int(not graph.curved),
        "DA_SINGULAR_MASS": int(singular),
        "DA_NONLINEAR": len(graph.nonlinear),
        "DA_NONLINEAR_ROWS": _list(graph.nonlinear),
        "DA_FAST_LIST": _list(rows),
        "DA_POSITION_LIST": _list(graph.position_rows),
        "DA_HAS_WORK": int(functions.work.nnz_out(0) > 0),
        "DA_USES_IDEAL": int(graph.uses_reactions),
        "DA_USES_ACTUAL": int(graph.uses_actual),
        "DA_EVENT_MULTIPLIERS": int(graph.events_use_multipliers),
        "DA_STRAIGHT_MULTIPLIERS": int(functions.multipliers is not None),
        "DA_STRAIGHT": int(straight),
        "DA_WATCHED": int(straight and len(rows) > 1 and not graph.uses_actual),
        "DA_INSTRUCTIONS": size,
        **of_methods,
    }
    limits = {f"DA_{name}": value for name, value in LIMITS.items()}
    defines = "\n".join(f"#define {name} {value}" for name, value in {**macros, **limits}.items())
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
