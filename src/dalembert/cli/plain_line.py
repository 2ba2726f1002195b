"""Lines as `run MODEL --json` read here: typer reads all lines, but takes longer to load than a short motion to run.

Only what is beyond doubt is read: options by their full names, each followed by its value, which does not begin with a
dash, and numbers written plainly. For all other lines, and all that is wrong with one, there is typer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dalembert.cli.simulate import RunOptions

REAL, WHOLE = re.compile(r"\d+(\.\d+)?(e-?\d+)?"), re.compile(r"\d+")
Reader = Callable[[str], Any]


class _NotPlain(ValueError):
    """A line that typer must read."""


def _real(text: str) -> float:
    if REAL.fullmatch(text) is None:
        raise _NotPlain
    return float(text)


def _whole(text: str) -> int:
    if WHOLE.fullmatch(text) is None:
        raise _NotPlain
    return int(text)


ONCE: dict[str, tuple[str, Reader]] = {
    "--duration": ("duration", _real),
    "--rtol": ("rtol", _real),
    "--samples": ("samples", _whole),
    "--method": ("method", str),
    "--max-step": ("max_step", _real),
    "--backend": ("backend", str),
    "--out": ("out", Path),
    "--report": ("report", Path),
}
REPEATED = {"--option": "option", "--set": "set_", "--initial": "initial", "--event": "event", "--until": "until"}
FLAGS: dict[str, tuple[str, bool]] = {
    "--json": ("json", True),
    "--free": ("free", True),
    "--repair": ("repair", True),
    "--project": ("project", True),
    "--no-project": ("project", False),
}


def read_plain_line(words: Sequence[str]) -> RunOptions | None:
    """What stands behind `run`, or None where the line is not plain."""
    found: dict[str, Any] = {}
    rest = iter(words)
    try:
        for word in rest:
            if word in FLAGS:
                _put(found, *FLAGS[word])
            elif word in ONCE:
                name, read = ONCE[word]
                _put(found, name, read(_value(next(rest))))
            elif word in REPEATED:
                name = REPEATED[word]
                found[name] = (*found.get(name, ()), _value(next(rest)))
            else:
                _put(found, "model", _value(word))
    except (_NotPlain, StopIteration):
        return None
    return RunOptions(**found) if "model" in found else None


def _value(word: str) -> str:
    if not word or word.startswith("-"):
        raise _NotPlain
    return word


def _put(found: dict[str, Any], name: str, value: Any) -> None:
    if name in found:
        raise _NotPlain
    found[name] = value
