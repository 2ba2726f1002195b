"""One file per principle of mechanics. Each derives the motion in its own way, from the model and not from another
principle, so that their agreement is a check on all of them.

Every module offers

    applies(system) -> str              "" where the principle holds for the system, else why not
    derive(system) -> Equations         its equations as a person reads them; more arguments are its options
    prepare(system, sampler) -> Solver  its numbers: (state, C) -> Answer, see `formulation`
    state_size(system) -> int           how many first-order variables its equations of motion have

and is named in `FORMS` below. A module with CONTRAST = True is shown beside the motion where `applies` says that it
is not the motion; one with RELATION = True says nothing about the motion. Both can be read (`derive`) all the same.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from dalembert.errors import ModelError
from dalembert.model.language.parse import suggest
from dalembert.model.system import System

# In the order in which they are shown; the first is what the others are compared with.
FORMS = {
    "fundamental": "dalembert.mechanics.explicit.explicit",
    "lagrange": "dalembert.mechanics.principles.lagrange",
    "gauss": "dalembert.mechanics.principles.gauss",
    "appell": "dalembert.mechanics.principles.appell",
    "kane": "dalembert.mechanics.principles.kane",
    "hamilton": "dalembert.mechanics.principles.hamilton",
    "routh": "dalembert.mechanics.principles.routh",
    "hertz": "dalembert.mechanics.principles.hertz",
    "action": "dalembert.mechanics.principles.action",
    "maupertuis": "dalembert.mechanics.principles.maupertuis",
    "liberation": "dalembert.mechanics.principles.liberation",
    "vakonomic": "dalembert.mechanics.principles.vakonomic",
    "transposition": "dalembert.mechanics.principles.transposition",
}


def formulation(system: System, form: str) -> ModuleType:
    """The module of a form; an unknown one is an error that lists those there are."""
    if form not in FORMS:
        raise ModelError(system.name, [f"there is no form {form!r} of the equations.{suggest(form, FORMS)}"])
    return import_module(FORMS[form])
