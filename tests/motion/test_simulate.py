"""Motions in time: options, accuracy, constraints, and what happens when a motion cannot go on."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sample_systems import falling, g, l, m, pendulum, penny, penny_path, x, y, z

import dalembert as da


class TestTimes:
    def test_duration_and_samples(self) -> None:
        motion = falling(potential=3 * x).simulate(2, samples=5)
        np.testing.assert_allclose(motion.t, [0, 0.5, 1, 1.5, 2], rtol=1e-15)
        assert motion.t[-1] == 2
        np.testing.assert_allclose(motion["x"], 1 - 1.5 * motion.t**2, atol=1e-12)

    def test_default_samples(self) -> None:
        assert falling().simulate(1.0).t.size == 501

    def test_given_times(self) -> None:
        times = [0.0, 0.1, 0.15, 2.0, 2.000001]
        motion = falling(potential=3 * x).simulate(times=times)
        np.testing.assert_array_equal(motion.t, times)
        np.testing.assert_allclose(motion["x"], 1 - 1.5 * motion.t**2, atol=1e-12)

    def test_the_start_is_added_to_given_times(self) -> None:
        np.testing.assert_array_equal(falling().simulate(times=[0.5, 1.0]).t, [0, 0.5, 1])

    def test_the_start_alone(self) -> None:
        motion = pendulum().simulate(times=[0.0])
        assert motion.t.tolist() == [0]
        assert motion.certificate.holds

    def test_initial_time(self) -> None:
        """ẍ = t from t = 3: x = 1 + (t³ − 27)/6 − 4.5 (t − 3)."""
        motion = falling(forces={x: da.t}, initial={x: 1, x.d: 0, "t": 3}).simulate(2, samples=3)
        np.testing.assert_array_equal(motion.t, [3, 4, 5])
        np.testing.assert_allclose(motion["x"], 1 + (motion.t**3 - 27) / 6 - 4.5 * (motion.t - 3), rtol=1e-10)
        assert motion.certificate.holds

    def test_times_before_the_initial_time(self) -> None:
        with pytest.raises(da.ModelError, match="initial time 3"):
            falling(initial={x: 1, x.d: 0, "t": 3}).simulate(times=[2.0, 4.0])

    def test_output_points_do_not_change_the_motion(self) -> None:
        few, many = pendulum().simulate(3, samples=2), pendulum().simulate(3, samples=400)
        # The last point is a step of the integrator itself in both.
        np.testing.assert_array_equal(few.q[-1], many.q[-1])
        assert few.timing.steps == many.timing.steps


class TestOptions:
    def test_from_the_document(self) -> None:
        system = pendulum(settings={"duration": 0.5, "samples": 7, "rtol": 1e-6, "method": "stiff"})
        motion = system.simulate()
        assert (motion.t.size, motion.t[-1], motion.rtol, motion.method) == (7, 0.5, 1e-6, "Radau")
        motion = system.simulate(0.25, samples=3, rtol=1e-7, method="dopri5")
        assert (motion.t.size, motion.t[-1], motion.rtol, motion.method) == (3, 0.25, 1e-7, "DOPRI5")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({}, "no duration"),
            ({"duration": -1}, "positive"),
            ({"duration": 0}, "positive"),
            ({"duration": float("nan")}, "finite"),
            ({"duration": float("inf")}, "finite"),
            ({"duration": True}, "number"),
            ({"duration": "3"}, "number"),
            ({"duration": 1, "rtol": 0}, "rtol"),
            ({"duration": 1, "rtol": 1.0}, "rtol"),
            ({"duration": 1, "rtol": 1e-20}, "rtol"),
            ({"duration": 1, "rtol": float("nan")}, "rtol"),
            ({"duration": 1, "rtol": "small"}, "rtol"),
            ({"duration": 1, "atol": 0}, "atol"),
            ({"duration": 1, "atol": -1.0}, "atol"),
            ({"duration": 1, "samples": 1}, "samples"),
            ({"duration": 1, "samples": 2.5}, "samples"),
            ({"duration": 1, "samples": "many"}, "samples"),
            ({"duration": 1, "samples": float("nan")}, "samples"),
            ({"duration": 1, "method": "dop583"}, "'dop853'"),
            ({"times": []}, "times"),
            ({"times": [0, 2, 1]}, "must increase"),
            ({"times": [0, 1, 1]}, "must increase"),
            ({"times": [0, float("nan")]}, "finite"),
            ({"times": [0, "1"]}, "value 1 is '1', which is no number"),
            ({"times": [0, sp.Symbol("a")]}, "value 1 is a, which is no number"),
            ({"duration": np.str_("1")}, "the duration is a number"),
            ({"times": [-1, 1]}, "initial time"),
        ],
    )
    def test_refused(self, options: dict[str, Any], words: str) -> None:
        with pytest.raises(da.ModelError, match=words):
            pendulum().simulate(**options)

    def test_numbers_that_are_no_floats(self) -> None:
        """Fractions, decimals, numbers of SymPy."""
        for half in (Fraction(1, 2), Decimal("0.5"), sp.Rational(1, 2)):
            assert pendulum().simulate(times=[half, 1]).t.tolist() == [0.0, 0.5, 1.0]
            assert pendulum().simulate(half, samples=sp.Integer(2), rtol=half / 10**6).t.tolist() == [0.0, 0.5]

    def test_all_faults_at_once(self) -> None:
        with pytest.raises(da.ModelError) as caught:
            pendulum().simulate(-1, rtol=5, samples=1, method="euler")
        assert len(caught.value.faults) == 4

    def test_unknown_option(self) -> None:
        with pytest.raises(da.ModelError, match="simulate has no option 'tolerance'"):
            pendulum().simulate(1, tolerance=1e-3)

    def test_missing_values_come_first(self) -> None:
        with pytest.raises(da.MissingValues, match="g"):
            pendulum(parameters={m: 1, l: 1}).simulate(1)

    def test_the_progress_bar_keeps_off_standard_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        pendulum().simulate(0.5, samples=3, progress=True)
        assert capsys.readouterr().out == ""


class TestAccuracy:
    def errors(self, method: str, tolerances: list[float]) -> list[float]:
        found = []
        for rtol in tolerances:
            motion = penny().simulate(4, rtol=rtol, samples=41, method=method)
            assert motion.certificate.holds, (method, rtol)
            wanted = penny_path(motion.t)
            found.append(max(np.abs(motion["x"] - wanted[0]).max(), np.abs(motion["y"] - wanted[1]).max()))
        return found

    @pytest.mark.parametrize(
        ("method", "tolerances"),
        [
            ("dop853", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11]),
            ("dopri5", [1e-3, 1e-5, 1e-7, 1e-9]),
            ("stiff", [1e-3, 1e-5, 1e-7]),
        ],
    )
    def test_the_error_falls_with_the_tolerance(self, method: str, tolerances: list[float]) -> None:
        """On the closed form of the penny, whose path is some metres long."""
        errors = self.errors(method, tolerances)
        for rtol, error in zip(tolerances, errors, strict=True):
            # Errors of some tens of steps add up and are carried on: a hundred times the tolerance of one step.
            assert error < 100 * rtol, errors
        # A tolerance a hundred times smaller brings at least a factor of ten; below 1e-11 rounding begins.
        for coarse, fine in pairwise(errors):
            assert fine < coarse / 10 or fine < 1e-11, errors

    def test_stiff_agrees_with_dop853(self) -> None:
        one = pendulum().simulate(3, rtol=1e-8, samples=31, method="stiff")
        other = pendulum().simulate(3, rtol=1e-11, samples=31, method="dop853")
        assert one.method != other.method
        # Two periods at 1e-8 with an error that grows with time.
        np.testing.assert_allclose(one.q, other.q, atol=1e-6)
        np.testing.assert_allclose(one.ideal, other.ideal, atol=1e-4)

    def test_dense_output_lies_on_the_constraints(self) -> None:
        motion = pendulum().simulate(3, rtol=1e-4, samples=301)
        assert motion.timing.steps < 100  # most of the 301 points lie inside steps
        np.testing.assert_allclose(np.hypot(*motion.q.T), 1.5, rtol=1e-14)  # projection ends at rounding
        np.testing.assert_allclose((motion.q * motion.v).sum(axis=1), 0, atol=1e-13)

    def test_a_long_motion_keeps_its_energy(self) -> None:
        motion = pendulum().simulate(25, rtol=1e-10, samples=26)
        # About 1000 steps of a tolerance of 1e-10, against an energy of 30.
        assert np.abs(motion.energy - motion.energy[0]).max() < 1e-6
        assert motion.certificate.holds


class TestStiff:
    """ẍ + 1001 ẋ + 1000 x = 0 on its slow solution exp(−t); the fast one, exp(−1000 t), is only a threat."""

    system = falling(forces={x: -1001 * x.d - 1000 * x}, initial={x: 1, x.d: -1})

    def test_solved(self) -> None:
        motion = self.system.simulate(10, method="stiff", rtol=1e-7, samples=21)
        np.testing.assert_allclose(motion["x"], np.exp(-motion.t), atol=1e-7)  # the tolerance
        assert motion.certificate.holds

    def test_with_far_fewer_steps(self) -> None:
        stiff = self.system.simulate(10, method="stiff", rtol=1e-5, samples=3)
        explicit = self.system.simulate(10, method="dop853", rtol=1e-5, samples=3)
        # An explicit method is held below 6/1000 by stability: at least 1600 steps of ten.
        assert stiff.timing.steps < explicit.timing.steps / 10

    def test_with_a_constraint(self) -> None:
        """The same along a line in the plane, in two coordinates: the Jacobian must know the constraint."""
        law = {q: -2002 * q.d - 2000 * q for q in (x, y)}
        system = da.System(
            "s",
            coordinates=[x, y],
            kinetic=x.d**2 + y.d**2,
            forces=law,
            constraints={"line": y - 2 * x},
            initial={x: 1, y: 2, x.d: -1, y.d: -2},
        )
        motion = system.simulate(10, method="stiff", rtol=1e-6, samples=11)
        np.testing.assert_allclose(motion["y"], 2 * np.exp(-motion.t), atol=1e-6)
        assert motion.timing.steps < 200


class TestDrift:
    def test_projection_holds_the_constraints(self) -> None:
        assert pendulum().simulate(20, rtol=1e-3, samples=101).certificate.position < 1e-14

    def test_without_it_they_drift_and_the_certificate_says_so(self) -> None:
        motion = pendulum().simulate(40, rtol=1e-3, samples=101, project=False, method="dop853")
        off = np.abs(np.hypot(*motion.q.T) - 1.5).max()
        assert off > 1e-2
        assert motion.certificate.position == pytest.approx(off / 1.5, rel=0.5)  # the same distance, to first order
        assert not motion.certificate.holds
        assert "position" in motion.certificate.failures

    def test_the_drift_falls_with_the_tolerance(self) -> None:
        drifts = [
            pendulum().simulate(5, rtol=rtol, samples=51, project=False).certificate.position
            for rtol in (1e-4, 1e-6, 1e-8)
        ]
        assert drifts[0] > 10 * drifts[1] > 100 * drifts[2] > 0


class TestRedundant:
    rows = (
        ("rod", x**2 + y**2 - l**2),
        ("again", 7 * x**2 + 7 * y**2 - 7 * l**2),
        ("rate", x * x.d + y * y.d),
    )

    def test_the_same_motion(self) -> None:
        one, other = pendulum().simulate(3, samples=31), pendulum(constraints=self.rows).simulate(3, samples=31)
        # The same equations but for rounding, which a pendulum amplifies little in one period.
        np.testing.assert_allclose(other.q, one.q, atol=1e-9)
        np.testing.assert_allclose(other.ideal, one.ideal, atol=1e-7)
        assert set(other.rank) == {1}
        assert other.certificate.holds
        assert (other.certificate.rank_min, other.certificate.rank_max) == (1, 1)

    def test_the_force_is_shared_but_its_sum_is_not_changed(self) -> None:
        motion = pendulum(constraints=self.rows).simulate(1, samples=5)
        assert motion.multipliers.shape == (5, 3)
        for q, force, shares in zip(motion.q, motion.ideal, motion.multipliers, strict=True):
            rows = np.array([2 * q, 14 * q, q])
            np.testing.assert_allclose(rows.T @ shares, force, atol=1e-10)

    def test_contradicting_constraints(self) -> None:
        rows = {"rod": x**2 + y**2 - l**2, "faster": x.d * x + y.d * y - sp.sin(da.t) ** 2}
        with pytest.raises(da.DalembertError) as caught:
            pendulum(constraints=rows).simulate(1)
        assert "'faster'" in str(caught.value)


class TestRankChange:
    """ẏ = 0 and ẏ + z ẋ = 0: two constraints, but where z = 0 only one."""

    def system(self, start: float) -> da.System:
        return da.System(
            "s",
            coordinates=[x, y, z],
            kinetic=(x.d**2 + y.d**2 + z.d**2) / 2,
            constraints={"one": y.d, "two": y.d + z * x.d},
            forces={y: 1},
            initial={x: 0, y: 0, z: start, x.d: 0, y.d: 0, z.d: 1},
        )

    def test_at_the_start(self) -> None:
        motion = self.system(0.0).simulate(1, samples=5)
        assert motion.rank.tolist() == [1, 2, 2, 2, 2]
        (event,) = motion.events
        assert (event["name"], event["from"], event["to"]) == ("rank change", 1, 2)
        assert 0 < event["t"] < 0.25
        assert (motion.certificate.rank_min, motion.certificate.rank_max) == (1, 2)
        np.testing.assert_allclose(motion["z"], motion.t, atol=1e-12)
        np.testing.assert_allclose(motion.ideal, [[0, -1, 0]] * 5, atol=1e-9)

    def test_passed_in_motion(self) -> None:
        motion = self.system(-1.0).simulate(2, samples=9)
        np.testing.assert_allclose(motion["z"], motion.t - 1, atol=1e-12)
        np.testing.assert_allclose(motion[x], np.zeros(9), atol=1e-9)
        assert motion.certificate.holds

    def test_a_gradient_that_vanishes_is_warned_of(self) -> None:
        """A quadratic velocity constraint has no gradient at rest (section 4 of the theory)."""
        system = da.System(
            "s",
            coordinates=[x, y],
            kinetic=(x.d**2 + y.d**2) / 2,
            constraints={"cone": x.d**2 - y.d**2},
            initial={x: 0, y: 0, x.d: 0, y.d: 0},
        )
        (warning,) = system.simulate(1, samples=3).warnings
        assert "'cone'" in warning

    def test_a_gradient_that_vanishes_to_rounding_too(self) -> None:
        """sin²x at x = π: the gradient is 1e-16, not 0, but constrains as little; and so at every zero of it."""
        system = falling(constraints={"flat": sp.sin(x) ** 2}, initial={x: sp.pi, x.d: 0}, forces={x: 1})
        for start in (system, system.replace(initial={x: 0})):
            with pytest.raises(da.ModelError, match="'flat' has no gradient on its own surface"):
                start.simulate(0.0001, samples=2, project=False)

    @pytest.mark.parametrize("equation", ["(x - far)^2 + y^2 = R^2", "(sqrt((x - far)^2 + y^2) - 2*R)^2 = R^2"])
    @pytest.mark.parametrize(("radius", "far"), [(0.1, 1e6), (1e-3, 1e4), (1e-3, 1e5)])
    def test_a_small_surface_far_from_the_origin_has_one(self, equation: str, radius: float, far: float) -> None:
        """Places beside the start, in units of its distance from the origin, lie far outside; here it turns once a
        second, on one of two circles.
        """
        start = far + radius if "sqrt" not in equation else far + 3 * radius
        system = da.System(
            "circle",
            coordinates="x y",
            kinetic="(x'^2 + y'^2)/2",
            constraints={"circle": equation},
            parameters={"R": radius, "far": far},
            initial={"x": start, "y": 0, "x'": 0, "y'": start - far},
        )
        motion = system.simulate(3, samples=5)
        # Places are known to 1e-16 of the distance, and an angle to that over the radius; some hundred steps add up.
        np.testing.assert_allclose(
            (motion["x"] - far) / (start - far), np.cos(motion.t), atol=1e-6 + 1e-13 * far / radius
        )
        assert motion.certificate.holds, motion.certificate


def failed(system: da.System, duration: float, **options: Any) -> tuple[da.MotionFailed, da.Motion]:
    with pytest.raises(da.MotionFailed) as caught:
        system.simulate(duration, **options)
    assert caught.value.exit_status == 3
    assert caught.value.motion is not None
    return caught.value, caught.value.motion


METHODS = ["dop853", "dopri5", "stiff", "taylor"]


class TestFailure:
    @pytest.mark.parametrize("method", METHODS)
    def test_blow_up(self, method: str) -> None:
        """ẍ = 2x³ with ẋ = x²: x = 1/(1 − t), infinite at t = 1."""
        system = falling(forces={x: 2 * x**3}, initial={x: 1, x.d: 1})
        error, motion = failed(system, 3, samples=29, rtol=1e-7, method=method)
        assert "one coordinate" in str(error)
        told = float(str(error).split("beyond t = ")[1].split(":")[0])
        assert told == pytest.approx(1, abs=1e-4)  # where x has passed 1e4
        assert 0.85 < motion.t[-1] < 1
        np.testing.assert_allclose(motion["x"], 1 / (1 - motion.t), rtol=1e-4)  # an error grows as 1/(1−t)³

    @pytest.mark.parametrize("method", METHODS)
    def test_collision(self, method: str) -> None:
        """V = −1/x from rest at 1: the centre is reached at t = π/(2√2)."""
        error, motion = failed(falling(potential=-1 / x), 3, samples=61, rtol=1e-7, method=method)
        told = float(str(error).split("beyond t = ")[1].split(":")[0])
        assert told == pytest.approx(np.pi / np.sqrt(8), abs=1e-4)
        assert motion.t[-1] == pytest.approx(1.1, abs=0.06)
        assert motion.certificate.holds

    @pytest.mark.parametrize("method", METHODS)
    def test_a_force_that_ends(self, method: str) -> None:
        error, motion = failed(falling(forces={x: sp.sqrt(1 - da.t)}), 3, samples=31, rtol=1e-6, method=method)
        assert "no finite value" in str(error)
        assert motion.t[-1] <= 1
        assert motion.certificate.holds

    def test_a_constraint_that_ends(self) -> None:
        """A rod whose length shrinks to nothing at t = 1 and cannot shrink further."""
        system = pendulum(
            constraints={"rod": x**2 + y**2 - (1 - da.t)}, potential=0, initial={x: 1, y: 0, x.d: -0.5, y.d: 0}
        )
        _, motion = failed(system, 2, samples=41, rtol=1e-6)
        assert 0.7 < motion.t[-1] <= 1

    def test_mass_that_vanishes(self) -> None:
        system = da.System("s", coordinates=[x], mass=[[1 - da.t]], forces={x: 1}, initial={x: 0, x.d: 0})
        error, motion = failed(system, 2, samples=21, rtol=1e-6)
        assert motion.t[-1] <= 1
        assert "mass" in str(error) or "step" in str(error)

    def test_a_bad_start_is_no_partial_motion(self) -> None:
        with pytest.raises(da.UndefinedModel):
            falling(potential=1 / x, initial={x: 0, x.d: 0}).simulate(1)

    def test_the_partial_motion_can_be_saved(self, tmp_path: Any) -> None:
        _, motion = failed(falling(potential=-1 / x), 3, samples=31, rtol=1e-6)
        motion.save(tmp_path / "part.nc")
        again = da.Motion.load(tmp_path / "part.nc")
        np.testing.assert_array_equal(again.t, motion.t)


def test_repeated_runs_are_equal() -> None:
    one, other = penny().simulate(2, samples=11), penny().simulate(2, samples=11)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.multipliers, other.multipliers)


def test_units_do_not_matter() -> None:
    """The pendulum in millimetres and grams: the same motion, the same verdict."""
    metres = pendulum().simulate(2, samples=11)
    small = pendulum(parameters={m: 2000, g: 9810, l: 1500}).simulate(2, samples=11)
    # The absolute tolerance is the only thing with a unit; both runs follow the motion to about 1e-9.
    np.testing.assert_allclose(small.q / 1000, metres.q, atol=1e-7)
    assert small.certificate.holds
    assert metres.certificate.holds


def test_the_tail_of_a_wave_is_not_integrated_to_less_than_rounding():
    """A soliton of Toda's lattice: its tails are places of 1e-5 down to 1e-15, and forces that are
    differences of numbers near one. Steps were as short as that rounding asked for: thousands.
    """
    count, width = 30, 1.2
    speed = np.sinh(width)

    def soliton(k: np.ndarray, t: float) -> np.ndarray:
        before, here = (1 + np.exp(2 * (width * (k - shift) - speed * t)) for shift in (15, 14))
        return np.log(before / here)

    q, k, step = da.coordinates(" ".join(f"q{k}" for k in range(count))), np.arange(count), 1e-5
    line = [sp.S(0), *q, sp.Float(-2 * width)]
    stretched = [after - before for before, after in pairwise(line)]
    system = da.System(
        "Toda",
        coordinates=q,
        kinetic=sp.Add(*(x.d**2 / 2 for x in q)),
        potential=sp.Add(*(sp.exp(-s) + s for s in stretched)),
        initial=dict(zip(q, soliton(k, 0.0), strict=True))
        | dict(zip([x.d for x in q], (soliton(k, step) - soliton(k, -step)) / (2 * step), strict=True)),
    )
    motion = system.simulate(2, samples=3)
    # Velocities are differences over 1e-5: right to the square of that, as is the motion.
    assert np.abs(motion.q[-1] - soliton(k, 2.0)).max() < 1e-8
    assert motion.timing.steps < 100


def test_a_coordinate_in_another_unit_is_as_exact_as_the_others():
    """A nanometre beside a metre is no tail of it: each cosine to ten times rtol of its own size, 1e-9."""
    x, y = da.coordinates("x y")
    kinetic, potential = (x.d**2 + y.d**2) / 2, x**2 / 2 + 2 * y**2
    start = {x: 1, y: 1e-9, x.d: 0, y.d: 0}
    motion = da.System("two", coordinates=[x, y], kinetic=kinetic, potential=potential, initial=start).simulate(20)
    assert np.abs(motion["x"] - np.cos(motion.t)).max() < 1e-8
    assert np.abs(1e9 * motion["y"] - np.cos(2 * motion.t)).max() < 1e-8
