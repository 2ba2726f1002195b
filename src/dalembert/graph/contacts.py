"""What contacts do at a state, as one CasADi function: reactions, sliding velocities and their rates, gaps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import sympy as sp

from dalembert.arrays import Array
from dalembert.graph.convert import Converter
from dalembert.graph.evaluate import Evaluator
from dalembert.model.friction.contact import SPEED, Contact
from dalembert.model.language.symbols import multiplier, t
from dalembert.model.system import System
from dalembert.remember import remember_alone


@dataclass(frozen=True)
class ContactState:
    """What all contacts do at a state; along a motion every array has one more axis in front, that of its points.

    normal: the reaction N of each contact. slide, slide_rate: sliding velocities u and their time derivatives, the
    components of one contact after those of the other. mu, mu_static: the coefficients of sliding and of sticking.
    gap, gap_rate, gap_acceleration: φ, φ̇ and φ̈ of each one-sided constraint. lever: of each contact with one
    constraint, N = lever · λ; zero of others.
    """

    normal: Array
    slide: Array
    slide_rate: Array
    mu: Array
    mu_static: Array
    gap: Array
    gap_rate: Array
    gap_acceleration: Array
    lever: Array


@dataclass(frozen=True)
class ContactGraph:
    """state(q, v, a, t, p, l) -> the arrays of `ContactState`, with the multipliers l. forces(q, v, t, p) -> the
    generalized forces of unit forces along the sliding components, as columns; normals(q, v, t, p) -> the unit normals
    of surfaces in space (3 for each contact that has a bearing).

    components: where the components of each contact stand. one_sided: the rows of the one-sided constraints.
    """

    state: ca.Function
    forces: ca.Function
    normals: ca.Function
    components: tuple[slice, ...]
    one_sided: tuple[int, ...]
    #: What others make of these functions, by name.
    kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """What others have made stays where it was made."""
        return {**vars(self), "kept": {}}

    @cached_property
    def _evaluators(self) -> tuple[Evaluator, Evaluator, Evaluator]:
        return Evaluator(self.state), Evaluator(self.forces), Evaluator(self.normals)

    def at(self, q: Array, v: Array, a: Array, t: float, p: Array, multipliers: Array) -> ContactState:
        """What contacts do at a state with the acceleration a and the multipliers."""
        return ContactState(*self._evaluators[0](q, v, a, t, p, multipliers))

    def along(self, q: Array, v: Array, a: Array, t: Array, p: Array, multipliers: Array) -> ContactState:
        """The same at T points: q, v, a (T, n), t (T,), multipliers (T, m)."""
        return ContactState(*self._evaluators[0].many(t.size, q, v, a, t, p, multipliers))

    def unit_forces(self, q: Array, v: Array, t: float, p: Array) -> Array:
        """The generalized forces of unit forces along the sliding components, (n, components)."""
        (columns,) = self._evaluators[1](q, v, t, p)
        return columns.reshape(q.size, -1)

    def unit_forces_along(self, q: Array, v: Array, t: Array, p: Array) -> Array:
        """The same at T points, (T, n, components)."""
        (columns,) = self._evaluators[1].many(t.size, q, v, t, p)
        return columns.reshape(t.size, q.shape[1], -1)

    def unit_normals(self, q: Array, v: Array, t: float, p: Array) -> Array:
        """The unit normals of surfaces in space, (those contacts that have a bearing, 3)."""
        return self._evaluators[2](q, v, t, p)[0].reshape(-1, 3)


# A motion and its certificate ask for the same several times, a study for every member.
KEPT = 32
_made: dict[Hashable, ContactGraph] = {}


def contact_graph(system: System) -> ContactGraph:
    """The contacts of a system as their laws are written: made once for systems of one structure."""
    return remember_alone(
        _made, system.structure, lambda: make_contact_graph(system, system.contacts, system.parameter_symbols), KEPT
    )


def make_contact_graph(system: System, contacts: Sequence[Contact], symbols: Sequence[sp.Symbol]) -> ContactGraph:
    """contacts: the system's own, or the same with other components; symbols: the parameters p."""
    n = len(system.coordinates)
    q, v, a = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n)
    time, p = ca.SX.sym("t"), ca.SX.sym("p", len(symbols))
    multipliers = ca.SX.sym("l", len(system.constraints))
    table: dict[sp.Symbol, ca.SX] = {t: time}
    for k, coordinate in enumerate(system.coordinates):
        table |= {coordinate: q[k], coordinate.d: v[k], coordinate.dd: a[k]}
    table |= {symbol: p[k] for k, symbol in enumerate(symbols)}
    table |= {multiplier(c.name): multipliers[k] for k, c in enumerate(system.constraints)}
    convert = Converter(table, system.defined)

    def rate(x: ca.SX) -> ca.SX:
        return ca.jtimes(x, q, v) + ca.jtimes(x, v, a) + ca.jacobian(x, time)

    slides: list[ca.SX] = []
    components, mu, mu_static, forces = [], [], [], []
    for contact in contacts:
        start = len(slides)
        own = [convert(u) for u in contact.slide]
        slides += own
        components.append(slice(start, len(slides)))
        speed = sp.sqrt(sum((u**2 for u in contact.slide), sp.S.Zero))
        mu.append(convert(contact.mu.xreplace({SPEED: speed})))
        mu_static.append(convert(contact.mu_static.xreplace({SPEED: sp.S.Zero})))
        for unit in contact.force:
            forces.append(convert.column([unit.get(x, sp.S.Zero) for x in system.coordinates]))
    normals = [convert(contact.normal) for contact in contacts]
    one_sided = tuple(k for k, c in enumerate(system.constraints) if c.one_sided)
    gaps = [convert(system.constraints[k].expression) for k in one_sided]
    column = _column
    u, gap, N = column(slides), column(gaps), column(normals)
    closing = rate(gap) if gaps else gap
    outputs = [N, u, rate(u) if slides else u, column(mu), column(mu_static)]
    ones = ca.substitute(N, multipliers, ca.SX.ones(multipliers.shape))
    lever = [ones[k] if contact.signed else ca.SX(0) for k, contact in enumerate(contacts)]
    outputs += [gap, closing, rate(closing) if gaps else gap, column(lever)]
    bearings = [convert(entry) for c in system.contacts if c.bearing is not None for entry in c.bearing.normal]
    return ContactGraph(
        state=ca.Function("contacts", [q, v, a, time, p, multipliers], [ca.densify(x) for x in outputs]),
        forces=ca.Function("forces", [q, v, time, p], [ca.densify(ca.horzcat(*forces)) if forces else ca.SX(n, 0)]),
        normals=ca.Function("normals", [q, v, time, p], [ca.densify(column(bearings))]),
        components=tuple(components),
        one_sided=one_sided,
    )


def _column(items: list[ca.SX]) -> ca.SX:
    return ca.vertcat(*items) if items else ca.SX(0, 1)
