"""`path`, `between`, `curvature`, `picture`, `reduce`: their numbers, their files, and what they say of bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

BALL = """
name = "thrown ball"
coordinates = ["x", "y"]
[parameters]
m = 2.0
g = 10.0
a = 8.0
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"
[initial]
x = 0.0
y = 0.0
"x'" = 3.0
"y'" = 4.0
[simulate]
duration = 1.0
samples = 21
"""


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    file = tmp_path / "ball.toml"
    file.write_text(BALL)
    return file


def table(file: str) -> dict[str, np.ndarray]:
    with open(file, encoding="utf-8") as stream:
        head, *rows = list(csv.reader(stream))
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def test_path(dalembert, ball):
    """E = 100, m = 2: v² = 100; the range 8 = v² sin 2θ/g gives two throws, tan θ = 1/2 and 2."""
    done = dalembert("path", ball, "--end", "x=a", "--energy", "100", "--samples", "11", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["duration"] == pytest.approx(8 / (10 * np.cos(np.arctan(0.5))), rel=1e-9)
    assert found["launch"]["y'"] / found["launch"]["x'"] == pytest.approx(0.5, rel=1e-9)
    numbers = table(found["files"][0])
    assert len(numbers["t"]) == 11
    assert numbers["x"][-1] == pytest.approx(8, rel=1e-9)
    assert Path(found["files"][1]).read_bytes().startswith(b"\x89PNG")
    high = dalembert("path", ball, "--end", "x=8", "--energy", "100", "--through", "x=4,y=4")
    assert high.status == 0, high.err
    assert "time 1.788854382" in high.out  # tan θ = 2
    assert "wrote dalembert-thrown-ball" in high.out


def test_path_out_of_reach(dalembert, ball):
    """No throw of E = 70 goes further than 2E/(mg) = 7."""
    done = dalembert("path", ball, "--end", "x=8", "--energy", "70")
    assert done.status == 3
    assert "out of reach at the energy 70" in done.err
    assert "--through" in done.err
    assert "80" in done.err
    assert not list(Path.cwd().glob("dalembert-*")), "a folder without results was left behind"


def test_between(dalembert, ball):
    """In the time 2 the ball rises with g·1 = 10 and moves with 8/2 = 4; S = ∫(T − V)dt by hand."""
    done = dalembert("between", ball, "--end", "x=8", "--duration", "2", "--json", "--out", "here")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["launch"] == pytest.approx({"x": 0, "y": 0, "x'": 4, "y'": 10}, abs=1e-8)
    # m∫(16 + (10 − 10t)²)/2 − 10(10t − 5t²) dt over [0, 2] = 2(16 + 100/3 − 200/3)
    assert found["action"] == pytest.approx(2 * (16 - 100 / 3), rel=1e-9)
    assert found["kind"] == "minimum"
    assert table("here/thrown-ball-between.csv")["y"].max() == pytest.approx(5, rel=1e-6)
    assert Path("here/thrown-ball-between.png").stat().st_size > 1000
    text = dalembert("between", ball, "--end", "x=8", "--duration", "2", "--guess", "x'=4")
    assert text.status == 0, text.err
    assert "minimum" in text.out


def test_curvature(dalembert):
    """On a circle of radius l a mass m has √K = 1/(l √m), whatever its speed: the pendulum of the library."""
    values = ["--set", "m=4", "--set", "l=0.5"]
    for value in ("x=0", "y=-0.5", "x'=1", "y'=0"):
        values += ["--initial", value]
    done = dalembert("curvature", "pendulum", "--duration", "1", "--json", *values)
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["least"] == pytest.approx(1 / (0.5 * 2), rel=1e-7)
    assert found["most"] == pytest.approx(1 / (0.5 * 2), rel=1e-7)
    assert table(found["files"][0])["curvature"] == pytest.approx(1.0, rel=1e-7)
    assert Path(found["files"][1]).stat().st_size > 1000


def test_curvature_at_rest_and_where_there_is_none(dalembert, document):
    text = dalembert("curvature", document())
    assert text.status == 0, text.err
    assert "not defined at 1 point," in text.out  # the pendulum starts from rest
    none = dalembert("curvature", "quaternion_body", "--duration", "0.1")
    assert none.status == 2
    assert "curvature needs a metric" in none.err


def test_picture(dalembert, document, tmp_path):
    """The pendulum at rest on the level of its pivot is free to fall: its rod does nothing, G = 0."""
    done = dalembert("picture", document(), "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["G"] == pytest.approx(0.0, abs=1e-20)
    # With x' = 0, y' = 2 the rod pulls by v²/l: G = m v⁴/l², and no factor ½.
    moving = dalembert("picture", document(), "--initial", "y'=2", "--out", tmp_path / "g.svg", "--json")
    assert json.loads(moving.out)["G"] == pytest.approx(1.1 * 2**4 / 0.9**2, rel=1e-12)
    assert (tmp_path / "g.svg").read_text().startswith("<?xml")
    assert "without 1/2" in dalembert("picture", document()).out
    wrong = dalembert("picture", document(), "--of", "x", "z")
    assert wrong.status == 2
    assert "a picture is of two of the coordinates x, y" in wrong.err
    assert dalembert("picture", document(), "--out", tmp_path / "none" / "g.png").status == 2


def test_reduce(dalembert, document, tmp_path):
    done = dalembert("reduce", document(), "--json", "--save", tmp_path / "small.toml")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["coordinates"] == ["angle_rod"]
    assert found["places"]["x"] == "l*cos(angle_rod)"
    small = json.loads(dalembert("run", tmp_path / "small.toml", "--json").out)
    whole = json.loads(dalembert("run", document(), "--json").out)
    l, angle = 0.9, small["final"]["angle_rod"]
    # Both at rtol 1e-9 over half a swing.
    assert [l * np.cos(angle), l * np.sin(angle)] == pytest.approx([whole["final"]["x"], whole["final"]["y"]], abs=1e-8)
    text = dalembert("reduce", document(), "--keep", "x", "--keep", "y")
    assert "'rod' stays: x, y are to be kept" in text.out
    assert dalembert("reduce", document(), "--keep", "q").status == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["path", "--energy", "1", "--end", "w=1"], "--end: 'w' is not known"),
        (["path", "--energy", "1", "--end", "x"], "--end 'x': write NAME=VALUE"),
        (["path", "--energy", "100", "--end", "x=8", "--end", "x=9"], "--end: x is given twice, 8 and 9"),
        (["path", "--energy", "100", "--end", "x=8", "--through", "x=4;y=4"], "--through"),
        (["path", "--energy", "100", "--end", "x=8", "--samples", "1"], "at least 2 points"),
        (["between", "--duration", "-1", "--end", "x=8"], "must be positive"),
        (["between", "--duration", "1", "--end", "x=8", "--guess", "x=3"], "--guess: 'x' is not known"),
    ],
)
def test_bad_input_is_one_message(dalembert, ball, arguments, told):
    done = dalembert(arguments[0], ball, *arguments[1:])
    assert done.status == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert not list(Path.cwd().glob("dalembert-*"))


def test_a_path_needs_a_potential(dalembert):
    done = dalembert("path", "penny", "--energy", "1", "--end", "x=1")
    assert done.status == 2
    assert "not a constraint on positions" in done.err


def test_passages_draw_themselves(tmp_path):
    ball = da.System("ball", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="10*y")
    ball.between({"x": 0, "y": 0}, {"x": 4, "y": 0}, 2).plot(tmp_path / "passage.png")
    assert (tmp_path / "passage.png").stat().st_size > 1000
