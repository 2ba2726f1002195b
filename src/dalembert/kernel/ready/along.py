"""Along the definitions of a large system, each made of those before it, in C (c/along.h)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import LONG, address, entry


class Along:
    """For J (defined, all) by rows, of which the last columns are those of the defined quantities."""

    def __init__(self, J: Any) -> None:
        self.count = J.shape[0]
        self._kept = (
            np.ascontiguousarray(J.indptr, dtype=LONG),
            np.ascontiguousarray(J.indices, dtype=LONG) - (J.shape[1] - self.count),
            np.ascontiguousarray(J.data),
        )
        self._at = [address(array) for array in self._kept]

    def follow(self, given: Array) -> Array:
        """(I − J)⁻¹ of it, as of accelerations."""
        return self._run("da_along", given)

    def hand_down(self, given: Array) -> Array:
        """(I − J)⁻ᵀ of it, as of forces."""
        return self._run("da_along_back", given)

    def _run(self, name: str, given: Array) -> Array:
        run, x = entry(name, "lpppp"), np.array(given, dtype=float)
        assert run is not None, "large systems have the library"
        run(self.count, *self._at, address(x))
        return x
