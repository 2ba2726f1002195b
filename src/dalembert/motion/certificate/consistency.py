"""Whether velocities change as accelerations say: Δq̇ beside ∫ q̈ dt from one output point to the next, by quadratures
over its neighbours; and the stretches between outputs on which they can judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.kinks import kink_graph
from dalembert.kernel.ready.again import quadrature
from dalembert.kernel.ready.many import many_of
from dalembert.methods.table import METHODS
from dalembert.motion.certificate.stretches import between_changes, states_inside

if TYPE_CHECKING:
    from dalembert.model.system import System
    from dalembert.motion.result.motion import Motion

# Quadratures of q̈ over four and six points, symmetric about a stretch: their differences times this are allowed for.
FOUR, SIX = np.array([-1, 13, 13, -1]) / 24, np.array([11, -93, 802, 802, -93, 11]) / 1440
ALLOWED, RESOLVED = 3.0, 0.1
# Outputs further apart than steps may have whole oscillations between them: they say nothing about ∫ q̈ dt. Series take
# steps about twice as long.
STEPS = {METHODS["taylor"].title: 0.5}
# What these events tell of lies in the stretch: states there are next to singular, and velocities may jump.
NOT_SMOOTH = ("rank change", "singular configuration")
# … and quadratures reach so many stretches further.
BESIDE = 3
# Kinks are looked for at so many places of a stretch.
INSIDE = 9


def quadratures(motion: Motion, root: Array) -> tuple[Array, Array]:
    """`consistency`, and what Δq̇ of each stretch misses the trapezoidal rule by: by C, or NumPy without it."""
    found = quadrature(motion.t, motion.v, motion.a, root, longest_spacing_judged(motion), ALLOWED, RESOLVED)
    if found is not None:
        return found[0], found[1]
    half = np.diff(motion.t)[:, None] / 2
    missed = np.abs(np.diff(motion.v, axis=0) - half * (motion.a[1:] + motion.a[:-1]))
    return consistency(motion, root), (root[:-1] * missed).max(axis=1)


def longest_spacing_judged(motion: Motion) -> float:
    """Outputs further apart are not judged by quadratures; none are where no steps are known of what was not
    integrated.
    """
    steps = motion.timing.steps
    return STEPS.get(motion.method, 1.0) * float(motion.t[-1] - motion.t[0]) / steps if steps else 0.0


def even_stretches(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The stretches on which quadratures judge, by their first output (B,), and the six outputs about each (B, 6)."""
    gaps = np.diff(motion.t)
    inside = np.arange(2, max(motion.t.size - 3, 2))
    stencil = inside[:, None] + np.arange(-2, 4)
    five = gaps[stencil[:, :5]]
    widest = five.max(axis=1, initial=0.0)
    even = (np.ptp(five, axis=1) < 1e-6 * widest) & (widest <= longest_spacing_judged(motion))
    return inside[even], stencil[even]


def quadratures_of(rates: Array, inside: np.ndarray, stencil: np.ndarray, h: Array) -> tuple[Array, Array, Array]:
    """Integrals of rates (T, n) over these stretches, h (B, 1) long, from six, four and two points: (B, n) each."""
    six = h * np.einsum("j,tjn->tn", SIX, rates[stencil])
    four = h * np.einsum("j,tjn->tn", FOUR, rates[stencil[:, 1:5]])
    return six, four, h / 2 * (rates[inside] + rates[inside + 1])


def consistency(motion: Motion, root: Array) -> Array:
    """|Δq̇ − ∫ q̈ dt| of each stretch, less what its quadrature may err by; zero where it cannot judge."""
    t, v, a = motion.t, motion.v, motion.a
    found = np.zeros(t.size - 1)
    inside, stencil = even_stretches(motion)
    if not inside.size:
        return found
    h = np.diff(t)[inside, None]
    six, four, two = quadratures_of(a, inside, stencil, h)
    # Where more points do not bring a quadrature nearer, the acceleration changes faster than the points show.
    finer, coarser = np.abs(six - four), np.abs(four - two)
    unclear = finer > RESOLVED * coarser + 1e-12 * np.abs(h * a[inside]).max(initial=0.0)
    missed = np.where(unclear, 0.0, np.abs(v[inside + 1] - v[inside] - six) - ALLOWED * finer)
    found[inside] = np.maximum((root[inside] * missed).max(axis=1, initial=0.0), 0.0)
    return found


def smooth_stretches(motion: Motion) -> np.ndarray | None:
    """Which stretches, with the ones beside them, have nothing in them that the motion reports as other than smooth;
    None where all are so.
    """
    places = [event["t"] for event in motion.events if "contact" in event or event["name"] in NOT_SMOOTH]
    at = [int(np.searchsorted(motion.t, t)) - 1 for t in places]
    if motion.system.may_have_kinks and kink_graph(motion.system) is not None:
        at += stretches_with_kinks(motion)
    if not at:
        return None
    clear = np.ones(motion.t.size - 1, dtype=bool)
    for k in at:
        clear[max(k - BESIDE, 0) : k + BESIDE + 1] = False
    return clear


def stretches_between(motion: Motion, changes: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The part that each output point belongs to, and the stretches in which there is none of the changes, which are in
    order, and no kink of the model.
    """
    part, clear = between_changes(motion.t, np.array(changes))
    if motion.system.may_have_kinks and kink_graph(motion.system) is not None:
        clear[stretches_with_kinks(motion)] = False
    return part, clear


def stretches_with_kinks(motion: Motion) -> list[int]:
    """The stretches in which a kink of the model is passed or touched: their ends, and places in between on the cubics
    through the states at both, lie on different sides of it, or on it.
    """
    at, q, v = states_inside(motion, np.linspace(0.0, 1.0, INSIDE))
    return [int(k) for k in np.flatnonzero(kinks_passed(motion.system, at, q, v, INSIDE))]


def kinks_passed(system: System, t: Array, q: Array, v: Array, places: int) -> np.ndarray:
    """Whether states on stretches lie on different sides of a kink of the model, or on it: so many of each stretch, all
    stretches at their first place first.
    """
    graph = kink_graph(system)
    if graph is None:
        return np.zeros(t.size // places, dtype=bool)
    run = graph.kept.get("along")
    if run is None:
        run = graph.kept["along"] = many_of(graph.functions, 3) or Evaluator(graph.functions).many
    found = run(t.size, q, v, t, system.parameter_values())[0]
    sides = np.sign(found).reshape(places, t.size // places, -1)
    return np.asarray(((sides != sides[0]).any(axis=0) | (sides[0] == 0)).any(axis=1))
