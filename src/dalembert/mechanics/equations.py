"""`equations(system, form)`: the equations of motion of a system in one of the forms that `principles` names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

from dalembert.errors import DoesNotApply, ModelError
from dalembert.mechanics.page.decimals import as_written, exactly, has_decimals
from dalembert.mechanics.page.definitions import with_definitions
from dalembert.mechanics.page.equations import Equations, conditions
from dalembert.mechanics.page.function_names import as_sympy
from dalembert.mechanics.page.parts import by_parts
from dalembert.mechanics.page.printing import lambda_of
from dalembert.mechanics.principles import formulation
from dalembert.model.friction.contact import sliding_system
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.symbols import Reaction
from dalembert.model.system import System


def equations(system: System, form: str = "fundamental", options: Mapping[str, Any] | None = None) -> Equations:
    """The equations of motion of a system in one of the `FORMS`. Options are those of the form's own `derive`; those
    that are None are not given.

    >>> import dalembert as da
    >>> x, = da.coordinates("x")
    >>> m, k = da.parameters("m k")
    >>> spring = da.System("mass and spring", coordinates=[x], kinetic=m*x.d**2/2, potential=k*x**2/2)
    >>> print(equations(spring))
    mass and spring: M q'' = Q
    <BLANKLINE>
    motion
      m*x'' = -k*x
    <BLANKLINE>
    accelerations
      x'' = -k*x/m
    """
    if system.definitions:
        return with_definitions(equations(system.expanded, form, options), system)
    principle = formulation(system, form)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    smooth = (
        system if form == "fundamental" else sliding_system(system)
    )  # the fundamental form shows contacts by itself
    reason = principle.applies(smooth)
    # What is shown as a contrast, or as a relation between displacements, can be read where it is not the motion.
    readable = getattr(principle, "CONTRAST", False) or getattr(principle, "RELATION", False)
    if reason and not readable:
        raise DoesNotApply(f"{system.name}: the form {form!r} does not apply: {reason}", reason)
    known = list(signature(principle.derive).parameters)[1:]
    for name in given:
        if name not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise ModelError(system.name, [f"the form {form!r} has no option {name!r}; {has}"])
    decimals = has_decimals(smooth)
    used = exactly(smooth) if decimals else smooth
    found = by_parts(_with_named_reactions(principle.derive(used, **given)))
    if decimals:
        found = replace(found, system=smooth, sections=as_written(found.sections))
    if system.functions or given:  # quasi-velocities may hold functions too
        found = as_sympy(found)
    if smooth is system:
        return found
    return replace(found, system=system, reason="; ".join(filter(None, [found.reason, *conditions(system)])))


def _with_named_reactions(found: Equations) -> Equations:
    """Reactions in C under the names that the page has for them, where it has."""
    names = {Reaction.of("multiplier", c.name): lambda_of(k) for k, c in enumerate(found.system.constraints)}
    lines = [line for section in found.sections for line in section.lines]
    shown = {symbol for line in lines for _, term in line.terms for symbol in symbols_in(term)}
    if not shown & set(names) or not shown & set(names.values()):
        return found
    return replace(
        found,
        sections=tuple(
            replace(section, lines=tuple(
                replace(
                    line, left=line.left.xreplace(names),
                    terms=tuple((label, term.xreplace(names)) for label, term in line.terms),
                )
                for line in section.lines
            ))
            for section in found.sections
        ),
    )  # fmt: skip
