"""The states and parameters from which members start: numbers for a range of members, all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.ensemble.ask.values import Values
from dalembert.errors import MissingValues
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.model.language.symbols import t as time_symbol

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class Block:
    """K members: q, v (K, n), the initial times t (K,) and the parameters p (K, P)."""

    q: Array
    v: Array
    t: Array
    p: Array

    @property
    def count(self) -> int:
        return len(self.t)

    def at(self, places: np.ndarray) -> Block:
        """Some of the members, their places in rising order."""
        if places.size == self.count:
            return self
        return Block(self.q[places], self.v[places], self.t[places], self.p[places])


class Blocks:
    """Makes the blocks of a sweep. Initial values that are expressions of parameters in the model follow these."""

    def __init__(self, system: System, values: Values) -> None:
        self.values = values
        symbols = system.parameter_symbols
        self._states = [*(s.name for s in (*system.coordinates, *system.velocities)), "t"]
        self._n = len(system.coordinates)
        self._parameters = [symbol.name for symbol in symbols]
        varied = set(values.names)
        own = {symbol.name: float(value) for symbol, value in system.parameters.items()}
        missing = [name for name in self._parameters if name not in varied and name not in own]
        faults = [f"no value for parameter {', '.join(missing)}: give one, or vary it"] if missing else []
        self._numbers = [own.get(name, np.nan) for name in self._parameters]
        initial: dict[str, Any] = {symbol.name: value for symbol, value in system.initial.items()}
        initial.setdefault(time_symbol.name, sp.Integer(0))
        missing = [name for name in self._states if name not in varied and name not in initial]
        if missing:
            faults.append(f"no initial value for {', '.join(missing)}: give one, or vary it")
        if faults:
            raise MissingValues(system.name, faults)
        expressions = {name: sp.sympify(initial[name]) for name in self._states if name not in varied}
        self._constant = {name: float(e) for name, e in expressions.items() if not e.free_symbols}
        self._moving = [name for name in expressions if name not in self._constant]
        self._follow: Callable[..., list[Any]] | None = None
        if self._moving:
            self._follow = numeric_function(symbols, [expressions[name] for name in self._moving])

    def between(self, first: int, last: int) -> Block:
        """The members from `first` to `last`, the last one not among them."""
        return self.of(np.arange(first, last))

    def of(self, members: np.ndarray) -> Block:
        """The members of these numbers."""
        varied, count = self.values.of(members), members.size
        p = np.empty((count, len(self._parameters)))
        p[:] = self._numbers
        for k, name in enumerate(self._parameters):
            if name in varied:
                p[:, k] = varied[name]
        states = np.empty((count, len(self._states)))
        follow = {}
        if self._follow is not None:
            with np.errstate(all="ignore"):  # what has no value is told member by member
                found = self._follow(*p.T)
            follow = {name: np.real_if_close(value) for name, value in zip(self._moving, found, strict=True)}
        for k, name in enumerate(self._states):
            states[:, k] = varied[name] if name in varied else follow.get(name, self._constant.get(name))
        n = self._n
        return Block(states[:, :n].copy(), states[:, n : 2 * n].copy(), states[:, -1].copy(), p)
