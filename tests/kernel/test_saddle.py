"""The sparse factors of the equations with their multipliers against dense algebra."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from dalembert.kernel.emit.saddle import Saddle, elimination_order


def problem(n: int, m: int, seed: int, density: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    root = np.where(rng.random((n, n)) < density, rng.normal(size=(n, n)), 0.0)
    A = np.where(rng.random((m, n)) < 0.5, rng.normal(size=(m, n)), 0.0)
    A[np.arange(m), np.arange(m)] = 3.0  # no empty row
    return root @ root.T + np.eye(n), A


def numbers(M: np.ndarray, A: np.ndarray, *outputs) -> list[np.ndarray]:
    """Evaluate expressions of symbols that stand for the nonzero entries of M and A."""
    m, a = ca.SX.sym("m", ca.DM(M).sparsity()), ca.SX.sym("a", ca.DM(A).sparsity())
    saddle = Saddle(m, a)
    f = ca.Function("f", [m, a], [output(saddle) for output in outputs])
    return [np.array(x) for x in f.call([ca.DM(M), ca.DM(A)])]


@pytest.mark.parametrize(("n", "m", "density"), [(5, 0, 0.5), (6, 3, 0.2), (12, 9, 0.1), (12, 12, 0.3)])
def test_solution(n, m, density):
    M, A = problem(n, m, n + m, density)
    M, A = np.array(ca.sparsify(ca.DM(M))), np.array(ca.sparsify(ca.DM(A))).reshape(m, n)
    f, k = np.arange(1.0, n + 1), np.arange(1.0, m + 1)
    a, multipliers = numbers(M, A, lambda s: s.solve(f, k)[0], lambda s: s.solve(f, k)[1])
    whole = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    expected = np.linalg.solve(whole, np.concatenate([f, k]))
    # The condition of these matrices is below 1e4.
    np.testing.assert_allclose(np.concatenate([a, multipliers]).ravel(), expected, rtol=1e-10, atol=1e-10)


def test_factors_serve_for_other_right_hand_sides():
    M, A = problem(7, 4, 1, 0.3)
    right = np.arange(11.0)
    sparse = [ca.sparsify(ca.DM(x)) for x in (M, A)]
    m, a = (ca.SX.sym("x", x.sparsity()) for x in sparse)
    saddle = Saddle(m, a)
    x = ca.Function("f", [m, a], [saddle.backsolve()(saddle.factors(), right)])(*sparse)
    whole = np.block([[M, A.T], [A, np.zeros((4, 4))]])
    np.testing.assert_allclose(np.array(x).ravel(), np.linalg.solve(whole, right), rtol=1e-10, atol=1e-10)


def test_pivot_tells_dependence():
    M = np.eye(3)
    for angle in (1.0, 1e-2, 1e-4):
        A = np.array([[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]])
        (pivot,) = numbers(M, A, lambda s: s.pivot())
        # What is left of the second row after the first is taken out: the square of the sine of their angle.
        assert pivot.item() == pytest.approx(np.sin(angle) ** 2, rel=1e-6)


def test_pivot_tells_a_mass_that_is_not_positive():
    (pivot,) = numbers(np.diag([1.0, -2.0]), np.zeros((0, 2)), lambda s: s.pivot())
    assert pivot.item() == -1.0
    near = 1 - 1e-8
    (pivot,) = numbers(np.array([[1.0, near], [near, 1.0]]), np.zeros((0, 2)), lambda s: s.pivot())
    assert pivot.item() == pytest.approx(2e-8, rel=1e-6)


def test_the_order_keeps_a_chain_narrow():
    """Masses coupled to neighbours, one constraint between neighbours: no fill beyond a band."""
    n = 60
    M = ca.Sparsity.banded(n, 1)
    A = ca.Sparsity.triplet(
        n - 1, n, [i for i in range(n - 1) for _ in (0, 1)], [j for i in range(n - 1) for j in (i, i + 1)]
    )
    m, a = ca.SX.sym("m", M), ca.SX.sym("a", A)
    assert Saddle(m, a).LT.nnz() < 6 * n
    order = elimination_order(M, A)
    place = {k: at for at, k in enumerate(order)}
    for i in range(n - 1):
        assert place[n + i] > max(place[i], place[i + 1])
