"""Stability beyond the linearised motion: forces that feed or take energy, and directions in which nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.statics.stability import Stability

G = 9.81
x, y, th, ph = da.coordinates("x y th ph")


def on_a_line(force: sp.Expr, potential: sp.Expr = x**2 / 2, **parts) -> da.System:
    return da.System(
        "line", coordinates=[x], kinetic=x.d**2 / 2, potential=potential, forces={x: force}, initial={x: 0.3}, **parts
    )


def judged(system: da.System) -> Stability:
    return system.equilibrium()[0].stability


PUMPS = [x.d**3, x**2 * x.d, sp.Abs(x.d) * x.d, x.d**5, sp.sinh(x.d) - x.d]


@pytest.mark.parametrize("pump", PUMPS, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_forces_of_higher_order_feed_or_take_energy(pump, sign):
    """What is said is what happens: from a distance of 0.3, a simulation gains energy, or loses it."""
    system = on_a_line(sign * pump)
    found = judged(system)
    assert found.verdict == ("unstable" if sign > 0 else "stable")
    assert ("feed energy in at all" if sign > 0 else "take energy at all") in found.notes[0]
    motion = system.replace(initial={x: 0.3, x.d: 0}).simulate(6.0)
    assert sign * (motion.energy[-1] - motion.energy[0]) > 1e-6  # x'⁵ changes it by 1e-3 of 0.045
    if sign < 0:
        assert found.frequencies == pytest.approx([1], rel=1e-12)
    else:
        assert not found.frequencies.size


def test_linear_damping_outweighs_what_is_of_higher_order():
    assert judged(on_a_line(-x.d + x.d**3)).verdict == "stable"
    assert judged(on_a_line(x.d - x.d**3)).verdict == "unstable"
    weak = judged(on_a_line(-x.d / 10**6 + x.d**3))  # it decides within 1e-3 of the equilibrium only
    assert (weak.verdict, weak.by) == ("stable", "eigenvalues of the linearised motion")


@pytest.mark.parametrize(("c", "verdict"), [(5, "unstable"), (4, "unstable"), (2, "stable"), (0.5, "stable")])
def test_what_feeds_here_and_takes_there_is_summed_over_a_swing(c, verdict):
    """(c x² − ẋ²) ẋ does c/8 − 3/8 of the work a⁴ω·2π over a swing of amplitude a."""
    found = judged(on_a_line((c * x**2 - x.d**2) * x.d))
    assert found.verdict == verdict
    assert found.by.startswith("energy over whole swings")


def test_at_the_limit_nothing_is_said():
    found = judged(on_a_line(x * x.d))
    assert found.verdict == "undecided"
    assert "swings nearby end as they began" in found.notes[1]
    assert found.frequencies == pytest.approx([1])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_one_coordinate_against_the_first_lyapunov_coefficient(c):
    """ẍ = −x + F: with u = x, w = −ẋ, g = −F(u, −w), 16 a = g_uuw + g_www − g_uw (g_uu + g_ww) (Guckenheimer, Holmes
    1983, (3.4.11)); a < 0 is stable, a > 0 unstable.
    """
    F = c[0] * x**2 + c[1] * x * x.d + c[2] * x.d**2 + c[3] * x**2 * x.d + c[4] * x.d**3 + c[5] * x**3
    u, w = sp.symbols("u w")
    g = -F.subs({x: u, x.d: -w}, simultaneous=True)

    def slope(*by: sp.Symbol) -> sp.Expr:
        return sp.diff(g, *by).subs({u: 0, w: 0})

    a = slope(u, u, w) + slope(w, w, w) - slope(u, w) * (slope(u, u) + slope(w, w))
    system = on_a_line(F).replace(initial={x: 0})
    system = system.replace(potential=x**2 / 2 + x**4 * 10)  # with a size of its own, and no change to a
    found = judged(system)
    if a:
        assert found.verdict == ("stable" if a < 0 else "unstable")
    else:
        assert found.verdict in ("stable", "undecided")


def test_forces_that_are_the_same_backwards():
    """ẍ = −x + ẋ²: orbits close, as q(−t) is a motion too."""
    found = judged(on_a_line(x.d**2))
    assert (found.verdict, found.frequencies) == ("stable", pytest.approx([1]))
    assert "possible backwards" in found.by


def test_two_coordinates_of_which_one_is_fed():
    system = da.System(
        "two", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=x**2 / 2 + 2 * y**2 + x * y / 2,
        forces={x: x.d**3, y: -3 * y.d**3}, initial={x: 0.2, y: 0.1},
    )  # fmt: skip
    found = judged(system)
    assert found.verdict == "undecided"
    assert "and take energy at" in found.notes[0]
    # det(K − ω² 1) = 0
    assert found.frequencies**2 == pytest.approx(np.linalg.eigvalsh([[1, 0.5], [0.5, 4]]), rel=1e-10)
    assert judged(system.replace(forces={x: x.d**3, y: 3 * y.d**3})).verdict == "unstable"
    assert judged(system.replace(forces={x: -(x.d**3), y: -3 * y.d**3})).verdict == "stable"
    assert judged(system.replace(forces={x: x.d**3})).verdict in ("unstable", "undecided")


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_pendulum_on_a_rod_in_a_wind_of_its_own(unit, sign):
    """A drag ± c|v|v on the bob, in Cartesian coordinates, whatever the unit of length."""
    drag = sign * sp.sqrt(x.d**2 + y.d**2) / (10 * unit)
    system = da.System(
        "bob", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=G * unit * y,
        constraints={"rod": x**2 + y**2 - unit**2}, forces={x: drag * x.d, y: drag * y.d},
        initial={x: 0.1 * unit, y: -unit},
    )  # fmt: skip
    found = judged(system)
    assert found.verdict == ("unstable" if sign > 0 else "stable")
    if sign < 0:
        assert found.frequencies == pytest.approx([np.sqrt(G)], rel=1e-9)


def test_forces_without_work_feed_nothing():
    """A field written as forces, and Coriolis forces beside a mass matrix: ½ m (ṙ² + r²φ̇²) in a bowl."""
    bowl = da.System(
        "field", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=(x**2 + y**2) / 2,
        forces={x: 3 * (1 + x) * y.d, y: -3 * (1 + x) * x.d}, initial={x: 0.1, y: 0.2},
    )  # fmt: skip
    found = judged(bowl)
    assert (found.verdict, found.notes) == ("stable", ())
    assert found.frequencies == pytest.approx([(np.sqrt(13) - 3) / 2, (np.sqrt(13) + 3) / 2], rel=1e-10)
    polar = da.System(
        "polar", coordinates=[x, ph], mass=[[1, 0], [0, x**2]],
        forces={x: x * ph.d**2 - 4 * (x - 1), ph: -2 * x * x.d * ph.d}, initial={x: 1.2, ph: 0.3},
    )  # fmt: skip
    found = judged(polar)
    assert (found.verdict, found.notes) == ("stable", ())
    assert found.frequencies == pytest.approx([2], rel=1e-10)
    assert found.neutral == ("ph",)


# -- neutral directions


def cart(count: int, **parts) -> tuple[da.System, np.ndarray]:
    """Pendulums, one on the other, on a cart that is free; and the frequencies of their swings about hanging."""
    angles = da.coordinates(" ".join(f"a{k}" for k in range(count)))
    q = [x, *angles]
    place, kinetic, potential = [x, sp.S.Zero], 2 * x.d**2 / 2, sp.S.Zero
    for a in angles:
        place = [place[0] + sp.Rational(7, 10) * sp.sin(a), place[1] - sp.Rational(7, 10) * sp.cos(a)]
        speed = [sum(sp.diff(c, s) * s.d for s in q) for c in place]
        kinetic += (speed[0] ** 2 + speed[1] ** 2) / 2
        potential += G * place[1]
    rest = dict.fromkeys(q, 0)
    M = np.array(sp.hessian(kinetic, [s.d for s in q]).subs(rest), dtype=float)
    K = np.array(sp.hessian(potential, q).subs(rest), dtype=float)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[1:]
    start = {x: 0.5, **dict.fromkeys(angles, 0.2)}
    system = da.System("cart", coordinates=q, kinetic=kinetic, potential=potential, initial=start, **parts)
    return system, np.sqrt(squares)


def test_a_double_pendulum_on_a_free_cart():
    system, frequencies = cart(2)
    hanging, *others = system.equilibrium(starts=8)
    found = hanging.stability
    assert (found.verdict, found.neutral, found.free) == ("stable", ("x",), 0)
    assert found.frequencies == pytest.approx(frequencies, rel=1e-9)
    assert found.modes.shape == (3, 2)
    assert "neutral (nothing changes along it): x" in str(hanging)
    assert hanging.to_dict()["neutral_directions"] == ["x"]
    assert others
    assert all((e.stability.verdict, e.stability.neutral) == ("unstable", ("x",)) for e in others)


def test_a_cart_with_damping_and_one_that_is_driven():
    damped, frequencies = cart(1, forces={x: -x.d})
    found = judged(damped)
    assert (found.verdict, found.neutral) == ("stable", ("x",))
    assert found.frequencies == pytest.approx(frequencies, rel=1e-9)
    assert judged(cart(1, forces={x: x.d})[0]).verdict == "unstable"
    assert judged(cart(1, forces={x: x.d**3, "a0": "a0'^3"})[0]).verdict == "unstable"


def test_masses_on_springs_that_are_free_together():
    q = da.coordinates("a b c")
    kinetic = q[0].d ** 2 + q[1].d ** 2 / 2 + 3 * q[2].d ** 2 / 2
    potential = 5 * (q[1] - q[0] - 1) ** 2 / 2 + 7 * (q[2] - q[1] - 1) ** 2 / 2
    system = da.System("train", coordinates=q, kinetic=kinetic, potential=potential, initial=dict.fromkeys(q, 0.3))
    found = judged(system)
    assert (found.verdict, found.neutral, found.free) == ("stable", ("a + b + c",), 0)
    K = np.array([[5, -5, 0], [-5, 12, -7], [0, -7, 7.0]])
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(np.diag([2.0, 1, 3]), K)).real)[1:]
    assert found.frequencies**2 == pytest.approx(squares, rel=1e-9)


def test_a_ring_of_equilibria_in_cartesian_coordinates():
    """V = (r² − 1)²: the frequency across the ring is √V″ = √8; along it, at 45°, nothing changes."""
    system = da.System(
        "ring", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=(x**2 + y**2 - 1) ** 2,
        initial={x: 0.8, y: 0.8},
    )  # fmt: skip
    found = judged(system)
    assert (found.verdict, found.free) == ("stable", 0)
    assert found.frequencies == pytest.approx([np.sqrt(8)], rel=1e-9)
    assert found.neutral in (("x - 1 y",), ("-1 x + y",))


def test_a_free_particle_is_neutral():
    free = {"coordinates": [x, y], "kinetic": (x.d**2 + y.d**2) / 2, "initial": {x: 1, y: 2}}
    found = judged(da.System("free", **free))
    assert (found.verdict, found.neutral) == ("neutral", ("x", "y"))
    assert judged(da.System("free", **free, forces={x: x.d**3, y: y.d**3})).verdict == "unstable"


def test_what_is_flat_by_chance_is_not_neutral():
    """Along y nothing changes at x = 0, but beside it does; along z nothing ever does."""
    z = da.coordinates("z")[0]
    system = da.System(
        "valley", coordinates=[x, y, z], kinetic=(x.d**2 + y.d**2 + z.d**2) / 2, potential=(1 + y**2) * x**2,
        initial={x: 0.3, y: 0.1, z: 0},
    )  # fmt: skip
    found = judged(system)
    assert (found.verdict, found.free, found.neutral) == ("undecided", 1, ("z",))


@pytest.mark.parametrize("potential", ["min(x, 0)^2 - max(x, 0)^2", "2*max(x, 0)^2 - min(x, 0)^2", "x*abs(x) + x^2/2"])
def test_what_has_a_kink_just_there_is_not_linearised(potential):
    """Each falls on one side."""
    system = da.System("kink", coordinates="x", kinetic="x'^2/2", potential=potential, initial={"x": 0, "x'": 0})
    (found,) = system.equilibrium()
    assert found.stability.verdict == "undecided"
    assert "kink" in found.stability.by


@pytest.mark.parametrize("start", [0.01, 0.3, -0.3])
@pytest.mark.parametrize("power", [3, 5, 4])
def test_curvatures_beside_a_degenerate_equilibrium_decide_nothing(power, start):
    """On z = ±xᵏ + y² only x = 0 is at rest. Where Newton's method ends, forces being rounding, the curvature is none
    of the equilibrium's: of x³ and x⁵ it was positive there, and the hollow said to be stable.
    """
    z, = da.coordinates("z")  # fmt: skip
    height = (-1 if power == 4 else 1) * x**power + y**2
    surface = da.System(
        "surface", coordinates=[x, y, z], kinetic=(x.d**2 + y.d**2 + z.d**2) / 2, potential=z,
        constraints={"surface": z - height}, initial={x: start, y: 0.1, z: height.subs({x: start, y: 0.1})},
    )  # fmt: skip
    (found,) = surface.equilibrium()
    assert (found.stability.verdict, found.stability.free) == ("undecided", 1)
    assert "undecided" in str(found)  # with reactions on the particle, whose height is rounding


def test_a_flat_valley_with_a_curvature_of_its_own_is_stable():
    valley = (y - x**2) ** 2 + 1e-6 * x**2
    system = da.System("valley", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=valley)
    found = system.equilibrium({"x": 0.01, "y": 0.01})[0]
    assert found.q == pytest.approx(0, abs=1e-9)
    assert found.stability.verdict == "stable"
    assert found.stability.frequencies == pytest.approx(np.sqrt([2e-6, 2]), rel=1e-9)
