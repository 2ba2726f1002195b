"""What every kernel is put together from: the headers of the runtime in their order, and the functions that a runtime
calls of a model, with their inputs and outputs.

Nothing here needs CasADi, so that the libraries that serve every model can be compiled without it.
"""

from __future__ import annotations

from pathlib import Path

from dalembert.kernel.limits import LIMITS

RUNTIME = Path(__file__).parents[1] / "runtime"
# In the order of the source: what comes before the functions of a model, what follows on them, …
BASE = ("base/base.h", "base/layout.h", "base/elementary.h", "base/context.h")
AT_A_STATE = ("state/lu.h", "state/weak.h", "state/robust.h", "state/fading.h", "state/project.h")
WATCH = ("watch/stiffness.h", "watch/singular.h")
NONLINEAR, MULTIPLIERS, ACTUAL = ("state/branch.h",), ("state/multipliers.h",), ("state/actual.h",)
# … and what comes after the methods.
INSIDE = ("steps/dense.h", "events/sample.h", "events/locate.h", "events/passages.h", "events/kinks.h")
RUN = tuple(f"run/{name}.h" for name in ("pace", "settle", "control", "run", "edge", "step", "turn", "bounce"))
RUN += ("run/inside.h", "run/report.h")
RUN += ("run/integrate.h", "run/block.h", "run/asked_of_members.h", "run/members.h")
STATE = ("q", "v", "t", "p")
INPUTS = {
    "work": (*STATE, "fi"),
    "work_of_actual": (*STATE, "fi", "fa", "l"),
    "acceleration": ("q", "v", "a", "t", "p", "k"),
    "heat_of_actual": (*STATE, "l"),
    "factor": (*STATE, "weight"),
    "backsolve": ("p", "F", "r"),
    "events": (*STATE, "s"),
    "events_of_multipliers": (*STATE, "s", "l", "k"),
    "rest": (*STATE, "x", "f"),
}
OUTPUTS = {
    "fast": ("a", "power", "pivot", "size"),
    "dynamics": ("M", "Q", "A", "b"),
    "work": ("C",),
    "work_of_actual": ("C", "by_force", "by_multipliers"),
    "acceleration": ("h", "J", "H"),
    "energetics": ("F", "power"),
    "heat": ("power",),
    "heat_of_actual": ("power",),
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
    "events_of_multipliers": ("g", "scale"),
}
# Those that the robust path alone calls.
COLD = ("dynamics", "work", "work_of_actual", "energetics", "heat", "heat_of_actual", "position", "velocity")
# Inputs that are numbers, not arrays.
BY_VALUE = ("t", "weight")


def runtime_text(name: str) -> str:
    return (RUNTIME / name).read_text(encoding="utf-8")


def limit_macros() -> dict[str, float]:
    """Numbers of both backends, as C knows them."""
    return {f"DA_{name}": value for name, value in LIMITS.items()}
