"""Units are labels: checked, written and read back, handed on, and never part of a computation."""

from __future__ import annotations

import json

import pytest

import dalembert as da
from dalembert.cli.kept import kept_with
from dalembert.model.units import quotient
from dalembert.motion.kept_models import Origin, find_kept, keep_model

UNITS = {"x": "m", "m": "kg", "r": "m", "tip x": "m", "t": "s", "x'": "m/s", "energy": "J"}


def ball(**more) -> da.System:
    return da.System(
        "ball",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        definitions={"r": "sqrt(x^2 + y^2)"},
        outputs={"tip x": "x"},
        parameters={"m": 1.5},
        initial={"x": 1, "y": 0, "x'": 1, "y'": 0},
        **more,
    )


def test_they_are_written_and_read_back():
    system = ball(units=UNITS)
    assert dict(system.units) == UNITS
    assert dict(da.loads(da.dumps(system)).units) == UNITS
    assert "[units]" not in da.dumps(ball())


def test_symbols_may_stand_for_their_names():
    x, y = da.coordinates("x y")
    m = da.parameters("m")[0]
    system = da.System("s", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, units={x: "m", x.d: "m/s", m: "kg"})
    assert dict(system.units) == {"x": "m", "x'": "m/s", "m": "kg"}


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(da.ModelError) as told:
        ball(units={"xx": "m", "y": "\x1b[31mm", "m": 3, "x": " "})
    text = str(told.value)
    assert "units: there is no 'xx' in this model. Did you mean 'x'?" in text
    assert text.count("is a short text such as 'm' or 'm/s', got") == 3
    with pytest.raises(da.ModelError, match=r'units: a mapping such as \{"x": "m"\} is wanted, got \'m\''):
        ball(units="m")
    with pytest.raises(da.DocumentError, match="there is no 'z' in this model"):
        da.loads(da.dumps(ball()) + '\n[units]\nz = "m"\n')


def test_they_stay_with_changed_systems_as_far_as_names_do():
    system = ball(units=UNITS)
    assert dict(system.replace(parameters={"m": 2}).units) == UNITS
    assert dict(system.replace(units={"y": "m"}).units) == {"y": "m"}
    assert "r" not in system.expanded.units
    assert system.expanded.units["tip x"] == "m"


def test_they_do_not_make_another_motion():
    assert ball().structure == ball(units=UNITS).structure


def test_particles_keep_theirs_and_their_outputs():
    system = da.library.get("liberated_pendulum").replace(units={"alpha": "rad"}, outputs={"height": "cos(alpha)"})
    assert system.particles is not None
    again = da.loads(da.dumps(system))
    assert dict(again.units) == {"alpha": "rad"}
    assert list(again.outputs) == ["height"]
    assert again.particles is not None


def test_files_have_them_as_attributes(tmp_path):
    motion = ball(units=UNITS | {"y": "m", "t": "seconds"}).simulate(1.0, samples=3)
    data = motion.to_xarray()
    assert json.loads(data.attrs["units"])["m"] == "kg"
    assert data["time"].attrs["units"] == "seconds"
    assert data["q"].attrs["units"] == "m"
    assert data["energy"].attrs["units"] == "J"
    assert list(data["unit"].values) == ["m", "m"]
    motion.save(tmp_path / "ball.nc")
    again = da.Motion.load(tmp_path / "ball.nc")
    assert dict(again.system.units) == dict(motion.system.units)
    assert again.t.tolist() == motion.t.tolist()  # a unit of time makes no dates of them
    assert motion.to_dataframe().attrs["units"]["x'"] == "m/s"
    # A table of numbers stays one.
    motion.save(tmp_path / "ball.csv")
    assert (tmp_path / "ball.csv").read_text().startswith("t,x,y,")


def test_without_units_files_are_as_they_were():
    data = da.library.pendulum().simulate(0.5, samples=3).to_xarray()
    assert "units" not in data.attrs
    assert "unit" not in data.coords


def test_what_is_kept_of_a_model_has_them():
    system = da.library.pendulum().replace(units={"x": "m", "t": "s"})
    origin = Origin("a pendulum with units, for this test", lambda: system)
    keep_model(origin, system)
    kept = find_kept(origin)
    assert kept is not None
    assert dict(kept.units) == {"x": "m", "t": "s"}
    assert kept.cartesian_points == (("x", "y"),)
    assert kept.has_plain_kinetic
    other = kept_with(origin, ["m=2"], [])
    assert other is not None
    assert dict(other.units) == {"x": "m", "t": "s"}


@pytest.mark.parametrize(
    ("unit", "by", "power", "found"),
    [("m", "s", 1, "m/s"), ("m", "s", 2, "m/s²"), ("J", "m", 1, "N"), ("J", "rad", 1, "N m"), ("kg m", "1", 1, "kg m"),
     ("J", "m/s", 1, "J/(m/s)")],
)  # fmt: skip
def test_units_of_rates_and_forces(unit, by, power, found):
    assert quotient(unit, by, power) == found
