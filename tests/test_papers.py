"""docs/papers.md is true: its calls run, its tests exist, and no numbered equation of a paper is left out."""

from __future__ import annotations

import ast
import re
import shlex
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from typer.testing import CliRunner

from dalembert.cli.app import app

ROOT = Path(__file__).parents[1]
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
CODE = re.compile(r"``(.+?)``|`(.+?)`")
NUMBER = r"\d+(?:\.\d+)?[a-z]?"
RANGE = re.compile(rf"\(({NUMBER})\)(?:\s*–\s*\(({NUMBER})\))?")


def chapters() -> dict[str, str]:
    _, *parts = HEADING.split((ROOT / "docs/papers.md").read_text(encoding="utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def rows(chapter: str) -> list[list[str]]:
    """The rows of the tables of four columns; a bar inside code is written \\|."""
    lines = [line for line in chapter.splitlines() if line.startswith("|")]
    cells = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if len(row) == 4 and not set(row[0]) <= set("-: ") and row[0] != "in the paper"]


def code_in(cell: str) -> list[str]:
    return [double or single for double, single in CODE.findall(cell)]


def numbers_between(first: str, last: str) -> set[str]:
    """(17)–(19) → 17, 18, 19; (7.3)–(7.5) → 7.3, 7.4, 7.5."""
    *head, start = first.split(".")
    end = last.split(".")[-1]
    prefix = ".".join([*head, ""]) if head else ""
    return {f"{prefix}{number}" for number in range(int(start.rstrip("abc")), int(end.rstrip("abc")) + 1)}


def numbers_in(text: str) -> set[str]:
    """Every equation number in a text, ranges spelt out, without the letters of parts: (61b) is part of 61."""
    found: set[str] = set()
    for first, last in RANGE.findall(text):
        found |= numbers_between(first, last or first)
    return found


@cache
def test_names(path: Path) -> frozenset[str]:
    return frozenset(
        node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)
    )


test_names.__test__ = False  # type: ignore[attr-defined]  # it finds tests and is none itself


@pytest.mark.parametrize("title", chapters())
def test_every_call_runs(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chapter = chapters()[title]
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", chapter, re.DOTALL):
        exec(compile(block, title, "exec"), names)
    for where, _, calls, _ in rows(chapter):
        for call in code_in(calls):
            if call.startswith("dalembert "):
                ran = CliRunner().invoke(app, shlex.split(call)[1:])
                assert ran.exit_code == 0, f"{where}: {call}\n{ran.output}"
            else:
                try:
                    exec(compile(call, f"{title} {where}", "exec"), names)
                except Exception as error:
                    raise AssertionError(f"{where}: {call}") from error
    plt.close("all")


@pytest.mark.parametrize("title", chapters())
def test_every_test_exists(title):
    for where, _, _, checked in rows(chapters()[title]):
        assert code_in(checked), f"{where}: no test"
        for test in code_in(checked):
            path, _, name = test.partition("::")
            assert (ROOT / path).is_file(), f"{where}: {test}"
            assert name in test_names(ROOT / path), f"{where}: {test}"


@pytest.mark.parametrize("title", chapters())
def test_no_equation_is_left_out(title):
    """`Numbered equations: (1)–(19).` in a chapter says what the paper has; the first column must have it all."""
    chapter = chapters()[title]
    stated = re.search(r"^Numbered equations: (.+)$", chapter, re.MULTILINE)
    assert stated, f"{title}: which equations does the paper have?"
    missing = numbers_in(stated[1]) - set().union(*(numbers_in(row[0]) for row in rows(chapter)))
    assert not missing, f"{title}: {sorted(missing)}"
