"""Udwadia and Kalaba, equation by equation: the objects of the package against the formulas as printed, in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import sqrtm

import dalembert as da

# Some dozen operations at one state, on numbers of size one.
ROUNDING = 1e-11
RNG = np.random.default_rng(571)


def pfaffian() -> da.System:
    """y dx − dz + t² dt = 0: (2) with time in it, and inertia that couples and depends on the place."""
    return da.System(
        "sled",
        coordinates="x y z",
        kinetic="m*(x'^2 + (1 + x^2)*y'^2 + z'^2)/2 + m*x'*z'/3",
        potential="m*g*z",
        forces={"x": "-k*x'"},
        constraints={"sled": "y*x' - z' + t^2 = 0"},
        parameters={"m": 2, "g": 9.81, "k": 0.7},
        initial={"x": 0.3, "y": 0.8, "z": 0.1, "x'": 1.2, "y'": -0.4, "z'": 0.96},
    )


def redundant() -> da.System:
    """The same with a constraint that follows from the first."""
    return pfaffian().replace(constraints={"sled": "y*x' - z' + t^2 = 0", "again": "3*z' = 3*y*x' + 3*t^2"})


SYSTEMS = {"one": pfaffian(), "redundant": redundant(), "penny": da.library.penny()}
every = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS.keys())


def roots(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    half = np.real(sqrtm(M))
    return half, np.linalg.inv(half)


@every
def test_1_free_motion(system: da.System) -> None:
    """(1): without its constraints the system moves with a = M⁻¹Q."""
    now = system.at()
    free = system.replace(constraints={}).at()
    np.testing.assert_allclose(now.unconstrained, free.acceleration, atol=ROUNDING)
    np.testing.assert_allclose(now.M @ now.unconstrained, now.Q, atol=ROUNDING)


def test_2_3_constraints_differentiated() -> None:
    """(2) → (3): A = (y, 0, −1), b = −(ẏẋ + 2t); a constraint on positions, written as (2), gives the same motion."""
    now = pfaffian().at(t=0.5)
    np.testing.assert_allclose(now.A, [[0.8, 0, -1]], atol=ROUNDING)
    np.testing.assert_allclose(now.b, [-(-0.4 * 1.2 + 2 * 0.5)], atol=ROUNDING)
    state = {"x": 0.3, "y": 0.8, "z": 0.24, "x'": 1, "y'": 2, "z'": 1.4}
    by_place = pfaffian().replace(constraints={"surface": "z = x*y"}, initial=state)
    by_rate = pfaffian().replace(constraints={"surface": "z' = x'*y + x*y'"}, initial=state)
    np.testing.assert_allclose(by_place.at().acceleration, by_rate.at().acceleration, atol=ROUNDING)


@every
def test_4_5_virtual_displacements(system: da.System) -> None:
    now = system.at()
    half, inverse = roots(now.M)
    for v in now.virtual_displacements.T:
        np.testing.assert_allclose(now.A @ v, 0, atol=ROUNDING)
        np.testing.assert_allclose(now.B @ (half @ v), 0, atol=ROUNDING)  # (5), v = M^(−1/2)u
    np.testing.assert_allclose(now.B, now.A @ inverse, atol=ROUNDING)


@every
def test_6_7_possible_accelerations(system: da.System) -> None:
    now = system.at()
    half, _ = roots(now.M)
    plus = np.linalg.pinv(now.B, rcond=1e-10)
    for _ in range(5):
        y = RNG.normal(size=now.q.size)
        z = now.possible(y)
        np.testing.assert_allclose(now.B @ (half @ z), now.b, atol=ROUNDING)
        np.testing.assert_allclose(half @ z, plus @ now.b + (np.eye(now.q.size) - plus @ now.B) @ y, atol=ROUNDING)


@every
def test_8_to_11_no_virtual_work(system: da.System) -> None:
    now = system.at()
    half, inverse = roots(now.M)
    np.testing.assert_allclose(now.M @ now.acceleration, now.Q + now.constraint_force, atol=ROUNDING)
    for v in now.virtual_displacements.T:
        assert now.virtual_work(v).done == pytest.approx(0, abs=ROUNDING)
        u, r = half @ v, half @ now.acceleration
        assert u @ (r - inverse @ now.Q) == pytest.approx(0, abs=ROUNDING)  # (10)


@every
def test_12_to_15_which_possible_one(system: da.System) -> None:
    """(13): y = M^(−1/2)Q + Bᵀw gives the motion, whatever w."""
    now = system.at()
    _, inverse = roots(now.M)
    for _ in range(5):
        w = RNG.normal(size=now.b.size)
        np.testing.assert_allclose(now.possible(inverse @ now.Q + now.B.T @ w), now.acceleration, atol=ROUNDING)
    other = now.possible(inverse @ now.Q + inverse @ now.M @ now.virtual_displacements[:, 0])
    assert np.abs(other - now.acceleration).max() > 0.01


@every
def test_16_to_19_the_principle(system: da.System) -> None:
    now = system.at()
    half, inverse = roots(now.M)
    plus = np.linalg.pinv(now.A @ inverse, rcond=1e-10)
    a = np.linalg.solve(now.M, now.Q)
    force = half @ plus @ (now.b - now.A @ a)
    np.testing.assert_allclose(now.M @ now.acceleration, now.Q + force, atol=ROUNDING)  # (16)
    np.testing.assert_allclose(now.ideal, force, atol=ROUNDING)
    np.testing.assert_allclose(now.acceleration, a + inverse @ plus @ (now.b - now.A @ a), atol=ROUNDING)  # (17)
    np.testing.assert_allclose(now.K, inverse @ plus, atol=ROUNDING)  # (18)
    np.testing.assert_allclose(now.deviation, now.K @ now.e, atol=ROUNDING)  # (19)


@every
def test_deviation_is_proportional_to_the_extent(system: da.System) -> None:
    """The principle in words: twice the extent, with the same M and A, is twice the deviation."""
    now = system.at()
    arrays = da.fundamental(now.M, now.Q, now.A, now.A @ now.unconstrained + 2 * now.e)
    np.testing.assert_allclose(arrays.acceleration - now.unconstrained, 2 * now.deviation, atol=ROUNDING)


@every
def test_appendix(system: da.System) -> None:
    """(A1) and items 2 to 5."""
    now = system.at()
    B, plus = now.B, now.inverse()
    np.testing.assert_allclose(B @ plus @ B, B, atol=ROUNDING)
    np.testing.assert_allclose(plus @ B @ plus, plus, atol=ROUNDING)
    np.testing.assert_allclose(B @ plus, (B @ plus).T, atol=ROUNDING)
    np.testing.assert_allclose(plus @ B, (plus @ B).T, atol=ROUNDING)  # item 5
    np.testing.assert_allclose(B @ plus @ now.b, now.b, atol=ROUNDING)  # item 2: the constraints agree with each other
    u = roots(now.M)[0] @ now.virtual_displacements[:, 0]
    np.testing.assert_allclose(np.linalg.pinv(u[:, None]), u[None] / (u @ u), atol=ROUNDING)  # item 3
    np.testing.assert_allclose(u @ plus, 0, atol=ROUNDING)  # item 4


def test_every_14_inverse_gives_the_same_motion() -> None:
    """Redundant constraints have many; the motion does not see which. An inverse that lacks (4) does change it."""
    now = redundant().at()
    found = []
    for _ in range(5):
        G = now.inverse(RNG.normal(size=(3, 2)))
        np.testing.assert_allclose(now.B @ G @ now.B, now.B, atol=ROUNDING)
        np.testing.assert_allclose(G @ now.B, (G @ now.B).T, atol=ROUNDING)
        np.testing.assert_allclose(now.deviation_by(G), now.deviation, atol=ROUNDING)
        y = RNG.normal(size=3)
        np.testing.assert_allclose(now.possible(y, inverse=G), now.possible(y), atol=ROUNDING)
        found.append(G)
    assert np.abs(found[0] - found[1]).max() > 0.1  # they do differ
    wrong = now.inverse() + np.outer(now.B[0][[1, 2, 0]], [1, 0])
    with pytest.raises(da.ModelError, match=r"no \{1,4\}-inverse"):
        now.deviation_by(wrong)
    with pytest.raises(da.ModelError, match=r"shape \(3, 2\) is wanted"):
        now.deviation_by(wrong.T)


@pytest.mark.parametrize("system", [pfaffian(), da.library.penny(), da.library.pendulum()], ids=lambda s: s.name)
def test_symbolic_gain_is_the_numeric_one(system: da.System) -> None:
    """`equations().unconstrained`, `.e`, `.K`, `.deviation` with the numbers of a state put in."""
    found, now = system.equations(), system.at()
    known = dict(zip([*system.coordinates, *system.velocities], [*now.q, *now.v], strict=True))
    known |= {symbol: float(value) for symbol, value in system.parameters.items()} | {da.t: now.t}
    for name in ("unconstrained", "e", "K", "deviation", "impressed", "inertial"):
        numbers = np.array(getattr(found, name).subs(known).evalf(), dtype=float)
        np.testing.assert_allclose(numbers, getattr(now, name).reshape(numbers.shape), atol=ROUNDING)


def test_19_in_symbols() -> None:
    """K e = q̈ − a identically, and the page says so."""
    found = da.library.penny().equations()
    assert all(sp.simplify(entry) == 0 for entry in found.K * found.e - found.deviation)
    text = found.text()
    assert "unconstrained a, extent e, gain K: q'' - a = K e" in text
    assert "K_psi_1 = -cos(phi)/(R*(beta + 1))" in text
    assert "e_2 = R*phi'*psi'*cos(phi)   [roll y]" in text
    assert r"K_{\psi 1} &= - \frac{\cos{\left(\phi \right)}}{R \left(\beta + 1\right)}" in found.latex()
    assert found.to_dict()["e"]["roll y"] == "R*phi'*psi'*cos(phi)"


def test_redundant_rows_have_no_column_of_their_own() -> None:
    """The columns of K of rows left out are zero: M^(1/2)K is a {1,4}-inverse, not B⁺, and K e is the deviation."""
    system = redundant()
    found, now = system.equations(), system.at()
    assert found.dropped == ("again",)
    known = dict(zip([*system.coordinates, *system.velocities], [*now.q, *now.v], strict=True)) | {da.t: now.t}
    known |= {symbol: float(value) for symbol, value in system.parameters.items()}
    K = np.array(found.K.subs(known).evalf(), dtype=float)
    np.testing.assert_array_equal(K[:, 1], 0)
    assert np.abs(K - now.K).max() > 0.01
    np.testing.assert_allclose(now.deviation_by(roots(now.M)[0] @ K), now.deviation, atol=ROUNDING)


def test_where_there_is_no_gain_it_says_why() -> None:
    long = da.library.hinged_rods().equations()
    assert long.K is None
    assert "6 coupled equations" in long.reason
    assert "a, e and K are not written out, for the same reason" in long.reason
    massless = da.System("follower", coordinates="x y", kinetic="x'^2/2", constraints={"follows": "y = x"}).equations()
    assert massless.e is None
    assert "no free motion" in massless.reason
