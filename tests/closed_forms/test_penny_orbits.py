"""Section VI of Flannery 2011 line by line: the closed form in symbols, its limits, the orbits and their figures."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.library.closed_form import a, radius
from dalembert.library.orbits import Orbit

t = da.t
m, R, beta, g, alpha, omega, v0 = da.parameters("m R beta g alpha omega v0")
RELATIVES = {
    "penny": 1 + beta,
    "upright_penny": 1 + beta,
    "quadratic_penny": 1 + beta,
    "skater": 1,
    "cart": 1 + 2 * beta,
}
angles = np.linspace(0, 4 * pi, 401)


def zero(expression: sp.Expr) -> bool:
    return sp.simplify(sp.expand_trig(sp.expand(expression))) == 0


# -- the closed form (63)-(76)


@pytest.mark.parametrize("name", RELATIVES)
def test_the_symbols_agree_with_a_simulation(name: str, simulate):
    system = da.library.get(name, ratio=5, omega=1.3)
    motion = simulate(system, 3.0)
    form = da.library.closed_form(name)
    for key in form:
        if name == "skater" and key in ("s", "F_i"):
            continue  # no column: it has no wheel, and no friction along its edge
        if key == "F_a":
            continue  # no column: the arm of the couple is free to choose
        function = sp.lambdify(t, form.written_out(key).subs(dict(system.parameters)), "numpy")
        values = np.broadcast_to(function(motion.t), motion.t.shape)
        # fifty steps at 1e-10, relative to sizes of ten
        np.testing.assert_allclose(motion[key], values, atol=1e-7, err_msg=key)
    assert form.written_out("F_j").free_symbols <= {m, beta, g, alpha, omega, v0, t}


def test_the_closed_form_solves_the_equations_of_state():
    """(29) with (55): ẍ, ÿ, ψ̈ from (68) satisfy M ẍ = Mg sin α + F_x …, and the constraints hold."""
    form = da.library.closed_form("penny")
    x, y, psi, phi = (form.written_out(key) for key in ("x", "y", "psi", "phi"))
    forward, sideways = form.written_out("F_i"), form.written_out("F_j")
    force_x = forward * sp.cos(phi) - sideways * sp.sin(phi)
    force_y = forward * sp.sin(phi) + sideways * sp.cos(phi)
    assert zero(m * x.diff(t, 2) - m * g * sp.sin(alpha) - force_x)
    assert zero(m * y.diff(t, 2) - force_y)
    assert zero(beta * m * R**2 * psi.diff(t, 2) + R * forward)  # below (75) the sign is lost
    assert zero((1 + beta) * R * psi.diff(t, 2) - g * sp.sin(alpha) * sp.cos(phi))  # (62a)
    assert zero(x.diff(t) - R * psi.diff(t) * sp.cos(phi))  # (55a)
    assert zero(y.diff(t) - R * psi.diff(t) * sp.sin(phi))  # (55b)
    assert zero(x.diff(t) - form.written_out("x'"))  # (67a)
    assert zero(y.diff(t) - form.written_out("y'"))  # (67b)
    assert zero(form.written_out("s").diff(t) - form.written_out("v"))  # (63), (68c)


def test_acceleration_friction_and_torque_as_printed():
    """(65), (71), (72b) = (72c), (73), (74), (75) and (76)."""
    form = da.library.closed_form("penny")
    phi = form["phi"]
    v, forward, sideways = (form.written_out(key) for key in ("v", "F_i", "F_j"))
    a_, radius_ = form.where[a], form.where[radius]
    along, across = 4 * omega**2 * a_ * sp.cos(phi), omega**2 * (radius_ + 4 * a_ * sp.sin(phi))
    ax, ay = form.written_out("x").diff(t, 2), form.written_out("y").diff(t, 2)
    assert zero(ax * sp.cos(phi) + ay * sp.sin(phi) - along)  # (65)
    assert zero(ay * sp.cos(phi) - ax * sp.sin(phi) - across)
    assert zero(m * along - m * g * sp.sin(alpha) * sp.cos(phi) - forward)  # (71)
    assert zero(m * across + m * g * sp.sin(alpha) * sp.sin(phi) - sideways)
    assert zero(m * g * sp.sin(alpha) * sp.sin(phi) + m * omega * v - sideways)  # (72b)
    vx, vy = form.written_out("x'"), form.written_out("y'")
    assert zero((vx * ay - vy * ax) - omega * v**2)  # so that ρ = |v|³/(ω v²), (73)
    assert zero(form.written_out("rho") - v / omega)
    assert zero(m * v**2 / form.written_out("rho") + m * g * sp.sin(alpha) * sp.sin(phi) - sideways)  # (74)
    gyroscopic = beta * m * R**2 * form.written_out("psi").diff(t) * omega
    assert zero(form.written_out("N_a") + gyroscopic + R * sideways)  # (75), (76)


def test_averages_over_a_period():
    """⟨ẋ⟩ = 0, ⟨ẏ⟩ = 2aω, ⟨x⟩ = a, ⟨v⟩ = v₀, ⟨F_i⟩ = 0, ⟨F_j⟩ = Mωv₀, ⟨N_a⟩ = −M(1+β)ωRv₀."""
    form = da.library.closed_form("penny")
    w = sp.Symbol("omega", positive=True)

    def average(key: str) -> sp.Expr:
        return sp.integrate(form[key].subs(omega, w).expand(), (t, 0, 2 * sp.pi / w)) * w / (2 * sp.pi)

    expected = {
        "x'": 0, "y'": 2 * a * w, "x": a, "v": v0, "F_i": 0, "F_j": m * w * v0, "N_a": -m * (1 + beta) * w * R * v0,
    }  # fmt: skip
    for key, value in expected.items():
        assert zero(average(key) - value), key


def test_a_system_without_symbols_says_so():
    with pytest.raises(da.ModelError, match="written are penny"):
        da.library.closed_form("pendulum")


def test_a_name_that_a_form_does_not_have_is_told():
    form = da.library.closed_form("penny")
    assert "F_k" not in form
    for look in (form.__getitem__, form.written_out):
        with pytest.raises(KeyError, match=r"no expression 'F_k' here\. Did you mean 'F_j'"):
            look("F_k")


@pytest.mark.parametrize("build", [da.library.penny, da.library.upright_penny, da.library.skater, da.library.cart])
def test_options_that_are_no_numbers_are_one_message(build):
    with pytest.raises(
        da.ModelError, match=r"2 faults(?s:.*)omega: a number is wanted(?s:.*)ratio: a number is wanted, got 'six'"
    ):
        build(ratio="six", omega=[1, 2])
    # numbers of other kinds are numbers
    speeds = [float(build(alpha=alpha, ratio=2).parameters[v0]) for alpha in (sp.pi / 6, np.pi / 6)]
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-14)


# -- limits


def test_horizontal_plane(simulate):
    """(69) and (70): a circle of radius v₀/ω at constant speed; friction is M v₀ω towards its centre."""
    form = da.library.closed_form("penny")
    assert sp.expand(form["x"].subs(a, 0) - radius * sp.sin(omega * t)) == 0
    assert sp.expand(form["y"].subs(a, 0) - radius * (1 - sp.cos(omega * t))) == 0
    motion = simulate(da.library.penny(alpha=0, v0=1.5, omega=0.5, m=2.0))
    circle = motion["x"] ** 2 + (motion["y"] - 3.0) ** 2
    np.testing.assert_allclose(circle, 9.0, rtol=1e-8)
    np.testing.assert_allclose(motion["v"], 1.5, rtol=1e-9)
    np.testing.assert_allclose(motion["F_j"], 2.0 * 1.5 * 0.5, rtol=1e-9)
    np.testing.assert_allclose(motion["F_i"], 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["penny", "upright_penny", "quadratic_penny", "skater", "cart"])
def test_without_turning_it_goes_straight(name: str, simulate):
    """Limit (c): x = s = v₀t + g_d t²/2, y = 0."""
    system = da.library.get(name, omega=0, v0=0.7)
    motion = simulate(system, 2.0)
    values = {symbol.name: float(value) for symbol, value in system.parameters.items()}
    inertia = float(sp.sympify(RELATIVES[name]).subs({beta: values.get("beta", 0)}))
    down = values["g"] * np.sin(values["alpha"]) / inertia
    np.testing.assert_allclose(motion["x"], 0.7 * motion.t + down * motion.t**2 / 2, rtol=1e-9)
    np.testing.assert_allclose(motion["y"], 0.0, atol=1e-12)
    exact = da.library.exact(name)(system, motion.t)
    np.testing.assert_allclose(exact["x"], motion["x"], rtol=1e-9)


@pytest.mark.parametrize("omega", [1e-9, 1e-6, 1e-3, 0.3])
@pytest.mark.parametrize("heading", [0.0, 0.4, 2.0])
def test_slow_turning_loses_no_digits(omega: float, heading: float):
    """The closed form beside its integrals ∫v cos φ, ∫v sin φ, ∫v taken by quadrature."""
    system = da.library.penny(omega=omega, v0=0.7).replace(
        initial={"phi": heading, "x'": f"v0*cos({heading})", "y'": f"v0*sin({heading})"}
    )
    end, down = 3.0, 9.81 * np.sin(0.3) / 1.5
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def integral(f, high):
        u = high * (nodes + 1) / 2
        return float(weights @ f(u)) * high / 2

    def speed(at):
        return np.array([0.7 + integral(lambda w: down * np.cos(heading + omega * w), float(u)) for u in at])

    found = da.library.exact("penny")(system, np.array([end]))
    assert found["x"][0] == pytest.approx(integral(lambda u: speed(u) * np.cos(heading + omega * u), end), rel=1e-12)
    across = integral(lambda u: speed(u) * np.sin(heading + omega * u), end)
    # At heading 0 the way across is ω times as long as the path: its digits are those of the path.
    assert found["y"][0] == pytest.approx(across, rel=1e-12, abs=1e-15)
    assert found["s"][0] == pytest.approx(integral(speed, end), rel=1e-12)


def test_fast_circles():
    """(86) and (87): what is left out beside R' has the size a, so that the limit is of first order in a/R'."""
    misses = []
    for ratio in (100.0, 1000.0):
        orbit = Orbit(1.0, ratio)
        prolate = (1 + ratio * np.sin(angles), 2 * angles + ratio * (1 - np.cos(angles)))
        misses.append(
            max(np.abs(orbit.x(angles) - prolate[0]).max(), np.abs(orbit.y(angles) - prolate[1]).max()) / ratio
        )
        circle = (orbit.x(angles) - 1) ** 2 + (orbit.y(angles) - ratio - 2 * angles) ** 2
        assert np.abs(circle / ratio**2 - 1).max() < 2.1 / ratio
        assert np.abs((prolate[0] - 1) ** 2 + (prolate[1] - ratio - 2 * angles) ** 2 - ratio**2).max() < 1e-9 * ratio**2
    assert misses[0] == pytest.approx(0.01, rel=1e-3)
    assert misses[1] == pytest.approx(0.001, rel=1e-3)


def test_the_limiting_cycloid_belongs_to_a_circle_of_radius_2a():
    """The paper says radius a. A circle of radius r that rolls by the angle φ moves on by rφ: (86b) has 2aφ."""
    r, d, phi = sp.symbols("r d phi", positive=True)
    advance = sp.Symbol("a", positive=True) * 2 * phi + d * (1 - sp.cos(phi))  # (86b)
    assert sp.solve(sp.Eq(advance, r * phi + d * (1 - sp.cos(phi))), r) == [2 * sp.Symbol("a", positive=True)]


# -- the orbit (79)-(85)


@pytest.mark.parametrize("ratio", [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 12.0])
def test_forms_of_the_orbit(ratio: float):
    """(80), (81), (82), and for R' = 0 (83) and (84)."""
    unit = 0.7
    orbit = Orbit(unit, ratio * unit)
    x, y, s = orbit.x(angles), orbit.y(angles), orbit.s(angles)
    r = orbit.radius
    right = r**2 + 2 * unit * r * np.sin(angles) + unit**2
    np.testing.assert_allclose((x - unit) ** 2 + (y - (r + 2 * unit * angles)) ** 2, right, atol=1e-12)
    moving = y - 2 * unit * angles
    np.testing.assert_allclose((x - unit) ** 2 + (moving - r) ** 2, right, atol=1e-12)
    closed = 8 * unit * (2 * unit + r * np.sin(angles) - x)
    np.testing.assert_allclose((4 * unit + r * angles - s) ** 2, closed, atol=1e-11)
    if ratio == 0:
        np.testing.assert_allclose((4 * unit - s) ** 2, 8 * unit * (2 * unit - x), atol=1e-12)
        np.testing.assert_allclose((x - unit) ** 2 + (y - 2 * unit * angles) ** 2, unit**2, atol=1e-12)


@pytest.mark.parametrize("ratio", [0.5, 2.0, 3.0, 3.9])
def test_lengths_of_the_lanes(ratio: float):
    """(85), beside the length of a fine polygon."""
    orbit = Orbit(1.0, ratio)
    gamma, first, second = orbit.gamma, orbit.phi1, orbit.phi2
    printed = {
        (0.0, pi): pi * ratio + 8,
        (pi, first): gamma * ratio - 4 * (1 - np.cos(gamma)),
        (second, 2 * pi): gamma * ratio - 4 * (1 - np.cos(gamma)),
        (first, second): 8 * np.cos(gamma) - (pi - 2 * gamma) * ratio,
        (pi, 2 * pi): (4 * gamma - pi) * ratio + 8 * (2 * np.cos(gamma) - 1),
    }
    for (low, high), length in printed.items():
        assert orbit.length(low, high) == pytest.approx(length, rel=1e-12)
        fine = np.linspace(low, high, 20001)
        polygon = np.hypot(np.diff(orbit.x(fine)), np.diff(orbit.y(fine))).sum()
        # a polygon of n sides is short by the share 1/n², here 1e-8
        assert polygon == pytest.approx(length, rel=1e-6)


def test_line_element_beside_the_cycloid():
    """Case 2: ds over that of the cycloid, by chords of both curves between the same headings."""
    orbit, cycloid = Orbit(0.7, 1.4), Orbit(0.7, 0.0)
    middle, half = np.array([0.4, pi / 2, 2.9, pi + 1.2, 3 * pi / 2]), 1e-4
    chord, pure = (
        np.hypot(curve.x(middle + half) - curve.x(middle - half), curve.y(middle + half) - curve.y(middle - half))
        for curve in (orbit, cycloid)
    )
    # a chord is short by the share (dφ)²/24 and its like, 1e-8
    np.testing.assert_allclose(np.abs(orbit.stretch(middle)), chord / pure, rtol=1e-6)
    assert (orbit.stretch(middle[:3]) > 1).all()  # {0, π}: expansion
    assert (np.abs(orbit.stretch(middle[3:])) < 1).all()  # {π, 2π}: contraction, where −sin φ > R'/8a
    assert abs(orbit.stretch(pi + 0.1)) > 1  # but not next to the cusp, where the cycloid stands still
    assert np.isinf(orbit.stretch(0.0))


def test_angles_and_places():
    """φ₁, φ₂ where it stops, φ₃, φ₄ where it passes the initial level, x_rest, x₊, x₋, ΔX and ΔY."""
    orbit = Orbit(1.0, 1.0)
    assert orbit.s(orbit.phi1 + 1e-7, orbit.phi1) == pytest.approx(0, abs=1e-13)
    for angle in (orbit.phi1, orbit.phi2):
        assert orbit.radius + 4 * np.sin(angle) == pytest.approx(0, abs=1e-14)
        assert orbit.x(angle) == pytest.approx(orbit.rest) == pytest.approx(-1 / 8)
    for angle in (orbit.phi3, orbit.phi4):
        assert orbit.x(angle) == pytest.approx(0, abs=1e-15)
    assert orbit.x(pi / 2) == pytest.approx(orbit.lowest) == pytest.approx(3)
    assert orbit.x(3 * pi / 2) == pytest.approx(orbit.secondary) == pytest.approx(1)
    fine = orbit.x(np.linspace(0, 2 * pi, 100001))
    for ratio in (1.0, 3.0, 4.0, 9.0):
        fine = Orbit(1.0, ratio).x(np.linspace(0, 2 * pi, 100001))
        assert np.ptp(fine) == pytest.approx(Orbit(1.0, ratio).downhill_range, rel=1e-8)
    assert orbit.y(5 * pi / 2) - orbit.y(pi / 2) == pytest.approx(orbit.drift) == pytest.approx(4 * pi)
    assert Orbit(1.0, 5.0).phi1 is Orbit(1.0, 5.0).phi3 is None
    assert Orbit.of(da.library.penny(alpha=0, v0=1.0)).ratio == np.inf
    assert Orbit.of(da.library.penny(alpha=0, v0=1.0)).gamma is None
    assert "never stops" in str(Orbit(1.0, 5.0))
    assert "φ₁ = 3.39" in str(orbit)
    with pytest.raises(da.ModelError, match="penny, skater or cart"):
        Orbit.of(da.library.pendulum())


@pytest.mark.parametrize(("ratio", "omega"), [(-2.0, 1.0), (2.0, -1.0), (-3.0, -0.5)])
def test_backward_starts_and_turning_the_other_way(ratio: float, omega: float, simulate):
    """Stops, lengths and ranges beside a simulation, also for R' < 0 and ω < 0."""
    system = da.library.penny(ratio=ratio, omega=omega)
    motion = simulate(system, 2 * pi / abs(omega), samples=801)
    orbit = Orbit.of(system)
    assert orbit.ratio == pytest.approx(ratio)
    assert orbit.length(0, motion["phi"][-1]) == pytest.approx(motion.trace("x", "y").distance[-1], rel=1e-7)
    assert orbit.downhill_range == pytest.approx(np.ptp(motion["x"]), rel=1e-4)
    for angle in (orbit.phi1, orbit.phi2):
        speed = orbit.radius + 4 * orbit.a * np.sin(angle)
        assert speed == pytest.approx(0, abs=1e-12)


def test_an_orbit_on_a_plane_that_falls_the_other_way():
    """alpha < 0, a < 0: x points uphill, and the lowest and highest places are those of the curve itself."""
    orbit = da.library.Orbit(-1.0, 2.0)
    x = orbit.x(np.linspace(0, 2 * np.pi, 20001))
    assert orbit.downhill_range == pytest.approx(x.max() - x.min(), rel=1e-7)
    assert f"lowest place x = {x.max():.3g}" in str(orbit)
    assert "passes its initial level once more: φ₃" in str(orbit)
    assert "once more" not in str(da.library.Orbit(1.0, 3.0))


def test_case_3_compares_y_and_begins_at_pi_a():
    """x(2π) = x(π) = 0 for all; it is y(2π) < y(π), from R' = πa on."""
    for ratio, loops in ((3.1, False), (3.2, True), (4.0, True)):
        orbit = Orbit(1.0, ratio)
        assert orbit.x(pi) == pytest.approx(0, abs=1e-14)
        assert orbit.x(2 * pi) == pytest.approx(0, abs=1e-14)
        assert (orbit.y(2 * pi) < orbit.y(pi)) == loops


def test_a_lane_of_the_cycloid_encloses_3_pi_a_squared():
    lane = np.linspace(0, pi, 2001)
    orbit = Orbit(1.0, 0.0)
    assert np.trapezoid(orbit.x(lane), orbit.y(lane)) == pytest.approx(3 * pi, rel=1e-6)
    assert orbit.length(0, pi) == pytest.approx(8)


@pytest.mark.parametrize("name", ["penny", "quadratic_penny", "skater", "cart"])
def test_a_motion_stops_at_the_printed_angles(name: str):
    """Events of a simulation, found on its dense output, at φ₁ and φ₂."""
    system = da.library.get(name, ratio=2, omega=1.3)
    heading = {"skater": "x'*cos(phi) + y'*sin(phi)", "cart": "psi1' + psi2'"}.get(name, "psi'")
    motion = system.simulate(2 * pi / 1.3, rtol=1e-11, events={"stop": heading})
    orbit = Orbit.of(system)
    stops = [event["state"]["phi"] for event in motion.events if event["name"] == "stop"]
    np.testing.assert_allclose(stops, [orbit.phi1, orbit.phi2], atol=1e-7)


def test_from_rest_elsewhere_the_skater_takes_another_time():
    """The paper calls the skater's cycloid a tautochrone. That of a bead is; a skater who starts from rest with the
    heading φ₀ and turns at ω leaves that cycloid, and rests again after (π − 2φ₀)/ω, not π/ω.
    """
    system = da.library.skater(v0=0.0, omega=1.0).replace(initial={"phi": 0.5})
    stop = da.Event("x'*cos(phi) + y'*sin(phi)", direction="falling", terminal=True)
    motion = system.simulate(10, events={"stop": stop}, rtol=1e-11)
    assert motion.t[-1] == pytest.approx(pi - 1.0, abs=1e-6)
    s = sp.Function("s")(t)
    bead = sp.dsolve(sp.Eq(s.diff(t, 2), -s), s, ics={s.subs(t, 0): 1, s.diff(t).subs(t, 0): 0})
    assert bead.rhs == sp.cos(t)  # S = 4a − s obeys S̈ = −ω²S on the cycloid: from rest to rest in π/ω, from anywhere


# -- the figures


@pytest.fixture(scope="module")
def figures():
    return da.library.penny_orbits()


def test_figures_have_the_printed_ratios_and_units(figures):
    second, third = figures
    assert (second.unit, third.unit) == ("a", "R'")
    np.testing.assert_allclose([o.ratio for o in second.orbits], [0, 2, 3, 4, 6], atol=1e-12)
    np.testing.assert_allclose([o.ratio for o in third.orbits], [12, 24, 48, 96], rtol=1e-12)
    assert all(motion.certificate.holds for figure in figures for motion in figure.motions)
    assert third.motions[0]["phi"][-1] == pytest.approx(21 * pi)  # its caption: φ ≤ 21π
    for figure in figures:
        for k, orbit in enumerate(figure.orbits):
            unit = orbit.a if figure.unit == "a" else orbit.radius
            y, x = figure.curve(k)
            phi = figure.motions[k]["phi"]
            # ten turns at rtol 1e-9
            np.testing.assert_allclose(x, orbit.x(phi) / unit, atol=1e-6)
            np.testing.assert_allclose(y, orbit.y(phi) / unit, atol=1e-6)
    for k, orbit in enumerate(third.orbits):
        _, x = third.curve(k)
        # caption: minima at 1 + 2a/R', maxima at −(1 − 2a/R'); 120 points in a turn miss them by 1e-3 at most
        assert x.max() == pytest.approx(1 + 2 / orbit.ratio, abs=1e-3)
        assert x.min() == pytest.approx(-(1 - 2 / orbit.ratio), abs=1e-3)


def test_figures_are_drawn_downhill_down(figures, tmp_path):
    for figure in figures:
        page = figure.plot(tmp_path / f"figure{figure.number}.png")
        assert (tmp_path / f"figure{figure.number}.png").stat().st_size > 10_000
        panels = page.get_axes()
        assert len(panels) == len(figure.orbits)
        for panel, orbit in zip(panels, figure.orbits, strict=True):
            low, high = panel.get_ylim()
            assert low > high  # x, downhill, grows downward
            assert panel.get_aspect() == 1.0
            assert f"R'/a = {orbit.ratio:g}" in panel.get_title(loc="left")
            assert panel.get_xlabel() == f"y/{figure.unit}"


@pytest.mark.parametrize("name", ["skater", "cart"])
def test_relatives_draw_the_same_figures(name: str, figures):
    """In units of a and R' their orbits are the penny's."""
    for own, other in zip(figures, da.library.penny_orbits(name), strict=True):
        for k in range(len(own.orbits)):
            np.testing.assert_allclose(own.curve(k), other.curve(k), atol=1e-5)
