"""A system at rest as numbers: the balance Q + C + Aᵀλ + F f = 0 on the constraints, solved from a guess.

One-sided constraints are closed or open; contacts of dry friction hold, F f being the forces with which they do. What
velocity constraints forbid at rest are displacements, not configurations: their rows enter the balance only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import least_squares

from dalembert.arrays import Array
from dalembert.errors import UndefinedModel
from dalembert.graph.contacts import contact_graph
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.statics import statics_graph
from dalembert.model.system import System
from dalembert.statics.frozen import angles
from dalembert.statics.sizes import sizes

# The balance holds where what is left of it is this small against the forces in it: Newton's method ends far below, and
# a minimum of the imbalance that is no zero stays far above.
BALANCED = 1e-9
# Steps of Newton's method: at a degenerate equilibrium each gains only a third. No step goes further than this, in
# sizes of the coordinates: beyond a quarter of a turn no angle is near.
POLISH, LONGEST = 80, 0.5
SETTLED = 1e-13
EVALUATIONS = 200
# Directions this near to each other are the same, for rank decisions at configurations known to rounding.
RANK = 1e-10


@dataclass(frozen=True)
class Parts:
    """Which constraints (rows) and friction components (columns of F) act, and the contacts they belong to."""

    rows: tuple[int, ...]
    components: tuple[int, ...]
    contacts: tuple[int, ...]


@dataclass(frozen=True)
class Balance:
    """A configuration with forces that balance it: q (n), multipliers (m), friction (all components), zero where
    nothing acts. force: the largest in the balance. miss: what is left of it, relative.
    """

    q: Array
    multipliers: Array
    friction: Array
    force: float
    miss: float


class Statics:
    """A system without explicit time, its parameters given values, at rest."""

    def __init__(self, system: System, p: Array | None = None) -> None:
        self.system = system
        self.p = system.parameter_values() if p is None else p
        self.n, self.m = len(system.coordinates), len(system.constraints)
        graph = statics_graph(system)
        self._balance, self._conditions = Evaluator(graph.balance), Evaluator(graph.conditions)
        self._slopes = Evaluator(graph.slopes)
        self.columns = graph.balance.size_in(2)[0]

    @cached_property
    def _contacts(self) -> tuple[tuple[slice, ...], Evaluator]:
        graph = contact_graph(self.system)
        return graph.components, Evaluator(graph.state)

    @property
    def components(self) -> tuple[slice, ...]:
        """Where the friction components of each contact stand; three of one contact may depend on each other."""
        return self._contacts[0]

    def reactions(self, q: Array, l: Array) -> tuple[Array, Array]:
        """Normal forces and static coefficients of all contacts at rest."""
        rest = np.zeros(self.n)
        normal, _, _, _, mu, *_ = self._contacts[1](q, rest, rest, 0.0, self.p, l)
        return normal, mu

    @cached_property
    def turns(self) -> list[bool]:
        """Which coordinates are angles."""
        return angles(self.system)

    @cached_property
    def sizes(self) -> Array:
        """Of each coordinate, at the initial configuration: the units of the search."""
        return sizes(self, self.system.initial_values()[0], self.turns)

    def with_parameters(self, p: Array) -> Statics:
        """The same at other values: the functions are shared, and the sizes."""
        other = object.__new__(Statics)
        other.__dict__.update(self.__dict__ | {"sizes": self.sizes})
        other.p = p
        return other

    # -- evaluation

    def balance(self, q: Array, l: Array, f: Array) -> tuple[Array, Array, Array]:
        """r, ∂r/∂q (n, n), [Aᵀ F] (n, m + columns)."""
        r, slope, reach = self._balance(q, l, f, 0.0, self.p)
        if not (np.isfinite(r).all() and np.isfinite(slope).all() and np.isfinite(reach).all()):
            names = ", ".join(f"{c.name} = {x:.6g}" for c, x in zip(self.system.coordinates, q, strict=True))
            if np.isfinite(r).all():
                raise UndefinedModel(
                    f"{self.system.name}: the forces have no finite slope at {names}, as |x|^1.5 has none at 0. "
                    "Neither the search nor stability can do without: round the potential off there."
                )
            raise UndefinedModel(
                f"{self.system.name}: the forces have no finite value at rest at {names}. Friction written as v/|v| "
                "has no direction there: use da.Coulomb."
            )
        return r, slope.reshape(self.n, self.n), reach.reshape(self.n, self.m + self.columns)

    def many(self, places: Array, l: Array, f: Array) -> tuple[Array, Array]:
        """r and the conditions at many configurations, finite or not."""
        count = len(places)
        r, c = (
            self._balance.many(count, places, l, f, 0.0, self.p)[0],
            self._conditions.many(count, places, 0.0, self.p)[0],
        )
        return r.reshape(count, self.n), c.reshape(count, self.m)

    def conditions(self, q: Array) -> tuple[Array, Array]:
        """What must vanish at rest, one row per constraint, and its derivative (m, n)."""
        c, slope = self._conditions(q, 0.0, self.p)
        return c, slope.reshape(self.m, self.n)

    def linear(self, q: Array, l: Array, f: Array) -> tuple[Array, Array, Array]:
        """M, K = −∂r/∂q, D = −∂r/∂q̇."""
        v = np.zeros(self.n)
        M, K, D, r = self._slopes(q, v, l, f, 0.0, self.p)
        D = D.reshape(self.n, self.n)
        if not np.isfinite(D).all():
            # Drag such as −c |v| v has a slope, zero, that its formula does not give: differences do.
            step = 1e-8
            for k in range(self.n):
                v[k] = step
                D[:, k] = (r - self._slopes(q, v, l, f, 0.0, self.p)[3]) / step
                v[k] = 0.0
        return M.reshape(self.n, self.n), K.reshape(self.n, self.n), D

    def gaps(self, q: Array) -> Array:
        """The one-sided constraints: how far they are open."""
        return self.conditions(q)[0][list(self.one_sided)]

    def closing(self, q: Array) -> Array:
        """Of the one-sided constraints, how much they change over the sizes of the coordinates."""
        return np.linalg.norm(self.conditions(q)[1][list(self.one_sided)] * self.sizes, axis=1)

    @cached_property
    def one_sided(self) -> tuple[int, ...]:
        return tuple(k for k, c in enumerate(self.system.constraints) if c.one_sided)

    # -- solving

    def parts(self, closed: frozenset[int]) -> Parts:
        """What acts where the one-sided constraints `closed` (by row) are closed and the others open."""
        rows = tuple(k for k in range(self.m) if k not in self.one_sided or k in closed)
        holding, components = [], []
        for k, contact in enumerate(self.system.contacts):
            carriers = [j for j in self.one_sided if self.system.constraints[j].name in contact.constraints]
            if all(j in closed for j in carriers):
                at = self.components[k]
                holding.append(k)
                components += list(range(at.start, at.stop))
        return Parts(rows, tuple(components), tuple(holding))

    def solve(
        self, start: Array, parts: Parts, moving: tuple[int, ...] | None = None, far: bool = True
    ) -> Balance | None:
        """The balance near a configuration, only the coordinates `moving` changed; None where none is found. far: also
        where Newton's method does not lead to it.
        """
        free = np.arange(self.n) if moving is None else np.array(moving, dtype=int)
        acting = [*parts.rows, *(self.m + k for k in parts.components)]
        q = np.array(start, dtype=float)
        r, slope, reach = self.balance(q, np.zeros(self.m), np.zeros(self.columns))
        # Coordinates in their sizes, forces as the work that they do over them: no unit is preferred.
        s = self.sizes
        work = _work(r, slope, s, s) or 1.0
        lengths = np.linalg.norm(s[:, None] * reach[:, acting], axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        weight = np.linalg.norm(self.conditions(q)[1][list(parts.rows)] * s, axis=1)
        weight = np.where(weight > 0, weight, 1.0)

        def spread(z: Array) -> tuple[Array, Array, Array]:
            place = q.copy()
            place[free] = z[: free.size] * s[free]
            both = np.zeros(self.m + self.columns)
            both[acting] = z[free.size :] * work / lengths
            return place, both[: self.m], both[self.m :]

        def residual(z: Array) -> Array:
            place, l, f = spread(z)
            held = self.conditions(place)[0][list(parts.rows)]
            return np.concatenate([s * self.balance(place, l, f)[0] / work, held / weight])

        def jacobian(z: Array) -> Array:
            place, l, f = spread(z)
            _, slope, reach = self.balance(place, l, f)
            held = self.conditions(place)[1][list(parts.rows)]
            top = np.hstack([np.outer(s, s[free]) * slope[:, free] / work, s[:, None] * reach[:, acting] / lengths])
            bottom = np.hstack([held[:, free] * s[free] / weight[:, None], np.zeros((len(parts.rows), len(acting)))])
            return np.vstack([top, bottom])

        z = np.concatenate([q[free] / s[free], np.zeros(len(acting))])
        if acting:
            z[free.size :] = np.linalg.lstsq(s[:, None] * reach[:, acting] / lengths, -s * r / work, rcond=RANK)[0]
        try:
            near = _newton(residual, jacobian, z)
            if far and np.abs(residual(near)).max(initial=0.0) > BALANCED:
                better = least_squares(
                    residual, z, jacobian, x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=EVALUATIONS
                ).x
                near = _newton(residual, jacobian, better)
            z = near
        except (UndefinedModel, ValueError, np.linalg.LinAlgError):
            return None
        place = spread(z)[0]
        r, slope, reach = self.balance(place, np.zeros(self.m), np.zeros(self.columns))
        # Forces that only fade away, far out, balance nothing: what counts is their size here.
        here = _work(r, slope, s, np.maximum(s, np.maximum(np.abs(start), np.abs(place)))) or np.finfo(float).tiny
        if acting:
            # Of reactions that are not determined, the smallest.
            z[free.size :] = np.linalg.lstsq(s[:, None] * reach[:, acting] / lengths, -s * r / work, rcond=RANK)[0]
        _, l, f = spread(z)
        left = residual(z)
        miss = max(
            float(np.abs(left[: self.n]).max()) * work / here,
            float(np.abs(left[self.n :]).max(initial=0.0)),
        )
        loads = np.concatenate([r, (reach * np.concatenate([l, f])).ravel()])
        return Balance(place, l, f, float(np.abs(loads).max()) or 1.0, miss) if miss <= BALANCED else None


def _work(r: Array, slope: Array, over: Array, reached: Array) -> float:
    """The largest work of the forces, and of their slopes where q is `reached`, over displacements."""
    slopes = float(np.abs(np.outer(over, reached) * slope).max(initial=0.0))
    return max(float(np.abs(over * r).max(initial=0.0)), slopes)


def _newton(residual: Callable[[Array], Array], jacobian: Callable[[Array], Array], z: Array) -> Array:
    """Newton's method with the least change, shortened until it improves, to rounding."""
    miss = float(np.linalg.norm(residual(z)))
    for _ in range(POLISH):
        step = np.linalg.lstsq(jacobian(z), residual(z), rcond=RANK)[0]
        longest = float(np.abs(step).max(initial=0.0))
        step = step / max(1.0, longest / LONGEST)
        for shorten in (1.0, 0.5, 0.25, 0.1, 0.02):
            trial = z - shorten * step
            left = float(np.linalg.norm(residual(trial)))
            if left < miss or left <= 1e-15:
                break
        else:
            break
        z, miss = trial, left
        if longest <= SETTLED * max(1.0, float(np.abs(z).max(initial=0.0))):
            break
    return z
