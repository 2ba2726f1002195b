"""Friction and one-sided constraints from documents."""

from __future__ import annotations

import json
import math

import pytest

BLOCK = """
name = "block on a rough incline"
coordinates = ["x", "y"]
[parameters]
m = 1.0
g = 9.81
theta = 0.5
mu = 0.7
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"
[[constraints]]
name = "plane"
equation = "y = x*tan(theta)"
[[nonideal]]
law = "coulomb"
constraint = "plane"
mu = "mu"
[initial]
x = 0.0
y = 0.0
"x'" = 1.0
"y'" = 0.5463024898437905
[simulate]
duration = 1.0
samples = 11
"""

BALL = """
name = "ball"
coordinates = ["y"]
[parameters]
g = 9.81
e = 0.5
[energy]
kinetic = "y'^2/2"
potential = "g*y"
[[constraints]]
name = "floor"
equation = "y >= 0"
restitution = "e"
[initial]
y = 1.0
"y'" = 0.0
[simulate]
duration = 2.0
samples = 11
"""


@pytest.fixture
def model(tmp_path):
    def write(text: str):
        path = tmp_path / "model.toml"
        path.write_text(text)
        return path

    return write


def test_a_block_stops_and_stays(dalembert, model, tmp_path):
    done = dalembert("run", model(BLOCK), "--json", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    data = json.loads(done.out)
    stop = 1 / math.cos(0.5) / (9.81 * (math.sin(0.5) + 0.7 * math.cos(0.5)))
    (event,) = data["events"]
    assert event["name"] == "stick"
    assert event["contact"] == "plane"
    # A hundred tolerances of 1e-9.
    assert event["t"] == pytest.approx(stop, rel=1e-7)
    assert data["contacts"]["plane"]["start"]["state"] == "slip"
    assert data["contacts"]["plane"]["end"]["state"] == "stick"
    # At the start friction acts down the plane with μ N.
    assert data["start"]["nonideal"]["x"] == pytest.approx(-0.7 * 9.81 * math.cos(0.5) ** 2)
    assert data["certificate"]["holds"]
    assert data["certificate"]["contact"] < 1e-8
    table = (tmp_path / "out" / "block-on-a-rough-incline.csv").read_text()
    assert "friction plane" in table.splitlines()[0]


def test_the_summary_tells_of_contacts(dalembert, model, tmp_path):
    done = dalembert("run", model(BLOCK), "--out", tmp_path / "out")
    assert done.status == 0, done.err
    assert "stick" in done.out
    assert "laws of friction and contact" in done.out


def test_a_start_in_the_air_is_no_fault(dalembert, model):
    assert dalembert("check", model(BALL)).status == 0


def test_a_start_below_the_floor_is(dalembert, model, tmp_path):
    path = model(BALL.replace("y = 1.0", "y = -0.5"))
    for verb in (("check", path), ("run", path, "--out", tmp_path / "out")):
        done = dalembert(*verb)
        assert done.status == 2
        assert "'floor'" in done.err
        assert "negative" in done.err


def test_a_ball_comes_to_rest(dalembert, model, tmp_path):
    done = dalembert("run", model(BALL), "--json", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    data = json.loads(done.out)
    names = [event["name"] for event in data["events"]]
    assert names[0] == "impact"
    assert names[-1] == "contact"
    assert abs(data["final"]["y"]) < 1e-9
    assert data["certificate"]["holds"]


def test_the_ledger_tells_where_the_energy_went(dalembert, model, tmp_path):
    block = json.loads(dalembert("run", model(BLOCK), "--json", "--out", tmp_path / "out").out)["ledger"]
    speed, slope, rough = 1 / math.cos(0.5), math.sin(0.5), 0.7 * math.cos(0.5)
    # Kinetic energy becomes height and heat, in the proportion of the two forces; a hundred tolerances of 1e-9.
    assert block["heat"]["plane"] == pytest.approx(speed**2 / 2 * rough / (slope + rough), rel=1e-7)
    assert block["end"] - block["start"] == pytest.approx(-block["heat"]["plane"], rel=1e-7)
    assert "impact_loss" not in block
    ball = json.loads(dalembert("run", model(BALL), "--json", "--out", tmp_path / "out").out)["ledger"]
    assert ball["impact_loss"] == pytest.approx(9.81, rel=1e-7)
    assert ball["heat"] == {}
    shown = dalembert("run", model(BLOCK), "--out", tmp_path / "out").out
    assert "heat of friction: 'plane' 0.36" in " ".join(shown.split())
    assert "lost in impacts" in dalembert("run", model(BALL), "--out", tmp_path / "out").out


def test_repair_moves_what_is_below_the_floor_and_nothing_else(dalembert, model, tmp_path):
    def run(text: str) -> dict:
        done = dalembert("run", model(text), "--repair", "--duration", "0.1", "--json", "--out", tmp_path / "out")
        assert done.status == 0, done.err
        return json.loads(done.out)

    fallen = run(BALL)["final"]
    assert fallen["y"] == pytest.approx(1 - 9.81 * 0.1**2 / 2, rel=1e-9)
    risen = run(BALL.replace("y = 1.0", "y = -0.5").replace('"y\'" = 0.0', '"y\'" = 2.0'))["final"]
    assert risen["y"] == pytest.approx(2 * 0.1 - 9.81 * 0.1**2 / 2, rel=1e-9)
