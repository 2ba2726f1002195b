"""`check`, `equations`, `examples`, `doctor`, and the installed command itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import dalembert as da


def test_check_classifies(dalembert, document):
    done = dalembert("check", document(), "--json")
    assert done.status == 0, done.err
    data = json.loads(done.out)
    assert data["name"] == "pendulum"
    assert data["degrees_of_freedom"] == 1
    text = dalembert("check", document())
    assert "rod" in text.out
    assert "satisfies all constraints" in text.out


def test_check_refuses_an_inconsistent_state(dalembert, document):
    done = dalembert("check", document(("x = 0.9", "x = 1.0")))
    assert done.status == 2
    assert "'rod'" in done.err


def test_equations(dalembert, document, tmp_path):
    done = dalembert("equations", document(), "--latex", tmp_path / "out.tex")
    assert done.status == 0, done.err
    assert "x''" in done.out
    text = (tmp_path / "out.tex").read_text()
    assert text.startswith(r"\documentclass")
    assert r"\ddot{x}" in text
    data = json.loads(dalembert("equations", document(), "--json").out)
    assert data["form"] == "fundamental"


def test_examples_lists_every_system(dalembert):
    data = json.loads(dalembert("examples", "--json").out)
    assert [entry["name"] for entry in data["examples"]] == list(da.library.names())
    assert all(entry["description"] for entry in data["examples"])
    assert "penny" in dalembert("examples").out


def test_example_document_runs(dalembert, tmp_path):
    assert dalembert("examples", "pendulum", "--save", tmp_path / "p.toml").status == 0
    assert dalembert("run", tmp_path / "p.toml", "--json").status == 0
    assert da.loads(dalembert("examples", "pendulum").out).name == da.library.pendulum().name


def test_doctor(dalembert):
    data = json.loads(dalembert("doctor", "--json").out)
    assert data["self_test"]["works"] is True
    assert "casadi" in data["packages"]
    assert "works" in dalembert("doctor").out


def test_no_arguments_shows_help(dalembert):
    assert "Usage" in dalembert("--help").out


def test_installed_command(tmp_path):
    command = shutil.which("dalembert", path=str(sys.prefix) + "/bin")
    assert command is not None, "the package is not installed with its command"
    done = subprocess.run([command, "run", "penny", "--json"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["certificate"]["holds"] is True
