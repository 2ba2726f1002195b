"""Equations as a table of formulas, aligned at their signs of equality, with the name of each beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dalembert.mechanics.page.equations import Line
from dalembert.mechanics.page.typeset import rows_by_line
from dalembert.view.markup.elements import Html, element
from dalembert.view.markup.formulas import cells_of, formula
from dalembert.view.markup.tables import scrolling


def equation_table(lines: Sequence[Line], signs: Sequence[str] = ()) -> Html:
    """Lines as they stand on a page. signs: LaTeX of what stands in the place of = in each, where given."""
    # Names are texts from the model and go beside the formulas as such: LaTeX never reads them.
    groups = rows_by_line([replace(line, label="") for line in lines])
    found: list[Html] = []
    for k, (line, group) in enumerate(zip(lines, groups, strict=True)):
        for place, row in enumerate(group):
            left, right = cells_of(row)
            if signs and place == 0:
                right = right.replace("=", signs[k], 1)
            cells = [element("td", formula(part.strip()) if part.strip() else None) for part in (left, right)]
            if place == len(group) - 1 and line.label:
                cells.append(element("td", line.label, class_="label"))
            found.append(element("tr", cells))
    return scrolling(element("table", element("tbody", found), class_="equations"))
