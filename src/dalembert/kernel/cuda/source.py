"""One CUDA source for one system: its functions, a method, and the loop over members that each thread runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca

from dalembert.errors import DoesNotApply
from dalembert.graph.functions import Graph
from dalembert.graph.start import start_function
from dalembert.kernel.cuda.functions import LEAST_PIVOT, ThreadFunctions, thread_functions, why_not_a_thread
from dalembert.kernel.cuda.observe import observables
from dalembert.kernel.cuda.reals import in_chosen_precision
from dalembert.kernel.cuda.step import slope_rows, slopes_source, step_source
from dalembert.kernel.emit.explicit import dense_source, inside_source
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.limits import EVENT_PIECES, PROJECT_LEAST_SIZE, PROJECT_ROUNDING, SINGULAR_NEAR
from dalembert.methods.table import METHODS
from dalembert.methods.tableau import Nested, Tableau

if TYPE_CHECKING:
    from dalembert.model.system import System

DEVICE = Path(__file__).parent / "device"
STATE = ("q", "v", "t", "p")
# Up to so many instructions of the acceleration, each stage has its own copy.
MOST_UNROLLED = 160
# As in motion/integrate/settings.py; squares of numbers this small still are numbers, in single precision too.
LEAST_SIZE = 1e-18


@dataclass(frozen=True)
class CudaSource:
    """The text, and what it was made of: names of all that goes in and out, and sizes."""

    text: str
    method: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    parameters: tuple[str, ...]
    observables: tuple[str, ...]
    events: tuple[str, ...]
    instructions: int
    rolled: bool


def cuda_source(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    method: str = "dop853",
    completion: float = 0.0,
    rolled: bool | None = None,
) -> CudaSource:
    """The source of a system; `DoesNotApply` where a thread cannot integrate it. rows and completion as for
    `kernel_source`. rolled: whether the stages of a step are a loop; None: what suits the size.
    """
    tableau = METHODS[method].tableau
    if tableau is None:
        raise DoesNotApply(f"{system.name}: a GPU runs explicit methods only, not {method!r}")
    obstacle = why_not_a_thread(graph, rows, len(system.constraints))
    if obstacle is not None:
        raise DoesNotApply(f"{system.name} does not run on a GPU: {obstacle}", obstacle)
    functions = thread_functions(graph, rows, completion)
    if rolled is None:
        rolled = functions.acceleration.n_instructions() > MOST_UNROLLED
    names, observe = observables(system, graph)
    events = () if graph.events_use_multipliers else system.events
    hoist = Hoist()
    model = _model(system, graph, functions, observe, bool(events), hoist)
    sizes = _sizes(system, graph, rows, functions, tableau, len(names), len(events), hoist.size)
    lists = {
        "da_position_places": [list(rows).index(row) for row in graph.position_rows],
        "da_event_direction": [int(event.direction) for event in events],
        "da_event_terminal": [int(event.terminal) for event in events],
    }
    converted = [
        _device("base.h"),
        *(f"DA_TABLE int {name}[] = {{{', '.join(map(str, items or [0]))}}};" for name, items in lists.items()),
        *model,
        # Read where everything is read: a call would put what it makes into memory.
        hoist.source().replace("DA_PIECE void da_constants", "DA_FN void da_constants"),
        _device("project.h"),
        step_source(tableau, rolled),
        _inside(tableau),
        *map(_device, ("control.h", "look.h", "members.h")),
    ]
    text = "\n".join([_header(system, names, sizes), _device("precision.h"), in_chosen_precision("\n".join(converted))])
    return CudaSource(
        text,
        method,
        tuple(x.name for x in system.coordinates),
        tuple(x.name for x in system.velocities),
        tuple(x.name for x in system.parameter_symbols),
        names,
        tuple(event.name for event in events),
        functions.instructions,
        rolled,
    )


def _device(name: str) -> str:
    return (DEVICE / name).read_text(encoding="utf-8")


def _model(
    system: System, graph: Graph, functions: ThreadFunctions, observe: ca.Function, events: bool, hoist: Hoist
) -> list[str]:
    """The functions of the system as C."""
    kernel = functions.kernel
    parts = [("acceleration", functions.acceleration, STATE, ("a", "margin"))]
    if graph.position_rows or graph.velocity_rows:
        parts += [
            ("factor", kernel.factor, (*STATE, "weight"), ("F", "pivot", "length")),
            ("backsolve", kernel.backsolve, ("p", "F", "r"), ("x",)),
            ("position_gap", kernel.position_gap, STATE, ("r",)),
            ("velocity_gap", kernel.velocity_gap, STATE, ("r",)),
        ]
    parts.append(("observe", observe, STATE, ("o",)))
    if events:
        parts.append(("event_functions", _event_functions(graph), STATE, ("g",)))
    lines = [straight_line(f"da_{name}", f, inputs, outputs, hoist, lanes=False) for name, f, inputs, outputs in parts]
    start = straight_line("da_start", start_function(system), ("given",), ("y",), None, lanes=False)
    return [*lines, start]


def _event_functions(graph: Graph) -> ca.Function:
    state = [ca.SX.sym(name, graph.events.numel_in(k)) for k, name in enumerate(STATE)]
    others = [ca.SX.ones(graph.events.numel_in(k)) for k in range(4, graph.events.n_in())]
    return ca.Function("events", state, ca.cse([ca.densify(graph.events(*state, *others)[0])]))


def _inside(tableau: Tableau) -> str:
    """What the interpolant needs, in functions that are called: few steps need it."""
    return f"""\
#if DA_LOOK
#define DA_NW DA_NE
#define DA_NY DA_NE
typedef const double da_context;
DA_PIECE int da_rhs_checked(double t, const double *y, double *dy, da_context *c)
{{
    double margin[1], sum = 0.0;
    for (int j = 0; j < DA_N; j++) dy[j] = y[DA_N + j];
    da_acceleration(y, y + DA_N, t, c, dy + DA_N, margin);
    for (int j = 0; j < DA_N; j++) sum += dy[DA_N + j] - dy[DA_N + j];
    return sum != 0.0;
}}
{slopes_source(tableau)}
{dense_source("method", tableau)}
{inside_source("method", tableau)}
#endif
"""


def _sizes(
    system: System,
    graph: Graph,
    rows: Sequence[int],
    functions: ThreadFunctions,
    tableau: Tableau,
    observed: int,
    events: int,
    constants: int,
) -> dict[str, float]:
    n = len(system.coordinates)
    nested = len(tableau.interpolant.rows) if isinstance(tableau.interpolant, Nested) else 0
    return {
        "DA_N": n,
        "DA_NE": 2 * n,
        "DA_NP": len(system.parameter_symbols),
        "DA_NC": constants,
        "DA_ROWS": len(rows),
        "DA_POSITION_ROWS": len(graph.position_rows),
        "DA_VELOCITY_ROWS": len(graph.position_rows) + len(graph.velocity_rows),
        "DA_FACTORS": functions.kernel.factor.nnz_out(0),
        "DA_LINEAR_RATES": int(not graph.curved),
        "DA_KEPT": len(slope_rows(tableau)),
        "DA_SLOPES": tableau.slopes,
        "DA_DENSE": 3 + nested,
        "DA_FALLS": tableau.falls,
        "DA_OBSERVED": observed,
        "DA_NG": events,
        "DA_EVENT_PIECES": EVENT_PIECES,
        "DA_LEAST_PIVOT": LEAST_PIVOT,
        "DA_LEAST_SIZE": LEAST_SIZE,
        "DA_SINGULAR_NEAR": SINGULAR_NEAR,
        "DA_PROJECT_ROUNDING": PROJECT_ROUNDING,
        "DA_PROJECT_LEAST_SIZE": PROJECT_LEAST_SIZE,
    }


def _header(system: System, observed: Sequence[str], sizes: dict[str, float]) -> str:
    names = "\n".join(
        [f"     q[{k}] {_safe(q.name)}, v[{k}] its velocity" for k, q in enumerate(system.coordinates)]
        + [f"     p[{k}] {_safe(p.name)}" for k, p in enumerate(system.parameter_symbols)]
        + [f"     o[{k}] {_safe(name)}" for k, name in enumerate(observed)]
    )
    defines = "\n".join(
        f"#define {name} {value if isinstance(value, int) else f'DA_R({value!r})'}" for name, value in sizes.items()
    )
    return (
        f"/* Many motions of: {_safe(system.name)}\n{names}\n"
        "   Made for NVRTC and nvcc; any C compiler takes it too, for one thread. */\n"
        f"{defines}\n"
    )


def _safe(text: str) -> str:
    """A name as it may stand in a comment, as in emit/source.py: text from outside must never become code."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " _-.,") else "_" for c in text[:80])
