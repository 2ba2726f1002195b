"""Ensembles as results and as files, and sweeps that are interrupted and resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import xarray as xr
from matplotlib.figure import Figure
from swept_systems import bead, spring, thrown_ball

import dalembert as da
from dalembert.cli.sweep_and_write import SweepOptions, sweep_and_write
from dalembert.ensemble import sweep as sweeping
from dalembert.ensemble.result import pieces
from dalembert.ensemble.result.store import Store, model_text


def test_text_and_plain_values() -> None:
    found = bead().sweep({"x": [1.0, 0.5], "m": [1.0, 2.0]}, 1.0)
    text = found.text()
    assert text.startswith("bead: 4 members (x(0) 2 × m 2), 2 failed, ")
    assert "2 × constraint 'ring' is violated in position" in text
    told = json.loads(json.dumps(found.to_dict()))
    assert (told["members"], told["failed"], told["dims"]) == (4, 2, {"x(0)": 2, "m": 2})
    assert told["reasons"] == [{"reason": "constraint 'ring' is violated in position", "count": 2}]
    with pytest.raises(KeyError, match="Did you mean 'final"):
        found["final.z"]
    with pytest.raises(KeyError, match="keep='samples'"):
        _ = found.samples
    with pytest.raises(KeyError, match="certify=True"):
        _ = found.certificate


@pytest.mark.parametrize(("repair", "kept"), [(True, None), (["y'"], 1.5)])
def test_members_that_were_repaired_as_systems(repair: Any, kept: float | None) -> None:
    found = bead().sweep({"x": [1.2], "y'": [1.5]}, 1.0, repair=repair)
    motion = found.system_of(0).simulate(1.0, samples=2)
    for name in ("x", "y", "x'", "y'"):
        assert motion[name][-1] == pytest.approx(float(found.final[name].squeeze()), abs=1e-9)
    if kept is not None:
        assert motion["y'"][0] == kept


def test_members_as_systems() -> None:
    found = bead().sweep({"x": [1.0, -1.0], "m": [1.0, 2.0], "l": 1.0}, 1.0)
    one = found.system_of({"x(0)": 1, "m": 0})
    assert one.initial_values()[0].tolist() == [-1.0, 0.0]
    assert found.system_of(2).parameters == one.parameters


def test_a_netcdf_file_holds_all(tmp_path: Path) -> None:
    keep = ["samples", "energy", "-x/(2 + y')"]  # the last one is no name that such a file could have
    options: dict[str, Any] = {"keep": keep, "reduce": {"E": "energy"}, "points": 5, "certify": True}
    found = bead().sweep({"x": [1.0, 0.5], "y'": [1.0, 2.0, 3.0]}, 1.0, events={"half": "x - 0.5"}, **options)
    found.save(tmp_path / "e.nc")
    again = da.Ensemble.load(tmp_path / "e.nc")
    assert again.data.identical(found.data)
    with xr.open_dataset(tmp_path / "e.nc", engine="scipy") as plain:  # without dalembert
        assert keep[2] in [variable.attrs.get("long_name") for variable in plain.data_vars.values()]
    assert again.about == found.about
    assert again.text() == found.text()
    assert again.system_of(1).initial_values()[1].tolist() == [0.0, 2.0]
    with pytest.raises(da.OutputError, match=r"as \.nc or \.zarr"):
        found.save(tmp_path / "e.csv")
    with pytest.raises(da.DocumentError, match="no such file"):
        da.Ensemble.load(tmp_path / "other.nc")
    (tmp_path / "wrong.nc").write_text("no")
    with pytest.raises(da.DocumentError, match="no ensemble"):
        da.Ensemble.load(tmp_path / "wrong.nc")


def test_units_are_attributes(tmp_path: Path) -> None:
    system = spring().replace(units={"x": "m", "t": "seconds", "w": "rad/s", "energy": "J"})
    reduce = {"top": ("max", "x'"), "E": "energy", "n": ("count", "through")}
    asked: dict[str, Any] = {"events": {"through": "x"}, "reduce": reduce}
    found = system.sweep({"w": [1.0, 2.0], "x": [1.0, 2.0]}, 2.0, keep="samples", points=5, **asked)
    found.save(tmp_path / "e.nc")
    for one in (found, da.Ensemble.load(tmp_path / "e.nc")):
        units = {str(name): variable.attrs.get("units") for name, variable in one.data.variables.items()}
        known = {name: unit for name, unit in units.items() if unit is not None}
        assert known == {
            "w": "rad/s", "x(0)": "m", "time": "seconds", "final.t": "seconds", "through: time": "seconds", "E": "J",
            **dict.fromkeys(("final.x", "samples.x"), "m"),
            **dict.fromkeys(("final.x'", "samples.x'", "top"), "m/seconds"),
        }  # fmt: skip
    assert one.data.identical(found.data)


def test_zarr_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dalembert.ensemble.result.files.find_spec", lambda name: None)
    with pytest.raises(da.OutputError, match=r"dalembert\[zarr\]"):
        spring().sweep({"w": [1.0]}, 0.1).save(tmp_path / "e.zarr")


def test_a_zarr_store_holds_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zarr_store = pytest.importorskip("dalembert.ensemble.result.zarr_store", reason="no zarr")
    pytest.importorskip("zarr")
    keep = ["samples", "energy", "-x/(2 + y')"]
    options: dict[str, Any] = {"keep": keep, "points": 5, "certify": True, "events": {"half": "x - 0.5"}}
    found = bead().sweep({"x": [1.0, 0.5, -1.0], "y'": [1.0, 2.0, 3.0]}, 1.0, **options)
    found.save(tmp_path / "e.zarr")
    monkeypatch.setattr(zarr_store, "AT_ONCE", 2)  # in pieces, over the old one
    monkeypatch.setattr(pieces, "PIECE", 2)
    found.save(tmp_path / "e.zarr")
    again = da.Ensemble.load(tmp_path / "e.zarr")
    assert again.data.equals(found.data)
    assert again.about == found.about
    assert again.status.dtype == found.status.dtype
    assert "in position: residual -0.75" in again.failures()[0]["reason"]
    with xr.open_zarr(tmp_path / "e.zarr", chunks=None) as plain:  # without dalembert
        assert plain["samples.x"].dims == ("x(0)", "y'(0)", "time")
        assert keep[2] in [variable.attrs.get("long_name") for variable in plain.data_vars.values()]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every result is more than should be held in memory."""
    monkeypatch.setattr("dalembert.ensemble.result.gather.LARGE", 0)
    monkeypatch.setattr("dalembert.ensemble.members.chunk_size.MOST", 4)
    monkeypatch.setattr(pieces, "PIECE", 5)


@pytest.mark.usefixtures("large")
def test_a_large_ensemble_stays_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"x": [1.0, 0.5, -1.0], "y'": np.linspace(1, 3, 7)}
    options: dict[str, Any] = {"keep": ["samples", "energy"], "points": 5, "events": {"half": "x - 0.5"}}
    whole = bead().sweep(given, 1.0, **options)
    taken: list[str] = []
    monkeypatch.setattr("dalembert.ensemble.result.variables.Variables.take", lambda self, part: taken.append(part))
    found = bead().sweep(given, 1.0, out=tmp_path / "s", **options)
    assert not taken
    assert len(list((tmp_path / "s").glob("chunk-*.npz"))) == 7
    loaded = da.Ensemble.load(tmp_path / "s")
    for one in (found, loaded):
        assert not isinstance(one.data["energy"].variable._data, np.ndarray)  # nothing was read yet
        # Rows, places and times of any kind are those of the ensemble in memory.
        for key in ({"x(0)": 1}, {"y'(0)": [5, 0, 2], "time": -1}, {"x(0)": slice(None, None, -2), "time": [1, 3]}):
            assert one.data.isel(key)["samples.y"].equals(whole.data.isel(key)["samples.y"]), key
        assert one.text().split(" s\n")[1] == whole.text().split(" s\n")[1]
        assert one.failures() == whole.failures()
        assert one.data.equals(whole.data)
    assert bead().sweep(given, 1.0, out=tmp_path / "s", resume=True, **options).data.equals(whole.data)
    with monkeypatch.context() as patch:
        patch.setattr("dalembert.ensemble.result.files.free_memory", lambda: 10)
        with pytest.raises(da.OutputError, match=r"save it as \.zarr"):
            loaded.save(tmp_path / "e.nc")
    loaded.save(tmp_path / "e.nc")
    assert da.Ensemble.load(tmp_path / "e.nc").data.equals(whole.data)


@pytest.mark.usefixtures("large")
def test_the_command_leaves_large_results_in_parts_and_replaces_them(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "s"
    for top in ("2", "3"):
        given = SweepOptions("pendulum", (f"l=1:{top}:5",), duration=0.1, out=out, json=True)
        assert sweep_and_write(given, None) == 0
        told = json.loads(capsys.readouterr().out)
        assert str(out / "values.nc") in told["files"]
        found = da.Ensemble.load(out)
        assert (found.data["l"][-1], found.members) == (float(top), 5)
        # The numbers of this sweep, not of the one before in the same folder.
        exact = found.system_of(4).simulate(0.1, samples=2)
        assert found.final["x"][-1] == exact["x"][-1]


@pytest.mark.usefixtures("large")
def test_a_part_that_is_gone_is_told(tmp_path: Path) -> None:
    spring().sweep({"w": np.linspace(1, 5, 9)}, 1.0, out=tmp_path / "s")
    (tmp_path / "s" / "chunk-0000001.npz").unlink()
    found = da.Ensemble.load(tmp_path / "s")
    assert found.final["x"][0] == pytest.approx(np.cos(1.0), rel=1e-8)
    with pytest.raises(da.DocumentError, match=r"chunk-0000001\.npz.*cannot be read"):
        found.text()


class Interrupted:
    """Stands for the progress bar, and for a person who presses Ctrl-C after so many chunks."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, *_: object) -> Interrupted:
        return self

    def __enter__(self) -> Interrupted:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, finished: int) -> None:
        self.after -= finished > 0
        if self.after <= 0:
            raise KeyboardInterrupt


def test_an_interrupted_sweep_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, folder = {"w": np.linspace(1, 5, 100)}, tmp_path / "s"
    whole = spring().sweep(given, 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(sweeping, "Bar", Interrupted(2))
        with pytest.raises(KeyboardInterrupt):
            spring().sweep(given, 1.0, out=folder)
    finished = sorted(folder.glob("chunk-*.npz"))
    assert finished
    with pytest.raises(da.DocumentError, match="not complete"):
        da.Ensemble.load(folder)
    with pytest.raises(da.OutputError, match="a sweep here already"):
        spring().sweep(given, 1.0, out=folder)
    with pytest.raises(da.DocumentError, match="another one"):
        spring().sweep(given, 1.1, out=folder, resume=True)
    before = {file: file.stat().st_mtime_ns for file in finished}
    written: list[str] = []
    keep = Store.keep

    def note(self: Store, part: Any) -> None:
        written.append(self.parts.file(part.first).name)
        keep(self, part)

    monkeypatch.setattr(Store, "keep", note)
    resumed = spring().sweep(given, 1.0, out=folder, resume=True)
    # Nothing that was finished was computed again.
    assert not {file.name for file in before} & set(written)
    assert resumed.data.equals(whole.data)
    assert not list(folder.glob("chunk-*"))
    assert da.Ensemble.load(folder).data.equals(whole.data)
    assert spring().sweep(given, 1.0, out=folder, resume=True).data.equals(whole.data)


def test_a_spoilt_chunk_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, folder = {"w": np.linspace(1, 5, 64)}, tmp_path / "s"
    with monkeypatch.context() as patch:
        patch.setattr(sweeping, "Bar", Interrupted(2))
        with pytest.raises(KeyboardInterrupt):
            spring().sweep(given, 1.0, out=folder, threads=1)
    file = next(folder.glob("chunk-*.npz"))
    file.write_bytes(file.read_bytes()[:100])
    found = spring().sweep(given, 1.0, out=folder, resume=True)
    assert found.data.equals(spring().sweep(given, 1.0).data)


def test_a_full_disk_ends_a_sweep_and_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, folder, kept = {"w": np.linspace(1, 5, 64)}, tmp_path / "s", []
    keep = Store.keep

    def fill(self: Store, part: Any) -> None:
        if kept:
            raise da.OutputError("no space left")
        kept.append(part)
        keep(self, part)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "keep", fill)
        with pytest.raises(da.OutputError, match=r"no space left; what is finished stays there: .* resume the sweep"):
            spring().sweep(given, 1.0, out=folder)
    assert len(list(folder.glob("chunk-*.npz"))) == 1
    # What is there already needs no more room.
    room = {"free_disk": lambda _: 0, "written_in": lambda _: 10**9}
    for name, stand_in in room.items():
        monkeypatch.setattr(f"dalembert.ensemble.result.variables.{name}", stand_in)
    found = spring().sweep(given, 1.0, out=folder, resume=True)
    monkeypatch.undo()
    monkeypatch.setattr("dalembert.ensemble.result.variables.free_disk", lambda _: 0)
    with pytest.raises(da.ModelError, match="on disk"):
        spring().sweep(given, 1.0, out=tmp_path / "anew")
    monkeypatch.undo()
    assert found.data.equals(spring().sweep(given, 1.0).data)


def test_a_model_without_a_document_is_resumed_whatever_was_done_with_it(tmp_path: Path) -> None:
    def make() -> da.System:
        (x,) = da.coordinates("x")
        return da.System("well", coordinates=[x], kinetic=x.d**2 / 2, potential=sp.erf(x), initial={x: 1, x.d: 0})

    fresh, used = make(), make()
    assert not model_text(fresh)
    first = fresh.sweep({"x": [1.0, 2.0]}, 1.0, out=tmp_path)
    used.simulate(1.0)
    used.sweep({"x": [3.0]}, 1.0)
    again = used.sweep({"x": [1.0, 2.0]}, 1.0, out=tmp_path, resume=True)
    assert again.data.equals(first.data)


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(da.DocumentError, match="no sweep here"):
        spring().sweep({"w": [1.0]}, 1.0, out=tmp_path / "none", resume=True)


def test_draws_are_resumed_with_their_seed(tmp_path: Path) -> None:
    from scipy import stats

    first = spring().sweep({"a": stats.norm(1, 0.1)}, 0.1, samples=5, out=tmp_path / "s")
    again = spring().sweep({"a": stats.norm(1, 0.1)}, 0.1, samples=5, out=tmp_path / "s", resume=True)
    assert again.data.equals(first.data)


@pytest.mark.parametrize(
    ("given", "options", "of", "kind"),
    [
        ({"w": [1.0, 2.0], "a": [1.0, 2.0, 3.0]}, {}, None, "map"),
        ({"w": [1.0, 2.0], "a": [1.0, 2.0, 3.0]}, {}, "status", "basin"),
        ({"w": [2.0, 1.0]}, {}, "x", "line"),
        ({"w": [1.0, 2.0]}, {"keep": ["x"], "points": 5}, None, "fan"),
        ([{"w": 1.0}, {"w": 2.0}], {}, None, "histogram"),
    ],
)
def test_pictures(tmp_path: Path, given: Any, options: dict[str, Any], of: Any, kind: str) -> None:
    found = spring().sweep(given, 1.0, **options)
    file = tmp_path / "e.png"
    assert isinstance(found.plot(file, of=of, kind=kind), Figure)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert found.plot(of=of).axes
    with pytest.raises(da.OutputError, match="reasons are texts"):
        found.plot(of="reason")
    with pytest.raises(da.OutputError, match="no picture of kind 'pie'"):
        found.plot(kind="pie")


def test_a_map_shows_the_numbers() -> None:
    found = thrown_ball().sweep({"v": [5.0, 10.0], "angle": [0.3, 0.6, 0.9]}, 10.0)
    drawn = found.plot(of="x", kind="map").axes[0].collections[0].get_array()
    assert np.array_equal(np.asarray(drawn).reshape(2, 3), found.final["x"])
    with pytest.raises(da.OutputError, match="has no fan"):
        found.plot(of="x", kind="fan")


@pytest.mark.parametrize("kind", ["map", "basin"])
def test_a_map_of_values_in_any_order_has_each_in_its_place(kind: str) -> None:
    """Cells follow each other along both axes, and each has the number of its own member."""
    w, a = [2.0, 0.5, 1.0], [3.0, 1.0, 2.0]
    found = spring().sweep({"w": w, "a": a}, 0.1, reduce={"n": ("final", "2*a + w")})
    mesh = found.plot(of="n", kind=kind).axes[0].collections[0]
    corners = mesh.get_coordinates()
    assert (np.diff(corners[0, :, 0]) > 0).all()
    assert (np.diff(corners[:, 0, 1]) > 0).all()
    rising = np.add.outer(sorted(w), 2 * np.array(sorted(a)))
    shown = np.asarray(mesh.get_array()).reshape(3, 3)
    assert np.array_equal(shown if kind == "map" else np.unique(rising)[shown.astype(int)], rising)


@pytest.mark.parametrize("given", [{"m": [1.0, 2.0, 3.0]}, [{"m": 1.0}, {"m": 2.0}]])
def test_a_picture_shows_no_rounding_errors(given: Any) -> None:
    """A penny of any mass rolls alike: its end differs by rounding alone, which is drawn as no difference."""
    found = da.library.penny().sweep(given, 5.0)
    axes = found.plot(of="x").axes[0]
    low, high = axes.get_ylim() if isinstance(given, dict) else axes.get_xlim()
    assert high - low > 0.1 * np.abs(found.final["x"]).max()
    axes.figure.canvas.draw()
    assert axes.yaxis.get_offset_text().get_text() == ""


def test_a_map_of_equal_values_is_of_one_colour() -> None:
    found = da.library.penny().sweep({"m": [1.0, 2.0, 3.0], "omega": [1.0, 1.0 + 1e-13]}, 5.0)
    drawn = found.plot(of="x", kind="map").axes[0].collections[0]
    shades = drawn.cmap(drawn.norm(np.asarray(drawn.get_array())))
    assert np.ptp(shades, axis=0).max() < 0.01
