"""What a classification says of functions without an expression, and what it may be for special ones.

Zero for a random stand-in is zero for every function. What is not zero may be for some, so that constraints found not
to be integrable are looked at again with stand-ins that are linear and constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from dalembert.errors import ModelError
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.language.functions import functions_in
from dalembert.model.language.stand_ins import KINDS, stood_in
from dalembert.model.specify_functions import map_expressions
from dalembert.model.system import System


def exceptions(
    system: System, integrable: Mapping[str, bool | None], decide: Callable[[Sampler], Mapping[str, bool | None]]
) -> dict[str, str]:
    """Constraints that are not integrable for general functions but for special ones, with the words for these.
    `decide` says what is integrable in the system of a sampler.
    """
    names = list(functions_in(c.expression for c in system.constraints))
    open_ = [name for name, verdict in integrable.items() if verdict is False]
    found: dict[str, str] = {}
    if not names or not open_:
        return found
    are = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
    for kind in KINDS[1:]:
        try:
            special = system.replace(**map_expressions(system, partial(stood_in, kind=kind)))
        except ModelError:
            continue  # a constraint that such functions leave nothing of
        again = decide(Sampler(standard_form(special)))
        found |= {name: f"{are} {kind}" for name in open_ if name not in found and again.get(name)}
    return found


def caution(system: System) -> list[str]:
    """Words for what a classification of such a system leaves open."""
    if not system.functions:
        return []
    names = ", ".join(system.functions)
    return [
        f"said of general {names}: special functions may make more integrable, conserved or redundant; what is found "
        "integrable or conserved here is so for all"
    ]
