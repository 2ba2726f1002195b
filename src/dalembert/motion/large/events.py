"""Events of a large system: functions of a few of its quantities, defined ones among them."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.graph.convert import Converter
from dalembert.graph.structure.read import KINKED
from dalembert.model.language.symbols import Definition, Reaction, t
from dalembert.model.system import System
from dalembert.motion.large.state import LargeState


def are_plain(system: System) -> bool:
    """Whether all events are smooth functions of positions, velocities and time."""
    return not any(event.expression.has(Reaction, *KINKED) for event in system.events)


class LargeEvents:
    """What an `EventWatch` asks of an evaluation. Defined quantities have the values that the model computes."""

    graph = SimpleNamespace(events_use_multipliers=False)

    def __init__(self, at: LargeState) -> None:
        self.at, self.system, self.p = at, at.system, at.p
        known = self.system.defined
        numbers: dict[sp.Symbol, int] = {q: k for k, q in enumerate(self.system.coordinates)}
        numbers |= {Definition.named(name): k for name, k in at.model.placed.items()}
        first = at.model.functions["sums"].program.quantities  # where rates begin
        numbers |= {quantity.d: first + k for quantity, k in list(numbers.items())}
        expressions = [event.expression for event in self.system.events]
        used = [s for s in _symbols(expressions, self.system, numbers) if s in numbers]
        self.where = np.array([numbers[symbol] for symbol in used], dtype=int)
        n = at.n
        # The place of each among (q, q̇), which have sizes of their own; of a defined quantity −1.
        own = [k if k < n else k - first + n if 0 <= k - first < n else -1 for k in self.where]
        self.sized = np.array(own, dtype=int)
        z, sizes, p = ca.SX.sym("z", len(used)), ca.SX.sym("s", len(used)), ca.SX.sym("p", at.p.size)
        time = ca.SX.sym("t")
        table = {t: time} | dict(zip(self.system.parameter_symbols, ca.vertsplit(p), strict=True))
        table |= dict(zip(used, ca.vertsplit(z), strict=True))
        g = Converter(table, known).column(expressions)
        terms = ca.vertcat(ca.fmax(ca.fabs(z), sizes), ca.fabs(time), ca.fabs(p))
        scale = ca.fabs(ca.jacobian(g, ca.vertcat(z, time, p))) @ terms
        self._function = ca.Function("events", [z, sizes, time, p], [ca.densify(g), ca.densify(scale)])

    def events(self, y: Array, time: float, sizes: Array, multipliers: object = None) -> tuple[Array, Array]:
        """The functions, and the size of their terms with sizes of (q, q̇) at least `sizes`."""
        n = self.at.n
        w = self.at.run("sums", y[:n], y[n : 2 * n], time)
        least = np.where(self.sized >= 0, sizes[self.sized], 0.0)
        g, scale = self._function(w[self.where], least, time, self.p)
        return np.array(g).ravel(), np.array(scale).ravel()


def _symbols(expressions: list[sp.Expr], system: System, known: dict[sp.Symbol, int]) -> list[sp.Symbol]:
    """All names in expressions, those definitions written out that are no quantity with a rate."""
    found: dict[sp.Symbol, None] = {}
    waiting = [symbol for expression in expressions for symbol in sorted(expression.free_symbols, key=str)]
    while waiting:
        symbol = waiting.pop()
        if symbol in found:
            continue
        found[symbol] = None
        if isinstance(symbol, Definition) and symbol not in known:
            waiting += sorted(system.defined.written(symbol).free_symbols, key=str)
    return list(found)
