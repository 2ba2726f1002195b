"""Friction, sticking and loss of contact against closed forms and independent integrations, on both backends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.build import find_compiler

G = 9.81
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no compiler")
BACKENDS = ["reference", pytest.param("native", marks=needs_compiler)]
# Events are located to rounding on an interpolant that carries the error of integration: a hundred tolerances.
RTOL, CLOSE = 1e-9, 1e-7


def names(motion: da.Motion) -> list[str]:
    return [event["name"] for event in motion.events]


def incline(theta: float, mu: float, mu_static: float | None, speed: float, scale: str = "1") -> da.System:
    return da.System(
        "block on an incline",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints={"plane": f"({scale})*(y - x*tan(theta))"},
        nonideal=[da.Coulomb("plane", mu="mu", mu_static=None if mu_static is None else "mu_s")],
        parameters={"m": 2, "g": G, "theta": theta, "mu": mu} | ({} if mu_static is None else {"mu_s": mu_static}),
        initial={"x": 0, "y": 0, "x'": speed * np.cos(theta), "y'": speed * np.sin(theta)},
    )


# The slow backend has the scale that is hardest, a function of the place.
@pytest.mark.parametrize(
    ("backend", "scale"),
    [("reference", "1 + x^2"), *(pytest.param("native", s, marks=needs_compiler) for s in ("1", "-7", "1 + x^2"))],
)
def test_block_stays_where_it_stops(backend, scale):
    theta, mu, speed = 0.5, 0.7, 3.0  # tan 0.5 = 0.546
    motion = incline(theta, mu, None, speed, scale).simulate(2, rtol=RTOL, backend=backend)
    slowing = G * (np.sin(theta) + mu * np.cos(theta))
    stop = speed / slowing
    assert names(motion) == ["stick"]
    assert motion.events[0]["t"] == pytest.approx(stop, rel=CLOSE)
    assert motion["x"][-1] == pytest.approx(speed**2 / (2 * slowing) * np.cos(theta), rel=CLOSE)
    assert abs(motion["x'"][-1]) < 1e-12
    history = motion.contacts["plane"]
    assert set(history.state[motion.t > stop]) == {"stick"}
    np.testing.assert_allclose(np.abs(history.normal), 2 * G * np.cos(theta), rtol=1e-7)
    # While it rests, friction holds the weight along the plane, well inside the cone.
    np.testing.assert_allclose(history.friction[motion.t > stop], 2 * G * np.sin(theta), rtol=1e-7)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_block_slides_back(backend):
    theta, mu, speed = 0.5, 0.3, 3.0
    motion = incline(theta, mu, 0.5, speed).simulate(2, rtol=RTOL, backend=backend)
    up, down = G * (np.sin(theta) + mu * np.cos(theta)), G * (np.sin(theta) - mu * np.cos(theta))
    stop = speed / up
    assert names(motion) == ["reversal"]
    assert motion.events[0]["t"] == pytest.approx(stop, rel=CLOSE)
    along = speed**2 / (2 * up) - down * (2 - stop) ** 2 / 2
    assert motion["x"][-1] == pytest.approx(along * np.cos(theta), rel=CLOSE)
    assert motion.certificate.holds


def test_a_block_at_rest_needs_its_static_coefficient():
    held = incline(0.5, 0.3, 0.6, 0.0)
    assert np.abs(held.simulate(1, samples=3).q[-1]).max() < 1e-12
    assert held.at().acceleration == pytest.approx([0, 0], abs=1e-9)
    slides = incline(0.5, 0.3, 0.5, 0.0)
    down = G * (np.sin(0.5) - 0.3 * np.cos(0.5))
    assert slides.at().acceleration[0] == pytest.approx(-down * np.cos(0.5))
    assert slides.simulate(1, samples=3)["x"][-1] == pytest.approx(-down / 2 * np.cos(0.5), rel=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_stick_slip_cycle_on_a_belt(backend):
    k, m, mu, mu_s, belt = 10.0, 1.0, 0.2, 0.4, 0.3
    system = da.System(
        "mass on a belt",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="k*x^2/2 + m*g*y",
        constraints={"belt": "y"},
        nonideal=[da.Coulomb("belt", mu="mu", mu_static="mu_s", point=["x - vb*t", "y"])],
        parameters={"k": k, "m": m, "g": G, "mu": mu, "mu_s": mu_s, "vb": belt},
        initial={"x": 0, "y": 0, "x'": belt, "y'": 0},
    )
    # A cycle takes 2.5 s: four of them, or two on the slow backend.
    motion = system.simulate(12 if backend == "native" else 6, rtol=RTOL, backend=backend)
    omega, far, middle = np.sqrt(k / m), mu_s * m * G / k, mu * m * G / k
    reach = (far - middle) * omega
    slipping = (2 * np.pi - 2 * np.arctan(reach / belt)) / omega
    period = slipping + 2 * (far - middle) / belt
    slips = [event["t"] for event in motion.events if event["name"] == "slip"]
    sticks = [event["t"] for event in motion.events if event["name"] == "stick"]
    assert len(slips) >= 2
    assert slips[0] == pytest.approx(far / belt, rel=CLOSE)
    assert np.diff(slips) == pytest.approx(period, rel=CLOSE)
    assert np.array(sticks[: len(slips)]) - np.array(slips[: len(sticks)]) == pytest.approx(slipping, rel=CLOSE)
    # Until it first slips, friction does all the work: it stretches the spring at constant speed.
    first = motion.t < slips[0]
    np.testing.assert_allclose(motion["work nonideal"][first], k * motion["x"][first] ** 2 / 2, atol=1e-9)
    assert np.abs(motion["work ideal"]).max() < 1e-12
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_bead_on_a_rough_hoop(backend):
    """v² by the angle θ from the bottom: dv²/dθ = −2gR sin θ − 2μ(v² + gR cos θ) while it rises, pressed outwards."""
    R, mu, speed = 0.5, 0.2, 4.0
    system = da.System(
        "bead on a hoop",
        coordinates="x z",
        kinetic="m*(x'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"hoop": "x^2 + z^2 - R^2"},
        nonideal=[da.Coulomb("hoop", mu="mu")],
        parameters={"m": 1, "g": G, "R": R, "mu": mu},
        initial={"x": 0, "z": -R, "x'": speed, "z'": 0},
    )
    motion = system.simulate(0.25, rtol=RTOL, backend=backend)
    theta = np.unwrap(np.arctan2(motion["x"], -motion["z"]))
    # Particular solution a cos θ + b sin θ of the linear equation.
    a, b = 2 * G * R * (1 - 2 * mu**2) / (1 + 4 * mu**2), -6 * mu * G * R / (1 + 4 * mu**2)
    exact = a * np.cos(theta) + b * np.sin(theta) + (speed**2 - a) * np.exp(-2 * mu * theta)
    np.testing.assert_allclose(motion["x'"] ** 2 + motion["z'"] ** 2, exact, rtol=1e-6)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_particle_leaves_the_sphere(backend):
    start = 0.1
    system = da.System(
        "particle on a sphere",
        coordinates="x z",
        kinetic="m*(x'^2 + z'^2)/2",
        potential="m*g*z",
        constraints=[da.Constraint("sphere", "x^2 + z^2 - r^2", one_sided=True)],
        parameters={"m": 1, "g": G, "r": 1},
        initial={"x": np.sin(start), "z": np.cos(start), "x'": 0, "z'": 0},
    )
    motion = system.simulate(1.2, rtol=RTOL, backend=backend)
    assert names(motion) == ["release"]
    # Released from rest at the angle `start`, it leaves where cos θ is two thirds of its first value.
    assert motion.events[0]["state"]["z"] == pytest.approx(2 * np.cos(start) / 3, rel=1e-8)
    free = motion.t > motion.events[0]["t"]
    fall = motion.t[free] - motion.events[0]["t"]
    state = motion.events[0]["state"]
    np.testing.assert_allclose(motion["x"][free], state["x"] + state["x'"] * fall, rtol=1e-9)
    np.testing.assert_allclose(motion["z"][free], state["z"] + state["z'"] * fall - G * fall**2 / 2, atol=1e-9)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_bouncing_ball(backend):
    e, height = 0.5, 1.0
    system = da.System(
        "ball",
        coordinates="z",
        kinetic="m*z'^2/2",
        potential="m*g*z",
        constraints=[da.Constraint("floor", "z", one_sided=True, restitution="e")],
        parameters={"m": 1, "g": G, "e": e},
        initial={"z": height, "z'": 0},
    )
    motion = system.simulate(3, rtol=RTOL, backend=backend)
    fall = np.sqrt(2 * height / G)
    impacts = [event["t"] for event in motion.events if event["name"] == "impact"]
    flights = 2 * fall * e ** np.arange(1, 6)
    np.testing.assert_allclose(impacts[:6], fall + np.concatenate([[0], np.cumsum(flights)]), rtol=1e-8)
    # All bounces together take fall (1 + 2e/(1 − e)); then it lies there.
    rest = fall * (1 + 2 * e / (1 - e))
    contact = next(event for event in motion.events if event["name"] == "contact")
    # The last bounces, slower than 1e-5 of the first impact, are left out.
    assert contact["t"] == pytest.approx(rest, rel=2e-5)
    assert np.abs(motion["z"][motion.t > rest * 1.001]).max() < 1e-8
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_rod_between_rough_wall_and_floor(backend):
    """A uniform rod slides down; both reactions and both frictions depend on each other."""
    m, length, mu, start = 1.0, 1.0, 0.1, 0.5
    system = da.System(
        "leaning rod",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*l^2/24*a'^2",
        potential="m*g*y",
        constraints={"wall": "x - l/2*sin(a)", "floor": "y - l/2*cos(a)"},
        nonideal=[
            da.Coulomb("wall", mu="mu", point=["x - l/2*sin(a)", "y + l/2*cos(a)"]),
            da.Coulomb("floor", mu="mu", point=["x + l/2*sin(a)", "y - l/2*cos(a)"]),
        ],
        parameters={"m": m, "l": length, "g": G, "mu": mu},
        initial={"x": np.sin(start) / 2, "y": np.cos(start) / 2, "a": start, "x'": 0, "y'": 0, "a'": 0},
    )

    def rate(t, u):
        """Wall: W to the right, μW up, at (−h sin a, h cos a). Floor: F up, μF to the left, at the other end."""
        a, w = u
        s, c, h = np.sin(a), np.cos(a), length / 2
        unknown = np.array(
            [
                [m * h * c, -1, mu],
                [-m * h * s, -mu, -1],
                [m * length**2 / 12, h * c + mu * h * s, mu * h * c - h * s],
            ]
        )
        known = np.array([m * h * s * w**2, -m * G + m * h * c * w**2, 0.0])
        return [w, np.linalg.solve(unknown, known)[0]]

    exact = solve_ivp(rate, (0, 0.4), [start, 0.0], rtol=1e-11, atol=1e-12, dense_output=True)
    motion = system.simulate(0.4, rtol=RTOL, backend=backend, samples=21)
    np.testing.assert_allclose(motion["a"], exact.sol(motion.t)[0], atol=1e-7)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_stacked_blocks(backend):
    """A push on the lower block: the upper one slips on it while the lower one slides; when the push ends both stop."""
    m1, m2, mu1, mu2, push = 2.0, 1.0, 0.1, 0.2, 15.0
    system = da.System(
        "stacked blocks",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        potential="m1*g*y1 + m2*g*y2",
        forces={"x1": "F"},
        constraints={"floor": "y1", "between": "y2 - y1 - 1"},
        nonideal=[
            da.Coulomb("floor", mu="mu1", point=["x1", "y1"]),
            da.Coulomb("between", mu="mu2", point=["x2 - x1", "y2 - y1"]),
        ],
        parameters={"m1": m1, "m2": m2, "mu1": mu1, "mu2": mu2, "g": G, "F": push},
        initial={"x1": 0, "y1": 0, "x2": 0, "y2": 1, "x1'": 0, "y1'": 0, "x2'": 0, "y2'": 0},
    )
    motion = system.simulate(1, rtol=RTOL, backend=backend)
    upper = mu2 * G
    lower = (push - mu2 * m2 * G - mu1 * (m1 + m2) * G) / m1
    assert lower > upper
    assert motion["x2"][-1] == pytest.approx(upper / 2, rel=CLOSE)
    assert motion["x1"][-1] == pytest.approx(lower / 2, rel=CLOSE)
    gentle = system.replace(parameters={"F": 6.0}).simulate(1, rtol=RTOL, backend=backend)
    together = (6.0 - mu1 * (m1 + m2) * G) / (m1 + m2)
    assert gentle["x2"][-1] == pytest.approx(together / 2, rel=CLOSE)
    assert set(gentle.contacts["between"].state[1:]) == {"stick"}
    assert set(gentle.contacts["floor"].state[1:]) == {"slip"}
    still = system.replace(parameters={"F": 2.0}).simulate(1, rtol=RTOL, backend=backend)
    assert np.abs(still.v).max() < 1e-12
    assert motion.certificate.holds
    assert gentle.certificate.holds
    assert still.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_pendulum_with_a_rough_pin(backend):
    """Torque μ r |N| at the pin, N with both components; against the equation in the angle alone."""
    m, length, mu, r, start = 1.0, 1.0, 0.3, 0.05, 1.0
    system = da.System(
        "rough pin",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints={"pin x": "x - l*sin(a)", "pin y": "y + l*cos(a)"},
        nonideal=[da.Coulomb(["pin x", "pin y"], mu="mu", point="r*a")],
        parameters={"m": m, "l": length, "g": G, "mu": mu, "r": r},
        initial={"x": np.sin(start), "y": -np.cos(start), "a": start, "x'": 0, "y'": 0, "a'": 0},
    )

    def rate(t, u, way):
        a, w = u

        # N: what the rod does to the mass, radial and tangential: m(w² l + g cos a) and m(l a'' + g sin a).
        def unbalanced(turn):
            radial = m * (w**2 * length + G * np.cos(a))
            tangential = m * (length * turn + G * np.sin(a))
            # The rod has no mass: the torque of the mass on it, l · tangential, is the friction of the pin.
            return length * tangential + way * mu * r * np.hypot(radial, tangential)

        turn = -G * np.sin(a) / length
        for _ in range(50):
            slope = (unbalanced(turn + 1e-6) - unbalanced(turn - 1e-6)) / 2e-6
            step = unbalanced(turn) / slope
            turn -= step
            if abs(step) < 1e-14 * (1 + abs(turn)):  # rounding
                break
        return [w, turn]

    t, u, way = 0.0, np.array([start, 0.0]), -1.0
    reversals = []
    while len(reversals) < 3:

        def stop(t, u, way):
            return u[1] if t > 1e-9 else way

        stop.terminal, stop.direction = True, -way
        leg = solve_ivp(rate, (t, t + 5), u, args=(way,), events=stop, rtol=1e-11, atol=1e-12)
        t, u = float(leg.t_events[0][0]), leg.y_events[0][0]
        reversals.append((t, u[0]))
        u, way = np.array([u[0], 0.0]), -way
    motion = system.simulate(reversals[-1][0] + 0.1, rtol=RTOL, backend=backend)
    found = [(event["t"], event["state"]["a"]) for event in motion.events if event["name"] == "reversal"]
    np.testing.assert_allclose(found[:3], reversals, rtol=1e-6)
    assert motion.certificate.holds


def puck(**changes) -> da.System:
    return da.System(
        "puck",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"table": "z"},
        nonideal=[da.Coulomb("table", mu="mu")],
        parameters={"m": 1, "g": G, "mu": 0.3},
        initial={"x": 0, "y": 0, "z": 0, "x'": 3, "y'": 4, "z'": 0},
    ).replace(**changes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_puck_stops_on_a_table(backend):
    motion = puck().simulate(3, rtol=RTOL, backend=backend, samples=31)
    assert names(motion) == ["stick"]
    # It counts as stopped at 1e-9 m/s.
    assert motion.events[0]["t"] == pytest.approx(5 / (0.3 * G), rel=1e-8)
    assert motion.q[-1] == pytest.approx(np.array([0.6, 0.8, 0]) * 25 / (2 * 0.3 * G), rel=CLOSE)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_puck_is_pushed_away(backend):
    """A force that grows with time in a fixed direction breaks it away when it reaches μmg."""
    system = puck(forces={"x": "t", "y": "t/2"}, initial={"x'": 0, "y'": 0})
    motion = system.simulate(6, rtol=RTOL, backend=backend, samples=31)
    pull, grip = np.sqrt(1.25), 0.3 * G
    breaks = grip / pull
    assert names(motion) == ["slip"]
    assert motion.events[0]["t"] == pytest.approx(breaks, rel=CLOSE)
    span = 6 - breaks
    along = pull * (6**3 - breaks**3) / 6 - pull * breaks**2 / 2 * span - grip * span**2 / 2
    assert motion.q[-1] == pytest.approx(np.array([1, 0.5, 0]) / pull * along, rel=CLOSE)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_puck_is_pushed_round_a_curve(backend):
    """A force (t, t²/2) breaks it away with nothing to spare (μ_s = μ), and turns. Against the equations of speed and
    direction, s' = w·d − μg and s φ' = w⊥, begun by their series.
    """
    grip = 0.3 * G
    breaks = np.sqrt(2 * (np.sqrt(1 + grip**2) - 1))  # t²(1 + t²/4) = μ²g²
    early = 1e-4  # the terms left out of s and φ are of the order of its cube and square

    def rate(t, u):
        _, _, s, phi = u
        d, across = np.array([np.cos(phi), np.sin(phi)]), np.array([-np.sin(phi), np.cos(phi)])
        w = np.array([t, t**2 / 2])
        return [*(s * d), w @ d - grip, w @ across / s]

    w, turn = np.array([breaks, breaks**2 / 2]), np.array([1, breaks])
    gain, phi = turn @ w / grip, np.arctan2(w[1], w[0]) + early * (w[0] * turn[1] - w[1] * turn[0]) / grip**2
    start = [*(gain * early**3 / 6 * w / grip), gain * early**2 / 2, phi]
    exact = solve_ivp(rate, (breaks + early, 6), start, method="Radau", rtol=1e-11, atol=1e-13).y[:2, -1]
    system = puck(forces={"x": "t", "y": "t^2/2"}, initial={"x'": 0, "y'": 0})
    motion = system.simulate(6, rtol=RTOL, backend=backend, samples=31)
    assert names(motion) == ["slip"]
    assert motion.events[0]["t"] == pytest.approx(breaks, rel=CLOSE)
    assert motion.q[-1, :2] == pytest.approx(exact, rel=1e-8)  # ten tolerances
    assert motion.timing.steps < 1000  # an explicit method took 31,000 for the first moments
    assert motion.certificate.holds


def sliding_rod(mu: float, way: float, spin: float) -> da.System:
    """A slender rod that slides on its lower end, tan a = 2: where friction first becomes paradoxical, at μ = 4/3."""
    a = np.arctan(2.0)
    return da.System(
        "sliding rod",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*h^2/6*a'^2",
        potential="m*g*y",
        constraints=[da.Constraint("floor", "y - h*sin(a)", one_sided=True)],
        nonideal=[da.Coulomb("floor", mu="mu", point=["x - h*cos(a)", "y - h*sin(a)"])],
        parameters={"m": 1, "h": 1, "g": G, "mu": mu},
        initial={"x": 0, "y": np.sin(a), "a": a, "x'": way - spin * np.sin(a), "y'": spin * np.cos(a), "a'": spin},
    )


def test_painleve_is_named():
    for way in (5.0, -5.0):
        assert sliding_rod(1.2, way, 0.0).at().rank == 1
    troubles = []
    for spin in (0.0, 8.0):
        for way in (5.0, -5.0):
            try:
                sliding_rod(1.6, way, spin).at()
            except da.InconsistentConstraints as error:
                troubles.append(str(error))
    # One way of sliding is paradoxical: without solution at rest, with several where it turns fast.
    assert len(troubles) == 2
    assert "no motion agrees" in troubles[0]
    assert "several motions" in troubles[1]
    assert all("'floor'" in text and "Painlevé" in text for text in troubles)


def test_a_ladder_is_held_by_friction_alone():
    """Two constraints and two frictions on three coordinates: their forces are not determined, but they suffice."""

    def ladder(mu: float) -> da.System:
        return da.System(
            "ladder",
            coordinates="x y a",
            kinetic="m*(x'^2 + y'^2)/2 + m*l^2/24*a'^2",
            potential="m*g*y",
            constraints={"wall": "x - l/2*sin(a)", "floor": "y - l/2*cos(a)"},
            nonideal=[
                da.Coulomb("wall", mu="mu", point=["x - l/2*sin(a)", "y + l/2*cos(a)"]),
                da.Coulomb("floor", mu="mu", point=["x + l/2*sin(a)", "y - l/2*cos(a)"]),
            ],
            parameters={"m": 1, "l": 2, "g": G, "mu": mu},
            initial={"x": np.sin(0.6), "y": np.cos(0.6), "a": 0.6, "x'": 0, "y'": 0, "a'": 0},
        )

    # It slips where tan a exceeds 2μ/(1 − μ²): at a = 0.6 below μ = tan 0.3.
    limit = np.tan(0.3)
    assert np.abs(ladder(limit + 0.01).at().acceleration).max() < 1e-9
    assert ladder(limit - 0.01).at().acceleration[2] > 1e-3
    motion = ladder(limit + 0.01).simulate(0.5, samples=3)
    assert np.abs(motion.v).max() < 1e-12
    assert any("not determined" in warning for warning in motion.warnings)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_ball_in_small_units_slides_faster_than_any_coordinate_moves(backend):
    """A ball of 1 m in micrometres, spun against its way: the velocity u = v + ω × r at the table falls by 7μg/2, along
    itself, until it is zero; then the ball rolls.
    """
    radius, mu = 1e6, 0.2
    system = da.System(
        "ball",
        coordinates="x y z a b",
        kinetic="(x'^2 + y'^2 + z'^2)/2 + R^2*(a'^2 + b'^2)/5",
        potential="g*z",
        constraints={"table": "z >= 0"},
        nonideal=[da.Coulomb("table", "mu", slide=["x' - R*b'", "y' + R*a'"])],
        parameters={"R": radius, "g": 9.81e6, "mu": mu},
        initial={"x": 0, "y": 0, "z": 0, "a": 0, "b": 0} | {"x'": 3 * radius, "y'": 0, "z'": 0, "a'": -5, "b'": -4},
    )
    motion = system.simulate(5, backend=backend, samples=40)
    u = np.array([7.0, -5.0]) * radius
    rolls = np.linalg.norm(u) / (3.5 * mu * 9.81e6)
    velocity = np.array([3.0, 0.0]) * radius - 2 / 7 * u
    assert names(motion) == ["stick"]
    # It counts as stopped at 1e-9 of its sliding velocity; ten tolerances of the motion are 1e-8.
    assert motion.events[0]["t"] == pytest.approx(rolls, rel=1e-8)
    np.testing.assert_allclose([motion["x'"][-1], motion["y'"][-1]], velocity, rtol=1e-8)
    assert motion.certificate.holds, motion.certificate
