"""`Sliding`: laws of forces on a point that slides. A law of one's own is derived from it in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import sympy as sp

from dalembert.model.friction.contact import SPEED, Contact, generalized_force, speed_of
from dalembert.model.friction.frames import inertia_of
from dalembert.model.friction.law import Change, Law, Number
from dalembert.model.friction.surface import Surface, surface_of
from dalembert.model.friction.work import Work

if TYPE_CHECKING:
    from dalembert.model.friction.read_laws import LawReader
    from dalembert.model.system import System

GEOMETRY = ("constraint", "point", "slide")


class Sliding(Law):
    """A force on a point that slides with the velocity u, or a torque against an angular velocity.

    `constraint`: the name of the constraint that carries the point, or several (a pin has two). `point`: where that
    point is, one to three expressions in q and t; or `slide`: its velocity, one to three expressions linear in q̇, where
    it is no derivative of a place (v + ω × r of a ball). See `docs/documents.md`, "Friction", for what they may be, and
    for the default.

    A law of your own is a frozen dataclass of this class: with fields `constraint`, its coefficients by names of your
    choice, and `point = None`, `slide = None`; and with one of two methods, or both.

    - `drag(speed, normal)`: the force is −drag u. It is smooth: nothing sticks.
    - `dry_coefficient(speed)`: dry friction, the force is −μ |N| u/|u|, and at rest the point sticks while a
      force of at most `static_limit()` |N| holds it. With a field `regularize`, a speed ε, the law can be smoothed:
      √(u² + ε²) stands for |u| then.

    Coefficients are zero or greater; those of `positive` greater than zero, those of `signed` any number. What else a
    law wants of them is told by `faults`. `da.register_law` makes it known to documents.

    >>> import dalembert as da
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Cubic(da.Sliding):
    ...     constraint: str
    ...     strength: object
    ...     point: object = None
    ...     slide: object = None
    ...
    ...     def drag(self, speed, normal):
    ...         return self.strength * speed**2
    >>> x, y = da.coordinates("x y")
    >>> block = da.System("block", coordinates=[x, y], kinetic=(x.d**2 + y.d**2)/2, constraints={"floor": y},
    ...     nonideal=[Cubic("floor", 3)])
    >>> dict(block.works[0].work)
    {x: -3*x'**3}
    """

    constraint: Any
    slide: Any = None
    kind: ClassVar[str] = "sliding"  # what the law resists; a constraint has one dry law of each kind
    resisted: ClassVar[str] = "velocity"  # what `slide` gives
    positive: ClassVar[tuple[str, ...]] = ("regularize",)
    signed: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        taken = [name for name in vars(cls).get("__annotations__", ()) if callable(getattr(Sliding, name, None))]
        if taken:
            raise TypeError(f"{cls.__name__}: {taken[0]!r} is what a law is asked; give the field another name")

    def __post_init__(self) -> None:
        """Sequences as tuples, so that a law can be compared and hashed; what else is wrong is told by `System`."""
        for name in GEOMETRY:
            value = getattr(self, name)
            if isinstance(value, Iterable) and not isinstance(value, (str, sp.Basic, Mapping)):
                object.__setattr__(self, name, tuple(value))

    # -- the law itself

    def drag(self, speed: sp.Expr, normal: sp.Expr) -> Number:
        """The force against the sliding velocity u is this times u. speed: |u|; normal: the reaction."""
        return sp.S.Zero

    def dry_coefficient(self, speed: sp.Expr) -> Number | None:
        """Of dry friction, at a speed; None: the law is none of dry friction."""
        return None

    def static_limit(self) -> Number:
        """The coefficient up to which the point sticks, by default that of the smallest speeds."""
        return self.dry_coefficient(sp.S.Zero)

    def faults(self, value: Callable[[sp.Expr | None], float | None]) -> Iterator[str]:
        """What else is wrong with the coefficients. value: of an expression, None where parameters do not decide it."""
        return iter(())

    # -- what it is

    @classmethod
    def acts(cls) -> bool:
        """Whether it has a law at all: one of the two methods is its own."""
        return cls.drag is not Sliding.drag or cls.dry_coefficient is not Sliding.dry_coefficient

    @property
    def constraints(self) -> tuple[str, ...]:
        return self.constraint if isinstance(self.constraint, tuple) else (self.constraint,)

    @property
    def name(self) -> str:
        """What the contact is called in results."""
        place = " + ".join(self.constraints)
        return place if self.kind == "sliding" else f"{place} {self.kind}"

    @classmethod
    def _fields(cls) -> dict[str, Any]:
        """The fields by name, each with its default."""
        return {f.name: f.default for f in fields(cls)}  # type: ignore[arg-type]  # a law is a dataclass

    @classmethod
    def numbers(cls) -> tuple[str, ...]:
        """The names of the coefficients."""
        return tuple(name for name in cls._fields() if name not in GEOMETRY)

    @classmethod
    def has(cls, name: str) -> bool:
        """Whether it has a field of this name: resistance to rolling has no `point`."""
        return name in cls._fields()

    @classmethod
    def optional(cls, name: str) -> bool:
        """Whether a field may be left out, as None."""
        return cls._fields()[name] is None

    def expressions(self) -> Iterator[sp.Expr]:
        yield from (value for name in self.numbers() if (value := getattr(self, name)) is not None)
        yield from self.point or ()
        yield from self.slide or ()

    def structure(self) -> tuple[Any, ...]:
        return type(self), self.constraint, self.point, self.slide, *(getattr(self, name) for name in self.numbers())

    def map_expressions(self, change: Change) -> Self:
        values = {name: value for name in self._fields() if (value := getattr(self, name)) is not None}
        values.pop("constraint")
        new = {k: tuple(map(change, value)) if k in GEOMETRY else change(value) for k, value in values.items()}
        return replace(self, **new)  # type: ignore[type-var]

    # -- what it does

    @property
    def dry(self) -> bool:
        return self.dry_coefficient(SPEED) is not None and getattr(self, "regularize", None) is None

    @property
    def rests_on_reaction(self) -> bool:
        """Whether the force depends on how hard the constraint presses."""
        normal = sp.Symbol("normal", positive=True)
        drag = sp.sympify(self.drag(SPEED, normal), strict=True)
        return self.dry_coefficient(SPEED) is not None or drag.has(normal)

    def _mu(self) -> sp.Expr | None:
        """The coefficient of dry friction, with SPEED for the speed."""
        given = self.dry_coefficient(SPEED)
        return None if given is None else sp.sympify(given, strict=True)

    def force(self, surface: Surface) -> list[sp.Expr]:
        """The components of the force against the sliding velocity, without what is set-valued at rest."""
        floor, size = getattr(self, "regularize", None), self._mu()
        share = sp.sympify(self.drag(speed_of(surface.slide), surface.normal), strict=True)
        if size is not None and floor is not None:
            speed = speed_of(surface.slide, floor)
            share += size.xreplace({SPEED: speed}) * sp.Abs(surface.normal) / speed
        return [share * u for u in surface.slide]

    def surface(self, system: System) -> Surface:
        """The surface on which the point slides."""
        inertia = inertia_of(system.kinetic, system.lagrangian, system.mass)
        assert inertia is not None
        constraints = tuple(next(c for c in system.constraints if c.name == name) for name in self.constraints)
        others = tuple(c for c in system.constraints if c.name not in self.constraints)
        return surface_of(inertia, system.coordinates, constraints, self.point, self.slide, others)

    def smooth_work(self, system: System) -> Work | None:
        """With the heat that it makes: the force against the sliding velocity, times that."""
        surface = self.surface(system)
        against = self.force(surface)
        if not any(against):
            return None
        heat = sp.Add(*(part * u for part, u in zip(against, surface.slide, strict=True)))
        return Work(generalized_force([-part for part in against], surface.force), self.name, {self.name: heat})

    def contact(self, system: System) -> Contact | None:
        if not self.dry:
            return None
        surface, mu = self.surface(system), self._mu()
        assert mu is not None
        return Contact(
            name=self.name,
            constraints=self.constraints,
            normal=surface.normal,
            signed=len(self.constraints) == 1,
            slide=surface.slide,
            force=surface.force,
            mu=mu,
            mu_static=sp.sympify(self.static_limit(), strict=True),
            bearing=surface.bearing,
        )

    # -- how it is read and written

    def read(self, reader: LawReader) -> Law | None:
        if not is_dataclass(self) or not self.__dataclass_params__.frozen:
            reader.faults.append(f"nonideal {self.law}: a law is a frozen dataclass: write @dataclass(frozen=True)")
            return None
        return reader.read_sliding(self)

    @classmethod
    def entries(cls) -> tuple[str, ...]:
        return tuple(name for name in cls._fields() if name != "constraint")

    @classmethod
    def entry_faults(cls, place: str, entry: Mapping[str, Any]) -> list[str]:
        needed = [name for name, default in cls._fields().items() if default is MISSING]
        faults = [f"{place}: no {key!r}" for key in needed if key not in entry]
        for key in GEOMETRY:
            items = entry[key] if isinstance(entry.get(key), list) else [entry.get(key, "")]
            if not all(isinstance(item, str) for item in items):
                faults.append(f"{place}: {key!r} is a text or a list of texts, got {entry[key]!r}")
        for key in cls.numbers():
            if key in entry and (isinstance(entry[key], bool) or not isinstance(entry[key], (int, float, str))):
                faults.append(f"{place}: {key!r} is a number or a text, got {entry[key]!r}")
        return faults

    def entry(self, text: Callable[[sp.Expr], str], number: Callable[[sp.Expr], Any]) -> dict[str, Any]:
        names = self.constraint if isinstance(self.constraint, str) else list(self.constraint)
        data: dict[str, Any] = {"law": self.law, "constraint": names}
        data |= {key: number(value) for key in self.numbers() if (value := getattr(self, key)) is not None}
        for key, given in (("point", self.point), ("slide", self.slide)):
            if given is not None:
                texts = [text(entry) for entry in given]
                data[key] = texts if len(texts) > 1 else texts[0]
        return data
