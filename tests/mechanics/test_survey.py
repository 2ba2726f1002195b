"""Somani's survey, equation by equation, where no other test has the printed equation itself."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.mechanics.classify.pfaffian import Integrator
from dalembert.mechanics.classify.witness import coefficient, witness
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import standard_form

x, y, z, theta, phi = da.coordinates("x y z theta phi")
m, g, l, k, w = da.parameters("m g l k w")
ROUNDING = 1e-12


def pendulum(**more) -> da.System:
    arguments = {"parameters": {m: 1.5, g: 9.81, l: 2}, "initial": {x: 1.2, y: -1.6, x.d: 0.8, y.d: 0.6}} | more
    return da.System(
        "pendulum", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"rod": x**2 + y**2 - l**2}, **arguments,
    )  # fmt: skip


# -- 1: Gauss


def test_gauss_of_particles():
    """(1)–(3): G = ½Σ m|r̈ − F/m|² = ½(a − a_u)ᵀM(a − a_u). Ours is without the ½, and says so."""
    now = pendulum().at()
    a, force = now.acceleration, np.array([0.0, -1.5 * 9.81])
    printed = 1.5 * np.sum((a - force / 1.5) ** 2) / 2
    assert now.gauss() / 2 == pytest.approx(printed, rel=ROUNDING)
    d = a - now.unconstrained
    assert now.gauss() / 2 == pytest.approx(d @ now.M @ d / 2, rel=ROUNDING)
    assert "G_Somani = G_ni/2   [(1), as in Gauss]" in pendulum().equations("gauss").text()


def test_constraint_plane_and_multiplier():
    """n·q̈ = s and m q̈ = F − λn with λ = (n·F − m s)/(n·n): the negative of ours."""
    now = pendulum().at()
    n, s = now.A[0], now.b[0]
    assert n @ now.acceleration == pytest.approx(s, rel=ROUNDING)
    printed = (n @ now.Q - 1.5 * s) / (n @ n)
    np.testing.assert_allclose(1.5 * now.acceleration, now.Q - printed * n, rtol=1e-11)
    assert now.multipliers[0] == pytest.approx(-printed, rel=ROUNDING)
    assert "lambda_Somani = -lambda_1" in pendulum().equations("gauss").text()


def test_g_is_stationary_on_the_constraint():
    """∂(G − λC)/∂r̈ = 0 with the G of (1): here λ has our sign, not that of m q̈ = F − λn."""
    now = pendulum().at()
    gradient = now.M @ (now.acceleration - now.unconstrained)
    np.testing.assert_allclose(gradient - now.multipliers[0] * now.A[0], 0.0, atol=1e-11)


def test_a_thermostat_does_work():
    """ "Thermodynamic constraints are invariably nonholonomic", and a nonholonomic constraint may do work."""
    motion = da.library.isokinetic().simulate(2.0)
    assert np.ptp(motion["work ideal"]) > 0.1
    assert np.ptp(motion["kinetic"]) < 1e-8 * motion["kinetic"][0]


def test_a_fixed_coordinate_is_left_out():
    """The height of a skater on the ice: "we can ignore these degrees of freedom"."""
    skate = da.System(
        "skater on ice", coordinates=[x, y, z, phi], kinetic=m * (x.d**2 + y.d**2 + z.d**2) / 2 + phi.d**2 / 2,
        potential=m * g * z, constraints={"ice": z, "edge": x.d * sp.sin(phi) - y.d * sp.cos(phi)},
        parameters={m: 60, g: 9.81}, initial={x: 0, y: 0, z: 0, phi: 0, x.d: 2, y.d: 0, z.d: 0, phi.d: 1},
    )  # fmt: skip
    reduced = skate.reduce()
    assert z not in reduced.coordinates
    assert dict(reduced.places) == {z: 0}
    found = reduced.reconstruct(reduced.simulate(1.0, samples=21))
    np.testing.assert_allclose(found["ideal z"], 60 * 9.81, rtol=1e-9)
    np.testing.assert_allclose(found["x"], 2 * np.sin(found.t), atol=1e-7)


# -- 2: least action


def test_action_is_the_mean_of_L_times_the_time():
    """(4), (24): S = (K − V)_avg t = ∫L dt, for the motion between two places."""
    ball = da.System("ball", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
                     parameters={m: 2, g: 10})  # fmt: skip
    passage = ball.between({x: 0, y: 0}, {x: 8, y: 0}, 2)
    motion = passage.motion(times=np.linspace(0, 2, 401))
    # Simpson's rule is exact for the square of a velocity that grows linearly.
    K, V, h = motion["kinetic"], motion["potential"], 2 / 400
    weights = np.r_[1, np.tile([4, 2], 199), 4, 1] * h / 3
    assert weights @ (K - V) == pytest.approx(passage.action, rel=1e-9)
    assert weights @ motion["L"] == pytest.approx(passage.action, rel=1e-9)


def test_least_kinetic_energy():
    """Where V does not change, ∫K dt/t is least for the motion: a straight line at a steady speed, mL²/(2t²)."""
    free = da.System("free", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, parameters={m: 2})
    passage = free.between({x: 0, y: 0}, {x: 3, y: 4}, 2)
    assert passage.kind == "minimum"
    assert passage.action / 2 == pytest.approx(2 * 25 / (2 * 4), rel=1e-10)
    # Another way there: x = 3τ, y = 4τ²; the mean of m(9 + 64τ²)/(2·4) is larger.
    assert passage.action / 2 < 2 * (9 + 64 / 3) / 8


# -- 4: Hamilton


def driven() -> da.System:
    """A bead on a rod that is turned, with a spring that changes: L₀, a and m of (17), and time."""
    kinetic = m * (x.d**2 + (y.d + w * x) ** 2) / 2
    return da.System("driven", coordinates=[x, y], kinetic=kinetic, potential=k * sp.cos(da.t) * x**2 / 2 + g * y)


def test_differentials_of_L_and_H():
    """(12), (13): ∂L/∂q = ṗ on the motion, ∂L/∂q̇ = p; dH = q̇dp − ṗdq − (∂L/∂t)dt."""
    system = driven()
    found = system.equations("hamilton")
    L = system.kinetic - system.potential
    H = found.hamiltonian
    back = dict(found.momenta)
    for q, p in zip(system.coordinates, found.momenta, strict=True):
        assert sp.simplify(sp.diff(L, q.d) - found.momenta[p]) == 0
        assert sp.simplify(sp.diff(H, p).xreplace(back) - q.d) == 0
        assert sp.simplify((sp.diff(H, q)).xreplace(back) + sp.diff(L, q)) == 0
    s = sp.Dummy("s", real=True)  # in the place of t, by which SymPy's derivative takes coordinates for constants
    explicit = [sp.diff(e.xreplace({da.t: s}), s).xreplace({s: da.t}) for e in (H, L)]
    assert sp.simplify(explicit[0].xreplace(back) + explicit[1]) == 0


def test_procedure_for_H():
    """(15)–(17): the velocities as functions of (q, p, t), and H = ½(p − a)ᵀT⁻¹(p − a) − L₀."""
    found = driven().equations("hamilton")
    p_x, p_y = found.momenta
    a = sp.Matrix([0, m * w * x])
    T = m * sp.eye(2)
    L0 = m * w**2 * x**2 / 2 - k * sp.cos(da.t) * x**2 / 2 - g * y
    p = sp.Matrix([p_x, p_y])
    printed = ((p - a).T * T.inv() * (p - a))[0] / 2 - L0
    assert sp.simplify(found.hamiltonian - printed) == 0
    assert [sp.simplify(v) for v in found.velocities.values()] == list((T.inv() * (p - a)).applyfunc(sp.simplify))
    assert found.to_dict()["momenta"] == {"p_x": "m*x'", "p_y": "m*(w*x + y')"}


def test_momenta_and_energies_along_a_motion():
    """(18)–(20): the momentum of a cyclic coordinate stays, H stays where L has no time, and is T + V."""
    planet = da.System("planet", coordinates=[x, phi], kinetic=m * (x.d**2 + x**2 * phi.d**2) / 2, potential=-k / x,
                       parameters={m: 2, k: 3}, initial={x: 1, phi: 0, x.d: 0.2, phi.d: 1.3})  # fmt: skip
    motion = planet.simulate(4.0)
    np.testing.assert_allclose(motion["p_phi"], 2 * 1.3, rtol=1e-8)
    np.testing.assert_allclose(motion["p_phi"], 2 * motion["x"] ** 2 * motion["phi'"], rtol=ROUNDING)
    np.testing.assert_allclose(motion["p_x"], 2 * motion["x'"], rtol=ROUNDING)
    np.testing.assert_allclose(motion["H"], motion["kinetic"] + motion["potential"], rtol=ROUNDING)
    np.testing.assert_allclose(motion["H"], motion["H"][0], rtol=1e-7)
    np.testing.assert_allclose(motion["kinetic"] - motion["potential"], motion["L"], rtol=ROUNDING)


def test_H_that_is_not_the_energy():
    """(19), (20) where the transformation holds time: H stays, T + V does not."""
    hoop = da.System("bead", coordinates=[x], lagrangian=m * (x.d**2 + w**2 * x**2) / 2, parameters={m: 2, w: 1.5},
                     initial={x: 0.3, x.d: 0})  # fmt: skip
    motion = hoop.simulate(1.0)
    np.testing.assert_allclose(motion["H"], motion["H"][0], atol=1e-8)
    # Given by L alone, T is its part of second degree in the velocities.
    np.testing.assert_allclose(motion["kinetic"], motion["x'"] ** 2, rtol=ROUNDING)
    np.testing.assert_allclose(motion["potential"], -(1.5**2) * motion["x"] ** 2, rtol=ROUNDING)
    varying = driven().replace(parameters={"m": 1, "w": 1, "k": 2, "g": 1}, initial={"x": 1, "y": 0, "x'": 0, "y'": 0})
    motion = varying.simulate(1.0, samples=201)
    rate = np.gradient(motion["H"], motion.t, edge_order=2)[2:-2]
    # dH/dt = −∂L/∂t = −k sin(t) x²/2; differences over 0.005 are good to their square.
    np.testing.assert_allclose(rate, -np.sin(motion.t[2:-2]) * motion["x"][2:-2] ** 2, atol=1e-4)


def test_names_of_a_motion():
    motion = pendulum().simulate(0.2, samples=5)
    with pytest.raises(KeyError, match=r"no column 'kinetik'.*'kinetic'.*There are: t, x, y, .*potential, L, H, p_x"):
        motion["kinetik"]
    given = da.System("given", coordinates=[x], mass=[[2]], forces={x: -x}, initial={x: 1, x.d: 1}).simulate(1.0)
    np.testing.assert_allclose(given["kinetic"], given["x'"] ** 2)
    np.testing.assert_allclose(given["potential"], 0.0)
    start = {"x": 0, "p_x": 5, "x'": 2, "p_x'": 0}
    named = da.System("named", coordinates=["x", "p_x"], kinetic="x'^2/2 + p_x'^2/2", initial=start)
    found = named.simulate(1.0)
    np.testing.assert_allclose(found["p_x"], 5.0)  # the coordinate, whose name it is
    np.testing.assert_allclose(found["P_x"], 2.0)
    fast = da.System("fast", coordinates=[x], lagrangian=-sp.sqrt(1 - x.d**2), initial={x: 0, x.d: 0.6}).simulate(1.0)
    np.testing.assert_allclose(fast["p_x"], 0.75)
    np.testing.assert_allclose(fast["H"], 1.25)
    with pytest.raises(KeyError, match="no column 'kinetic'"):
        fast["kinetic"]


# -- 5: Maupertuis


def test_abbreviated_action_and_action():
    """Before (21): S = S₀ − E t, for the path with its time and the motion between the same places."""
    ball = da.System("ball", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
                     parameters={m: 2, g: 10})  # fmt: skip
    path = ball.path({x: 0, y: 0}, {x: 8, y: 1}, energy=120)
    passage = ball.between({x: 0, y: 0}, {x: 8, y: 1}, path.duration)
    assert path.action - 120 * path.duration == pytest.approx(passage.action, rel=1e-8)
    # (22), one mass: S₀ = ∫√(2(E − V)m) dl, by the trapezoidal rule on a fine path.
    fine = ball.path({x: 0, y: 0}, {x: 8, y: 1}, energy=120, samples=4001)
    dl = np.hypot(np.diff(fine["x"]), np.diff(fine["y"]))
    root = np.sqrt(2 * (120 - 20 * fine["y"]) * 2)
    assert np.sum(dl * (root[1:] + root[:-1]) / 2) == pytest.approx(path.action, rel=1e-6)


# -- 6: Udwadia and Kalaba


def printed_28(a: sp.Expr, b: sp.Expr, c: sp.Expr) -> sp.Expr:
    return (
        a * (sp.diff(b, z) - sp.diff(c, y)) + b * (sp.diff(c, x) - sp.diff(a, z)) + c * (sp.diff(a, y) - sp.diff(b, x))
    )


def skate(**more) -> da.System:
    constraints = {"edge": x.d * sp.sin(theta) - y.d * sp.cos(theta)}
    arguments = {"kinetic": (x.d**2 + y.d**2 + theta.d**2) / 2, "constraints": constraints} | more
    return da.System("skate", coordinates=[x, y, theta], **arguments)


def test_integrability_test():
    """(28) is −a·curl a: zero for y z dx + x z dy + x y dz, and for what is its multiple; −1 for a knife edge."""
    for form in [(y * z, x * z, x * y), (y, -x, z * x), (x * y**2, x**2 * y, sp.exp(z)), (sp.sin(z), -sp.cos(z), 0)]:
        form = tuple(sp.sympify(a) for a in form)
        assert sp.simplify(coefficient([form], (x, y, z), (0, 1, 2)) + printed_28(*form)) == 0
    (kind,) = skate().classify().constraints
    assert kind.witness == "a·curl a = -1 ≠ 0"
    assert "not integrable (a·curl a = -1 ≠ 0)" in str(kind)
    (rolling,) = skate(constraints={"c": y * x.d + x * y.d + 2 * theta.d}).classify().constraints
    assert rolling.integrable
    assert rolling.witness is None


def test_integrability_of_several():
    """dω₁ ∧ ω₁ ∧ ω₂ of the penny is ∓R sin φ, of its other constraint ∓R cos φ, by hand."""
    found = {kind.name: kind.witness for kind in da.library.penny().classify().constraints}
    assert found == {
        "roll x": "dω1 ∧ ω1 ∧ ω2 = -R*sin(phi) ≠ 0 on x, y, psi, phi",
        "roll y": "dω1 ∧ ω1 ∧ ω2 = -R*cos(phi) ≠ 0 on x, y, psi, phi",
    }
    # A cart: its wheels' forms are closed modulo all three, and not by themselves.
    cart = {kind.name: kind.witness or "" for kind in da.library.cart().classify().constraints}
    assert "derived system" not in cart["knife edge"]
    assert cart["left wheel"].endswith("of the derived system")


def test_time_is_a_variable_of_the_test():
    moving = da.System("m", coordinates=[x, y], kinetic=x.d**2 + y.d**2, constraints={"c": x.d - da.t * y.d})
    assert moving.classify().constraints[0].witness == "a·curl a = 1 ≠ 0"


def test_no_witness_is_invented():
    """Of a constraint that is integrable, nonlinear, or none there is nothing to show."""
    system = skate(constraints={"edge": x.d * sp.sin(theta) - y.d * sp.cos(theta), "held": theta})
    integrator = Integrator(Sampler(standard_form(system)))
    assert witness(integrator, "edge") is None  # held, a straight line
    assert witness(integrator, "nowhere") is None
    (curved,) = skate(constraints={"c": x.d**2 + y.d**2 - 4}).classify().constraints
    assert curved.integrable is False
    assert curved.witness is None


def test_moore_penrose_inverse_of_vectors():
    """(30) and W⁺ = V Δ⁻¹Uᵀ: NumPy's pinv, by which K = M^(−1/2)(AM^(−1/2))⁺ is checked."""
    row = np.array([[1.0, -2.0, 2.0]])
    np.testing.assert_allclose(np.linalg.pinv(row), row.T / 9, atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.pinv(row.T), row / 9, atol=ROUNDING)
    W = np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])
    U, delta, Vt = np.linalg.svd(W)
    np.testing.assert_allclose(np.linalg.pinv(W), Vt[:1].T / delta[0] @ U[:, :1].T, atol=ROUNDING)
    now = pendulum().at()
    root = now.M[0, 0] ** -0.5
    np.testing.assert_allclose(now.K, root * np.linalg.pinv(now.A * root), rtol=1e-11)


def test_constraint_force_as_printed():
    """(31): F^c = M^(1/2)(AM^(−1/2))⁺(b − AM⁻¹F)."""
    now = pendulum().at()
    root = np.sqrt(now.M)
    force = root @ np.linalg.pinv(now.A @ np.linalg.inv(root)) @ (now.b - now.A @ np.linalg.solve(now.M, now.Q))
    np.testing.assert_allclose(now.ideal, force, rtol=1e-11)


def test_nonideal_force_as_printed():
    """(32) with M^(1/2)(AM^(−1/2))⁺ in the middle, which is printed M^(−1/2)(AM^(−1/2))."""
    C = {x: -0.3 * x.d * m, y: -0.7 * y.d}
    now = pendulum(nonideal=[da.Work(C, "rod")]).at()
    root, inverse = np.sqrt(now.M), np.diag(1 / np.sqrt(np.diag(now.M)))
    B = now.A @ inverse
    plus = np.linalg.pinv(B)
    force = now.Q + root @ plus @ (now.b - now.A @ inverse @ inverse @ now.Q)
    force += root @ (np.eye(2) - plus @ B) @ inverse @ now.C
    np.testing.assert_allclose(now.M @ now.acceleration, force, rtol=1e-11)
    assert abs(now.nonideal).max() > 0.01


def test_the_force_is_unique_where_multipliers_are_not():
    """(33): Aᵀλ is the same for all λ that redundant rows leave."""
    twice = pendulum().replace(constraints={"rod": x**2 + y**2 - l**2, "again": 3 * (x**2 + y**2 - l**2)})
    now, once = twice.at(), pendulum().at()
    assert now.dependent == ("again",)
    np.testing.assert_allclose(now.A.T @ now.multipliers, once.A.T @ once.multipliers, rtol=1e-11)
    for shift in (-1.0, 2.5):
        other = now.multipliers + shift * np.array([3.0, -1.0])
        np.testing.assert_allclose(now.A.T @ other, now.ideal, rtol=1e-11)
