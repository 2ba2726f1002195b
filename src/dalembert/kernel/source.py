"""One C source per system: its sizes, its straight-line functions, then the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from dalembert.graph.graph import Graph
from dalembert.kernel.emit import Hoist, straight_line
from dalembert.kernel.functions import KernelFunctions, kernel_functions
from dalembert.model.constraints import is_linear
from dalembert.model.system import System

BEFORE = ("base.h", "context.h")
AFTER = ("robust.h", "project.h", "dop853.h", "dopri5.h")
STIFF = ("radau.h",)
LAST = ("drive.h",)
STATE = ("q", "v", "t", "p")
OUTPUTS = {
    "fast": ("a", "power", "margin", "size"),
    "dynamics": ("M", "Q", "A", "b"),
    "work": ("C",),
    "energetics": ("F", "power"),
    "position": ("r", "J"),
    "velocity": ("r", "J"),
    "position_step": ("step", "miss", "margin"),
    "velocity_step": ("step", "miss", "margin"),
    "slopes": ("J", "margin"),
}


def kernel_source(
    system: System, graph: Graph, rows: Sequence[int], stiff: bool = False, completion: float = 0.0
) -> str:
    """The C source of a system. `rows` is an independent set of its constraints, used by the straight-line
    code.

    stiff: with the stiff method and the slopes that it needs, which can be longer than everything else
    together.
    """
    functions = kernel_functions(graph, rows, stiff, completion)
    hoist = Hoist()
    model = [_function(name, functions, hoist) for name in OUTPUTS if getattr(functions, name) is not None]
    parts = [_header(system, graph, rows, stiff, hoist.size, bool(completion))]
    parts += [_runtime(name) for name in BEFORE]
    parts += [*model, hoist.source()]
    parts += [_runtime(name) for name in (*AFTER, *(STIFF if stiff else ()), *LAST)]
    return "\n".join(parts)


def _function(name: str, functions: KernelFunctions, hoist: Hoist) -> str:
    inputs = (*STATE, "fi") if name == "work" else STATE
    return straight_line(f"da_{name}", getattr(functions, name), inputs, OUTPUTS[name], hoist)


def _runtime(name: str) -> str:
    return (resources.files("dalembert.kernel") / "runtime" / name).read_text(encoding="utf-8")


def _header(system: System, graph: Graph, rows: Sequence[int], stiff: bool, constants: int, singular: bool) -> str:
    n, m = len(system.coordinates), len(system.constraints)
    rates = [system.constraints[k].expression for k in graph.velocity_rows]
    names = "\n".join(
        [f"     q[{k}] {q.name}, v[{k}] {q.name}'" for k, q in enumerate(system.coordinates)]
        + [f"     p[{k}] {p.name}" for k, p in enumerate(system.parameter_symbols)]
        + [f"     row {k} {c.name!r}, {c.level} level" for k, c in enumerate(system.constraints)]
    )
    sizes = {
        "DA_N": n,
        "DA_M": m,
        "DA_NP": len(system.parameter_symbols),
        "DA_NC": constants,
        "DA_NE": 2 * n,
        "DA_NY": 2 * n + 3,
        "DA_FAST_ROWS": len(rows),
        "DA_POSITION_ROWS": len(graph.position_rows),
        "DA_VELOCITY_ROWS": len(graph.position_rows) + len(graph.velocity_rows),
        "DA_LINEAR_RATES": int(is_linear(rates, system.velocities)),
        "DA_SINGULAR_MASS": int(singular),
        "DA_USES_IDEAL": int(graph.uses_reactions),
        "DA_STIFF": int(stiff),
    }
    defines = "\n".join(f"#define {name} {value}" for name, value in sizes.items())
    title = system.name.replace("*/", "* /")
    return (
        f"/* Equations of motion of: {title}\n{names.replace('*/', '* /')}\n"
        "     y = q, v, and the work of impressed, ideal and nonideal forces */\n"
        f"{defines}\n"
    )
