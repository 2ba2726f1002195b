"""The runtime of kernels, compiled once for all models: sizes are asked of the model, its functions are tapes.

The headers are those of the kernels of single models (see runtime/base/layout.h); methods are those of the table, but
series, which need code of the model.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

from dalembert.kernel.emit.dispatch import dispatch, sizes, steppers
from dalembert.kernel.emit.layout import (
    ACTUAL,
    AT_A_STATE,
    BASE,
    BY_VALUE,
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
from dalembert.kernel.package_digest import table_text
from dalembert.kernel.ready import library
from dalembert.methods.table import METHODS, Method

# What `model_sizes` and `model_lists` of emit/source.py say, in the order in which a model has it; then what belongs to
# its tapes, and whether it has the slopes that implicit methods need.
SIZES = (
    "DA_N",
    "DA_M",
    "DA_NP",
    "DA_NE",
    "DA_NG",
    "DA_KINKS",
    "DA_SWITCHED",
    "DA_NY",
    "DA_HEATS",
    "DA_BY_FRICTION",
    "DA_FAST_ROWS",
    "DA_FACTORS",
    "DA_LARGE",
    "DA_POSITION_ROWS",
    "DA_VELOCITY_ROWS",
    "DA_LINEAR_RATES",
    "DA_SINGULAR_MASS",
    "DA_NONLINEAR",
    "DA_HAS_WORK",
    "DA_USES_IDEAL",
    "DA_USES_ACTUAL",
    "DA_EVENT_MULTIPLIERS",
    "DA_STRAIGHT_MULTIPLIERS",
    "DA_STRAIGHT",
    "DA_WATCHED",
    "DA_NC",
    "DA_STIFF",
    "DA_INSTRUCTIONS",
)
LISTS = ("da_fast_rows", "da_position_rows", "da_nonlinear_rows", "da_friction_rows")
TAPES = tuple(OUTPUTS)
MOST = max(len(names) for names in (*INPUTS.values(), *OUTPUTS.values()))


# Level 2 takes twice the time to compile, and joins what belongs to several instructions of a tape: long ones then take
# half as long again. The flag gives each instruction its own jump to the next.
LEVEL, FLAGS = 1, ("-fexpensive-optimizations",)
TABLE = table_text()  # as the package has it
PREBUILT = library.PREBUILT.with_name(f"libruntime{library.PREBUILT.suffix}")


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    return library.load(source, PREBUILT, LEVEL, FLAGS)


def runtime_library() -> ctypes.CDLL | None:
    """The library; None where there is none and no compiler to make it, and where the table of methods was changed:
    for some methods of one process, kernels of single models do.
    """
    return _library() if table_text() == TABLE else None


def source() -> str:
    """All of it as one C source."""
    base = ("library.h", "../../runtime/base/base.h", "../../runtime/base/elementary.h", "tape.h", "tape_make.h")
    head = [sizes_text(), library.operations_macro(), *map(library.file_text, (*base, "model.h"))]
    return "\n".join([*head, *runtime_parts(), library.file_text("entry.h")])


def methods_by_tape() -> list[Method]:
    """Methods that need no code of the model."""
    return [m for m in METHODS.values() if m.code is not None and not m.series]


def sizes_text() -> str:
    """Macros: what a kernel knows of its one model is asked of the model at hand."""
    fixed = {name: value for name, value in sizes(methods_by_tape()).items() if name not in ("DA_STIFF", "DA_TAYLOR")}
    macros: dict[str, object] = {**limit_macros(), **fixed, "DA_TAPES": len(TAPES), "DA_TAPE_MOST": MOST}
    macros |= {name: f"(da_now->size[{k}])" for k, name in enumerate(SIZES)}
    macros |= {name: f"(da_now->rows[{k}])" for k, name in enumerate(LISTS)}
    return "\n".join(["#define DA_GENERIC", *(f"#define {name} {value}" for name, value in macros.items())]) + "\n"


def runtime_parts() -> list[str]:
    """What follows on the tapes and the model: their functions, and the runtime as in any kernel."""
    methods = methods_by_tape()
    headers = [method.header for method in methods if method.header is not None]
    base = [name for name in BASE if name not in ("base/base.h", "base/elementary.h")]
    return [
        *(_call(k, name) for k, name in enumerate(TAPES)),
        *map(runtime_text, (*base, *AT_A_STATE)),
        steppers(methods),
        *map(runtime_text, (*WATCH, *NONLINEAR, *MULTIPLIERS, *ACTUAL, *headers)),
        dispatch(methods),
        *map(runtime_text, (*INSIDE, *RUN)),
    ]


def _call(which: int, name: str) -> str:
    """A function of the model as the runtime calls it, evaluated by its tape."""
    inputs = ["c" if i == "p" else i for i in INPUTS.get(name, STATE)]
    outputs = OUTPUTS[name]
    parameters = [f"double {i}" if i in BY_VALUE else f"const double *{i}" for i in inputs]
    parameters += [f"double *{o}" for o in outputs]
    puts = "".join(
        f"    into = da_put_in(into, {'&' if i in BY_VALUE else ''}{i}, da_now->input[{which}][{k}]);\n"
        for k, i in enumerate(inputs)
        if i != "c"
    )
    takes = "".join(
        f"    made = da_take_out(made, {o}, da_now->output[{which}][{k}]);\n" for k, o in enumerate(outputs)
    )
    return (
        f"DA_FN void da_{name}({', '.join(parameters)})\n{{\n    const da_tape *tape = da_now->tape + {which};\n"
        f"    double *numbers = da_numbers({which}, c), *into = numbers + tape->inputs_at;\n{puts}    (void)into;\n"
        f"    da_tape_go(tape->live, numbers);\n    const double *made = numbers + tape->outputs_at;\n{takes}"
        "    (void)made;\n}\n"
    )
