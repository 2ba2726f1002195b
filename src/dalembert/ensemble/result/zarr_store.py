"""Ensembles as Zarr stores, written a piece at a time: they may be larger than memory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.ensemble.result.pieces import slabs

if TYPE_CHECKING:
    from dalembert.ensemble.result.ensemble import Ensemble

# Names that files take: an expression such as x/y has another one there.
PLAIN_NAME = re.compile(r"^\w[^/]{0,200}(?<! )$")
# Numbers of one chunk of an array in a store, and of what is written at once.
CHUNK, AT_ONCE = 262_144, 4_000_000
# How xarray knows the dimensions of an array in such a store.
DIMS = "_ARRAY_DIMENSIONS"


def names_in_files(names: list[str]) -> dict[str, str]:
    """Those that need another name in a file, with that."""
    return {name: f"variable_{k}" for k, name in enumerate(names) if not PLAIN_NAME.match(name)}


def write_zarr(ensemble: Ensemble, folder: Path) -> None:
    """`load` and xarray read it. Reasons stand apart, of the members that have one."""
    import zarr

    data = ensemble.data.drop_vars("reason")
    names = [str(name) for name in data.data_vars]
    strange = names_in_files(names)
    told = {**ensemble.about, "names": {short: name for name, short in strange.items()}}
    rest = data.drop_vars(names).assign_attrs(about=json.dumps(told), model=ensemble.model)
    rest.to_zarr(folder, zarr_format=2, consolidated=False)
    group = zarr.open_group(folder, mode="r+", zarr_format=2)
    for name in names:
        _write_array(group, strange.get(name, name), data[name], {"long_name": name} if name in strange else {})
    _write_reasons(group, ensemble)
    zarr.consolidate_metadata(group.store, zarr_format=2)


def _write_array(group: Any, name: str, variable: Any, more: Mapping[str, str]) -> None:
    """more: attributes besides its own."""
    dims = [str(dim) for dim in variable.dims]
    made = group.create_array(
        name, shape=variable.shape, dtype=variable.dtype, chunks=chunk_of(variable.shape), fill_value=None,
        attributes={**variable.attrs, **more, DIMS: dims},
    )  # fmt: skip
    for key in slabs(list(zip(dims, variable.shape, strict=True)), AT_ONCE):
        made[_place(key, dims)] = variable.isel(key).to_numpy()


def _place(key: Mapping[str, slice], dims: list[str]) -> tuple[slice, ...]:
    return tuple(key.get(dim, slice(None)) for dim in dims)


def chunk_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """As many along the last dimensions as make a chunk.

    >>> chunk_of((1000, 1000)), chunk_of((10**6, 101))
    ((262, 1000), (2595, 101))
    """
    left, found = CHUNK, []
    for length in reversed(shape):
        found.append(max(1, min(length, left)))
        left //= found[-1]
    return tuple(reversed(found))


def _write_reasons(group: Any, ensemble: Ensemble) -> None:
    members, texts = [], []
    before = 0
    for piece in ensemble._pieces("reason"):
        flat = piece["reason"].to_numpy().ravel()
        at = np.flatnonzero(flat != "")
        members.append(before + at)
        texts.append(flat[at].astype(str))
        before += flat.size
    at = np.concatenate(members)
    if at.size:
        # As bytes of one length: texts of any length are no part of the second format.
        encoded = np.char.encode(np.concatenate(texts), "utf-8")
        for name, values in (("failed.member", at), ("failed.reason", encoded)):
            made = group.create_array(
                name, shape=values.shape, dtype=values.dtype, fill_value=None, attributes={DIMS: ["failed"]}
            )
            made[:] = values
