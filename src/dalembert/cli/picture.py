"""`dalembert picture MODEL`: Gauss's principle at the initial state as a picture."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.folders import slug_of
from dalembert.cli.models import INITIAL, JSON, MODEL, OPTION, SET, changed, find_model, print_json


def picture(
    model: str = MODEL,
    option: list[str] = OPTION,
    of: tuple[str, str] | None = typer.Option(None, metavar="NAME NAME", help="The plane of these two accelerations."),
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    out: Path | None = typer.Option(None, help="The file: png, pdf or svg; default NAME-gauss.png here."),
    json: bool = JSON,
) -> None:
    """Draw the accelerations that the constraints allow, the free one, and the motion: the foot of a perpendicular."""
    system = changed(find_model(model, option), set_, initial)
    now = system.at()
    data = now.gauss_picture(of)
    file = out if out is not None else Path(f"{slug_of(system)}-gauss.png")
    now.picture(file, of)
    least = data.residual**2
    if json:
        print_json({"name": system.name, "G": least, "orthogonality": data.orthogonality, "files": [str(file)]})
        return
    typer.echo(f"{system.name}: least G = {least:.10g} at t = {now.t:g} (G = (q'' - a)^T M (q'' - a), without 1/2)")
    typer.echo(f"wrote {file}")
