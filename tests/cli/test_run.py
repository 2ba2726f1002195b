"""`dalembert run`: what it prints, what it writes, and its exit status."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

import dalembert as da

CONTRACT = {"name", "coordinates", "final", "start", "certificate", "events", "timing", "backend", "warnings"}


def test_json_is_one_object_with_the_agreed_keys(dalembert, document):
    done = dalembert("run", document(), "--json")
    assert done.status == 0
    assert done.err == ""
    data = json.loads(done.out)
    assert set(data) >= CONTRACT
    assert set(data["final"]) == {"t", "x", "y", "x'", "y'"}
    assert set(data["start"]) >= {"acceleration", "impressed", "ideal", "nonideal", "multipliers", "rank"}
    wanted = {
        "position",
        "velocity",
        "acceleration",
        "virtual_work",
        "gauss",
        "energy",
        "rank_min",
        "rank_max",
        "holds",
    }
    assert set(data["certificate"]) >= wanted
    seconds = {"derive_s", "compile_s", "integrate_s", "forces_s", "certify_s"}
    assert set(data["timing"]) == {*seconds, "steps", "evaluations", "kernel"}
    # Released horizontally at rest: free fall along y, tension zero.
    assert data["start"]["acceleration"]["y"] == pytest.approx(-9.81, abs=1e-12)
    assert data["start"]["ideal"]["x"] == pytest.approx(0.0, abs=1e-12)
    assert data["start"]["impressed"]["y"] == pytest.approx(-1.1 * 9.81, rel=1e-14)


def test_summary_and_files(dalembert, document, tmp_path):
    done = dalembert("run", document(), "--out", tmp_path / "results")
    assert done.status == 0
    assert "certificate: holds" in done.out
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["pendulum.csv", "pendulum.png"]
    with open(tmp_path / "results" / "pendulum.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 11
    assert float(rows[-1]["t"]) == 0.5
    assert math.hypot(float(rows[-1]["x"]), float(rows[-1]["y"])) == pytest.approx(0.9, abs=1e-12)
    assert (tmp_path / "results" / "pendulum.png").read_bytes().startswith(b"\x89PNG")


def test_netcdf_can_be_loaded_again(dalembert, document, tmp_path):
    assert dalembert("run", document(), "--format", "netcdf", "--out", tmp_path / "r").status == 0
    motion = da.Motion.load(tmp_path / "r" / "pendulum.nc")
    assert motion.certificate.holds
    again = da.load(document()).simulate()
    np.testing.assert_array_equal(motion.q, again.q)


def test_default_folder_is_named_after_the_system(dalembert, document, tmp_path):
    assert dalembert("run", document()).status == 0
    assert (tmp_path / "dalembert-pendulum" / "pendulum.csv").exists()


def test_set_initial_duration_and_tolerance(dalembert, document):
    options = ["--set", "l=0.5", "--initial", "x=0", "--initial", "y=-0.5", "--initial", "x'=1"]
    done = dalembert("run", document(), *options, "--duration", "0.25", "--rtol", "1e-11", "--json")
    assert done.status == 0, done.err
    data = json.loads(done.out)
    assert data["final"]["t"] == 0.25
    # At the bottom with speed 1: centripetal acceleration v²/l.
    assert data["start"]["acceleration"]["y"] == pytest.approx(1 / 0.5, rel=1e-12)


def test_repair_starts_from_the_nearest_state(dalembert, document):
    broken = document(("x = 0.9\n", "x = 0.8\n"), ("y = 0.0\n", "y = 0.3\n"))
    refused = dalembert("run", broken, "--json")
    assert refused.status == 2
    assert "'rod'" in refused.err
    assert "--repair" in refused.err
    repaired = dalembert("run", broken, "--repair", "--json")
    assert repaired.status == 0
    final = json.loads(repaired.out)["final"]
    assert math.hypot(final["x"], final["y"]) == pytest.approx(0.9, abs=1e-12)


def test_motion_that_ends_early_exits_3_and_writes_what_there_is(dalembert, tmp_path):
    model = tmp_path / "fall.toml"
    model.write_text(
        'name = "fall into the centre"\ncoordinates = ["r"]\n'
        '[energy]\nkinetic = "r\'^2/2"\npotential = "-1/r"\n'
        '[initial]\nr = 1.0\n"r\'" = 0.0\n[simulate]\nduration = 3.0\n'
    )
    done = dalembert("run", model, "--json", "--out", tmp_path / "r")
    assert done.status == 3
    assert "could not be continued" in done.err
    assert "Traceback" not in done.err
    data = json.loads(done.out)
    # The time of fall from rest at r = 1 is π/(2√2); output points stop there.
    assert data["final"]["t"] < math.pi / (2 * math.sqrt(2))
    assert data["final"]["t"] > 1.0
    assert "failure" in data
    assert (tmp_path / "r" / "fall-into-the-centre.csv").exists()


def test_certificate_that_does_not_hold_exits_3(dalembert, document):
    done = dalembert("run", document(), "--no-project", "--rtol", "1e-2", "--method", "dopri5", "--duration", "100")
    assert done.status == 3
    assert "certificate does not hold" in done.err
    assert "does not hold" in done.out


def test_stiff_method(dalembert, document):
    fast = json.loads(dalembert("run", document(), "--json").out)["final"]
    stiff = json.loads(dalembert("run", document(), "--method", "stiff", "--json", "--rtol", "1e-8").out)["final"]
    # Radau at rtol 1e-8 over half a second: global error within a hundred tolerances.
    assert stiff["x"] == pytest.approx(fast["x"], abs=1e-6)


def test_library_name_with_dash(dalembert):
    done = dalembert("run", "rough-incline", "--json")
    assert done.status == 0, done.err
