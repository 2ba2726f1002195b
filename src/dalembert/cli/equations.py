"""`dalembert equations MODEL`: the explicit equations of motion, as text or LaTeX."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.models import JSON, MODEL, find_model, print_json
from dalembert.model.document import write_atomically

PREAMBLE = "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage[margin=2cm]{geometry}\n\\begin{document}\n"


def equations(
    model: str = MODEL,
    form: str = typer.Option("fundamental", help="The formulation."),
    latex: Path | None = typer.Option(None, help="Write a LaTeX document to this file."),
    json: bool = JSON,
) -> None:
    """Show the explicit equations of motion, with the three kinds of force kept apart."""
    system = find_model(model)
    found = system.equations(form)
    if latex is not None:
        title = system.name.replace("_", r"\_").replace("&", r"\&").replace("%", r"\%").replace("#", r"\#")
        text = f"{PREAMBLE}\\section*{{{title}}}\n{found.latex()}\n\\end{{document}}\n"
        write_atomically(latex, text.encode("utf-8"))
    if json:
        print_json({"name": system.name, "form": form, **found.to_dict()})
    else:
        typer.echo(found.text())
        if latex is not None:
            typer.echo(f"wrote {latex}")
