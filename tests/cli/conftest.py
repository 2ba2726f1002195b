"""The command line called in this process, with its output and exit status."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dalembert.cli.app import main


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def dalembert(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Outcome]:
    """`dalembert("run", "penny", …)` in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main changes it; put it back

    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["dalembert", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


GOOD = """
name = "pendulum"
coordinates = ["x", "y"]
[parameters]
m = 1.1
g = 9.81
l = 0.9
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"
[[constraints]]
name = "rod"
equation = "x^2 + y^2 = l^2"
[initial]
x = 0.9
y = 0.0
"x'" = 0.0
"y'" = 0.0
[simulate]
duration = 0.5
samples = 11
"""


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., Path]:
    """A good document with some text replaced, written to a file."""

    def write(*changes: tuple[str, str]) -> Path:
        text = GOOD
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "model.toml"
        path.write_text(text)
        return path

    return write
