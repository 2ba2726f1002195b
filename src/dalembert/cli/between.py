"""`dalembert between MODEL`: the motion from one configuration to another in a given time, by stationary action."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.folders import OUT, computed, slug_of, write_table
from dalembert.cli.models import JSON, MODEL, OPTION, SET, changed, find_model, pairs, print_json
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
    system = changed(find_model(model, option), set_, [])
    ends = place(system, start, "--start"), place(system, end, "--end")
    speeds = _speeds(system, guess)
    folder = out if out is not None else Path(f"dalembert-{slug_of(system)}")
    found = computed(folder, lambda: system.between(*ends, duration, guess=speeds))
    files = [folder / f"{slug_of(system)}-between.csv", folder / f"{slug_of(system)}-between.png"]
    names = [symbol.name for symbol in (*system.coordinates, *system.velocities)]
    write_table(files[0], {"t": found.t, **{name: found[name] for name in names}})
    found.plot(files[1])
    if json:
        print_json(
            {
                "name": system.name,
                "duration": duration,
                "action": found.action,
                "kind": found.kind,
                "index": found.index,
                "error": found.error,
                "launch": found.launch,
                "files": [str(file) for file in files],
            }
        )
        return
    falls = f", {found.index} directions in which it falls" if found.index else ""
    typer.echo(f"{system.name}: motion between two places in the time {duration:g}")
    typer.echo(f"  action {found.action:.10g}: {found.kind}{falls}")
    typer.echo("  launch " + ", ".join(f"{name} = {value:.10g}" for name, value in found.launch.items()))
    for file in files:
        typer.echo(f"wrote {file}")


def _speeds(system: System, items: list[str]) -> dict[str, str] | None:
    faults: list[str] = []
    found = pairs(items, "--guess", [v.name for v in system.velocities], faults)
    if faults:
        raise ModelError(system.name, faults)
    return found or None
