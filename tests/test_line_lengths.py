"""Pages keep to 120 columns, as Python does by ruff. Rows of tables in Markdown cannot be broken."""

from __future__ import annotations

from pathlib import Path
from unicodedata import combining

ROOT = Path(__file__).parents[1]
COLUMNS = 120


def long_lines(text: str, tables: bool) -> list[int]:
    """The numbers of lines beyond the last column; accents over letters take none. tables: rows of them may be."""
    return [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if sum(not combining(letter) for letter in line) > COLUMNS and not (tables and line.startswith("|"))
    ]


def found(paths: list[Path], tables: bool) -> dict[str, list[int]]:
    assert paths
    lines = {path.relative_to(ROOT).as_posix(): long_lines(path.read_text("utf-8"), tables) for path in paths}
    return {path: numbers for path, numbers in lines.items() if numbers}


def test_pages() -> None:
    folders = [(ROOT / folder).rglob("*.md") for folder in ("docs", "benchmarks")]
    assert found([*ROOT.glob("*.md"), *(page for folder in folders for page in folder)], tables=True) == {}


def test_the_check_itself() -> None:
    text = "\n".join(["x" * 120, "q̈" * 120, "x" * 121, "|" + "x" * 120])
    assert long_lines(text, tables=True) == [3]
    assert long_lines(text, tables=False) == [3, 4]


def test_headers() -> None:
    assert found([*(ROOT / "src").rglob("*.h")], tables=False) == {}
