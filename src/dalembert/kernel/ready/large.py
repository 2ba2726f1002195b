"""The runtime of large systems: the steps of every kernel, around programs of loops.

Compiled once for all: sizes are asked of the system at hand. Explicit methods only, without events.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

from dalembert.kernel.emit.dispatch import dispatch, sizes, steppers
from dalembert.kernel.emit.layout import BASE, INSIDE, RUN, WATCH, limit_macros, runtime_text
from dalembert.kernel.package_digest import table_text
from dalembert.kernel.ready import library
from dalembert.methods.table import METHODS, Method

LEVEL = 2
TABLE = table_text()  # as the package has it
PREBUILT = library.PREBUILT.with_name(f"liblarge{library.PREBUILT.suffix}")
WORKS = 3  # numbers of a state after positions and velocities: works of impressed and ideal forces, 0

# What a kernel knows of its one model, of a large system: what it has none of is 0.
_SIZES = {"DA_N": "((int)da_now->coordinates)", "DA_NE": "(2 * DA_N)", "DA_NY": f"(2 * DA_N + {WORKS})"}
_SIZES |= dict.fromkeys(("DA_M", "DA_NP", "DA_NG", "DA_NC", "DA_FAST_ROWS", "DA_NONLINEAR", "DA_HEATS"), "0")
_SIZES |= {"DA_WATCHED": "((int)da_now->watched)", "DA_INSTRUCTIONS": "0"}
# Parts of the runtime that belong to events, or to the state of small systems.
_LEFT_OUT = {f"run/{name}.h" for name in ("settle", "edge", "turn", "bounce", "block", "asked_of_members", "members")}
_LEFT_OUT |= {f"events/{name}.h" for name in ("locate", "passages", "kinks")}


def methods() -> list[Method]:
    return [m for m in METHODS.values() if m.code is not None and m.tableau is not None]


def source() -> str:
    """All of it as one C source."""
    macros = {**limit_macros(), **sizes(methods()), **_SIZES}
    head = ["#define DA_GENERIC", "#define DA_OF_LARGE_SYSTEMS", *(f"#define {k} {v}" for k, v in macros.items())]
    *base, context = BASE
    parts = [
        library.operations_macro(),
        library.file_text("library.h"),
        *map(runtime_text, base),
        *map(library.file_text, ("multipliers.h", "table_steps.h", "table_run.h", "large_system.h")),
        runtime_text(context),
        library.file_text("large_state.h"),
        steppers(methods()),
        *map(runtime_text, WATCH),
        dispatch(methods()),
        *(runtime_text(name) for name in (*INSIDE, *RUN) if name not in _LEFT_OUT),
        library.file_text("large_entry.h"),
    ]
    return "\n".join([*head, *parts])


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    return library.load(source, PREBUILT, LEVEL)


def large_library() -> ctypes.CDLL | None:
    """As `runtime_library`."""
    return _library() if table_text() == TABLE else None


class Program(ctypes.Structure):
    """da_program of c/large_system.h: a function of loops and its table."""

    _fields_ = (("run", ctypes.c_void_p), ("table", ctypes.c_void_p))


class Way(ctypes.Structure):
    """da_way there."""

    _fields_ = (
        *((name, Program) for name in ("plain", "forward", "back")),
        *((name, ctypes.c_void_p) for name in ("plain_w", "condensed_w")),
        *((name, ctypes.c_long) for name in ("plain_unknowns", "condensed_unknowns")),
        *((name, ctypes.c_void_p) for name in ("pivots", "rows", "cleared")),
        *((name, ctypes.c_long) for name in ("pivot_count", "watched_count", "cleared_count")),
        *((name, ctypes.c_void_p) for name in ("multipliers", "natural", "missed")),
        ("apart", ctypes.c_long),
    )


class LargeSystem(ctypes.Structure):
    """da_large there."""

    _fields_ = (
        *((name, Way) for name in ("accelerations", "positions", "velocities")),
        ("sums", Program),
        *((name, ctypes.c_void_p) for name in ("sums_w", "on_rates", "forces", "pushed", "reach", "independent")),
        *((name, ctypes.c_long) for name in ("coordinates", "quantities", "constraints", "watched", "works")),
        *((name, ctypes.c_long) for name in ("on_rates_count", "force_count", "power", "sums_quantities", "lacking")),
    )
