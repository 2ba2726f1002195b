"""Random data of the fundamental equation, built so that ranks and conditions are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """M, Q, A, b, C with the rank of A that was built in. `feasible` satisfies A z = b."""

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    rank: int
    feasible: Array
    rng: np.random.Generator

    @property
    def n(self) -> int:
        return self.Q.size

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        return self.M, self.Q, self.A, self.b, self.C

    @property
    def null(self) -> Array:
        """An orthonormal basis of A v = 0, by a decomposition of AᵀA that the code under test does not use."""
        _, vectors = np.linalg.eigh(self.A.T @ self.A)
        return vectors[:, : self.n - self.rank]

    def with_(self, **changes: Array) -> Problem:
        return replace(self, **changes)


def rotation(rng: np.random.Generator, size: int) -> Array:
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


def spread(rng: np.random.Generator, size: int, low: float, high: float) -> Array:
    """Numbers between low and high, uniform in their logarithm."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def positive(rng: np.random.Generator, n: int) -> Array:
    """Symmetric, eigenvalues between 0.2 and 20."""
    turn = rotation(rng, n)
    M = turn * spread(rng, n, 0.2, 20) @ turn.T
    return (M + M.T) / 2


def regular(rng: np.random.Generator, size: int) -> Array:
    """A matrix of condition at most 9."""
    return rotation(rng, size) * spread(rng, size, 1 / 3, 3) @ rotation(rng, size)


def rows(rng: np.random.Generator, m: int, n: int, rank: int) -> Array:
    """m rows of exactly the rank: independent ones first, then small integer combinations of them, then shuffled."""
    basis = rotation(rng, n)[:rank] * spread(rng, rank, 0.3, 3)[:, None]
    mix = rng.integers(-2, 3, size=(m - rank, rank)).astype(float)
    if rank:
        # A combination that vanishes to rounding only would be a row of noise; exact copies are the edge wanted here.
        mix[~mix.any(axis=1), 0] = 1.0
    A = np.vstack([basis, mix @ basis]) if rank else np.zeros((m, n))
    return A[rng.permutation(m)]


@st.composite
def problems(draw: st.DrawFn, nonideal: bool = True, least_free: int = 0) -> Problem:
    """Positive definite M, A of any rank, b in its range; `least_free` is the least dimension of A v = 0."""
    n = draw(st.integers(max(1, least_free), 6), label="coordinates")
    rank = draw(st.integers(0, n - least_free), label="rank")
    m = rank + draw(st.integers(0, 3), label="dependent rows")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    A = rows(rng, m, n, rank)
    feasible = rng.normal(size=n) * 3
    C = rng.normal(size=n) * 3 if nonideal else np.zeros(n)
    return Problem(positive(rng, n), rng.normal(size=n) * 3, A, A @ feasible, C, rank, feasible, rng)


@st.composite
def singular_problems(draw: st.DrawFn) -> Problem:
    """M of a rank below n; the constraints complete it: [M; A] has full column rank, well away from losing it."""
    n = draw(st.integers(2, 5), label="coordinates")
    massless = draw(st.integers(1, n - 1), label="massless directions")
    rank = draw(st.integers(massless, n), label="rank")
    m = rank + draw(st.integers(0, 2), label="dependent rows")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    turn = rotation(rng, n)
    M = turn * np.concatenate([np.zeros(massless), spread(rng, n - massless, 0.3, 5)]) @ turn.T
    # Rows along the massless directions, tilted a little, and along some of the others.
    tilted = turn.T[:rank] + 0.2 * rng.normal(size=(rank, n)) / np.sqrt(n)
    mix = rng.integers(-2, 3, size=(m - rank, rank)).astype(float)
    mix[~mix.any(axis=1), 0] = 1.0
    A = np.vstack([tilted, mix @ tilted])[rng.permutation(m)]
    feasible = rng.normal(size=n)
    return Problem((M + M.T) / 2, rng.normal(size=n), A, A @ feasible, rng.normal(size=n), rank, feasible, rng)
