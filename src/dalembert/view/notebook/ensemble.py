"""An ensemble in a notebook: what varied, what became of the members, one picture."""

from __future__ import annotations

from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.errors import DalembertError, counted
from dalembert.view.markup.elements import Html, element
from dalembert.view.markup.pictures import image
from dalembert.view.notebook.frame import folded, frame, verdict
from dalembert.view.report.ensemble import members_block, variables_table


def ensemble_page(found: Ensemble) -> Html:
    failed = counted(found.failed, "member") + " failed" if found.failed else "all members came to their end"
    return frame(
        element(
            "p", element("b", found.name), f": {counted(found.members, 'member')}, {found.seconds:.3g} s ",
            verdict(not found.failed, failed),
        ),
        _picture(found),
        members_block(found),
        folded("variables", variables_table(found)),
    )  # fmt: skip


def _picture(found: Ensemble) -> Html | None:
    try:
        return image(found.plot(), f"the members of {found.name}")
    except (DalembertError, KeyError):
        return None  # there is no variable that could be drawn
