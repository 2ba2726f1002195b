"""Explicit Runge–Kutta methods as data: a tableau that checks itself when it is made.

A step of size h from (t, y) takes slopes kᵢ = f(t + cᵢh, y + h Σⱼ aᵢⱼkⱼ), i < s, and ends at y + h Σᵢ bᵢkᵢ. The slope
at that end is number s; those that only an interpolant needs come after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isfinite

Row = tuple[float, ...]
# Sums of coefficients are as far from what they should be as rounding makes them, relative to the largest of them.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Estimate:
    """Weights of the slopes whose sum is the error of a step over h: the difference between b and the weights of an
    embedded method of this order. One more than there are stages, where the slope at the end of the step has a part.
    """

    weights: Row
    order: int


@dataclass(frozen=True)
class Powers:
    """A state inside a step as y + h Σᵢ kᵢ Σⱼ weights[i][j] x^(j+1), at the share x of it; as many rows as there are
    stages, and one for the slope at the end of the step, before the return to the constraints. Accurate to `order`.
    """

    weights: tuple[Row, ...]
    order: int


@dataclass(frozen=True)
class Nested:
    """A state inside a step as y + x(f₀ + (1−x)(f₁ + x(f₂ + (1−x)(f₃ + …)))): f₀ is the change over the step, f₁ and f₂
    make the slopes at its ends right, and the others are h times sums of slopes, one row of weights for each. Slopes
    besides those of the step have rows of `a` and entries of `c`.

    With nothing given it is the cubic through the states and slopes at both ends, which any method has.
    """

    a: tuple[Row, ...] = ()
    c: Row = ()
    rows: tuple[Row, ...] = ()
    order: int = 3


@dataclass(frozen=True)
class Tableau:
    """a: row i holds the weights of the slopes before stage i, the first none. estimates: of the error, one; or two,
    the finer first, combined as in DOP853 (Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, section
    II.10): the error is then taken to be e₁²/√(e₁² + 0.01 e₂²).

    limit: where the step times the Jacobian exceeds this, the method runs at the limit of its stability. It is measured
    between the last stage and the end of the step, which must belong to the same time. None: it is not watched.
    """

    a: tuple[Row, ...]
    b: Row
    c: Row
    order: int
    estimates: tuple[Estimate, ...]
    interpolant: Powers | Nested = Nested()
    limit: float | None = None

    def __post_init__(self) -> None:
        if faults := self._faults():
            raise ValueError("a tableau that is none: " + "; ".join(faults))

    @property
    def stages(self) -> int:
        return len(self.b)

    @property
    def slopes(self) -> int:
        """How many a step and its interpolant need at most, that at the end of the step among them."""
        return self.stages + 1 + (len(self.interpolant.c) if isinstance(self.interpolant, Nested) else 0)

    @property
    def falls(self) -> int:
        """The estimated error of a step falls with this power of its size."""
        powers = [estimate.order + 1 for estimate in self.estimates]
        return powers[0] if len(powers) == 1 else 2 * powers[0] - powers[1]

    @property
    def ends_with_slope(self) -> bool:
        """Whether a step takes the slope at its end, before the return to the constraints."""
        estimated = any(len(estimate.weights) > self.stages for estimate in self.estimates)
        return estimated or isinstance(self.interpolant, Powers)

    @property
    def is_plain(self) -> bool:
        """Whether it has one estimate, and an interpolant that needs no slopes besides those of the step."""
        return len(self.estimates) == 1 and not (isinstance(self.interpolant, Nested) and self.interpolant.rows)

    def matrix(self) -> tuple[Row, ...]:
        """The rows of all slopes, in their order: stages, the end of the step, what an interpolant needs besides."""
        return (*self.a, self.b, *(self.interpolant.a if isinstance(self.interpolant, Nested) else ()))

    def inside(self, x: float) -> Row:
        """The weights of all slopes at the share x of a step: the interpolant is y + h Σᵢ wᵢkᵢ."""
        return self._inside(x)[0]

    def rate_inside(self, x: float) -> Row:
        """Those of its derivative by time: it changes by Σᵢ wᵢkᵢ there."""
        return self._inside(x)[1]

    def _inside(self, x: float) -> tuple[Row, Row]:
        """The weights, and their derivatives by x."""
        if isinstance(self.interpolant, Powers):
            rows = self.interpolant.weights
            weights = tuple(sum(w * x ** (j + 1) for j, w in enumerate(row)) for row in rows)
            return weights, tuple(sum((j + 1) * w * x**j for j, w in enumerate(row)) for row in rows)
        b, count = padded(self.b, self.slopes), self.slopes
        first = padded((1.0,), count)
        last = padded((*(0.0 for _ in self.b), 1.0), count)
        f: list[Sequence[float]] = [b, [p - q for p, q in zip(first, b, strict=True)]]
        f.append([2 * p - (q + r) for p, q, r in zip(b, first, last, strict=True)])
        f += [padded(row, count) for row in self.interpolant.rows]
        total, rate = [0.0] * count, [0.0] * count
        for k in reversed(range(len(f))):
            factor, slope = (x, 1.0) if k % 2 == 0 else (1 - x, -1.0)
            total = [sum_ + part for sum_, part in zip(total, f[k], strict=True)]
            rate = [factor * old + slope * sum_ for old, sum_ in zip(rate, total, strict=True)]
            total = [factor * sum_ for sum_ in total]
        return tuple(total), tuple(rate)

    def powers(self) -> tuple[Row, ...]:
        """The same by powers of x, a row for each slope, of an interpolant that needs no slopes besides."""
        if isinstance(self.interpolant, Powers):
            return self.interpolant.weights
        if self.interpolant.rows:
            raise ValueError("this interpolant needs slopes besides those of the step")
        rows = [(0.0, 3 * w, -2 * w) for w in (*self.b, 0.0)]
        rows[0] = (1.0, rows[0][1] - 2.0, rows[0][2] + 1.0)
        rows[-1] = (0.0, -1.0, 1.0)
        return tuple(rows)

    def _faults(self) -> list[str]:
        s, found = self.stages, []
        every = [*self.b, *self.c, *(x for row in self.a for x in row), *(x for e in self.estimates for x in e.weights)]
        if not all(isinstance(x, (int, float)) and isfinite(x) for x in every):
            return ["its coefficients must be finite floating-point numbers"]
        if len(self.a) != s or len(self.c) != s or any(len(row) > i for i, row in enumerate(self.a)):
            return [f"{s} weights b need as many entries c and rows of a, each with the slopes before it only"]
        if not 1 <= len(self.estimates) <= 2 or any(len(e.weights) not in (s, s + 1) for e in self.estimates):
            found.append(f"one or two estimates of the error are needed, of {s} or {s + 1} weights")
        if self.order < 1 or not all(any(e.weights) for e in self.estimates):
            found.append("its order must be positive, and no estimate of the error zero throughout")
        sums = [(f"row {i} of a", row, c) for i, (row, c) in enumerate(zip(self.a, self.c, strict=True))]
        sums += [("b", self.b, 1.0)]
        sums += [("an estimate of the error", estimate.weights, 0.0) for estimate in self.estimates]
        inner = self.interpolant
        if isinstance(inner, Powers):
            if len(inner.weights) != s + 1:
                found.append(f"the interpolant needs {s + 1} rows, one for each slope")
            else:
                ends = (*self.b, 0.0)
                sums += [(f"row {i} of the interpolant", row, ends[i]) for i, row in enumerate(inner.weights)]
        else:
            rows = list(zip_longest(inner.a, inner.c, fillvalue=None))
            if any(row is None or c is None or len(row) > s + 1 + i for i, (row, c) in enumerate(rows)):
                found.append("slopes of the interpolant need a row of a and an entry of c each")
            else:
                sums += [(f"row {i} of the interpolant", row or (), c or 0.0) for i, (row, c) in enumerate(rows)]
            if any(len(row) > self.slopes for row in inner.rows):
                found.append(f"there are {self.slopes} slopes, and the interpolant has weights for more")
        for name, row, total in sums:
            if abs(sum(row) - total) > ROUNDING * max(1.0, *(abs(x) for x in row), 1.0):
                found.append(f"{name} has the sum {sum(row):.17g}, not {total:.17g}")
        if self.limit is not None and self.c[-1] != 1.0:
            found.append("a limit of stability is measured against a last stage at the end of the step, with c = 1")
        return found


def padded(row: Sequence[float], count: int) -> Row:
    """A row of so many entries, with zeros at its end."""
    return (*row, *(0.0 for _ in range(count - len(row))))
