"""What a sweep varies: named values along axes, whose outer product are the members."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.ask.draw import SAMPLERS, draw, faults_of_draws, fresh_seed, is_distribution
from dalembert.ensemble.ask.memory import free_memory, readable
from dalembert.errors import ModelError, counted
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of
from dalembert.model.simulation_options import whole_number

if TYPE_CHECKING:
    from dalembert.model.system import System

# The dimensions of what is no axis of one value: of members given one by one, and of values that were drawn.
MEMBER, SAMPLE = "member", "sample"
# Names that ensembles have for something else: parameters of these names are marked.
RESERVED = frozenset({MEMBER, SAMPLE, "time", "status", "reason", "steps", "alone", "in lanes", "on cpu", "ended by"})
# The key under which whole initial states are given: q, then q̇.
STATE = "state"


@dataclass(frozen=True)
class Axis:
    """One dimension: its name, and the columns of values along it by the names that they are values of."""

    name: str
    columns: Mapping[str, Array]

    @property
    def length(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class Values:
    """Every combination of what stands along the axes. Members are numbered with the last axis running fastest.

    fixed: values that all members have. seed: of those that were drawn. initial: the names that are initial values.
    """

    axes: tuple[Axis, ...]
    fixed: Mapping[str, float]
    initial: frozenset[str]
    seed: int | None = None
    sampler: str = "random"

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.length for axis in self.axes)

    @property
    def count(self) -> int:
        """How many members there are: a whole number of any size."""
        return math.prod(self.shape)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.fixed, *(name for axis in self.axes for name in axis.columns))

    def between(self, first: int, last: int) -> dict[str, Array]:
        """The values of the members from `first` to `last`, the last one not among them, by name."""
        if len(self.axes) != 1:
            return self.of(np.arange(first, last))
        columns = self.axes[0].columns.items()
        return {name: np.full(last - first, value) for name, value in self.fixed.items()} | {
            name: column[first:last] for name, column in columns
        }

    def of(self, at: np.ndarray) -> dict[str, Array]:
        """The values of the members of these numbers, by name."""
        found = {name: np.full(at.size, value) for name, value in self.fixed.items()}
        for axis in reversed(self.axes):
            at, place = np.divmod(at, axis.length) if len(self.axes) > 1 else (at, at)
            found |= {name: column[place] for name, column in axis.columns.items()}
        return found

    def label(self, name: str) -> str:
        """How a name is called as a dimension or coordinate: initial values are told from those along the motion."""
        return label_of(name, name in self.initial)


def label_of(name: str, initial: bool) -> str:
    if initial:
        return f"{name}(0)"
    return f"{name} (parameter)" if name in RESERVED else name


def _length(values: range) -> int:
    """Of a range of any length: `len` counts no more than an index may be."""
    return max(0, -((values.start - values.stop) // values.step))


def read_values(
    system: System,
    given: Any,
    *,
    together: bool = False,
    samples: int | None = None,
    seed: int | None = None,
    sampler: str | None = None,
) -> Values:
    """The values that a sweep was given, checked; `ModelError` with every fault. `System.sweep` says what they are."""
    reader = _Reader(system, together)
    reader.read(given)
    reader.take_draws(samples, seed, sampler)
    if not reader.faults and not reader.axes and not reader.fixed:
        reader.faults.append("no values: say what to vary, as {'name': [1, 2, 3]}")
    if reader.faults:
        raise ModelError(system.name, [f"sweep: {fault}" for fault in reader.faults])
    return Values(tuple(reader.axes), reader.fixed, reader.initial_names, reader.seed, reader.sampler)


@dataclass
class _Reader:
    """Reads what was given; faults gather."""

    system: System
    together: bool
    faults: list[str] = field(default_factory=list)
    axes: list[Axis] = field(default_factory=list)
    fixed: dict[str, float] = field(default_factory=dict)
    drawn: dict[str, Any] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    seed: int | None = None
    sampler: str = "random"

    def __post_init__(self) -> None:
        system = self.system
        self.states = [symbol.name for symbol in (*system.coordinates, *system.velocities)]
        self.known = [*(symbol.name for symbol in system.parameter_symbols), *self.states, "t"]

    @property
    def initial_names(self) -> frozenset[str]:
        return frozenset(self.seen & {*self.states, "t"})

    def read(self, given: Any) -> None:
        if isinstance(given, np.ndarray):
            given = {STATE: given}
        elif hasattr(given, "columns") and hasattr(given, "to_numpy"):  # a table: its rows are the members
            given, self.together = {name: given[name].to_numpy() for name in given.columns}, True
        elif isinstance(given, Sequence) and not isinstance(given, str):
            given, self.together = self._from_rows(given), True
        if not isinstance(given, Mapping):
            self.faults.append(
                f"values are given by name, as {{'mass': [1, 2, 3]}}, or as a list of such members, got {given!r}"
            )
            return
        paired: dict[str, Array] = {}
        for key, value in given.items():
            for name, column in self._columns(key, value):
                if column.ndim == 0:
                    self.fixed[name] = float(column)
                elif self.together or isinstance(key, tuple) or key == STATE:
                    paired[name] = column
                else:
                    self.axes.append(Axis(label_of(name, name in {*self.states, "t"}), {name: column}))
        lengths = {name: len(column) for name, column in paired.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {counted(length, 'value')}" for name, length in lengths.items())
            self.faults.append(f"values that are taken together are equally many, and there are {told}")
        elif paired:
            self.axes.insert(0, Axis(MEMBER, paired))

    def _from_rows(self, rows: Sequence[Any]) -> dict[str, Any]:
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            self.faults.append("a list of values holds one mapping for each member, as [{'mass': 1}, {'mass': 2}]")
            return {}
        named = [{name_of(key): value for key, value in row.items()} for row in rows]
        names = list(named[0])
        for k, row in enumerate(named):
            if set(row) != set(names):
                self.faults.append(f"member {k} has values for {', '.join(row)}, and member 0 for {', '.join(names)}")
                return {}
        return {name: [row[name] for row in named] for name in names}

    def _columns(self, key: Any, value: Any) -> Iterator[tuple[str, Array]]:
        """The columns of one entry, by name; distributions wait to be drawn."""
        if isinstance(key, tuple) or key == STATE:
            keys = list(key) if isinstance(key, tuple) else self.states
            table = self._numbers(key, value)
            if table is None:
                return
            if table.ndim != 2 or table.shape[1] != len(keys):
                names = ", ".join(map(str, keys))
                self.faults.append(
                    f"{key!r}: an array of shape (members, {len(keys)}) is wanted, for {names}; got {table.shape}"
                )
                return
            pairs = [(name, table[:, k].copy()) for k, item in enumerate(keys) if (name := self._name(item))]
            yield from pairs
            return
        name = self._name(key)
        if name is None:
            return
        if is_distribution(value):
            self.drawn[name] = value
            return
        column = self._numbers(name, value)
        if column is None:
            return
        if column.ndim > 1:
            self.faults.append(f"{name}: its values stand in one row, got an array of shape {column.shape}")
        else:
            yield name, column

    def _name(self, key: Any) -> str | None:
        try:
            name = name_of(key)
        except (TypeError, AttributeError):
            name = str(key)
        if name not in self.known:
            self.faults.append(f"{name!r} is no parameter or initial value of this model.{suggest(name, self.known)}")
            return None
        if name in self.seen:
            self.faults.append(f"{name!r} is given twice")
            return None
        self.seen.add(name)
        return name

    def _numbers(self, name: Any, value: Any) -> Array | None:
        if isinstance(value, range) and 8 * (count := _length(value)) > (free := free_memory()):
            self.faults.append(f"{name}: {count} values take {readable(8 * count)}, and {readable(free)} are free")
            return None
        if masked := int(np.count_nonzero(np.ma.getmask(value))):
            self.faults.append(f"{name}: its array has masked values, {masked} in all")
            return None
        try:
            numbers = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            self.faults.append(f"{name}: numbers are wanted, or a distribution of scipy.stats, got {value!r:.80}")
            return None
        if numbers.size == 0:
            self.faults.append(f"{name}: no values")
            return None
        if not np.isfinite(numbers).all():
            where = np.flatnonzero(~np.isfinite(numbers.ravel()))
            self.faults.append(
                f"{name}: value {where[0]} is {numbers.ravel()[where[0]]}; finite numbers are wanted"
                + (f", and {len(where) - 1} more are not" if len(where) > 1 else "")
            )
            return None
        return numbers

    def take_draws(self, samples: int | None, seed: int | None, sampler: str | None) -> None:
        """Draw what is given by distributions; they stand along one axis, independent of each other."""
        if not self.drawn:
            if samples is not None:
                self.faults.append(
                    "samples= says how many members to draw, and nothing here is a distribution; "
                    "the number of output times of each member is points="
                )
            return
        count = whole_number(samples)
        if count is None or count < 1:
            self.faults.append(f"samples= is how many members to draw from the distributions, got {samples!r:.80}")
            return
        self.sampler = "random" if sampler is None else sampler
        if self.sampler not in SAMPLERS:
            self.faults.append(f"unknown sampler {sampler!r}.{suggest(str(sampler), SAMPLERS)}")
            return
        number = fresh_seed() if seed is None else whole_number(seed)
        if number is None or number < 0:
            self.faults.append(f"seed is a whole number, 0 or more, got {seed!r:.80}")
            return
        if (size := 8 * len(self.drawn) * count) > (free := free_memory()):
            self.faults.append(f"{count} draws take {readable(size)} of memory, and {readable(free)} are free")
            return
        self.seed = number
        columns = draw(self.drawn, count, number, self.sampler)
        self.faults += faults_of_draws(list(self.drawn), columns)
        if self.together and self.axes:
            members = self.axes[0]
            if members.length != count:
                self.faults.append(
                    f"values that are taken together are equally many: {members.length} were given, {count} drawn"
                )
            self.axes[0] = Axis(MEMBER, {**members.columns, **columns})
        else:
            self.axes.append(Axis(SAMPLE, columns))
