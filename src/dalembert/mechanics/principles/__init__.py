"""One file per principle of mechanics. Each derives the motion in its own way, from the model and not from another
principle, so that their agreement is a check on all of them.

Every module is a `Principle` and named in `FORMS`, below. A module with CONTRAST = True is shown beside the motion
where `applies` says that it is not the motion; one with RELATION = True says nothing about the motion. Both can be read
(`derive`) all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.page.equations import Equations
    from dalembert.mechanics.principles.shared.formulation import Solver
    from dalembert.mechanics.sample import Sampler


@runtime_checkable
class Principle(Protocol):
    """What a principle of mechanics offers: a module with these functions. The fundamental equation, which the others
    are compared with, has `applies` and `derive` only: its numbers are those of motions.
    """

    def applies(self, system: System, /) -> str:
        """Empty where the principle holds for the system, else why not."""

    # Equations as a person reads them, of a system; more arguments are options of the principle.
    derive: Callable[..., Equations]

    def prepare(self, system: System, sampler: Sampler, /) -> Solver:
        """Its numbers: (state, C) -> Answer, see `shared.formulation`."""

    def state_size(self, system: System, /) -> int:
        """How many first-order variables its equations of motion have."""


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


def formulation(system: System, form: str) -> Principle:
    """The module of a form; an unknown one is an error that lists those there are."""
    if form not in FORMS:
        raise ModelError(system.name, [f"there is no form {form!r} of the equations.{suggest(form, FORMS)}"])
    return cast(Principle, import_module(FORMS[form]))
