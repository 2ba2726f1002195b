"""What an integration returns, whatever the backend: states at the output times, and what happened on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dalembert.arrays import Array
from dalembert.kernel.limits import STALL_COLLAPSE, STALL_HOPELESS, STALL_SHARE, STALL_STEPS

STALLED = (
    "the steps have become so short that the end would not be reached. A law with sign(…) or v/|v| at rest makes "
    "a motion chatter like this, and so do bounces between walls that close, and a constraint that ends, kinks or "
    "becomes singular here. A very stiff force does it too: then use method='stiff', and if it is in use already, a "
    "looser rtol or atol."
)
CHATTERS = (
    "the model has a kink where {} = 0, and drives the motion back there as soon as it has crossed: it would chatter. "
)
# What can be done about it depends on whether the kink is one of velocities, as dry friction has.
CHATTERS_IN_VELOCITIES = CHATTERS + (
    'A law with sign(…) or v/|v| at rest does that; da.Coulomb (law = "coulomb") sticks there instead.'
)
CHATTERS_IN_PLACES = CHATTERS + (
    "It passes ever sooner and comes to rest in the kink, or is held there, and the model has no force between those "
    "of the two sides. Round the kink off, as sqrt(u^2 + e^2) with a small e does for abs(u), or leave it out where "
    "only one side is reached."
)
HAS_CORNER = (
    "a constraint has a corner where {} = 0, and asks for another velocity beyond: that would be an impact. Round the "
    "corner off, or give the two sides of a one-sided constraint as two constraints."
)
HAS_EDGE = (
    "the constraints have a corner here (the apex of a cone, an edge, a cusp): just beyond, they ask for another "
    "velocity, which would be an impact. Round it off, as sqrt(u^2 + e^2) with a small e does for sqrt(u^2), or let an "
    "event end the motion before."
)
TOO_SHORT = "the step size became too small."
MAY_END = "The motion may end here (a singularity, a collision, a constraint that cannot be continued)."


@dataclass(frozen=True)
class Trajectory:
    """Output states. t: (T,). y: (T, 2n + 3 + …), the columns q, q̇, the work of impressed, ideal and nonideal forces,
    and the heat of friction, as many as the graph has.

    guesses: (T, 2n) accelerations near those of the output points, with and without C (they select branches), or None.
    failure: why the run stopped early, or None.
    ended: the name of the event that ended it, whose time and state are the last point. warnings: for the user to know.
    looked: where it was left, unfinished, to be judged or because it took too many steps: time, q and q̇.
    stiff: since when, and for how many steps, an explicit method was at the limit of its stability, by its own steps.
    kernel: "compiled" or "tape" on the native backend.
    undecided: it is time to find out whether series would do it with less work.
    bounces: (bounces, 2, …) the rows of `kernel.events` before and after each bounce that it did not end with.
    fastest: time and state of the largest velocities (squares weighted by the masses of the start) after a step.
    corner: time and state before a corner of a constraint, where it failed.
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
    ended: str | None = None
    warnings: tuple[str, ...] = ()
    looked: tuple[float, Array, Array] | None = None
    stiff: tuple[float, float] = (0.0, 0.0)
    fastest: tuple[float, Array] | None = None
    kernel: str = ""
    undecided: bool = False
    bounces: Array | None = None
    corner: tuple[float, Array] | None = None


def fastest_of(legs: Sequence[Trajectory], weights: Array) -> tuple[float, Array] | None:
    """The fastest state of several trajectories, one after the other. weights (n,): of the squares of velocities."""
    n = weights.size
    found = [leg.fastest for leg in legs if leg.fastest is not None]
    return max(found, key=lambda at: float(weights @ at[1][n : 2 * n] ** 2), default=None)


def is_stalled(covered: float, longest: float, span: float, steps: int = STALL_STEPS) -> bool:
    """Whether the last steps, which covered so much time, show that a run chatters.

    At this rate it would need more than a hundred million steps, and its steps have collapsed against the longest one
    it took (or it would need a million million). A long run with steady steps goes on.
    """
    collapsed = covered < STALL_COLLAPSE * longest * steps or covered < STALL_HOPELESS * span
    return covered < STALL_SHARE * span and collapsed


def in_order(*reports: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Reports of events in order of time."""
    if not any(reports):
        return ()
    return tuple(sorted((report for part in reports for report in part), key=lambda report: report["t"]))


def failure_message(name: str, t: float, reason: str) -> str:
    return f"{name}: the motion could not be continued beyond t = {t:.10g}: {reason}"
