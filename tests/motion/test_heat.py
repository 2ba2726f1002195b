"""Heat of friction and losses in impacts against closed forms, on both backends."""

from __future__ import annotations

import numpy as np
import pytest
from each_backend import all_native_one_slow

import dalembert as da
from dalembert.kernel.build import find_compiler

G = 9.81
BACKENDS = [
    "reference",
    pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no compiler")),
]
PLANE = {"coordinates": "x y", "kinetic": "m*(x'^2 + y'^2)/2", "potential": "m*g*y"}
# Heat is integrated with the motion at rtol 1e-9; instants of contact are located to a hundred times that.
CLOSE = 1e-7


def sliding(law, speed: float, **parameters: float) -> da.System:
    return da.System(
        "block",
        **PLANE,
        constraints={"floor": "y"},
        nonideal=[law],
        parameters={"m": 2, "g": G} | parameters,
        initial={"x": 0, "y": 0, "x'": speed, "y'": 0},
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_kinetic_energy_of_a_block_that_stops_becomes_heat(backend):
    motion = sliding(da.Coulomb("floor", mu=0.3), 3.0).simulate(2, backend=backend)
    heat = motion.heat["floor"]
    assert heat[-1] == pytest.approx(2 * 3.0**2 / 2, rel=CLOSE)
    np.testing.assert_allclose(heat, -motion["work nonideal"], rtol=0, atol=9 * CLOSE)
    # As long as it slides, friction times way; nothing more once it rests.
    np.testing.assert_allclose(heat, 0.3 * 2 * G * motion["x"], rtol=0, atol=9 * CLOSE)
    assert np.ptp(heat[motion.t > 1.5]) < 1e-12  # rounding
    assert (motion["heat floor"] == heat).all()


@all_native_one_slow("start", [-1.0, 0.0, 4.0])
def test_heat_on_a_belt_is_friction_times_relative_way(backend, start):
    """m (v − v_b)²/2 in the frame of the belt: what the drive adds, or takes, is not the system's."""
    belt, mu = 1.5, 0.3
    law = da.Coulomb("floor", mu=mu, point=["x - vb*t", "y"])
    motion = sliding(law, start, vb=belt).simulate(2, backend=backend)
    assert motion.heat["floor"][-1] == pytest.approx(2 * (start - belt) ** 2 / 2, rel=CLOSE)
    slip = np.abs(motion["x"] - belt * motion.t)
    np.testing.assert_allclose(motion.heat["floor"], mu * 2 * G * slip, rtol=0, atol=10 * CLOSE)
    # Friction has brought the block to the speed of the belt.
    assert motion["work nonideal"][-1] == pytest.approx(2 * (belt**2 - start**2) / 2, rel=CLOSE)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_contact_that_sticks_on_a_belt_makes_no_heat(backend):
    system = da.System(
        "carried",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="k*x^2/2 + m*g*y",
        constraints={"belt": "y"},
        nonideal=[da.Coulomb("belt", mu=0.5, point=["x - vb*t", "y"])],
        parameters={"m": 1, "g": G, "k": 1, "vb": 0.5},
        initial={"x": 0, "y": 0, "x'": 0.5, "y'": 0},
    )
    motion = system.simulate(1, backend=backend)
    # The drive stretches the spring through friction; sliding velocities are rounding.
    assert motion["work nonideal"][-1] == pytest.approx(0.5**2 / 2, rel=CLOSE)
    assert abs(motion.heat["belt"][-1]) < 1e-12


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["dop853", "stiff", "taylor"])
@pytest.mark.parametrize(
    ("law", "lost"),
    [
        (da.Viscous("floor", 0.8), 1 - np.exp(-2 * 0.8 / 2 * 1.5)),
        (da.Quadratic("floor", 0.8), 1 - (1 + 0.8 / 2 * 3 * 1.5) ** -2),
    ],
)
def test_drag_makes_heat_too(backend, method, law, lost):
    """v = v₀ exp(−ct/m), and v = v₀/(1 + c v₀ t/m)."""
    if method == "taylor" and (backend == "reference" or law.law == "quadratic"):
        pytest.skip("Taylor series are native, of smooth laws")
    motion = sliding(law, 3.0).simulate(1.5, backend=backend, method=method, rtol=1e-9)
    assert motion.heat["floor"][-1] == pytest.approx(lost * 2 * 3**2 / 2, rel=CLOSE)
    assert motion.ledger["heat"] == {"floor": motion.heat["floor"][-1]}


@pytest.mark.parametrize("backend", BACKENDS)
def test_drag_on_a_moving_plate(backend):
    """u = u₀ exp(−ct/m) relative to the plate: heat m u₀²/2 in the end, whatever the plate's drive gives."""
    law = da.Viscous("floor", 4.0, point=["x - vb*t", "y"])
    motion = sliding(law, 1.0, vb=3.0).simulate(8, backend=backend)
    left = 2.0 * np.exp(-4.0 / 2 * 8)
    assert motion.heat["floor"][-1] == pytest.approx(2 * (2.0**2 - left**2) / 2, rel=CLOSE)
    assert motion["work nonideal"][-1] == pytest.approx(2 * ((3.0 - left) ** 2 - 1.0**2) / 2, rel=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_contact_has_its_heat(backend):
    """Two blocks, one on the other, both stop: the sum is the energy, and each interface has its own share."""
    m1, m2, low, high, speed = 3.0, 1.0, 0.05, 0.4, 2.0
    system = da.System(
        "stack",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        potential="m1*g*y1 + m2*g*y2",
        constraints={"floor": "y1", "between": "y2 - y1 - 1"},
        nonideal=[
            da.Coulomb("floor", mu=low, point=["x1", "y1"]),
            da.Coulomb("between", mu=high, point=["x2 - x1", "y2 - y1"]),
        ],
        parameters={"m1": m1, "m2": m2, "g": G},
        initial={"x1": 0, "y1": 0, "x2": 0, "y2": 1, "x1'": 0, "y1'": 0, "x2'": speed, "y2'": 0},
    )
    motion = system.simulate(3, backend=backend)
    # The friction above, μ₂m₂g = 3.9 N, is more than 2 N hold: the lower block is dragged along, and both stop.
    assert motion.heat["floor"][-1] == pytest.approx(low * (m1 + m2) * G * motion["x1"][-1], rel=CLOSE)
    assert motion.heat["floor"][-1] > 0.1
    assert motion.heat["between"][-1] + motion.heat["floor"][-1] == pytest.approx(m2 * speed**2 / 2, rel=CLOSE)
    slid = motion["x2"][-1] - motion["x1"][-1]
    assert motion.heat["between"][-1] == pytest.approx(high * m2 * G * slid, rel=CLOSE)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_laws_on_one_constraint_share_their_heat(backend):
    """A Stribeck law with a film: m u̇ = −μ m g − σ u."""
    mu, film, speed, m = 0.3, 0.5, 3.0, 2.0
    law = da.Stribeck("floor", mu=mu, mu_static=mu, speed=1.0, viscous=film)
    motion = sliding(law, speed).simulate(2, backend=backend)
    assert list(motion.heat) == ["floor"]
    assert motion.heat["floor"][-1] == pytest.approx(m * speed**2 / 2, rel=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_bouncing_ball_loses_its_share_at_each_impact(backend):
    e, m = 0.5, 2.0
    system = da.System(
        "ball",
        **PLANE,
        constraints=[da.Constraint("floor", "y", one_sided=True, restitution=e)],
        parameters={"m": m, "g": G},
        initial={"x": 0, "y": 1, "x'": 0.3, "y'": 0},
    )
    motion = system.simulate(2, backend=backend)
    fall = np.sqrt(2 / G)
    first = (motion.t > fall) & (motion.t < 2 * fall)
    np.testing.assert_allclose(motion.impact_loss[motion.t < fall], 0.0, atol=0)
    np.testing.assert_allclose(motion.impact_loss[first], m * G * (1 - e**2), rtol=CLOSE)
    # It ends on the floor: all that it had to lose is lost, but for bounces too low to be seen (1e-5 in speed).
    assert motion.impact_loss[-1] == pytest.approx(m * G, rel=1e-9)
    np.testing.assert_allclose(motion["work nonideal"], -motion.impact_loss, rtol=0, atol=1e-9)
    assert motion.heat == {}


@all_native_one_slow("e", [1.0, 0.4], slow=1)
def test_a_rising_table_gives_what_it_does_not_lose(backend, e):
    """A ball meets a table that rises at w. Relative to it the impact is at u = v − w and m(1 − e²)u²/2 is lost; the
    ball leaves at w − e u. The table's drive does the rest, which is work of an ideal constraint.
    """
    w, m = 0.7, 2.0
    system = da.System(
        "ball on a rising table",
        **PLANE,
        constraints=[da.Constraint("table", "y - w*t", one_sided=True, restitution=e)],
        parameters={"m": m, "g": G, "w": w},
        initial={"x": 0, "y": 1, "x'": 0, "y'": 0},
    )
    meet = (-w + np.sqrt(w**2 + 2 * G)) / G
    motion = system.simulate(times=np.linspace(0, meet + 0.05, 40), backend=backend)
    u = -G * meet - w
    lost = m * (1 - e**2) * u**2 / 2
    assert motion.events[0]["name"] == "impact"
    assert motion.impact_loss[-1] == pytest.approx(lost, rel=CLOSE, abs=1e-12)
    assert motion["work nonideal"][-1] == pytest.approx(-lost, rel=CLOSE, abs=1e-12)
    gained = m * ((w - e * u) ** 2 - (G * meet) ** 2) / 2
    assert motion["work ideal"][-1] == pytest.approx(gained + lost, rel=CLOSE)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_laws_of_an_open_constraint_do_nothing(backend):
    """A film on a floor that a ball meets only later: in the air it neither brakes nor warms."""
    system = da.System(
        "ball and film",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*y",
        constraints=[da.Constraint("floor", "y", one_sided=True), da.Constraint("wall", "z")],
        nonideal=[da.Viscous("floor", 0.8)],
        parameters={"m": 2, "g": G},
        initial={"x": 0, "y": 1, "z": 0, "x'": 3, "y'": 0, "z'": 0},
    )
    fall = np.sqrt(2 / G)
    motion = system.simulate(1.5, backend=backend)
    slowed = 3 * np.exp(-0.8 / 2 * np.maximum(motion.t - fall, 0))
    np.testing.assert_allclose(motion["x'"], slowed, rtol=CLOSE)
    np.testing.assert_allclose(motion.heat["floor"], 3.0**2 - slowed**2, rtol=0, atol=9 * CLOSE)
    assert motion.certificate.holds


def test_a_regularised_law_makes_heat_as_it_brakes():
    motion = sliding(da.Coulomb("floor", mu=0.3, regularize=1e-3), 3.0).simulate(0.5)
    np.testing.assert_allclose(motion.heat["floor"], -motion["work nonideal"], rtol=0, atol=9 * CLOSE)
    assert motion.heat["floor"][-1] > 1.0


def test_work_written_down_has_no_heat():
    motion = sliding(da.Work({"x": "-0.8*x'"}, "floor"), 3.0).simulate(0.5)
    assert motion.heat == {}
    assert motion.ledger["work"]["nonideal"] < 0


def test_heat_survives_being_saved(tmp_path):
    system = da.System(
        "ball",
        **PLANE,
        constraints=[da.Constraint("floor", "y", one_sided=True, restitution=0.3)],
        nonideal=[da.Coulomb("floor", mu=0.3)],
        parameters={"m": 2, "g": G},
        initial={"x": 0, "y": 0.2, "x'": 3, "y'": 0},
    )
    motion = system.simulate(1)
    motion.save(tmp_path / "ball.nc")
    again = da.Motion.load(tmp_path / "ball.nc")
    assert (again.heat["floor"] == motion.heat["floor"]).all()
    assert (again.impact_loss == motion.impact_loss).all()
    assert again.ledger == motion.ledger
    motion.save(tmp_path / "ball.csv")
    head = (tmp_path / "ball.csv").read_text().splitlines()[0]
    assert "heat floor" in head
    assert "impact loss" in head


def test_a_ledger_begins_after_an_impact_at_the_start():
    system = da.System(
        "ball",
        **PLANE,
        constraints=[da.Constraint("floor", "y", one_sided=True, restitution=0.5)],
        parameters={"m": 2, "g": G},
        initial={"x": 0, "y": 0, "x'": 0, "y'": -2},
    )
    motion = system.simulate(0.1)
    assert motion.v[0, 1] == pytest.approx(1.0, rel=1e-12)
    assert motion.impact_loss[0] == 0.0
    assert motion.certificate.holds
