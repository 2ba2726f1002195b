"""Whether an explicit method takes steps that stability asks for, not accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.kernel.limits import (
    STIFF_CALM,
    STIFF_HITS,
    STIFF_LIMIT_DOP853,
    STIFF_LIMIT_DOPRI5,
    STIFF_ROUNDING,
    STIFF_SAMPLE,
    STIFF_WORTH,
)

LIMITS = {"dop853": STIFF_LIMIT_DOP853, "dopri5": STIFF_LIMIT_DOPRI5}


def stiffness_warning(since: float, steps: float, method: str) -> tuple[str, ...]:
    """What to tell the user about a motion that was stiff for so many steps, if that is worth telling."""
    if method == "stiff" or steps < STIFF_WORTH:
        return ()
    return (f"the motion is stiff from about t = {since:.4g}: method='stiff' will need far fewer steps",)


class StiffnessWatch:
    """The test of Hairer and Wanner (Solving Ordinary Differential Equations II, section IV.2) on SciPy's explicit
    methods; as runtime/stiffness.h. `steps` is how many were stiff, judged by samples.
    """

    def __init__(self, method: str, count: int) -> None:
        self.limit = LIMITS.get(method)
        self.count = count  # of the integrated quantities that decide the step size
        self.since, self.steps = 0.0, 0
        self._hits, self._calm = 0, 0

    def found(self) -> int:
        """So many steps were stiff; none unless enough of them came together."""
        return self.steps if self._hits == STIFF_HITS else 0

    def look(self, solver: Any, steps: int) -> None:
        """After an accepted step, before the state is returned to the constraints."""
        sample, known = steps % STIFF_SAMPLE == 0, self._hits == STIFF_HITS
        if self.limit is None or (not sample and (known or self._hits == 0)):
            return
        n, h, K = self.count, float(solver.h_previous), solver.K
        stage = K.shape[0] - 2  # the last one before the slope at the new state
        start, new = solver.y_old[:n], solver.y[:n]
        argument = start + h * (solver.A[stage, :stage] @ K[:stage, :n])
        scale = solver.atol[:n] + solver.rtol * np.abs(new)
        turn, move = (float(np.linalg.norm(x / scale)) for x in (K[-1, :n] - K[stage, :n], new - argument))
        rounding = STIFF_ROUNDING * float(np.linalg.norm(start / scale))  # a difference made of it says nothing
        stiff = move > rounding and h * turn > self.limit * move
        self.steps += STIFF_SAMPLE if sample and stiff else 0
        if known:
            return
        if stiff:
            self.since = float(solver.t_old) if self._hits == 0 else self.since
            self._hits, self._calm = self._hits + 1, 0
        elif self._hits:
            self._calm += 1
            if self._calm == STIFF_CALM:
                self._hits, self._calm = 0, 0
