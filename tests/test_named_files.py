"""Files, folders and modules that comments, docstrings and pages name are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/dalembert"
ENDING = re.compile(r"\.(?:py|h|md)\b")
#: A path, or a bare name; names of headers look like attributes (`path.h`) unless they are quoted.
NAME_BEFORE = re.compile(r"(?<![\w/.<-])(?:\.\./)*((?:[\w.-]+/)*[\w-]+)$")
HEADER = re.compile(r"(?:`|\b[Ss]ee )$")
QUOTED = re.compile(r"`(\w[\w./]*)`")


@cache
def paths() -> frozenset[str]:
    """Every file and folder, by each end of its path: kernel/build.py, build.py."""
    found = set()
    files = [path for path in ROOT.glob("*.*") if path.is_file()]
    for folder in ("src", "tests", "benchmarks", "docs", ".ci"):
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    for file in files:
        parts = file.relative_to(ROOT).parts
        found |= {"/".join(parts[i:j]) for j in range(1, len(parts) + 1) for i in range(j)}
    return frozenset(found)


@cache
def modules() -> dict[str, str]:
    """The text of each module and package, by its name without `dalembert.`."""
    named = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")}
    return {
        name.removesuffix("/__init__").replace("/", "."): path.read_text("utf-8")
        for name, path in named.items()
        if name != "__init__"
    }


def is_module(name: str) -> bool:
    """Whether `graph.graph` or `model.kinks.sides_of` is there. `motion.q` may be of the object that pages call so."""
    parts = name.split(".")
    known = next((k for k in range(len(parts), 0, -1) if ".".join(parts[:k]) in modules()), 0)
    texts = [modules()[".".join(parts[:known])]] if known else []
    if parts[0] == "motion":
        texts.append(modules()["motion.result.motion"])
        known = 1 if known < len(parts) else known
    if known == len(parts):
        return True
    wanted = re.compile(rf"^ *(?:def |class )?{parts[known]}\b *[(:=]", re.MULTILINE)
    return any(wanted.search(text) for text in texts)


def named_files(text: str) -> Iterator[str]:
    for ending in ENDING.finditer(text):
        name = NAME_BEFORE.search(text, max(0, ending.start() - 90), ending.start())
        if name and (ending[0] != ".h" or "/" in name[1] or HEADER.search(text[: name.start()][-5:])):
            yield name[1] + ending[0]


def missing(text: str) -> list[str]:
    """What a text names that is not there."""
    found = [file for file in named_files(text) if file not in paths()]
    for name in QUOTED.findall(text):
        if "/" in name:
            folder = name.rstrip("/")
            if not ENDING.search(name) and folder not in paths() and f"{folder}.py" not in paths():
                found.append(name)
            continue
        own = name.removeprefix("dalembert.")
        if "." in own and not ENDING.search(own) and own.split(".")[0] in modules() and not is_module(own):
            found.append(name)
    return found


def test_what_is_named_is_there() -> None:
    places = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.h"), *(ROOT / "docs").rglob("*.md")]
    places += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "benchmarks").rglob("*.md")]
    found = {place.relative_to(ROOT).as_posix(): missing(place.read_text("utf-8")) for place in places}
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def rooms_missing(page: str) -> list[str]:
    """Packages, and rooms of those that have rooms, that the map in docs/architecture.md leaves out."""
    chapter = page.split("## Rooms")[1].split("```")[1]
    parts = re.split(r"\n(?=\w)", chapter.strip())  # each package with the lines of its rooms below it
    found = {part.split(None, 1)[0]: part for part in parts}
    missed = []
    for path in sorted(PACKAGE.iterdir()):
        name = f"{path.name}/" if path.is_dir() else path.name
        if path.name.startswith("__") or path.suffix not in ("", ".py"):
            continue
        if name not in found:
            missed.append(name)
        elif re.search(r"\n  \w", found[name]):
            inside = [f"{room.name}/" if room.is_dir() else room.name for room in sorted(path.iterdir())]
            missed += [f"{name}{room}" for room in inside if not room.startswith("__") and room not in found[name]]
    return missed


def test_the_map_has_every_room() -> None:
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    assert rooms_missing(page) == []
    assert rooms_missing(page.replace("statics/ ", "").replace("  classify/", "")) == [
        "mechanics/classify/",
        "statics/",
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("see `kernel/build.py`, build.py, `motion/certificate` and `docs/decisions/`, #include <math.h>", []),
        ("`kernel/bild.py`, bild.py, `motion/certificates`", ["kernel/bild.py", "bild.py", "motion/certificates"]),
        ("`model.kinks`, `graph.functions.Graph`, `motion.energy`, `motion.certificate.energy`", []),
        ("`model.kings`, `graph.graph.Grap`, `motion.ahead`", ["model.kings", "graph.graph.Grap", "motion.ahead"]),
        ("path.h = self.h", []),
        ("see weak_header.h", ["weak_header.h"]),
    ],
)
def test_the_check_itself(text: str, wrong: list[str]) -> None:
    assert missing(text) == wrong
