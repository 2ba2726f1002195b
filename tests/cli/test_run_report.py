"""`dalembert run MODEL --report FILE`."""

from __future__ import annotations

import base64
import json
import re
import shlex

import pytest

from dalembert.view.report import section


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """What is derived is given up at once: it is the file that these tests are about."""
    monkeypatch.setattr("dalembert.view.report.write.PATIENCE_S", 1e-4)
    assert section.PATIENCE_S >= 1


def test_the_report_is_among_the_files(dalembert, document, tmp_path):
    done = dalembert("run", document(), "--report", tmp_path / "swing.html", "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["files"][-1] == str(tmp_path / "swing.html")
    page = (tmp_path / "swing.html").read_text("utf-8")
    assert "<h1>pendulum</h1>" in page
    assert "--report" in page, "the line that made it"


def test_it_is_made_of_a_kept_model_too(dalembert, document, tmp_path):
    model = document()
    pages = []
    for name, value in (("first.html", "0.9"), ("second.html", "0.9"), ("third.html", "0.8")):
        options = ["--set", f"l={value}", "--initial", f"x={value}"] if value != "0.9" else []
        assert dalembert("run", model, *options, "--report", tmp_path / name, "--json").status == 0
        pages.append((tmp_path / name).read_text("utf-8"))
    assert all("l = 0.9\n" in page for page in pages[:2])
    assert "l = 0.8\n" in pages[2], "with the values of the line"


def test_it_says_how_to_make_the_motion_again(dalembert, document, tmp_path):
    first = dalembert("run", document(), "--report", "swing.html", "--json", "--set", "g=5", "--rtol", "1e-7")
    page = (tmp_path / "swing.html").read_text("utf-8")
    saved = re.search(r'href="data:application/toml;base64,([^"]*)"', page)[1]
    (tmp_path / "model.toml").write_bytes(base64.b64decode(saved))
    line = next(text for text in re.findall(r"<code>(.*?)</code>", page) if text.startswith("dalembert run model"))
    again = dalembert(*shlex.split(line)[1:], "--json")
    assert again.status == 0, again.err
    # The same method with the same tolerance on the same model: the same numbers.
    assert json.loads(again.out)["final"] == json.loads(first.out)["final"]
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("file", "words"), [("x.pdf", ".html at its end"), ("no/x.html", "there is no folder")])
def test_a_file_that_cannot_be_written_is_refused_at_once(dalembert, document, tmp_path, file, words):
    done = dalembert("run", document(), "--report", file)
    assert done.status == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.glob("dalembert-*")), "nothing was computed"


def test_a_motion_that_stops_early_is_told_as_such(dalembert, tmp_path):
    model = tmp_path / "fall.toml"
    model.write_text(
        'name = "fall into the centre"\ncoordinates = ["r"]\n'
        '[energy]\nkinetic = "r\'^2/2"\npotential = "-1/r"\n'
        '[initial]\nr = 1.0\n"r\'" = 0.0\n[simulate]\nduration = 3.0\n'
    )
    done = dalembert("run", model, "--report", "fall.html", "--json")
    assert done.status == 3
    head = (tmp_path / "fall.html").read_text("utf-8").split("<main>")[0]
    assert "The motion stopped before its end." in head
    assert "could not be continued" in head


def test_a_certificate_that_does_not_hold_exits_3_and_is_written(dalembert, document, tmp_path):
    options = ["--no-project", "--rtol", "1e-2", "--method", "dopri5", "--duration", "100"]
    done = dalembert("run", document(), *options, "--report", "bad.html")
    assert done.status == 3
    assert "The certificate does not hold." in (tmp_path / "bad.html").read_text("utf-8")
