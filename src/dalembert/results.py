"""What results have in common, whatever they are results of: a text to read, one line to recognise them by, a page in
notebooks, plain values for a file, and columns by name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from dalembert.arrays import Array

Item = TypeVar("Item")

# A message names so many at most: the columns of a large system would fill pages.
LISTED = 60


class Result(ABC):
    """What a public call answers with. `print` shows the text, and so does a notebook; `repr` is one line.

    Results that can be drawn have `plot(path=None, *, axes=None)` besides: it writes the picture to `path`, draws into
    `axes` where they are given, and returns the figure.
    """

    @abstractmethod
    def text(self) -> str:
        """All that a person would ask of it, in lines."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The same in numbers, texts, lists and mappings, ready for JSON."""

    def headline(self) -> str:
        """What `repr` shows after the name of the class: one line."""
        return self.text().partition("\n")[0]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.headline()}>"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # or a dataclass writes one of all its fields

    def _repr_html_(self) -> str | None:
        """The page that Jupyter shows."""
        from dalembert.view.notebook.show import html_of

        return html_of(self)


class Page(Result):
    """A result made of formulas: notebooks show it typeset."""

    @abstractmethod
    def rows(self) -> str:
        """The rows of an alignment of amsmath."""

    def latex(self) -> str:
        """An `align*` environment of amsmath, to be put into a document as it stands."""
        return f"\\begin{{align*}}\n{self.rows()}\n\\end{{align*}}"

    def _repr_latex_(self) -> str:
        return f"$$\\begin{{aligned}}\n{self.rows()}\n\\end{{aligned}}$$"

    def _repr_html_(self) -> str | None:
        return None  # notebooks would prefer it to the formulas


class Table(Result):
    """A result with columns of numbers: `result["x"]`, `result["x'"]`, or by the symbols themselves."""

    @abstractmethod
    def columns(self) -> dict[str, Array]:
        """Every column by its name."""

    def __getitem__(self, key: Any) -> Array:
        """A column (T,), or several side by side (T, K) for a list of their names."""
        if isinstance(key, (list, tuple)):
            columns = self.columns()
            rows = len(next(iter(columns.values())))
            found = [item_named(columns, item, "column") for item in key]
            return np.stack(found, axis=1) if found else np.zeros((rows, 0))
        return item_named(self.columns(), key, "column")


def item_named(items: Mapping[str, Item], key: Any, what: str, more: Iterable[str] = ()) -> Item:
    """The item of a name, or of the symbol that has it. An unknown one is an error that tells the nearest and lists
    those there are, the first `LISTED` of them, with those of `more`, which are known but not among the items.
    """
    from dalembert.model.language.suggest import suggest  # only here: arrays alone need no SymPy
    from dalembert.model.language.symbols import name_of

    name = name_of(key)
    if name in items:
        return items[name]
    known = [*items, *more]
    close = suggest(name, known)
    near = close if close.startswith(" Did you mean") else ""
    left_out = f", … ({len(known)} in all)" if len(known) > LISTED else ""
    raise KeyError(f"no {what} {name!r} here.{near} There are: {', '.join(known[:LISTED])}{left_out}")


def state_columns(coordinates: Sequence[Any], t: Array, q: Array, v: Array) -> dict[str, Array]:
    """The columns of a way: t, the coordinates, their velocities."""
    places = {symbol.name: q[:, k] for k, symbol in enumerate(coordinates)}
    return {"t": t} | places | {f"{symbol.name}'": v[:, k] for k, symbol in enumerate(coordinates)}


def by_name(coordinates: Sequence[Any], values: Iterable[Any], mark: str = "") -> dict[str, float]:
    """One number for each coordinate or constraint, under its name."""
    return {f"{symbol.name}{mark}": float(x) for symbol, x in zip(coordinates, values, strict=True)}


def plain_values(value: Any) -> Any:
    """The same in values that JSON has: arrays as lists, the fields of a dataclass by their names; None for numbers
    that it has not (NaN, infinity); texts for all else, as expressions.
    """
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain_values(item) for item in value]
    if isinstance(value, (np.bool_, bool)):
        return bool(value)
    if isinstance(value, (np.integer, int)):
        return int(value)
    if isinstance(value, (np.floating, float)):
        return float(value) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_values(getattr(value, field.name)) for field in fields(value)}
    return value if value is None or isinstance(value, str) else str(value)
