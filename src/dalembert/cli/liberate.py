"""`dalembert liberate MODEL`: the reactions on every particle by liberation, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dalembert.cli.models import INITIAL, JSON, MODEL, OPTION, SET, find_model, print_json, with_values
from dalembert.errors import DalembertError
from dalembert.model.documents.document import write_atomically

if TYPE_CHECKING:
    from dalembert.mechanics.liberate.liberate import Liberation
    from dalembert.mechanics.liberate.steps import Steps
    from dalembert.model.system import System


def liberate(
    model: str = MODEL,
    option: list[str] = OPTION,
    brief: bool = typer.Option(False, "--brief", help="Only the equations of motion and the reactions, no steps."),
    latex: Path | None = typer.Option(None, help="Write a LaTeX document to this file."),
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    json: bool = JSON,
) -> None:
    """Free particles of their constraints and tell the reactions on each, step by step (Djukic 2012)."""
    from dalembert.mechanics.liberate.liberate import Liberation
    from dalembert.mechanics.liberate.liberate import liberate as freed_of

    system = with_values(find_model(model, option), set_, initial)
    freed = freed_of(system)
    steps = freed.steps if isinstance(freed, Liberation) else freed
    if not brief:
        page = steps.equations()
    else:
        page = freed.equations() if isinstance(freed, Liberation) else system.equations("liberation")
    start = _at_the_start(system, freed)
    if latex is not None:
        from dalembert.mechanics.page.typeset import document

        write_atomically(latex, document(system.name, [("liberation", page)]).encode("utf-8"))
    if json:
        print_json({"name": system.name, **page.to_dict(), "start": start})
        return
    typer.echo(page.text())
    if start is not None:
        typer.echo("\nreactions at the initial state")
        for name, vector in start.items():
            typer.echo(f"  on {name}: ({', '.join(f'{x:.8g}' for x in vector)})")
    if latex is not None:
        typer.echo(f"wrote {latex}")


def _at_the_start(system: System, freed: Liberation | Steps) -> dict[str, Any] | None:
    """The reaction on each particle at the initial state; None where the model gives none, or it is impossible."""
    try:
        now = system.at()
    except DalembertError:
        return None
    return dict(freed.reactions(now))
