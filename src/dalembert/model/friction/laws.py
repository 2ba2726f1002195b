"""Laws of nonideal constraints: what the constraint forces do when they do work.

A law gives the vector C of the 2005 principle: vᵀQᶜ = vᵀC for every virtual displacement v (A v = 0). The
force that results is in general not C but what remains of it along the virtual displacements, see
`mechanics.solve.fundamental`.

`Work` is C itself. The others are forces on a point that slides: their direction and, for dry friction, the
size of the reaction follow from the named constraint, see `contact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import sympy as sp

Number = Any  # a number, an expression, or text of one; an expression once a `System` has read it


@dataclass(frozen=True)
class Work:
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
        """Every expression of the law."""
        yield from self.work.values()
        yield from self.heat.values()

    def structure(self) -> tuple[Any, ...]:
        """The law, hashable."""
        return self.law, self.constraint, tuple(self.work.items()), tuple(self.heat.items())


class Sliding:
    """What the laws of a sliding point share.

    `constraint`: the name of the constraint that carries the point, or several (a pin has two). `point`: where that
    point is, one to three expressions in q and t; or `slide`: its velocity, one to three expressions linear in q̇, where
    it is no derivative of a place (v + ω × r of a ball). See `docs/documents.md`, "Friction", for what they may be, and
    for the default.
    """

    law: str
    constraint: Any
    point: Any = None
    slide: Any = None
    kind = "sliding"  # what the law resists; a constraint has one dry law of each kind

    def __post_init__(self) -> None:
        """Sequences as tuples, so that a law can be compared and hashed; what else is wrong is told by `System`."""
        for name in ("constraint", "point", "slide"):
            value = getattr(self, name)
            if isinstance(value, Iterable) and not isinstance(value, (str, sp.Basic, Mapping)):
                object.__setattr__(self, name, tuple(value))

    @property
    def constraints(self) -> tuple[str, ...]:
        """The names of the constraints."""
        return self.constraint if isinstance(self.constraint, tuple) else (self.constraint,)

    @property
    def name(self) -> str:
        """What the contact is called in results."""
        place = " + ".join(self.constraints)
        return place if self.kind == "sliding" else f"{place} {self.kind}"

    @classmethod
    def numbers(cls) -> tuple[str, ...]:
        """The names of the coefficients."""
        geometry = ("constraint", "point", "slide")
        return tuple(f.name for f in fields(cls) if f.name not in geometry)  # type: ignore[arg-type]

    def expressions(self) -> Iterator[sp.Expr]:
        """Every expression of the law."""
        yield from (value for name in self.numbers() if (value := getattr(self, name)) is not None)
        yield from self.point or ()
        yield from self.slide or ()

    def structure(self) -> tuple[Any, ...]:
        """The law, hashable."""
        return self.law, self.constraint, self.point, self.slide, *(getattr(self, name) for name in self.numbers())


@dataclass(frozen=True)
class Viscous(Sliding):
    """A film of fluid: the force −c v against the sliding velocity v.

    >>> Viscous("plane", 0.3)
    Viscous(constraint='plane', coefficient=0.3, point=None, slide=None)
    """

    constraint: str | tuple[str, ...]
    coefficient: Number
    point: Any = None
    slide: Any = None

    law = "viscous"


@dataclass(frozen=True)
class Quadratic(Sliding):
    """Drag that grows with the square: the force −c |v| v against the sliding velocity v."""

    constraint: str | tuple[str, ...]
    coefficient: Number
    point: Any = None
    slide: Any = None

    law = "quadratic"


@dataclass(frozen=True)
class Coulomb(Sliding):
    """Dry friction: −μ |N| v/|v| while the point slides; at rest it sticks while a force of at most μ_s |N| holds it.

    N is the reaction of the constraint, solved together with the friction. `mu_static` is μ_s (default μ).
    `regularize`: a speed ε; then the law is smoothed, −μ |N| v/√(v² + ε²), and nothing sticks any more.

    >>> Coulomb("plane", mu=0.3, mu_static=0.4).constraints
    ('plane',)
    """

    constraint: str | tuple[str, ...]
    mu: Number
    mu_static: Number = None
    point: Any = None
    regularize: Number = None
    slide: Any = None

    law = "coulomb"


@dataclass(frozen=True)
class Stribeck(Sliding):
    """Dry friction that falls with the speed: the coefficient is μ + (μ_s − μ) exp(−(|v|/v_s)^exponent), from μ_s at
    rest to μ at speeds far above `speed` = v_s.

    `viscous`: a coefficient σ of a further force −σ v, which does not depend on the reaction. Otherwise as `Coulomb`.
    Where the law is regularised, √(v² + ε²) stands for |v| throughout.
    """

    constraint: str | tuple[str, ...]
    mu: Number
    mu_static: Number
    speed: Number
    exponent: Number = 2
    viscous: Number = 0
    point: Any = None
    regularize: Number = None
    slide: Any = None

    law = "stribeck"


@dataclass(frozen=True)
class Rolling(Sliding):
    """Resistance to rolling: a torque of size δ |N| against the angular velocity with which a body rolls; at rest up to
    δ_s |N|. `arm` is δ, a length; `arm_static` δ_s (default δ). `slide`: the angular velocity, one or two components.

    >>> Rolling("floor", 0.01, slide="phi'").name
    'floor rolling'
    """

    constraint: str | tuple[str, ...]
    arm: Number
    slide: Any
    arm_static: Number = None

    law = kind = "rolling"


@dataclass(frozen=True)
class Spinning(Sliding):
    """Resistance to spinning about the normal (boring friction): a torque of size δ |N| against that angular velocity,
    given as `slide`. Otherwise as `Rolling`.
    """

    constraint: str | tuple[str, ...]
    arm: Number
    slide: Any
    arm_static: Number = None

    law = kind = "spinning"


Law = Work | Viscous | Quadratic | Coulomb | Stribeck | Rolling | Spinning
#: The laws of a sliding point by name.
SLIDING: dict[str, type[Any]] = {kind.law: kind for kind in (Viscous, Quadratic, Coulomb, Stribeck, Rolling, Spinning)}


def is_dry(law: Law) -> bool:
    """Whether it sticks and slips: laws of dry friction do, unless they are smoothed."""
    return isinstance(law, (Coulomb, Stribeck, Rolling, Spinning)) and getattr(law, "regularize", None) is None
