"""The laws of friction that come with the package, and the table of those that documents know.

Each is one class: what it does, and what it wants of its coefficients. How a law is read, written and put into
equations it has from `Sliding`; a law of your own is one more such class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import sympy as sp

from dalembert.model.friction.law import Law, Number
from dalembert.model.friction.sliding import Sliding
from dalembert.model.friction.work import Work

__all__ = [
    "LAWS",
    "Coulomb",
    "Law",
    "Quadratic",
    "Rolling",
    "Sliding",
    "Spinning",
    "Stribeck",
    "Viscous",
    "Work",
    "register_law",
]

Value = Callable[[sp.Expr | None], float | None]
Kind = TypeVar("Kind", bound=type[Law])


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

    def drag(self, speed: sp.Expr, normal: sp.Expr) -> Number:
        return self.coefficient


@dataclass(frozen=True)
class Quadratic(Sliding):
    """Drag that grows with the square: the force −c |v| v against the sliding velocity v."""

    constraint: str | tuple[str, ...]
    coefficient: Number
    point: Any = None
    slide: Any = None

    law = "quadratic"

    def drag(self, speed: sp.Expr, normal: sp.Expr) -> Number:
        return self.coefficient * speed


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

    def dry_coefficient(self, speed: sp.Expr) -> Number:
        return self.mu

    def static_limit(self) -> Number:
        return self.mu if self.mu_static is None else self.mu_static

    def faults(self, value: Value) -> Iterator[str]:
        yield from _smaller("mu", value(self.mu), value(self.mu_static))
        if self.regularize is not None and self.mu_static is not None:
            yield "mu_static has no effect where the law is regularised; leave out one of them"


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
    positive = ("regularize", "speed", "exponent")

    def drag(self, speed: sp.Expr, normal: sp.Expr) -> Number:
        return self.viscous

    def dry_coefficient(self, speed: sp.Expr) -> Number:
        return self.mu + (self.mu_static - self.mu) * sp.exp(-((speed / self.speed) ** self.exponent))

    def static_limit(self) -> Number:
        return self.mu_static

    def faults(self, value: Value) -> Iterator[str]:
        yield from _smaller("mu", value(self.mu), value(self.mu_static))


class _Torque(Sliding):
    """What resistance to rolling and to spinning share: a torque of a coefficient that is a length."""

    arm: Any
    arm_static: Any
    resisted = "angular velocity"

    def dry_coefficient(self, speed: sp.Expr) -> Number:
        return self.arm

    def static_limit(self) -> Number:
        return self.arm if self.arm_static is None else self.arm_static

    def faults(self, value: Value) -> Iterator[str]:
        yield from _smaller("arm", value(self.arm), value(self.arm_static))


@dataclass(frozen=True)
class Rolling(_Torque):
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
class Spinning(_Torque):
    """Resistance to spinning about the normal (boring friction): a torque of size δ |N| against that angular velocity,
    given as `slide`. Otherwise as `Rolling`.
    """

    constraint: str | tuple[str, ...]
    arm: Number
    slide: Any
    arm_static: Number = None

    law = kind = "spinning"

    def faults(self, value: Value) -> Iterator[str]:
        yield from super().faults(value)
        if self.slide is not None and len(self.slide) > 1:
            yield f"spinning is about the normal: slide has one component, got {len(self.slide)}"


def _smaller(name: str, moving: float | None, static: float | None) -> Iterator[str]:
    """The static coefficient is not the smaller one."""
    if moving is not None and static is not None and static < moving:
        yield f"{name}_static = {static:.6g} is smaller than {name} = {moving:.6g}; it cannot be"


#: The laws that documents know, by name.
LAWS: dict[str, type[Law]] = {
    kind.law: kind for kind in (Work, Viscous, Quadratic, Coulomb, Stribeck, Rolling, Spinning)
}


def register_law(kind: Kind) -> Kind:
    """Make a law of one's own known to documents, under `kind.law`; also as a decorator of the class."""
    if not (isinstance(kind, type) and issubclass(kind, Law)):
        raise TypeError(f"a law is a class derived from da.Sliding or da.Law, got {kind!r}")
    known = LAWS.get(kind.law)
    if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ValueError(f"documents know another law {kind.law!r}, {known.__qualname__}: give law = another name")
    LAWS[kind.law] = kind
    return kind
