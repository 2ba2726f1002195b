"""The states and parameters from which members start: numbers for a range of members, all at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.ensemble.ask.values import Values
from dalembert.errors import MissingValues
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.model.language.symbols import t as time_symbol
from dalembert.remember import remember

if TYPE_CHECKING:
    from dalembert.model.system import System

# Functions of parameters that give initial values, made once: sweeps of one model follow each other.
KEPT = 64
_follow: dict[Hashable, Callable[..., list[Any]]] = {}


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
        self._numbers = np.array([own.get(name, np.nan) for name in self._parameters])
        initial: dict[str, Any] = {symbol.name: value for symbol, value in system.initial.items()}
        initial.setdefault(time_symbol.name, sp.Integer(0))
        missing = [name for name in self._states if name not in varied and name not in initial]
        if missing:
            faults.append(f"no initial value for {', '.join(missing)}: give one, or vary it")
        if faults:
            raise MissingValues(system.name, faults)
        expressions = {name: sp.sympify(initial[name]) for name in self._states if name not in varied}
        constant = {name: float(e) for name, e in expressions.items() if not e.free_symbols}
        self._moving = [name for name in expressions if name not in constant]
        self.varied = varied | set(self._moving)  # what may differ between members
        # Places by name, and what stands there in all members where nothing else does.
        self._parameter_places = {name: k for k, name in enumerate(self._parameters)}
        self._state_places = {name: k for k, name in enumerate(self._states)}
        self._rest = np.array([constant.get(name, np.nan) for name in self._states])
        self._follow: Callable[..., list[Any]] | None = None
        if self._moving:
            moving = tuple(expressions[name] for name in self._moving)
            self._follow = remember(_follow, (symbols, moving), lambda: numeric_function(symbols, moving), KEPT)

    def between(self, first: int, last: int) -> Block:
        """The members from `first` to `last`, the last one not among them."""
        return self._block(self.values.between(first, last), last - first)

    def of(self, members: np.ndarray) -> Block:
        """The members of these numbers."""
        return self._block(self.values.of(members), members.size)

    def _block(self, varied: Mapping[str, Array], count: int) -> Block:
        p = np.empty((count, len(self._parameters)))
        p[:] = self._numbers
        q, v, t = np.empty((count, self._n)), np.empty((count, self._n)), np.empty(count)
        q[:], v[:], t[:] = self._rest[: self._n], self._rest[self._n : -1], self._rest[-1]
        for name, column in varied.items():
            if name in self._parameter_places:
                p[:, self._parameter_places[name]] = column
        found = varied
        if self._follow is not None:
            with np.errstate(all="ignore"):  # what has no value is told member by member
                values = self._follow(*p.T)
            found = {**varied, **dict(zip(self._moving, map(_real, values), strict=True))}
        for name, value in found.items():
            if name in self._state_places:
                k = self._state_places[name]
                if k < self._n:
                    q[:, k] = value
                elif k < 2 * self._n:
                    v[:, k - self._n] = value
                else:
                    t[:] = value
        return Block(q, v, t, p)


def _real(value: Any) -> Any:
    return np.real_if_close(value) if np.iscomplexobj(value) else value
