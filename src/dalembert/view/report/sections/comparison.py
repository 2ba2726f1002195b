"""The formulations of mechanics side by side."""

from __future__ import annotations

from dalembert.errors import DalembertError, counted
from dalembert.model.system import System
from dalembert.motion.large.size import is_large
from dalembert.study.compare import Comparison, Row
from dalembert.view.markup.elements import Content, Html, element, fragment
from dalembert.view.markup.tables import number, table
from dalembert.view.report.patience import OutOfTime, within
from dalembert.view.report.section import Request, Section, left_out, left_out_of_large, note

CALL = "system.compare()"


def comparison_section(system: System, asked: Request) -> Section:
    return Section("comparison", "Formulations compared", _body(system, asked))


def _body(system: System, asked: Request) -> Html:
    if is_large(system):
        return left_out_of_large("The comparison of formulations", len(system.coordinates), CALL)
    try:
        return comparison_block(within(asked.seconds, system.compare))
    except OutOfTime:
        return left_out("Comparing the formulations", asked.seconds, CALL)
    except DalembertError as error:
        return note(f"The formulations could not be compared: {error}")


def comparison_block(found: Comparison) -> Html:
    """Those that apply with their differences, then those that do not with the reason."""
    verdict = "All that apply agree" if found.agree else "NOT all that apply agree"
    line = f"{verdict}. Differences from the fundamental equation at {counted(found.states, 'state')}, relative."
    applied = [row for row in found.rows if row.acceleration_difference is not None]
    others = [(row.form, row.reason) for row in found.rows if row.acceleration_difference is None]
    headings = ("formulation", "state", "acceleration", "forces", "one evaluation", "")
    return fragment(
        element("p", line, class_="good" if found.agree else "bad"),
        table(headings, map(_cells, applied)),
        fragment(element("h3", "Those that do not apply"), table(("formulation", "why not"), others, class_="texts"))
        if others
        else None,
    )


def _cells(row: Row) -> list[Content]:
    note_ = row.reason if row.agrees else f"DISAGREES {row.reason}"
    seconds = "" if row.seconds is None else f"{1e6 * row.seconds:.0f} µs"
    differences = (number(row.acceleration_difference, ".1e"), number(row.force_difference, ".1e"))
    return [row.form, str(row.state_size), *differences, seconds, element("span", note_, class_="reason")]
