"""Constraints nonlinear in the accelerations: the branch of least G, followed in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from sample_systems import m, steered, x, y, z
from scipy.optimize import minimize

import dalembert as da

# Newton on the stationarity conditions ends near rounding.
NEWTON = 1e-10


class TestSize:
    """|q̈| = 2: G is least along the force, whatever its size."""

    def test_at_one_instant(self) -> None:
        now = steered().at(t=0.4)
        e = np.array([np.cos(0.6), np.sin(0.6)])
        np.testing.assert_allclose(now.acceleration, 2 * e, atol=NEWTON)
        np.testing.assert_allclose(now.ideal, (2 * 0.7 - 5) * e, atol=NEWTON)
        np.testing.assert_allclose(now.unconstrained, 5 / 0.7 * e, rtol=1e-12)
        assert now.rank == 1
        # M q̈ = Q + λ ∂h/∂q̈.
        np.testing.assert_allclose(now.multipliers * 2 * now.acceleration, now.ideal, atol=NEWTON)

    def test_motion(self) -> None:
        """q̈ = 2 (cos wt, sin wt), twice integrated."""
        motion = steered().simulate(3, samples=31)
        w, t = 1.5, motion.t
        np.testing.assert_allclose(motion["x"], 0.1 + 0.3 * t + 2 * (1 - np.cos(w * t)) / w**2, atol=1e-8)
        np.testing.assert_allclose(motion["y"], -0.2 + 0.4 * t + 2 * (w * t - np.sin(w * t)) / w**2, atol=1e-8)
        np.testing.assert_allclose(np.hypot(*motion.a.T), 2, rtol=1e-12)
        assert motion.certificate.holds

    @pytest.mark.parametrize("method", ["dopri5", "stiff"])
    def test_other_methods(self, method: str) -> None:
        motion = steered().simulate(1, samples=3, method=method, rtol=1e-7)
        assert motion["x"][-1] == pytest.approx(0.4 + 2 * (1 - np.cos(1.5)) / 2.25, abs=1e-5)
        assert motion.certificate.holds

    def test_with_work(self) -> None:
        """C joins the force in G: the acceleration points along Q + C."""
        system = steered(nonideal=[da.Work({x: -3 * x.d, y: 4 * y.d})])
        now = system.at(t=0.4)
        total = 5 * np.array([np.cos(0.6), np.sin(0.6)]) + [-0.9, 1.6]
        np.testing.assert_allclose(now.acceleration, 2 * total / np.linalg.norm(total), atol=NEWTON)
        # The ideal force is that of the motion without C; the rest is what C changes.
        e = np.array([np.cos(0.6), np.sin(0.6)])
        np.testing.assert_allclose(now.ideal, (2 * 0.7 - 5) * e, atol=NEWTON)
        np.testing.assert_allclose(now.M @ now.acceleration, now.Q + now.ideal + now.nonideal, atol=NEWTON)
        assert system.simulate(1, samples=6).certificate.holds

    def test_work_that_depends_on_the_reaction(self) -> None:
        """ideal(x) is the force without C, (2m − 5) e; it must not be taken for zero."""
        system = steered(nonideal=[da.Work({y: da.ideal(x)})])
        try:
            now = system.at(t=0.4)
        except da.DalembertError:
            return  # refused by name is right as well
        e = np.array([np.cos(0.6), np.sin(0.6)])
        total = 5 * e + [0, (2 * 0.7 - 5) * e[0]]
        np.testing.assert_allclose(now.acceleration, 2 * total / np.linalg.norm(total), atol=NEWTON)

    def test_the_metric_is_that_of_the_mass(self) -> None:
        """Unequal masses: least Σ m (z − a)², not the radial point."""
        system = steered(kinetic=x.d**2 / 2 + 4 * y.d**2, forces={x: 3, y: 16})
        compare(system)


def gauss_minimum(system: da.System, rows: list[Any], starts: int = 12) -> np.ndarray:
    """The acceleration of least G by SLSQP from many points; `rows` are functions that vanish."""
    now = system.at() if not system.constraints else None
    free = system.replace(constraints={}, nonideal=[]).at() if now is None else now
    M, Q = free.M, free.Q
    a = np.linalg.solve(M, Q)
    rng = np.random.default_rng(2)
    best, least = None, np.inf
    for _ in range(starts):
        found = minimize(
            lambda s: (s - a) @ M @ (s - a),
            a + rng.normal(size=a.size) * 3,
            method="SLSQP",
            constraints=[{"type": "eq", "fun": row} for row in rows],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        feasible = all(abs(row(found.x)) < 1e-7 for row in rows)
        if feasible and found.fun < least - 1e-9:
            best, least = found.x, found.fun
    assert best is not None
    return best


def compare(system: da.System) -> None:
    """The acceleration at the initial state against a general minimiser."""
    q, v, t = system.initial_values()
    place = dict(zip((*system.coordinates, *system.velocities), (*q, *v), strict=True)) | {da.t: t}
    place |= {symbol: float(value) for symbol, value in system.parameters.items()}
    rows = [sp.lambdify([system.accelerations], c.expression.subs(place)) for c in system.constraints]
    # SLSQP stops where G no longer changes by 1e-14: the square root of that in z.
    np.testing.assert_allclose(system.at().acceleration, gauss_minimum(system, rows), atol=1e-5)


def space(constraints: dict[str, sp.Expr], **changes: Any) -> da.System:
    parts: dict[str, Any] = {
        "coordinates": [x, y, z],
        "mass": [[2, 0.3, 0], [0.3, 1, -0.2], [0, -0.2, 3]],
        "forces": {x: 1.0, y: -2.0, z: 4.0},
        "constraints": constraints,
        "initial": {x: 0.5, y: -0.3, z: 0.2, x.d: 1, y.d: 0.7, z.d: -0.4},
    }
    return da.System("in space", **{**parts, **changes})


SETS: dict[str, dict[str, sp.Expr]] = {
    "sphere": {"a": x.dd**2 + y.dd**2 + z.dd**2 - 9},
    "ellipsoid with velocities": {"a": x.dd**2 + 2 * y.dd**2 + z.dd**2 * (1 + x.d**2) - 4},
    "cubic": {"a": x.dd**3 + y.dd - z.dd - 2},
    "exponential": {"a": sp.exp(x.dd / 3) + z.dd - 3},
    "sphere and plane": {"a": x.dd**2 + y.dd**2 + z.dd**2 - 9, "b": x.dd + y.dd - z.dd + 1},
    "two spheres": {"a": x.dd**2 + y.dd**2 + z.dd**2 - 9, "b": (x.dd - 1) ** 2 + y.dd**2 + z.dd**2 - 8},
    "with a velocity constraint": {"a": x.dd**2 + y.dd**2 + z.dd**2 - 9, "b": x.d * y.d - sp.Rational(7, 10)},
}


@pytest.mark.parametrize("name", [key for key in SETS if key != "with a velocity constraint"])
def test_agrees_with_a_general_minimiser(name: str) -> None:
    compare(space(SETS[name]))


@pytest.mark.parametrize("name", SETS)
def test_equations_hold(name: str) -> None:
    """h(q̈) = 0, and M q̈ − Q is along the gradients of the constraints."""
    system = space(SETS[name])
    now = system.at()
    values = dict(
        zip(
            (*system.accelerations, *system.coordinates, *system.velocities),
            (*now.acceleration, *now.q, *now.v),
            strict=True,
        )
    )
    for constraint in system.constraints:
        if constraint.level == "acceleration":
            assert float(constraint.expression.subs(values)) == pytest.approx(0, abs=1e-9)
            gradient = [float(constraint.expression.diff(a).subs(values)) for a in system.accelerations]
            row = [c.name for c in system.constraints].index(constraint.name)
            np.testing.assert_allclose(now.A[row], gradient, atol=1e-9)
    np.testing.assert_allclose(now.M @ now.acceleration - now.Q, now.A.T @ now.multipliers, atol=1e-8)
    np.testing.assert_allclose(now.ideal, now.A.T @ now.multipliers, atol=1e-8)


@pytest.mark.parametrize("name", ["sphere and plane", "with a velocity constraint"])
def test_motion_with_two_constraints(name: str) -> None:
    motion = space(SETS[name]).simulate(0.5, samples=6)
    assert motion.certificate.holds
    np.testing.assert_allclose((motion.a**2).sum(axis=1), 9, rtol=1e-9)
    if name == "sphere and plane":
        np.testing.assert_allclose(motion.a @ [1, 1, -1], -1, atol=1e-9)
    else:
        np.testing.assert_allclose(motion["x'"] * motion["y'"], 0.7, rtol=1e-12)


class TestErrors:
    @pytest.mark.parametrize(
        "constraint", [x.dd**2 + y.dd**2 + 4, sp.exp(x.dd) + 1, sp.cos(x.dd) - 2], ids=["squares", "exp", "cos"]
    )
    def test_no_solution(self, constraint: sp.Expr) -> None:
        with pytest.raises(da.BranchError, match="'size': no acceleration"):
            steered(constraints={"size": constraint}).at()

    def test_two_that_contradict(self) -> None:
        with pytest.raises(da.BranchError):
            steered(constraints={"size": x.dd**2 + y.dd**2 - 4, "more": x.dd - 3}).at()

    @pytest.mark.parametrize("constraint", [x.dd**2 + y.dd**2 - 4, x.dd**2 - 4, (x.dd**2 - 4) * (x.dd**2 - 9)])
    def test_not_unique(self, constraint: sp.Expr) -> None:
        """Without a force along them, several accelerations are as near."""
        with pytest.raises(da.BranchError):
            steered(forces={}, constraints={"size": constraint}).at()

    def test_exit_status(self) -> None:
        assert da.BranchError.exit_status == 2

    def test_branches_that_meet(self) -> None:
        """The force vanishes at t = 1 and turns: from then on the direction is not determined."""
        with pytest.raises(da.MotionFailed, match="branches") as caught:
            steered(forces={x: 1 - da.t}).simulate(2, samples=21)
        motion = caught.value.motion
        assert motion is not None
        assert 0.85 < motion.t[-1] <= 1
        np.testing.assert_allclose(motion["x''"], 2, rtol=1e-9)

    def test_a_branch_that_turns_quickly_is_followed(self) -> None:
        motion = steered(forces={x: 1 - da.t, y: sp.Rational(1, 100)}).simulate(2, samples=21)
        e = np.column_stack([1 - motion.t, np.full(21, 0.01)])
        np.testing.assert_allclose(motion.a, 2 * e / np.linalg.norm(e, axis=1)[:, None], atol=1e-8)


def test_linear_in_disguise_is_linear() -> None:
    """(ẍ + 1)² − (ẍ − 1)² is 4ẍ: no branches are sought."""
    now = steered(constraints={"four": (x.dd + 1) ** 2 - (x.dd - 1) ** 2 - 8}).at()
    assert now.acceleration[0] == pytest.approx(2, rel=1e-14)
    assert now.acceleration[1] == pytest.approx(0, abs=1e-14)


def test_masses_far_from_one() -> None:
    """A milligram and a ton: which branch is least does not depend on the unit of mass."""
    for mass in (1e-6, 1e3):
        forces = {x: 5 * mass * sp.cos(1.5 * da.t), y: 5 * mass * sp.sin(1.5 * da.t)}
        now = steered(parameters={m: mass}, forces=forces).at(t=0.4)
        np.testing.assert_allclose(now.acceleration, 2 * np.array([np.cos(0.6), np.sin(0.6)]), atol=1e-8)
