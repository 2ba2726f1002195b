"""What contacts do at a state, as one CasADi function: reactions, sliding velocities and their rates, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.model.friction.contact import SPEED, Contact
from dalembert.model.language.symbols import multiplier, t
from dalembert.model.system import System


@dataclass(frozen=True)
class ContactGraph:
    """state(q, v, a, t, p, l) -> normal forces N (one per contact), sliding velocities u and their time derivatives
    (`components` one after the other), coefficients of sliding and of sticking; then for each one-sided constraint φ,
    φ̇ and φ̈. forces(q, v, t, p) -> the generalized forces of unit forces along the sliding components, as columns;
    normals(q, v, t, p) -> the unit normals of surfaces in space (3 for each contact that has a bearing).

    components: where the components of each contact stand. one_sided: the rows of the one-sided constraints.
    """

    state: ca.Function
    forces: ca.Function
    normals: ca.Function
    components: tuple[slice, ...]
    one_sided: tuple[int, ...]


def contact_graph(
    system: System, contacts: Sequence[Contact] | None = None, symbols: Sequence[sp.Symbol] | None = None
) -> ContactGraph:
    """contacts: in place of the system's own, with other components; symbols: the parameters p, if these need more."""
    contacts = system.contacts if contacts is None else contacts
    symbols = system.parameter_symbols if symbols is None else symbols
    n = len(system.coordinates)
    q, v, a = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n)
    time, p = ca.SX.sym("t"), ca.SX.sym("p", len(symbols))
    multipliers = ca.SX.sym("l", len(system.constraints))
    table: dict[sp.Symbol, ca.SX] = {t: time}
    for k, coordinate in enumerate(system.coordinates):
        table |= {coordinate: q[k], coordinate.d: v[k], coordinate.dd: a[k]}
    table |= {symbol: p[k] for k, symbol in enumerate(symbols)}
    table |= {multiplier(c.name): multipliers[k] for k, c in enumerate(system.constraints)}
    convert = Converter(table)

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
    outputs += [gap, closing, rate(closing) if gaps else gap]
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
