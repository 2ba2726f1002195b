"""Stationary action: hand-derived accelerations and forces, its equations, and where it says nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from latex_document import compiles

import dalembert as da
from dalembert.mechanics.principles import action
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form

x, y, r, theta = da.coordinates("x y r theta")
m, g, l, k, a, Omega = da.parameters("m g l k a Omega")


def answer(system: da.System, q: list[float], v: list[float], time: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    sampler = Sampler(standard_form(system))
    state = Sample(np.array(q), np.array(v), time, sampler.p)
    found = action.prepare(system, sampler)(state, np.zeros(len(q)))
    return found.acceleration, found.force


def test_kepler_in_polar_coordinates():
    """r̈ = r θ̇² − k/r², θ̈ = −2 ṙ θ̇/r."""
    system = da.System(
        "planet",
        coordinates=[r, theta],
        lagrangian=m * (r.d**2 + r**2 * theta.d**2) / 2 + k * m / r,
        parameters={m: 2.5, k: 3.0},
    )
    found, force = answer(system, [1.3, 0.4], [0.2, 0.9])
    np.testing.assert_allclose(found, [1.3 * 0.81 - 3 / 1.69, -2 * 0.2 * 0.9 / 1.3], rtol=1e-10)
    assert not force.any()


def test_pendulum_on_a_rod():
    """Twice differentiated, x² + y² = l² gives 2λ l² = m g y − m v²; the force is 2λ (x, y)."""
    system = da.System(
        "pendulum",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=m * g * y,
        constraints={"rod": x**2 + y**2 - l**2},
        parameters={m: 2, g: 9.81, l: 1.5},
    )
    angle, spin = 0.7, 1.9
    place = 1.5 * np.array([np.sin(angle), -np.cos(angle)])
    speed = 1.5 * spin * np.array([np.cos(angle), np.sin(angle)])
    found, force = answer(system, list(place), list(speed))
    twice = (2 * 9.81 * place[1] - 2 * speed @ speed) / 1.5**2
    np.testing.assert_allclose(force, twice * place, rtol=1e-10)
    np.testing.assert_allclose(found, twice * place / 2 - [0, 9.81], rtol=1e-10)


def test_bead_on_a_wire_that_turns():
    """Rheonomic, L in one coordinate with time in it: r̈ = Ω² r + 0.4 t/m, the force from the potential −0.4 t r."""
    system = da.System(
        "bead",
        coordinates=[r],
        lagrangian=m * (r.d**2 + Omega**2 * r**2) / 2 + sp.Rational(2, 5) * da.t * r,
        parameters={m: 0.5, Omega: 3},
    )
    found, _ = answer(system, [0.2], [-0.3], 1.7)
    np.testing.assert_allclose(found, [9 * 0.2 + 0.4 * 1.7 / 0.5], rtol=1e-10)


def test_forces_without_a_potential_enter_by_their_virtual_work():
    system = da.System(
        "damped", coordinates=[x], kinetic=m * x.d**2 / 2, potential=k * x**2 / 2, forces={x: -a * x.d**3},
        parameters={m: 2, k: 5, a: 0.7},
    )  # fmt: skip
    found, _ = answer(system, [0.3], [1.1])
    np.testing.assert_allclose(found, [(-5 * 0.3 - 0.7 * 1.1**3) / 2], rtol=1e-10)
    assert "Q" in system.equations("action").text()


def test_a_lagrangian_that_is_no_difference_of_energies():
    """A relativistic oscillator, L = −m√(1 − ẋ²) − kx²/2: ẍ = −(k x/m)(1 − ẋ²)^(3/2)."""
    system = da.System(
        "fast", coordinates=[x], lagrangian=-m * sp.sqrt(1 - x.d**2) - k * x**2 / 2, parameters={m: 1.5, k: 4}
    )
    found, _ = answer(system, [0.2], [0.6])
    np.testing.assert_allclose(found, [-4 * 0.2 / 1.5 * 0.8**3], rtol=1e-10)


def test_free_motion_is_exactly_straight():
    system = da.System("free", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, parameters={m: 3})
    found, _ = answer(system, [1.0, 2.0], [0.3, -0.7])
    assert not found.any()


def test_equations_read_as_in_a_textbook():
    text = da.library.pendulum().equations("action").text()
    assert "S = Integral(-g*m*y + m*(x'**2 + y'**2)/2 + lambda_1*(-l**2 + x**2 + y**2), (t, t_1, t_2))" in text
    assert "dS/dy = (-g*m) + (-d/dt(m*y')) + 2*lambda_1*y" in text
    assert "m*x'' = 2*lambda_1*x" in text
    assert "[rod]" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path: Path):
    damped = da.library.pendulum().replace(forces={x: "-x'"})
    assert compiles(damped.equations("action").latex(), tmp_path)


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (da.library.penny(), "not a constraint on positions: roll x, roll y"),
        (da.library.prescribed_acceleration(), "not a constraint on positions: size"),
        (da.library.incline_block(), "the constraints do work"),
        (da.System("given", coordinates=[x], mass=[[1 + x**2]], forces={x: 1}), "no Lagrangian where M depends"),
        (
            da.System(
                "rough", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, constraints={"floor": y},
                nonideal=[da.Coulomb("floor", mu=0.3)],
            ),
            "dry friction",
        ),
    ],
)  # fmt: skip
def test_why_not(system: da.System, reason: str):
    assert reason in action.applies(system)
    # Friction is shown sliding, and does work.
    shown = "the constraints do work" if reason == "dry friction" else reason.split(":")[0]
    with pytest.raises(da.DoesNotApply, match=shown):
        system.equations("action")


def random_system(seed: int, n: int, constraints: int) -> da.System:
    """Kinetic energy with a positive matrix that depends on q, a bounded potential, quadrics for constraints."""
    draw = np.random.default_rng(seed)
    q = da.coordinates(" ".join(f"q{i}" for i in range(n)))

    def number(low: float, high: float) -> sp.Rational:
        return sp.Rational(int(1000 * draw.uniform(low, high)), 1000)

    rows = [sum(number(-1, 1) * u.d for u in q) + number(-0.4, 0.4) * sp.sin(q[i]) * q[i - 1].d for i in range(n)]
    T = sum(row**2 for row in rows) / 2 + sum(number(0.5, 2) * u.d**2 for u in q) / 2
    V = sum(number(-2, 2) * sp.cos(u + number(-1, 1)) for u in q) + number(-1, 1) * q[0] * q[-1]
    place = [number(-1, 1) for _ in q]
    found = {}
    for index in range(constraints):
        f = sum(number(0.3, 1) * (u - number(-2, 2)) ** 2 for u in q) + number(-1, 1) * sp.sin(da.t + q[0])
        found[f"c{index}"] = f - f.xreplace({**dict(zip(q, place, strict=True)), da.t: sp.S.Zero})
    start = {u.name: p for u, p in zip(q, place, strict=True)} | {f"{u.name}'": number(-1, 1) for u in q}
    system = da.System("random", coordinates=q, kinetic=T, potential=V, constraints=found, initial=start)
    return system.replace(initial={s.name: value for s, value in system.consistent().items()})


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3), constraints=st.integers(0, 2))
def test_random_systems_agree(seed: int, n: int, constraints: int):
    system = random_system(seed, n, min(constraints, n - 1))
    found = system.compare(["action"], states=1)
    assert found["action"].applies, found["action"].reason
    assert found.agree, str(found)


# -- whatever the scale of time


def on_a_circle(radius: float, speed: float, potential: sp.Expr | None = None) -> da.System:
    return da.System(
        "circle", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=potential,
        constraints={"wire": x**2 + y**2 - l**2}, parameters={l: radius},
        initial={x: radius, y: 0, x.d: 0, y.d: speed},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("radius", "speed"),
    [(100, 1), (300, 1), (1000, 1), (100, 0.1), (1.5e11, 3e4), (1e-6, 1.0), (1e-6, 1e-9), (1.0, 1e-12)],
)
def test_slow_motion_without_forces(radius: float, speed: float):
    """The force v²/R towards the centre, however long the motion takes to go round."""
    system = on_a_circle(radius, speed)
    found, force = answer(system, [radius, 0], [0, speed])
    np.testing.assert_allclose(found, [-(speed**2) / radius, 0], rtol=1e-11, atol=1e-11 * speed**2 / radius)
    np.testing.assert_allclose(force, found, rtol=1e-11, atol=1e-11 * speed**2 / radius)
    assert system.compare(["action"]).agree


@pytest.mark.parametrize("strength", [9.81, 1e-3, 1e-8])
def test_slow_motion_with_a_potential(strength: float):
    assert on_a_circle(1.5e11, 3e4, strength * y).compare(["action"]).agree


@pytest.mark.parametrize(("centre", "radius"), [(1e3, 1.0), (-1000.0, 1000.0), (0.01, 1e-4)])
def test_circles_about_other_points(centre: float, radius: float):
    """The distance to the origin says nothing of the time that the motion takes, nor of the rounding of φ."""
    system = da.System(
        "circle", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"wire": (x - a) ** 2 + y**2 - l**2}, parameters={l: radius, a: centre},
    )  # fmt: skip
    found, _ = answer(system, [centre + radius, 0], [0, 1])
    np.testing.assert_allclose(found[0], -1 / radius, rtol=1e-9)


def test_silent_where_rounding_leaves_too_little():
    """A circle of radius 1 at x = 10⁸: rounding of x is 1e-8 of it."""
    system = da.System(
        "circle", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"wire": (x - a) ** 2 + y**2 - 1}, parameters={a: 1e8},
    )  # fmt: skip
    with pytest.raises(NotHere, match="rounding leaves it known to"):
        answer(system, [1e8 + 1, 0], [0, 1])


@pytest.mark.parametrize("extra", [3 * (x * y.d + y * x.d), x * x.d, 1e6 * x.d, sp.cos(x * y) * (x * y.d + y * x.d)])
def test_a_total_derivative_changes_nothing(extra: sp.Expr):
    system = da.System("free", coordinates=[x, y], lagrangian=m * (x.d**2 + y.d**2) / 2 + extra, parameters={m: 1.5})
    for v in ([0.3, -1.5], [0.123, 1.7], [0.0, 0.0]):
        found, force = answer(system, [0.3, 0.7], v)
        np.testing.assert_allclose(found, 0, atol=1e-14)
        assert not force.any()


@pytest.mark.filterwarnings("error")
def test_drift_of_a_charge():
    """At the velocity −E/B across both fields the charge goes straight."""
    L = (x.d**2 + y.d**2) / 2 + k * (x * y.d - y * x.d) / 2 + a * x
    system = da.System("drift", coordinates=[x, y], lagrangian=L, parameters={k: 2.3, a: 0.7})
    found, _ = answer(system, [0.4, 1.1], [0, -0.7 / 2.3])
    np.testing.assert_allclose(found, 0, atol=1e-14)
    found, _ = answer(system, [0.0, 0.0], [0, -0.7 / 2.3])
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_nothing_left_to_move():
    """Held by as many constraints as coordinates, at rest: the constant path, and the force that carries the weight."""
    parts = {"coordinates": [x, y], "kinetic": (x.d**2 + y.d**2) / 2, "potential": 9.81 * y}
    for rows in ({"a": x, "b": y}, {"a": x**2 + y**2 - 1, "b": y - x}):
        system = da.System("held", constraints=rows, **parts)
        found = system.compare(["action"])
        assert found["action"].applies, found["action"].reason
        assert found.agree, str(found)


@pytest.mark.parametrize("ratio", [1e9, 1e12, 1e-9, 1e-15])
def test_a_light_weight_on_a_heavy_cart(ratio: float):
    system = da.System(
        "cart", coordinates=[r, x, y], kinetic=a * r.d**2 / 2 + m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"rod": (x - r) ** 2 + y**2 - 1}, parameters={a: 1e-3 * ratio, m: 1e-3, g: 9.81},
        initial={r: 0, x: 0.6, y: -0.8, r.d: 0.1, x.d: 0.9, y.d: 0.6},
    )  # fmt: skip
    found = system.compare(["action"])
    assert found["action"].applies, found["action"].reason
    assert found.agree, str(found)
    hidden = system.replace(parameters={a: 1e14}).compare(["action"])  # rounding of its momentum hides the weight
    assert hidden.agree, str(hidden)


@pytest.mark.parametrize(("place", "speed"), [(1.0, 0.0), (1.0, 0.7), (0.0, 0.7)])
def test_equilibrium(place: float, speed: float):
    system = da.System("wells", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=(x**2 - 1) ** 2)
    found, force = answer(system, [place, 0.3], [0, speed])
    assert not found.any()
    assert not force.any()


def test_a_chain_of_ten_rods():
    """Twenty Cartesian coordinates, ten rods, from a curved shape in motion."""
    xs = da.coordinates(" ".join(f"x{k}" for k in range(10)))
    ys = da.coordinates(" ".join(f"y{k}" for k in range(10)))
    ends = [(sp.S.Zero, sp.S.Zero), *zip(xs, ys, strict=True)]
    rods = {f"rod {k}": (ends[k + 1][0] - p) ** 2 + (ends[k + 1][1] - q) ** 2 - 1 for k, (p, q) in enumerate(ends[:-1])}
    turn, spin = np.linspace(0.3, 2, 10), np.linspace(1, -1, 10)
    start = dict(zip(xs, np.cumsum(np.sin(turn)), strict=True)) | dict(zip(ys, -np.cumsum(np.cos(turn)), strict=True))
    start |= {u.d: v for u, v in zip(xs, np.cumsum(spin * np.cos(turn)), strict=True)}
    start |= {u.d: v for u, v in zip(ys, np.cumsum(spin * np.sin(turn)), strict=True)}
    system = da.System(
        "chain", coordinates=[*xs, *ys], kinetic=sum(u.d**2 for u in (*xs, *ys)) / 2, potential=9.81 * sum(ys),
        constraints=rods, initial=start,
    )  # fmt: skip
    assert system.compare(["action"], states=1).agree
