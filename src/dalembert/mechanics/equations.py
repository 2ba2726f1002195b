"""`equations(system, form)`: the equations of motion as a person reads them, as text and as LaTeX.

Each form is one module, named in `FORMS` and imported when asked for; `principles` says what it offers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from inspect import signature
from types import ModuleType
from typing import Any, cast

import sympy as sp

from dalembert.errors import DoesNotApply, ModelError
from dalembert.mechanics.decimals import as_written, decimal, exactly, has_decimals
from dalembert.mechanics.function_names import as_sympy, by_names
from dalembert.mechanics.parts import by_parts, unabridged
from dalembert.mechanics.printing import escaped, lambda_of, plain
from dalembert.mechanics.typeset import rows
from dalembert.model.contact import sliding
from dalembert.model.parse import suggest
from dalembert.model.symbols import Reaction
from dalembert.model.system import System

# In the order in which they are shown; the first is what the others are compared with.
FORMS = {
    "fundamental": "dalembert.mechanics.explicit",
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


@dataclass(frozen=True)
class Line:
    """left = Σ terms. The terms are kept apart: each has a label (LaTeX) that says what it is, or none."""

    left: sp.Expr
    terms: tuple[tuple[str, sp.Expr], ...]
    label: str = ""

    def text(self) -> str:
        parts = [plain(term) for _, term in self.terms]
        if len(parts) > 1:
            bare = [term.is_Atom or (not term.is_Add and not term.could_extract_minus_sign()) for _, term in self.terms]
            parts = [part if alone else f"({part})" for part, alone in zip(parts, bare, strict=True)]
        name = f"   [{self.label}]" if self.label else ""
        return f"{plain(self.left)} = {' + '.join(parts)}{name}"


@dataclass(frozen=True)
class Section:
    """Lines under a title."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class Equations:
    """Equations of motion of `system` in the form named `form`.

    `explicit` says whether they give the accelerations in closed form; if not, `reason` says why. `str` gives
    plain text, `latex` an `align*` environment; in a notebook they show themselves typeset.

    Long equations are shown by named parts: `parts` gives the names, in the order in which they are made of each other,
    and `unabridged` puts them back.
    """

    system: System
    form: str
    explicit: bool
    reason: str
    title: str
    sections: tuple[Section, ...]
    parts: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()

    def unabridged(self, expression: sp.Expr) -> sp.Expr:
        """An expression with the named parts in it written out."""
        return unabridged(expression, dict(self.parts))

    def text(self) -> str:
        lines = [f"{self.system.name}: {self.title}"]
        if self.reason:
            lines.append(f"({self.reason})")
        for section in by_names(self.sections):
            lines += ["", section.title, *(f"  {line.text()}" for line in section.lines)]
        return "\n".join(lines)

    def latex(self) -> str:
        """An `align*` environment of amsmath."""
        return f"\\begin{{align*}}\n{self._rows()}\n\\end{{align*}}"

    def _repr_latex_(self) -> str:
        return f"$$\\begin{{aligned}}\n{self._rows()}\n\\end{{aligned}}$$"

    def _rows(self) -> str:
        found: list[str] = []
        for section in by_names(self.sections):
            found += [rf"&\text{{{escaped(section.title)}}}", *rows(section.lines)]
        return " \\\\\n".join(found)

    def to_dict(self) -> dict[str, Any]:
        """All of it as texts, ready for JSON."""
        sections = {section.title: [line.text() for line in section.lines] for section in by_names(self.sections)}
        return {
            "form": self.form,
            "title": self.title,
            "explicit": self.explicit,
            "reason": self.reason,
            "equations": sections,
        }

    def __str__(self) -> str:
        return self.text()


def equations(system: System, form: str = "fundamental", **options: Any) -> Equations:
    """The equations of motion of a system in one of the `FORMS`. Options are those of the form's own `derive`.

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
    module = formulation(system, form)
    smooth = system if form == "fundamental" else sliding(system)  # the fundamental form shows contacts by itself
    reason = module.applies(smooth)
    # What is shown as a contrast, or as a relation between displacements, can be read where it is not the motion.
    readable = getattr(module, "CONTRAST", False) or getattr(module, "RELATION", False)
    if reason and not readable:
        raise DoesNotApply(f"{system.name}: the form {form!r} does not apply: {reason}", reason)
    known = list(signature(module.derive).parameters)[1:]
    for name in options:
        if name not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise ModelError(system.name, [f"the form {form!r} has no option {name!r}; {has}"])
    decimals = has_decimals(smooth)
    used = exactly(smooth) if decimals else smooth
    found = by_parts(_named(cast(Equations, module.derive(used, **options))))
    if decimals:
        found = replace(found, system=smooth, sections=as_written(found.sections))
    if system.functions or options:  # quasi-velocities may hold functions too
        found = as_sympy(found)
    if smooth is system:
        return found
    return replace(found, system=system, reason="; ".join(filter(None, [found.reason, *conditions(system)])))


def _named(found: Equations) -> Equations:
    """Reactions in C under the names that the page has for them, where it has."""
    names = {Reaction.of("multiplier", c.name): lambda_of(k) for k, c in enumerate(found.system.constraints)}
    lines = [line for section in found.sections for line in section.lines]
    shown = {symbol for line in lines for _, term in line.terms for symbol in term.free_symbols}
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


def conditions(system: System) -> list[str]:
    """When the equations hold: dry friction is shown sliding, one-sided constraints closed."""
    notes = [
        f"dry friction {contact.name!r} is shown sliding; it sticks where the sliding velocity is zero and a force "
        f"of at most {plain(decimal(contact.mu_static))} times the reaction holds it"
        for contact in system.contacts
    ]
    notes += [
        f"{constraint.name!r} is one-sided: shown while it holds, which is while its multiplier is not negative"
        for constraint in system.constraints
        if constraint.one_sided
    ]
    return notes


def formulation(system: System, form: str) -> ModuleType:
    """The module of a form; an unknown one is an error that lists those there are."""
    if form not in FORMS:
        raise ModelError(
            system.name,
            [f"there is no form {form!r} of the equations.{suggest(form, FORMS)}"],
        )
    return import_module(FORMS[form])
