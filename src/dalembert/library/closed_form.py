"""Motions written out in t and the parameters, as expressions one can read, differentiate and take limits of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from dalembert.mechanics.page.printing import escaped, plain
from dalembert.mechanics.page.printing import latex as typeset
from dalembert.model.language.symbols import parameters, t
from dalembert.results import Page, item_named


@dataclass(frozen=True, eq=False)
class ClosedForm(Page, Mapping[str, sp.Expr]):
    """A motion from the library's own initial state, by the names of columns or of the paper: `form["x"]`, `form["s"]`.

    `where`: what the abbreviations in it stand for; `written_out(name)` has them replaced.
    """

    name: str
    expressions: Mapping[str, sp.Expr]
    where: Mapping[sp.Symbol, sp.Expr]

    def __getitem__(self, key: str) -> sp.Expr:
        return item_named(self.expressions, key, "expression")

    def __iter__(self) -> Iterator[str]:
        return iter(self.expressions)

    def __len__(self) -> int:
        return len(self.expressions)

    def written_out(self, key: str) -> sp.Expr:
        """In t and the parameters of the system only."""
        return self[key].xreplace(dict(self.where))

    def headline(self) -> str:
        return f"of {self.name!r}: {', '.join(self)}"

    def to_dict(self) -> dict[str, Any]:
        parts = {"expressions": self.expressions, "where": self.where}
        found = {key: {str(name): plain(value) for name, value in part.items()} for key, part in parts.items()}
        return {"name": self.name, **found}

    def rows(self) -> str:
        lines = [(rf"\text{{{escaped(key)}}}", value) for key, value in self.expressions.items()]
        lines += [(typeset(symbol), value) for symbol, value in self.where.items()]
        return " \\\\\n".join(f"{left} &= {typeset(value)}" for left, value in lines)

    def text(self) -> str:
        lines = [f"{key} = {plain(value)}" for key, value in self.expressions.items()]
        lines += [f"with {symbol} = {plain(value)}" for symbol, value in self.where.items()]
        return "\n".join([self.name, *(f"  {line}" for line in lines)])


#: The two lengths of an orbit, (64) and (66) of Flannery 2011.
a, radius = sp.Symbol("a", real=True), sp.Symbol("R'", real=True)


def turning_form(name: str, inertia: sp.Expr, *, wheels: Mapping[str, sp.Expr], torque: bool) -> ClosedForm:
    """(63), (67), (68), (72), (73) and (76) for what goes along a heading that turns steadily.

    inertia: 1 and what rolls adds to it. wheels: angles, each with how fast its rim moves beside the middle. torque:
    whether something is to be held upright: by N_a, or by a couple, F_a ĵ at the height R + b and −F_a ĵ at R − b.
    """
    m, R, g, alpha, omega, v0, b = parameters("m R g alpha omega v0 b")
    phi = omega * t
    speed = v0 + 4 * a * omega * sp.sin(phi)
    path = v0 * t + 4 * a * (1 - sp.cos(phi))
    sideways = m * omega * (v0 + 4 * a * (1 + inertia) * omega * sp.sin(phi))
    found = {
        "x": a * (1 - sp.cos(2 * phi)) + radius * sp.sin(phi),
        "y": a * (2 * phi - sp.sin(2 * phi)) + radius * (1 - sp.cos(phi)),
        "phi": phi,
        **{angle: (path + side * phi) / R for angle, side in wheels.items()},
        "x'": v0 * sp.cos(phi) + 2 * a * omega * sp.sin(2 * phi),
        "y'": v0 * sp.sin(phi) + 2 * a * omega * (1 - sp.cos(2 * phi)),
        "s": path,
        "v": speed,
        "rho": radius + 4 * a * sp.sin(phi),
        "F_i": -(inertia - 1) / inertia * m * g * sp.sin(alpha) * sp.cos(phi),
        "F_j": sideways,
    }
    if torque:
        found["N_a"] = -m * inertia * omega * R * (v0 + 8 * a * omega * sp.sin(phi))
        found["F_a"] = -found["N_a"] / (2 * b)
    return ClosedForm(name, found, {a: g * sp.sin(alpha) / (4 * omega**2 * inertia), radius: v0 / omega})


def penny_form(name: str = "penny") -> ClosedForm:
    beta = parameters("beta")[0]
    return turning_form(name, 1 + beta, wheels={"psi": sp.S.Zero}, torque=True)


def skater_form() -> ClosedForm:
    return turning_form("skater", sp.S.One, wheels={}, torque=False)


def cart_form() -> ClosedForm:
    beta, b = parameters("beta b")
    return turning_form("cart", 1 + 2 * beta, wheels={"psi1": -b, "psi2": b}, torque=False)
