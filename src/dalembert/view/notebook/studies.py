"""Classifications, comparisons and equilibria in a notebook."""

from __future__ import annotations

from dalembert.mechanics.classify.result import Classification
from dalembert.statics.result import Equilibria, Equilibrium
from dalembert.study.compare import Comparison
from dalembert.view.markup.elements import Html, element
from dalembert.view.notebook.frame import frame
from dalembert.view.report.sections.classification import classification_block
from dalembert.view.report.sections.comparison import comparison_block
from dalembert.view.report.sections.equilibria import equilibria_block, equilibrium_block


def classification_page(found: Classification) -> Html:
    return frame(element("p", element("b", found.system)), classification_block(found))


def comparison_page(found: Comparison) -> Html:
    return frame(element("p", element("b", found.system.name)), comparison_block(found))


def equilibrium_page(found: Equilibrium) -> Html:
    return frame(element("p", element("b", found.system.name)), equilibrium_block(found))


def equilibria_page(found: Equilibria) -> Html:
    reason = f"From the configuration given: {found.reason}" if found.reason else None
    return frame(
        element("p", element("b", found.system.name)),
        element("p", reason, class_="note") if reason and found.found else None,
        equilibria_block(found),
        element("pre", found.range.text()) if found.range is not None else None,
    )
