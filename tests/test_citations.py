"""Every source that is cited, in code or on a page, is in docs/references.md, with the equations that code names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAME = r"[A-ZÀÉĐØ][a-zß-ž]+"
AUTHORS = rf"{NAME}(?:(?:, (?:and )?| and ){NAME})*(?: et al\.)?"
YEAR = r"(?:1[6-9]|20)\d\d"
AUTHORS_BEFORE = re.compile(rf"(?<![\w'])({AUTHORS}) $")  # not the Alembert of d'Alembert
TITLE = re.compile(r"Solving Ordinary Differential Equations II?\b")
ENTRY = re.compile(rf"^\*\*({AUTHORS}) ({YEAR})\.\*\*(.+?)(?=^\*\*|^##|\Z)", re.MULTILINE | re.DOTALL)
NUMBER = r"\((\d+)(?:\.(\d+))?[a-c]?\)"
LIST = rf"(?:{NUMBER}(?:–|-|, | and | to )?)+"
LIST_BEFORE, LIST_AFTER = re.compile(rf"({LIST}) of $"), re.compile(rf",(?: after)? ({LIST})")
SPAN = re.compile(rf"{NUMBER}(?:(?:–|-| to ){NUMBER})?")


def key(authors: str, year: str) -> tuple[str, str]:
    """The first author in plain letters, and the year: Đukić and Djukic are one."""
    first = re.split(r", | and | et al", authors)[0].replace("Đu", "Dju")
    return "".join(c for c in unicodedata.normalize("NFD", first) if not unicodedata.combining(c)), year


def numbers(text: str) -> set[tuple[int, int]]:
    """The equations in a text, ranges spelt out: (7.3)–(7.5) is three of chapter 7; chapter 0 where there is none."""
    found = set()
    for first, part, last, last_part in SPAN.findall(text):
        chapter, start = (int(first), int(part)) if part else (0, int(first))
        end = int(last_part or last or start)
        found |= {(chapter, k) for k in range(start, end + 1)}
    return found


@cache
def entries() -> dict[tuple[str, str], str]:
    """The text of each entry by its key."""
    page = (ROOT / "docs/references.md").read_text(encoding="utf-8")
    return {key(authors, year): " ".join(text.split()) for authors, year, text in ENTRY.findall(page)}


@cache
def texts() -> dict[str, str]:
    """Code and pages, each as one line without the marks of comments."""
    paths = [path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    paths += [*(ROOT / "src").rglob("*.h"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    skipped = {Path(__file__), ROOT / "docs/references.md"}
    joined = re.compile(r"\n *(?:#:? +|\* +)?")
    return {
        path.relative_to(ROOT).as_posix(): joined.sub(" ", path.read_text(encoding="utf-8"))
        for path in paths
        if path not in skipped
    }


def citations(text: str) -> Iterator[tuple[str, str, str]]:
    """Authors and year of each, and the equations it names: "(17)–(19) of Udwadia 2005", or "Flannery 2011, (76)"."""
    for year in re.finditer(rf"(?<= ){YEAR}\b", text):
        authors = AUTHORS_BEFORE.search(text, max(0, year.start() - 80), year.start())
        if authors:
            before = LIST_BEFORE.search(text, max(0, authors.start() - 60), authors.start())
            after = LIST_AFTER.match(text, year.end())
            yield authors[1], year[0], f"{before[1] if before else ''} {after[1] if after else ''}"


def unknown(text: str) -> list[str]:
    """Citations in a text that no entry answers."""
    found = [f"{authors} {year}" for authors, year, _ in citations(text) if key(authors, year) not in entries()]
    page = " ".join(entries().values())
    return found + [title for title in TITLE.findall(text) if f"*{title}*" not in page]


def unlisted(text: str) -> list[str]:
    """Equations cited by number that the entry of their source does not name."""
    return [
        f"{cited.strip()} of {authors} {year}"
        for authors, year, cited in citations(text)
        if not numbers(cited) <= numbers(entries().get(key(authors, year), ""))
    ]


def test_every_citation_has_its_entry() -> None:
    assert {path: wrong for path, text in texts().items() if (wrong := unknown(text))} == {}


def test_equations_that_code_names_are_listed() -> None:
    code = {path: text for path, text in texts().items() if path.startswith("src")}
    assert {path: wrong for path, text in code.items() if (wrong := unlisted(text))} == {}


def test_every_entry_is_cited() -> None:
    everything = " ".join(texts().values())
    page = (ROOT / "docs/references.md").read_text(encoding="utf-8")
    names = [re.split(r", | and ", authors)[0] for authors, _, _ in ENTRY.findall(page)]
    assert len(names) > 15
    assert [name for name in names if name not in everything] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("(Đukić 2012) and Djukic 2012, as Udwadia and Phohomsiri 2006", []),
        ("(Routh 1860, Stronge 1991)", ["Stronge 1991"]),
        ("Nobody and Stronge 1990", ["Nobody and Stronge 1990"]),
        ("Meijaard et al. 2007, Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.2", []),
        ("a budget of 2000, in 1990, (d'Alembert, Udwadia 2005)", []),
    ],
)
def test_the_check_of_citations(text: str, wrong: list[str]) -> None:
    assert unknown(text) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("(17)–(19) of Udwadia and Kalaba 1993; (7.3) to (7.5) of Djukic 2012; Flannery 2011, (76)", 0),
        ("(17)–(20) of Udwadia and Kalaba 1993", 1),
        ("Đukić 2012, (9.1)", 1),
    ],
)
def test_the_check_of_equations(text: str, wrong: int) -> None:
    assert len(unlisted(text)) == wrong
