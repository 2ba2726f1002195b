"""What a template contributes, differentiated once: CasADi functions of its own few names.

Every function takes x (the quantities), v (their rates), p (the given values) and t.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.graph.structure.templates import GIVEN, QUANTITY, RATE, TIME, Templates


@dataclass(frozen=True)
class Contribution:
    """A function with one output for each of `into`, which says where it belongs; `literal` are outputs that are
    numbers, so that nothing need be computed.
    """

    function: ca.Function
    into: tuple[object, ...]
    literal: dict[object, float]


class Derivatives:
    """Contributions of templates by the role that an expression plays, made when first asked for."""

    def __init__(self, templates: Templates) -> None:
        self.templates = templates
        self._made: dict[tuple[str, int], Contribution] = {}

    def definition(self, template: int) -> Contribution:
        """d = f: f itself, its rate, its slopes J, and what d̈ is besides J ẍ."""
        return self._role("definition", template)

    def energy(self, template: int) -> Contribution:
        """A term of L: its parts of the masses ∂²L/∂v² and of the forces."""
        return self._role("energy", template)

    def force(self, template: int) -> Contribution:
        """A force: its value."""
        return self._role("force", template)

    def position(self, template: int) -> Contribution:
        """A constraint φ = 0: its row of A, and its b."""
        return self._role("position", template)

    def velocity(self, template: int) -> Contribution:
        """A constraint ψ = 0: its row of A, and its b."""
        return self._role("velocity", template)

    def _role(self, role: str, template: int) -> Contribution:
        key = role, template
        if key not in self._made:
            self._made[key] = self._derive(role, template)
        return self._made[key]

    def _derive(self, role: str, template: int) -> Contribution:
        expression, instance = self.templates.examples[template]
        r = len(instance.quantities)
        x, v, p, t = ca.SX.sym("x", r), ca.SX.sym("v", r), ca.SX.sym("p", len(instance.given)), ca.SX.sym("t")
        f = Converter(self._table(expression, instance, x, v, p, t))(expression)
        rate = ca.jtimes(f, x, v) + ca.jacobian(f, t)
        outputs: dict[object, ca.SX] = {}
        if role == "definition":
            outputs = {"value": f, "rate": rate}
            outputs |= {("slope", i): s for i, s in enumerate(ca.vertsplit(ca.gradient(f, x)))} if r else {}
            outputs["bias"] = ca.jtimes(rate, x, v) + ca.jacobian(rate, t)
        elif role == "energy":
            momentum = ca.gradient(f, v) if r else ca.SX(0, 1)
            force = ca.gradient(f, x) - ca.jtimes(momentum, x, v) - ca.jacobian(momentum, t)
            mass = ca.jacobian(momentum, v)
            outputs = {("force", i): force[i] for i in range(r)}
            outputs |= {("mass", i, j): mass[i, j] for i in range(r) for j in range(i + 1)}
        elif role == "force":
            outputs = {"value": f}
        else:
            on, dot = (x, rate) if role == "position" else (v, f)
            slopes = ca.gradient(f, on)
            outputs = {("slope", i): slopes[i] for i in range(r)}
            outputs["bias"] = -(ca.jtimes(dot, x, v) + ca.jacobian(dot, t))
            outputs["residual"] = f
        return _contribution(f"{role}{template}", [x, v, p, t], outputs)

    def _table(
        self, expression: sp.Expr, instance: object, x: ca.SX, v: ca.SX, p: ca.SX, t: ca.SX
    ) -> dict[sp.Basic, ca.SX]:
        table: dict[sp.Basic, ca.SX] = {}
        names = self.templates.names
        _, leaves = self.templates._shape(expression)
        quantities: dict[int, int] = {}
        given: dict[object, int] = {}
        for leaf in leaves:
            if isinstance(leaf, sp.Number):
                table[leaf] = p[given.setdefault(leaf, len(given))]
                continue
            kind, number = names[leaf]
            if kind == TIME:
                table[leaf] = t
            elif kind == GIVEN:
                table[leaf] = p[given.setdefault(leaf, len(given))]
            else:
                place = quantities.setdefault(number, len(quantities))
                table[leaf] = {QUANTITY: x, RATE: v}[kind][place]
        return table


def _contribution(name: str, inputs: list[ca.SX], outputs: dict[object, ca.SX]) -> Contribution:
    """Structural zeros are left out; numbers are kept apart."""
    kept, literal = {}, {}
    for into, value in outputs.items():
        value = ca.sparsify(ca.simplify(value))
        if value.nnz() == 0 or value.is_zero():
            continue
        if value.is_constant():
            literal[into] = float(ca.DM(value))
        else:
            kept[into] = value
    function = ca.Function(name, inputs, ca.cse([ca.densify(value) for value in kept.values()]))
    return Contribution(function, tuple(kept), literal)
