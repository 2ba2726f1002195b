"""`dalembert check MODEL`: read a model, test its initial state, classify its constraints."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from dalembert.cli.arguments import JSON, MODEL, OPTION
from dalembert.cli.models import find_model, print_json
from dalembert.errors import MissingValues

if TYPE_CHECKING:
    from dalembert.model.system import System
    from dalembert.motion.state.state import State


def check(model: str = MODEL, option: list[str] = OPTION, json: bool = JSON) -> None:
    """Check a model and say what kind of system it is."""
    system = find_model(model, option)
    notes = []
    try:
        q, v, t = system.initial_values()
    except MissingValues as error:
        notes.append(str(error))
    else:
        from dalembert.motion.state.state import State

        _require_start(system, State(q, v, t))
    classification = system.classify()
    if json:
        found = classification.to_dict()
        print_json({"name": system.name, **found, "notes": [*found["notes"], *notes]})
        return
    typer.echo(classification.text())
    if not notes:
        typer.echo("initial state: satisfies all constraints")
    for note in notes:
        typer.echo(f"note: {note}")


def _require_start(system: System, state: State) -> None:
    """Raises where no motion can begin at a state."""
    from dalembert.model.friction.legs import needs_legs
    from dalembert.motion.large.model import large_model
    from dalembert.motion.large.simulate import require_consistent, starts
    from dalembert.motion.large.size import LeftToTheSmallWay
    from dalembert.motion.large.state import LargeState
    from dalembert.motion.state.consistent import require_consistent_state
    from dalembert.motion.state.evaluation import Evaluation

    if needs_legs(system):
        system.at()  # finds out which one-sided constraints are closed; the others may be off
        return
    model = large_model(system, "auto", "auto")
    if model is not None:
        at = LargeState(system, model, system.parameter_values())
        with suppress(LeftToTheSmallWay):
            if starts(at, state):
                require_consistent(at, state)
                return
    evaluation = Evaluation(system)
    require_consistent_state(evaluation, state)
    evaluation.require_consistent(evaluation.solve(state.q, state.v, state.t), state.t)
