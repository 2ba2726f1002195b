"""What a law of a nonideal constraint is asked, whoever wrote it.

A law gives the vector C of Udwadia 2005: vᵀQᶜ = vᵀC for every virtual displacement v (A v = 0). The force that
results is in general not C but what remains of it along the virtual displacements, see `mechanics.solve.fundamental`.

Two kinds of laws answer these questions: `Work`, C written down, and `Sliding`, forces on a point that slides, from
which a law of one's own is derived in a few lines. No other part of the package asks which law it has before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import sympy as sp

if TYPE_CHECKING:
    from dalembert.model.friction.contact import Contact
    from dalembert.model.friction.read_laws import LawReader
    from dalembert.model.friction.work import Work
    from dalembert.model.system import System

Number: TypeAlias = Any  # a number, an expression, or text of one; an expression once a `System` has read it
Change: TypeAlias = Callable[[sp.Expr], sp.Expr]
Forces: TypeAlias = Mapping[sp.Symbol, sp.Expr]  # generalized forces by coordinate


class Law(ABC):
    """A law of constraints that do work. `law` is its name in documents, by default that of its class in lower case."""

    law: ClassVar[str]
    point: Any = None  # where something slides, of laws that know

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "law" not in vars(cls):
            cls.law = cls.__name__.lower()

    # -- what it is

    @property
    @abstractmethod
    def constraints(self) -> tuple[str, ...]:
        """The names of the constraints that do the work."""

    @property
    def name(self) -> str:
        """What it is called in results."""
        return " + ".join(self.constraints)

    @abstractmethod
    def expressions(self) -> Iterator[sp.Expr]:
        """Every expression of the law."""

    @abstractmethod
    def structure(self) -> tuple[Any, ...]:
        """The law, hashable: systems of one structure share their equations, so laws of two classes differ in it."""

    @abstractmethod
    def map_expressions(self, change: Change) -> Law:
        """The law with `change` applied to each of its expressions."""

    def in_coordinates(self, place: Mapping[sp.Symbol, sp.Expr], pull: Callable[[Forces], Forces]) -> Law:
        """The law over other coordinates. place: the old ones in terms of the new; pull: the forces along the new ones
        of forces along the old.
        """
        return self.map_expressions(lambda expression: expression.xreplace(place))

    # -- what it does

    @property
    def written_work(self) -> Forces:
        """C as far as the user wrote it down: of it accelerations and unknown reactions are faults."""
        return {}

    @abstractmethod
    def smooth_work(self, system: System) -> Work | None:
        """C of the law, without what is set-valued at rest; None where nothing is left."""

    def contact(self, system: System) -> Contact | None:
        """Stick and slip, where the law is one of dry friction."""
        return None

    @property
    def dry(self) -> bool:
        """Whether it sticks and slips."""
        return False

    # -- how it is read and written

    @abstractmethod
    def read(self, reader: LawReader) -> Law | None:
        """The law with its expressions read; None where they cannot be, which `reader` is told."""

    @classmethod
    @abstractmethod
    def entries(cls) -> tuple[str, ...]:
        """What it has in a document besides `law` and `constraint`."""

    @classmethod
    @abstractmethod
    def entry_faults(cls, place: str, entry: Mapping[str, Any]) -> list[str]:
        """What is wrong with the entries of a document that are known, before any expression is read."""

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Law:
        """The law of a document, from entries without faults."""
        return cls(**{key: value for key, value in entry.items() if key != "law"})

    @abstractmethod
    def entry(self, text: Callable[[sp.Expr], str], number: Callable[[sp.Expr], Any]) -> dict[str, Any]:
        """What a document holds of it. text: writes an expression; number: one that may be a number."""
