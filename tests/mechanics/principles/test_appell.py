"""Gibbs-Appell: functions S and equations by hand, chosen and given quasi-velocities, faults in them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from random_systems import systems
from rolling import disc, disc_rates, sleigh, sleigh_gibbs, sleigh_rates
from sympy import cos, sin

import dalembert as da
from dalembert.library.systems.quaternion_body import RATES
from dalembert.mechanics.equations import equations
from dalembert.mechanics.principles import appell, gauss, kane
from dalembert.mechanics.principles.appell import AppellEquations
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.friction.contact import needs_legs
from dalembert.model.language.symbols import Coordinate

# The quaternion body has a test of its own, in the rates of the body.
OTHERS = ("prescribed_acceleration", "rough_incline", "quaternion_body")
LINEAR = [name for name in da.library.names() if name not in OTHERS and not needs_legs(da.library.get(name))]


def u(*names: str) -> list[Coordinate]:
    return [Coordinate.named(name) for name in names]


def same(left: sp.Expr, right: sp.Expr) -> bool:
    return sp.simplify(sp.expand(left - right)) == 0


def with_rates(expression: sp.Expr, rates: list[Coordinate]) -> sp.Expr:
    """What of it depends on the rates: S is known up to the rest."""
    return sp.expand(expression) - sp.expand(expression).xreplace(dict.fromkeys(rates, sp.S.Zero))


# -- by hand


def test_penny_in_forward_speed_and_turn_rate():
    """v = ẋ cosφ + ẏ sinφ, ω = φ̇: the centre accelerates by v̇ along and vω across, the penny spins with v/R.

    S = ½m v̇² + ½ βmR² (v̇/R)² + ½ (βmR²/2) ω̇², U = (mg sinα cosφ, 0).
    """
    penny = da.library.penny()
    x, y, _, phi = penny.coordinates
    m, R, beta, g, alpha = da.parameters("m R beta g alpha")
    v, omega = u("v", "omega")
    found = penny.equations("appell", quasi_velocities={"v": x.d * cos(phi) + y.d * sin(phi), "omega": phi.d})
    assert same(found.gibbs, m * (1 + beta) * v.d**2 / 2 + beta * m * R**2 * omega.d**2 / 4)
    assert same(found.forces[0], m * g * sin(alpha) * cos(phi))
    assert found.forces[1] == 0
    assert same(found.rates[0], g * sin(alpha) * cos(phi) / (1 + beta))
    assert found.rates[1] == 0
    assert [sp.simplify(value) for value in found.quasi.velocities] == [v * cos(phi), v * sin(phi), v / R, omega]
    assert found.explicit
    assert "v' = " in found.text()


def test_penny_chooses_its_own_angles():
    """The constraints are solved for ẋ and ẏ; S = ½m(1+β)R²ψ̈² + ¼βmR²φ̈²."""
    penny = da.library.penny()
    _, _, psi, phi = penny.coordinates
    m, R, beta = da.parameters("m R beta")
    found = penny.equations("appell")
    assert found.quasi.symbols == (psi.d, phi.d)
    assert same(found.gibbs, m * (1 + beta) * R**2 * psi.dd**2 / 2 + beta * m * R**2 * phi.dd**2 / 4)


def test_skater_in_forward_speed_and_turn_rate():
    """m v̇ = mg sinα cosφ, J ω̇ = 0; no state is singular, as there is with ẋ and φ̇."""
    skater = da.library.skater()
    given_ = {"v": "x'*cos(phi) + y'*sin(phi)", "omega": "phi'"}
    found = skater.equations("appell", quasi_velocities=given_)
    m, J, g, alpha = da.parameters("m J g alpha")
    v, omega = u("v", "omega")
    phi = skater.coordinates[2]
    assert same(found.gibbs, m * v.d**2 / 2 + J * omega.d**2 / 2)
    assert same(found.rates[0], g * sin(alpha) * cos(phi))
    assert found.reason == ""
    assert "where cos(phi) is not zero" in skater.equations("appell").reason


def test_sleigh_with_a_mass_matrix_that_depends_on_position():
    system, names = sleigh()
    v, omega = u("v", "omega")
    found = system.equations("appell", quasi_velocities=names)
    assert same(found.gibbs, with_rates(sleigh_gibbs(v, omega), [v.d, omega.d]))
    assert all(same(a, b) for a, b in zip(found.rates, sleigh_rates(v, omega), strict=True))
    assert found.forces == (0, 0)


def test_rolling_disc():
    system, names = disc()
    found = system.equations("appell", quasi_velocities=names)
    expected = disc_rates(u(*names), system.coordinates[3])
    assert all(same(a, b) for a, b in zip(found.rates, expected, strict=True))


def test_appell_hamel_by_its_own_function():
    """ẍ from the constraint, ẋẍ = αġ − ẏÿ + żz̈, in S = ½m(ẍ² + ÿ² + z̈²): a constraint nonlinear in the velocities."""
    system = da.library.appell_hamel()
    found = system.equations("appell")
    x, y, z = system.coordinates
    assert found.quasi.velocities is None
    assert found.quasi.symbols == (y.d, z.d)
    m, alpha, depth, rate = da.parameters("m alpha depth rate")
    slope = (alpha * depth * rate * cos(rate * da.t) - y.d * y.dd + z.d * z.dd) / x.d
    assert same(found.gibbs, with_rates(m * (slope**2 + y.dd**2 + z.dd**2) / 2, [y.dd, z.dd]))


def test_rigid_body_in_body_rates_obeys_euler():
    """M is singular. With u the angular velocity in the body, ω̇₁ = (I₂ − I₃) ω₂ω₃/I₁ and so on."""
    body = da.library.quaternion_body()
    names = dict(zip(("wa", "wb", "wc"), RATES, strict=True))
    found = body.equations("appell", quasi_velocities=names)
    state, rates, _ = _numbers(found)
    w = np.array([0.8, 0.3, 1.2])  # the library's start
    inertia = np.array([1.0, 2.0, 3.0])
    expected = np.cross(inertia * w, w) / inertia
    assert rates == pytest.approx(expected, rel=1e-12)
    assert state.q == pytest.approx([1, 0, 0, 0])


# -- the equations shown are those of the motion


def _numbers(found: AppellEquations) -> tuple[Sample, np.ndarray, np.ndarray]:
    """State, u̇ and q̈ that the equations shown give at the initial state."""
    system, quasi = found.system, found.quasi
    sampler = Sampler(standard_form(system))
    q, v, t = system.initial_values()
    state = Sample(q, v, t, sampler.p)
    extra = [s for s in quasi.symbols if s not in system.velocities]
    values = sampler.function(quasi.definitions)(state)[: len(extra)]
    p = len(quasi.rates)
    slopes = [sp.diff(found.gibbs, rate) for rate in quasi.rates]
    none = dict.fromkeys(quasi.rates, sp.S.Zero)
    parts = [sp.diff(slope, rate) for slope in slopes for rate in quasi.rates]
    parts += [U - slope.xreplace(none) for U, slope in zip(found.forces, slopes, strict=True)]
    ideal = {da.ideal(c): value for c, value in zip(system.coordinates, system.at().ideal, strict=True)}
    numbers = sampler.function([part.subs(ideal) for part in parts], extra)(state, *values)
    rates = np.linalg.solve(numbers[: p * p].reshape(p, p), numbers[p * p :]) if p else np.zeros(0)
    accelerations = sampler.function(quasi.accelerations, [*extra, *quasi.rates])(state, *values, *rates)
    return state, rates, accelerations


@pytest.mark.parametrize("name", LINEAR)
def test_equations_shown_give_the_motion(name: str):
    system = da.library.get(name)
    found = system.equations("appell")
    _, _, accelerations = _numbers(found)
    if not np.all(np.isfinite(accelerations)):
        assert "is not zero" in found.reason  # the initial state is one where they are singular, and that is said
        sampler = Sampler(standard_form(system))
        state = sampler.states(1)[0]
        values = dict(zip((*system.coordinates, *system.velocities, da.t), (*state.q, *state.v, state.t), strict=True))
        system = system.replace(initial=values)
        _, _, accelerations = _numbers(equations(system, "appell"))
    assert accelerations == pytest.approx(system.at().acceleration, rel=1e-9, abs=1e-9)
    assert found.quasi.dropped == (("upper rod again",) if name == "redundant_double_pendulum" else ())


# -- models of every kind


def test_lagrangian_with_a_magnetic_term_and_time():
    """L given as one expression: what is linear in the velocities belongs to S, what is free of them to U."""
    x, y = da.coordinates("x y")
    L = (x.d**2 + (2 + sin(da.t)) * y.d**2) / 2 + 3 * (x * y.d - y * x.d) - x**2 * y + sin(da.t) * x.d
    charge = da.System(
        "charge",
        coordinates=[x, y],
        lagrangian=L,
        constraints={"slope": x.d - (1 + x**2) * y.d},
        initial={x: 0.4, y: 0.2, x.d: 1.16, y.d: 1, "t": 0.3},
    )
    found = charge.compare(["appell", "kane", "gauss"])
    assert found.agree, str(found)
    assert all(row.applies for row in found.rows)


def test_mass_and_forces():
    x, y = da.coordinates("x y")
    system = da.System(
        "given M and Q",
        coordinates=[x, y],
        mass=[[2 + cos(x), sp.Rational(1, 2)], [sp.Rational(1, 2), 1]],
        forces={x: -x * y.d, y: sin(da.t)},
        constraints={"line": x.d * y.d - 1},
        initial={x: 0, y: 0, x.d: 2, y.d: 0.5},
    )
    assert system.compare(["appell", "kane", "gauss"]).agree


def test_no_freedom_left():
    x, y = da.coordinates("x y")
    clockwork = da.System(
        "clockwork",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"a": x - sin(da.t), "b": y - x**2, "c": y - sin(da.t) ** 2},
        initial={x: 0, y: 0, x.d: 1, y.d: 0},
    )
    found = clockwork.compare(["gauss", "appell", "kane"])
    assert found.agree, str(found)
    assert found["appell"].state_size == 2
    shown = clockwork.equations("appell")
    assert "left out: c" in shown.reason
    assert shown.rates == ()


def test_more_than_can_be_written_out_is_said():
    """Five coupled constraints: no closed form, and the numbers do not mind."""
    q = da.coordinates("a b c d e f")
    constraints = {f"c{k}": sum(sin((k + 1) * x + i) * x.d for i, x in enumerate(q)) - k for k in range(5)}
    chain = da.System("chain", coordinates=q, kinetic=sum(x.d**2 for x in q) / 2, constraints=constraints)
    for form in ("appell", "kane"):
        assert "not written out" in chain.equations(form).reason
    assert chain.compare(["appell", "kane", "gauss"], states=2).agree


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_do_not_matter(size: float):
    """A penny of a micrometre and one of a thousand kilometres; two masses that differ by a factor of 10¹², with
    redundant rods; a rigid body whose singular M mixes quaternion components in four different units.
    """
    cases = [
        da.library.penny().replace(parameters={"R": size, "m": size**2}),
        da.library.redundant_double_pendulum().replace(parameters={"m1": size, "m2": 1 / size}),
    ]
    for system in cases:
        found = system.compare(["gauss", "appell", "kane"], states=2)
        assert found.agree, str(found)
    body = da.library.quaternion_body()
    units = [1, size, 10 / size, 1e-3]
    e, rate = np.array([0.5, -0.1, 0.7, 0.5]), np.array([0.3, 0.8, -0.2, 0.14])
    at = dict(zip((*body.coordinates, *body.velocities), (*e, *rate), strict=True))
    expected = body.at(at).acceleration
    swap = {q: unit * q for q, unit in zip(body.coordinates, units, strict=True)}
    swap |= {q.d: unit * q.d for q, unit in zip(body.coordinates, units, strict=True)}
    moved = body.replace(
        kinetic=body.kinetic.xreplace(swap),
        constraints={"unit": body.constraints[0].expression.xreplace(swap)},
    )
    sampler = Sampler(standard_form(moved))
    state = Sample(e / units, rate / units, 0.0, sampler.p)
    for module in (gauss, appell, kane):
        found = module.prepare(moved, sampler)(state, np.zeros(4)).acceleration
        assert found * units == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("small", [0.0, 1e-6, 1e-9, 1e-16])
@pytest.mark.parametrize("module", [gauss, appell, kane])
def test_a_coordinate_of_vanishing_mass(module, small: float):
    """Near e = (1, 0, 0, 0) the mass of e₀ goes with small². By hand, e' = e∘ω/2 and e'' = e'∘ω/2 + e∘ω'/2 with ω' of
    Euler's equations.
    """
    body = da.library.quaternion_body()
    e = np.array([1.0, small, 2 * small, -small])
    e /= np.linalg.norm(e)
    w, inertia = np.array([0.8, 0.3, 1.2]), np.array([1.0, 2.0, 3.0])

    def turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
        scalar, part = quaternion[0], quaternion[1:]
        return np.array([-part @ vector, *(scalar * vector + np.cross(part, vector))])

    rate = turned(e, w) / 2
    expected = turned(rate, w) / 2 + turned(e, np.cross(inertia * w, w) / inertia) / 2
    sampler = Sampler(standard_form(body))
    found = module.prepare(body, sampler)(Sample(e, rate, 0.0, sampler.p), np.zeros(4))
    assert found.acceleration == pytest.approx(expected, rel=1e-13, abs=1e-14)


# Every third system: that they agree at more states of every one is tested with all forms together in `test_compare`.
@pytest.mark.parametrize("name", sorted({*da.library.names()[::3], "prescribed_acceleration"}))
def test_they_speak_at_every_state_of_the_library(name: str):
    """A principle that is silent at all states counts as one that does not apply: here none may be."""
    found = da.library.get(name).compare(["gauss", "appell", "kane"], states=2)
    assert found.agree, str(found)
    assert found["gauss"].applies
    assert found["appell"].applies == found["kane"].applies == (name != "prescribed_acceleration")


# -- what does not go


def test_constraints_nonlinear_in_acceleration_are_named():
    for form in ("appell", "kane"):
        with pytest.raises(da.DoesNotApply, match="nonlinear in the accelerations: size"):
            da.library.prescribed_acceleration().equations(form)


def test_dry_friction_is_shown_sliding():
    block = da.System(
        "block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu=0.3)],
    )
    for form in ("appell", "kane"):
        assert "shown sliding" in block.equations(form).reason


@pytest.mark.parametrize("module", [appell, kane])
def test_no_answer_where_there_is_none(module):
    """Massless and unconstrained; and constraints that contradict each other."""
    x, y = da.coordinates("x y")
    for constraints, message in (
        ({"c": x.d - 1}, "do not determine"),
        ({"c": x.dd - 1, "d": x.dd + y.dd - 1, "e": y.dd - 1}, "contradict"),
    ):
        system = da.System("s", coordinates=[x, y], lagrangian=x.d**2 / 2, constraints=constraints)
        solve = module.prepare(system, Sampler(standard_form(system)))
        with pytest.raises(NotHere, match=message):
            solve(Sample(np.zeros(2), np.array([1.0, 0]), 0.0, np.zeros(0)), np.zeros(2))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"v": "x'"}, "leave 2 quasi-velocities to choose, not 1"),
        ({"v": "x'*cos(phi) + y'*sin(phi)", "w": "x'*sin(phi) - y'*cos(phi)"}, "do not determine the velocities"),
        ({"x": "x'", "w": "phi'"}, "'x': the model uses that name"),
        ({"1a": "x'", "w": "phi'"}, "'1a' is not a name"),
        ({"v": "x' + k", "w": "phi'"}, "unknown name 'k'"),
        ({"v": "x''", "w": "phi'"}, "x''"),
        ({"v": "x", "w": "phi'"}, "'v' holds no velocity"),
        ({"v": object(), "w": "phi'"}, "an expression is wanted"),
        (["v"], "maps names to expressions"),
    ],
)
def test_bad_quasi_velocities(names, message: str):
    with pytest.raises(da.ModelError, match=message):
        da.library.skater().equations("appell", quasi_velocities=names)


def test_unknown_options_are_named():
    with pytest.raises(da.ModelError, match="no option 'quasi'; its options are quasi_velocities"):
        da.library.skater().equations("appell", quasi={})
    with pytest.raises(da.ModelError, match="'gauss' has no option 'quasi_velocities'; it has none"):
        da.library.skater().equations("gauss", quasi_velocities={})


@settings(max_examples=25, deadline=None)
@given(system=systems())
def test_random_systems(system: da.System):
    try:
        found = system.compare(["appell", "kane"], states=2)
    except da.DalembertError:
        assume(False)
    assert found["appell"].applies, str(found)
    assert found["kane"].applies, str(found)
    assert found.agree, str(found)
