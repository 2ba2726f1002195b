"""One CUDA source for one system: its functions, a method, and the loop over members that each thread runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca
import sympy as sp

from dalembert.errors import DoesNotApply
from dalembert.graph.functions import Graph
from dalembert.graph.start import start_function
from dalembert.kernel.cuda.functions import LEAST_PIVOT, ThreadFunctions, thread_functions, why_not_a_thread
from dalembert.kernel.cuda.observe import observables
from dalembert.kernel.cuda.reals import in_chosen_precision
from dalembert.kernel.cuda.step import slope_rows, slopes_source, step_source
from dalembert.kernel.emit.explicit import dense_source, inside_source
from dalembert.kernel.emit.layout import STATE
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.limits import (
    EDGE_LEAST,
    EDGE_MOST,
    EDGE_TOLERANCES,
    EVENT_PIECES,
    INSIDE_AGAIN,
    INSIDE_TOLERANCES,
    PROJECT_LEAST_SIZE,
    PROJECT_ROUNDING,
    SINGULAR_NEAR,
)
from dalembert.methods.table import METHODS
from dalembert.methods.tableau import Nested, Tableau

if TYPE_CHECKING:
    from dalembert.model.system import System

DEVICE = Path(__file__).parent / "device"
_DIVISION = re.compile(r"= ([\w.\[\]-]+) / ([\w.\[\]-]+);")
_CONSTANT = re.compile(r"\bc\[(\d+)\]")
# Up to so many instructions of the acceleration, each stage has its own copy, and three blocks of threads run beside
# each other, for which registers suffice; longer ones take all there are.
MOST_UNROLLED, BLOCKS = 240, 3
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
    expressions: Mapping[str, sp.Expr | None] | None = None,
) -> CudaSource:
    """The source of a system; `DoesNotApply` where a thread cannot integrate it. rows and completion as for
    `kernel_source`. rolled: whether the stages of a step are a loop; None: what suits the size. expressions: see
    `observables`.
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
    names, observe = observables(system, graph, expressions)
    events = () if graph.events_use_multipliers else system.events
    hoist = Hoist()
    steps = _steps(graph, functions, hoist)
    needed = hoist.size
    looks = _looks(system, graph, observe, bool(events), hoist)
    sizes = _sizes(system, graph, rows, functions, tableau, len(names), len(events))
    constants = f"#define DA_NC (DA_LOOK ? {hoist.size} : {needed})\n"
    lists = {
        "da_position_places": [list(rows).index(row) for row in graph.position_rows],
        "da_event_direction": [int(event.direction) for event in events],
        "da_event_terminal": [int(event.terminal) for event in events],
    }
    converted = [
        _device("base.h"),
        *(f"DA_TABLE int {name}[] = {{{', '.join(map(str, items or [0]))}}};" for name, items in lists.items()),
        *steps,
        f"#if DA_LOOK\n{looks}\n#endif",
        straight_line("da_start", start_function(system), ("given",), ("y",), None, lanes=False),
        _constants(hoist, needed),
        _device("project.h"),
        step_source(tableau, rolled),
        _inside(tableau),
        *map(_device, ("control.h", "look.h", "members.h")),
    ]
    head = _header(system, names, sizes) + constants
    text = "\n".join([head, _device("precision.h"), in_chosen_precision("\n".join(converted))])
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


def _steps(graph: Graph, functions: ThreadFunctions, hoist: Hoist) -> list[str]:
    """The functions that a step needs, as C."""
    return [_function(*part, hoist) for part in functions.of_a_step(graph)]


def _looks(system: System, graph: Graph, observe: ca.Function, events: bool, hoist: Hoist) -> str:
    """Those that only samples and events need."""
    found = [_function("observe", observe, STATE, ("o",), hoist)]
    if events:
        found.append(_function("event_functions", _event_functions(graph), STATE, ("g",), hoist))
    return "\n".join(found)


def _function(
    name: str, function: ca.Function, inputs: Sequence[str], outputs: Sequence[str], hoist: Hoist | None
) -> str:
    """As C, with divisions as products, and c where `DA_AT` has it."""
    text = straight_line(f"da_{name}", function, inputs, outputs, hoist, lanes=False)
    return _CONSTANT.sub(r"c[DA_AT(\1)]", _DIVISION.sub(r"= da_over(\1, \2);", text))


def _constants(hoist: Hoist, needed: int) -> str:
    """What depends on parameters alone. Copied to where it is called: a call would put it into memory. Those that only
    samples and events need come last, and are left out without them.
    """
    text = hoist.source().replace("DA_PIECE void da_constants", "DA_FN void da_constants")
    first = f"    c[{needed}] = "
    if first in text:
        before, _, after = text.partition(first)
        text = f"{before}#if DA_LOOK\n{first}{after.rstrip().removesuffix('}')}#endif\n}}\n"
    return _CONSTANT.sub(r"c[DA_AT(\1)]", text)


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
) -> dict[str, float]:
    n = len(system.coordinates)
    nested = len(tableau.interpolant.rows) if isinstance(tableau.interpolant, Nested) else 0
    return {
        "DA_N": n,
        "DA_NE": 2 * n,
        "DA_NP": len(system.parameter_symbols),
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
        "DA_INSIDE_TOLERANCES": INSIDE_TOLERANCES,
        "DA_INSIDE_AGAIN": INSIDE_AGAIN,
        "DA_LEAST_PIVOT": LEAST_PIVOT,
        "DA_LEAST_SIZE": LEAST_SIZE,
        "DA_SINGULAR_NEAR": SINGULAR_NEAR,
        "DA_PROJECT_ROUNDING": PROJECT_ROUNDING,
        "DA_PROJECT_LEAST_SIZE": PROJECT_LEAST_SIZE,
        "DA_EDGE_TOLERANCES": EDGE_TOLERANCES,
        "DA_EDGE_LEAST": EDGE_LEAST,
        "DA_EDGE_MOST": EDGE_MOST,
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
