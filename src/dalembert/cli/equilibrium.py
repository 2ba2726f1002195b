"""`dalembert equilibrium MODEL`: configurations at rest, every force, stability, ranges held by friction."""

from __future__ import annotations

import typer

from dalembert.cli.arguments import INITIAL, JSON, MODEL, OPTION, SET
from dalembert.cli.models import find_model, print_json, with_values
from dalembert.motion.large.size import is_large


def equilibrium(
    model: str = MODEL,
    option: list[str] = OPTION,
    starts: int | None = typer.Option(
        None,
        min=1,
        help="Configurations from which to search, the initial one first: 20, of 64 coordinates and more that one.",
    ),
    range_of: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Find the range of this coordinate or parameter in which friction can hold the system.",
    ),
    between: tuple[float, float] | None = typer.Option(None, metavar="LOW HIGH", help="Where to look for that range."),
    time: float | None = typer.Option(None, "--time", help="Stop a model that holds time at this one."),
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    json: bool = JSON,
) -> None:
    """Find equilibria, what holds them, and whether they are stable."""
    system = with_values(find_model(model, option), set_, initial)
    if starts is None:
        starts = 1 if is_large(system) else 20
    found = system.equilibrium(t=time, starts=starts, range_of=range_of, between=between)
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
