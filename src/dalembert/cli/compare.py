"""`dalembert compare MODEL`: every formulation of a system side by side."""

from __future__ import annotations

import typer

from dalembert.cli import completion
from dalembert.cli.models import INITIAL, JSON, MODEL, OPTION, SET, find_model, print_json, with_values

DISAGREEMENT = 3


def compare(
    model: str = MODEL,
    option: list[str] = OPTION,
    form: list[str] = typer.Option([], help="Only this formulation; may be repeated.", autocompletion=completion.forms),
    states: int = typer.Option(4, min=0, help="States compared, besides the initial one."),
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    json: bool = JSON,
) -> None:
    """Derive the motion by every principle that applies, and compare."""
    found = with_values(find_model(model, option), set_, initial).compare(form or None, states=states)
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.agree:
        raise typer.Exit(DISAGREEMENT)
