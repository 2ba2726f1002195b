"""`dalembert equations MODEL`: the equations of motion by one principle or by all, as text or LaTeX."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli import completion
from dalembert.cli.arguments import JSON, MODEL, OPTION
from dalembert.cli.models import find_model, print_json
from dalembert.errors import DoesNotApply
from dalembert.mechanics.page.equations import Equations
from dalembert.model.documents.write_files import write_atomically
from dalembert.model.system import System


def equations(
    model: str = MODEL,
    option: list[str] = OPTION,
    form: str = typer.Option("fundamental", help="The formulation, or 'all'.", autocompletion=completion.forms_or_all),
    dependent: list[str] = typer.Option(
        [], metavar="NAME", help="Of 'transposition': a coordinate whose displacement follows from others; repeatable."
    ),
    latex: Path | None = typer.Option(None, help="Write a LaTeX document to this file."),
    json: bool = JSON,
) -> None:
    """Show the equations of motion: explicit, with the three kinds of force kept apart, or by another principle."""
    system = find_model(model, option)
    parts: list[tuple[str, Equations | str]]
    if form == "all":
        parts = _all(system, dependent)
    else:
        parts = [(form, system.equations(form, dependent=dependent or None))]
    if latex is not None:
        from dalembert.mechanics.page.typeset import document

        write_atomically(latex, document(system.name, parts).encode("utf-8"))
    if json:
        found = [
            {"form": name, "applies": False, "reason": part}
            if isinstance(part, str)
            else {"applies": True, **part.to_dict()}
            for name, part in parts
        ]
        print_json({"name": system.name, **(found[0] if form != "all" else {"forms": found})})
        return
    texts = [f"{name}: does not apply: {part}" if isinstance(part, str) else part.text() for name, part in parts]
    separator = "\n\n" + "─" * 60 + "\n\n"
    typer.echo(separator.join(texts))
    if latex is not None:
        typer.echo(f"wrote {latex}")


def _all(system: System, dependent: list[str]) -> list[tuple[str, Equations | str]]:
    from dalembert.mechanics.principles import FORMS

    parts: list[tuple[str, Equations | str]] = []
    for name in FORMS:
        try:
            chosen = dependent if dependent and name == "transposition" else None
            parts.append((name, system.equations(name, dependent=chosen)))
        except DoesNotApply as error:
            parts.append((name, error.reason))
    return parts
