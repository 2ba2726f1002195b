"""Symbols of which there is one object for each name."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

import sympy as sp


class OneObject(sp.Symbol):
    """A real symbol, the same object whenever it is asked for by its name while somebody has it.

    SymPy keeps the last thousand symbols and makes others anew: those of a large model would be made again and again,
    and compared by all their assumptions, of which each had a list of its own, a kilobyte long.
    """

    __slots__ = ("__weakref__",)
    _made: ClassVar[WeakValueDictionary[str, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._made = WeakValueDictionary()

    def __new__(cls, name: str, **assumptions: Any) -> Self:
        if assumptions != {"real": True} or not isinstance(name, str):
            return super().__new__(cls, name, **assumptions)
        found: Self | None = cls._made.get(name)
        if found is None:
            found = super().__new__(cls, name, **assumptions)
            own = getattr(found, "_assumptions0", None)
            if own in _ASSUMPTIONS:
                found._assumptions0 = _ASSUMPTIONS[own]
            elif own is not None:
                _ASSUMPTIONS[own] = own
            found = cls._made.setdefault(name, found)
        return found

    def as_coefficient(self, expr: Any) -> Any:
        # Every sine and cosine asks its argument whether it is imaginary, and SymPy divides by i to see.
        return None if expr is sp.I else super().as_coefficient(expr)

    @classmethod
    def named(cls, name: str) -> Self:
        return cls(name, real=True)


# What SymPy knows of a real symbol, the same for all of them.
_ASSUMPTIONS: dict[Any, Any] = {}
