"""A motion as a labelled dataset, and again from a file of one."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dalembert.arrays import Array
from dalembert.errors import DocumentError
from dalembert.model.documents.document import loads
from dalembert.model.documents.write_document import dumps
from dalembert.motion.contacts.impacts.impacts import Impact
from dalembert.motion.result.certificate import Certificate
from dalembert.motion.result.motion import VECTORS, WORKS, Motion, Timing
from dalembert.motion.result.units import with_units
from dalembert.motion.state.contact_history import STATES, ContactHistory


def dataset_of(motion: Motion) -> xr.Dataset:
    """Dimensions time, coordinate, constraint, source; and what is needed to have the motion again."""
    labels = {
        "time": motion.t,
        "coordinate": [coordinate.name for coordinate in motion.system.coordinates],
        "constraint": [constraint.name for constraint in motion.system.constraints],
        "source": list(WORKS),
    }
    data: dict[str, Any] = {name: (("time", "coordinate"), getattr(motion, name)) for name in VECTORS}
    data["multipliers"] = (("time", "constraint"), motion.multipliers)
    data["rank"] = (("time",), motion.rank.astype(np.int32))
    data["energy"] = (("time",), motion.energy)
    data["work"] = (("time", "source"), motion.work)
    if motion.heat:
        labels["place"] = list(motion.heat)
        data["heat"] = (("time", "place"), np.column_stack(list(motion.heat.values())))
    if motion.can_lose_by_impacts:
        data["impact_loss"] = (("time",), motion.impact_loss)
    if motion.C is not None and motion.acting is not None:
        data["C"] = (("time", "coordinate"), motion.C)
        data["acting"] = (("time", "constraint"), motion.acting.astype(np.int8))
    if motion.contacts:
        labels["contact"] = list(motion.contacts)
        parts = list(motion.contacts.values())
        data["contact_state"] = (
            ("time", "contact"),
            np.column_stack([[STATES.index(state) for state in part.state] for part in parts]).astype(np.int8),
            {"meaning": ", ".join(f"{k} {state}" for k, state in enumerate(STATES))},
        )
        data["normal"] = (("time", "contact"), np.column_stack([part.normal for part in parts]))
        data["friction"] = (("time", "contact"), np.column_stack([part.friction for part in parts]))
    if motion.outputs:
        labels["output"] = list(motion.outputs)
        data["outputs"] = (("time", "output"), np.column_stack(list(motion.outputs.values())))
    if not motion.system.constraints:
        del labels["constraint"], data["multipliers"]
    attributes = {
        "title": motion.system.name,
        "model": dumps(motion.system.as_written),
        "certificate": json.dumps(motion.certificate.to_dict()),
        "events": json.dumps([dict(event) for event in motion.events]),
        "ended_by": json.dumps(motion.ended_by),
        "fastest": json.dumps(None if motion.fastest is None else motion.fastest.tolist()),
        "blows": json.dumps([blow.to_dict() for blow in motion.blows]),
        "warnings": json.dumps(list(motion.warnings)),
        "timing": json.dumps(asdict(motion.timing)),
        "rtol": motion.rtol,
        "method": motion.method,
        "backend": motion.backend,
    }
    return with_units(xr.Dataset(data, coords=labels, attrs=attributes), motion.system)


def read_motion(path: str | os.PathLike[str]) -> Motion:
    """The motion in a NetCDF file of its dataset."""
    if Path(path).suffix == ".csv":
        raise DocumentError(str(path), ["a .csv file holds columns only; a motion is loaded from its .nc file"])
    try:
        with xr.open_dataset(path, engine="scipy", decode_times=False) as file:  # a unit makes no date
            data = file.load()
    except FileNotFoundError:
        raise DocumentError(str(path), ["there is no such file"]) from None
    except (OSError, TypeError, ValueError):
        raise DocumentError(str(path), ["this is no motion written by Motion.save as .nc"]) from None
    attributes = data.attrs
    if "model" not in attributes or "certificate" not in attributes:
        raise DocumentError(str(path), ["this is no motion written by Motion.save: it holds no model"])
    empty = np.zeros((data.sizes["time"], 0))
    return Motion(
        system=loads(attributes["model"], where=str(path)),
        t=data["time"].values,
        **{name: data[name].values for name in VECTORS},
        multipliers=data["multipliers"].values if "multipliers" in data else empty,
        rank=data["rank"].values,
        energy=data["energy"].values,
        work=data["work"].values,
        heat={str(name): data["heat"].sel(place=name).values for name in data["place"].values}
        if "heat" in data
        else {},
        impact_loss=data["impact_loss"].values if "impact_loss" in data else np.zeros(data.sizes["time"]),
        rtol=float(attributes["rtol"]),
        method=str(attributes["method"]),
        backend=str(attributes["backend"]),
        events=tuple(json.loads(attributes["events"])),
        ended_by=json.loads(attributes.get("ended_by", "null")),
        warnings=tuple(json.loads(attributes["warnings"])),
        timing=Timing(**json.loads(attributes["timing"])),
        certificate=Certificate.from_dict(json.loads(attributes["certificate"])),
        C=data["C"].values if "C" in data else None,
        acting=data["acting"].values.astype(bool) if "acting" in data else None,
        contacts=_contacts(data),
        blows=tuple(Impact.from_dict(blow) for blow in json.loads(attributes.get("blows", "[]"))),
        fastest=_array(json.loads(attributes.get("fastest", "null"))),
    )


def _array(values: list[float] | None) -> Array | None:
    return None if values is None else np.array(values)


def _contacts(data: xr.Dataset) -> dict[str, ContactHistory]:
    if "contact" not in data.dims:
        return {}
    names = [str(name) for name in data["contact"].values]
    states = np.array(STATES)[data["contact_state"].values]
    normal, friction = data["normal"].values, data["friction"].values
    return {name: ContactHistory(states[:, k], normal[:, k], friction[:, k]) for k, name in enumerate(names)}
