"""The path of stationary action through a state, among polynomials on a short interval about it.

Newton's method solves the equations of `polynomial_paths` for two lengths of the series. How far apart their answers
are tells what the series leave out, which falls with the interval; what rounding leaves grows as it gets shorter.
Between the two lies the interval that is sought, wherever the motion has its scale of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.mechanics.principles.shared.polynomial_paths import (
    Basis,
    Here,
    Newton,
    Polynomials,
    Stationarity,
    basis_of,
)
from dalembert.mechanics.sample import Sample, Sampler

# Terms of the paths. The error of a path falls by about h^TERMS; two lengths of the series tell how far it has fallen.
TERMS, MORE_TERMS = 9, 12
# Half lengths of the interval tried: from a share of a first guess of the time scale, longer and shorter by a factor.
FIRST, FACTOR, TRIES = 0.25, 2.5, 25
# The first answer is taken that is known to GOOD, rounding apart, and to FAIR, else the best that is known to ENOUGH:
# below the 1e-9 to which principles are compared, rounding being guessed several times too large. An error WORSE than
# the best so far by this factor says that the way is wrong.
GOOD, FAIR, ENOUGH, WORSE = 1e-11, 1e-10, 5e-10, 30
# Values below this many times their typical rounding are not told from zero. On intervals that are too short none are,
# whatever the motion; where none are on intervals of so many time scales, the path is straight.
MARGIN, STRAIGHT = 4, 300
# Differences of first derivatives give Newton's matrix to about 1e-9. It is kept while each step is shorter than the
# last by SLOW; steps that no longer shorten, below SETTLED, are rounding.
STEPS, SLOW, SETTLED, ROUNDING, DIVERGES = 20, 0.05, 1e-9, 1e-15, 3


class NoStationaryPath(DalembertError):
    """No interval was found on which polynomials resolve the path."""


@dataclass(frozen=True)
class _Attempt:
    """What one interval, of half length h, says: the acceleration and the force of the constraints, the errors of both
    relative to what balances there, and whether rounding is all that there is.
    """

    h: float
    acceleration: Array
    force: Array
    cut_off: float
    rounding: float
    still: bool

    @property
    def error(self) -> float:
        return max(self.cut_off, self.rounding)

    @property
    def good(self) -> bool:
        return self.cut_off <= GOOD and self.rounding <= FAIR


class StationaryPath:
    """Paths of stationary action of a system."""

    def __init__(self, sampler: Sampler) -> None:
        self._equations = Stationarity(sampler)
        self._bases = (basis_of(TERMS), basis_of(MORE_TERMS))

    def at(self, state: Sample) -> tuple[Array, Array]:
        """The acceleration, and the force of the constraints λ ∂φ/∂q, at a state."""
        here = self._equations.here(state)
        best: _Attempt | None = None
        still, long = False, STRAIGHT * here.time_scale
        for attempt in self._attempts(here):
            still = attempt.still if attempt.h >= long else still
            if best is None or attempt.error < best.error or attempt.good:
                best = attempt
        if best is not None and best.error <= ENOUGH:
            return best.acceleration, best.force
        if still:
            return np.zeros_like(here.pull), np.zeros_like(here.pull)
        known = "" if best is None else f": rounding leaves it known to {min(best.error, 1.0):.0e}"
        raise NoStationaryPath(f"no polynomial path of stationary action was found through this state{known}")

    def _attempts(self, here: Here) -> Iterator[_Attempt]:
        """Attempts on intervals of different lengths, up to the first good one.

        Rounding fades on longer intervals; what the series leave out, and what Newton's method misses, on shorter ones.
        """
        h = FIRST * here.time_scale
        first = self._attempt(here, h)
        if first is not None:
            yield first
            if first.good:
                return
        longer = first is not None and first.rounding > first.cut_off
        for way in (FACTOR, 1 / FACTOR) if longer else (1 / FACTOR, FACTOR):
            least = first.error if first is not None else np.inf
            for k in range(1, TRIES + 1):
                attempt = self._attempt(here, h * way**k)
                if attempt is None:
                    if way > 1:
                        break
                    continue
                yield attempt
                if attempt.good:
                    return
                if (attempt.rounding > attempt.cut_off) == (way < 1):
                    return  # the best length lies between this one and the last
                least = min(least, attempt.error)
                if attempt.error > WORSE * least:
                    break

    def _attempt(self, here: Here, h: float) -> _Attempt | None:
        found: list[tuple[Polynomials, Newton]] = []
        for basis in self._bases:
            guess = found[0][0] if found else None
            solved = self._solve(here, basis, h, guess)
            if solved is None:
                return None
            found.append(solved)
        answers = [path.answer(here) for path, _ in found]
        path, newton = found[1]
        patterns = [
            Polynomials(h, path.basis, path.c * 0, path.lam * 0).shifted(x).answer(here) for x in newton.noise.T
        ]
        rough = [np.max(np.abs(parts), axis=0) for parts in zip(*patterns, strict=True)]
        (a, f), (a_short, f_short) = answers[1], answers[0]
        noise = max(here.length(rough[0]), here.strength(rough[1]))
        # Accelerations may be small by accident; what they and the reactions balance tells how well they can be known.
        size = max(here.length(a), here.strength(f), here.strength(here.pull))
        apart = max(here.length(a - a_short), here.strength(f - f_short))
        a, f = (np.where(np.abs(x) <= MARGIN * least, 0.0, x) for x, least in ((a, rough[0]), (f, rough[1])))
        if size <= MARGIN * noise:
            return _Attempt(h, a, f, 0.0, np.inf, not (a.any() or f.any()))
        return _Attempt(h, a, f, apart / size, noise / size, False)

    def _solve(
        self, here: Here, basis: Basis, h: float, guess: Polynomials | None
    ) -> tuple[Polynomials, Newton] | None:
        """Newton's method from the straight path, or from a guess; None where it does not converge."""
        n, m, terms = here.state.q.size, len(here.rows), basis.P.shape[1]
        c, lam = np.zeros((terms, n)), np.zeros((terms, m))
        if guess is not None:
            c[: len(guess.c)], lam[: len(guess.lam)] = guess.c, guess.lam
        path, newton, last, growing = Polynomials(h, basis, c, lam), None, np.inf, 0
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                residual = self._equations.residual(here, path)
                newton = newton or self._equations.newton(here, path)
                if newton is None or not np.isfinite(residual).all():
                    return None
                step = newton.step(residual)
                path = path.shifted(-step)
                length = newton.size(step)
                size = length / max(newton.size(path.unknowns), 1e-300)
                if size <= ROUNDING or length <= newton.size(newton.noise) or (size <= SETTLED and size >= last / 2):
                    return path, newton
                if size > SLOW * last:
                    newton = None
                growing = growing + 1 if size > last else 0
                if growing == DIVERGES:
                    return None
                last = size
        return None
