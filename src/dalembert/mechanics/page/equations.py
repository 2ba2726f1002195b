"""`Equations`: equations of motion in sections of lines, as a person reads them: plain text and LaTeX."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import sympy as sp

from dalembert.errors import ModelError
from dalembert.mechanics.page.decimals import decimal
from dalembert.mechanics.page.function_names import by_names
from dalembert.mechanics.page.parts import unabridged
from dalembert.mechanics.page.printing import escaped, plain
from dalembert.mechanics.page.typeset import rows as rows_of
from dalembert.model.system import System
from dalembert.results import Page


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
    """Lines under a title; `str` gives them as on the page."""

    title: str
    lines: tuple[Line, ...]

    def text(self) -> str:
        return "\n".join([self.title, *(f"  {line.text()}" for line in self.lines)])

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, kw_only=True)
class Equations(Page):
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
            lines += ["", section.text()]
        return "\n".join(lines)

    def headline(self) -> str:
        return f"{self.system.name}: {self.title}"

    def section(self, part: str) -> Section:
        """The first section whose title has this part, as the number of an equation of a paper.

        >>> import dalembert as da
        >>> print(da.library.skater().equations("transposition").section("(28)"))
        displacements, (28) and (48): Chetaev's conditions
          0 = delta x*sin(phi) - delta y*cos(phi)   [knife edge]
        """
        for section in by_names(self.sections):
            if part in section.title:
                return section
        titles = "; ".join(section.title for section in self.sections)
        raise ModelError(self.system.name, [f"no section of this page has {part!r} in its title. There are: {titles}"])

    def rows(self) -> str:
        found: list[str] = []
        for section in by_names(self.sections):
            found += [rf"&\text{{{escaped(section.title)}}}", *rows_of(section.lines)]
        return " \\\\\n".join(found)

    def to_dict(self) -> dict[str, Any]:
        sections = {section.title: [line.text() for line in section.lines] for section in by_names(self.sections)}
        return {
            "form": self.form,
            "title": self.title,
            "explicit": self.explicit,
            "reason": self.reason,
            "equations": sections,
        }


class ShownByEquations(Page):
    """A result that is read as a page of equations."""

    @abstractmethod
    def equations(self) -> Equations:
        """Everything to read, as text and LaTeX."""

    def text(self) -> str:
        return self.equations().text()

    def rows(self) -> str:
        return self.equations().rows()

    def to_dict(self) -> dict[str, Any]:
        return self.equations().to_dict()


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
