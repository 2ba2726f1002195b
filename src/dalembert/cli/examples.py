"""`dalembert examples [NAME]`: the library in one line each; with a name, what it is and its model document."""

from __future__ import annotations

import textwrap
from inspect import signature
from pathlib import Path

import typer

from dalembert.cli import completion
from dalembert.cli.arguments import JSON, OPTION
from dalembert.cli.models import find_model, print_json
from dalembert.errors import ModelError
from dalembert.model.system import System

# Lines of a document that are for a person, the mark of a comment and a space before them.
WIDTH = 98


def examples(
    name: str | None = typer.Argument(
        None,
        help="Show this system: what it is, its options, and its model document.",
        show_default=False,
        autocompletion=completion.systems,
    ),
    option: list[str] = OPTION,
    save: Path | None = typer.Option(None, help="Write the document to this file."),
    json: bool = JSON,
) -> None:
    """List the library of ready systems, one line each; or show one, with the document to start from."""
    from dalembert import library
    from dalembert.model.documents.write_document import dumps

    if name is not None:
        system = find_model(name, option) if option else library.get(name)
        if save is not None:
            system.save(save)
        if json:
            print_json({"name": system.name, "description": system.description, "document": dumps(system)})
        elif save is not None:
            typer.echo(f"wrote {save}")
        else:
            typer.echo(f"{_paragraph(name, system)}\n{dumps(system)}", nl=False)
        return
    if save is not None:
        raise ModelError("examples", ["--save writes one system: name it, as in 'examples penny --save my.toml'"])
    if option:
        raise ModelError("examples", ["--option belongs to one system: name it, as in 'dalembert examples penny'"])
    names = library.names()
    if json:
        rows = [(key, library.get(key)) for key in names]
        print_json({"examples": [{"name": key, "title": s.name, "description": s.description} for key, s in rows]})
        return
    widest = max(map(len, names))
    for key in names:
        typer.echo(f"{key:<{widest}}  {library.example(key).summary}")
    typer.echo("\nmore of one: dalembert examples penny     run it: dalembert run penny")
    typer.echo("start from one: dalembert examples penny --save my.toml")


def _paragraph(name: str, system: System) -> str:
    """What the system is and which options build it otherwise, as a comment, so that all printed is a document."""
    from dalembert.library import example

    known = signature(example(name).build).parameters
    options = [key if value.default is None else f"{key}={value.default}" for key, value in known.items()]
    lines = [system.name, "", *textwrap.wrap(system.description, WIDTH)]
    if options:
        lines += ["", *textwrap.wrap(f"--option NAME=VALUE builds it otherwise: {', '.join(options)}", WIDTH)]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
