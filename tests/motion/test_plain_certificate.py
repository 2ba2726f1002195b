"""The certificate in one call of C: equal to the one from its parts, on sound motions and on corrupt ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.ready.forces import forces_along
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import branches_of, together_of
from dalembert.mechanics.solve.fundamental import solve
from dalembert.motion.certificate import certify as module
from dalembert.motion.certificate.algebra import data_along
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.plain import certify_any_plain
from dalembert.motion.result.certificate import MEASURES, Certificate
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.evaluation import Evaluation

SYSTEMS = {"penny": (20.0, 201), "cart": (3.0, 9), "pendulum": (4.0, 60), "satellite_pair": (5.0, 30)}


def simulated(name: str) -> Motion:
    duration, samples = SYSTEMS[name]
    return da.library.get(name).simulate(duration, samples=samples)


def from_parts(motion: Motion, monkeypatch: pytest.MonkeyPatch) -> Certificate:
    with monkeypatch.context() as patch:
        patch.setattr(module, "certify_any_plain", lambda *_: None)
        return certify(motion)


@pytest.mark.parametrize("name", SYSTEMS)
def test_one_call_measures_what_the_parts_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = simulated(name)
    evaluation = Evaluation(motion.system)
    found = certify_any_plain(motion, evaluation, data_along(motion, evaluation))
    assert found is not None  # it is this road that is looked at
    assert found == motion.certificate
    parts = from_parts(motion, monkeypatch)
    assert (found.rank_min, found.rank_max, found.thresholds) == (parts.rank_min, parts.rank_max, parts.thresholds)
    for measure in MEASURES:
        # Sums of rounding may differ by a few roundings.
        assert getattr(found, measure) == pytest.approx(getattr(parts, measure), rel=1e-6, abs=2e-14), measure
    assert motion.certificate.holds
    assert parts.holds


def test_the_rounding_of_energies_is_no_imbalance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A millisecond of a double well at the tightest tolerance: little is exchanged, and E = −1/4 is 1/4 − 1/2."""
    x = da.coordinates("x")[0]
    well = da.System(
        "double well", coordinates=[x], kinetic=x.d**2 / 2, potential=x**4 / 4 - x**2 / 2,
        forces={x: 0.3 * sp.cos(1.2 * da.t) - x.d / 10}, initial={x: 1, x.d: 0},
    )  # fmt: skip
    motion = well.simulate(1e-3, rtol=1e-13)
    assert motion.certificate.holds
    assert from_parts(motion, monkeypatch).holds


@pytest.mark.parametrize("field", ["q", "v", "a", "ideal", "impressed", "inertial", "multipliers", "work", "energy"])
def test_a_corrupt_motion_fails_alike(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = simulated("pendulum")
    values = getattr(motion, field).copy()
    values[23] += 1e-3  # of sizes about one, at one output, a thousand times what any measure allows
    wrong = replace(motion, **{field: values})
    assert not certify(wrong).holds
    assert set(certify(wrong).failures) == set(from_parts(wrong, monkeypatch).failures)


@pytest.mark.parametrize("field", ["q", "v", "a", "ideal"])
def test_what_is_changed_in_place_is_seen(field: str) -> None:
    """What was evaluated for the forces serves the certificate only for the states and forces it belongs to."""
    motion = simulated("pendulum")
    getattr(motion, field)[23] += 1e-3
    assert not motion.certificate.holds


def test_a_value_that_is_no_number_fails() -> None:
    motion = simulated("pendulum")
    a = motion.a.copy()
    a[5, 0] = np.nan
    assert not certify(replace(motion, a=a)).holds


@pytest.mark.parametrize("name", ["redundant_double_pendulum", "quaternion_body"])
def test_redundant_constraints_and_singular_masses_need_no_singular_values(name: str) -> None:
    """One rod too many; four numbers for three rotations, whose M is singular. Singular values, and the null space, are
    other ways to the same accelerations, forces and smallest multipliers.
    """
    motion = da.library.get(name).simulate(1.0, samples=23)
    evaluation = Evaluation(motion.system)
    together = together_of(evaluation.graph)
    assert together is not None
    found = forces_along(together, motion.q, motion.v, motion.t, evaluation.p)
    assert found is not None
    solution = found.solution
    for k in range(motion.t.size):
        other = solve(solution.M[k], solution.Q[k], solution.A[k], solution.b[k], solution.C[k])
        for part in ("acceleration", "unconstrained", "ideal", "nonideal", "multipliers"):
            wanted = getattr(other, part)
            # Rounding times the condition of the masses and constraints, which are of size one.
            scale = 1e-11 * max(1.0, float(np.abs(solution.Q[k]).max()))
            np.testing.assert_allclose(getattr(solution, part)[k], wanted, rtol=1e-10, atol=scale, err_msg=part)
        assert solution.rank[k] == other.rank
        assert (solution.dependent[k] == other.dependent).all()
    assert motion.certificate.holds
    parts = certify(motion)
    assert parts.holds
    for measure in MEASURES:
        assert getattr(motion.certificate, measure) == pytest.approx(getattr(parts, measure), rel=0.9, abs=1e-9), (
            measure
        )


def test_dependent_constraints_that_contradict_each_other_are_left_to_least_squares() -> None:
    M, Q, C = np.eye(2)[None], np.zeros((1, 2)), np.zeros((1, 2))
    A = np.array([[[1.0, 0.0], [2.0, 0.0]]])
    for second, shared in ((2.0, 1.0), (2.2, 1.05)):
        b = np.array([[1.0, second]])
        found, wanted = solve_points(M, Q, A, b, C), solve(M, Q, A, b, C)
        np.testing.assert_allclose(found.acceleration, wanted.acceleration, atol=1e-14)
        np.testing.assert_allclose(found.acceleration, [[shared, 0.0]], atol=1e-14)  # directions weigh the same
        np.testing.assert_allclose(found.multipliers, wanted.multipliers, atol=1e-14)


class TestNonlinearInAccelerations:
    """Rows nonlinear in q̈: branches are followed by C, and solved one by one in Python."""

    def test_forces_are_those_solved_one_by_one(self) -> None:
        system = da.System(
            "in space",
            coordinates="x y z",
            mass=[[2, 0.3, 0], [0.3, 1, -0.2], [0, -0.2, 3]],
            forces={"x": "1 - x", "y": "cos(t)", "z": "4 + x'*y'"},
            constraints={"size": "x''^2 + 2*y''^2 + z''^2 - 2 - x^2", "turn": "x'' - 0.3*y'' - t"},
            initial={"x": 0.5, "y": -0.3, "z": 0.2, "x'": 1, "y'": 0.7, "z'": -0.4},
        )
        motion = system.simulate(0.6, samples=13)
        evaluation = Evaluation(system)
        branches = branches_of(evaluation.graph)
        assert branches is not None
        # The state changes by a tenth from point to point, so that this selects the branch and is not on it.
        near = np.vstack([motion.a[:1], motion.a[:-1]])
        found = forces_along(branches, motion.q, motion.v, motion.t, evaluation.p, near)
        assert found is not None
        for k in range(motion.t.size):
            other = evaluation.solve(motion.q[k], motion.v[k], float(motion.t[k]), None, motion.a[k])
            for part in ("acceleration", "ideal", "multipliers", "A", "b"):
                # Newton's method ends near rounding.
                wanted = getattr(other, part)
                np.testing.assert_allclose(getattr(found.solution, part)[k], wanted, atol=1e-11, err_msg=part)
        assert motion.certificate.holds

    def test_a_branch_that_is_no_minimum_is_left_alone(self) -> None:
        """Against the force, G is largest on the circle of accelerations."""
        system = da.library.prescribed_acceleration()
        motion, evaluation = system.simulate(0.1, samples=3), Evaluation(system)
        branches = branches_of(evaluation.graph)
        assert branches is not None
        assert forces_along(branches, motion.q, motion.v, motion.t, evaluation.p, -motion.a) is None
        assert forces_along(branches, motion.q, motion.v, motion.t, evaluation.p, 1.1 * motion.a) is not None

    @pytest.mark.parametrize("field", ["q", "v", "a", "ideal", "impressed", "inertial", "multipliers", "work"])
    def test_a_corrupt_motion_fails_alike(self, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
        motion = da.library.prescribed_acceleration().simulate(2.0, samples=60)
        assert motion.certificate.holds
        assert certify(motion).holds
        values = getattr(motion, field).copy()
        values[23] += 1e-2  # of sizes about ten, at one output, a thousand times what any measure allows
        wrong = replace(motion, **{field: values})
        assert not certify(wrong).holds
        assert set(certify(wrong).failures) == set(from_parts(wrong, monkeypatch).failures)
        values[23] = np.nan
        assert not certify(replace(motion, **{field: values})).holds

    def test_one_call_measures_what_the_parts_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        motion = da.library.prescribed_acceleration().simulate(2.0, samples=60)
        evaluation = Evaluation(motion.system)
        found = certify_any_plain(motion, evaluation, data_along(motion, evaluation))
        assert found is not None  # it is this road that is looked at
        parts = from_parts(motion, monkeypatch)
        for measure in MEASURES:
            # Sums of rounding may differ by a few roundings.
            assert getattr(found, measure) == pytest.approx(getattr(parts, measure), rel=1e-6, abs=2e-14), measure

    def test_against_the_force(self) -> None:
        """Both branches satisfy all equations; the certificate tells the least G from the largest."""
        motion = da.library.prescribed_acceleration(m=1.0).simulate(1.0, samples=21)
        t, a = motion.t[:, None], -motion.a
        q, v = motion.q[0] + motion.v[0] * t + a * t**2 / 2, motion.v[0] + a * t
        ideal = a - motion.impressed - motion.inertial
        multipliers = (ideal * a).sum(axis=1, keepdims=True) / (2 * (a * a).sum(axis=1, keepdims=True))
        other = certify(replace(motion, q=q, v=v, a=a, ideal=ideal, multipliers=multipliers))
        assert "gauss" in other.failures
        assert max(other.forces, other.virtual_work, other.repeat) < 1e-12  # rounding
