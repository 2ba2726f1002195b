"""The switching functions of a model's kinks as one CasADi function of its state."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from dalembert.remember import remember_alone

if TYPE_CHECKING:
    import sympy as sp

    from dalembert.model.system import System


@dataclass(frozen=True)
class KinkGraph:
    """functions(q, v, t, p) -> g, one for each kink. places: those that depend on places only, without those of dry
    friction, which has no part in stability.
    """

    functions: ca.Function
    places: tuple[int, ...]

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What others make of its functions, by name, once."""
        return {}


KEPT = 64
_made: dict[Hashable, KinkGraph | None] = {}


def kink_graph(system: System) -> KinkGraph | None:
    """Made once for each structure; None where a motion passes no kinks."""
    return remember_alone(_made, system.structure, lambda: _build(system), KEPT) if system.may_have_kinks else None


def _build(system: System) -> KinkGraph | None:
    from dalembert.graph.convert import Converter
    from dalembert.model.kinks import KINKED, sides_of, switched_kinks
    from dalembert.model.language.contents import contents
    from dalembert.model.language.symbols import Coordinate, t

    if not contents(*system.expressions()).has(*KINKED):
        return None
    switched = switched_kinks(system)
    found = [] if switched is None else [switched.kinks]
    # Coefficients of dry friction are switched in the modes of a motion, not in the model.
    found += [sides_of(part)[1] for law in system.expanded.nonideal for part in law.expressions()]
    if not any(found):
        return None
    n, symbols = len(system.coordinates), system.parameter_symbols
    q, v, time, p = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t"), ca.SX.sym("p", len(symbols))
    table: dict[sp.Symbol, ca.SX] = {t: time} | {symbol: p[k] for k, symbol in enumerate(symbols)}
    for k, coordinate in enumerate(system.coordinates):
        table |= {coordinate: q[k], coordinate.d: v[k]}
    values: list[ca.SX] = []
    for kinks in found:
        sides = dict(table)
        for kink in kinks:  # those inside others come first: these depend on their sides
            values.append(Converter(sides)(kink.function))
            sides[kink.side] = ca.sign(values[-1])
    places = [
        k
        for k, kink in enumerate(() if switched is None else switched.kinks)
        if {s.order for s in kink.function.free_symbols if isinstance(s, Coordinate)} == {0}
    ]
    return KinkGraph(ca.Function("kinks", [q, v, time, p], [ca.densify(ca.vertcat(*values))]), tuple(places))
