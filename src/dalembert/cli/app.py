"""The command `dalembert`: one verb per file. Errors become one message and an exit status; tracebacks are
for defects only.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings

import typer

from dalembert import __version__
from dalembert.cli.between import between
from dalembert.cli.check import check
from dalembert.cli.compare import compare
from dalembert.cli.curvature import curvature
from dalembert.cli.doctor import doctor
from dalembert.cli.equations import equations
from dalembert.cli.equilibrium import equilibrium
from dalembert.cli.examples import examples
from dalembert.cli.install_completion import complete_named_shell
from dalembert.cli.liberate import liberate
from dalembert.cli.path import path
from dalembert.cli.picture import picture
from dalembert.cli.reduce import reduce
from dalembert.cli.run import run
from dalembert.errors import DalembertError

app = typer.Typer(
    name="dalembert",
    help="Constrained mechanics: equations, motion, every force, and a certificate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
VERBS = (
    run, check, equations, compare, reduce, liberate, equilibrium, path, between, curvature, picture, examples, doctor,
)  # fmt: skip
for verb in VERBS:
    app.command()(verb)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dalembert {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Constrained mechanics: equations, motion, every force, and a certificate."""


def _tell(message: Warning | str, category: type[Warning], *where: object, **options: object) -> None:
    """A warning as a line of its own, without the place in the code that it comes from."""
    typer.echo(f"dalembert: {message}", err=True)


def main() -> None:
    """Entry point: 0 good, 2 bad input, 3 the motion could not be completed or its certificate does not hold."""
    for stream in (sys.stdout, sys.stderr):
        # Letters with dots, Greek and box drawing must not end a run on a terminal that lacks them.
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")
    warnings.showwarning = _tell
    gc.freeze()  # what has been imported stays until the end: nobody need look through it for garbage, not even then
    try:
        if not complete_named_shell(sys.argv[1:]):
            app(prog_name="dalembert")  # under `python -m` too: completion asks by this name
    except DalembertError as error:
        typer.echo(f"dalembert: {error}", err=True)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader went away (a closed pager): nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError:
        typer.echo("dalembert: this model needs more memory than there is", err=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
