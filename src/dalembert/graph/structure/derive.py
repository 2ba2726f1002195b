"""What a template contributes, differentiated once: a CasADi function of its own few names for each role that an
expression may play.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.graph.convert import Converter
from dalembert.graph.structure.templates import GIVEN, QUANTITY, RATE, TIME, Example

Target = tuple[str | int, ...]
# What begins the roles of systems with definitions that hold the time.
MOVING = "moving "


@dataclass(frozen=True)
class Contribution:
    """A function of x, v, p, t (the quantities of an instance, their rates, what is given, the time) with one output
    for each of `into`; then outputs that are numbers, for each of which nothing need be computed.

    Where definitions move by themselves, x holds after the quantities how fast each of them does so, ∂x/∂t for given
    coordinates, and v after the rates the ∂ẋ/∂t for given coordinates and velocities.
    """

    function: ca.Function
    into: tuple[Target, ...]
    literal: tuple[tuple[Target, float], ...]


class Derivatives:
    """Contributions of templates by role, made when first asked for."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self._made: dict[tuple[str, int], Contribution] = {}

    def of(self, role: str, template: int) -> Contribution:
        """role: one of `ROLES`."""
        key = role, template
        if key not in self._made:
            self._made[key] = self._derive(role, template)
        return self._made[key]

    def _derive(self, role: str, template: int) -> Contribution:
        example = self.examples[template]
        moving = role.startswith(MOVING)
        wide = example.quantities * (2 if moving else 1)
        x, v = ca.SX.sym("x", wide), ca.SX.sym("v", wide)
        p, t = ca.SX.sym("p", example.given), ca.SX.sym("t")
        stand = {QUANTITY: x, RATE: v, GIVEN: p, TIME: t}
        table = {leaf: stand[kind][place] for leaf, (kind, place) in example.slots.items()}
        f = Converter(table)(example.expression)
        kept: dict[Target, ca.SX] = {}
        literal: dict[Target, float] = {}
        roles = MOVING_ROLES if moving else ROLES
        for into, value in roles[role.removeprefix(MOVING)](f, x, v, t).items():
            value = ca.sparsify(ca.simplify(value))
            if value.nnz() == 0 or value.is_zero():
                continue
            if value.is_constant():
                literal[into] = float(ca.DM(value))
            else:
                kept[into] = value
        values = ca.cse([ca.densify(y) for y in kept.values()]) if kept else []
        function = ca.Function(role.replace(" ", "_"), [x, v, p, t], values)
        return Contribution(function, tuple(kept), tuple(literal.items()))


def _rate(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> ca.SX:
    """df/dt as far as it comes from x and t."""
    return ca.jtimes(f, x, v) + ca.jacobian(f, t)


def _slopes(f: ca.SX, by: ca.SX) -> dict[Target, ca.SX]:
    found = ca.gradient(f, by)
    return {("slope", i): found[i] for i in range(by.numel())}


def _definition(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """d = f, ḋ, its slopes J, and what d̈ is besides J ẍ."""
    rate = _rate(f, x, v, t)
    return {("value",): f, ("rate",): rate, **_slopes(f, x), ("bias",): _rate(rate, x, v, t)}


def _placed_definition(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """The same without d̈."""
    return {("value",): f, ("rate",): _rate(f, x, v, t), **_slopes(f, x)}


def _masses(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """Of a term of the kinetic energy: ∂²T/∂v²."""
    mass = ca.jacobian(ca.gradient(f, v), v)
    return {("mass", i, j): mass[i, j] for i in range(v.numel()) for j in range(i + 1)}


def _forces(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """Of a term of T − V: ∂L/∂x − (∂²L/∂v∂x) v − ∂²L/∂v∂t."""
    momentum = ca.gradient(f, v)
    force = ca.gradient(f, x) - ca.jtimes(momentum, x, v) - ca.jacobian(momentum, t)
    return {("force", i): force[i] for i in range(x.numel())}


def _pull(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """Of a term of the potential: −∂V/∂x."""
    return {("force", i): -s for i, s in enumerate(ca.vertsplit(ca.gradient(f, x)))} if x.numel() else {}


def _energy(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """Of a term of T: v·∂T/∂v − T, and what it loses because it depends on t."""
    return {("energy",): ca.dot(v, ca.gradient(f, v)) - f, ("power",): -ca.jacobian(f, t)}


def _potential(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    return {("energy",): f, ("power",): ca.jacobian(f, t)}


def _at_rest(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """f, ∂f/∂x and ∂²f/∂x² where nothing moves."""
    f = ca.substitute(f, v, ca.SX.zeros(v.numel()))
    curves = ca.jacobian(ca.gradient(f, x), x)
    found: dict[Target, ca.SX] = {("curve", i, j): curves[i, j] for i in range(x.numel()) for j in range(i + 1)}
    return {("value",): f, **_slopes(f, x), **found}


def _row(on_rates: bool) -> Callable[[ca.SX, ca.SX, ca.SX, ca.SX], dict[Target, ca.SX]]:
    """The row of A and b of a constraint φ = 0 or, on rates, ψ = 0."""

    def derive(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
        rate = f if on_rates else _rate(f, x, v, t)
        return {**_slopes(f, v if on_rates else x), ("bias",): -_rate(rate, x, v, t)}

    return derive


def _position_gap(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """The row of A, and −φ, which is to be made up for."""
    return {**_slopes(f, x), ("bias",): -f}


def _rate_gap(on_rates: bool) -> Callable[[ca.SX, ca.SX, ca.SX, ca.SX], dict[Target, ca.SX]]:
    """The row of A, and −φ̇ or −ψ."""

    def derive(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
        return {**_slopes(f, v if on_rates else x), ("bias",): -(f if on_rates else _rate(f, x, v, t))}

    return derive


ROLES: dict[str, Callable[[ca.SX, ca.SX, ca.SX, ca.SX], dict[Target, ca.SX]]] = {
    "definition": _definition,
    "placed definition": _placed_definition,
    "rate definition": lambda f, x, v, t: {("rate",): f, **_slopes(f, v), ("bias",): _rate(f, x, v, t)},
    "placed rate definition": lambda f, x, v, t: {("rate",): f, **_slopes(f, v)},
    "moved rate definition": lambda f, x, v, t: {("rate",): f},
    "moved definition": lambda f, x, v, t: {("value",): f, ("rate",): _rate(f, x, v, t)},
    "masses": _masses,
    "at rest": _at_rest,
    "kinetic": lambda f, x, v, t: _masses(f, x, v, t) | _forces(f, x, v, t),
    "pull": _pull,
    "kinetic energy": _energy,
    "potential energy": _potential,
    "force": lambda f, x, v, t: {("force", 0): f},
    "values of a position": lambda f, x, v, t: {
        ("reach",): ca.jtimes(f, x, v),
        ("gap",): f,
        ("rate",): _rate(f, x, v, t),
    },
    "values of a velocity": lambda f, x, v, t: {("reach",): ca.jtimes(f, v, v), ("rate",): f},
    "position": _row(False),
    "velocity": _row(True),
    "position gap": _position_gap,
    "rate gap of a position": _rate_gap(False),
    "rate gap of a velocity": _rate_gap(True),
}


def _halves(x: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Quantities, how fast they move by themselves, rates, and how fast these change by themselves."""
    k = x.numel() // 2
    return x[:k], x[k:], v[:k], v[k:]


def _along_time(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> ca.SX:
    """∂f/∂t for given coordinates and velocities."""
    x, moved, v, changed = _halves(x, v)
    return ca.jtimes(f, x, moved) + ca.jtimes(f, v, changed) + ca.jacobian(f, t)


def _moving_definition(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    own, _, rates, _ = _halves(x, v)
    rate = _rate(f, own, rates, t)
    return {
        ("value",): f,
        ("rate",): rate,
        ("moved",): _along_time(f, x, v, t),
        ("changed",): _along_time(rate, x, v, t),
    }


def _moving_rate(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """Of a quantity that has only a rate: what does not come from the velocities of coordinates is its own."""
    _, moved, rates, _ = _halves(x, v)
    return {
        ("rate",): f,
        ("moved",): f - ca.jtimes(f, rates, rates - moved),
        ("changed",): _along_time(f, x, v, t),
    }


def _moving_kinetic(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    """q̇·∂T/∂q̇ − T, q̇ the velocities of coordinates alone, and −∂T/∂t for given ones."""
    _, moved, rates, _ = _halves(x, v)
    return {("energy",): ca.jtimes(f, rates, rates - moved) - f, ("power",): -_along_time(f, x, v, t)}


def _moving_potential(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
    return {("energy",): f, ("power",): _along_time(f, x, v, t)}


def _moving_values(on_rates: bool) -> Callable[[ca.SX, ca.SX, ca.SX, ca.SX], dict[Target, ca.SX]]:
    def derive(f: ca.SX, x: ca.SX, v: ca.SX, t: ca.SX) -> dict[Target, ca.SX]:
        own, moved, rates, _ = _halves(x, v)
        if on_rates:
            return {("reach",): ca.jtimes(f, rates, rates - moved), ("rate",): f}
        return {("reach",): ca.jtimes(f, own, rates - moved), ("gap",): f, ("rate",): _rate(f, own, rates, t)}

    return derive


MOVING_ROLES: dict[str, Callable[[ca.SX, ca.SX, ca.SX, ca.SX], dict[Target, ca.SX]]] = {
    "moved definition": _moving_definition,
    "moved rate definition": _moving_rate,
    "kinetic energy": _moving_kinetic,
    "potential energy": _moving_potential,
    "force": lambda f, x, v, t: {("force", 0): f},
    "values of a position": _moving_values(False),
    "values of a velocity": _moving_values(True),
}
