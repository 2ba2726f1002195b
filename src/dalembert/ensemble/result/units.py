"""The units of a model for the variables of an ensemble, as labels."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from dalembert.ensemble.ask.wanted import ENERGY, OF_OBSERVABLES
from dalembert.ensemble.members.task import Task
from dalembert.model.units import unit_of

# What stands before and after the name of a column of motions.
PREFIXES, SUFFIXES = ("final.", "samples."), ("(0)", " (parameter)")


def units_of_variables(task: Task, names: Iterable[str]) -> dict[str, str]:
    """The unit of each variable and coordinate that has one."""
    if not task.system.units:
        return {}
    found = {name: unit_of(task.system, _column(name, task)) for name in names}
    return {name: unit for name, unit in found.items() if unit}


def _column(name: str, task: Task) -> str:
    """What a variable is called in a motion; empty where it is something else there."""
    reduction = next((r for r in task.wanted.reductions if r.name == name), None)
    if reduction is not None and reduction.kind not in OF_OBSERVABLES:
        return {"time": "t", "last": "t", ENERGY: ENERGY}.get(reduction.kind, "")
    kept = name if reduction is None else reduction.of
    if kept in task.wanted.expressions:
        expression = task.wanted.expressions[kept]
        return ENERGY if expression is None else expression.name if isinstance(expression, sp.Symbol) else kept
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return "t" if name == "time" else name
