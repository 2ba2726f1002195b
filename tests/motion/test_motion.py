"""`Motion` as a value: columns by name, other forms, files."""

from __future__ import annotations

import csv
import dataclasses
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import xarray as xr
from sample_systems import falling, penny, sliding, x, y

import dalembert as da
from dalembert.motion.result.motion import VECTORS

motion = sliding().simulate(0.3, samples=7)
rolling = penny().simulate(0.5, samples=5)
free = falling(potential=x**2).simulate(1, samples=4)


class TestColumns:
    def test_states_and_accelerations(self) -> None:
        for k, name in enumerate(("x", "y", "psi", "phi")):
            np.testing.assert_array_equal(rolling[name], rolling.q[:, k])
            np.testing.assert_array_equal(rolling[name + "'"], rolling.v[:, k])
            np.testing.assert_array_equal(rolling[name + "''"], rolling.a[:, k])

    def test_by_name_as_in_all_columns(self) -> None:
        for name, values in rolling.columns().items():
            np.testing.assert_array_equal(rolling[name], values)
        for name in ("impressed x'", "velocity x", "x'''", " x", "impressed"):
            with pytest.raises(KeyError):
                rolling[name]

    def test_by_symbol(self) -> None:
        np.testing.assert_array_equal(rolling[x], rolling["x"])
        np.testing.assert_array_equal(rolling[x.d], rolling["x'"])
        np.testing.assert_array_equal(rolling[y.dd], rolling["y''"])
        np.testing.assert_array_equal(rolling[da.t], rolling.t)

    def test_forces(self) -> None:
        for kind in ("impressed", "inertial", "ideal", "nonideal"):
            np.testing.assert_array_equal(motion[f"{kind} y"], getattr(motion, kind)[:, 1])

    def test_the_rest(self) -> None:
        np.testing.assert_array_equal(rolling["multiplier roll y"], rolling.multipliers[:, 1])
        np.testing.assert_array_equal(motion["energy"], motion.energy)
        for k, kind in enumerate(("impressed", "ideal", "nonideal")):
            np.testing.assert_array_equal(motion[f"work {kind}"], motion.work[:, k])

    @pytest.mark.parametrize(
        ("name", "hint"), [("X", "'x'"), ("idael x", "'ideal x'"), ("multiplier plain", "'multiplier plane'")]
    )
    def test_unknown(self, name: str, hint: str) -> None:
        with pytest.raises(KeyError) as caught:
            motion[name]
        assert name in str(caught.value)
        assert hint in str(caught.value)

    def test_final(self) -> None:
        assert motion.final == {
            "t": motion.t[-1],
            "x": motion.q[-1, 0],
            "y": motion.q[-1, 1],
            "x'": motion.v[-1, 0],
            "y'": motion.v[-1, 1],
        }


def test_meaning_of_the_columns() -> None:
    """M a = impressed + inertial + ideal + nonideal at every time; energy changes by the work."""
    total = motion.impressed + motion.inertial + motion.ideal + motion.nonideal
    np.testing.assert_allclose(1.7 * motion.a, total, rtol=1e-12)
    # Work is integrated with the motion, at 1e-9.
    np.testing.assert_allclose(motion.energy - motion.energy[0], motion.work.sum(axis=1), atol=1e-7)


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        motion.t = np.zeros(3)  # type: ignore[misc]


def test_repr() -> None:
    assert repr(motion) == "<Motion of 'sliding block': t = 0 … 0.3, 7 points, certificate holds>"


def test_timing() -> None:
    assert motion.timing.steps > 0
    assert motion.timing.evaluations > 10 * motion.timing.steps  # twelve stages and more
    assert motion.timing.integrate_s > 0


def equal(one: da.Motion, other: da.Motion) -> None:
    for name in ("t", *VECTORS, "multipliers", "rank", "energy", "work"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("rtol", "method", "backend", "warnings", "timing", "certificate"):
        assert getattr(one, name) == getattr(other, name), name
    assert [dict(event) for event in one.events] == [dict(event) for event in other.events]
    assert da.dumps(one.system) == da.dumps(other.system)


def test_pickle() -> None:
    equal(pickle.loads(pickle.dumps(motion)), motion)


class TestForms:
    def test_xarray(self) -> None:
        data = rolling.to_xarray()
        assert isinstance(data, xr.Dataset)
        np.testing.assert_array_equal(data["q"].sel(coordinate="psi"), rolling["psi"])
        np.testing.assert_array_equal(data["v"].sel(coordinate="y"), rolling["y'"])
        np.testing.assert_array_equal(data["ideal"].sel(coordinate="x"), rolling["ideal x"])
        np.testing.assert_array_equal(data["multipliers"].sel(constraint="roll x"), rolling["multiplier roll x"])
        np.testing.assert_array_equal(data["work"].sel(source="ideal"), rolling["work ideal"])
        np.testing.assert_array_equal(data["time"], rolling.t)
        assert data.attrs["title"] == "penny"

    def test_xarray_without_constraints(self) -> None:
        data = free.to_xarray()
        assert "constraint" not in data.dims
        assert data.sizes == {"time": 4, "coordinate": 1, "source": 3}

    def test_dataframe(self) -> None:
        table = rolling.to_dataframe()
        assert isinstance(table, pd.DataFrame)
        assert table.index.name == "t"
        np.testing.assert_array_equal(table.index, rolling.t)
        assert set(table.columns) == set(rolling.columns()) - {"t"}
        for name in table.columns:
            np.testing.assert_array_equal(table[name], rolling[name])


def with_events() -> da.Motion:
    """A rank change and a warning, so that these are not empty."""
    system = da.System(
        "ранг",
        coordinates=["x", "y", "ζ"],
        kinetic="(x'^2 + y'^2 + ζ'^2)/2",
        constraints={"one": "y'", "zwei: ζ": "y' + ζ*x'", "flat": "x'^2 - y'^2"},
        initial={"x": 0, "y": 0, "ζ": 0, "x'": 0, "y'": 0, "ζ'": 1},
    )
    found = system.simulate(1, samples=3)
    assert found.events
    assert found.warnings
    return found


class TestFiles:
    @pytest.mark.parametrize(
        "make",
        [lambda: motion, lambda: rolling, lambda: free, with_events],
        ids=["nonideal", "penny", "free", "events"],
    )
    def test_netcdf(self, make: Callable[[], da.Motion], tmp_path: Path) -> None:
        one = make()
        one.save(tmp_path / "motion.nc")
        equal(da.Motion.load(tmp_path / "motion.nc"), one)
        assert os.listdir(tmp_path) == ["motion.nc"]

    def test_a_loaded_motion_works(self, tmp_path: Path) -> None:
        motion.save(tmp_path / "motion.nc")
        again = da.Motion.load(str(tmp_path / "motion.nc"))
        assert again.certified().certificate.holds
        np.testing.assert_array_equal(again["ideal x"], motion["ideal x"])
        again.save(tmp_path / "again.nc")
        equal(da.Motion.load(tmp_path / "again.nc"), motion)

    def test_a_motion_whose_model_no_document_can_hold(self, tmp_path: Path) -> None:
        """Saved so that it can be loaded, or refused; a file that cannot be read again is worth nothing."""
        system = falling(potential=sp.Piecewise((x**2, x > 0), (2 * x**2, True)))
        one = system.simulate(1, samples=3)
        path = tmp_path / "motion.nc"
        try:
            one.save(path)
        except da.DalembertError:
            assert os.listdir(tmp_path) == []
            return
        np.testing.assert_array_equal(da.Motion.load(path).q, one.q)

    def test_csv(self, tmp_path: Path) -> None:
        rolling.save(tmp_path / "motion.csv")
        with (tmp_path / "motion.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == list(rolling.columns())
        table = np.array(rows, dtype=float)
        for k, column in enumerate(rolling.columns().values()):
            np.testing.assert_array_equal(table[:, k], column)  # all digits of a double are written

    def test_over_an_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "motion.nc"
        path.write_text("old")
        motion.save(path)
        equal(da.Motion.load(path), motion)

    @pytest.mark.parametrize("suffix", ["nc", "csv"])
    def test_nowhere_to_write(self, suffix: str, tmp_path: Path) -> None:
        (tmp_path / f"folder.{suffix}").mkdir()
        (tmp_path / "file").write_text("kept")
        before = sorted(os.listdir(tmp_path))
        for path in (
            tmp_path / "missing" / f"a.{suffix}",
            tmp_path / f"folder.{suffix}",
            tmp_path / "file" / f"a.{suffix}",
        ):
            with pytest.raises(da.OutputError, match=path.name):
                motion.save(path)
        assert sorted(os.listdir(tmp_path)) == before
        assert os.listdir(tmp_path / f"folder.{suffix}") == []
        assert (tmp_path / "file").read_text() == "kept"

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_folder_that_may_not_be_written(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(da.OutputError):
                motion.save(tmp_path / "motion.nc")
            assert os.listdir(tmp_path) == []
        finally:
            tmp_path.chmod(0o700)

    @pytest.mark.parametrize("name", ["motion", "motion.txt", "motion.nc.gz"])
    def test_other_suffixes(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(da.OutputError, match=r"\.nc or \.csv"):
            motion.save(tmp_path / name)
        assert os.listdir(tmp_path) == []

    def test_an_upper_case_suffix(self, tmp_path: Path) -> None:
        """Accepted or refused; never written as something else."""
        path = tmp_path / "motion.NC"
        try:
            motion.save(path)
        except da.OutputError:
            return
        equal(da.Motion.load(path), motion)

    def test_loading_what_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(da.DocumentError, match="no such file"):
            da.Motion.load(tmp_path / "none.nc")
        garbage = tmp_path / "garbage.nc"
        for content in (b"", b"garbage", b"CDF\x01" + b"\xff" * 50, bytes(1000)):
            garbage.write_bytes(content)
            with pytest.raises(da.DocumentError):
                da.Motion.load(garbage)

    def test_loading_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(da.DocumentError):
            da.Motion.load(tmp_path)

    def test_loading_another_dataset(self, tmp_path: Path) -> None:
        path = tmp_path / "other.nc"
        xr.Dataset({"a": ("n", [1.0, 2.0])}).to_netcdf(path, engine="scipy")
        with pytest.raises(da.DocumentError, match="no model"):
            da.Motion.load(path)

    def test_loading_a_truncated_file(self, tmp_path: Path) -> None:
        path = tmp_path / "motion.nc"
        motion.save(path)
        path.write_bytes(path.read_bytes()[:-500])
        with pytest.raises(da.DocumentError):
            da.Motion.load(path)
