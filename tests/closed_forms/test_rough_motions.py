"""Rough motions against closed forms and against integrations of equations derived by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.build import find_compiler

G = 9.81
BACKENDS = [
    "reference",
    pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no compiler")),
]
# The tolerance of the motions is 1e-9: ten of them, and a hundred where events on interpolants carry them on.
NEAR, CLOSE = 1e-8, 1e-7


def told(motion: da.Motion) -> list[tuple[str, str | None]]:
    return [(event["name"], event.get("contact")) for event in motion.events]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["viscous", "quadratic"])
def test_a_film_alone(backend, kind):
    """From rest down an incline: v = V(1 − exp(−ct/m)) with V = mg sin θ/c, or v = V tanh(g sin θ t/V) with V² in place
    of V.
    """
    m, c, theta = 2.0, 1.5, 0.4
    law = {"viscous": da.Viscous, "quadratic": da.Quadratic}[kind]
    system = da.System(
        "film",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints={"plane": "y + x*tan(theta)"},
        nonideal=[law("plane", "c")],
        parameters={"m": m, "g": G, "c": c, "theta": theta},
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )
    motion = system.simulate(4, backend=backend, samples=9)
    pull, t = G * np.sin(theta), motion.t
    if kind == "viscous":
        speed = m * pull / c * (1 - np.exp(-c * t / m))
        way = m * pull / c * (t - m / c * (1 - np.exp(-c * t / m)))
    else:
        limit = np.sqrt(m * pull / c)
        speed, way = limit * np.tanh(pull * t / limit), limit**2 / pull * np.log(np.cosh(pull * t / limit))
    np.testing.assert_allclose(motion["x'"], speed * np.cos(theta), atol=NEAR)
    np.testing.assert_allclose(motion["y"], -way * np.sin(theta), atol=NEAR)
    assert not motion.events
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_block_slides_off_a_table(backend):
    """Beyond its edge the top falls off as a parabola steeper than that of the flight: the block leaves at the edge."""
    mu, length, speed = 0.3, 1.0, 4.0
    system = da.System(
        "table",
        coordinates="x z",
        kinetic="m*(x'^2 + z'^2)/2",
        potential="m*g*z",
        constraints=[da.Constraint("top", "z + 2*(x - L + abs(x - L))^2", one_sided=True)],
        nonideal=[da.Coulomb("top", mu="mu")],
        parameters={"m": 1, "g": G, "mu": mu, "L": length},
        initial={"x": 0, "z": 0, "x'": speed, "z'": 0},
    )
    motion = system.simulate(1, backend=backend, samples=21)
    left = np.sqrt(speed**2 - 2 * mu * G * length)
    edge = (speed - left) / (mu * G)
    assert told(motion) == [("release", "top")]
    assert motion.events[0]["t"] == pytest.approx(edge, rel=CLOSE)
    assert motion["x"][-1] == pytest.approx(length + left * (1 - edge), rel=CLOSE)
    assert motion["z"][-1] == pytest.approx(-G * (1 - edge) ** 2 / 2, rel=CLOSE)
    assert motion["x'"][-1] == pytest.approx(left, rel=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_puck_on_a_plate_that_turns_ever_faster(backend):
    """It rides along until √(r²ω⁴ + r²α²) = μ_s g, ω = αt; then −μg along its velocity on the plate drags it."""
    mu, mu_s, alpha, r = 0.2, 0.4, 1.5, 0.5
    system = da.System(
        "plate",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"plate": "z"},
        nonideal=[
            da.Coulomb(
                "plate",
                mu="mu",
                mu_static="mu_s",
                point=["x*cos(c*t^2/2) + y*sin(c*t^2/2)", "-x*sin(c*t^2/2) + y*cos(c*t^2/2)", "z"],
            )
        ],
        parameters={"m": 1, "g": G, "mu": mu, "mu_s": mu_s, "c": alpha},
        initial={"x": r, "y": 0, "z": 0, "x'": 0, "y'": 0, "z'": 0},
    )
    slip = ((mu_s * G / r) ** 2 - alpha**2) ** 0.25 / alpha
    angle = alpha * slip**2 / 2

    def rate(t, u):
        x, y, vx, vy = u
        w = np.array([vx + alpha * t * y, vy - alpha * t * x])
        return [vx, vy, *(-mu * G * w / max(np.hypot(*w), 1e-12))]

    # Set off against the force that held it: friction then pulls the same way with μ in place of μ_s, and on the plate
    # it gains (μ_s − μ)g against it.
    held = r * np.array([-((alpha * slip) ** 2), alpha])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    early = 1e-7
    rides = np.array([0.0, alpha * slip * r])
    start = [
        *(turn @ (np.array([r, 0.0]) + early * rides)),
        *(turn @ (rides + early * mu / mu_s * held)),
    ]
    exact = solve_ivp(rate, (slip + early, slip + 0.8), start, rtol=1e-11, atol=1e-12).y[:2, -1]
    motion = system.simulate(times=[0, slip / 2, slip + 0.8], backend=backend)
    assert told(motion) == [("slip", "plate")]
    assert motion.events[0]["t"] == pytest.approx(slip, rel=CLOSE)
    half = angle / 4
    assert motion.q[1] == pytest.approx([r * np.cos(half), r * np.sin(half), 0], abs=NEAR)
    # The integration above begins 1e-7 late, with a velocity to the first order in that.
    assert motion.q[2, :2] == pytest.approx(exact, abs=1e-6)
    assert motion.certificate.holds


def falling_rod(mu: float, height: float, speed: float = 5.0) -> da.System:
    """A slender rod, tan a = 2, that falls and moves to the left, its lower end `height` above the floor."""
    a = np.arctan(2.0)
    return da.System(
        "falling rod",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*h^2/6*a'^2",
        potential="m*g*y",
        constraints=[da.Constraint("floor", "y - h*sin(a)", one_sided=True)],
        nonideal=[da.Coulomb("floor", mu="mu", point=["x - h*cos(a)", "y - h*sin(a)"])],
        parameters={"m": 1, "h": 1, "g": G, "mu": mu},
        initial={"x": 0, "y": np.sin(a) + height, "a": a, "x'": -speed, "y'": 0, "a'": 0},
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rod_lands_sliding(backend):
    """So fast that the blow does not stop it: P(1 + 3 cos a (cos a − μ sin a)) = gt, with friction μP to the right. It
    then turns with −3P(cos a − μ sin a), so fast that its end is lifted off the floor.
    """
    mu, height, speed = 1.2, 0.2, 60.0
    lands, a0 = np.sqrt(2 * height / G), np.arctan(2.0)
    lever = np.cos(a0) - mu * np.sin(a0)
    blow = G * lands / (1 + 3 * np.cos(a0) * lever)
    spin = -3 * blow * lever
    assert spin**2 * np.sin(a0) > G
    motion = falling_rod(mu, height, speed).simulate(lands * 1.01, backend=backend)
    assert motion.events[0]["t"] == pytest.approx(lands, rel=NEAR)
    state = motion.events[0]["state"]
    assert [state["a'"], state["x'"]] == pytest.approx([spin, -speed + mu * blow], rel=CLOSE)
    assert motion.contacts["floor"].state[-1] == "open"
    assert motion["a'"][-1] == pytest.approx(spin, rel=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rod_that_jams_as_it_lands_sticks(backend):
    """μ = 1.6: there 1 + 3 cos a (cos a − μ sin a) = −0.32, so that slipping drives the end into the floor, until
    friction has stopped it. Then it turns about its end, with what it had of angular momentum about that.
    """
    height, a0 = 0.2, np.arctan(2.0)
    lands = np.sqrt(2 * height / G)
    turns = 0.75 * (5 * np.sin(a0) - G * lands * np.cos(a0))
    motion = falling_rod(1.6, height).simulate(lands * 1.01, backend=backend)
    state = motion.events[0]["state"]
    assert motion.events[0]["t"] == pytest.approx(lands, rel=NEAR)
    expected = [turns, -np.sin(a0) * turns, np.cos(a0) * turns]
    assert [state["a'"], state["x'"], state["y'"]] == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("samples", [2, 40])
def test_a_ladder_gives_way(backend, samples):
    """Held by two frictions where one would do, until a pull P = t on its foot leaves no forces inside both cones: both
    are at their limit there, W(cos a + μ sin a) = (mg/2) sin a at the wall and P = μF − W at the floor, F + μW = mg.
    """
    m, length, a0 = 1.0, 2.0, 0.6
    mu, h = np.tan(0.3) + 0.1, length / 2
    system = da.System(
        "ladder",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*l^2/24*a'^2",
        potential="m*g*y",
        forces={"x": "t", "a": "t*l/2*cos(a)"},
        constraints={"wall": "x - l/2*sin(a)", "floor": "y - l/2*cos(a)"},
        nonideal=[
            da.Coulomb("wall", mu="mu", point=["x - l/2*sin(a)", "y + l/2*cos(a)"]),
            da.Coulomb("floor", mu="mu", point=["x + l/2*sin(a)", "y - l/2*cos(a)"]),
        ],
        parameters={"m": m, "l": length, "g": G, "mu": mu},
        initial={"x": np.sin(a0), "y": np.cos(a0), "a": a0, "x'": 0, "y'": 0, "a'": 0},
    )
    wall = m * G * np.sin(a0) / (2 * (np.cos(a0) + mu * np.sin(a0)))
    limit = mu * (m * G - mu * wall) - wall

    def rate(t, u):
        a, w = u
        s, c = np.sin(a), np.cos(a)
        unknown = [
            [m * h * c, -1, mu],
            [-m * h * s, -mu, -1],
            [m * length**2 / 12, h * c + mu * h * s, mu * h * c - h * s],
        ]
        known = [m * h * s * w**2 + t, -m * G + m * h * c * w**2, t * h * c]
        return [w, np.linalg.solve(unknown, known)[0]]

    exact = solve_ivp(rate, (limit, 1.3), [a0, 0.0], rtol=1e-11, atol=1e-12).y[:, -1]
    motion = system.simulate(1.3, samples=samples, backend=backend)
    assert told(motion) == [("slip", "wall"), ("slip", "floor")]
    # Forces count as inside the cones to 1e-9 of their size in a linear programme that is solved to 1e-7.
    assert motion.events[0]["t"] == pytest.approx(limit, abs=1e-6)
    assert [motion["a"][-1], motion["a'"][-1]] == pytest.approx(exact, abs=1e-6)
    assert motion.certificate.holds  # with the forces that are given while it holds, too
    assert any("not determined" in warning for warning in motion.warnings)
