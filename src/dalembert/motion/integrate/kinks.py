"""Kinks on the way: which side of each the motion is on, and how it changes sides. As runtime/events/kinks.h.

A kink is passed where its function falls below zero, counted from the side where the motion is; there the side changes
and the integration starts again. Where a function is at zero already, at the start or after a passage, the side is not
known before the motion has left: it is tried, and where the function then falls, the motion goes back to that state
and takes the other side. Where it falls from both, the law drives the motion back as soon as it has crossed: it would
chatter, and no side is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import EVENT_START_NOISE
from dalembert.motion.integrate.events import Turn
from dalembert.motion.integrate.trajectory import CHATTERS_IN_PLACES, CHATTERS_IN_VELOCITIES
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.model.kinks import Switched
    from dalembert.model.system import System


@dataclass(frozen=True)
class Kinks:
    """The places of their sides among the parameters, how their functions read, and which of them have velocities."""

    places: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    in_velocities: tuple[bool, ...] = ()

    def text(self, which: int | None) -> str:
        return "" if which is None else self.texts[which]

    def chatters(self, which: int | None) -> str:
        """What to say where a motion would chatter about one of them."""
        moves = which is None or self.in_velocities[which]
        return (CHATTERS_IN_VELOCITIES if moves else CHATTERS_IN_PLACES).format(self.text(which))


def kink_count(system: System) -> int:
    """How many kinks a motion may pass."""
    found = _switched(system)
    return 0 if found is None else len(found.kinks)


def _switched(system: System) -> Switched | None:
    if not system.may_have_kinks:
        return None
    from dalembert.model.kinks import switched_kinks  # needs SymPy; most models have no kinks

    return switched_kinks(system)


def with_switches(evaluation: Evaluation) -> tuple[Evaluation, Kinks]:
    """What integrates: the model with its kinks switched, where it has any, and these; otherwise the model itself."""
    found = _switched(evaluation.system)
    if found is None:
        return evaluation, Kinks()
    values = dict(zip(evaluation.system.parameter_symbols, evaluation.p, strict=True))
    symbols = found.system.parameter_symbols
    own = Evaluation(found.system, np.array([values.get(symbol, 1.0) for symbol in symbols]))
    plain, velocities = {kink.side: 1 for kink in found.kinks}, set(evaluation.system.velocities)
    return own, Kinks(
        tuple(symbols.index(kink.side) for kink in found.kinks),
        tuple(str(kink.function.xreplace(plain)) for kink in found.kinks),
        tuple(not velocities.isdisjoint(kink.function.free_symbols) for kink in found.kinks),
    )


class Sides:
    """The sides of the kinks in one integration. `now` is shared with who watches the events."""

    def __init__(self, evaluation: Evaluation, kinks: Kinks) -> None:
        self.evaluation, self.kinks = evaluation, kinks
        self.sizes = np.zeros(2 * evaluation.n)  # of (q, q̇), as in `EventWatch`, once they are known
        self.now = [1] * len(kinks.places)
        self.tried: list[set[int]] = []  # since the last passage
        self.rounds = 0

    def start(self, t: float, y: Array) -> None:
        """What is exactly at zero is taken as it stands at first."""
        self._set([0] * len(self.now))
        g = self._functions(t, y)[0]
        self._set([int(np.sign(x)) for x in g])
        self._agree(t, y)

    def cross(self, turn: Turn) -> None:
        """Take the other side of one kink; those that depend on it follow."""
        now = list(self.now)
        now[turn.which] = -now[turn.which] or turn.direction
        self._set(now)
        self._agree(turn.t, turn.y, turn.which)

    def try_another_side(self, turn: Turn, others: int) -> bool:
        """Take a side that was not tried yet where a function began at zero. False: there is none.
        others: how many more functions are at zero there, on whose sides this one may depend.
        """
        now, k, side = list(self.now), turn.which, self.now[turn.which]
        now[k] = -side if side else turn.direction
        self.tried[k].add(side)
        if now[k] in self.tried[k]:
            self.rounds += 1
            if self.rounds > others:
                return False
            self.tried[k] = {side}
        self._set(now)
        return True

    def _agree(self, t: float, y: Array, but: int | None = None) -> None:
        """Functions that are not at zero say themselves on which side they are; some depend on the sides of others."""
        self.tried, self.rounds = [set() for _ in self.now], 0
        for _ in self.now:
            g, level = self._functions(t, y)
            now = [
                side if k == but or not abs(x) > least else int(np.sign(x))
                for k, (side, x, least) in enumerate(zip(self.now, g, level, strict=True))
            ]
            if now == self.now:
                break
            self._set(now)

    def _functions(self, t: float, y: Array) -> tuple[Array, Array]:
        g, scale = self.evaluation.events(y, t, self.sizes)
        count = len(self.now)
        return g[-count:].copy(), EVENT_START_NOISE * np.where(np.isfinite(scale), scale, 0.0)[-count:]

    def _set(self, now: list[int]) -> None:
        self.now[:] = now
        self.evaluation.p[list(self.kinks.places)] = now
