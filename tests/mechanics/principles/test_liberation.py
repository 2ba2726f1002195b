"""Liberation (Đukić 2012) as a principle: printed and hand-derived reactions, agreement at random, why not."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.mechanics.principles import liberation
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form


def numbers(system: da.System, q: list[float], v: list[float], t: float = 0.0):
    sampler = Sampler(standard_form(system))
    solve = liberation.prepare(system, sampler)
    return solve(Sample(np.array(q), np.array(v), t, sampler.p), np.zeros(len(q)))


def lines(system: da.System, title: str) -> dict[str, sp.Expr]:
    section = next(s for s in system.equations("liberation").sections if s.title.startswith(title))
    return {str(line.left): sp.Add(*(term for _, term in line.terms)) for line in section.lines}


def test_particle_on_a_sphere_as_printed():
    """Example 1: R = m(gz − v²)/r² r⃗."""
    system = da.library.sphere_particle()
    x, y, z = system.coordinates
    m, g = da.parameters("m g")
    found = lines(system, "reactions")
    for q in (x, y, z):
        printed = m * (g * z - x.d**2 - y.d**2 - z.d**2) / (x**2 + y**2 + z**2) * q
        assert sp.simplify(found[f"R_{q.name}"] - printed) == 0


def test_two_hinged_rods_as_printed():
    """(8.9), from E_k with the supplementary coordinates of the joints; the virtual work above it in the paper should
    have −m g (l/2) sin ψ δψ, which enters the tangential equations only.
    """
    system = da.library.hinged_rods()
    phi, psi = da.coordinates("phi psi")
    m, l, g = da.parameters("m l g")

    def d(expression):
        return sum(sp.diff(expression, q) * q.d + sp.diff(expression, q.d) * q.dd for q in (phi, psi))

    lower_x = d(m * l * (phi.d * sp.cos(phi) + psi.d / 2 * sp.cos(psi)))
    lower_y = d(m * l * (phi.d * sp.sin(phi) + psi.d / 2 * sp.sin(psi)))
    printed = {
        "R_x1": d(m * l / 2 * phi.d * sp.cos(phi)) + lower_x,
        "R_y1": -2 * m * g - d(m * l / 2 * phi.d * sp.sin(phi)) - lower_y,
        "R_x2": lower_x,
        "R_y2": -m * g - lower_y,
    }
    found = lines(system, "normal")
    assert set(found) == set(printed)
    for name, expression in printed.items():
        assert sp.simplify(found[name] - expression) == 0
    rest = system.equations("liberation").sections[-1]
    tangential = [line.terms[0][1] for line in rest.lines if line.left == 0]
    assert {sp.simplify(e) for e in tangential} == {-m * g * 3 * l / 2 * sp.sin(phi), -m * g * l / 2 * sp.sin(psi)}
    still = {str(line.left): line.terms[0][1] for line in rest.lines if line.left != 0}
    assert still == {"R_x1": 0, "R_y1": -2 * m * g, "R_x2": 0, "R_y2": -m * g}


def test_atwood_machine_by_hand():
    """Two weights over a pulley, y1 + y2 = c: a = g (m1 − m2)/(m1 + m2) downwards, tension 2 m1 m2 g/(m1 + m2).

    The masses differ, so that b⁻¹ with the plain metric is not the multiplier's metric.
    """
    system = da.System(
        "Atwood", coordinates="y1 y2", kinetic="m1*y1'^2/2 + m2*y2'^2/2", potential="m1*g*y1 + m2*g*y2",
        constraints={"rope": "3*(y1 + y2 + 2)"}, parameters={"m1": 3, "m2": 1, "g": 10},
    )  # fmt: skip
    found = numbers(system, [-1, -1], [0.5, -0.5])
    assert found.acceleration == pytest.approx([-5, 5], rel=1e-14)
    assert found.force == pytest.approx([15, 15], rel=1e-14)


def test_rheonomic_bead_by_hand():
    """A bead on a line that turns at the rate w, x sin wt = y cos wt: r̈ = w² r and the line pushes with 2 m w ṙ."""
    system = da.System(
        "turning line", coordinates="x y", kinetic="m*(x'^2 + y'^2)/2",
        constraints={"line": "x*sin(w*t) - y*cos(w*t)"}, parameters={"m": 2, "w": 3},
    )  # fmt: skip
    t, r, rate = 0.4, 0.7, -0.3
    c, s = np.cos(3 * t), np.sin(3 * t)
    found = numbers(system, [r * c, r * s], [rate * c - r * 3 * s, rate * s + r * 3 * c], t)
    push = 2 * 2 * 3 * rate
    assert found.force == pytest.approx([-push * s, push * c], rel=1e-12)


def test_a_lagrangian_with_a_magnetic_field():
    """L holds a term linear in the velocities: it counts as an applied force."""
    x, y = da.coordinates("x y")
    system = da.System(
        "charge on a wire", coordinates=[x, y], lagrangian=(x.d**2 + y.d**2) / 2 + (x * y.d - y * x.d) / 2 - y,
        constraints={"wire": y - x**2}, initial={x: 0.5, y: 0.25, x.d: 1, y.d: 1},
    )  # fmt: skip
    assert system.compare(["liberation"]).agree
    assert system.compare(["liberation"])["liberation"].applies


@settings(max_examples=25, deadline=None)
@given(
    masses=st.lists(st.floats(0.2, 5), min_size=4, max_size=4),
    c=st.lists(st.floats(-1, 1), min_size=8, max_size=8),
    q=st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    repeat=st.booleans(),
    moving=st.booleans(),
)
def test_agrees_on_random_particles(masses, c, q, repeat, moving):
    x = da.coordinates("x y z w")
    curve = sum((ci * xi**2 for ci, xi in zip(c, x, strict=False)), sp.S.Zero) + 3 * x[0] + x[1] * x[2]
    line = x[3] + sum((ci * xi for ci, xi in zip(c[4:], x[:3], strict=False)), sp.S.Zero)
    line = line + (sp.sin(da.t) if moving else 0)
    start = dict(zip(x, q, strict=True))
    rows = {"curve": curve - curve.subs(start), "line": line - line.subs({**start, da.t: 0})}
    rows |= {"line again": 2 * rows["line"]} if repeat else {}
    kinetic = sum(m * xi.d**2 / 2 for m, xi in zip(masses, x, strict=True))
    potential = sp.cos(x[0]) * x[1] + x[2] ** 2 * x[3]
    system = da.System(
        "random", coordinates=x, kinetic=kinetic, potential=potential, constraints=rows,
        forces={x[1]: -x[1].d + x[0]},
    )  # fmt: skip
    found = system.compare(["liberation"], states=2)
    assert found["liberation"].applies
    assert found.agree, str(found)


@settings(max_examples=10, deadline=None)
@given(c=st.lists(st.floats(-0.4, 0.4), min_size=6, max_size=6), a=st.floats(-1, 1))
def test_agrees_where_coordinates_are_held(c, a):
    """Generalized coordinates with coupled inertia, two of them held, one by a function of time."""
    x = da.coordinates("x y z w")
    root = [2 * x[0].d + c[0] * x[1].d + c[1] * x[3].d, x[1].d * sp.cos(c[2] * x[0]) + x[2].d]
    root += [1.5 * x[2].d + c[3] * x[0] * x[3].d, x[3].d + c[4] * x[0].d]
    system = da.System(
        "random", coordinates=x, kinetic=sum(u**2 for u in root) / 2, potential=x[0] ** 2 * x[2] + c[5] * x[3],
        constraints={"one": 2 * x[1] - a, "two": x[3] - sp.sin(da.t) / 3},
    )  # fmt: skip
    found = system.compare(["liberation"], states=2)
    assert found["liberation"].applies
    assert found.agree, str(found)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"constraints": {"knife": "x' - y'"}}, "not a constraint on positions: knife"),
        ({"constraints": {}}, "no constraint to free"),
        ({"kinetic": "x'^2 + y'^2 + x'*y'"}, "couples x and y"),
        ({"kinetic": "x'^2 + (1 + x^2)*y'^2"}, "the inertia of y varies"),
    ],
)
def test_why_not(changes, reason):
    parts = {"coordinates": "x y", "kinetic": "x'^2 + y'^2", "constraints": {"rod": "x^2 + y^2 - 1"}, **changes}
    system = da.System("s", **parts)
    assert reason in liberation.applies(system)
    with pytest.raises(da.DoesNotApply):
        system.equations("liberation")


@pytest.mark.parametrize("ratio", [1e9, 1e12, 1e20, 1e-9, 1e-15])
def test_masses_of_any_ratio(ratio):
    """A weight on a rod below a cart, much lighter or heavier than the weight."""
    system = da.System(
        "cart", coordinates="X x y", kinetic="M*X'^2/2 + m*(x'^2 + y'^2)/2", potential="m*g*y",
        constraints={"rod": "(x - X)^2 + y^2 - 1"}, parameters={"M": 1e-3 * ratio, "m": 1e-3, "g": 9.81},
        initial={"X": 0, "x": 0.6, "y": -0.8, "X'": 0.1, "x'": 0.9, "y'": 0.6},
    )  # fmt: skip
    row = system.compare(["liberation"])["liberation"]
    assert row.applies
    assert max(row.acceleration_difference, row.force_difference) < 1e-13
