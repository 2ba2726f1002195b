"""`dalembert sweep`: its line, what it writes, how it is resumed, and what it says of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import application
from dalembert.cli.vary import read_vary
from dalembert.ensemble import sweep as sweeping
from dalembert.ensemble.bar import Bar


def call(*words: str) -> Any:
    return CliRunner().invoke(application(["sweep", "run"]), ["sweep", *words])


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_grid_and_draws(tmp_path: Path) -> None:
    line = ["pendulum", "--vary", "l=0.5:1:3", "--vary", "spin~uniform(0, 2)", "--samples", "4", "--seed", "7"]
    answer = call(*line, "--duration", "0.5", "--reduce", "top = max: y", "--points", "11", "--out", "s", "--json")
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.stdout)
    assert (told["members"], told["failed"], told["seed"]) == (12, 0, 7)
    assert told["dims"] == {"l": 3, "sample": 4}
    assert told["seconds"] > 0
    assert told["out"] == "s"
    assert told["reasons"] == []
    found = da.Ensemble.load(tmp_path / "s")
    assert found["l"].to_numpy().tolist() == [0.5, 0.75, 1.0]
    assert ((found["spin"] > 0) & (found["spin"] < 2)).all()
    assert (tmp_path / "s" / "pendulum.png").is_file()
    own = da.library.pendulum().sweep({"l": [0.5, 0.75, 1.0], "spin": found["spin"].to_numpy()}, 0.5)
    assert np.array_equal(own.final["x"], found.final["x"])


def test_values_of_the_line_and_a_summary() -> None:
    answer = call("pendulum", "--vary", "angle=0.1,pi/6", "--set", "g=1.62", "--duration", "0.2")
    assert answer.exit_code == 0, answer.output
    assert "pendulum: 2 members (angle 2)" in answer.stdout
    assert "wrote dalembert-pendulum-sweep" in answer.stdout
    # A complete sweep is replaced, but not by a line that cannot begin.
    folder = Path("dalembert-pendulum-sweep")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert call("pendulum", "--vary", "angel=0.1,0.2", "--duration", "0.2").exit_code != 0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert call("pendulum", "--vary", "angle=0.1,0.2", "--duration", "0.2").exit_code == 0
    assert da.Ensemble.load(folder)["angle"].to_numpy().tolist() == [0.1, 0.2]


def test_a_picture_of_what_there_will_not_be_is_told_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sweeping, "run_in_thread", lambda *_: pytest.fail("no member is to run"))
    answer = call("pendulum", "--vary", "l=0.5:1:3", "--duration", "1", "--reduce", "top = max: y", "--plot", "tpo")
    assert answer.exit_code != 0
    assert "--plot: no variable 'tpo' here. Did you mean 'top'?" in str(answer.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shown", ["top", "x", "final.x'", "steps", "l", "low: time"])
def test_a_picture_of_what_there_is(shown: str, tmp_path: Path) -> None:
    line = ["--duration", "0.2", "--reduce", "top = max: y", "--event", "low: x falling", "--plot", shown]
    answer = call("pendulum", "--vary", "l=0.5:1:3", *line)
    assert answer.exit_code == 0, answer.output
    assert list(tmp_path.glob("*/pendulum.png"))


def test_members_that_fail_are_told() -> None:
    answer = call("pendulum", "--vary", "x=0.5,0.6", "--duration", "0.2", "--out", "s", "--json")
    assert answer.exit_code == 3
    told = json.loads(answer.stdout)
    assert told["failed"] == 2
    assert "is violated in position" in told["reasons"][0]["reason"]
    answer = call("pendulum", "--vary", "x=0.5,0.6", "--duration", "0.2", "--out", "t", "--repair", "--json")
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["failed"] == 0


def test_a_sweep_that_was_ended_before_it_began_is_begun_by_resume(tmp_path: Path) -> None:
    """What a kill leaves that comes between the line and the description of the sweep."""
    line = ["pendulum", "--vary", "l=0.5:1:3", "--duration", "0.5", "--out", "s"]
    assert call(*line).exit_code == 0
    whole = da.Ensemble.load("s").data
    for file in (tmp_path / "s").iterdir():
        if file.name != "line.json":
            file.unlink()
    assert call("--resume", "s").exit_code == 0
    assert da.Ensemble.load("s").data.equals(whole)
    # Chunks without a description are nobody's: they are left, and that is said.
    for file in (tmp_path / "s").iterdir():
        if file.name != "line.json":
            file.unlink()
    (tmp_path / "s" / "chunk-0000000.npz").touch()
    answer = call("--resume", "s")
    assert "no sweep here to resume" in str(answer.exception)
    assert (tmp_path / "s" / "chunk-0000000.npz").exists()


def test_an_interrupted_sweep_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Bar):
        def update(self, finished: int) -> None:
            if finished:
                raise KeyboardInterrupt

    da.library.pendulum().save("mine.toml")
    line = ["mine.toml", "--vary", "l=0.5:1:40", "--vary", "spin~normal(0, 1)", "--samples", "2", "--duration", "0.2"]
    with monkeypatch.context() as patch:
        patch.setattr(sweeping, "Bar", Impatient)
        answer = call(*line, "--out", "s", "--threads", "1")
    assert answer.exit_code != 0
    assert "of 80 members are kept: go on with 'dalembert sweep --resume s'" in answer.stderr
    refused = call(*line, "--out", "s")
    assert isinstance(refused.exception, da.OutputError)
    assert "--resume s" in str(refused.exception)
    # From any folder, and on another place than where it began.
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    answer = call("--resume", "../s", "--on", "threads", "--json")
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["members"] == 80
    monkeypatch.chdir("..")
    assert call("--resume", "s", "--json").exit_code == 0
    wrong = call("--resume", "s", "--duration", "3")
    assert "leave duration away" in str(wrong.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pendulum"], "nothing varies"),
        (["pendulum", "--vary", "lenght=1:2:3"], "'lenght' is no parameter or initial value of this model"),
        (["pendulum", "--vary", "Angle=1:2:3"], "Did you mean 'angle'"),
        (["pendulum", "--vary", "l=1:2:0"], "the range has 0 values"),
        (["pendulum", "--vary", "l=1:2"], "FIRST:LAST:COUNT"),
        (["pendulum", "--vary", "l=1:2:many"], "no number of values"),
        (["pendulum", "--vary", "l=1:2:1"], "give at least two"),
        (["pendulum", "--vary", "l="], "write NAME="),
        (["pendulum", "--vary", "l=nan,1"], "'nan' is no finite number"),
        (["pendulum", "--vary", "l=__import__('os')"], "no finite number"),
        (["pendulum", "--vary", "l=1:2:3", "--vary", "l=4"], "given twice"),
        (["pendulum", "--vary", "l~unifrom(1,2)"], "Did you mean 'uniform'"),
        (["pendulum", "--vary", "l~uniform(1)"], "has the arguments low, high"),
        (["pendulum", "--vary", "l~uniform(2,1)"], "the range is empty"),
        (["pendulum", "--vary", "l~normal(2,0)"], "must be positive"),
        (["pendulum", "--vary", "l~uniform(1,2)"], "how many members to draw"),
        (["pendulum", "--vary", "l=1:2:100000", "--vary", "g=1:2:100000"], "10,000,000,000 members"),
        (["pendulum", "--vary", "l=1:2:99999999999999"], "values take 800.0 TB"),
        (["pendulum", "--vary", "l=1,2", "--reduce", "max"], "write NAME = KIND"),
        (["pendulum", "--vary", "l=1,2", "--reduce", "a = max: x", "--reduce", "a = min: x"], "'a' is given twice"),
        (["pendulum", "--vary", "l=1,2", "--keep", "height"], "unknown name 'height'"),
        (["pendulum", "--vary", "l=1,2", "--on", "gpu"], "there is no on='gpu'"),
        (["pendulum", "--vary", "l=1,2", "--hold", "x"], "--hold belongs to --repair"),
        (["pendulum", "--vary", "l=1,2", "--set", "l=3"], "--set l has no effect beside --vary l"),
        (["pendulum", "--vary", "l~lognormal(0,0.5)", "--samples", "3"], "first argument, its median, must be"),
        (["pendulun", "--vary", "l=1,2"], "Did you mean 'pendulum'"),
        ([], "which model?"),
        (["pendulum", "--vary", "=1,2"], "write NAME="),
        (["pendulum", "--vary", "l=1,,2"], "'' is no finite number"),
        (["pendulum", "--vary", "l=1;2"], "'1;2' is no finite number"),
        (["pendulum", "--vary", "l=a:b:3"], "'b' is no finite number"),
        (["pendulum", "--vary", "l=1:inf:3"], "'inf' is no finite number"),
        (["pendulum", "--vary", "l=1e400,2"], "'1e400' is no finite number"),
        (["pendulum", "--vary", "l=1:2:1e9"], "no number of values"),
        (["pendulum", "--vary", "l=1:2:-3"], "the range has -3 values"),
        (["pendulum", "--vary", "l~normal(1,nan)", "--samples", "3"], "'nan' is no finite number"),
        (["pendulum", "--vary", "l~uniform(__import__('os'),2)", "--samples", "3"], "no finite number"),
        (["pendulum", "--vary", "l~uniform(1,2)", "--samples", "0"], "how many members to draw"),
        (["pendulum", "--vary", "l~uniform(1,2)", "--samples", "3", "--seed", "-1"], "seed is a whole number"),
        (["pendulum", "--vary", "l=1,2", "--vary", "g=1,2,3", "--together"], "equally many"),
        (["pendulum", "--vary", "l=1,2", "--keep", "1/0"], "division by zero"),
        (["pendulum", "--vary", "l=1,2", "--reduce", "l = max: x"], "the name of something else"),
        (["pendulum", "--vary", "l=1,2", "--points", "1"], "at least 2"),
        (["pendulum", "--vary", "l=1,2", "--points", "1000000000000", "--keep", "x"], "points is 1000000000000;"),
        (["pendulum", "--vary", "l=1,2", "--steps", "0"], "budget steps is a positive number"),
        (["pendulum", "--vary", "l=1,2", "--seconds", "nan"], "budget seconds is a positive number"),
        (["pendulum", "--vary", "l=1,2", "--rtol", "nan"], "rtol is nan"),
        (["pendulum", "--vary", "l=1,2", "--event", "a: zz"], "unknown name 'zz'"),
        (["--resume", "nowhere"], "no sweep here"),
    ],
)
def test_bad_input(words: list[str], message: str, tmp_path: Path) -> None:
    answer = call(*words, *([] if "--resume" in words else ["--duration", "1"]))
    assert isinstance(answer.exception, da.DalembertError), answer.output
    assert message in str(answer.exception)
    assert not list(tmp_path.iterdir())  # nothing is left behind


def test_distributions_are_those_a_person_means() -> None:
    faults: list[str] = []
    texts = {
        "uniform(1, 3)": (2.0, 2 / np.sqrt(12)), "normal(5, 0.5)": (5.0, 0.5), "exponential(2)": (2.0, 2.0),
        "triangular(0, 1, 2)": (1.0, np.sqrt(1 / 6)), "randint(0, 4)": (1.5, np.sqrt(15 / 12)),
        "lognormal(3, 0.1)": (3 * np.exp(0.005), None),
    }  # fmt: skip
    for text, (mean, deviation) in texts.items():
        found = read_vary([f"a~{text}"], faults)["a"]
        np.testing.assert_allclose(found.mean(), mean, rtol=1e-12)
        if deviation is not None:
            np.testing.assert_allclose(found.std(), deviation, rtol=1e-12)
    assert faults == []
