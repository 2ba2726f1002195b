"""Random mechanical systems: a positive definite kinetic energy that depends on position and time, a potential,
impressed forces, constraints of every level that is linear in q̈, redundant ones among them, with and without work.
"""

from __future__ import annotations

import sympy as sp
from hypothesis import strategies as st

import dalembert as da

# Eighths: decimal values are exact, and no coefficient is so small that ranks become doubtful.
coefficients = st.integers(-12, 12).filter(lambda k: abs(k) >= 2).map(lambda k: sp.Rational(k, 8))


@st.composite
def systems(draw: st.DrawFn, nonideal: bool = True) -> da.System:
    n = draw(st.integers(2, 4), label="coordinates")
    q = da.coordinates(" ".join(f"q{i}" for i in range(n)))

    def shape() -> sp.Expr:
        """A bounded function of position, and at times of time."""
        angle = q[draw(st.integers(0, n - 1))] + draw(st.sampled_from([sp.S.Zero, da.t / 2]))
        return 1 + draw(st.sampled_from([sp.sin, sp.cos]))(angle) / 2

    def form() -> sp.Expr:
        """Linear in the velocities, with coefficients that depend on position."""
        return sp.Add(*(draw(coefficients) * shape() * v for v in draw(st.permutations([x.d for x in q]))[:2]))

    kinetic = sp.Add(*(x.d**2 * sp.Rational(draw(st.integers(4, 16)), 8) for x in q)) / 2
    kinetic += (form() + draw(st.sampled_from([sp.S.Zero, sp.S.One / 2]))) ** 2 / 2
    potential = sp.Add(*(draw(coefficients) * sp.cos(x) for x in q)) + q[0] * q[1] / 4
    constraints = {}
    for k in range(draw(st.integers(1, n - 1), label="constraints")):
        level = draw(st.sampled_from(["position", "linear", "quadratic", "acceleration"]), label="level")
        if level == "position":
            constraints[f"c{k}"] = sp.sin(q[k]) + draw(coefficients) * q[k + 1] + shape() - 1
        elif level == "linear":
            constraints[f"c{k}"] = form() + q[k].d * 2 - draw(coefficients)
        elif level == "quadratic":
            constraints[f"c{k}"] = q[k].d ** 2 + 2 * q[k + 1].d ** 2 - shape()
        else:
            constraints[f"c{k}"] = q[k].dd + draw(coefficients) * q[k + 1].dd - q[0].d * q[1].d + shape()
    if constraints and draw(st.booleans(), label="redundant"):
        constraints["again"] = constraints["c0"] * draw(coefficients)
    work = {q[0]: -q[0].d / 2 + sp.Rational(1, 4), q[1]: draw(coefficients) * q[1].d ** 2}
    return da.System(
        "random",
        coordinates=q,
        kinetic=kinetic,
        potential=potential,
        forces={q[-1]: draw(coefficients) * q[0].d + sp.sin(da.t)},
        constraints=constraints,
        nonideal=[da.Work(work)] if nonideal and constraints and draw(st.booleans(), label="nonideal") else [],
        initial={s: sp.Rational(k + 2, 7) * (-1) ** k for k, s in enumerate([*q, *(x.d for x in q)])},
    )
