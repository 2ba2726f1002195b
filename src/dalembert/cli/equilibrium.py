"""`dalembert equilibrium MODEL`: configurations at rest, every force, stability, ranges held by friction."""

from __future__ import annotations

import typer

from dalembert.cli.models import INITIAL, JSON, MODEL, OPTION, SET, find_model, print_json, with_values


def equilibrium(
    model: str = MODEL,
    option: list[str] = OPTION,
    starts: int = typer.Option(20, min=1, help="Configurations from which to search, the initial one first."),
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
    found = system.equilibrium(t=time, starts=starts, range_of=range_of, between=between)
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(str(found))
