"""Values drawn from distributions: at random, or spread evenly (Sobol's sequence, Latin hypercubes)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.arrays import Array

SAMPLERS = ("random", "sobol", "latin")
# A quantile at exactly 0 or 1 may be infinite: draws stay half the spacing of random numbers from 0, and at the number
# before 1.
LOW, HIGH = 2.0**-54, 1.0 - 2.0**-53


def is_distribution(value: Any) -> bool:
    """Whether this is one of SciPy's, with its parameters: scipy.stats.norm(0, 1)."""
    return callable(getattr(value, "ppf", None)) and callable(getattr(value, "rvs", None))


def fresh_seed() -> int:
    """A seed for those who gave none: it is written down with the results, so that they can be had again."""
    return secrets.randbits(32)


def draw(distributions: Mapping[str, Any], count: int, seed: int, sampler: str) -> dict[str, Array]:
    """So many values of each, independent of each other; the same for the same seed.

    The quantile function of each takes numbers between 0 and 1 to its values, so that sequences which fill the unit
    cube evenly fill the distributions evenly.
    """
    unit = np.clip(_unit_cube(len(distributions), count, seed, sampler), LOW, HIGH)
    columns = zip(distributions.items(), unit.T, strict=True)
    return {name: _quantiles(one, u) for (name, one), u in columns}


def _quantiles(distribution: Any, u: Array) -> Array:
    """Of one distribution; empty where it is one of several numbers, or gives none."""
    try:
        found = np.asarray(distribution.ppf(u), dtype=float)
    except (TypeError, ValueError):  # parameters that are arrays do not fit the number of draws
        return np.zeros(0)
    return found if found.shape == u.shape else np.zeros(0)


def _unit_cube(width: int, count: int, seed: int, sampler: str) -> Array:
    generator = np.random.default_rng(seed)
    if sampler == "random":
        return generator.random((count, width))
    from scipy.stats import qmc  # takes its time to load

    if sampler == "latin":
        return qmc.LatinHypercube(width, seed=generator).random(count)
    # The sequence is balanced in whole powers of two: so many are made, and the first ones taken.
    return qmc.Sobol(width, seed=generator).random_base2(max(count - 1, 1).bit_length())[:count]


def faults_of_draws(names: Sequence[str], columns: Mapping[str, Array]) -> list[str]:
    """Distributions that gave no numbers: their own parameters are wrong."""
    faults = []
    for name in names:
        if not columns[name].size:
            faults.append(
                f"{name}: its distribution gives no number for each draw; are its own parameters single numbers?"
            )
        elif not np.isfinite(columns[name]).all():
            faults.append(
                f"{name}: its distribution gives values that are not finite; look at the distribution's own parameters"
            )
    return faults
