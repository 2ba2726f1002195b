"""`--event` and `--until`: events given on the command line."""

from __future__ import annotations

import re

import typer

from dalembert.errors import ModelError
from dalembert.model.events import Event, with_events
from dalembert.model.system import System

EVENT = typer.Option(
    [],
    "--event",
    metavar='"NAME: EXPRESSION"',
    help='Report each time an expression passes through zero, as "apex: z\'" or "top: x = 1 rising"; may be repeated.',
)
UNTIL = typer.Option(
    [], "--until", metavar='"NAME: EXPRESSION"', help='The same, and end the motion there, as "landing: z falling".'
)
# The direction is a word after the expression. After an operator the word would be a name in the expression.
_TEXT = re.compile(r"(?P<expression>.*[\w'′’)])\s+(?P<direction>rising|falling)", re.DOTALL)


def with_given_events(system: System, event: list[str], until: list[str]) -> System:
    """The system with the events of the command line; every fault is told at once."""
    given, faults = [], []
    for option, texts in (("--event", event), ("--until", until)):
        for text in texts:
            name, colon, rest = (part.strip() for part in text.partition(":"))
            if not (name and colon and rest):
                faults.append(
                    f"{option} {text!r}: write NAME: EXPRESSION, and rising or falling after it if only one counts"
                )
                continue
            found = _TEXT.fullmatch(rest)
            expression, direction = (found["expression"], found["direction"]) if found else (rest, "any")
            given.append(Event(expression, direction, option == "--until", name))
    if not given and not faults:
        return system
    try:
        system = with_events(system, given)
    except ModelError as error:
        faults += error.faults
    if faults:
        raise ModelError(system.name, faults)
    return system
