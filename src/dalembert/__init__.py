"""Constrained mechanics: write down a system; get its equations, its motion, every force, and a certificate.

>>> import dalembert as da
>>> motion = da.library.pendulum().simulate(1.0)
>>> motion.certificate.holds
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dalembert.errors import (
    BranchError,
    BuildError,
    DalembertError,
    DocumentError,
    ExpressionError,
    InconsistentConstraints,
    InconsistentState,
    MissingValues,
    ModelError,
    MotionFailed,
    OutputError,
    UndefinedModel,
    UndeterminedMotion,
)
from dalembert.model.constraints import Constraint
from dalembert.model.document import dumps, load, loads
from dalembert.model.events import Event
from dalembert.model.laws import Work
from dalembert.model.symbols import actual, coordinates, ideal, parameters, t
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert import library
    from dalembert.mechanics.fundamental import fundamental
    from dalembert.motion.motion import Motion

__version__ = "0.1.0"

# Loaded when first used, so that `import dalembert` stays quick.
_LAZY = {
    "fundamental": "dalembert.mechanics.fundamental",
    "Motion": "dalembert.motion.motion",
    "library": "dalembert.library",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dalembert' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if name == "library" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])


__all__ = [
    "BranchError",
    "BuildError",
    "Constraint",
    "DalembertError",
    "DocumentError",
    "Event",
    "ExpressionError",
    "InconsistentConstraints",
    "InconsistentState",
    "MissingValues",
    "ModelError",
    "Motion",
    "MotionFailed",
    "OutputError",
    "System",
    "UndefinedModel",
    "UndeterminedMotion",
    "Work",
    "actual",
    "coordinates",
    "dumps",
    "fundamental",
    "ideal",
    "library",
    "load",
    "loads",
    "parameters",
    "t",
]
