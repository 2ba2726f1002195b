"""The units of a model in what a motion is handed over as: labels on datasets and tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dalembert.model.units import unit_of

if TYPE_CHECKING:
    import xarray as xr

    from dalembert.motion.result.motion import Motion

#: What each column along the coordinates is called by its name: that of the coordinate, marked.
KINDS = {
    "q": "{}",
    "v": "{}'",
    "a": "{}''",
    "impressed": "impressed {}",
    "ideal": "ideal {}",
    "nonideal": "nonideal {}",
}


def with_units(data: xr.Dataset, system: Any) -> xr.Dataset:
    """A dataset with units as attributes, `units` of a variable where all of its columns have one unit; those of single
    coordinates and outputs stand beside their names. Unchanged where a model has no units.
    """
    if not system.units:
        return data
    data.attrs["units"] = json.dumps(dict(system.units), ensure_ascii=False)
    names = [coordinate.name for coordinate in system.coordinates]
    columns = {key: [form.format(name) for name in names] for key, form in KINDS.items()}
    columns |= {"time": ["t"], "energy": ["energy"], "work": ["energy"], "heat": ["energy"], "impact_loss": ["energy"]}
    columns["outputs"] = [str(name) for name in data["output"].values] if "output" in data.dims else []
    for key, own in columns.items():
        units = {unit_of(system, name) for name in own}
        if key in data.variables and len(units) == 1 and "" not in units:
            data[key].attrs["units"] = units.pop()
    beside = {"unit": ("coordinate", [unit_of(system, name) for name in names])}
    if columns["outputs"]:
        beside["output_unit"] = ("output", [unit_of(system, name) for name in columns["outputs"]])
    return data.assign_coords({key: value for key, value in beside.items() if any(value[1])})


def units_by_column(motion: Motion) -> dict[str, str]:
    """The unit of every column that has one."""
    return {name: unit for name in motion.columns() if (unit := unit_of(motion.system, name))}
