"""Whether the heat of friction along a motion is what its laws make of it: friction force times sliding velocity."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactState, contact_graph
from dalembert.kernel.ready.again import integrals_missed
from dalembert.model.friction.contact import works_of
from dalembert.model.language.symbols import multiplier
from dalembert.model.system import System
from dalembert.motion.certificate.consistency import stretches_between
from dalembert.motion.certificate.friction_laws import states_of_contacts
from dalembert.motion.certificate.heat_at_changes import heat_missed_at_changes
from dalembert.motion.certificate.heat_inside import heat_missed_inside
from dalembert.motion.certificate.smooth_works import smooth_works
from dalembert.motion.contacts.modes.modes import SLIP
from dalembert.remember import remember

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Integrals over outputs are judged where these are no further apart than so many steps on the average: further apart,
# what Simpson's rule errs by is not known from the points themselves.
STEPS = 1.0
# Further apart, up to so many steps, some stretches are looked at inside: those over which the heat differs most from
# what their ends say, and some others.
SPARSE, UNLIKE, SPREAD = 8.0, 4, 4
# The distance of two trapezoidal sums, one with half the points, times this bounds the error of Simpson's rule, even
# where the power jumps.
ALLOWED = 3.0
# An integral that is off by less than this share of the heat needs no closer look.
ROUNDING = 1e-12
# Powers that differ by less than this share are the same.
SAME = 1e-9


def heat_residual(motion: Motion, states: ContactState | None = None) -> float:
    """How far the heat of a motion is from its laws, as an energy. states: of its contacts, where they are at hand.

    Between changes of contacts, ΔH is compared with the integral of the power at the output points, as far as that is
    known. Where no surface moves by itself, all the energy that friction takes becomes heat, or is lost in impacts.
    """
    if not motion.heat or motion.t.size < 2 or not _determined(motion):
        return 0.0
    told = np.stack(list(motion.heat.values()), axis=1)
    if not np.isfinite(told).all():
        return float("inf")
    broken, at_rest = _broken_gaps(motion, STEPS), _at_rest(motion)
    # Where no surface moves, the energy that was lost tells how much heat there is in all. What shares a load in many
    # ways may share it otherwise between outputs.
    told_otherwise = (at_rest and told.shape[1] == 1) or not _every_force_is_known(motion)
    sparse = broken if told_otherwise else _broken_gaps(motion, SPARSE)
    changes = motion.system.contacts and not told_otherwise
    if sparse.all() and not at_rest and not changes:
        return 0.0
    powers = heat_powers(motion, states)
    worst = _missed(motion.t, told, powers, broken)
    if worst > ROUNDING * float(np.abs(told).max()):
        # A pulse may be as narrow as outputs are apart. Where it is not known what is between them, they must do.
        inside, unknown = heat_missed_inside(motion, told, broken, heat_powers)
        worst = max(min(worst, inside), _missed(motion.t, told, powers, ~unknown))
    if (broken & ~sparse).any():
        inside, _ = heat_missed_inside(motion, told, _all_but_some(motion.t, told, powers, broken, sparse), heat_powers)
        worst = max(worst, inside)
    if changes:
        worst = max(worst, heat_missed_at_changes(motion, told, heat_powers, powers))
    given = np.einsum("ti,ti->t", motion.v, motion.nonideal)
    size = max(float(np.abs(given).max()), float(powers.max(initial=0.0)))
    if at_rest and float(np.abs(powers.sum(axis=1) + given).max()) <= SAME * size:
        lost = motion.impact_loss if motion.impact_loss.size else np.zeros(motion.t.size)
        worst = max(worst, float(np.abs(told.sum(axis=1) + lost + motion.work[:, 2]).max()))
    return worst


def heat_powers(motion: Motion, states: ContactState | None = None) -> Array:
    """The powers (T, places) that become heat at the output points, by the laws as they are written. states: of the
    contacts, where they are at hand.
    """
    system, names = motion.system, list(motion.heat)
    powers = np.zeros((motion.t.size, len(names)))
    for alone, acts in smooth_works(motion, heating=True):
        own = np.where(acts[:, None], alone.heat_along(motion.q, motion.v, motion.t, motion.multipliers), 0.0)
        for k, name in enumerate(alone.graph.heats):
            powers[:, names.index(name)] += own[:, k]
    if system.contacts:
        graph, u = contact_graph(system), (states or states_of_contacts(motion)).slide
        squares = np.add.reduceat(u * u, [at.start for at in graph.components], axis=1)
        for contact, speed in zip(system.contacts, np.sqrt(squares).T, strict=True):
            # That its friction is μ|N| is another measure.
            history = motion.contacts[contact.name]
            powers[:, names.index(contact.name)] += np.where(history.state == SLIP, history.friction * speed, 0.0)
    return powers


def _determined(motion: Motion) -> bool:
    """Whether smooth laws that use reactions can be evaluated: redundant constraints may share a load in many ways."""
    system = motion.system
    uses = remember(_reacting, system.structure, lambda: _heat_uses_reactions(system), KEPT)
    return not uses or _every_force_is_known(motion)


def _every_force_is_known(motion: Motion) -> bool:
    """Whether no constraints that act depend on each other, at the output points."""
    acting = len(motion.system.constraints) if motion.acting is None else motion.acting.sum(axis=1)
    return bool((motion.rank == acting).all())


def _heat_uses_reactions(system: System) -> bool:
    reactions = {multiplier(constraint.name) for constraint in system.constraints}
    heats = [heat for work in works_of(system) if work for heat in work.heat.values()]
    return any(not reactions.isdisjoint(heat.free_symbols) for heat in heats)


def _all_but_some(
    t: Array, told: Array, powers: Array, broken: NDArray[np.bool_], sparse: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """All gaps but some of those (T − 1) that are broken, and not when longer ones count as well."""
    trapezoids = np.diff(t)[:, None] * (powers[1:] + powers[:-1]) / 2
    unlike = np.where(broken & ~sparse, np.abs(np.diff(told, axis=0) - trapezoids).max(axis=1), -1.0)
    long = np.flatnonzero(broken & ~sparse)
    chosen = np.ones_like(broken)
    chosen[long[np.linspace(0, long.size - 1, SPREAD).astype(int)]] = False
    chosen[np.argsort(unlike)[-min(UNLIKE, long.size) :]] = False
    return chosen


def _broken_gaps(motion: Motion, longest: float) -> NDArray[np.bool_]:
    """The gaps between outputs (T − 1) in which something happens to contacts or a kink of the model is passed, or
    which are longer than so many steps on the average: too long to judge.
    """
    gaps, steps = np.diff(motion.t), motion.timing.steps
    near = longest * float(motion.t[-1] - motion.t[0]) / steps if steps else 0.0
    if gaps.size < 2:
        return np.ones(gaps.size, dtype=bool)
    _, clear = stretches_between(motion, [event["t"] for event in motion.events])
    return np.asarray(~(clear & (gaps <= near)))


def _missed(t: Array, told: Array, powers: Array, broken: NDArray[np.bool_]) -> float:
    """The largest distance of the heat told from the integral of its powers over the outputs, beyond what that may err
    by, on runs of outputs without anything broken between.
    """
    if broken.all():
        return 0.0
    missed = integrals_missed(t, told, powers, broken, ALLOWED)
    return missed_by_numpy(t, told, powers, broken) if missed is None else missed


def missed_by_numpy(t: Array, told: Array, powers: Array, broken: NDArray[np.bool_]) -> float:
    """As `integrals_missed`."""
    ends = [-1, *np.flatnonzero(broken).tolist(), t.size - 1]
    parts = [slice(start, b + 1) for a, b in pairwise(ends) if b - a > 2 for start in (a + 1, a + 2)]
    return max((_apart(t[at], told[at], powers[at]) for at in parts), default=0.0)


def _apart(t: Array, told: Array, powers: Array) -> float:
    """The largest distance of the heat from its integral by Simpson's rule, beyond what that may err by."""
    pairs = (t.size - 1) // 2
    if not pairs:
        return 0.0
    at = 2 * np.arange(pairs)
    one, two = (t[at + 1] - t[at])[:, None], (t[at + 2] - t[at + 1])[:, None]
    fine = (one * (powers[at] + powers[at + 1]) + two * (powers[at + 1] + powers[at + 2])) / 2
    coarse = (one + two) * (powers[at] + powers[at + 2]) / 2
    even = np.abs(one - two) <= 1e-6 * (one + two)
    integral = np.where(even, fine + (fine - coarse) / 3, fine)
    missed = np.cumsum(told[at + 2] - told[at] - integral, axis=0)
    return float(np.maximum(np.abs(missed) - ALLOWED * np.cumsum(np.abs(fine - coarse), axis=0), 0.0).max())


def _at_rest(motion: Motion) -> bool:
    """Whether no surface with friction moves by itself: nothing slides where nothing moves."""
    system = motion.system
    return remember(_resting, system.structure, lambda: _nothing_moves_by_itself(system), KEPT)


def _nothing_moves_by_itself(system: System) -> bool:
    none, works = dict.fromkeys(system.velocities, sp.S.Zero), works_of(system)
    told = [*(u for c in system.contacts for u in c.slide), *(h for w in works if w for h in w.heat.values())]
    return all(expression.xreplace(none) == 0 for expression in told)


# Of the structure of a system, whether it does; and whether its heat depends on reactions.
KEPT = 32
_resting: dict[Hashable, bool] = {}
_reacting: dict[Hashable, bool] = {}
