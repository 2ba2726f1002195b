"""What these tests share: a simulation at tight tolerance and its largest difference from a closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import dalembert as da

Difference = Callable[[da.Motion, Mapping[str, np.ndarray]], dict[str, float]]
Simulate = Callable[..., da.Motion]

# All motions here are computed at this tolerance; those of the tests are explained as multiples of it.
RTOL = 1e-10


@pytest.fixture
def simulate() -> Simulate:
    """The motion at RTOL, over the system's own duration unless one is given; its certificate must hold."""

    def run(system: da.System, duration: float | None = None, samples: int = 81) -> da.Motion:
        motion = system.simulate(duration, rtol=RTOL, samples=samples)
        assert motion.certificate.holds, motion.certificate
        return motion

    return run


@pytest.fixture
def difference() -> Difference:
    """For each quantity of a closed form, its largest distance from the motion over all output times.

    The distance is relative to the largest size the quantity reaches, or to 1 where that is smaller.
    """

    liberated: list[tuple[da.Motion, np.ndarray]] = []

    def reactions(motion: da.Motion) -> np.ndarray:
        """Those on all particles side by side; freeing a system takes seconds, so once for all of them."""
        if not liberated or liberated[-1][0] is not motion:
            parts = da.liberate(motion.system).reactions(motion).values()
            liberated.append((motion, np.concatenate(list(parts), axis=1)))
        return liberated[-1][1]

    def measured(motion: da.Motion, key: str) -> np.ndarray:
        kind, _, name = key.partition(" ")
        names = [q.name for q in motion.system.coordinates]
        if kind in ("ideal", "nonideal"):
            return getattr(motion, kind)[:, names.index(name)]
        if kind == "reaction":
            names = motion.system.particles.cartesian_coordinates
            return reactions(motion)[:, [s.name for s in names].index(name)]
        if kind == "multiplier":
            return motion.multipliers[:, [c.name for c in motion.system.constraints].index(name)]
        return motion[key]

    def apart(found: np.ndarray, value: np.ndarray) -> float:
        if np.isinf(value).any():  # the radius of a straight path: infinite in both, or wrong
            return 0.0 if np.array_equal(found, value) else np.inf
        return float(np.max(np.abs(found - value)) / max(1.0, np.max(np.abs(value))))

    def compare(motion: da.Motion, expected: Mapping[str, np.ndarray]) -> dict[str, float]:
        return {key: apart(measured(motion, key), value) for key, value in expected.items()}

    return compare
