"""`dalembert reduce MODEL`: fewer coordinates, the same motion."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.arguments import INITIAL, JSON, MODEL, OPTION, SET
from dalembert.cli.models import find_model, print_json, with_values


def reduce(
    model: str = MODEL,
    option: list[str] = OPTION,
    keep: list[str] = typer.Option([], metavar="NAME", help="A coordinate that is to stay; may be repeated."),
    save: Path | None = typer.Option(None, help="Write the reduced model to this file."),
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    json: bool = JSON,
) -> None:
    """Eliminate cyclic coordinates by their momenta and constraints by independent coordinates."""
    from dalembert.model.documents.write_document import dumps

    found = with_values(find_model(model, option), set_, initial).reduce(keep)
    if save is not None:
        found.save(save)
    if json:
        print_json(found.to_dict())
        return
    typer.echo(found.text())
    if save is not None:
        typer.echo(f"wrote {save}")
    else:
        typer.echo(f"\n{dumps(found)}", nl=False)
