"""`--start` and `--end`: configurations given on the command line."""

from __future__ import annotations

import typer

from dalembert.cli.models import pairs
from dalembert.errors import ModelError
from dalembert.model.system import System

START = typer.Option([], "--start", metavar="NAME=VALUE", help="Where it begins; the initial values unless given.")
END = typer.Option([], "--end", metavar="NAME=VALUE", help="Where it ends; may be repeated, once per coordinate.")
THROUGH = typer.Option(
    [], "--through", metavar="X=…,Y=…", help="A point near which it passes, a first guess; may be repeated, in order."
)


def place(system: System, items: list[str], option: str) -> dict[str, float]:
    """A configuration: the coordinates given, which may be expressions in parameters, and the initial values."""
    faults: list[str] = []
    names = [q.name for q in system.coordinates]
    given = pairs(items, option, names, faults)
    if faults:
        raise ModelError(system.name, faults)
    rest = {f"{name}'": 0 for name in names}
    try:
        q, _, _ = system.replace(initial={**given, **rest}).initial_values()
    except ModelError as error:
        raise ModelError(system.name, [f"{option}: {fault}" for fault in error.faults]) from None
    return dict(zip(names, map(float, q), strict=True))


def points(system: System, items: list[str]) -> list[dict[str, float]]:
    return [place(system, item.split(","), "--through") for item in items]
