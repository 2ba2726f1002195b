"""`dalembert picture MODEL`: Gauss's principle at the initial state as a picture."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.folders import slug_of, tell
from dalembert.cli.models import INITIAL, JSON, MODEL, OPTION, SET, find_model, with_values


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
    system = with_values(find_model(model, option), set_, initial)
    found = system.at().gauss_picture(of)
    file = out if out is not None else Path(f"{slug_of(system)}-gauss.png")
    found.plot(file)
    tell(found.text(), found.to_dict(), [file], json)
