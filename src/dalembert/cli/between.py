"""`dalembert between MODEL`: the motion from one configuration to another in a given time, by stationary action."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.folders import OUT, compute_into, slug_of, write_and_tell
from dalembert.cli.models import JSON, MODEL, OPTION, SET, find_model, pairs, with_values
from dalembert.cli.places import END, START, place
from dalembert.errors import ModelError
from dalembert.model.system import System


def between(
    model: str = MODEL,
    option: list[str] = OPTION,
    duration: float = typer.Option(..., help="The time it takes."),
    start: list[str] = START,
    end: list[str] = END,
    guess: list[str] = typer.Option(
        [], "--guess", metavar="NAME=VALUE", help='An initial velocity that nearly leads there, as "x\'=3".'
    ),
    set_: list[str] = SET,
    out: Path | None = OUT,
    json: bool = JSON,
) -> None:
    """Find the motion between two places in a given time, and whether its action is least; write it and a picture."""
    system = with_values(find_model(model, option), set_, [])
    ends = place(system, start, "--start"), place(system, end, "--end")
    speeds = _speeds(system, guess)
    folder = out if out is not None else Path(f"dalembert-{slug_of(system)}")
    found = compute_into(folder, lambda: system.between(*ends, duration, guess=speeds))
    write_and_tell(found, folder, "between", json)


def _speeds(system: System, items: list[str]) -> dict[str, str] | None:
    faults: list[str] = []
    found = pairs(items, "--guess", [v.name for v in system.velocities], faults)
    if faults:
        raise ModelError(system.name, faults)
    return found or None
