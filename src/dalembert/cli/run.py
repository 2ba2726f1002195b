"""`dalembert run MODEL`: simulate, certify, print a summary, write the numbers and a picture."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import typer

from dalembert.cli import completion
from dalembert.cli.arguments import EVENT, INITIAL, JSON, MODEL, OPTION, SET, UNTIL
from dalembert.cli.simulate import RunOptions, simulate_and_write
from dalembert.methods.table import method_help


class Format(str, Enum):  # noqa: UP042  # typer reads the values of a str enum
    csv = "csv"
    netcdf = "netcdf"


def run(
    model: str = MODEL,
    option: list[str] = OPTION,
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    duration: float | None = typer.Option(None, help="How long to simulate."),
    rtol: float | None = typer.Option(None, help="Relative tolerance, default 1e-9."),
    samples: int | None = typer.Option(None, help="Number of output times, default 501."),
    method: str | None = typer.Option(None, help=method_help(), autocompletion=completion.methods),
    max_step: float | None = typer.Option(None, help="The longest step; default: as long as the tolerance allows."),
    step: float | None = typer.Option(None, help="The length of the steps of --method variational."),
    order: int | None = typer.Option(None, help="The order of --method variational: 2 (the default), 4 or 6."),
    project: bool | None = typer.Option(
        None, "--project/--no-project", help="Return to the constraints after each step."
    ),
    event: list[str] = EVENT,
    until: list[str] = UNTIL,
    backend: str | None = typer.Option(
        None, help="auto, native (compiled C) or reference.", autocompletion=completion.backends
    ),
    repair: bool = typer.Option(False, "--repair", help="Start from the nearest state that satisfies the constraints."),
    out: Path | None = typer.Option(None, help="Folder for the results, default dalembert-NAME here."),
    kind: Format = typer.Option(Format.csv, "--format", help="Format of the numbers."),
    report: Path | None = typer.Option(None, help="Also write all about the motion as a page for browsers, FILE.html."),
    free: bool = typer.Option(False, "--free", help="Draw what the free motion misses of the constraints, too."),
    json: bool = JSON,
) -> None:
    """Simulate a model, certify the motion, and write the numbers and a picture."""
    given = RunOptions(
        model, tuple(option), tuple(set_), tuple(initial), duration, rtol, samples, method, max_step, step, order,
        project, tuple(event), tuple(until), backend, repair, out, kind.value, free, json, report,
    )  # fmt: skip
    status = simulate_and_write(given)
    if status:
        raise typer.Exit(status)
