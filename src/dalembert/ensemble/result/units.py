"""The units of a model on the variables of an ensemble: labels, as on the dataset of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sympy as sp

from dalembert.ensemble.ask.wanted import ENERGY, OF_OBSERVABLES
from dalembert.model.units import unit_of

if TYPE_CHECKING:
    import xarray as xr

    from dalembert.ensemble.members.task import Task


def units_of_variables(task: Task, names: Iterable[str]) -> dict[str, str]:
    """Of those of these variables that have one: values that were varied, states, observables, times of events, and
    what observables are reduced to.
    """
    if not task.system.units:
        return {}
    of = {task.values.label(name): name for name in task.values.names}
    of |= {"time": "t", **{f"{event}: time": "t" for event in task.events}}
    for reduction in task.wanted.reductions:
        meant = {**dict.fromkeys(OF_OBSERVABLES, reduction.of), "time": "t", "last": "t", ENERGY: ENERGY}
        of[reduction.name] = _column(meant.get(reduction.kind, ""), task)
    found = {name: of[name] if name in of else _column(name, task) for name in names}
    return {name: unit for name, meant in found.items() if (unit := unit_of(task.system, meant))}


def _column(name: str, task: Task) -> str:
    """What a state or an observable is called in a motion."""
    name = name.removeprefix("final.").removeprefix("samples.")
    if name in task.wanted.expressions:
        expression = task.wanted.expressions[name]
        return ENERGY if expression is None else expression.name if isinstance(expression, sp.Symbol) else name
    return name


def with_units(data: xr.Dataset, units: Mapping[str, str]) -> xr.Dataset:
    """The dataset with these as attributes of its variables."""
    for name, unit in units.items():
        data.variables[name].attrs["units"] = unit
    return data
