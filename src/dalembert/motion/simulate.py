"""`simulate`: the motion of a system from its initial state, with its forces and its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from dalembert.model.system import System
from dalembert.motion.prepare import prepare
from dalembert.motion.result.motion import Motion


def simulate(
    system: System,
    duration: float | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    samples: int | None = None,
    times: ArrayLike | None = None,
    method: str | None = None,
    project: bool | None = None,
    backend: str | None = None,
    events: Mapping[str, Any] | Iterable[Any] | None = None,
    progress: bool | None = None,
    step: float | None = None,
    order: int | None = None,
    max_step: float | None = None,
) -> Motion:
    """Integrate the motion from the initial state and certify it.

    duration: how long, from the initial time.
    rtol: relative tolerance, 0.1 … 1e-13 (default 1e-9).
    atol: absolute tolerance (default: see `settings.tolerances`).
    samples: number of equidistant output times (default 501); or times: the output times themselves, increasing.
    method: "auto", "dop853", "dopri5", "stiff" (an implicit method with the exact Jacobian), or "taylor" (Taylor
    series: quickest at tight tolerances on long runs; native backend, smooth models), or "variational" (steps of one
    length that make a discrete action stationary: momenta are kept to rounding and the energy within a bound for very
    long times; constraints on positions only).
    project: return to the constraints after each step (default True); False shows the drift.
    backend: "auto", "native" (compiled C), or "reference" (CasADi's virtual machine and SciPy).
    events: besides those of the system, names with expressions (or `da.Event`) whose passages through zero go to
        `motion.events`; a terminal one ends the motion.
    progress: a bar on long runs (default: on terminals).
    step, order: of the variational method, the longest step (it is shortened to end at output times, of which there are
        at most `samples`) and the order 2, 4 or 6 (default 2). The tolerance of such a motion, by which its certificate
        is judged, is the error of its steps as measured along it.
    max_step: the longest step of the other methods. Explicit functions of time are sampled in advance, so that pulses
        longer than 1/2000 of the duration are seen without it; it is for shorter ones, and for forces that act in a
        small place only.

    Options not given come from the `[simulate]` table of the system's document. Raises `InconsistentState`
    where the initial state violates a constraint and `MotionFailed`, with the motion so far, where the
    integration cannot go on.
    """
    prepared = prepare(
        system, duration, rtol=rtol, atol=atol, samples=samples, times=times, method=method, project=project,
        backend=backend, events=events, step=step, order=order, max_step=max_step,
    )  # fmt: skip
    return prepared.run(progress=progress).motion()
