"""Sections II to VI of Flannery 2011 where no other test has them: conditions on displacements, tangency, multipliers,
and the penny by constraints of every kind.
"""

from __future__ import annotations

from math import atan, tan

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin

import dalembert as da
from dalembert.mechanics.page.printing import lambda_of

x, y, z, psi, phi = da.coordinates("x y z psi phi")
m, R, beta, g, alpha = da.parameters("m R beta g alpha")

# One of each kind: f(q, t), linear g, homogeneous g of degree 2, general g, linear h, general h.
KINDS = {
    "position": x**2 + y**2 + z**2 - 1 - da.t / 10,
    "linear": x.d + y * z.d - cos(da.t) / 5,
    "homogeneous": x.d**2 + y.d**2 - 2 * z.d**2,
    "general": x.d**3 + y * z.d - sin(da.t) - 1,
    "acceleration": x.d * y.dd - y.d * x.dd - 1 - x**2,
    "general acceleration": x.dd**2 + y.dd**2 + z.d * z.dd - 30,
}


def body(name: str) -> da.System:
    system = da.System(
        name, coordinates=[x, y, z], kinetic=(x.d**2 + 2 * y.d**2 + 3 * z.d**2) / 2 + x * y.d * z.d / 5,
        potential=x * y + z, forces={z: -z.d / 3}, constraints={name: KINDS[name]},
        initial={x: 0.6, y: 0.5, z: 0.4, x.d: 0.7, y.d: 0.4, z.d: 0.3, "t": 0.2},
    )  # fmt: skip
    return system.replace(initial=system.consistent())


@pytest.mark.parametrize("name", KINDS)
def test_ideal_forces_do_no_virtual_work(name: str):
    """(2): (L_j − Q_j^NP) δq_j = Q_j^C δq_j = 0 for all δq with (6), (10), (28) or (48); L_j − Q_j^NP is M q̈ − Q."""
    now = body(name).at()
    slope = {"position": (x, y, z), "acceleration": (x.dd, y.dd, z.dd), "general acceleration": (x.dd, y.dd, z.dd)}
    by = slope.get(name, (x.d, y.d, z.d))
    values = dict(
        zip((x, y, z, x.d, y.d, z.d, x.dd, y.dd, z.dd, da.t), [*now.q, *now.v, *now.acceleration, now.t], strict=True)
    )
    row = np.array([float(KINDS[name].diff(u).subs(values)) for u in by])
    left = now.M @ now.acceleration - now.Q  # the left side of (1) without the applied forces
    displacements = now.virtual_displacements
    assert displacements.shape == (3, 2)
    np.testing.assert_allclose(row @ displacements, 0, atol=1e-12)
    np.testing.assert_allclose(left @ displacements, 0, atol=1e-10)
    # (7), (11), (29), (49): the force is λ ∂f/∂q, λ ∂g/∂q̇ or λ ∂h/∂q̈
    np.testing.assert_allclose(left, now.multipliers[0] * row, atol=1e-10)
    for v in displacements.T:
        assert now.virtual_work(v).done == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("name", ["position", "linear", "homogeneous", "general", "acceleration"])
def test_motions_are_tangent_to_their_constraints(name: str):
    """(4), (13), (22) and (42): a motion goes along the surface of its constraint, which holds at every output."""
    motion = body(name).simulate(0.5, rtol=1e-11, samples=101)
    level = body(name).constraints[0].level
    function = sp.lambdify((x, y, z, x.d, y.d, z.d, x.dd, y.dd, z.dd, da.t), KINDS[name], "numpy")
    values = function(*motion.q.T, *motion.v.T, *motion.a.T, motion.t)
    np.testing.assert_allclose(values, 0, atol=1e-9)
    assert level == {"position": "position", "acceleration": "acceleration"}.get(name, "velocity")


@pytest.mark.parametrize("name", ["linear", "homogeneous", "general", "acceleration"])
def test_displaced_states_are_possible_by_the_relations(name: str):
    """(15), (23), (43): with (31) or (51) δg = 0 or δh = 0 to second order, with commuting ones it is not."""
    relation = body(name).displacements()[name]
    assert relation.related_order > 1.9
    assert relation.commuting_order == pytest.approx(1, abs=0.1)
    # deduction (2): with commuting ones δg = −g_kj δq_j
    assert relation.commuting == pytest.approx(np.abs(relation.right).max(), rel=0.05)


def test_differences_of_possible_accelerations_are_displacements():
    """(14b): two possible sets of accelerations in one state differ by what (28) allows."""
    now = body("general").at()
    one, two = now.possible([1.0, -2.0, 0.5]), now.possible([-3.0, 0.7, 2.0])
    assert now.is_possible(one)
    assert now.is_possible(two)
    difference = one - two
    assert np.linalg.norm(difference) > 0.1
    assert now.virtual_work(difference).done == pytest.approx(0, abs=1e-10)  # refused where A v ≠ 0
    # The penny heads along x: δy must be zero, and is so to rounding only.
    start = da.library.penny().at()
    move = start.possible([1, 0, 0, 0]) - start.possible([0, 1, 2, 3])
    assert 0 <= abs(move[1]) < 1e-15
    assert start.virtual_work(move).done == pytest.approx(0, abs=1e-12)
    with pytest.raises(da.ModelError, match="'roll y'"):
        start.virtual_work(move + np.array([0, 1e-10, 0, 0]))


def test_homogeneous_constraints_obey_eulers_theorem():
    """(9): (∂g/∂q̇_j) q̇_j = p g, so that on g = 0 the velocities are displacements, (10), and forces do no work."""
    now = body("homogeneous").at()
    assert body("homogeneous").classify().constraints[0].degree == 2
    assert now.virtual_work(now.v).done == pytest.approx(0, abs=1e-10)
    with pytest.raises(da.ModelError, match="no virtual displacement"):
        body("general").at().virtual_work(body("general").at().v)


def test_benenti_is_free():
    """(8): quadratic, not integrable, and λ₁ = 0."""
    rods = da.library.benenti_rods()
    kind = rods.classify().constraints[0]
    assert (kind.dependence, kind.degree, kind.integrable) == ("homogeneous", 2, False)
    motion = rods.simulate(2.0)
    np.testing.assert_allclose(motion.multipliers, 0, atol=1e-12)
    np.testing.assert_allclose(motion.a, 0, atol=1e-12)


# -- the penny


def test_lagrangian_as_printed():
    """(53) with I₂ = βMR² and I₃ = I₂/2, as for a thin body."""
    penny = da.library.penny()
    printed = m * (x.d**2 + y.d**2) / 2 + beta * m * R**2 * psi.d**2 / 2
    printed += beta * m * R**2 / 2 * phi.d**2 / 2 + m * g * x * sin(alpha)
    assert sp.simplify(penny.kinetic - penny.potential - printed) == 0
    first, second = (c.expression for c in penny.constraints)
    assert sp.simplify(first - (x.d - R * psi.d * cos(phi))) == 0  # (55a)
    assert sp.simplify(second - (y.d - R * psi.d * sin(phi))) == 0  # (55b)


ROLLING = x.d * cos(phi) + y.d * sin(phi) - R * psi.d  # (56a)
EDGE = x.d * sin(phi) - y.d * cos(phi)  # (56b)
FORMS = {
    "along rotating axes (56)": {"g1": ROLLING, "g2": EDGE},
    "accelerations (57)": {
        "g1": x.dd * cos(phi) + y.dd * sin(phi) - R * psi.dd,
        "g2": y.dd * cos(phi) - x.dd * sin(phi) - R * psi.d * phi.d,
    },
    "one of each": {"g1": x.dd * cos(phi) + y.dd * sin(phi) - R * psi.dd, "g2": EDGE},
    "quadratic (58)": {"speed": x.d**2 + y.d**2 - R**2 * psi.d**2, "g2": EDGE},
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_the_constraints_gives_the_same_motion(name: str):
    """(56), (57) or (58) in the place of (55): positions, friction and torque."""
    system = da.library.penny()
    motion = system.replace(constraints=FORMS[name]).simulate(6.0, rtol=1e-11, samples=61)
    exact = da.library.exact("penny")(system, motion.t)
    for key in ("x", "y", "psi", "phi", "F_i", "F_j", "N_a"):
        # constraints on accelerations are not returned to, so that their drift adds to rtol
        np.testing.assert_allclose(motion[key], exact[key], atol=1e-6, err_msg=key)


def test_derivatives_of_the_constraints_as_printed():
    """(57a) is ġ₁ on g₂ = 0; (57b) is −ġ₂, the acceleration of the point of contact along ĵ."""
    rates = [sum(e.diff(q) * q.d + e.diff(q.d) * q.dd for q in (x, y, psi, phi)) for e in (ROLLING, EDGE)]
    printed = list(FORMS["accelerations (57)"].values())
    assert sp.expand(rates[0] - printed[0] + phi.d * EDGE) == 0
    on_rolling = (rates[1] + printed[1]).subs(x.d, (R * psi.d - y.d * sin(phi)) / cos(phi))
    assert sp.simplify(on_rolling) == 0


def test_equations_of_state_as_printed_in_77():
    """(77): M ẍ = Mg sin α + 2λ₁ẋ + λ₂ sin φ, M ÿ = 2λ₁ẏ − λ₂ cos φ, I₂ψ̈ = −2λ₁R²ψ̇, I₃φ̈ = 0."""
    l1, l2 = lambda_of(0), lambda_of(1)
    lines = da.library.quadratic_penny().equations("lagrange").sections[0].lines
    printed = [
        m * x.dd - (m * g * sin(alpha) + 2 * l1 * x.d + l2 * sin(phi)),
        m * y.dd - (2 * l1 * y.d - l2 * cos(phi)),
        beta * m * R**2 * psi.dd + 2 * l1 * R**2 * psi.d,
        beta * m * R**2 / 2 * phi.dd,
    ]
    for line, hand in zip(lines, printed, strict=True):
        assert sp.simplify(line.left - sp.Add(*(term for _, term in line.terms)) - hand) == 0


def test_multipliers_of_77_are_the_friction():
    """F_i = 2λ₁v and F_j = −λ₂; N_j = −R F_i. In print the first has ẋ for v, the last F_j for F_i without its sign."""
    motion = da.library.quadratic_penny().simulate(6.0, rtol=1e-10)
    np.testing.assert_allclose(2 * motion["multiplier speed"] * motion["v"], motion["F_i"], atol=1e-9)
    np.testing.assert_allclose(-motion["multiplier knife edge"], motion["F_j"], atol=1e-9)
    np.testing.assert_allclose(motion["ideal psi"], -motion["F_i"], atol=1e-9)  # R = 1
    assert np.abs(2 * motion["multiplier speed"] * motion["x'"] - motion["F_i"]).max() > 0.1


def test_virtual_work_of_78_is_zero():
    now = da.library.quadratic_penny().at({"phi": 0.4, "x'": 2 * np.cos(0.4), "y'": 2 * np.sin(0.4), "psi'": 2.0})
    l1, l2 = now.multipliers
    for dx, dy, dpsi, dphi in now.virtual_displacements.T:
        first = 2 * l1 * (now.v[0] * dx + now.v[1] * dy - now.v[2] * dpsi)
        second = l2 * (np.sin(0.4) * dx - np.cos(0.4) * dy)
        assert first + second == pytest.approx(0, abs=1e-12)
        assert now.virtual_work([dx, dy, dpsi, dphi]).done == pytest.approx(first + second, abs=1e-12)


def test_embedded_equations_as_printed():
    """(59), (60) and (62): with δx = R cos φ δψ, δy = R sin φ δψ what is left is (1 + β)Rψ̈ = g sin α cos φ, I₃φ̈ = 0."""
    penny = da.library.penny()
    L = penny.kinetic - penny.potential
    Lx, Ly, Lpsi, Lphi = (
        sum(L.diff(q.d).diff(s) * s.d + L.diff(q.d).diff(s.d) * s.dd for s in penny.coordinates) - L.diff(q)
        for q in penny.coordinates
    )
    on_them = {
        x.dd: R * psi.dd * cos(phi) - R * psi.d * phi.d * sin(phi),
        y.dd: R * psi.dd * sin(phi) + R * psi.d * phi.d * cos(phi),
    }
    first = (R * cos(phi) * Lx + R * sin(phi) * Ly + Lpsi).subs(on_them)  # (60)
    assert sp.simplify(first / (m * R) - ((1 + beta) * R * psi.dd - g * sin(alpha) * cos(phi))) == 0
    assert sp.simplify(Lphi - beta * m * R**2 / 2 * phi.dd) == 0  # (62b) with I₃
    # Maggi's equations on the same displacements, as the package finds them
    lines = penny.equations("kane", quasi_velocities={"u": psi.d, "w": phi.d}).sections
    text = "\n".join(line.text() for section in lines for line in section.lines)
    assert "g*m*sin(alpha)*cos(phi)" in text.replace("R*", "")
    now = penny.at({"phi": 0.3, "x'": 2 * np.cos(0.3), "y'": 2 * np.sin(0.3), "psi'": 2.0})
    assert now.acceleration[2] == pytest.approx(9.81 * np.sin(0.3) * np.cos(0.3) / 1.5, rel=1e-12)


def test_friction_needed_to_roll():
    """The paper's β/(1+β) tan α is what F_i needs; F_j needs more. At rest downhill, F_j = 0, and they agree."""
    estimate = 0.5 / 1.5 * tan(0.3)
    slow = da.library.penny(ratio=0).simulate()
    assert slow["mu needed"][0] == pytest.approx(estimate, rel=1e-12)
    assert slow["mu needed"].max() > 3 * estimate
    fast = da.library.penny(ratio=6).simulate()
    by_hand = np.hypot(fast["F_i"], fast["F_j"]) / (9.81 * np.cos(0.3))
    np.testing.assert_allclose(fast["mu needed"], by_hand, rtol=1e-12)
    assert fast["mu needed"].max() > 7 * estimate
    straight = da.library.penny(omega=0, v0=0.0, alpha=atan(1.0)).simulate(1.0)
    np.testing.assert_allclose(straight["mu needed"], 0.5 / 1.5, rtol=1e-9)  # no F_j: the estimate is exact


def test_the_hill_keeps_the_speed_of_a_cruise_control():
    """The paper's first example of a nonlinear constraint: a car whose speed is kept on a road of varying slope."""
    car = da.System(
        "cruise control", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"road": y - sin(x) / 3, "speed": x.d**2 + y.d**2 - 4}, parameters={m: 900, g: 9.81},
        initial={x: 0, y: 0, x.d: 6 / np.sqrt(10), y.d: 2 / np.sqrt(10)},
    )  # fmt: skip
    motion = car.simulate(5.0)
    np.testing.assert_allclose(motion.trace("x", "y").speed, 2.0, rtol=1e-8)
    # the engine's power against the hill: constraint forces of "speed" do the work of gravity
    assert motion["work ideal"][-1] == pytest.approx(900 * 9.81 * motion["y"][-1], rel=1e-6)
    assert [k.dependence for k in car.classify().constraints] == ["linear", "nonlinear"]


def test_displaced_states_at_a_state_where_every_term_is_zero():
    """A path of given curvature, moved along itself, keeps it: commuting displacements are possible. At this start each
    product in Δh is zero by itself, so that only lengths tell how small the sum is.
    """
    bend = da.System(
        "bend", coordinates="x y", kinetic="(x'^2 + y'^2)/2",
        constraints={"bend": "x'*y'' - x''*y' = (x'^2 + y'^2)^(3/2)/2"},
        initial={"x": 0, "y": 0, "x'": 3, "y'": 0},
    )  # fmt: skip
    assert bend.displacements()["bend"].possible
    # an ideal force across the path: a circle of radius 2 with constant speed
    motion = bend.simulate(2.0, samples=21)
    np.testing.assert_allclose(motion["x"], 2 * np.sin(1.5 * motion.t), atol=1e-7)
    np.testing.assert_allclose(motion.trace("x", "y").radius, 2, rtol=1e-12)


@pytest.mark.parametrize("start", [{"x": 1, "y": 0, "x'": 1, "y'": 0}, {"x": 1, "y": 0.5, "x'": 0, "y'": 0}])
def test_random_states_keep_away_from_the_tip_of_a_constraint(start):
    """y ẋ − x ẏ = 0 is y/x = constant, integrable, and has no gradient at x = y = 0, which is no state to judge by."""
    ray = da.System("ray", coordinates="x y", kinetic="(x'^2 + y'^2)/2",
                    constraints={"ray": "y*x' - x*y'"}, initial=start)  # fmt: skip
    assert ray.displacements().possible
