"""What `dalembert run` loads, and that plain lines mean what they mean to typer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import dalembert as da
from dalembert.cli import app, run
from dalembert.cli.plain_line import read_plain_line
from dalembert.cli.simulate import RunOptions

HEAVY = ("sympy", "matplotlib", "scipy", "pandas", "xarray", "typer", "rich")
SCRIPT = f"""
import sys
sys.argv = ["dalembert", "run", *sys.argv[1:]]
from dalembert.cli.app import main
try:
    main()
finally:
    print(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""


def comparable(found: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in found.items() if key not in ("timing", "files")}


def test_a_document_that_was_read_before_runs_without_sympy(dalembert, document):
    first = dalembert("run", document(("m = 1.1", "m = 1.21")), "--json")  # no other test has read it
    assert first.status == 0, first.err
    again = subprocess.run([sys.executable, "-c", SCRIPT, "model.toml", "--json"], capture_output=True, text=True)
    assert again.returncode == 0
    assert again.stderr.split() == []
    assert comparable(json.loads(again.stdout)) == comparable(json.loads(first.out))


def test_other_numbers_need_no_sympy(dalembert, document):
    written = document(("m = 1.1", "m = 1.23"))
    assert dalembert("run", written, "--json").status == 0
    line = ["model.toml", "--json", "--set", "g=1.62", "--initial", "x'=0", "--initial", "y'=0.5"]
    again = subprocess.run([sys.executable, "-c", SCRIPT, *line], capture_output=True, text=True)
    assert again.returncode == 0
    assert again.stderr.split() == []
    changed = da.load(written).replace(parameters={"g": 1.62}, initial={"x'": 0, "y'": 0.5})
    found, wanted = (comparable(part) for part in (json.loads(again.stdout), changed.simulate().to_dict()))
    assert found["final"] == wanted["final"]
    assert found["certificate"] == wanted["certificate"]


def test_numbers_that_others_are_made_of_are_put_into_these(dalembert, document):
    """x = l at the start: a kept number of the start would be that of the old length."""
    written = document(("m = 1.1", "m = 1.24"), ("\nx = 0.9", '\nx = "l"'))
    for _ in range(2):
        done = dalembert("run", written, "--json", "--set", "l=1.5")
        assert done.status == 0, done.err
        assert json.loads(done.out)["final"] == da.load(written).replace(parameters={"l": 1.5}).simulate().final


def test_unknown_names_and_numbers_that_are_none_are_told_of_as_ever(dalembert, document):
    written = document(("m = 1.1", "m = 1.25"))
    assert dalembert("run", written, "--json").status == 0
    for wrong in (["--set", "gg=1"], ["--set", "g=nan"], ["--initial", "q=1"], ["--set", "g=1", "--set", "g=2"]):
        done = dalembert("run", written, "--json", *wrong)
        assert done.status == 2
        assert wrong[0] in done.err


def test_a_changed_document_is_read_anew(dalembert, document):
    for length in ("0.9", "1.8"):
        done = dalembert("run", document(("l = 0.9", f"l = {length}"), ("\nx = 0.9", f"\nx = {length}")), "--json")
        assert json.loads(done.out)["final"]["x"] < float(length)
        again = dalembert("run", "model.toml", "--json")
        assert comparable(json.loads(again.out)) == comparable(json.loads(done.out))
    broken = dalembert("run", document(("m*g*y", "m*g*y +")), "--json")
    assert broken.status == 2


def test_a_model_that_is_kept_is_drawn_and_told_as_before(dalembert, document, tmp_path: Path):
    texts = []
    for folder in ("one", "two"):
        done = dalembert("run", document(("m = 1.1", "m = 1.22")), "--out", folder, "--free")
        assert (tmp_path / folder / "pendulum.png").read_bytes().startswith(b"\x89PNG")
        texts.append(done.out.partition("derive")[0])  # then it says how long everything took
    assert texts[0] == texts[1]
    assert (tmp_path / "one" / "pendulum.csv").read_bytes() == (tmp_path / "two" / "pendulum.csv").read_bytes()


def test_json_alone_draws_no_picture(dalembert, document, tmp_path: Path):
    done = dalembert("run", document(), "--json")
    assert json.loads(done.out)["files"] == ["dalembert-pendulum/pendulum.csv"]
    assert [file.name for file in (tmp_path / "dalembert-pendulum").iterdir()] == ["pendulum.csv"]


PLAIN = [
    "penny",
    "penny --json",
    "--json penny --rtol 1e-9 --duration 20 --samples 201",
    "a/model.toml --out here --method dop853 --max-step 0.5 --backend native --no-project --free --repair",
    "penny --set g=1.62 --set m=2 --initial x=1 --option ratio=2",
]


@pytest.mark.parametrize("line", PLAIN)
def test_plain_lines_mean_what_they_mean_to_typer(line: str, monkeypatch: pytest.MonkeyPatch):
    words, found = line.split(), []
    monkeypatch.setattr(run, "simulate_and_write", lambda given: found.append(given) or 0)
    monkeypatch.setattr(sys, "argv", ["dalembert", "run", *words])
    with pytest.raises(SystemExit):
        app.application(["run"])()
    assert read_plain_line(words) == found[0]


OTHERS = """
--json
--help
penny more
penny --rtol=1e-9
penny --rtol -1
penny --rtol nan
penny --rtol
penny --samples 1e3
penny --json --json
penny --js
penny --rtol 1 --rtol 2
-- penny
penny --step 1
"""


@pytest.mark.parametrize("line", OTHERS.split("\n")[:-1])
def test_other_lines_are_left_to_typer(line: str):
    assert read_plain_line(line.split()) is None


def test_an_event_is_one_word():
    words = ["penny", "--event", "top: x = 1 rising"]
    assert read_plain_line(words) == RunOptions("penny", event=(words[-1],))
