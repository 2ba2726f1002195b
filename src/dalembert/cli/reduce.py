"""`dalembert reduce MODEL`: fewer coordinates, the same motion."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.models import JSON, MODEL, OPTION, changed, find_model, print_json


def reduce(
    model: str = MODEL,
    option: list[str] = OPTION,
    keep: list[str] = typer.Option([], metavar="NAME", help="A coordinate that is to stay; may be repeated."),
    save: Path | None = typer.Option(None, help="Write the reduced model to this file."),
    set_: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="Another value for a parameter."),
    initial: list[str] = typer.Option([], metavar="NAME=VALUE", help="Another initial value."),
    json: bool = JSON,
) -> None:
    """Eliminate cyclic coordinates by their momenta and constraints by independent coordinates."""
    from dalembert.mechanics.page.printing import plain
    from dalembert.model.documents.document import dumps

    found = changed(find_model(model, option), set_, initial).reduce(keep)
    document = dumps(found)
    if save is not None:
        found.save(save)
    if json:
        print_json(
            {
                "name": found.name,
                "coordinates": [q.name for q in found.coordinates],
                "places": {q.name: plain(place) for q, place in found.places.items()},
                "ignored": [q.name for q in found.ignored],
                "momenta": {p.name: plain(value) for p, value in found.momenta.items()},
                "constants": {c.name: plain(value) for c, value in found.constants.items()},
                "solved": dict(found.solved),
                "left": list(found.left),
                "document": document,
            }
        )
        return
    typer.echo(found.summary())
    if save is not None:
        typer.echo(f"wrote {save}")
    else:
        typer.echo(f"\n{document}", nl=False)
