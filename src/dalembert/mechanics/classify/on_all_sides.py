"""What is conserved on all sides of a model's kinks: of abs, sign, min, max and conditions.

Random states lie on some sides of them, perhaps all on one: a force that sets in at t = 5, or beyond x = 10, is not
seen. With its sides as parameters the model is smooth, and they can be chosen; a quantity must be constant on each, and
not jump from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from dalembert.mechanics.sample import SEED, Sample, Sampler
from dalembert.mechanics.standard_form import diff
from dalembert.model.kinks import KINKED, Kink, switched_kinks
from dalembert.model.language.symbols import t
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.classify.conserve import Conserved, Search

# Of so many kinks all sides are looked at together, of more so many choices among them.
ALL, SOME = 3, 8
# States near which zeros of g are looked for, and steps of Newton's method to them.
STATES, STEPS = 4, 30
# What a quantity may differ by where g = 0, relative to itself: zeros are found to rounding.
SAME = 1e-9


def kept_on_all_sides(
    system: System, quantities: tuple[Conserved, ...], search_of: Callable[[Sampler], Search]
) -> tuple[Conserved, ...]:
    """Those of the quantities that are constant on all sides of the kinks of a system, and do not jump there."""
    switched = None if system.contacts or system.functions else switched_kinks(system)
    if switched is None:
        return quantities
    for sides in _choices(len(switched.kinks)):
        values = {kink.side: side for kink, side in zip(switched.kinks, sides, strict=True)}
        search = search_of(Sampler(switched.system.expanded.replace(parameters=values)))
        if search.states:  # else no state has these sides
            quantities = tuple(_kept(quantities, switched.kinks, search))
    return quantities


def _kept(quantities: tuple[Conserved, ...], kinks: tuple[Kink, ...], search: Search) -> Iterator[Conserved]:
    """Those that are constant on one choice of sides. The energies have the sides in them there."""
    energies = {name: expression for name, expression, rate in search.energies() if rate.zero}
    states = [state for state, _ in search.states[:STATES]]
    for quantity in quantities:
        own = energies.get(quantity.name)
        if not quantity.expression.has(*KINKED):
            kept = search.measure(quantity.expression).zero
        else:
            kept = own is not None and not _jumps(own, kinks, search.sampler, states)
        if kept:
            yield quantity


def _choices(count: int) -> Iterator[tuple[int, ...]]:
    if count <= ALL:
        yield from product((1, -1), repeat=count)
        return
    draw = np.random.default_rng(SEED)
    for _ in range(SOME):
        yield tuple(int(side) for side in draw.choice((1, -1), count))


def _jumps(quantity: sp.Expr, kinks: tuple[Kink, ...], sampler: Sampler, states: list[Sample]) -> bool:
    """Whether a quantity differs on the two sides of a kink where its function is zero."""
    for kink in kinks:
        if kink.side not in quantity.free_symbols:
            continue
        both = [quantity.xreplace({kink.side: sp.Integer(side)}) for side in (1, -1)]
        evaluate = sampler.function(both)
        for place in _zeros(kink.function, sampler, states):
            one, other = evaluate(place)
            if abs(one - other) > SAME * max(abs(one), abs(other)):
                return True
    return False


def _zeros(g: sp.Expr, sampler: Sampler, states: list[Sample]) -> Iterator[Sample]:
    """States at which g is zero, by Newton's method along the variable on which it depends most."""
    variables = (*sampler.system.coordinates, *sampler.system.velocities, t)
    evaluate = sampler.function([g, *(diff(g, symbol) for symbol in variables)])
    n = len(sampler.system.coordinates)
    for state in states:
        y = np.array([*state.q, *state.v, state.t])
        for _ in range(STEPS):
            value, *slopes = evaluate(Sample(y[:n], y[n:-1], float(y[-1]), state.p))
            k = int(np.argmax(np.abs(slopes)))
            if not np.isfinite(value) or not abs(slopes[k]) > 0:
                break
            step = value / slopes[k]
            y[k] -= step
            if abs(step) <= 1e-15 * max(abs(y[k]), 1.0):
                yield Sample(y[:n].copy(), y[n:-1].copy(), float(y[-1]), state.p)
                break
