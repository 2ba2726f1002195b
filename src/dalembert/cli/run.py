"""`dalembert run MODEL`: simulate, certify, print a summary, write the numbers and a picture."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import typer

from dalembert.cli import completion
from dalembert.cli.events import EVENT, UNTIL, with_given_events
from dalembert.cli.folders import make, slug_of, unmake
from dalembert.cli.models import INITIAL, JSON, MODEL, OPTION, SET, find_model, print_json, with_values
from dalembert.errors import DalembertError, MotionFailed, OutputError
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
    free: bool = typer.Option(False, "--free", help="Draw what the free motion misses of the constraints, too."),
    json: bool = JSON,
) -> None:
    """Simulate a model, certify the motion, and write the numbers and a picture."""
    system = with_given_events(with_values(find_model(model, option), set_, initial), event, until)
    if repair:
        system = system.replace(initial=system.consistent())
    slug = slug_of(system)
    folder = out if out is not None else Path(f"dalembert-{slug}")
    made = make(folder)
    failure: MotionFailed | None = None
    try:
        motion = system.simulate(
            duration, rtol=rtol, samples=samples, method=method, max_step=max_step, step=step, order=order,
            project=project, backend=backend,
        )  # fmt: skip
    except MotionFailed as error:
        if error.motion is None:
            unmake(made)
            raise
        motion, failure = error.motion, error
    except (DalembertError, KeyboardInterrupt):
        unmake(made)
        raise
    lost: OutputError | None = None
    files: list[Path] = []
    try:
        files.append(folder / f"{slug}.{'csv' if kind is Format.csv else 'nc'}")
        motion.save(files[-1])
        files.append(folder / f"{slug}.png")
        motion.plot(files[-1], free=free)
    except OutputError as error:
        lost = error
        files.pop()
        if not files:
            unmake(made)
    if json:
        reason = {} if failure is None else {"failure": str(failure)}
        print_json({**motion.to_dict(), "files": [str(file) for file in files], **reason})
    else:
        from dalembert.cli.summary import print_summary

        print_summary(motion, files)
    if lost is not None:
        raise lost
    if failure is not None:
        raise failure
    if not motion.certificate.holds:
        failed = ", ".join(motion.certificate.failures)
        hints = "".join(f"\n  {warning}" for warning in motion.warnings)
        typer.echo(f"dalembert: {system.name}: the certificate does not hold: {failed}{hints}", err=True)
        raise typer.Exit(3)
