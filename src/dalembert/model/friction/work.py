"""`Work`: the vector C written down, and the sum of C over laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sympy as sp

from dalembert.model.friction.law import Change, Forces, Law
from dalembert.model.language.symbols import Coordinate

if TYPE_CHECKING:
    from dalembert.model.friction.read_laws import LawReader
    from dalembert.model.system import System


@dataclass(frozen=True)
class Work(Law):
    """C written down directly: the work done by the constraint forces in a virtual displacement is Σ C_j
    δq_j.

    `work` maps coordinates to expressions in q, q̇, t and parameters; `ideal(x)` and `actual(x)`
    (`da.ideal(x)`, `da.actual(x)`) stand for the x component of the ideal constraint force (as if C were
    zero) and of the actual one, Aᵀλ; `da.multiplier("plane")` for λ of one constraint. `constraint` names the
    constraint that does the work, for the reader.

    heat: the power that becomes heat, by the name of where it does. Laws of friction give it, which know what slides;
    of a C written down directly it is not known, so that it is not read from a user.
    """

    work: Mapping[sp.Symbol, sp.Expr]
    constraint: str | None = None
    heat: Mapping[str, sp.Expr] = field(default_factory=dict)

    law = "work"

    def __post_init__(self) -> None:
        if isinstance(self.work, Mapping):  # what else is wrong is told by `System`
            object.__setattr__(self, "work", MappingProxyType(dict(self.work)))
        object.__setattr__(self, "heat", MappingProxyType(dict(self.heat)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Work, (dict(self.work), self.constraint, dict(self.heat))

    @property
    def constraints(self) -> tuple[str, ...]:
        return () if self.constraint is None else (self.constraint,)

    def expressions(self) -> Iterator[sp.Expr]:
        yield from self.work.values()
        yield from self.heat.values()

    def structure(self) -> tuple[Any, ...]:
        return type(self), self.constraint, tuple(self.work.items()), tuple(self.heat.items())

    def map_expressions(self, change: Change) -> Work:
        heat = {name: change(power) for name, power in self.heat.items()}
        return Work({q: change(C) for q, C in self.work.items()}, self.constraint, heat)

    def in_coordinates(self, place: Mapping[sp.Symbol, sp.Expr], pull: Callable[[Forces], Forces]) -> Work:
        heat = {name: power.xreplace(place) for name, power in self.heat.items()}
        return Work(pull({s: C.xreplace(place) for s, C in self.work.items()}), self.constraint, heat)

    @property
    def written_work(self) -> Forces:
        return self.work

    def smooth_work(self, system: System) -> Work:
        return self

    def read(self, reader: LawReader) -> Work | None:
        if not isinstance(self.work, Mapping):
            reader.faults.append(
                "nonideal: da.Work takes expressions by coordinates, then the name of the constraint, as in "
                f"da.Work({{x: -c*x.d}}, 'plane'); got {self.work!r} for the first"
            )
            return None
        reader.knows_constraints(self, "nonideal")
        return Work(reader.work(self.work), self.constraint, self.heat)

    @classmethod
    def entries(cls) -> tuple[str, ...]:
        return ("work",)

    @classmethod
    def entry_faults(cls, place: str, entry: Mapping[str, Any]) -> list[str]:
        faults = []
        if not isinstance(entry.get("work"), Mapping):
            faults.append(f'{place}: write work = {{ coordinate = "expression", … }}')
        if not isinstance(entry.get("constraint", ""), str):
            faults.append(f"{place}: 'constraint' is a text, got {entry['constraint']!r}")
        return faults

    def entry(self, text: Callable[[sp.Expr], str], number: Callable[[sp.Expr], Any]) -> dict[str, Any]:
        named = {"constraint": self.constraint} if self.constraint else {}
        return {"law": self.law, **named, "work": {q.name: text(C) for q, C in self.work.items()}}


def total(works: Iterable[Work], coordinates: Iterable[Coordinate]) -> tuple[sp.Expr, ...]:
    """C: the sum over laws, in the order of the coordinates."""
    laws = tuple(works)
    return tuple(sp.Add(*(law.work.get(q, sp.S.Zero) for law in laws)) for q in coordinates)
