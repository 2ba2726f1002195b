"""`dalembert path MODEL`: the path between two points at a given energy, by Maupertuis' principle."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.folders import OUT, compute_into, slug_of, write_and_tell
from dalembert.cli.models import JSON, MODEL, OPTION, SET, find_model, with_values
from dalembert.cli.places import END, START, THROUGH, place, points


def path(
    model: str = MODEL,
    option: list[str] = OPTION,
    energy: float = typer.Option(..., help="The energy T + V."),
    start: list[str] = START,
    end: list[str] = END,
    through: list[str] = THROUGH,
    samples: int = typer.Option(201, help="Number of points of the path."),
    set_: list[str] = SET,
    out: Path | None = OUT,
    json: bool = JSON,
) -> None:
    """Find the path between two points at a given energy, and the time along it; write it and a picture."""
    system = with_values(find_model(model, option), set_, [])
    ends = place(system, start, "--start"), place(system, end, "--end")
    guess = points(system, through) or "direct"
    folder = out if out is not None else Path(f"dalembert-{slug_of(system)}")
    found = compute_into(folder, lambda: system.path(*ends, energy=energy, guess=guess, samples=samples))
    write_and_tell(found, folder, "path", json)
