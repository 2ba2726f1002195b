"""Gauss's principle: hand-made minima, the three forms of G, the survey's multiplier, and every other principle."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from random_systems import systems
from sympy import cos, sin, sqrt

import dalembert as da
from dalembert.mechanics.principles import gauss
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.friction.contact import needs_legs

SMOOTH = [name for name in da.library.names() if name != "rough_incline" and not needs_legs(da.library.get(name))]


def solve(system: da.System, C: np.ndarray | None = None):
    """The principle's own answer at the initial state."""
    sampler = Sampler(standard_form(system))
    q, v, t = system.initial_values()
    none = np.zeros(len(q)) if C is None else C
    return gauss.prepare(system, sampler)(Sample(q, v, t, sampler.p), none)


# -- by hand


def test_block_on_a_frictionless_incline():
    """y = x tanθ: G = (ẍ² + (ÿ + g)²) m with ÿ = ẍ tanθ is least at ẍ = −g sinθ cosθ."""
    x, y = da.coordinates("x y")
    block = da.System(
        "block",
        coordinates=[x, y],
        kinetic=x.d**2 + y.d**2,
        potential=2 * 9.81 * y,
        constraints={"plane": y - x * sp.tan(sp.Rational(1, 2))},
        initial={x: 0, y: 0, x.d: 0, y.d: 0},
    )
    found = solve(block)
    s, c = np.sin(0.5), np.cos(0.5)
    assert found.acceleration == pytest.approx([-9.81 * s * c, -9.81 * s * s], rel=1e-14)
    assert found.force == pytest.approx([-2 * 9.81 * s * c, 2 * 9.81 * c * c], rel=1e-14)


def test_appell_particle_with_drag_has_the_printed_forces():
    """Example 1 of Udwadia 2005, with the squares of velocities that (29) and (30) lost in print: for unit mass
    Q_i = (αġ − ẋF_x − ẏF_y + żF_z)/u² (ẋ, ẏ, −ż), Q_ni = −2a₀/|u| (ẋż², ẏż², ż(ẋ² + ẏ²)).
    """
    system = da.library.appell_hamel().replace(parameters={"m": 1.0})
    known = {p.name: float(value) for p, value in system.parameters.items()}
    _, (u, v, w), t = system.initial_values()
    size = np.sqrt(u * u + v * v + w * w)
    C = -known["a0"] * size * np.array([u, v, w])
    rate = known["alpha"] * known["depth"] * known["rate"] * np.cos(known["rate"] * t)
    push = np.array([known["push"], 0.0, -known["gravity"]])
    ideal = (rate - u * push[0] - v * push[1] + w * push[2]) / size**2 * np.array([u, v, -w])
    nonideal = -2 * known["a0"] / size * np.array([u * w * w, v * w * w, w * (u * u + v * v)])
    assert solve(system).force == pytest.approx(ideal, rel=1e-12)
    assert solve(system, C).force == pytest.approx(ideal + nonideal, rel=1e-12)


def test_nonlinear_constraint_takes_the_nearer_of_two_stationary_points():
    """|q̈| = a₀ has its stationary points along the impressed force and against it; the first is the motion."""
    for push, g in ((3.0, 9.81), (-2.0, 1.0), (0.1, -4.0)):
        found = solve(da.library.prescribed_acceleration(push=push, g=g, a0=5.0))
        force = np.array([push, -g])
        assert found.acceleration == pytest.approx(5.0 * force / np.linalg.norm(force), rel=1e-12)


def test_nonlinear_constraints_with_others():
    """|q̈|² = 25 on the plane ẍ + ÿ + z̈ = 3, free acceleration (0, 0, −10): the circle of the plane about (1, 1, 1) with
    radius √22; its nearest point to the free one lies along (1, 1, −2). The same constraint twice changes nothing.
    """
    x, y, z = da.coordinates("x y z")
    size = x.dd**2 + y.dd**2 + z.dd**2 - 25
    expected = 1 + np.sqrt(22 / 6) * np.array([1.0, 1.0, -2.0])
    for more in ({}, {"again": 3 * size}, {"plane again": 2 * (x.d + y.d + z.d - 3 * da.t)}):
        particle = da.System(
            "particle",
            coordinates=[x, y, z],
            kinetic=(x.d**2 + y.d**2 + z.d**2) / 2,
            potential=10 * z,
            constraints={"size": size, "plane": x.d + y.d + z.d - 3 * da.t, **more},
            initial={x: 0, y: 0, z: 0, x.d: 1, y.d: 1, z.d: -2},
        )
        found = solve(particle)
        assert found.acceleration == pytest.approx(expected, rel=1e-12)
        assert found.force == pytest.approx(expected + np.array([0, 0, 10]), rel=1e-12)


def test_two_least_minima_are_no_motion():
    """Without any force, all accelerations of the prescribed size are equally near to zero."""
    with pytest.raises(NotHere, match="several"):
        solve(da.library.prescribed_acceleration(push=0.0, g=0.0))


# -- the three forms


@pytest.mark.filterwarnings("ignore:.*is not possible")  # G has values off the constraints, too
@pytest.mark.parametrize("name", SMOOTH)
def test_three_forms_of_g_are_one(name: str):
    """(16), (17) and (19), written out, agree with each other and with G of an instant at accelerations of any kind."""
    system = da.library.get(name)
    found = system.equations("gauss")
    if found.by_acceleration is None:
        assert name in ("hinged_rods", "quaternion_body")  # six coupled coordinates; a singular M
        assert found.reason
        return
    sampler = Sampler(standard_form(system))
    q, v, t = system.initial_values()
    state, accelerations = Sample(q, v, t, sampler.p), system.accelerations
    now = system.at()
    by_force = sampler.function([found.by_force], found.forces)
    others = sampler.function([found.by_acceleration, found.by_deviation], accelerations)
    for z in np.random.default_rng(1).normal(size=(3, len(q))) * 3:
        first, third = others(state, *z)
        (second,) = by_force(state, *(now.M @ z - now.Q))
        if not np.isfinite(first):  # at the upright penny's own state two axes coincide and M is singular
            assert name == "upright_penny"
            continue
        assert [second, third] == pytest.approx([first, first], rel=1e-11)
        assert now.gauss(z) == pytest.approx(first, rel=1e-9)


def test_skater_reads_as_by_hand():
    """G = J φ̈² + m ÿ² + m (ẍ − g sinα)²."""
    skater = da.library.skater()
    x, y, phi = skater.coordinates
    m, J, g, alpha = da.parameters("m J g alpha")
    found = skater.equations("gauss")
    by_hand = J * phi.dd**2 + m * y.dd**2 + m * (x.dd - g * sin(alpha)) ** 2
    assert sp.simplify(found.by_deviation - by_hand) == 0
    assert sp.simplify(found.by_acceleration - by_hand) == 0
    # the knife edge: λ = −m (φ̇ (ẋ cosφ + ẏ sinφ) + g sinα sinφ)
    edge = -m * (phi.d * (x.d * cos(phi) + y.d * sin(phi)) + g * sin(alpha) * sin(phi))
    assert sp.simplify(found.multiplier - edge) == 0
    assert "(17)" in found.text()
    assert r"\hat{F}_{x}" in found.latex()


def test_g_exceeds_its_minimum_by_the_distance():
    """(15): G(z) − G(q̈) = (z − q̈)ᵀM(z − q̈) for every possible z."""
    system = da.library.penny()
    now, best = system.at(), solve(system).acceleration
    null = np.linalg.svd(now.A)[2][2:].T
    for step in np.random.default_rng(2).normal(size=(5, 2)):
        d = null @ step
        assert now.gauss(best + d) - now.gauss(best) == pytest.approx(d @ now.M @ d, rel=1e-12)


# -- the survey: the Gaussian multiplier and the thermostat


def test_gaussian_multiplier_of_the_thermostat():
    """One particle held at constant kinetic energy: n = mv, s = 0, and with m q̈ = F − λ n, λ = n·F/(n·n) of the survey,
    which is F·p/p². Here the multiplier counts the other way, along ∂ψ/∂q̇ = p.
    """
    x, y = da.coordinates("x y")
    m, fx, fy, K = da.parameters("m f_x f_y K")
    particle = da.System(
        "thermostatted particle",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        forces={x: fx, y: fy},
        constraints={"thermostat": m * (x.d**2 + y.d**2) / 2 - K},
        parameters={m: 2, fx: 3, fy: -1, K: 25},
        initial={x: 0, y: 0, x.d: 3, y.d: 4},
    )
    found = particle.equations("gauss")
    p, F = sp.Matrix([m * x.d, m * y.d]), sp.Matrix([fx, fy])
    survey = p.dot(F) / p.dot(p)
    assert sp.simplify(found.multiplier + survey) == 0
    # F·v = 3·3 − 1·4 = 5, v² = 25: q̈ = F/m − (F·v/(m v²)) v = (1.5, −0.5) − 0.1 (3, 4)
    answer = solve(particle)
    assert answer.acceleration == pytest.approx([1.2, -0.9], rel=1e-14)
    assert answer.acceleration @ [3, 4] == pytest.approx(0, abs=1e-14)
    assert particle.compare().agree


def test_multiplier_of_the_isokinetic_library_system():
    system = da.library.isokinetic()
    value = Sampler(standard_form(system)).function([system.equations("gauss").multiplier])
    q, v, t = system.initial_values()
    state = Sample(q, v, t, system.parameter_values())
    assert value(state)[0] == pytest.approx(system.at().multipliers[0], rel=1e-13)


# -- hard data


def quadratic_program(M: np.ndarray, force: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same minimum by a solver of quadratic programs."""
    quiet = {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": True}
    tight = {"constr_viol_tol": 1e-12, "dual_inf_tol": 1e-12}
    shape = {"h": ca.Sparsity.dense(*M.shape), "a": ca.Sparsity.dense(*A.shape)}
    program = ca.conic("gauss", "qrqp", shape, {**quiet, **tight})
    return np.array(program(h=M, g=-force, a=A, lba=b, uba=b)["x"]).ravel()


@pytest.mark.parametrize("seed", range(6))
def test_a_quadratic_programming_solver_finds_the_same(seed: int):
    draw = np.random.default_rng(seed)
    n, m = 6, 3
    X = draw.normal(size=(n, n))
    M, A = X @ X.T + np.eye(n), draw.normal(size=(m, n))
    force, b = draw.normal(size=n), draw.normal(size=m)
    expected = quadratic_program(M, force, A, b)
    assert gauss.least_deviation(M, force, A, b) == pytest.approx(expected, rel=1e-11, abs=1e-12)
    # redundant rows, of any length, change nothing
    rows = np.vstack([A, 1e6 * (A[0] - A[2]), 1e-6 * A[1]])
    right = np.concatenate([b, [1e6 * (b[0] - b[2])], [1e-6 * b[1]]])
    assert gauss.least_deviation(M, force, rows, right) == pytest.approx(expected, rel=1e-11, abs=1e-12)
    # nor do units of the coordinates: z = D y
    D = 10.0 ** draw.uniform(-6, 6, size=n)
    moved = gauss.least_deviation(M * np.outer(D, D), D * force, A * D, b)
    assert D * moved == pytest.approx(expected, rel=1e-10, abs=1e-10)
    # a singular M, with a force outside its range
    M = X[:, :4] @ X[:, :4].T
    expected = quadratic_program(M, force, A, b)
    assert gauss.least_deviation(M, force, A, b) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert D * gauss.least_deviation(M * np.outer(D, D), D * force, A * D, b) == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )


def test_contradicting_rows_are_said():
    with pytest.raises(NotHere, match="contradict"):
        gauss.least_deviation(np.eye(2), np.zeros(2), np.array([[1.0, 0], [2.0, 0]]), np.array([1.0, 3.0]))


def test_an_undetermined_direction_is_said():
    with pytest.raises(NotHere, match="do not determine"):
        gauss.least_deviation(np.diag([1.0, 0.0]), np.zeros(2), np.array([[1.0, 0.0]]), np.array([1.0]))


def test_dry_friction_is_shown_sliding():
    x, y = da.coordinates("x y")
    block = da.System(
        "block", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, constraints={"floor": y},
        nonideal=[da.Coulomb("floor", mu=0.3)],
    )  # fmt: skip
    found = block.equations("gauss")
    assert "shown sliding" in found.reason
    assert (
        sp.simplify(found.by_deviation - (x.dd + 0.3 * sp.Abs(da.multiplier("floor")) * sp.sign(x.d)) ** 2) == y.dd**2
    )


def test_an_actual_reaction_in_c_is_solved_with_it():
    """A bead on a circle, its friction −μ times the actual force: C has to agree with the force it changes."""
    x, y = da.coordinates("x y")
    pull = sqrt(da.actual(x) ** 2 + da.actual(y) ** 2) / 5
    bead = da.System(
        "bead",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=9.81 * y,
        constraints={"ring": x**2 + y**2 - 1},
        nonideal=[da.Work({x: -pull * x.d + pull * x / 3, y: -pull * y.d + pull * y / 3})],
        initial={x: 0.6, y: 0.8, x.d: -0.8, y.d: 0.6},
    )
    assert bead.compare(["gauss"]).agree


@settings(max_examples=25, deadline=None)
@given(system=systems())
def test_random_systems(system: da.System):
    try:
        found = system.compare(["gauss"], states=2)
    except da.DalembertError:
        assume(False)
    assert found["gauss"].applies, str(found)
    assert found.agree, str(found)
