"""Ensembles as files: NetCDF, or Zarr where that is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dalembert.ensemble.result.ensemble import Ensemble, require_known
from dalembert.ensemble.result.store import WHOLE, read_about
from dalembert.errors import DocumentError, OutputError
from dalembert.model.documents.write_files import write_atomically

if TYPE_CHECKING:
    import xarray as xr

# Names that files take: an expression such as x/y has another one there.
PLAIN_NAME = re.compile(r"^\w[^/]{0,200}(?<! )$")
NO_ZARR = "Zarr is not installed: pip install 'dalembert[zarr]', or save as .nc"


def save(ensemble: Ensemble, path: str | os.PathLike[str]) -> None:
    target = Path(path)
    if target.suffix == ".nc":
        write_atomically(target, bytes(_plain(ensemble).to_netcdf(engine="scipy", format="NETCDF3_64BIT")))
    elif target.suffix == ".zarr":
        _save_zarr(ensemble, target)
    else:
        raise OutputError(
            f"{target}: an ensemble is saved as .nc or .zarr, not {target.suffix or 'without a suffix'!r}"
        )


def _save_zarr(ensemble: Ensemble, target: Path) -> None:
    """A folder: written beside the old one, which it then replaces."""
    if find_spec("zarr") is None:
        raise OutputError(f"{target}: {NO_ZARR}")
    try:
        beside = Path(tempfile.mkdtemp(prefix=".dalembert-", dir=target.parent))
        try:
            _plain(ensemble).to_zarr(beside / "new", zarr_format=2, consolidated=True)
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
        if not (source / WHOLE).is_file():
            done = len(list(source.glob("chunk-*.npz"))) * int(about["chunk"])
            told = f"about {min(done, about['members'])} of {about['members']} members are finished"
            raise DocumentError(str(source), [f"this sweep is not complete: {told}; resume it"])
        source = source / WHOLE
    try:
        if source.suffix == ".zarr":
            if find_spec("zarr") is None:
                raise DocumentError(str(source), [NO_ZARR])
            with xr.open_zarr(source) as file:
                data = file.load()
        else:
            with xr.open_dataset(source, engine="scipy") as file:
                data = file.load()
    except FileNotFoundError:
        raise DocumentError(str(source), ["there is no such file"]) from None
    except (OSError, TypeError, ValueError):
        raise DocumentError(str(source), ["this is no ensemble written by Ensemble.save"]) from None
    return _whole(data, source)


def _plain(ensemble: Ensemble) -> xr.Dataset:
    """Without reasons for members that have none, which would take more room than all numbers together."""
    data = ensemble.data
    texts = data["reason"].to_numpy().ravel()
    at = np.flatnonzero(texts != "")
    data = data.drop_vars("reason")
    if at.size:
        data = data.assign({"failed.member": ("failed", at), "failed.reason": ("failed", texts[at].astype(str))})
    strange = {str(name): f"variable_{k}" for k, name in enumerate(data.data_vars) if not PLAIN_NAME.match(str(name))}
    told = {**ensemble.about, "names": {short: name for name, short in strange.items()}}
    return data.rename(strange).assign_attrs(about=json.dumps(told), model=ensemble.model)


def _whole(data: xr.Dataset, source: Path) -> Ensemble:
    try:
        about, model = json.loads(data.attrs["about"]), str(data.attrs["model"])
        status = data["status"]
    except (KeyError, ValueError, TypeError):
        raise DocumentError(str(source), ["this is no ensemble written by Ensemble.save"]) from None
    require_known(about, source)
    data = data.rename(about.pop("names", {}))
    texts = np.full(status.size, "", dtype=object)
    if "failed.member" in data:
        texts[data["failed.member"].to_numpy()] = data["failed.reason"].to_numpy().astype(str)
        data = data.drop_vars(["failed.member", "failed.reason"])
    marks = {name: data[name].astype(bool) for name in ("alone", "in lanes") if name in data}
    data = data.assign(reason=(status.dims, texts.reshape(status.shape)), **marks)
    return Ensemble(data.drop_attrs(deep=False).assign_attrs(name=about["name"]), about, model)
