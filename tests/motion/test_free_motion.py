"""What constraints make of the free motion: Udwadia and Kalaba's objects at a state, against their definitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sample_systems import pendulum, penny
from scipy.linalg import sqrtm

import dalembert as da

# Some dozen operations at one state.
ROUNDING = 1e-11


def rough() -> da.System:
    """A block on a slope whose friction is work of the constraint, with a second statement of the slope."""
    return da.System(
        "rough slope",
        coordinates="x y z",
        kinetic="m*(x'^2 + 2*y'^2 + z'^2)/2 + m*x'*z'/3",
        potential="m*g*z",
        constraints={"slope": "z = x/2 + y/5", "again": "3*z = 3*x/2 + 3*y/5"},
        nonideal=[da.Work({"x": "-k*x'", "y": "-k*y'", "z": "-k*z'"}, "slope")],
        parameters={"m": 2, "g": 9.81, "k": 0.7},
        initial={"x": 0, "y": 0, "z": 0, "x'": 1, "y'": 2, "z'": 0.9},
    )


@pytest.mark.parametrize("system", [pendulum(), penny(), rough()], ids=lambda system: system.name)
class TestDefinitions:
    def test_gain_and_extent(self, system: da.System) -> None:
        now = system.at()
        root = np.linalg.inv(np.real(sqrtm(now.M)))
        B = now.A @ root
        np.testing.assert_allclose(now.B, B, atol=ROUNDING)
        np.testing.assert_allclose(now.K, root @ np.linalg.pinv(B, rcond=1e-10), atol=ROUNDING)
        np.testing.assert_allclose(now.e, now.b - now.A @ np.linalg.solve(now.M, now.Q), atol=ROUNDING)
        c = np.linalg.solve(now.M, now.C)
        np.testing.assert_allclose(now.c, c, atol=ROUNDING)
        np.testing.assert_allclose(now.deviation, now.K @ (now.e - now.A @ c) + c, atol=ROUNDING)

    def test_any_inverse_of_its_kind_gives_the_same_motion(self, system: da.System) -> None:
        """B¹⁴ = B⁺ + Z (I − B B⁺) for any Z is a {1,4}-inverse, too: B G B = B, (G B)ᵀ = G B."""
        now = system.at()
        root = np.linalg.inv(np.real(sqrtm(now.M)))
        B, inverse = now.B, np.linalg.pinv(now.B, rcond=1e-10)
        Z = np.random.default_rng(2).normal(size=inverse.shape)
        other = inverse + Z @ (np.eye(len(B)) - B @ inverse)
        np.testing.assert_allclose(B @ other @ B, B, atol=ROUNDING)
        np.testing.assert_allclose(other @ B, (other @ B).T, atol=ROUNDING)
        c = now.c
        np.testing.assert_allclose(root @ other @ (now.e - now.A @ c) + c, now.deviation, atol=ROUNDING)

    def test_possible_accelerations(self, system: da.System) -> None:
        now, rng = system.at(), np.random.default_rng(3)
        for _ in range(5):
            z = now.possible(rng.normal(size=now.q.size))
            np.testing.assert_allclose(now.A @ z, now.b, atol=ROUNDING)
            assert now.is_possible(z)
            assert not now.is_possible(z + 0.01 * now.A[0])
        # (15): with y = M^(−1/2)(Q + C) it is the motion itself.
        root = np.linalg.inv(np.real(sqrtm(now.M)))
        np.testing.assert_allclose(now.possible(root @ (now.Q + now.C)), now.acceleration, atol=ROUNDING)

    def test_virtual_work(self, system: da.System) -> None:
        now = system.at()
        N = now.virtual_displacements
        assert N.shape == (now.q.size, now.q.size - now.rank)
        np.testing.assert_allclose(now.A @ N, 0, atol=ROUNDING)
        v = N @ np.arange(1.0, N.shape[1] + 1)
        found = now.virtual_work(v)
        assert found.done == pytest.approx(v @ (now.M @ now.acceleration - now.Q), abs=ROUNDING)
        assert found.done == pytest.approx(found.prescribed, abs=ROUNDING)
        with pytest.raises(da.ModelError, match="no virtual displacement"):
            now.virtual_work(v + now.A[0])

    def test_gauss_by_three_forms(self, system: da.System) -> None:
        now = system.at()
        z = now.possible(np.arange(1.0, now.q.size + 1))
        force = now.M @ z - now.Q - now.C
        G = float(force @ np.linalg.solve(now.M, force))
        assert now.gauss(z) == pytest.approx(G, rel=1e-9)
        assert now.gauss(acceleration=z) == pytest.approx(G, rel=1e-9)
        assert now.gauss(force=now.M @ z - now.Q) == pytest.approx(G, rel=1e-9)
        assert now.gauss(deviation=z - now.unconstrained) == pytest.approx(G, rel=1e-9)
        d = z - now.acceleration
        assert now.gauss(z) - now.gauss() == pytest.approx(d @ now.M @ d, rel=1e-9)

    def test_forces_add_up_in_print(self, system: da.System) -> None:
        now = system.at()
        for line, name in zip(str(now).splitlines()[2:], [q.name for q in system.coordinates], strict=False):
            left, right = line.split("=")
            own, _, inertia = left.split()
            assert own == name
            assert float(inertia) == pytest.approx(sum(map(float, right.split("+"))), abs=1e-4)  # six digits are shown


def test_an_impossible_acceleration_is_warned_of() -> None:
    now = pendulum().at()
    with pytest.warns(UserWarning, match="not possible"):
        now.gauss(now.acceleration + now.A[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        now.gauss(now.acceleration)


def test_wrong_shapes_are_told() -> None:
    now = pendulum().at()
    for call in (now.gauss, now.possible, now.is_possible, now.virtual_work):
        with pytest.raises(da.ModelError, match="2 numbers wanted"):
            call([1.0, 2.0, 3.0])
    with pytest.raises(da.ModelError, match="not force and deviation"):
        now.gauss(force=[0, 0], deviation=[0, 0])


def test_without_mass_there_is_no_free_motion() -> None:
    system = da.System(
        "follower",
        coordinates="x y",
        kinetic="x'^2/2",
        constraints={"follows": "y = x"},
        initial={"x": 0, "y": 0, "x'": 1, "y'": 1},
    )
    with pytest.raises(da.UndeterminedMotion, match="no free motion"):
        _ = system.at().K


@pytest.mark.parametrize("system", [pendulum(), penny()], ids=lambda system: system.name)
def test_along_a_motion_as_at_each_state(system: da.System) -> None:
    motion = system.simulate(1, samples=5)
    for k in range(5):
        state = dict(zip([*system.coordinates, *system.velocities], [*motion.q[k], *motion.v[k]], strict=True))
        now = system.at(state, t=float(motion.t[k]))
        np.testing.assert_allclose(motion.unconstrained[k], now.unconstrained, atol=ROUNDING)
        np.testing.assert_allclose(motion.e[k], now.e, atol=ROUNDING)
        np.testing.assert_allclose(motion.constraint_force[k], now.M @ now.acceleration - now.Q, atol=ROUNDING)


def test_an_open_constraint_misses_nothing() -> None:
    system = da.System(
        "falls",
        coordinates="y",
        kinetic="y'^2/2",
        potential="9.81*y",
        constraints=[da.Constraint("floor", "y >= 0", restitution=0)],
        initial={"y": 1, "y'": 0},
    )
    motion = system.simulate(1)
    landed = motion.t > np.sqrt(2 / 9.81)
    np.testing.assert_array_equal(motion.e[~landed], 0)
    np.testing.assert_allclose(motion.e[landed], 9.81)
