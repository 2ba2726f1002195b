"""The explicit equations of motion, typeset."""

from __future__ import annotations

from dalembert.errors import DalembertError
from dalembert.mechanics.page.equations import Equations
from dalembert.mechanics.page.function_names import by_names
from dalembert.mechanics.page.typeset import abbreviated
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.equations import equation_table
from dalembert.view.report.patience import OutOfTime, within
from dalembert.view.report.section import Request, Section, left_out, left_out_of_large, note

# Lines of formulas that a person turns pages for.
MOST_LINES = 120
CALL = "system.equations()"


def equations_section(system: System, asked: Request) -> Section:
    return Section("equations", "Equations of motion", _body(system, asked))


def _body(system: System, asked: Request) -> Html:
    if is_large(system):
        return left_out_of_large("The equations", len(system.coordinates), CALL)
    try:
        return equations_block(within(asked.seconds, system.equations))
    except OutOfTime:
        return left_out("Deriving the equations", asked.seconds, CALL)
    except DalembertError as error:
        return note(f"The equations could not be derived: {error}")


def equations_block(found: Equations) -> Html:
    """All sections of a page of equations, as far as they are read."""
    parts: list[Html] = [element("p", element("code", found.title))]
    if found.reason:
        parts.append(note(f"({found.reason})"))
    room = MOST_LINES
    sections = abbreviated(by_names(found.sections))
    for section in sections:
        if room > 0:
            parts += [element("h3", section.title), equation_table(section.lines[:room])]
        room -= len(section.lines)
    if room < 0:
        total = sum(len(section.lines) for section in sections)
        parts.append(note(f"The first {MOST_LINES} of {total} lines; {CALL} gives them all."))
    return fragment(parts)
