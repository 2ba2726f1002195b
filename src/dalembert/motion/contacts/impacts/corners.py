"""One-sided constraints that touch just where they have a corner: there the normal has no direction.

    φ = y − |x| ≥ 0    is    y − x ≥ 0 and y + x ≥ 0

A corner that points away from what may move is two constraints; written as two, both may push at once. One that points
towards it is an edge, on which the side is not determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints
from dalembert.model.kinks import Kink, sides_of
from dalembert.model.language.symbols import t as time
from dalembert.motion.contacts.modes.contacts import Contacts

# A kink is touched where its function is below this share of the places of the motion, as gaps are.
NEAR = 1e-9
# Normals on both sides that differ by more than this share make a corner.
BENT = 1e-6


def require_no_corner(contacts: Contacts, touching: Sequence[int], q: Array, t: float, reach: float) -> None:
    """Refuse a state in which one of the one-sided constraints (by number) touches in a corner of its own."""
    for k in touching:
        constraint = contacts.system.constraints[contacts.one_sided[k]]
        expression, kinks = _sides(constraint.expression)
        if not kinks:
            continue
        values = _values(contacts, q, t)
        for kink in kinks:  # those inside others come first
            g = float(kink.function.xreplace(values))
            values[kink.side] = sp.Float(float(np.sign(g)))
            if abs(g) <= NEAR * reach and _is_bent(contacts, expression, kink, values):
                raise InconsistentConstraints(
                    f"{contacts.system.name}, t = {t:.10g}: {constraint.name!r} touches in its corner, where "
                    f"{kink.function} = 0, so that its normal has no direction: {_remedy(expression, kinks, kink)}"
                )


_sides = lru_cache(maxsize=256)(sides_of)


def _values(contacts: Contacts, q: Array, t: float) -> dict[sp.Symbol, sp.Float]:
    system = contacts.system
    values = dict(zip(system.parameter_symbols, map(sp.Float, system.parameter_values()), strict=True))
    values |= dict(zip(system.coordinates, map(sp.Float, q), strict=True))
    return {**values, time: sp.Float(t)}


def _is_bent(contacts: Contacts, expression: sp.Expr, kink: Kink, values: dict[sp.Symbol, sp.Float]) -> bool:
    slopes = [expression.diff(x) for x in contacts.system.coordinates]
    below, above = (
        np.array([float(slope.xreplace({**values, kink.side: sp.Integer(side)})) for slope in slopes])
        for side in (-1, 1)
    )
    size = max(float(np.linalg.norm(below)), float(np.linalg.norm(above)))
    return float(np.linalg.norm(above - below)) > BENT * size


def _remedy(expression: sp.Expr, kinks: tuple[Kink, ...], kink: Kink) -> str:
    """φ = base + c |g|: with c < 0 it is the lesser of its sides, and both are constraints."""
    c = sp.simplify(expression.diff(kink.side) / kink.function)
    if len(kinks) > 1 or c.is_negative is not True:
        return "round the corner off"
    sides = [sp.expand(expression.xreplace({kink.side: sp.Integer(side)})) for side in (1, -1)]
    return f"give its sides as two one-sided constraints, {sides[0]} >= 0 and {sides[1]} >= 0"
