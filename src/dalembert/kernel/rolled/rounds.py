"""A loop over rounds of the same few steps. Places that advance evenly are computed, others are looked up."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from dalembert.kernel.rolled.bodies import Line

PLACE = re.compile(r"@(\d+)")
# A local name of a step; a name before a parenthesis is a function.
LOCAL = re.compile(r"\b([a-z]\d*)\b(?!\()")


class Rounds:
    """The inside of a loop: values stay in local names from step to step, and are written where the next round, or the
    next loop, finds them. With one round it is no loop.
    """

    def __init__(self, count: int, length: int) -> None:
        self.count, self.length = count, length
        self.tables: list[np.ndarray] = []
        self._steps = 0
        self._lines: list[str] = []
        self._found: dict[bytes, str] = {}
        self._known: dict[str, str] = {}  # the local name that has the number of a place
        self._unwritten: dict[str, str] = {}

    def add(self, body: Sequence[Line], places: np.ndarray) -> None:
        """One more step. places: (rounds, operands)."""
        texts = [self._place(places[:, k]) for k in range(places.shape[1])]
        mark, self._steps = f"_{self._steps}", self._steps + 1
        for line in body:
            named = LOCAL.sub(lambda match: match.group(1) + mark, line.text)
            value = PLACE.sub(lambda match: self._load(texts[int(match.group(1))]), named)
            if isinstance(line.into, str):
                self._lines.append(f"const double {line.into}{mark} = {value};")
            else:
                self._store(texts[line.into], value)

    def text(self) -> str:
        self._write()
        inside = "\n".join(f"        {line}" for line in self._lines)
        head = "    {" if self.count == 1 else f"    for (long k = 0; k < {self.count}; k++) {{"
        return f"{head}\n{inside}\n    }}\n"

    def _place(self, places: np.ndarray) -> str:
        """Where an operand is in round k. Two texts without a table are never the same place in a round, unless one of
        them stands still while the other moves; see `_store`.
        """
        first = int(places[0])
        if self.count == 1:
            return str(first)
        ahead = np.diff(places)
        step = int(ahead[0])
        if (ahead == step).all():
            return f"{first}" if step == 0 else f"{first} {'+' if step > 0 else '-'} k * {abs(step)}"
        key = places.tobytes()
        if key not in self._found:
            self._found[key] = f"T[{self.length} + k]"
            self.tables.append(places)
            self.length += places.size
        return self._found[key]

    def _load(self, place: str) -> str:
        if place not in self._known:
            if any(_may_meet(place, other) for other in self._unwritten):
                self._write()
            self._known[place] = f"w{len(self._lines)}_"
            self._lines.append(f"const double {self._known[place]} = w[{place}];")
        return self._known[place]

    def _store(self, place: str, value: str) -> None:
        name = f"w{len(self._lines)}_"
        self._lines.append(f"const double {name} = {value};")
        if any(_may_meet(place, other) for other in self._unwritten):
            self._write()
        self._known = {other: known for other, known in self._known.items() if not _may_meet(place, other)}
        self._known[place] = self._unwritten[place] = name

    def _write(self) -> None:
        self._lines += [f"w[{place}] = {name};" for place, name in self._unwritten.items()]
        self._unwritten = {}


def _pace(place: str) -> str:
    return place.partition(" ")[2] if " " in place else "still"


def _may_meet(place: str, other: str) -> bool:
    """Whether two places written differently may be the same in some round: they move differently, or by a table."""
    if place == other:
        return False
    return place.startswith("T") or other.startswith("T") or _pace(place) != _pace(other)
