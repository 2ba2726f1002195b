"""States on the constraints: the test of the initial state, and the nearest good one."""

from __future__ import annotations

import numpy as np
import pytest
from sample_systems import falling, l, pendulum, penny, x, y, z
from scipy.optimize import minimize

import dalembert as da

# Newton ends at rounding; distances are compared by a minimiser that stops near 1e-8.
ROUNDING = 1e-12


def test_nearest_point_of_a_circle_is_radial() -> None:
    state = pendulum(initial={x: 1.2, y: -2.0, x.d: 1, y.d: 0.5}).consistent()
    q = np.array([1.2, -2.0]) * 1.5 / np.hypot(1.2, 2.0)
    np.testing.assert_allclose([state[x], state[y]], q, rtol=ROUNDING)
    e = q / 1.5
    v = np.array([1, 0.5]) - e * (e @ [1, 0.5])
    np.testing.assert_allclose([state[x.d], state[y.d]], v, rtol=ROUNDING)


def test_a_consistent_state_stays() -> None:
    system = penny()
    state = system.consistent()
    for symbol, value in system.initial.items():
        assert state[symbol] == pytest.approx(float(value), abs=1e-15)


def test_nearest_in_the_mass_metric() -> None:
    """Masses 1 and 9 on the line x + y = 1: the light one moves nine times as far."""
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=x.d**2 / 2 + 9 * y.d**2 / 2,
        constraints={"line": x + y - 1},
        initial={x: 1, y: 1, x.d: 1, y.d: 1},
    )
    state = system.consistent()
    np.testing.assert_allclose([state[x], state[y]], [0.1, 0.9], rtol=ROUNDING)
    np.testing.assert_allclose([state[x.d], state[y.d]], [-0.8, 0.8], rtol=ROUNDING)


def test_nearest_on_a_curve_of_changing_curvature() -> None:
    """The nearest point of an ellipse, where one Newton step after the other does not lead by itself."""
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"ellipse": x**2 / 4 + y**2 - 1},
        initial={x: 1.5, y: 1.5, x.d: 0, y.d: 0},
    )
    state = system.consistent()
    assert state[x] ** 2 / 4 + state[y] ** 2 == pytest.approx(1, rel=ROUNDING)
    best = minimize(
        lambda q: (q[0] - 1.5) ** 2 + (q[1] - 1.5) ** 2,
        [1.0, 1.0],
        constraints={"type": "eq", "fun": lambda q: q[0] ** 2 / 4 + q[1] ** 2 - 1},
        tol=1e-14,
    ).x
    np.testing.assert_allclose([state[x], state[y]], best, atol=1e-6)  # the minimiser's own accuracy


def test_nonlinear_velocity_constraint() -> None:
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"speed": x.d**2 + y.d**2 - 4},
        initial={x: 5, y: 6, x.d: 3, y.d: 4},
    )
    state = system.consistent()
    np.testing.assert_allclose([state[x.d], state[y.d]], [1.2, 1.6], rtol=ROUNDING)
    assert (state[x], state[y]) == (5, 6)


def test_time_counts() -> None:
    system = falling(constraints={"lift": x - 3 * da.t}, initial={x: 0, x.d: 0, "t": 2})
    assert system.consistent() == {x: pytest.approx(6, rel=ROUNDING), x.d: pytest.approx(3, rel=ROUNDING)}


def test_redundant_constraints() -> None:
    rows = {"rod": x**2 + y**2 - l**2, "again": 2 * x**2 + 2 * y**2 - 2 * l**2}
    state = pendulum(constraints=rows, initial={x: 3, y: 0, x.d: 1, y.d: 1}).consistent()
    np.testing.assert_allclose([*state.values()], [1.5, 0, 0, 1], atol=ROUNDING)


class TestHold:
    def test_position(self) -> None:
        state = pendulum(initial={x: 0.9, y: -1.0, x.d: 1, y.d: 0}).consistent(hold=[x, x.d])
        assert state[x] == 0.9
        assert state[x.d] == 1
        assert state[y] == pytest.approx(-1.2, rel=ROUNDING)
        assert state[y.d] == pytest.approx(0.75, rel=ROUNDING)  # x ẋ + y ẏ = 0

    def test_by_name(self) -> None:
        assert pendulum(initial={x: 0.9, y: -1.0, x.d: 1, y.d: 0}).consistent(hold=["y"])[y] == -1.0

    def test_from_another_state(self) -> None:
        state = pendulum().consistent({"x": 0.9, "y": -2}, hold=["x"])
        assert state[y] == pytest.approx(-1.2, rel=ROUNDING)

    def test_unreachable(self) -> None:
        with pytest.raises(da.InconsistentState, match="x held"):
            pendulum(initial={x: 2, y: 0.1, x.d: 0, y.d: 0}).consistent(hold=[x])

    def test_everything_held(self) -> None:
        with pytest.raises(da.InconsistentState):
            pendulum(initial={x: 2, y: 0.1, x.d: 0, y.d: 0}).consistent(hold=[x, y, x.d, y.d])

    def test_unknown(self) -> None:
        with pytest.raises(da.ModelError, match="'z'"):
            pendulum().consistent(hold=[z])
        with pytest.raises(da.ModelError, match="x''"):
            pendulum().consistent(hold=[x.dd])


def test_the_result_fits_replace() -> None:
    system = pendulum(initial={x: 1.2, y: -2.0, x.d: 1, y.d: 0.5})
    assert system.replace(initial=system.consistent()).simulate(0.1, samples=3).certificate.holds


def test_constraints_without_a_solution() -> None:
    with pytest.raises(da.InconsistentState):
        pendulum(constraints={"none": x**2 + y**2 + 1}, initial={x: 1, y: 1, x.d: 0, y.d: 0}).consistent()


class TestInitialState:
    """`simulate` tells which constraints the initial state violates, by how much, and what would do."""

    def test_position(self) -> None:
        with pytest.raises(da.InconsistentState) as caught:
            pendulum(initial={x: 3, y: 0, x.d: 0, y.d: 0}).simulate(1)
        told = str(caught.value)
        assert "'rod'" in told
        assert "6.75" in told  # 3² − 1.5²
        assert "x = 1.5" in told
        assert caught.value.exit_status == 2

    def test_velocity(self) -> None:
        with pytest.raises(da.InconsistentState, match="velocity that follows") as caught:
            pendulum(initial={x: 1.5, y: 0, x.d: 2, y.d: 0}).simulate(1)
        assert "residual 6" in str(caught.value)  # 2 x ẋ

    def test_all_are_told(self) -> None:
        with pytest.raises(da.InconsistentState, match="roll x") as caught:
            penny().replace(initial={"x'": 5, "y'": 6}).simulate(1)
        assert "roll y" in str(caught.value)

    def test_no_state_would_do(self) -> None:
        rows = {"none": x**2 + y**2 + 1}
        with pytest.raises(da.InconsistentState, match="No consistent state"):
            pendulum(constraints=rows, initial={x: 1, y: 1, x.d: 0, y.d: 0}).simulate(1)

    def test_a_state_typed_to_nine_digits_passes(self) -> None:
        angle = 0.3
        q = [round(1.5 * np.sin(angle), 9), round(-1.5 * np.cos(angle), 9)]
        motion = pendulum(initial={x: q[0], y: q[1], x.d: 0, y.d: 0}).simulate(0.1, samples=3)
        # Polished at the start, then held to rounding.
        assert motion.certificate.position < 1e-14

    def test_a_state_typed_to_six_digits_does_not(self) -> None:
        angle = 0.3
        q = [round(1.5 * np.sin(angle), 6), round(-1.5 * np.cos(angle), 6)]
        with pytest.raises(da.InconsistentState):
            pendulum(initial={x: q[0], y: q[1], x.d: 0, y.d: 0}).simulate(0.1)


class TestOneSided:
    def bead(self, y: float, speed: float = 0.0, **more: float) -> da.System:
        """A bead that may fly, on a floor, tied to a slide beside it by x = z."""
        return da.System(
            "bead",
            coordinates="x y z",
            kinetic="m*(x'^2 + y'^2)/2 + M*z'^2/2",
            potential="m*g*y",
            constraints=[
                da.Constraint("floor", "y", one_sided=True, restitution=0.5),
                da.Constraint("line", "x - z"),
            ],
            nonideal=[da.Coulomb("floor", mu=0.3, point=["x", "y"]), da.Viscous("floor", 0.1, point=["x", "y"])],
            events={"high": "y - 1"},
            parameters={"m": 2, "M": 2, "g": 9.81},
            initial={"x": 1, "y": y, "z": 1, "x'": 0, "y'": speed, "z'": 0} | more,
        )

    def state(self, system: da.System) -> dict[str, float]:
        return {symbol.name: value for symbol, value in system.consistent().items()}

    def test_a_state_in_flight_stays_in_flight(self) -> None:
        found = self.state(self.bead(0.7, -2.0, z=1.2))
        assert (found["y"], found["y'"]) == (0.7, -2.0)
        # The line is repaired all the same, half of it in each coordinate of equal mass.
        assert found["x"] == pytest.approx(1.1, abs=1e-12)
        assert found["z"] == pytest.approx(1.1, abs=1e-12)

    @pytest.mark.parametrize("speed", [-2.0, 0.0, 3.0])
    def test_a_state_beyond_is_moved_onto_it_with_its_velocity(self, speed: float) -> None:
        system = self.bead(-0.2, speed)
        with pytest.raises(da.InconsistentState, match="--repair"):
            system.simulate(0.1)
        found = self.state(system)
        assert found["y"] == pytest.approx(0.0, abs=1e-15)
        assert found["y'"] == speed
        motion = system.replace(initial=system.consistent()).simulate(0.1, samples=3)
        assert motion.certificate.holds
        # What comes down bounces, what goes up flies.
        assert motion.v[0, 1] == pytest.approx(max(speed, -0.5 * speed), abs=1e-12)

    def test_touching_and_closing_is_left_to_the_impact(self) -> None:
        found = self.state(self.bead(0.0, -2.0))
        assert (found["y"], found["y'"]) == (0.0, -2.0)

    def test_moved_onto_one_it_may_be_beyond_another(self) -> None:
        """Into a corner: from (0.5, −1) the nearest place on y = x is (−0.25, −0.25), which lies beyond x = 0."""
        system = da.System(
            "corner",
            coordinates="x y",
            kinetic="(x'^2 + y'^2)/2",
            constraints=[da.Constraint("slope", "y - x", one_sided=True), da.Constraint("wall", "x", one_sided=True)],
            initial={"x": 0.5, "y": -1, "x'": 0, "y'": 0},
        )
        found = self.state(system)
        assert found["x"] == pytest.approx(0, abs=1e-12)
        assert found["y"] == pytest.approx(0, abs=1e-12)

    def test_what_is_held_stays(self) -> None:
        system = da.System(
            "slope",
            coordinates="x y",
            kinetic="(x'^2 + y'^2)/2",
            constraints=[da.Constraint("slope", "y - x", one_sided=True)],
            initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
        )
        found = {symbol.name: value for symbol, value in system.consistent(hold=["x"]).items()}
        assert found["x"] == 1.0
        assert found["y"] == pytest.approx(1.0, abs=1e-12)


def test_a_start_too_large_for_its_constraint_is_told_by_name(recwarn):
    """1e200 squared is no number: warnings of NumPy came out, and a message that named neither model nor constraint."""
    system = da.System(
        "far", coordinates="x y", kinetic="(x'^2 + y'^2)/2", constraints={"ring": "x^2 + y^2 = 1"},
        initial={"x": 1e200, "y": 0, "x'": 0, "y'": 1},
    )  # fmt: skip
    with pytest.raises(da.InconsistentState, match=r"(?s)far: .*'ring', is violated in position.*No consistent state"):
        system.simulate(1.0)
    assert not recwarn.list
