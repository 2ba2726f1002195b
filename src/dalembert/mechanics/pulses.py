"""Times at which the functions of time in a model can be seen: e^(−(t − 2)²/τ²) is zero at most others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import sympy as sp

from dalembert.model.language.contents import contents
from dalembert.model.language.symbols import t

# Functions that have died out, or grown beyond all numbers, or reached their limit, where their argument is large …
DYING = (sp.exp, sp.sinh, sp.cosh, sp.tanh, sp.sech, sp.csch, sp.coth, sp.erf, sp.erfc)
# … beyond this; within the other they are there.
FAR, NEAR = 30.0, 3.0
STEPS = 80


class Pulses:
    """Of expressions, with the values of parameters."""

    def __init__(self, expressions: Sequence[sp.Expr], values: dict[sp.Symbol, float]) -> None:
        self.expressions, self.values = expressions, values
        self.turn = 0

    @cached_property
    def _arguments(self) -> list[Callable[[np.float64], tuple[float, float]]]:
        """Of such functions that depend on time alone: the argument, and how fast it changes."""
        found = dict.fromkeys(u for e in self.expressions if t in contents(e).symbols for u in _exponents(e))
        known = [u.xreplace(self.values) for u in found]
        clock = sp.Dummy()
        return [
            sp.lambdify(clock, [u.xreplace({t: clock}), sp.diff(u.xreplace({t: clock}), clock)])
            for u in known
            if u.free_symbols == {t}
        ]

    def seen_near(self, time: float) -> float:
        """A time at which one of those that cannot be seen then can be: each time the next one. Newton's method on its
        argument, which leads to its zero or, slower, to where it is least.
        """
        with np.errstate(all="ignore"):
            there = np.float64(time)  # whose powers and quotients may overflow
            hidden = [u for u in self._arguments if not abs(u(there)[0]) <= FAR]
            if not hidden:
                return time
            u = hidden[self.turn % len(hidden)]
            self.turn += 1
            for _ in range(STEPS):
                value, slope = u(there)
                if abs(value) <= NEAR:
                    return float(there)
                if not np.isfinite(value) or slope == 0:
                    break
                there -= value / slope
        return time


def _exponents(expression: sp.Expr) -> Iterator[sp.Expr]:
    found = sorted(expression.atoms(*DYING, sp.Pow), key=sp.default_sort_key)
    for part in found:
        if not part.is_Pow:
            yield part.args[0]
        elif part.base.is_number and part.base.is_positive:
            yield part.exp * sp.log(part.base)
