"""`dalembert check MODEL`: read a model, test its initial state, classify its constraints."""

from __future__ import annotations

import typer

from dalembert.cli.arguments import JSON, MODEL, OPTION
from dalembert.cli.models import find_model, print_json
from dalembert.errors import MissingValues


def check(model: str = MODEL, option: list[str] = OPTION, json: bool = JSON) -> None:
    """Check a model and say what kind of system it is."""
    system = find_model(model, option)
    notes = []
    try:
        q, v, t = system.initial_values()
    except MissingValues as error:
        notes.append(str(error))
    else:
        from dalembert.model.friction.legs import needs_legs
        from dalembert.motion.state.consistent import require_consistent_state
        from dalembert.motion.state.evaluation import Evaluation
        from dalembert.motion.state.state import State

        if needs_legs(system):
            system.at()  # finds out which one-sided constraints are closed; the others may be off
        else:
            evaluation = Evaluation(system)
            require_consistent_state(evaluation, State(q, v, t))
            evaluation.require_consistent(evaluation.solve(q, v, t), t)
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
