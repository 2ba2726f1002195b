"""The model as written: its formulas, its numbers, its document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dalembert.errors import DalembertError
from dalembert.mechanics.page.equations import Line
from dalembert.mechanics.page.printing import latex, plain
from dalembert.model.documents.write_document import dumps
from dalembert.model.language.symbols import Definition
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.equations import equation_table
from dalembert.view.markup.formulas import formula
from dalembert.view.markup.tables import long_table
from dalembert.view.report.section import Section, left_out_of_large, note

# Beyond these, formulas and documents are for machines; the document can be taken out of the report whole.
MOST_FORMULAS, MOST_LINES, LARGEST_MATRIX = 60, 300, 8


def model_section(system: System) -> Section:
    parameters = long_table(("parameter", "value"), list(_parameters(system)), "parameters")
    start = long_table(("at the start", "value"), list(_start(system)), "numbers")
    body = fragment(
        element("p", system.description, class_="description") if system.description else None,
        _formulas(system),
        element("h3", "Parameters and initial state"),
        element("div", parameters if system.parameter_symbols else None, start, class_="beside"),
        element("h3", "Document"),
        document(system),
    )
    return Section("model", "The model as written", body)


def document(system: System) -> Html:
    """The TOML document of a system, or why it has none."""
    try:
        text = dumps(system)
    except DalembertError as error:
        return note(f"This model has no form as a document: {error}")
    return document_block(text)


def document_block(text: str) -> Html:
    lines = text.splitlines()
    shown = element("pre", element("code", "\n".join(lines[:MOST_LINES])), class_="document", tabindex="0")
    if len(lines) <= MOST_LINES:
        return shown
    rest = f"The first {MOST_LINES} of {len(lines)} lines; the link under “How to reproduce” holds them all."
    return fragment(shown, note(rest))


def _formulas(system: System) -> Html:
    if is_large(system):
        return left_out_of_large("The formulas", len(system.coordinates), "print(system)")
    lines, signs = list[Line](), list[str]()
    for line, sign in _lines(system):
        lines.append(line)
        signs.append(sign)
    shown = fragment(_mass(system), equation_table(lines[:MOST_FORMULAS], signs[:MOST_FORMULAS]))
    if len(lines) <= MOST_FORMULAS:
        return shown
    return fragment(shown, note(f"The first {MOST_FORMULAS} of {len(lines)} formulas; all are in the document below."))


def _mass(system: System) -> Html | None:
    if system.mass is None or system.mass.rows > LARGEST_MATRIX:
        return None
    return element("p", formula(f"M = {latex(system.mass)}"), class_="formula")


def _lines(system: System) -> Iterator[tuple[Line, str]]:
    """Energies, forces, constraints, definitions and laws, each with its sign of relation."""
    import sympy as sp

    energies = (("T", system.kinetic, "kinetic energy"), ("V", system.potential, "potential"))
    for symbol, value, label in (*energies, ("L", system.lagrangian, "Lagrangian")):
        if value is not None:
            yield Line(sp.Symbol(symbol), (("", value),), label), "="
    for q, force in system.forces.items():
        yield Line(sp.Symbol(f"F_{q.name}"), (("", force),), "impressed force"), "="
    for c in system.constraints:
        label = f"constraint “{c.name}”, {c.level} level"
        yield Line(sp.Integer(0), (("", c.expression),), label), r"\le" if c.one_sided else "="
    for law in (*system.works, *(contact.slipping_work() for contact in system.contacts)):
        for q, work in law.work.items():
            yield Line(sp.Symbol(f"C_{q.name}"), (("", work),), "nonideal constraint force, while it slides"), "="
    for name, value in system.definitions.items():
        yield Line(Definition.named(name), (("", value),), "definition"), "="


def _parameters(system: System) -> Iterator[Sequence[str]]:
    for symbol in system.parameter_symbols:
        value = system.parameters.get(symbol)
        yield symbol.name, "not given" if value is None else plain(value)


def _start(system: System) -> Iterator[Sequence[str]]:
    for start in (*system.coordinates, *system.velocities):
        value = system.initial.get(start)
        yield start.name, "not given" if value is None else plain(value)
