"""Constrained mechanics: write down a system; get its equations, its motion, every force, and a certificate.

>>> import dalembert as da
>>> motion = da.library.pendulum().simulate(1.0)
>>> motion.certificate.holds
True
"""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dalembert.errors import (
    AmbiguousDerivative,
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
    from dalembert.mechanics.liberate.liberate import liberate
    from dalembert.mechanics.solve.fundamental import fundamental
    from dalembert.model.constraints import Constraint
    from dalembert.model.documents.document import dumps, load, loads
    from dalembert.model.events import Event
    from dalembert.model.friction.laws import (
        Coulomb,
        Law,
        Quadratic,
        Rolling,
        Sliding,
        Spinning,
        Stribeck,
        Viscous,
        Work,
        register_law,
    )
    from dalembert.model.language.rates import rate
    from dalembert.model.language.symbols import actual, coordinates, ideal, multiplier, parameters, t
    from dalembert.model.particles.particles import Particle, Particles
    from dalembert.model.system import System
    from dalembert.motion.result.motion import Motion

__version__ = "0.1.0"

# Loaded when first used: `import dalembert` costs nothing, and SymPy is not loaded where it is not needed.
_LAZY = {
    "Constraint": "dalembert.model.constraints",
    "Coulomb": "dalembert.model.friction.laws",
    "Event": "dalembert.model.events",
    "Law": "dalembert.model.friction.laws",
    "Motion": "dalembert.motion.result.motion",
    "Particle": "dalembert.model.particles.particles",
    "Particles": "dalembert.model.particles.particles",
    "Quadratic": "dalembert.model.friction.laws",
    "Rolling": "dalembert.model.friction.laws",
    "Sliding": "dalembert.model.friction.laws",
    "Spinning": "dalembert.model.friction.laws",
    "Stribeck": "dalembert.model.friction.laws",
    "System": "dalembert.model.system",
    "Viscous": "dalembert.model.friction.laws",
    "Work": "dalembert.model.friction.laws",
    "actual": "dalembert.model.language.symbols",
    "coordinates": "dalembert.model.language.symbols",
    "dumps": "dalembert.model.documents.document",
    "fundamental": "dalembert.mechanics.solve.fundamental",
    "ideal": "dalembert.model.language.symbols",
    "liberate": "dalembert.mechanics.liberate.liberate",
    "library": "dalembert.library",
    "load": "dalembert.model.documents.document",
    "loads": "dalembert.model.documents.document",
    "multiplier": "dalembert.model.language.symbols",
    "parameters": "dalembert.model.language.symbols",
    "rate": "dalembert.model.language.rates",
    "register_law": "dalembert.model.friction.laws",
    "t": "dalembert.model.language.symbols",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dalembert' has no attribute {name!r}")
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
    return sorted([*globals(), *_LAZY])


__all__ = [
    "AmbiguousDerivative",
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
    "Law",
    "MissingValues",
    "ModelError",
    "Motion",
    "MotionFailed",
    "OutputError",
    "Particle",
    "Particles",
    "Quadratic",
    "Rolling",
    "Sliding",
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
    "rate",
    "register_law",
    "t",
]
