"""Laws of nonideal constraints: what the constraint forces do when they do work.

A law gives the vector C of the 2005 principle: vᵀQᶜ = vᵀC for every virtual displacement v (A v = 0). The
force that results is in general not C but what remains of it along the virtual displacements, see
`mechanics.fundamental`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class Work:
    """C written down directly: the work done by the constraint forces in a virtual displacement is Σ C_j
    δq_j.

    `work` maps coordinates to expressions in q, q̇, t and parameters; `ideal(x)` and `actual(x)`
    (`da.ideal(x)`, `da.actual(x)`) stand for the x component of the ideal constraint force (as if C were
    zero) and of the actual one, Aᵀλ. `constraint` names the constraint that does the work, for the reader.
    """

    work: Mapping[sp.Symbol, sp.Expr]
    constraint: str | None = None

    law = "work"

    def __post_init__(self) -> None:
        object.__setattr__(self, "work", MappingProxyType(dict(self.work)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Work, (dict(self.work), self.constraint)
