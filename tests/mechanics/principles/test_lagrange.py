"""Lagrange's equations with multipliers against equations written by hand and the papers' printed ones."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import cos, sin

import dalembert as da
from dalembert.mechanics.page.printing import lambda_of

x, y, psi, phi = da.coordinates("x y psi phi")
m, g, l, R, beta, alpha, mu = da.parameters("m g l R beta alpha mu")
l1, l2 = lambda_of(0), lambda_of(1)


def difference(line, left: sp.Expr, right: sp.Expr) -> sp.Expr:
    return sp.simplify(line.left - sp.Add(*(term for _, term in line.terms)) - (left - right))


def test_pendulum_by_hand():
    pendulum = da.System(
        "pendulum", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"rod": x**2 + y**2 - l**2},
    )  # fmt: skip
    motion, constraints = pendulum.equations("lagrange").sections
    assert difference(motion.lines[0], m * x.dd, 2 * l1 * x) == 0
    assert difference(motion.lines[1], m * y.dd, -m * g + 2 * l1 * y) == 0
    assert constraints.lines[0].label == "rod"


def test_penny_as_printed_in_60():
    # Flannery 2011: M x'' = M g sin(alpha) + λ₁, M y'' = λ₂, I ψ'' = −R(λ₁ cos φ + λ₂ sin φ), I₂ φ'' = 0.
    penny = da.System(
        "penny",
        coordinates=[x, y, psi, phi],
        kinetic=m * (x.d**2 + y.d**2) / 2 + beta * m * R**2 * psi.d**2 / 2 + m * R**2 * phi.d**2 / 8,
        potential=-m * g * x * sin(alpha),
        constraints={"roll x": x.d - R * psi.d * cos(phi), "roll y": y.d - R * psi.d * sin(phi)},
    )
    lines = penny.equations("lagrange").sections[0].lines
    assert difference(lines[0], m * x.dd, m * g * sin(alpha) + l1) == 0
    assert difference(lines[1], m * y.dd, l2) == 0
    assert difference(lines[2], beta * m * R**2 * psi.dd, -R * (l1 * cos(phi) + l2 * sin(phi))) == 0
    assert difference(lines[3], m * R**2 * phi.dd / 4, sp.S.Zero) == 0


def test_friction_is_shown_sliding_with_its_own_multiplier():
    block = da.System(
        "block", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"floor": y >= 0}, nonideal=[da.Coulomb("floor", mu=mu)],
    )  # fmt: skip
    found = block.equations("lagrange")
    assert difference(found.sections[0].lines[0], m * x.dd, -mu * sp.Abs(l1) * sp.sign(x.d)) == 0
    assert "shown sliding" in found.reason
    assert "one-sided" in found.reason


numbers = st.floats(-1.5, 1.5).map(lambda value: round(value, 3))


@settings(max_examples=40, deadline=None)
@given(st.lists(numbers, min_size=24, max_size=24), st.sampled_from(["position", "velocity", "curved", "redundant"]))
def test_random_systems_agree_with_the_fundamental_equation(values: list[float], kind: str):
    c = iter(values)
    q = da.coordinates("x y z")
    B = np.array([[next(c) for _ in range(3)] for _ in range(3)])
    mass = sp.Matrix(np.round(B @ B.T + np.eye(3), 6)) * (1 + sp.sin(q[0]) ** 2 / 2)
    v = sp.Matrix([s.d for s in q])
    linear = sp.Add(*(next(c) * s.d * q[0] for s in q))
    L = (v.T * mass * v)[0] / 2 + linear - sp.Add(*(next(c) * s**2 + next(c) * s * sin(da.t) for s in q))
    a, b, d = (round(next(c), 3) or 0.5 for _ in range(3))
    rows = {
        "position": {"one": a * q[0] ** 2 + b * q[1] - d * sin(q[2])},
        "velocity": {"one": q[0].d + a * q[1] * q[2].d - b * sin(da.t)},
        "curved": {"one": q[0].d ** 2 - (1 + a**2) * q[1].d * q[2].d + d * q[2].d - 1},
        "redundant": {"one": q[0].d + a * q[1].d, "two": 3 * q[0].d + 3 * a * q[1].d},
    }[kind]
    start = {s: next(c) for s in q} | {s.d: 1.0 for s in q}
    system = da.System(
        "random", coordinates=q, lagrangian=L, constraints=rows, initial=start, forces={q[0]: -q[1].d},
        nonideal=[da.Work({q[1]: -d * q[1].d + da.ideal(q[0]) / 3}, "one")],
    )  # fmt: skip
    found = system.compare(["lagrange"], states=2)
    assert found.agree, str(found)


def test_reactions_in_the_work_are_solved_with_it():
    # A bead on the line y = x, with a force along the line that is μ times a component of the actual reaction.
    bead = da.System(
        "bead", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"line": y - x},
        nonideal=[da.Work({x: mu * da.actual(x), y: mu * da.actual(x)}, "line")],
        parameters={m: 2, g: 9.81, mu: 0.25}, initial={x: 0, y: 0, x.d: 1, y.d: 1},
    )  # fmt: skip
    # Along the line, with s = x√2: m s'' = −m g/√2 + 2 μ f/√2 and f = −λ, λ = m g/2 (across the line C has no part).
    along = (-2 * 9.81 / np.sqrt(2) + 2 * 0.25 * (-9.81) / np.sqrt(2)) / 2
    assert bead.at().acceleration == pytest.approx([along / np.sqrt(2)] * 2, rel=1e-12)
    assert bead.compare(["lagrange"]).agree


@pytest.mark.parametrize("push", [0.3, -1.7, 2.4])
def test_a_constraint_nonlinear_in_acceleration_may_be_stated_twice(push: float):
    # |q̈| = 3: of all such accelerations the one along gravity and push is nearest to them.
    size = x.dd**2 + y.dd**2 - 9
    particle = da.System(
        "particle", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=9.81 * y, forces={x: push},
        constraints={"size": size, "again": 2 * size}, initial={x: 0, y: 0, x.d: 1, y.d: 0},
    )  # fmt: skip
    exact = 3 * np.array([push, -9.81]) / np.hypot(push, 9.81)
    assert particle.at().acceleration == pytest.approx(exact, rel=1e-9)
    found = particle.compare(["lagrange", "gauss"])
    assert found.agree, str(found)
    assert found["lagrange"].applies
