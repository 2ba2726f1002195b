"""A tuple that knows its hash."""

from __future__ import annotations

from typing import Any


class Hashed(tuple[Any, ...]):
    """Like a tuple. A whole model takes milliseconds to hash, and a motion with contacts looks it up many times."""

    def __hash__(self) -> int:
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = super().__hash__()
        return found
