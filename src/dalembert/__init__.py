"""Constrained mechanics: write down a system; get its equations, its motion, every force, and a certificate.

>>> import dalembert as da
>>> motion = da.library.pendulum().simulate(1.0)
>>> motion.certificate.holds
True
"""

from __future__ import annotations

import gc
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dalembert.errors import (
    BranchError,
    BuildError,
    DalembertError,
    DocumentError,
    DoesNotApply,
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

if TYPE_CHECKING:
    from dalembert import library
    from dalembert.mechanics.fundamental import fundamental
    from dalembert.mechanics.liberate import liberate
    from dalembert.model.constraints import Constraint
    from dalembert.model.document import dumps, load, loads
    from dalembert.model.events import Event
    from dalembert.model.laws import Coulomb, Quadratic, Rolling, Spinning, Stribeck, Viscous, Work
    from dalembert.model.particles import Particle, Particles
    from dalembert.model.symbols import actual, coordinates, ideal, multiplier, parameters, t
    from dalembert.model.system import System
    from dalembert.motion.motion import Motion

__version__ = "0.1.0"

# Loaded when first used: `import dalembert` costs nothing, and SymPy is not loaded where it is not needed.
_LAZY = {
    "Constraint": "dalembert.model.constraints",
    "Coulomb": "dalembert.model.laws",
    "Event": "dalembert.model.events",
    "Motion": "dalembert.motion.motion",
    "Particle": "dalembert.model.particles",
    "Particles": "dalembert.model.particles",
    "Quadratic": "dalembert.model.laws",
    "Rolling": "dalembert.model.laws",
    "Spinning": "dalembert.model.laws",
    "Stribeck": "dalembert.model.laws",
    "System": "dalembert.model.system",
    "Viscous": "dalembert.model.laws",
    "Work": "dalembert.model.laws",
    "actual": "dalembert.model.symbols",
    "coordinates": "dalembert.model.symbols",
    "dumps": "dalembert.model.document",
    "fundamental": "dalembert.mechanics.fundamental",
    "ideal": "dalembert.model.symbols",
    "liberate": "dalembert.mechanics.liberate",
    "library": "dalembert.library",
    "load": "dalembert.model.document",
    "loads": "dalembert.model.document",
    "multiplier": "dalembert.model.symbols",
    "parameters": "dalembert.model.symbols",
    "t": "dalembert.model.symbols",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        close = [] if name.startswith("_") else get_close_matches(name, __all__, n=1)
        meant = f". Did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"module 'dalembert' has no attribute {name!r}{meant}")
    module = _load(_LAZY[name])
    value = module if name == "library" else getattr(module, name)
    globals()[name] = value
    return value


def _load(name: str) -> ModuleType:
    """Import a module without collecting garbage meanwhile.

    SymPy comes with some hundred thousand objects that stay. Looking through them again and again while they come takes
    a fifth of the time. Freezing and thawing leaves them where such objects end up, among the old ones.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if collecting:
            if gc.get_freeze_count() == 0:  # what someone else froze stays frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def __dir__() -> list[str]:
    """The names that are meant for users, and no module that happens to be loaded."""
    return sorted([*__all__, "__version__"])


__all__ = [
    "BranchError",
    "BuildError",
    "Constraint",
    "Coulomb",
    "DalembertError",
    "DocumentError",
    "DoesNotApply",
    "Event",
    "ExpressionError",
    "InconsistentConstraints",
    "InconsistentState",
    "MissingValues",
    "ModelError",
    "Motion",
    "MotionFailed",
    "OutputError",
    "Particle",
    "Particles",
    "Quadratic",
    "Rolling",
    "Spinning",
    "Stribeck",
    "System",
    "UndefinedModel",
    "UndeterminedMotion",
    "Viscous",
    "Work",
    "actual",
    "coordinates",
    "dumps",
    "fundamental",
    "ideal",
    "liberate",
    "library",
    "load",
    "loads",
    "multiplier",
    "parameters",
    "t",
]
