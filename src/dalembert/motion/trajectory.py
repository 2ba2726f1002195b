"""What an integration returns, whatever the backend: states at the output times, and what happened on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dalembert.mechanics.fundamental import Array

# After each so many steps a run is asked whether it still gets anywhere.
STALL_STEPS = 1000
STALLED = (
    "the steps have become so short that the end would not be reached. A law with sign(…) or v/|v| at rest makes "
    "a motion chatter like this, and so does a constraint that ends, kinks or becomes singular here. A very stiff "
    "force does it too: then use method='stiff', and if it is in use already, a looser rtol or atol."
)
TOO_SHORT = "the step size became too small."
MAY_END = "The motion may end here (a singularity, a collision, a constraint that cannot be continued)."

# What the methods are called in results, whatever the backend.
METHOD_NAMES = {"dop853": "DOP853", "dopri5": "DOPRI5", "stiff": "Radau", "taylor": "Taylor"}


@dataclass(frozen=True)
class Trajectory:
    """Output states. t: (T,). y: (T, 2n + 3), the columns q, q̇ and the work of impressed, ideal and nonideal forces.

    guesses: (T, n) accelerations near those of the output points, or None. failure: why the run stopped early, or None.
    """

    t: Array
    y: Array
    guesses: Array | None
    method: str
    backend: str
    steps: int
    evaluations: int
    compile_s: float
    events: tuple[Mapping[str, Any], ...]
    failure: str | None


def stalled(covered: float, longest: float, span: float) -> bool:
    """Whether the last STALL_STEPS steps, which covered so much time, show that a run chatters.

    At this rate it would need more than a hundred million steps, and its steps have collapsed against the longest one
    it took (or it would need a million million). A long run with steady steps goes on.
    """
    collapsed = covered < 1e-4 * longest * STALL_STEPS or covered < 1e-9 * span
    return covered < 1e-5 * span and collapsed


def failure_message(name: str, t: float, reason: str) -> str:
    return f"{name}: the motion could not be continued beyond t = {t:.10g}: {reason}"
