"""The arguments that verbs share, as typer reads them."""

from __future__ import annotations

import typer

from dalembert.cli import completion

MODEL = typer.Argument(
    ...,
    help="A model document (TOML file) or the name of a library system.",
    show_default=False,
    autocompletion=completion.models,
)
OPTION = typer.Option(
    [],
    "--option",
    metavar="NAME=VALUE",
    help="Build the library system with this option, as ratio=2 or alpha=pi/6; may be repeated.",
)
SET = typer.Option(
    [],
    "--set",
    metavar="NAME=VALUE",
    help="Change a parameter, as g=1.62; may be repeated.",
    autocompletion=completion.parameters,
)
INITIAL = typer.Option(
    [], "--initial", metavar="NAME=VALUE", help='Change an initial value, as x=1 or "x\'=0"; may be repeated.'
)
JSON = typer.Option(False, "--json", help="Print exactly one JSON object on standard output.")
OUT = typer.Option(None, help="Folder for the results, default dalembert-NAME here.")
EVENT = typer.Option(
    [],
    "--event",
    metavar='"NAME: EXPRESSION"',
    help='Report each time an expression passes through zero, as "apex: z\'" or "top: x = 1 rising"; may be repeated.',
)
UNTIL = typer.Option(
    [], "--until", metavar='"NAME: EXPRESSION"', help='The same, and end the motion there, as "landing: z falling".'
)
