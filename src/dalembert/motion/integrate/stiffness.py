"""Whether an explicit method takes steps that stability asks for, not accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel.limits import (
    STIFF_CALM,
    STIFF_HITS,
    STIFF_LOOK,
    STIFF_ROUNDING,
    STIFF_SAMPLE,
    STIFF_WORTH,
)
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.methods.table import METHODS
from dalembert.motion.integrate.settings import Settings, tolerances
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.motion.state.evaluation import Evaluation

# A mode of the linearised motion makes a motion stiff if it is faster than this against the step: where the slow motion
# forces it, explicit methods lose their order and take steps far below the limit of stability, the farther the tighter
# the tolerance (a stiff rod that swings: 0.25 at 1e-9, 0.08 at 1e-11), …
NOTICED = 0.05
# … below this tolerance farther still: rounding of the stiff force asks for shorter steps than stability does (the
# same rod, a hundred times as stiff, at 1e-11: 0.017, and 0.0006 while it begins to fall). Where the stiff method is
# tried before anything is said, no step is too short then: a dead mode is no reason for any …
HIDDEN, NOTICED_HIDDEN = 1e-10, 0.01
# … so many times faster than the motion itself is, or moving by no more than so many tolerances, …
FASTER, TOLERANCES = 20.0, 1e3
# … and would long have died out: to e to the minus this.
DIED_OUT = 30.0
# The stiff method must come to the end with this share of the steps: each takes about as long as three explicit ones.
PAYS = 0.25
# So many points of a motion are looked at, and none of more coordinates than this: eigenvalues would take seconds.
LOOKED_AT, MOST_COORDINATES = 9, 150


def is_stiff(
    evaluation: Evaluation,
    settings: Settings,
    q: Array,
    v: Array,
    t: float,
    step: float,
    elapsed: float,
    tried: bool = False,
) -> bool:
    """Whether a fast mode that has died out decides the steps: an eigenvalue λ of ∂(q̇, q̈)/∂(q, q̇) that is large against
    the step and against the rate at which q̈ changes along the motion. A mode that the tolerance keeps alive moves q̇ by
    d³q/dt³ ÷ λ². tried: the stiff method will be, before anything is said.
    """
    n = evaluation.n
    if n > MOST_COORDINATES or not step > 0:
        return False
    try:
        here = evaluation.solve(q, v, t)
        a, near = here.acceleration, evaluation.branch_accelerations(here)
        slopes = evaluation.slopes(here, q, v, t)
        modes = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [slopes]]))
        noticed = NOTICED if settings.rtol >= HIDDEN else 0.0 if tried else NOTICED_HIDDEN
        fast = modes[(np.abs(modes) * step > noticed) & (-modes.real * elapsed > DIED_OUT)]
        if not fast.size:
            return False
        rate = float(np.abs(fast).max())
        ahead = 1e-2 / rate  # far below the time of any mode
        then = evaluation.solve(q + ahead * v, v + ahead * a, t + ahead, None, near).acceleration
    except (DalembertError, np.linalg.LinAlgError):
        return False
    root = mass_scale(here.M, massless=0.0)
    change = float(np.linalg.norm(root * (then - a))) / ahead
    tolerance = settings.rtol * np.abs(v) + tolerances(settings, q, v, a)[n:]
    alive = TOLERANCES * float(np.linalg.norm(root * tolerance)) * rate**2
    return bool(change <= max(rate * float(np.linalg.norm(root * a)) / FASTER, alive))


def step_of(t0: float, t: float, steps: int, stiff: tuple[float, float]) -> float:
    """How long steps are at t: on the average of all, or of those that were stiff, whose first time and number are
    given, if these are shorter: stiffness may have come late.
    """
    since, count = stiff
    return min((t - t0) / steps, (t - since) / count if count else np.inf)


def stiffness_warning(evaluation: Evaluation, settings: Settings, trajectory: Trajectory) -> tuple[str, ...]:
    """What to tell the user about a motion by an explicit method that was stiff for many steps.

    The steps themselves show it (`StiffnessWatch`) unless rounding, magnified by the stiffness, keeps them below the
    limit of stability; so many steps are looked at in any case. Both must agree with the modes of the motion.
    """
    since, steps = trajectory.stiff
    shown, n = steps >= STIFF_WORTH, evaluation.n
    if not (shown or trajectory.steps >= 2 * STIFF_LOOK) or trajectory.t.size < 2:
        return ()
    if trajectory.method not in {method.title for method in METHODS.values() if method.is_explicit}:
        return ()
    t0, end = float(trajectory.t[0]), float(trajectory.t[-1])
    step = step_of(t0, end, trajectory.steps, (since, steps if shown else 0))
    at = np.unique(np.linspace(1, trajectory.t.size - 1, LOOKED_AT).round().astype(int))
    found = []
    for k in at:
        t, y = float(trajectory.t[k]), trajectory.y[k]
        if (not shown or t >= since) and is_stiff(evaluation, settings, y[:n], y[n : 2 * n], t, step, t - t0):
            found.append(t)
    if not found or (not shown and 2 * len(found) < at.size):
        return ()
    when = since if shown else found[0]
    return (f"the motion is stiff from about t = {when:.4g}: method='stiff' will need far fewer steps",)


class StiffnessWatch:
    """The test of Hairer and Wanner (Solving Ordinary Differential Equations II, section IV.2) on SciPy's explicit
    methods; as runtime/watch/stiffness.h. `steps` is how many were stiff, judged by samples.
    """

    def __init__(self, method: str, count: int) -> None:
        tableau = METHODS[method].tableau
        self.limit = None if tableau is None else tableau.limit
        self.count = count  # of the integrated quantities that decide the step size
        self.since, self.steps = 0.0, 0
        self._hits, self._calm = 0, 0

    def stiff_steps(self) -> int:
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
