"""`dalembert examples [NAME]`: the library; with a name, its model as a document to start from."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.models import JSON, OPTION, find_model, print_json
from dalembert.errors import ModelError


def examples(
    name: str | None = typer.Argument(None, help="Show this system as a model document.", show_default=False),
    option: list[str] = OPTION,
    save: Path | None = typer.Option(None, help="Write the document to this file."),
    json: bool = JSON,
) -> None:
    """List the library of ready systems, or show one as a model document."""
    from dalembert import library
    from dalembert.model.documents.document import dumps

    if name is not None:
        system = find_model(name, option) if option else library.get(name)
        if save is not None:
            system.save(save)
        if json:
            print_json({"name": system.name, "document": dumps(system)})
        elif save is not None:
            typer.echo(f"wrote {save}")
        else:
            typer.echo(dumps(system), nl=False)
        return
    if option:
        raise ModelError("examples", ["--option belongs to one system: name it, as in 'dalembert examples penny'"])
    rows = [(key, library.get(key)) for key in library.names()]
    if json:
        print_json({"examples": [{"name": key, "title": s.name, "description": s.description} for key, s in rows]})
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("name", "what it is")
    for key, system in rows:
        table.add_row(key, escape(system.description))
    console = Console()
    console.print(table)
    console.print("run one:  dalembert run penny     start from one:  dalembert examples penny --save my.toml")
