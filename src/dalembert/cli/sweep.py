"""`dalembert sweep MODEL`: many members of one model, their results in a folder, and a picture."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli import completion
from dalembert.cli.arguments import EVENT, INITIAL, JSON, OPTION, SET, UNTIL
from dalembert.cli.sweep_and_write import SweepOptions, sweep_and_write
from dalembert.ensemble.ask.wanted import KINDS
from dalembert.methods.table import method_help

MODEL = typer.Argument(
    None,
    help="A model document (TOML file) or the name of a library system; not with --resume.",
    show_default=False,
    autocompletion=completion.models,
)
VARY = typer.Option(
    [],
    "--vary",
    metavar="NAME=…|NAME~…",
    help="What varies, a parameter or an initial value: a range v0=0:10:101, values mu=0.1,0.2, or a distribution "
    '"mu~uniform(0.1,0.5)" (also normal, lognormal, exponential, triangular, randint); may be repeated.',
)


def sweep(
    model: str | None = MODEL,
    vary: list[str] = VARY,
    samples: int | None = typer.Option(None, help="How many members to draw from the distributions."),
    seed: int | None = typer.Option(None, help="Of the draws; a fresh one, which is told, unless given."),
    sampler: str | None = typer.Option(None, help="random (the default), sobol or latin."),
    together: bool = typer.Option(False, "--together", help="Take values side by side, not in all combinations."),
    option: list[str] = OPTION,
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    duration: float | None = typer.Option(None, help="How long to simulate each member."),
    keep: list[str] = typer.Option(
        [], help="final (the default), samples, or an observable to keep at the output times; may be repeated."
    ),
    reduce: list[str] = typer.Option(
        [],
        metavar='"NAME = KIND: EXPRESSION"',
        help=f'One number for each member, as "top = max: y". Kinds: {", ".join(KINDS)}; may be repeated.',
    ),
    points: int | None = typer.Option(None, help="Output times of each member, default 101."),
    event: list[str] = EVENT,
    until: list[str] = UNTIL,
    rtol: float | None = typer.Option(None, help="Relative tolerance, default 1e-9."),
    method: str | None = typer.Option(None, help=method_help(), autocompletion=completion.methods),
    precision: str | None = typer.Option(None, help="double (the default), or single on GPUs."),
    certify: bool = typer.Option(False, "--certify", help="Measure constraints and energy of each member."),
    repair: bool = typer.Option(
        False, "--repair", help="Members start from the nearest state that satisfies the constraints."
    ),
    hold: list[str] = typer.Option([], help="With --repair: a coordinate or velocity that keeps its value."),
    steps: int | None = typer.Option(None, help="Steps that a member may take."),
    seconds: float | None = typer.Option(None, help="Seconds that a member may take."),
    on: str | None = typer.Option(
        None,
        help="threads, unless given; processes for models with contacts; cuda for GPUs; dask, or dask:tcp://HOST:PORT "
        "for a cluster.",
    ),
    threads: int | None = typer.Option(
        None, help="How many threads, processes or workers of this machine; all cores unless given."
    ),
    plot: str | None = typer.Option(None, help="The variable that the picture shows."),
    out: Path | None = typer.Option(None, help="Folder for the results, default dalembert-NAME-sweep here."),
    resume: Path | None = typer.Option(None, help="Go on with the interrupted sweep in this folder."),
    json: bool = JSON,
) -> None:
    """Simulate many members of a model, with other parameters and from other states."""
    given = SweepOptions(
        model, tuple(vary), samples, seed, sampler, together, tuple(option), tuple(set_), tuple(initial), duration,
        tuple(keep), tuple(reduce), points, tuple(event), tuple(until), rtol, method, precision, certify, repair,
        tuple(hold), steps, seconds, on, threads, plot, out, json,
    )  # fmt: skip
    status = sweep_and_write(given, resume)
    if status:
        raise typer.Exit(status)
