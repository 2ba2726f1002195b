"""`dalembert path MODEL`: the path between two points at a given energy, by Maupertuis' principle."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.folders import OUT, computed, slug_of, write_table
from dalembert.cli.models import JSON, MODEL, OPTION, SET, changed, find_model, print_json
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
    system = changed(find_model(model, option), set_, [])
    ends = place(system, start, "--start"), place(system, end, "--end")
    guess = points(system, through) or "direct"
    folder = out if out is not None else Path(f"dalembert-{slug_of(system)}")
    found = computed(folder, lambda: system.path(*ends, energy=energy, guess=guess, samples=samples))
    files = [folder / f"{slug_of(system)}-path.csv", folder / f"{slug_of(system)}-path.png"]
    names = [symbol.name for symbol in (*system.coordinates, *system.velocities)]
    write_table(files[0], {"t": found.t, **{name: found[name] for name in names}})
    found.plot(files[1])
    if json:
        print_json(
            {
                "name": system.name,
                "energy": found.energy,
                "duration": found.duration,
                "action": found.action,
                "miss": found.miss,
                "launch": {symbol.name: value for symbol, value in found.initial.items()},
                "files": [str(file) for file in files],
            }
        )
        return
    typer.echo(f"{system.name}: path at the energy {found.energy:g}")
    typer.echo(f"  time {found.duration:.10g}, action {found.action:.10g}")
    typer.echo("  launch " + ", ".join(f"{symbol.name} = {value:.10g}" for symbol, value in found.initial.items()))
    for file in files:
        typer.echo(f"wrote {file}")
