"""States inside steps of SciPy's integrators, judged as `da_judge_inside` of kernel/runtime/run/inside.h does it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import INSIDE_AGAIN, INSIDE_TOLERANCES
from dalembert.methods.inside import judge_of
from dalembert.methods.table import Method

Norm = Callable[[Array], float]


def mean_norm(errors: Array) -> float:
    """Of errors in tolerances: the root of the mean of their squares."""
    return float(np.sqrt(np.mean(errors**2)))


class InsideJudge:
    """Whether outputs inside a step are as good as its end, and how long steps may be that they may be so.

    deciding: so many components, the first ones, decide the step size.
    """

    def __init__(self, method: Method, deciding: int, norm: Norm = mean_norm) -> None:
        self.judge = None if method.tableau is None else judge_of(method.tableau)
        self.power, self.deciding, self.norm = method.control, slice(deciding), norm
        self.bound, self.shortened = inf, 0  # see runtime/run/run.h

    def shorter(self, solver: Any, rate: Callable[[float, Array], Array]) -> float:
        """How long the step that `solver` has just taken is to be instead; 0 where it may stay. Its interpolant has
        been made.
        """
        if self.judge is None:
            return 0.0
        if self.shortened == INSIDE_AGAIN:
            self.shortened = 0
            return 0.0
        t, y, h = float(solver.t_old), solver.y_old, float(solver.t - solver.t_old)
        slopes = getattr(solver, "K_extended", solver.K)
        state = y + h * (np.asarray(self.judge.state) @ slopes)
        slope = rate(t + self.judge.x * h, state)
        doubt = h * (np.asarray(self.judge.rate) @ slopes - self.judge.weight * slope)
        scale = solver.atol + solver.rtol * np.maximum(np.abs(y), np.abs(solver.y))
        error = self.norm(doubt[self.deciding] / scale[self.deciding]) / INSIDE_TOLERANCES
        share = min(10.0, max(0.2, 0.9 * error ** (-1.0 / self.power))) if error > 0.0 else 10.0
        if not error <= 1.0:
            self.shortened += 1
            self.bound = (share if np.isfinite(error) else 0.2) * h
            return self.bound
        self.shortened = 0
        if self.bound < inf:
            self.bound = share * h if share * h < solver.h_abs else inf
        return 0.0

    def hold(self, solver: Any, due: float) -> None:
        """Before a step: no longer than that, where an output, due next, would lie inside."""
        if due < solver.t + solver.h_abs:
            solver.h_abs = min(solver.h_abs, self.bound)
