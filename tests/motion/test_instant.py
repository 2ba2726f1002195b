"""Everything at one state."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sample_systems import PENNY, SPEED, TURN, falling, g, l, m, pendulum, penny, sliding, steered, x, y, z

import dalembert as da
from dalembert.motion.state.evaluation import Evaluation

# A handful of roundings at one state.
ROUNDING = 1e-13


def test_pendulum_at_rest() -> None:
    now = pendulum().at()
    np.testing.assert_allclose(now.acceleration, [0, -9.81], atol=ROUNDING * 10)
    np.testing.assert_allclose(now.unconstrained, [0, -9.81], rtol=ROUNDING)
    np.testing.assert_allclose(now.impressed, [0, -2 * 9.81], rtol=ROUNDING)
    np.testing.assert_allclose(now.ideal, [0, 0], atol=ROUNDING * 20)
    assert now.rank == 1
    assert now.dependent == ()
    assert now.energy == 0


def test_pendulum_in_motion() -> None:
    """The rod pulls with m (v²/l − g·e) along the rod; the multiplier is that over −2l."""
    angle, speed = 0.7, 3.0
    e, along = np.array([np.sin(angle), -np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    q, v = 1.5 * e, speed * along
    now = pendulum().at(dict(zip((x, y, x.d, y.d), (*q, *v), strict=True)))
    pull = 2 * (speed**2 / 1.5 + 9.81 * np.cos(angle))
    np.testing.assert_allclose(now.ideal, -pull * e, rtol=ROUNDING)
    np.testing.assert_allclose(now.multipliers, [-pull / (2 * 1.5)], rtol=ROUNDING)
    np.testing.assert_allclose(now.acceleration, -(speed**2) / 1.5 * e - 9.81 * np.sin(angle) * along, rtol=ROUNDING)
    np.testing.assert_allclose(now.A, [2 * q], rtol=ROUNDING)
    np.testing.assert_allclose(now.b, [-2 * speed**2], rtol=ROUNDING)
    assert now.energy == pytest.approx(speed**2 + 2 * 9.81 * q[1], rel=ROUNDING)


def test_penny_forces() -> None:
    """The contact forces along and across the penny, section 7 of the theory, at angles other than 0."""
    w, time = TURN, 0.8
    angle = w * time
    a = 9.81 * np.sin(0.4) / (4 * w**2 * 1.5)
    speed = SPEED + 4 * a * w * np.sin(angle)
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    state = {"phi": angle, "x'": speed * along[0], "y'": speed * along[1], "psi'": speed / 0.25, "phi'": w}
    now = penny().at(state)
    mass, beta = PENNY["m"], PENNY["beta"]
    force_along = -beta / (1 + beta) * mass * 9.81 * np.sin(0.4) * np.cos(angle)
    force_across = mass * w * (SPEED + 4 * a * (2 + beta) * w * np.sin(angle))
    found = now.ideal[:2]
    # Across the penny the contact turns the velocity and holds against gravity, m ω v + m g sinα sinωt.
    acceleration = now.acceleration[:2]
    assert found @ along == pytest.approx(force_along, rel=1e-12)
    assert mass * (acceleration @ across) == pytest.approx(mass * w * speed, rel=1e-12)
    assert found @ across == pytest.approx(mass * w * speed + mass * 9.81 * np.sin(0.4) * np.sin(angle), rel=1e-12)
    assert force_across == pytest.approx(found @ across, rel=1e-12)


def test_forces_add_up() -> None:
    for system in (pendulum(), penny(), sliding(), steered()):
        now = system.at(t=0.3)
        total = now.impressed + now.inertial + now.ideal + now.nonideal
        np.testing.assert_allclose(now.M @ now.acceleration, total, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(now.impressed + now.inertial, now.Q, rtol=1e-14)
        np.testing.assert_allclose(now.A @ now.acceleration, now.b, atol=1e-11)
        np.testing.assert_allclose(now.M @ now.acceleration, now.Q + now.C + now.A.T @ now.multipliers, atol=1e-11)


def test_gauss_is_least() -> None:
    now = sliding().at()
    tangent = np.array([np.cos(0.5), np.sin(0.5)])
    for step in (-1.0, 0.01, 2.0):
        more = now.gauss(now.acceleration + step * tangent) - now.gauss()
        assert more == pytest.approx(1.7 * step**2, rel=1e-9)  # m step², to rounding of G


def test_missing_parts_come_from_the_initial_state() -> None:
    now = pendulum().at({"x'": 0, "y'": 3.0})
    np.testing.assert_array_equal(now.q, [1.5, 0])
    np.testing.assert_array_equal(now.v, [0, 3])
    assert now.t == 0


def test_time_and_parameters() -> None:
    (k,) = da.parameters("k")
    system = falling(forces={x: k * da.t}, parameters={k: 2})
    assert system.at(t=3.0).acceleration[0] == 6
    assert system.at(t=3.0, parameters={k: 5}).acceleration[0] == 15
    assert system.at({"t": 4}).acceleration[0] == 8
    assert system.at({"t": 4}, t=1).acceleration[0] == 2
    assert system.at().acceleration[0] == 0


def test_dependent_constraints_are_named() -> None:
    rows = {"rod": x**2 + y**2 - l**2, "again": 3 * (x**2 + y**2) - 3 * l**2, "rate": x * x.d + y * y.d}
    now = pendulum(constraints=rows).at({x.d: 0, y.d: 1})
    assert now.rank == 1
    assert now.dependent == ("again", "rate")
    np.testing.assert_allclose(now.ideal, pendulum().at({x.d: 0, y.d: 1}).ideal, atol=1e-12)


def test_a_state_off_the_constraints_is_taken_as_it_is() -> None:
    now = pendulum().at({x: 3, y: 4, x.d: 1, y.d: 0})
    np.testing.assert_array_equal(now.A, [[6, 8]])
    assert now.A @ now.acceleration == pytest.approx(-2, rel=ROUNDING)


def test_singular_mass() -> None:
    """A massless coordinate tied to the particle: z follows, and no unconstrained acceleration exists."""
    system = da.System(
        "s",
        coordinates=[x, z],
        kinetic=m * x.d**2 / 2,
        potential=g * x,
        constraints={"tie": z - x**2},
        parameters={m: 2, g: 3},
        initial={x: 1, z: 1, x.d: 2, z.d: 4},
    )
    now = system.at()
    # ẍ = −g/m; z̈ = 2ẋ² + 2xẍ.
    np.testing.assert_allclose(now.acceleration, [-1.5, 8 - 3], rtol=ROUNDING)
    assert np.isnan(now.unconstrained).all()


class TestErrors:
    def test_missing_values(self) -> None:
        with pytest.raises(da.MissingValues, match="l"):
            pendulum(parameters={m: 1, g: 1}, initial={x: 1}).at({y: 0, x.d: 0, y.d: 0})
        with pytest.raises(da.MissingValues, match="y, x', y'"):
            pendulum(initial={x: 1}).at()

    def test_unknown_names(self) -> None:
        with pytest.raises(da.ModelError, match="'X'"):
            pendulum().at({"X": 1})
        with pytest.raises(da.ModelError, match="'y' is both"):
            pendulum().at(parameters={"y": 1})

    def test_contradiction_names_both(self) -> None:
        system = falling(constraints={"one": x.dd - 1, "two": 2 * x.dd - 3})
        with pytest.raises(da.InconsistentConstraints, match="'one' and 'two' cannot both hold"):
            system.at()

    def test_undetermined_coordinate_is_named(self) -> None:
        system = da.System("s", coordinates=[x, y], kinetic=x.d**2, initial={x: 0, y: 0, x.d: 0, y.d: 0})
        with pytest.raises(da.UndeterminedMotion, match=r"s, t = 0: .*\+1 y carries no mass"):
            system.at()

    @pytest.mark.parametrize("potential", [1 / x, sp.log(x), sp.sqrt(x - 1)])
    def test_no_value(self, potential: sp.Expr) -> None:
        with pytest.raises(da.UndefinedModel, match=r"Q has no finite value at t = 0, x = 0"):
            falling(potential=potential, initial={x: 0, x.d: 0}).at()

    def test_work_without_a_value(self) -> None:
        """The direction of sliding is not defined at rest: told, not taken for zero."""
        with pytest.raises(da.UndefinedModel, match="work of the law on 'plane'"):
            sliding().at({x.d: 0, y.d: 0})


def test_as_text() -> None:
    text = str(sliding().at())
    assert "sliding block" in text
    assert "rank 1" in text
    for name in ("impressed", "ideal", "nonideal"):
        assert name in text


def differences(system: da.System) -> tuple[np.ndarray, np.ndarray]:
    """∂q̈/∂(q, q̇) as the implicit method uses it, and by central differences."""
    evaluation = Evaluation(system)
    q, v, t = system.initial_values()
    solution = evaluation.solve(q, v, t)
    exact = evaluation.slopes(solution, q, v, t)
    columns = []
    for step in np.eye(2 * q.size) * 1e-6:
        ends = [
            evaluation.solve(
                q + s * step[: q.size], v + s * step[q.size :], t, None, solution.acceleration
            ).acceleration
            for s in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / 2e-6)
    return exact, np.array(columns).T


@pytest.mark.parametrize(
    "system",
    [
        pendulum(initial={x: 0.9, y: -1.2, x.d: 2.4, y.d: 1.8}),
        penny(),
        pendulum(nonideal=[da.Work({x: -(x.d**3) * y})], initial={x: 0.9, y: -1.2, x.d: 2.4, y.d: 1.8}),
        sliding(constraints={"plane": x**2 + (y - 1) ** 2 - 1}, initial={x: 0.6, y: 0.2, x.d: 0.8, y.d: 0.6}),
        steered(constraints={"size": x.dd**2 + y.dd**2 - 4 - x.d**2}),
    ],
    ids=["ideal", "nonholonomic", "nonideal", "reaction", "nonlinear in the acceleration"],
)
def test_slopes_of_the_acceleration(system: da.System) -> None:
    """The implicit method is promised the exact Jacobian, whatever the kind of the constraint."""
    exact, measured = differences(system)
    # Central differences with a step of 1e-6: rounding 1e-16/1e-6 times values up to 100.
    np.testing.assert_allclose(exact, measured, atol=1e-6)


@pytest.mark.parametrize(("t", "told"), [("a", "unknown name 'a'"), ([1, 2], "a number is wanted"), (np.nan, "NaN")])
def test_a_time_that_is_none_is_told(t, told):
    for verb in (da.library.pendulum().at, da.library.pendulum().displacements):
        with pytest.raises(da.ModelError, match=f"initial t.*{told}"):
            verb(t=t)


def test_a_time_may_be_written_with_parameters():
    moving = da.library.moving_length_pendulum()
    name = next(iter(moving.parameters))
    assert moving.at(t=f"2*{name}").t == 2 * float(moving.parameters[name])
