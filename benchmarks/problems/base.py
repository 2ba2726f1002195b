"""What a benchmark problem is: a system, what is observed at the end of its motion, and the true values of that."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert import System

Array = NDArray[np.float64]
SAVED = Path(__file__).with_name("references.json")


@dataclass(frozen=True)
class Problem:
    """A motion to be computed from its start to `duration`, judged by `observed` quantities at its end.

    data: the numbers that define it, for peers that build their own model.
    system: makes the dalembert model.
    observe: (q, q̇) of the dalembert model -> observed quantities.
    compute: the true observed quantities, by another way than the peers': slow, exact.
    tolerances: the sweep of a work-precision curve for adaptive methods.
    """

    name: str
    title: str
    duration: float
    data: dict[str, Any]
    system: Callable[[], System]
    observe: Callable[[Array, Array], Array]
    compute: Callable[[], Array]
    recipe: str
    tolerances: tuple[float, ...] = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    kind: str = "motion"  # or "acceleration": one evaluation instead of a motion
    extra: dict[str, Any] = field(default_factory=dict)

    def reference(self, *, anew: bool = False) -> Array:
        """The true values, computed once and kept in references.json with the recipe that made them."""
        saved = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.is_file() else {}
        entry = saved.get(self.name)
        if anew or entry is None or entry["recipe"] != self.recipe:
            entry = {"recipe": self.recipe, "values": [float(x) for x in np.ravel(self.compute())]}
            saved[self.name] = entry
            SAVED.write_text(json.dumps(dict(sorted(saved.items())), indent=1) + "\n", encoding="utf-8")
        return np.array(entry["values"])

    def error(self, observed: Any) -> float:
        """The largest deviation from the true values, relative where they exceed one."""
        true = self.reference()
        given = np.ravel(np.asarray(observed, dtype=float))
        if given.shape != true.shape or not np.isfinite(given).all():
            return float("inf")
        return float(np.max(np.abs(given - true) / np.maximum(1.0, np.abs(true))))
