"""Reduced systems move as the whole ones do: against closed forms, against models written in fewer coordinates by hand,
and against the whole system, whose certificate must hold on what is reconstructed.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import dalembert as da
from dalembert.study.reduced import ReducedSystem

r, phi, theta, psi = da.coordinates("r phi theta psi")
x, y, z, s = da.coordinates("x y z s")
m, k, g, l, R, alpha, beta = da.parameters("m k g l R alpha beta")
# Motions at rtol 1e-10 over some periods err by a few hundred tolerances.
CLOSE = 1e-7


def planet(**more) -> da.System:
    """Begins at the perihelion of an ellipse with e = 0.44: m = 2, k = 3, p = m r² φ̇ = 3.6."""
    arguments = {"parameters": {m: 2, k: 3}, "initial": {r: 1, phi: 0.3, r.d: 0, phi.d: np.sqrt(1.44 * 1.5)}} | more
    kinetic = m * (r.d**2 + r**2 * phi.d**2) / 2
    return da.System("planet", coordinates=[r, phi], kinetic=kinetic, potential=-k / r, **arguments)


def agree(system: da.System, reduced: ReducedSystem, duration: float, samples: int = 41) -> da.Motion:
    """The motion reconstructed from the reduced one is that of the whole, with all forces."""
    small = reduced.simulate(duration, rtol=1e-10, samples=samples)
    assert small.certificate.holds, small.certificate.failures
    found = reduced.reconstruct(small)
    whole = system.simulate(duration, rtol=1e-10, samples=samples)
    for part in ("q", "v", "a", "ideal", "nonideal", "impressed", "energy", "work"):
        size = max(1.0, float(np.abs(getattr(whole, part)).max()))
        np.testing.assert_allclose(getattr(found, part), getattr(whole, part), rtol=0, atol=CLOSE * size, err_msg=part)
    assert found.certificate.holds, found.certificate.failures
    return found


# -- ignorable coordinates


def test_keplers_equation():
    """r and φ by the eccentric anomaly: r = a(1 − e cos E), nt = E − e sin E."""
    system = planet()
    reduced = system.reduce()
    assert reduced.coordinates == (r,)
    assert float(reduced.parameters[next(iter(reduced.momenta))]) == pytest.approx(2 * np.sqrt(1.44 * 1.5))
    motion = reduced.reconstruct(reduced.simulate(9.0, rtol=1e-11, samples=31))
    e, mu = 0.44, 1.5  # v² r/μ = 1 + e at the perihelion
    a = 1 / (1 - e)
    n = np.sqrt(mu / a**3)
    E = np.array([brentq(lambda u, t=t: u - e * np.sin(u) - n * t, -1, n * 9 + 2, xtol=1e-14) for t in motion.t])
    turn = np.unwrap(2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2)))
    np.testing.assert_allclose(motion["r"], a * (1 - e * np.cos(E)), rtol=CLOSE)
    np.testing.assert_allclose(motion["phi"], 0.3 + turn, rtol=CLOSE)
    np.testing.assert_allclose(motion["p_phi"], 2 * np.sqrt(1.44 * 1.5), rtol=CLOSE)


def test_heavy_top():
    I1, I3 = da.parameters("I1 I3")
    top = da.System(
        "heavy top",
        coordinates=[theta, phi, psi],
        kinetic=I1 * (theta.d**2 + phi.d**2 * sp.sin(theta) ** 2) / 2 + I3 * (psi.d + phi.d * sp.cos(theta)) ** 2 / 2,
        potential=m * g * l * sp.cos(theta),
        parameters={I1: 1.3, I3: 0.7, m: 1.1, g: 9.81, l: 0.4},
        initial={theta: 0.5, phi: 0.1, psi: 0.2, theta.d: 0.1, phi.d: 0.3, psi.d: 14.0},
    )
    reduced = top.reduce()
    assert reduced.coordinates == (theta,)
    assert {p.name for p in reduced.momenta} == {"p_phi", "p_psi"}
    found = agree(top, reduced, 3.0)
    # Energy of the nutation alone is that of the whole: q̇p − R = H.
    assert found.energy[0] == pytest.approx(reduced.at().energy, rel=1e-12)


def test_conical_pendulum_is_an_equilibrium_of_the_reduced_one():
    """cos θ = g/(l φ̇²): the least of the effective potential, with m l² sin²θ φ̇ as its momentum."""
    turning = 4.0
    angle = np.arccos(9.81 / (1.2 * turning**2))
    pendulum = da.System(
        "spherical pendulum",
        coordinates=[theta, phi],
        kinetic=m * l**2 * (theta.d**2 + phi.d**2 * sp.sin(theta) ** 2) / 2,
        potential=-m * g * l * sp.cos(theta),
        parameters={m: 2.0, g: 9.81, l: 1.2},
        initial={theta: angle, phi: 0, theta.d: 0, phi.d: turning},
    )
    reduced = pendulum.reduce()
    (found,) = reduced.equilibrium().found
    assert found["theta"] == pytest.approx(angle, rel=1e-9)
    # Small swings about it: ω² = φ̇²(1 + 3 cos²θ).
    assert found.stability.frequencies[0] == pytest.approx(turning * np.sqrt(1 + 3 * np.cos(angle) ** 2), rel=1e-6)


def test_charge_in_a_magnetic_field():
    """p_y = m ẏ + B x, p_z: what is left is an oscillator of frequency B/m, the whole a helix."""
    B = da.parameters("B")[0]
    charge = da.System(
        "charge",
        coordinates=[x, y, z],
        lagrangian=m * (x.d**2 + y.d**2 + z.d**2) / 2 + B * x * y.d,
        parameters={m: 2.0, B: 3.0},
        initial={x: 0.2, y: -0.1, z: 0.4, x.d: 0.7, y.d: 0.5, z.d: 0.3},
    )
    reduced = charge.reduce()
    assert reduced.coordinates == (x,)
    motion = reduced.reconstruct(reduced.simulate(6.0, rtol=1e-11, samples=25))
    w, t = 1.5, motion.t
    # m ẍ = B ẏ, m ÿ = −B ẋ.
    np.testing.assert_allclose(motion["x"], 0.2 + (0.7 * np.sin(w * t) + 0.5 * (1 - np.cos(w * t))) / w, atol=CLOSE)
    np.testing.assert_allclose(motion["y"], -0.1 + (0.5 * np.sin(w * t) - 0.7 * (1 - np.cos(w * t))) / w, atol=CLOSE)
    np.testing.assert_allclose(motion["z"], 0.4 + 0.3 * t, atol=CLOSE)


def test_time_and_drag_with_an_ignorable_coordinate():
    """k(t), and drag along r that grows with the speed of φ: the momentum of φ stays all the same."""
    pull = -k * (1 + sp.cos(da.t) / 3) / r
    system = planet(forces={r: -0.2 * r.d * phi.d**2}, events={"far": r - 1.3}).replace(potential=pull)
    found = agree(system, system.reduce(), 6.0)
    (event,) = found.events
    (known,) = system.simulate(6.0, rtol=1e-10).events
    assert event["t"] == pytest.approx(known["t"], rel=CLOSE)
    assert event["state"] == pytest.approx(known["state"], rel=CLOSE)


def test_nonholonomic_constraints_stay():
    """A flywheel on a skate: its angle is ignorable, the knife edge is not integrable."""
    skate = da.System(
        "skate with a flywheel",
        coordinates=[x, y, phi, psi],
        kinetic=m * (x.d**2 + y.d**2) / 2 + phi.d**2 / 2 + (phi.d + psi.d) ** 2 / 5,
        potential=-m * g * x / 5,
        constraints={"edge": x.d * sp.sin(phi) - y.d * sp.cos(phi)},
        parameters={m: 2.0, g: 9.81},
        initial={x: 0, y: 0, phi: 0.4, psi: 1, x.d: np.cos(0.4), y.d: np.sin(0.4), phi.d: 1.1, psi.d: -3},
    )
    reduced = skate.reduce()
    assert reduced.coordinates == (x, y, phi)
    assert "'edge' stays: it is not integrable" in reduced.left
    agree(skate, reduced, 3.0)


def test_one_coordinate_is_left():
    free = da.System("free", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, initial={x: 0, y: 1, x.d: 2, y.d: 3})
    reduced = free.reduce()
    assert reduced.coordinates == (x,)
    assert "one coordinate must be left" in reduced.summary()
    np.testing.assert_allclose(reduced.reconstruct(reduced.simulate(2.0)).q[-1], [4, 7], rtol=CLOSE)


# -- position constraints


def test_atwood():
    """x₁ + x₂ = l: ẍ₁ = (m₁ − m₂)g/(m₁ + m₂), and the string pulls with 2m₁m₂g/(m₁ + m₂)."""
    a, b = da.coordinates("x1 x2")
    system = da.System(
        "Atwood's machine",
        coordinates=[a, b],
        kinetic=3 * a.d**2 / 2 + 2 * b.d**2 / 2,
        potential=-3 * g * a - 2 * g * b,
        constraints={"string": a + b - l},
        parameters={g: 10, l: 4},
        initial={a: 1, b: 3, a.d: 0, b.d: 0},
    )
    reduced = system.reduce()
    assert len(reduced.coordinates) == 1
    assert not reduced.constraints
    found = agree(system, reduced, 1.0)
    np.testing.assert_allclose(found["x1"], 1 + found.t**2, atol=CLOSE)
    np.testing.assert_allclose(found["ideal x1"], -24.0, atol=CLOSE)


def test_rolling_in_a_plane_has_an_integral():
    """ẋ = Rψ̇ is x − Rψ = c: a disk rolls down with g sin α/(1 + β)."""
    disk = da.System(
        "disk",
        coordinates=[x, psi],
        kinetic=m * x.d**2 / 2 + beta * m * R**2 * psi.d**2 / 2,
        potential=-m * g * x * sp.sin(alpha),
        constraints={"rolling": x.d - R * psi.d},
        parameters={m: 2, R: 0.3, beta: 0.5, g: 9.81, alpha: 0.4},
        initial={x: 1, psi: 0.2, x.d: 0.6, psi.d: 2},
    )
    reduced = disk.reduce()
    (constant,) = reduced.constants
    assert abs(float(reduced.parameters[constant])) == pytest.approx(abs(1 - 0.3 * 0.2))
    found = agree(disk, reduced, 2.0)
    t = found.t
    np.testing.assert_allclose(found["x"], 1 + 0.6 * t + 9.81 * np.sin(0.4) / 1.5 * t**2 / 2, atol=CLOSE)


def test_rods_become_angles():
    """A double pendulum of Cartesian points against one written in angles by hand."""
    x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
    rods = da.System(
        "double pendulum",
        coordinates=[x1, y1, x2, y2],
        kinetic=m * (x1.d**2 + y1.d**2) / 2 + m * (x2.d**2 + y2.d**2),
        potential=m * g * (y1 + 2 * y2),
        constraints={"first rod": x1**2 + y1**2 - l**2, "second": (x2 - x1) ** 2 + (y2 - y1) ** 2 - 4 * l**2},
        parameters={m: 1, g: 9.81, l: 0.5},
        initial={x1: 0.5, y1: 0, x2: 0.5, y2: -1, x1.d: 0, y1.d: 0.3, x2.d: 0.4, y2.d: 0.3},
    )
    reduced = rods.reduce()
    assert [q.name for q in reduced.coordinates] == ["angle_first_rod", "angle_second"]
    found = agree(rods, reduced, 2.0)
    a, b = da.coordinates("a b")
    kinetic = m * l**2 * (3 * a.d**2 / 2 + 4 * b.d**2 + 4 * a.d * b.d * sp.cos(a - b))
    by_hand = da.System(
        "in angles",
        coordinates=[a, b],
        kinetic=kinetic,
        potential=m * g * l * (3 * sp.sin(a) + 4 * sp.sin(b)),
        parameters={m: 1, g: 9.81, l: 0.5},
        initial={a: 0, b: -np.pi / 2, a.d: 0.6, b.d: 0.4},
    ).simulate(2.0, rtol=1e-10, samples=41)
    np.testing.assert_allclose(found["x2"], 0.5 * np.cos(by_hand["a"]) + np.cos(by_hand["b"]), atol=CLOSE)


def test_a_pivot_that_moves_does_work():
    """x₀ = A sin ωt under a pendulum: places and energies depend on time, and the ledger of the whole is kept."""
    w, A = da.parameters("w A")
    driven = da.System(
        "driven pendulum",
        coordinates=[s, x, y],
        kinetic=s.d**2 + m * (x.d**2 + y.d**2) / 2,
        potential=m * g * y,
        constraints={"drive": s - A * sp.sin(w * da.t), "rod": (x - s) ** 2 + y**2 - l**2},
        parameters={m: 1, g: 9.81, l: 0.8, w: 5.0, A: 0.1},
        initial={s: 0, x: 0, y: -0.8, s.d: 0.5, x.d: 0.5, y.d: 0},
    )
    found = agree(driven, driven.reduce(), 3.0)
    assert np.ptp(found["work ideal"]) > 0.01


def test_a_line_that_turns():
    """A bead on a rod through the origin, turned at ω on a table: s̈ = ω²s, s = s₀ cosh ωt."""
    w = da.parameters("w")[0]
    bead = da.System(
        "bead on a turning rod",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        constraints={"rod": x * sp.sin(w * da.t) - y * sp.cos(w * da.t)},
        parameters={m: 2, w: 1.5},
        initial={x: 0.1, y: 0, x.d: 0, y.d: 0.15},
    )
    reduced = bead.reduce()
    assert [q.name for q in reduced.coordinates] == ["along_rod"]
    found = agree(bead, reduced, 2.0)
    np.testing.assert_allclose(np.hypot(found["x"], found["y"]), 0.1 * np.cosh(1.5 * found.t), rtol=CLOSE)


def test_oil_becomes_a_force():
    """v' = g sin θ − c v/m along an incline; without constraints left the work of the oil is an impressed force."""
    c = da.parameters("c")[0]
    block = da.System(
        "block",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=m * g * y,
        constraints={"plane": y + x * sp.tan(alpha)},
        nonideal=[da.Viscous("plane", c)],
        parameters={m: 2, g: 9.81, alpha: 0.5, c: 1.2},
        initial={x: 0, y: 0, x.d: 0, y.d: 0},
    )
    found = agree(block, block.reduce(), 2.0)
    rate = 0.6
    slid = 9.81 * np.sin(0.5) * (found.t / rate - (1 - np.exp(-rate * found.t)) / rate**2)
    np.testing.assert_allclose(found["x"] / np.cos(0.5), slid, atol=CLOSE)
    assert found.heat["plane"][-1] == pytest.approx(-found["work nonideal"][-1], rel=1e-6)


def test_given_mass_and_forces():
    """M(q) and all of Q given: Q − M γ of what is left. A bead on z = x² with M of the particle, and one with M(x)."""
    bead = da.System(
        "bead",
        coordinates=[x, z],
        mass=[[2, 0], [0, 2]],
        forces={z: -20},
        constraints={"wire": z - x**2},
        initial={x: 1, z: 1, x.d: 0.5, z.d: 1.0},
    )
    agree(bead, bead.reduce(), 3.0)
    odd = bead.replace(mass=[[2 + x**2, 0], [0, 1]], forces={x: -x - x.d**2 / 3, z: -z.d})
    reduced = odd.reduce()
    assert reduced.mass is not None
    agree(odd, reduced, 3.0)


def test_constraints_that_follow_are_gone():
    twice = da.System(
        "twice", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential="9.81*y",
        constraints={"rod": x**2 + y**2 - l**2, "again": sp.sqrt(x**2 + y**2) - l}, parameters={l: 1},
        initial={x: 1, y: 0, x.d: 0, y.d: 0},
    )  # fmt: skip
    reduced = twice.reduce()
    assert not reduced.constraints
    assert reduced.solved["again"] == "follows from the others"
    with pytest.raises(da.InconsistentConstraints, match="'again' says that"):
        twice.replace(constraints={"rod": x**2 + y**2 - l**2, "again": x**2 + y**2 - 2 * l**2}).reduce()


# -- what is left


def test_what_cannot_be_solved_stays():
    sphere = da.library.spherical_pendulum().reduce()
    assert sphere.coordinates == da.library.spherical_pendulum().coordinates
    assert "'rod' stays: it cannot be solved for x or y or z everywhere" in sphere.left
    rough = da.library.thrown_block().reduce()
    assert "dry friction" in rough.left[0]
    assert rough.simulate(0.2).certificate.holds
    pressed = da.System(
        "pressed", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential="9.81*y", constraints={"floor": y},
        nonideal=[da.Work({x: -0.1 * da.multiplier("floor")}, "floor")], initial={x: 0, y: 0, x.d: 9, y.d: 0},
    )  # fmt: skip
    assert "'floor' stays: a force depends on its reaction" in pressed.reduce().left
    assert pressed.reduce().simulate(1.0).q[-1] == pytest.approx([9 - 0.981 / 2, 0])


def test_a_slope_that_may_vanish_is_not_divided_by():
    """x cos y = 1 holds x linearly, and cannot be solved where cos y = 0."""
    system = da.System("s", coordinates=[x, y], kinetic=x.d**2 + y.d**2, constraints={"c": x * sp.cos(y) - 1})
    assert "it cannot be solved for x or y everywhere" in system.reduce().left[0]
    safe = system.replace(constraints={"c": x * (2 + sp.cos(y)) - 1})
    assert list(safe.reduce().places) == [x]


def test_coordinates_to_keep():
    system = planet()
    assert system.reduce(keep=["phi"]).coordinates == (r, phi)
    assert system.reduce(keep=phi).coordinates == (r, phi)
    with pytest.raises(da.ModelError, match="keep: 'fi' is no coordinate"):
        system.reduce(keep=["fi"])


# -- values


def test_without_values():
    bare = planet(parameters={}, initial={})
    reduced = bare.reduce()
    assert "p_phi" in {p.name for p in reduced.parameter_symbols}
    with pytest.raises(da.MissingValues, match="p_phi"):
        reduced.replace(parameters={"m": 2, "k": 3}, initial={"r": 1, "r'": 0}).simulate(1.0)
    given = reduced.replace(parameters={"m": 2, "k": 3, "p_phi": 3.6}, initial={"r": 1, "r'": 0})
    assert isinstance(given, ReducedSystem)
    motion = given.simulate(1.0)
    with pytest.raises(da.MissingValues, match="phi"):
        given.reconstruct(motion)
    assert given.reconstruct(motion, start={phi: 1.0})["phi"][0] == 1.0
    # Another momentum is another motion of the same planet: p = m r² φ̇ holds along it.
    other = given.replace(parameters={"p_phi": 4.0})
    whole = other.reconstruct(other.simulate(2.0), start={"phi": 0})
    np.testing.assert_allclose(2 * whole["r"] ** 2 * whole["phi'"], 4.0, rtol=1e-9)
    assert whole.certificate.holds


def test_few_outputs_are_enough():
    reduced = planet().reduce()
    dense = reduced.reconstruct(reduced.simulate(40.0, samples=801, rtol=1e-11))
    sparse = reduced.reconstruct(reduced.simulate(40.0, samples=3, rtol=1e-11))
    assert sparse["phi"][-1] == pytest.approx(dense["phi"][-1], rel=1e-8)


def test_bad_reconstructions_are_told():
    reduced = planet().reduce()
    with pytest.raises(da.ModelError, match="a motion in the coordinates r is wanted, got r, phi"):
        reduced.reconstruct(planet().simulate(1.0))
    motion = reduced.simulate(1.0)
    with pytest.raises(da.ModelError, match="start: 'r' is not ignored"):
        reduced.reconstruct(motion, start={"r": 1})
    for nowhere in ("here", float("nan")):
        with pytest.raises(da.ModelError, match="a finite number is wanted"):
            reduced.reconstruct(motion, start={"phi": nowhere})
    with pytest.raises(da.ModelError, match="start: a mapping"):
        reduced.reconstruct(motion, start=[1])
    with pytest.raises(da.ModelError, match="a motion of the reduced system is wanted, got None"):
        reduced.reconstruct(None)
    with pytest.raises(da.ModelError, match="names of coordinates are wanted, got 3"):
        planet().reduce(keep=3)


def test_a_state_off_the_constraints_is_told():
    bad = da.library.pendulum().replace(initial={"x": 0.9})
    with pytest.raises(da.InconsistentState, match="'rod'"):
        bad.reduce()


def test_reductions_are_values():
    reduced = planet().reduce()
    again = pickle.loads(pickle.dumps(reduced))
    assert isinstance(again, ReducedSystem)
    assert again.summary() == reduced.summary()
    assert type(reduced.replace(forces={r: -r})) is da.System
    assert da.loads(da.dumps(reduced)).simulate(1.0).final["r"] == pytest.approx(reduced.simulate(1.0).final["r"])


GEARS = {
    "coordinates": ["a", "b", "c"],
    "kinetic": "(a'^2 + 2*b'^2 + 3*c'^2)/2",
    "potential": "sin(a) + cos(c)",
    "constraints": {"first": "2*a' = 3*b'", "second": "3*b' + c' = 0"},
    "initial": {"a": 0.1, "b": 0.2, "c": 0.3, "a'": 3, "b'": 2, "c'": -6},
}
HELD = {
    "coordinates": ["x", "y", "phi", "psi"],
    "kinetic": "(x'^2 + y'^2 + phi'^2 + psi'^2)/2",
    "potential": "x",
    "constraints": {"turn": "phi' = 0", "roll x": "x' = psi'*cos(phi)", "roll y": "y' = psi'*sin(phi)"},
    "initial": {"x": 0, "y": 0, "phi": 0.4, "psi": 0, "x'": "cos(0.4)", "y'": "sin(0.4)", "phi'": 0, "psi'": 1},
}
HELIX = {
    "coordinates": ["x", "y", "z", "phi"],
    "kinetic": "(x'^2 + y'^2 + z'^2)/2 + phi'^2/10",
    "potential": "9.81*z",
    "constraints": {"a": "x = 2*cos(phi)", "b": "y = 2*sin(phi)", "c": "z = phi/3"},
    "initial": {"x": 2, "y": 0, "z": 0, "phi": 0, "x'": 0, "y'": 2, "z'": "1/3", "phi'": 1},
}
CYLINDER = {
    "coordinates": ["x", "y", "z"],
    "kinetic": "(x'^2 + y'^2 + z'^2)/2",
    "potential": "9.81*z",
    "constraints": {"wall": "x^2 + y^2 = 4"},
    "initial": {"x": 2, "y": 0, "z": 1, "x'": 0, "y'": 1.5, "z'": 0.2},
}


@pytest.mark.parametrize(
    ("model", "left"), [(GEARS, 1), (HELD, 1), (HELIX, 1), (CYLINDER, 1)], ids=["gears", "held", "helix", "cylinder"]
)
def test_integrals_after_integrals(model, left):
    """Constants that others depend on; an angle that is brought in and then ignored (on the cylinder)."""
    system = da.System("model", **model)
    reduced = system.reduce()
    assert len(reduced.coordinates) == left
    agree(system, reduced, 1.5, samples=11)


def test_a_notebook_shows_what_was_eliminated():
    """A particle in the plane: the angle is gone, and follows from its momentum by θ' = p/(m r²)."""
    r, theta = da.coordinates("r theta")
    (m,) = da.parameters("m")
    system = da.System("orbit", coordinates=[r, theta], kinetic=m * (r.d**2 + r**2 * theta.d**2) / 2, potential=-1 / r)
    shown = system.reduce()._repr_latex_()
    assert shown.startswith(r"$$\begin{aligned}&\textbf{orbit} \\ T &=")
    assert r"\dot{\theta} &= \frac{p_{\theta}}{r^{2} m}" in shown
    assert r"p_{\theta} &= r^{2} \dot{\theta} m && \text{constant}" in shown


def test_outputs_and_drawings_are_written_in_what_is_left():
    """A pendulum on a rod, whose new angle may not take the name of an output; the whole motion has the same values."""
    whole = da.System(
        "pendulum",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=m * g * y,
        constraints={"rod": x**2 + y**2 - l**2},
        parameters={m: 1, g: 9.81, l: 1},
        initial={x: 1, y: 0, x.d: 0, y.d: 0},
        outputs={"angle_rod": "atan2(y, x)", "fall": "y''", "pull": "2*l*multiplier(rod)"},
        draw=[da.Rod((0, 0), (x, y)), da.Arrow((x, y), force="ideal")],
        units={"x": "m", "t": "s", "fall": "m/s^2"},
    )
    reduced = whole.reduce()
    assert set(reduced.outputs) == {"angle_rod", "fall"}  # the rod, whose pull was asked for, is gone
    assert [type(shape) for shape in reduced.draw] == [da.Rod]
    assert dict(reduced.units) == {"t": "s", "fall": "m/s^2"}
    few, many = reduced.simulate(2.0, samples=9, rtol=1e-10), whole.simulate(2.0, samples=9, rtol=1e-10)
    for name in reduced.outputs:  # 20 is their size: twice g
        np.testing.assert_allclose(few[name], many[name], rtol=0, atol=CLOSE * 20)
    assert reduced.reconstruct(few)["pull"] == pytest.approx(many["pull"], abs=CLOSE * 20)


def test_outputs_of_ignored_coordinates_belong_to_the_whole():
    whole = planet(
        outputs={"speed": r * phi.d, "turning": phi.dd, "x": r * sp.cos(phi)},
        draw=[da.Point((r * sp.cos(phi), r * sp.sin(phi))), da.Point((r, 0))],
    )
    reduced = whole.reduce()
    assert set(reduced.outputs) == {"speed", "turning"}
    assert len(reduced.draw) == 1
    few, many = reduced.simulate(2.0, samples=9, rtol=1e-10), whole.simulate(2.0, samples=9, rtol=1e-10)
    np.testing.assert_allclose(few["speed"], many["speed"], atol=CLOSE)
    np.testing.assert_allclose(few["turning"], many["turning"], atol=CLOSE)
    np.testing.assert_allclose(reduced.reconstruct(few)["x"], many["x"], atol=CLOSE)
