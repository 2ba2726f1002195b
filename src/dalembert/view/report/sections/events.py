"""What happened on the way, and what to be careful about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.motion.result.motion import Motion
from dalembert.view.markup.elements import Content, Html, element, fragment
from dalembert.view.markup.tables import long_table, number, table
from dalembert.view.report.section import Section, note

# Numbers of a state that fit on a line.
MOST_NUMBERS = 8


def events_section(motion: Motion) -> Section:
    outputs: list[list[Content]] = [
        [name, *(number(float(x)) for x in (values[0], values[-1], values.min(), values.max()))]
        for name, values in motion.outputs.items()
    ]
    body = fragment(
        events_block(motion) if motion.events else note("No events."),
        element("p", f"The motion was ended by “{motion.ended_by}”.") if motion.ended_by is not None else None,
        fragment(element("h3", "Outputs"), table(("", "start", "end", "least", "greatest"), outputs))
        if outputs
        else None,
        element("h3", "Warnings"),
        element("ul", [element("li", warning) for warning in motion.warnings]) if motion.warnings else note("None."),
    )
    return Section("events", "Events and warnings", body)


def events_block(motion: Motion) -> Html:
    """The events in the order of their times."""
    rows = [_row(event) for event in motion.events]
    return long_table(("event", "t", "", "state"), rows, "events", where="motion.events has them all.")


def _row(event: Mapping[str, Any]) -> list[Content]:
    shown = {"name", "t", "state", "contact", "direction", "impulse"}
    details = [f"{event[key]}" for key in ("contact", "direction") if key in event]
    if "impulse" in event:
        details += [f"impulse, {kind}: {_short(value)}" for kind, value in event["impulse"].items()]
    details += [f"{key} {value}" for key, value in event.items() if key not in shown]
    state = [f"{name} = {number(value)}" for name, value in event.get("state", {}).items()]
    more = ", …" if len(state) > MOST_NUMBERS else ""
    when = number(event["t"], ".8g") if "t" in event else ""
    return [str(event.get("name", "")), when, "; ".join(details), ", ".join(state[:MOST_NUMBERS]) + more]


def _short(value: Any) -> str:
    return number(value) if isinstance(value, (int, float)) else str(value)
