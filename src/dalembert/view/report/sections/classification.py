"""What kind of system it is: constraints, freedoms, what is conserved."""

from __future__ import annotations

from dalembert.errors import DalembertError
from dalembert.mechanics.classify.conserve import Conserved
from dalembert.mechanics.classify.result import Classification
from dalembert.mechanics.page.decimals import as_read
from dalembert.mechanics.page.printing import latex
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.formulas import formula
from dalembert.view.markup.tables import facts, long_table
from dalembert.view.report.patience import OutOfTime, within
from dalembert.view.report.section import Request, Section, left_out, left_out_of_large, note

TITLE = "Classification"


def classification_section(system: System, asked: Request) -> Section:
    return Section("classification", TITLE, _body(system, asked))


def _body(system: System, asked: Request) -> Html:
    if is_large(system):
        return left_out_of_large("The classification", len(system.coordinates), "system.classify()")
    try:
        return classification_block(within(asked.seconds, system.classify))
    except OutOfTime:
        return left_out("Classifying the constraints", asked.seconds, "system.classify()")
    except DalembertError as error:
        return note(f"The system could not be classified: {error}")


def classification_block(found: Classification) -> Html:
    """A classification as facts and a table of its constraints."""
    verdict = {True: "holonomic", False: "nonholonomic", None: "holonomic or not: not decided"}[found.holonomic]
    conserved = fragment([_conserved(quantity) for quantity in found.conservation.quantities])
    known = facts(
        [
            ("the system is", verdict if found.constraints else "without constraints"),
            ("degrees of freedom", _count(found.degrees_of_freedom)),
            ("freedoms of configuration", _count(found.configuration_freedoms)),
            ("redundant constraints", ", ".join(found.redundant) or None),
            ("hidden position constraints", _lines([f"{f} = constant" for f in found.integrals])),
            ("cyclic coordinates", ", ".join(found.cyclic_texts()) or None),
            ("conserved", conserved or "nothing found"),
            ("notes", _lines(found.notes)),
        ]
    )
    if not found.constraints:
        return known
    rows = [(kind.name, kind.text().removeprefix(f"{kind.name}: ")) for kind in found.constraints]
    kinds = long_table(("constraint", "kind"), rows, "constraints", class_="texts")
    return fragment(known, element("h3", "Constraints"), kinds)


def _conserved(quantity: Conserved) -> Html:
    note_ = " (fixed by the constraints)" if quantity.fixed else None
    return element("div", f"{quantity.name}: ", formula(latex(as_read(quantity.expression))), note_)


def _count(value: int | None) -> str:
    return "not decided" if value is None else str(value)


def _lines(texts: tuple[str, ...] | list[str]) -> Html | None:
    return fragment([element("div", text) for text in texts]) if texts else None
