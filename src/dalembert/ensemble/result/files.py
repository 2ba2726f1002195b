"""Ensembles as files: NetCDF, or Zarr where that is installed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.ensemble.ask.memory import free_memory
from dalembert.ensemble.members.parts import Parts
from dalembert.ensemble.place.executors import ON_CPU
from dalembert.ensemble.result.ensemble import Ensemble, require_known
from dalembert.ensemble.result.in_parts import columns_in_parts
from dalembert.ensemble.result.store import PARTED, WHOLE, Store, read_about
from dalembert.ensemble.result.units import with_units
from dalembert.ensemble.result.zarr_store import names_in_files, write_zarr
from dalembert.errors import DocumentError, OutputError
from dalembert.model.documents.write_files import write_atomically

if TYPE_CHECKING:
    import xarray as xr

NO_ZARR = "Zarr is not installed: pip install 'dalembert[zarr]', or save as .nc"


def save(ensemble: Ensemble, path: str | os.PathLike[str]) -> None:
    target = Path(path)
    if target.suffix == ".nc":
        if 2 * ensemble.data.nbytes > free_memory():
            raise OutputError(f"{target}: the ensemble does not fit into memory, where .nc is made: save it as .zarr")
        write_atomically(target, bytes(_plain(ensemble).to_netcdf(engine="scipy", format="NETCDF3_64BIT")))
    elif target.suffix == ".zarr":
        _save_zarr(ensemble, target)
    else:
        raise OutputError(
            f"{target}: an ensemble is saved as .nc or .zarr, not {target.suffix or 'without a suffix'!r}"
        )


def finish_folder(store: Store, ensemble: Ensemble, in_parts: bool) -> None:
    """The folder of a sweep whose members are all there: one file takes the place of its chunks, or they stay, and a
    file beside them has the rest.
    """
    if in_parts:
        grid = {name: ensemble.data.sizes[name] for name in ensemble.dims}
        more = [name for name in (ON_CPU,) if name in ensemble.data]
        told = {"about": ensemble.about, "grid": grid, "more": more}
        rest = ensemble.data.drop_vars(list(ensemble.data.data_vars))
        rest = rest.assign_attrs(told=json.dumps(told), model=ensemble.model)
        store.leave_in_parts(bytes(rest.to_netcdf(engine="scipy", format="NETCDF3_64BIT")))
    else:
        save(ensemble, store.whole)
        store.clear()


def _save_zarr(ensemble: Ensemble, target: Path) -> None:
    """A folder: written beside the old one, which it then replaces."""
    if find_spec("zarr") is None:
        raise OutputError(f"{target}: {NO_ZARR}")
    try:
        beside = Path(tempfile.mkdtemp(prefix=".dalembert-", dir=target.parent))
        try:
            write_zarr(ensemble, beside / "new")
            if target.exists():
                os.replace(target, beside / "old")
            os.replace(beside / "new", target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from None


def load(path: str | os.PathLike[str]) -> Ensemble:
    import xarray as xr

    source = Path(path)
    if source.is_dir() and (about := read_about(source)) is not None:
        if (source / PARTED).is_file():
            return _in_parts(source, about)
        if not (source / WHOLE).is_file():
            done = len(list(source.glob("chunk-*.npz"))) * int(about["chunk"])
            told = f"about {min(done, about['members'])} of {about['members']} members are finished"
            raise DocumentError(str(source), [f"this sweep is not complete: {told}; resume it"])
        source = source / WHOLE
    try:
        if source.suffix == ".zarr":
            if find_spec("zarr") is None:
                raise DocumentError(str(source), [NO_ZARR])
            with xr.open_zarr(source, decode_times=False) as file:  # a unit is a label here
                data = file.load()
        else:
            with xr.open_dataset(source, engine="scipy", decode_times=False) as file:
                data = file.load()
    except FileNotFoundError:
        raise DocumentError(str(source), ["there is no such file"]) from None
    except (OSError, TypeError, ValueError):
        raise DocumentError(str(source), ["this is no ensemble written by Ensemble.save"]) from None
    return _whole(data, source)


def _in_parts(folder: Path, about: Mapping[str, Any]) -> Ensemble:
    """An ensemble whose variables stay in the chunks of its folder."""
    import xarray as xr

    parts = Parts(folder.absolute(), int(about["chunk"]), int(about["members"]), str(about["digest"]))
    try:
        with xr.open_dataset(folder / PARTED, engine="scipy", decode_times=False) as file:
            rest = file.load()
        told, model = json.loads(rest.attrs["told"]), str(rest.attrs["model"])
    except (OSError, KeyError, TypeError, ValueError):
        raise DocumentError(str(folder / PARTED), ["this is not what a sweep writes there"]) from None
    grid = told["grid"]
    found = columns_in_parts(parts, tuple(grid), tuple(grid.values()), told["more"])
    data = rest.drop_attrs(deep=False).assign(found).assign_attrs(name=told["about"]["name"])
    return Ensemble(with_units(data, told["about"].get("units", {})), told["about"], model)


def _plain(ensemble: Ensemble) -> xr.Dataset:
    """Without reasons for members that have none, which would take more room than all numbers together."""
    data = ensemble.data
    texts = data["reason"].to_numpy().ravel()
    at = np.flatnonzero(texts != "")
    data = data.drop_vars("reason")
    if at.size:
        data = data.assign({"failed.member": ("failed", at), "failed.reason": ("failed", texts[at].astype(str))})
    strange = names_in_files([str(name) for name in data.data_vars])
    told = {**ensemble.about, "names": {short: name for name, short in strange.items()}}
    data = data.assign({name: data[name].assign_attrs(long_name=name) for name in strange})
    return data.rename(strange).assign_attrs(about=json.dumps(told), model=ensemble.model)


def _whole(data: xr.Dataset, source: Path) -> Ensemble:
    try:
        about, model = json.loads(data.attrs["about"]), str(data.attrs["model"])
        status = data["status"]
    except (KeyError, ValueError, TypeError):
        raise DocumentError(str(source), ["this is no ensemble written by Ensemble.save"]) from None
    require_known(about, source)
    names = about.pop("names", {})
    data = data.rename(names)
    for name in names.values():  # which says it to those who read the file without this package
        data[name].attrs.pop("long_name", None)
    texts = np.full(status.size, "", dtype=object)
    if "failed.member" in data:
        kept = data["failed.reason"].to_numpy()
        kept = np.char.decode(kept, "utf-8") if kept.dtype.kind == "S" else kept.astype(str)
        texts[data["failed.member"].to_numpy()] = kept
        data = data.drop_vars(["failed.member", "failed.reason"])
    marks = {name: data[name].astype(bool) for name in ("alone", "in lanes") if name in data}
    data = data.assign({"reason": (status.dims, texts.reshape(status.shape)), **marks})
    return Ensemble(data.drop_attrs(deep=False).assign_attrs(name=about["name"]), about, model)
