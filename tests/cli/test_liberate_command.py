"""`dalembert liberate`: text, JSON, LaTeX, what does not apply."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from typer.testing import CliRunner

from dalembert.cli.app import app
from dalembert.errors import DoesNotApply


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["liberate", *arguments])


def test_steps_and_reactions_as_text():
    ran = invoke("liberated_pendulum")
    assert ran.exit_code == 0
    assert "b_11 = 4*a**2" in ran.output
    # At rest at 2 rad: R = −m g cos α (sin α, cos α).
    x, y = -9.81 * np.cos(2) * np.array([np.sin(2), np.cos(2)])
    assert f"on bob: ({x:.8g}, {y:.8g})" in ran.output


def test_brief_and_with_other_values():
    ran = invoke("liberated_pendulum", "--brief", "--set", "m=3", "--initial", "alpha=0")
    assert "b_11" not in ran.output
    assert "on bob: (0, -29.43)" in ran.output.replace("-0,", "0,")


@pytest.mark.parametrize("name", ["liberated_sphere", "pendulum", "hinged_rods", "rough_incline"])
def test_json_of_every_kind(name):
    ran = invoke(name, "--json")
    data = json.loads(ran.output)
    assert data["form"] == "liberation"
    assert any("(7.4)" in title for title in data["equations"])
    assert all(isinstance(x, float) for vector in data["start"].values() for x in vector)


def test_what_does_not_apply():
    ran = invoke("penny")
    assert isinstance(ran.exception, DoesNotApply)
    assert "not a constraint on positions" in str(ran.exception)


@pytest.mark.skipif(which("pdflatex") is None, reason="no LaTeX")
def test_latex_compiles(tmp_path: Path):
    for name in ("liberated_pendulum", "hinged_rods"):
        assert invoke(name, "--latex", str(tmp_path / "a.tex")).exit_code == 0
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60).returncode == 0
