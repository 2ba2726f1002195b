"""One C source per system: its sizes, its straight-line functions, then the runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

from dalembert.errors import DalembertError
from dalembert.graph.graph import Graph
from dalembert.kernel.emit import Hoist, straight_line
from dalembert.kernel.functions import KernelFunctions, kernel_functions
from dalembert.kernel.taylor import taylor_source
from dalembert.model.constraints import is_linear
from dalembert.model.system import System

BEFORE = ("base.h", "context.h")
AFTER = ("robust.h", "project.h", "dop853.h", "dopri5.h")
STIFF = ("radau.h",)
TAYLOR = ("taylor.h",)
LAST = ("drive.h",)
STATE = ("q", "v", "t", "p")
# Compiling takes about a third of a second per thousand instructions: beyond this, minutes.
MOST_INSTRUCTIONS = 300_000
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


class KernelTooLarge(DalembertError):
    """A kernel with more instructions than are worth compiling."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the kernel would have {size:,} instructions, more than the {limit:,} that are worth compiling here; "
            "use backend='reference'"
        )


def kernel_source(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    stiff: bool = False,
    completion: float = 0.0,
    limit: int = MOST_INSTRUCTIONS,
    taylor: bool = False,
) -> str:
    """The C source of a system. `rows` is an independent set of its constraints, used by the straight-line
    code.

    stiff: with the stiff method and the slopes that it needs, which can be longer than everything else
    together. taylor: with the Taylor method; raises `TaylorNotApplicable` where the model has no series.
    """
    functions = kernel_functions(graph, rows, stiff, completion)
    size = sum(f.n_instructions() for name in OUTPUTS if (f := getattr(functions, name)) is not None)
    if size > limit:
        raise KernelTooLarge(size, limit)
    hoist = Hoist()
    model = [_function(name, functions, hoist) for name in OUTPUTS if getattr(functions, name) is not None]
    series = taylor_source(graph, rows, completion, hoist) if taylor else None
    parts = [_header(system, graph, rows, stiff, hoist.size, bool(completion), series.sizes if series else {})]
    parts += [_runtime(name) for name in BEFORE]
    parts += [*model, *([series.text] if series else []), hoist.source()]
    parts += [_runtime(name) for name in (*AFTER, *(STIFF if stiff else ()), *(TAYLOR if taylor else ()), *LAST)]
    return "\n".join(parts)


def _function(name: str, functions: KernelFunctions, hoist: Hoist) -> str:
    inputs = (*STATE, "fi") if name == "work" else STATE
    return straight_line(f"da_{name}", getattr(functions, name), inputs, OUTPUTS[name], hoist)


def _runtime(name: str) -> str:
    return (resources.files("dalembert.kernel") / "runtime" / name).read_text(encoding="utf-8")


def _header(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    stiff: bool,
    constants: int,
    singular: bool,
    series: Mapping[str, int],
) -> str:
    n, m = len(system.coordinates), len(system.constraints)
    rates = [system.constraints[k].expression for k in graph.velocity_rows]
    names = "\n".join(
        [f"     q[{k}] {_safe(q.name)}, v[{k}] its velocity" for k, q in enumerate(system.coordinates)]
        + [f"     p[{k}] {_safe(p.name)}" for k, p in enumerate(system.parameter_symbols)]
        + [f"     row {k} {_safe(c.name)}, {c.level} level" for k, c in enumerate(system.constraints)]
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
        "DA_TAYLOR": int(bool(series)),
        **series,
    }
    defines = "\n".join(f"#define {name} {value}" for name, value in sizes.items())
    return (
        f"/* Equations of motion of: {_safe(system.name)}\n{names}\n"
        "     y = q, v, and the work of impressed, ideal and nonideal forces */\n"
        f"{defines}\n"
    )


def _safe(text: str) -> str:
    """A name as it may stand in a comment of the source: letters, digits and a few marks, nothing that C could read.

    Names come from model documents, and text from outside must never become code: `*/`, a backslash before the end
    of a line or a trigraph would end the comment.
    """
    return "".join(c if c.isascii() and (c.isalnum() or c in " _-.,") else "_" for c in text[:80])
