"""`displacements(system)`: whether displaced states are possible ones, measured on displaced paths.

The motion through a state is followed a little way, with displacements δq that satisfy (28) or (48) all along it. Moved
by ε δq with velocities moved by ε (δq)˙, as if δ and d/dt commuted, it misses a constraint by −ε g_kj δq_j and more;
with the velocities of the transpositional relation (31), or accelerations by (51), only by terms of order ε². Flannery
2011, sections IV and V.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.interpolate import KroghInterpolator

from dalembert.arrays import Array
from dalembert.errors import DalembertError, DoesNotApply, MotionFailed
from dalembert.mechanics.principles.shared.variations import slope_of
from dalembert.mechanics.principles.shared.velocity_forms import lagrangian_derivative, velocity_form
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.fundamental import null_space
from dalembert.mechanics.standard_form import diff, standard_form
from dalembert.model.friction.legs import needs_legs
from dalembert.model.system import System
from dalembert.motion.instant import starting_at
from dalembert.motion.state.evaluation import Evaluation
from dalembert.results import Result, item_named, plain_values

# Displaced states count as possible where g_kj δq_j is below this share of its terms: far above the rounding of
# derivatives along the path, about 1e-10, far below generic values.
POSSIBLE = 1e-6
# Displacements are this share of the state, and half of it: small enough to show their order, far above rounding.
SHARE = 1e-3
# The path is followed for this share of its time scale to both sides; nine nodes give derivatives to about 1e-10.
REACH, NODES = 0.05, 9
# Random states at which a relation is looked at besides the given one.
OTHERS = 3


@dataclass(frozen=True)
class Relation:
    """One constraint and displaced states.

    right: the right side of the relation, g_kj δq_j of (31) or Δh_k of (51), on each displacement of the basis.
    commuting, related: by how much displaced states miss the constraint, per unit of displacement, with δ and d/dt
    commuting and with the relation; their orders: the power of the displacement by which that goes to zero (inf where
    nothing is missed). here: whether displaced states are possible with δ and d/dt commuting, at this state; possible:
    here and at random states near by. A relation may vanish at one state; it vanishes everywhere for integrable
    constraints only (or where the motion itself makes it, as in Benenti's free one).
    """

    name: str
    level: str
    right: Array
    commuting: float
    commuting_order: float
    related: float
    related_order: float
    here: bool
    possible: bool


@dataclass(frozen=True)
class Displacements(Result):
    """Displacements at a state: a basis of them, (n, f), and what they make of each constraint."""

    system: System
    basis: Array
    relations: tuple[Relation, ...]

    @property
    def possible(self) -> bool:
        """Whether displaced states are possible with δ and d/dt commuting."""
        return all(relation.possible for relation in self.relations)

    def __getitem__(self, name: str) -> Relation:
        return item_named({relation.name: relation for relation in self.relations}, name, "constraint")

    def to_dict(self) -> dict[str, Any]:
        found = {"possible": self.possible, "basis": self.basis, "relations": self.relations}
        return {"name": self.system.name, **plain_values(found)}

    def text(self) -> str:
        width = max([10, *(len(r.name) for r in self.relations)])
        lines = [
            f"{self.system.name}: independent displacements: {self.basis.shape[1]}",
            f"{'constraint':<{width}} {'right side':>11} {'commuting':>16} {'by the relation':>16}  displaced states",
        ]
        for r in self.relations:
            size = float(np.abs(r.right).max(initial=0.0))
            pairs = ((r.commuting, r.commuting_order), (r.related, r.related_order))
            parts = [f"{value:.1e}, order {order:.1f}" for value, order in pairs]
            elsewhere = ", except at this state" if r.here else ""
            verdict = "possible" if r.possible else f"not possible if δ and d/dt commute{elsewhere}"
            lines.append(f"{r.name:<{width}} {size:>11.3g} {parts[0]:>16} {parts[1]:>16}  {verdict}")
        return "\n".join(lines)


def displacements(
    system: System,
    state: Mapping[Any, Any] | None = None,
    t: float | None = None,
    parameters: Mapping[Any, Any] | None = None,
) -> Displacements:
    """Displaced states at a state of the system, the initial one where nothing else is given.

    >>> import dalembert as da
    >>> da.library.penny().displacements().possible, da.library.pendulum().displacements().possible
    (False, True)
    """
    changed = starting_at(system.expanded, state, t, parameters)
    if needs_legs(changed) or not changed.constraints:
        reason = "dry friction or one-sided constraints" if needs_legs(changed) else "there are no constraints"
        raise DoesNotApply(f"{system.name}: displacements are looked at for smooth constraints: {reason}")
    check = _Check(changed)
    found = check.run(*changed.initial_values())
    for other in check.sampler.states(OTHERS):
        try:
            more = check.run(other.q, other.v, other.t)
        except DalembertError:
            continue  # no motion passes there
        pairs = zip(found.relations, more.relations, strict=True)
        relations = tuple(replace(r, possible=r.possible and other.here) for r, other in pairs)
        found = replace(found, relations=relations)
    return found


class _Check:
    """The motion near a state, and the functions of the constraints along it."""

    def __init__(self, system: System) -> None:
        self.system, self.n = system, len(system.coordinates)
        self.evaluation = Evaluation(system)
        self.sampler = Sampler(standard_form(system))
        self.sampler.p = system.parameter_values()
        constraints, accelerations = system.constraints, system.accelerations
        slopes = [entry for c in constraints for entry in slope_of(system, c)]
        forms = [c.expression if c.level == "acceleration" else velocity_form(system, c) for c in constraints]
        self.values = self.sampler.function(forms, accelerations)
        self.slopes = self.sampler.function(slopes, accelerations)
        self.by_q = self.sampler.function([diff(f, u) for f in forms for u in system.coordinates], accelerations)
        self.by_v = self.sampler.function([diff(f, u) for f in forms for u in system.velocities], accelerations)
        none = [sp.S.Zero] * self.n
        bends = [none if c.level == "acceleration" else lagrangian_derivative(system, c) for c in constraints]
        self.bends = self.sampler.function([entry for bend in bends for entry in bend], accelerations)
        self.accelerated = np.array([c.level == "acceleration" for c in constraints])

    def _follow(self, q: Array, v: Array, t: float) -> None:
        """q, q̇, q̈ and the slopes at nodes about the state."""
        evaluation, self.t = self.evaluation, t
        solution = evaluation.solve(q, v, self.t)
        evaluation.require_consistent(solution, self.t)
        a = solution.acceleration
        self.q, self.v, self.a = q, v, a
        sizes = [float(np.abs(x).max(initial=0.0)) for x in (q, v, a)]
        scales = [low / high for low, high in pairwise(sizes) if low > 0 and high > 0]
        if sizes[0] > 0 and sizes[2] > 0:
            scales.append(float(np.sqrt(sizes[0] / sizes[2])))  # from rest neither of the others is known
        self.scale = min(scales, default=1.0)

        def rates(t: float, y: Array) -> Array:
            found = evaluation.solve(y[: self.n], y[self.n :], self.t + t, None, a)
            return np.concatenate([y[self.n :], found.acceleration])

        # How fast the acceleration itself changes: strong dampers show in nothing else where a motion begins at rest.
        little = 1e-6 * self.scale
        jerk = float(np.abs(rates(little, np.concatenate([q + little * v, v + little * a]))[self.n :] - a).max())
        if jerk > 0:
            jerk /= little
            self.scale = min(self.scale, max(sizes[2] / jerk, float(np.sqrt(sizes[1] / jerk))))
        half = NODES // 2
        self.nodes = REACH * self.scale * np.arange(-half, half + 1) / half
        states = {0.0: np.concatenate([q, v])}
        for side in (self.nodes[half + 1 :], self.nodes[:half][::-1]):
            span, atol = (0.0, float(side[-1])), 1e-14 * max(sizes)
            run = solve_ivp(rates, span, states[0.0], "DOP853", t_eval=side, rtol=1e-13, atol=atol)
            if not run.success:
                raise MotionFailed(
                    f"{self.system.name}: the motion could not be followed from this state: {run.message}"
                )
            states |= {float(t): y for t, y in zip(run.t, run.y.T, strict=True)}
        self.path = [states[float(t)] for t in self.nodes]
        self.matrices = []
        for t, y in zip(self.nodes, self.path, strict=True):
            acceleration = a if t == 0.0 else rates(float(t), y)[self.n :]
            self.matrices.append(self._at(self.slopes, y[: self.n], y[self.n :], acceleration, self.t + float(t)))

    def _at(self, function: Any, q: Array, v: Array, a: Array, t: float) -> Array:
        found = function(Sample(q, v, t, self.sampler.p), *a)
        return found.reshape(len(self.system.constraints), -1)

    def _rates(self, values: list[Array]) -> tuple[Array, Array]:
        """First and second derivative at the state, from values at the nodes."""
        found = KroghInterpolator(self.nodes / self.scale, np.array(values)).derivatives(0.0, der=3)
        return found[1] / self.scale, found[2] / self.scale**2

    def run(self, q: Array, v: Array, t: float) -> Displacements:
        self._follow(q, v, t)
        A = self.matrices[NODES // 2]
        basis = null_space(A)
        here = (self.q, self.v, self.a, self.t)
        A1, A2 = self._rates(self.matrices)
        by_q, by_v, bends = (self._at(f, *here) for f in (self.by_q, self.by_v, self.bends))
        rights, sizes, missed = [], [], []
        for xi in basis.T:
            # The displacement that stays nearest to a constant one while it satisfies the conditions.
            along = [xi - np.linalg.lstsq(B, B @ xi, rcond=1e-12)[0] for B in self.matrices]
            eta1, eta2 = self._rates(along)
            delta = (2 * A1 - by_v) @ eta1 + (A2 - by_q) @ xi
            right = np.where(self.accelerated, delta, bends @ xi)
            # By lengths, not by components: at a state with symmetries every single product may be zero.
            terms = _sizes(A1, by_q) * _sizes(xi)
            more = (2 * _sizes(A1) + _sizes(by_v)) * _sizes(eta1) + _sizes(A2, by_q) * _sizes(xi)
            rights.append(right)
            sizes.append(np.where(self.accelerated, more, terms))
            missed.append(self._missed(xi, eta1, eta2, A, by_v, right))
        return Displacements(self.system, basis, self._relations(np.array(rights), np.array(sizes), np.array(missed)))

    def _missed(self, eta: Array, eta1: Array, eta2: Array, A: Array, by_v: Array, right: Array) -> Array:
        """|g|/ε of displaced states: (commuting or related, ε or ε/2, constraints)."""
        slow, fast = ~self.accelerated, self.accelerated
        shift1 = np.linalg.lstsq(A[slow], right[slow], rcond=1e-12)[0]
        shift2 = np.linalg.lstsq(A[fast], (right - by_v @ shift1)[fast], rcond=1e-12)[0]
        reach = max(float(np.abs(self.q).max()), self.scale * float(np.abs(self.v).max())) or 1.0
        quick = max(1.0, self.scale * float(np.abs(eta1).max()), self.scale**2 * float(np.abs(eta2).max()))
        start = self._at(self.values, self.q, self.v, self.a, self.t)
        found = []
        for move1, move2 in ((eta1, eta2), (eta1 + shift1, eta2 + shift2)):
            for epsilon in (SHARE * reach / quick, SHARE * reach / quick / 2):
                state = (self.q + epsilon * eta, self.v + epsilon * move1, self.a + epsilon * move2, self.t)
                found.append((self._at(self.values, *state) - start) / epsilon)
        return np.abs(np.array(found)).reshape(2, 2, -1)

    def _relations(self, rights: Array, sizes: Array, missed: Array) -> tuple[Relation, ...]:
        found = []
        for k, constraint in enumerate(self.system.constraints):
            # Rounding of g/ε, far below what a displacement of the state changes in g.
            tiny = 1e-9 * float(np.abs(self.matrices[NODES // 2][k]).max(initial=0.0)) / self.scale
            size = float(sizes[:, k].max(initial=0.0)) if len(sizes) else 0.0
            (commuting, first), (related, second) = (self._order(missed, kind, k, tiny) for kind in range(2))
            right = rights[:, k] if len(rights) else np.zeros(0)
            here = bool(np.abs(right).max(initial=0.0) <= POSSIBLE * max(size, 1e-300))
            name, level = constraint.name, str(constraint.level)
            found.append(Relation(name, level, right, commuting, first, related, second, here, possible=here))
        return tuple(found)

    def _order(self, missed: Array, kind: int, k: int, tiny: float) -> tuple[float, float]:
        """What is missed per ε, and its order: per ε, it halves with ε where it is of second order."""
        full, half = (float(missed[:, kind, i, k].max(initial=0.0)) if len(missed) else 0.0 for i in range(2))
        return full, np.inf if full <= tiny or half == 0 else 1 + float(np.log2(full / half))


def _sizes(*rows: Array) -> Array:
    """The lengths of rows, added up."""
    return np.asarray(sum(np.linalg.norm(row, axis=-1) for row in rows))
