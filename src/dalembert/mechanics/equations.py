"""`equations(system, form)`: the equations of motion as a person reads them, as text and as LaTeX.

Each form is one module, named in `FORMS` and imported when asked for; `principles` says what it offers.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, cast

import sympy as sp

from dalembert.errors import DoesNotApply, ModelError
from dalembert.mechanics.printing import escaped, latex, plain
from dalembert.model.system import System

# In the order in which they are shown; the first is what the others are compared with.
FORMS = {
    "fundamental": "dalembert.mechanics.explicit",
    "lagrange": "dalembert.mechanics.principles.lagrange",
    "liberation": "dalembert.mechanics.principles.liberation",
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

    def latex(self) -> str:
        parts = [rf"\underbrace{{{latex(term)}}}_{{{name}}}" if name else latex(term) for name, term in self.terms]
        name = rf" && \text{{{escaped(self.label)}}}" if self.label else ""
        return f"{latex(self.left)} &= {' + '.join(parts)}{name}"


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
    """

    system: System
    form: str
    explicit: bool
    reason: str
    title: str
    sections: tuple[Section, ...]

    def text(self) -> str:
        lines = [f"{self.system.name}: {self.title}"]
        if self.reason:
            lines.append(f"({self.reason})")
        for section in self.sections:
            lines += ["", section.title, *(f"  {line.text()}" for line in section.lines)]
        return "\n".join(lines)

    def latex(self) -> str:
        """An `align*` environment of amsmath."""
        return f"\\begin{{align*}}\n{self._rows()}\n\\end{{align*}}"

    def _repr_latex_(self) -> str:
        return f"$$\\begin{{aligned}}\n{self._rows()}\n\\end{{aligned}}$$"

    def _rows(self) -> str:
        rows = []
        for section in self.sections:
            rows += [rf"&\text{{{escaped(section.title)}}}", *(line.latex() for line in section.lines)]
        return " \\\\\n".join(rows)

    def to_dict(self) -> dict[str, Any]:
        """All of it as texts, ready for JSON."""
        sections = {section.title: [line.text() for line in section.lines] for section in self.sections}
        return {
            "form": self.form,
            "title": self.title,
            "explicit": self.explicit,
            "reason": self.reason,
            "equations": sections,
        }

    def __str__(self) -> str:
        return self.text()


def equations(system: System, form: str = "fundamental") -> Equations:
    """The equations of motion of a system in one of the `FORMS`.

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
    reason = module.applies(system)
    if reason:
        raise DoesNotApply(f"{system.name}: the form {form!r} does not apply: {reason}")
    return cast(Equations, module.derive(system))


def formulation(system: System, form: str) -> ModuleType:
    """The module of a form; an unknown one is an error that lists those there are."""
    if form not in FORMS:
        raise ModelError(
            system.name,
            [f"there is no form {form!r} of the equations; available: {', '.join(FORMS)}"],
        )
    return import_module(FORMS[form])
