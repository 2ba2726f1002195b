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
    AmbiguousDerivative,
    BranchError,
    BuildError,
    ClusterError,
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
    from dalembert.ensemble.result.ensemble import Ensemble
    from dalembert.mechanics.classify.conserve import Conservation, Conserved
    from dalembert.mechanics.classify.result import Classification
    from dalembert.mechanics.liberate.liberate import Liberation, liberate
    from dalembert.mechanics.liberate.steps import Steps
    from dalembert.mechanics.page.equations import Equations
    from dalembert.mechanics.principles import Principle
    from dalembert.mechanics.solve.fundamental import Fundamental, fundamental
    from dalembert.model.constraints import Constraint
    from dalembert.model.documents.document import load, loads
    from dalembert.model.documents.write_document import dumps
    from dalembert.model.drawings.shapes import (
        Arrow,
        Box,
        Curve,
        Disk,
        Mesh,
        Plane,
        Point,
        Rod,
        Sphere,
        Spring,
        Trace,
    )
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
    from dalembert.model.language.symbols import (
        actual,
        coordinates,
        definitions,
        ideal,
        multiplier,
        parameters,
        t,
    )
    from dalembert.model.particles.particles import Particle, Particles
    from dalembert.model.system import System
    from dalembert.motion.contacts.impacts.impacts import Impact
    from dalembert.motion.instant import Instant
    from dalembert.motion.prepare import Prepared
    from dalembert.motion.result.certificate import Certificate
    from dalembert.motion.result.motion import Motion
    from dalembert.motion.run import Run
    from dalembert.motion.state.state import State
    from dalembert.results import Result
    from dalembert.statics.result import Equilibria, Equilibrium, Range
    from dalembert.study.between import Passage
    from dalembert.study.compare import Comparison
    from dalembert.study.displacements import Displacements
    from dalembert.study.gauss_picture import GaussPicture
    from dalembert.study.path import Path
    from dalembert.study.reduced import ReducedSystem
    from dalembert.study.vakonomic import Parting, VakonomicMotion

__version__ = "0.1.0"

# Loaded when first used: `import dalembert` costs nothing, and SymPy is not loaded where it is not needed.
_LAZY = {
    "Arrow": "dalembert.model.drawings.shapes",
    "Box": "dalembert.model.drawings.shapes",
    "Certificate": "dalembert.motion.result.certificate",
    "Classification": "dalembert.mechanics.classify.result",
    "Comparison": "dalembert.study.compare",
    "Conservation": "dalembert.mechanics.classify.conserve",
    "Conserved": "dalembert.mechanics.classify.conserve",
    "Constraint": "dalembert.model.constraints",
    "Coulomb": "dalembert.model.friction.laws",
    "Curve": "dalembert.model.drawings.shapes",
    "Disk": "dalembert.model.drawings.shapes",
    "Displacements": "dalembert.study.displacements",
    "Ensemble": "dalembert.ensemble.result.ensemble",
    "Equations": "dalembert.mechanics.page.equations",
    "Equilibria": "dalembert.statics.result",
    "Equilibrium": "dalembert.statics.result",
    "Event": "dalembert.model.events",
    "Fundamental": "dalembert.mechanics.solve.fundamental",
    "GaussPicture": "dalembert.study.gauss_picture",
    "Impact": "dalembert.motion.contacts.impacts.impacts",
    "Instant": "dalembert.motion.instant",
    "Liberation": "dalembert.mechanics.liberate.liberate",
    "Law": "dalembert.model.friction.laws",
    "Mesh": "dalembert.model.drawings.shapes",
    "Motion": "dalembert.motion.result.motion",
    "Particle": "dalembert.model.particles.particles",
    "Particles": "dalembert.model.particles.particles",
    "Parting": "dalembert.study.vakonomic",
    "Passage": "dalembert.study.between",
    "Path": "dalembert.study.path",
    "Plane": "dalembert.model.drawings.shapes",
    "Point": "dalembert.model.drawings.shapes",
    "Prepared": "dalembert.motion.prepare",
    "Principle": "dalembert.mechanics.principles",
    "Quadratic": "dalembert.model.friction.laws",
    "Range": "dalembert.statics.result",
    "ReducedSystem": "dalembert.study.reduced",
    "Result": "dalembert.results",
    "Rod": "dalembert.model.drawings.shapes",
    "Rolling": "dalembert.model.friction.laws",
    "Run": "dalembert.motion.run",
    "Sliding": "dalembert.model.friction.laws",
    "Sphere": "dalembert.model.drawings.shapes",
    "Spinning": "dalembert.model.friction.laws",
    "Spring": "dalembert.model.drawings.shapes",
    "State": "dalembert.motion.state.state",
    "Steps": "dalembert.mechanics.liberate.steps",
    "Stribeck": "dalembert.model.friction.laws",
    "System": "dalembert.model.system",
    "Trace": "dalembert.model.drawings.shapes",
    "VakonomicMotion": "dalembert.study.vakonomic",
    "Viscous": "dalembert.model.friction.laws",
    "Work": "dalembert.model.friction.laws",
    "actual": "dalembert.model.language.symbols",
    "coordinates": "dalembert.model.language.symbols",
    "definitions": "dalembert.model.language.symbols",
    "dumps": "dalembert.model.documents.write_document",
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
    "AmbiguousDerivative",
    "Arrow",
    "Box",
    "BranchError",
    "BuildError",
    "Certificate",
    "Classification",
    "ClusterError",
    "Comparison",
    "Conservation",
    "Conserved",
    "Constraint",
    "Coulomb",
    "Curve",
    "DalembertError",
    "Disk",
    "Displacements",
    "DocumentError",
    "DoesNotApply",
    "Ensemble",
    "Equations",
    "Equilibria",
    "Equilibrium",
    "Event",
    "ExpressionError",
    "Fundamental",
    "GaussPicture",
    "Impact",
    "InconsistentConstraints",
    "InconsistentState",
    "Instant",
    "Law",
    "Liberation",
    "Mesh",
    "MissingValues",
    "ModelError",
    "Motion",
    "MotionFailed",
    "OutputError",
    "Particle",
    "Particles",
    "Parting",
    "Passage",
    "Path",
    "Plane",
    "Point",
    "Prepared",
    "Principle",
    "Quadratic",
    "Range",
    "ReducedSystem",
    "Result",
    "Rod",
    "Rolling",
    "Run",
    "Sliding",
    "Sphere",
    "Spinning",
    "Spring",
    "State",
    "Steps",
    "Stribeck",
    "System",
    "Trace",
    "UndefinedModel",
    "UndeterminedMotion",
    "VakonomicMotion",
    "Viscous",
    "Work",
    "actual",
    "coordinates",
    "definitions",
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
