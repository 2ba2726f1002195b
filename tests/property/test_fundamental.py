"""What the fundamental equation must satisfy whatever the numbers: random masses, constraints of any rank, any C."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from strategies import Array, Problem, positive, problems, regular, singular_problems, spread

import dalembert as da
from dalembert.mechanics.solve.fundamental import (
    Fundamental,
    UndeterminedDirection,
    independent_rows,
    minimum_norm,
    null_space,
    on_null_space,
)

moderate = settings(max_examples=100, deadline=None, derandomize=True)

# Masses have condition up to 100, constraint rows up to about 100 after mixing: rounding of 1e-16 may grow by the
# product of the two and by the number of operations. Values are of size 1 to 100; a wrong term would show at their
# own size.
CLOSE = 1e-9


def close(found: Array, wanted: Array, tolerance: float = CLOSE) -> None:
    size = 1.0 + float(np.abs(wanted).max(initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * size)


def solved(problem: Problem) -> Fundamental:
    return da.fundamental(*problem.arrays)


# -- the equation itself -------------------------------------------------------------------------


@moderate
@given(problems())
def test_constraints_hold(problem: Problem) -> None:
    result = solved(problem)
    close(problem.A @ result.acceleration, problem.b)
    assert int(result.rank) == problem.rank


@moderate
@given(problems())
def test_newton_holds(problem: Problem) -> None:
    """M q̈ = Q + Q_i + Q_ni = Q + C + Aᵀλ."""
    M, Q, A, _, C = problem.arrays
    result = solved(problem)
    inertia = M @ result.acceleration
    close(Q + result.ideal + result.nonideal, inertia)
    close(Q + C + A.T @ result.multipliers, inertia)
    close(M @ result.unconstrained, Q)


@moderate
@given(problems())
def test_virtual_work(problem: Problem) -> None:
    """On every virtual displacement the constraint forces do the work of C: all of it by Q_ni, none by Q_i."""
    M, Q, _, _, C = problem.arrays
    result, N = solved(problem), problem.null
    close(N.T @ (M @ result.acceleration - Q - C), np.zeros(N.shape[1]))
    close(N.T @ result.ideal, np.zeros(N.shape[1]))
    close(N.T @ (result.nonideal - C), np.zeros(N.shape[1]))


@moderate
@given(problems(least_free=1))
def test_least_gauss_function(problem: Problem) -> None:
    """No feasible acceleration has a smaller G, and G grows by the square of the distance in the mass metric."""
    result, N = solved(problem), problem.null
    least = float(result.gauss())
    for scale in (1e-3, 1.0, 30.0):
        away = N @ problem.rng.normal(size=N.shape[1]) * scale
        more = float(result.gauss(result.acceleration + away)) - least
        # Rounding of G itself, whose terms are of size 1e4 at most.
        assert more >= -1e-9 * (1 + least)
        assert more == pytest.approx(float(away @ problem.M @ away), rel=1e-6, abs=1e-9 * (1 + least))


@moderate
@given(problems())
def test_three_forms_of_the_gauss_function(problem: Problem) -> None:
    """(16), (17) and (19) of the 2005 paper."""
    M, Q, _, _, C = problem.arrays
    result = solved(problem)
    for z in (problem.feasible, result.acceleration, np.zeros(problem.n)):
        inverse = np.linalg.inv(M)
        reaction = M @ z - Q
        miss = z - inverse @ Q - inverse @ C
        wanted = [
            (M @ z - Q - C) @ inverse @ (M @ z - Q - C),
            (reaction - C) @ inverse @ (reaction - C),
            miss @ M @ miss,
        ]
        # G is at most about 1e4; squares of numbers known to 1e-13.
        for value in wanted:
            assert float(result.gauss(z)) == pytest.approx(float(value), rel=1e-9, abs=1e-9)


@moderate
@given(problems())
def test_the_literal_formula(problem: Problem) -> None:
    """(24) and (26) as printed, with a matrix root and a pseudoinverse."""
    M, Q, A, b, C = problem.arrays
    root = np.real(sqrtm(M))
    inverse = np.linalg.inv(root)
    # Singular values of the rows built here are above 0.01 or rounding.
    B = A @ inverse
    plus = np.linalg.pinv(B, rcond=1e-10) if A.size else np.zeros((problem.n, A.shape[0]))
    a = np.linalg.solve(M, Q)
    ideal = root @ plus @ (b - A @ a)
    nonideal = root @ (np.eye(problem.n) - plus @ B) @ inverse @ C
    result = solved(problem)
    close(result.ideal, ideal)
    close(result.nonideal, nonideal)
    close(result.acceleration, np.linalg.solve(M, Q + ideal + nonideal))


# -- what must not matter -------------------------------------------------------------------------


def same_motion(one: Fundamental, other: Fundamental, tolerance: float = CLOSE) -> None:
    close(one.acceleration, other.acceleration, tolerance)
    close(one.ideal, other.ideal, tolerance)
    close(one.nonideal, other.nonideal, tolerance)
    assert int(one.rank) == int(other.rank)


@moderate
@given(problems(), st.floats(-8, 8))
def test_scaling_rows(problem: Problem, power: float) -> None:
    """Constraints in other units, each by its own factor, over many orders of magnitude."""
    factor = np.power(10.0, power * problem.rng.uniform(-1, 1, problem.b.size))
    scaled = problem.with_(A=problem.A * factor[:, None], b=problem.b * factor)
    one, other = solved(problem), solved(scaled)
    same_motion(other, one)
    assert (other.dependent == one.dependent).all()


@moderate
@given(problems())
def test_repeating_rows(problem: Problem) -> None:
    again = problem.with_(
        A=np.vstack([problem.A, problem.A, -2 * problem.A]),
        b=np.concatenate([problem.b] * 2 + [-2 * problem.b]),
    )
    result = solved(again)
    same_motion(result, solved(problem))
    m = problem.b.size
    assert result.dependent[m:].all()
    assert int((~result.dependent).sum()) == problem.rank


@moderate
@given(problems())
def test_recombining_rows(problem: Problem) -> None:
    m = problem.b.size
    mixed = regular(problem.rng, m) if m else np.zeros((0, 0))
    same_motion(solved(problem.with_(A=mixed @ problem.A, b=mixed @ problem.b)), solved(problem))


@moderate
@given(problems())
def test_order_of_rows(problem: Problem) -> None:
    order = problem.rng.permutation(problem.b.size)
    one, other = solved(problem), solved(problem.with_(A=problem.A[order], b=problem.b[order]))
    same_motion(other, one)
    close(other.multipliers, one.multipliers[order])


@moderate
@given(problems())
def test_other_coordinates(problem: Problem) -> None:
    """q = T y: accelerations turn with T, forces with Tᵀ."""
    T = regular(problem.rng, problem.n)
    M, Q, A, b, C = problem.arrays
    one, other = solved(problem), da.fundamental(T.T @ M @ T, T.T @ Q, A @ T, b, T.T @ C)
    close(T @ other.acceleration, one.acceleration)
    close(other.ideal, T.T @ one.ideal)
    close(other.nonideal, T.T @ one.nonideal)


@moderate
@given(problems())
def test_other_units(problem: Problem) -> None:
    """Each coordinate in its own unit, millimetres beside kilometres: what counts as dependent must not change."""
    unit = np.power(10.0, problem.rng.integers(-4, 5, problem.n).astype(float))
    M, Q, A, b, C = problem.arrays
    one, other = solved(problem), da.fundamental(M * np.outer(unit, unit), Q * unit, A * unit, b, C * unit)
    close(other.acceleration * unit, one.acceleration)
    close(other.ideal / unit, one.ideal)
    close(other.nonideal / unit, one.nonideal)
    assert int(other.rank) == problem.rank


@moderate
@given(problems(nonideal=False))
def test_ideal_constraints(problem: Problem) -> None:
    M, Q, A, b, _ = problem.arrays
    result = da.fundamental(M, Q, A, b)
    np.testing.assert_array_equal(result.nonideal, np.zeros(problem.n))
    same_motion(result, solved(problem), 0.0)


@moderate
@given(problems())
def test_work_along_the_normals_changes_nothing(problem: Problem) -> None:
    more = problem.A.T @ problem.rng.normal(size=problem.b.size)
    one, other = solved(problem), solved(problem.with_(C=problem.C + more))
    same_motion(other, one)


@moderate
@given(problems(nonideal=False))
def test_deviation_is_linear_in_the_dissatisfaction(problem: Problem) -> None:
    """q̈ − a = K e: twice the dissatisfaction, twice the deviation (ideal constraints)."""
    M, Q, A, _, _ = problem.arrays
    a = np.linalg.solve(M, Q)
    deviations = []
    for factor in (1.0, 2.0):
        result = da.fundamental(M, Q, A, A @ (a + factor * (problem.feasible - a)))
        deviations.append(result.acceleration - result.unconstrained)
    close(deviations[1], 2 * deviations[0])


# -- singular masses -------------------------------------------------------------------------


def well_determined(problem: Problem) -> bool:
    """The mass left along A v = 0 is not small: the answer is well conditioned."""
    N = problem.null
    return N.shape[1] == 0 or float(np.linalg.eigvalsh(N.T @ problem.M @ N)[0]) > 0.03


def conditioned(problem: Problem) -> bool:
    sigma = np.linalg.svd(problem.A, compute_uv=False)
    return bool(sigma[problem.rank - 1] > 0.05) if problem.rank else True


@moderate
@given(singular_problems())
def test_singular_mass(problem: Problem) -> None:
    """The formula of Udwadia and Phohomsiri 2006, and the equations themselves."""
    assume(well_determined(problem) and conditioned(problem))
    M, Q, A, b, C = problem.arrays
    result = solved(problem)
    tangent = np.eye(problem.n) - np.linalg.pinv(A, rcond=1e-10) @ A
    stacked, right = np.vstack([tangent @ M, A]), np.concatenate([tangent @ (Q + C), b])
    wanted = np.linalg.lstsq(stacked, right, rcond=1e-12)[0]
    close(result.acceleration, wanted, 1e-8)  # conditions up to 1e3 and their square in the null space
    close(A @ result.acceleration, b)
    close(Q + result.ideal + result.nonideal, M @ result.acceleration)
    close(Q + C + A.T @ result.multipliers, M @ result.acceleration)
    close(problem.null.T @ result.ideal, np.zeros(problem.n - problem.rank))
    assert np.isnan(result.unconstrained).all()
    assert int(result.rank) == problem.rank


@moderate
@given(singular_problems())
def test_singular_mass_is_a_limit(problem: Problem) -> None:
    """M + εI leads to the same motion as ε vanishes: the distance is small and proportional to ε."""
    assume(well_determined(problem) and conditioned(problem))
    M, Q, A, b, C = problem.arrays
    limit = solved(problem)
    halves = [
        np.abs(da.fundamental(M + e * np.eye(problem.n), Q, A, b, C).acceleration - limit.acceleration).max()
        for e in (2e-6, 1e-6)
    ]
    size = 1 + np.abs(limit.acceleration).max()
    # First order in ε, with a factor of at most 1/0.03² from the least mass admitted above.
    assert halves[0] < 2e-6 * 1200 * size
    # Halving ε halves the distance, where there is one above rounding (1e-8 of the values).
    if halves[1] > 1e-6 * size:
        assert halves[0] / halves[1] == pytest.approx(2, rel=0.05)


@moderate
@given(problems())
def test_both_ways_agree_where_both_apply(problem: Problem) -> None:
    """The range way and the null-space way give the same for a regular mass."""
    one, other = solved(problem), on_null_space(*problem.arrays)
    same_motion(other, one)
    close(problem.A.T @ other.multipliers, problem.A.T @ one.multipliers)


@moderate
@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_undetermined_motion(n: int, seed: int) -> None:
    """A direction without mass that no constraint fixes is told, and it is that direction."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=n)
    away = np.eye(n) - np.outer(direction, direction) / (direction @ direction)
    M = away @ positive(rng, n) @ away
    A = rng.normal(size=(1, n)) @ away
    with pytest.raises(da.UndeterminedMotion, match="not determined") as caught:
        da.fundamental((M + M.T) / 2, np.zeros(n), A, [0.0])
    assert isinstance(caught.value, UndeterminedDirection)
    found = caught.value.direction
    # Parallel to the direction that was built in, to the rounding of an eigenvector.
    assert abs(found @ direction) == pytest.approx(np.linalg.norm(found) * np.linalg.norm(direction), rel=1e-6)


def test_undetermined_direction_is_named() -> None:
    with pytest.raises(da.UndeterminedMotion, match=r"\+1 q2 carries no mass"):
        da.fundamental(np.diag([1.0, 0.0, 2.0]), np.zeros(3), [[1.0, 0, 0]], [0.0])


def test_negative_mass_is_named() -> None:
    with pytest.raises(da.UndeterminedMotion, match="q1 has negative mass"):
        da.fundamental(np.diag([-1.0, 1.0]), np.zeros(2), np.zeros((0, 2)), np.zeros(0))


# -- batches -------------------------------------------------------------------------

PARTS = ("acceleration", "unconstrained", "ideal", "nonideal", "multipliers", "rank", "dependent", "residual")


@moderate
@given(st.integers(1, 4), st.integers(0, 4), st.integers(1, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_batch_equals_a_loop(n: int, m: int, members: int, massless: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    M = np.array([positive(rng, n) for _ in range(members)])
    A = rng.normal(size=(members, m, n))
    if m > 1:
        A[0, 1] = 2 * A[0, 0]  # one member with dependent rows
    if massless and m and n > 1:
        M[-1, 0, :] = M[-1, :, 0] = 0  # and one with a massless coordinate, which is constrained
        A[-1, 0] = np.eye(n)[0]
    b = np.einsum("kij,kj->ki", A, rng.normal(size=(members, n)))
    Q, C = rng.normal(size=(2, members, n))
    batch = da.fundamental(M, Q, A, b, C)
    for k in range(members):
        one = da.fundamental(M[k], Q[k], A[k], b[k], C[k])
        for name in PARTS:
            found, wanted = getattr(batch, name)[k], getattr(one, name)
            # The same operations in the same order: LAPACK may block them differently, so a few roundings times the
            # condition of random rows (multipliers square it).
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7 * (1 + np.nanmax(np.abs(wanted), initial=0)))


def test_leading_axes_are_broadcast() -> None:
    rng = np.random.default_rng(1)
    M, Q = positive(rng, 3), rng.normal(size=(4, 1, 3))
    A, b, C = rng.normal(size=(1, 2, 3)), rng.normal(size=(5, 2)), rng.normal(size=3)
    result = da.fundamental(M, Q, A, b, C)
    assert result.acceleration.shape == (4, 5, 3)
    assert result.multipliers.shape == (4, 5, 2)
    assert result.rank.shape == (4, 5)
    assert result.gauss().shape == (4, 5)
    one = da.fundamental(M, Q[2, 0], A[0], b[3], C)
    close(result.acceleration[2, 3], one.acceleration)
    close(result.ideal[2, 3], one.ideal)


def test_an_empty_batch() -> None:
    result = da.fundamental(np.zeros((0, 2, 2)), np.zeros((0, 2)), np.zeros((0, 1, 2)), np.zeros((0, 1)))
    assert result.acceleration.shape == (0, 2)


def test_integers_are_numbers() -> None:
    result = da.fundamental([[2, 0], [0, 2]], [2, 4], [[1, 0]], [3])
    np.testing.assert_allclose(result.acceleration, [3, 2], rtol=1e-15)  # exact but for one rounding
    np.testing.assert_allclose(result.ideal, [4, 0], atol=1e-14)


def test_no_constraints() -> None:
    result = da.fundamental(np.diag([1.0, 2.0]), [1.0, 2.0], np.zeros((0, 2)), [], [1.0, 0.0])
    np.testing.assert_allclose(result.acceleration, [2, 1], rtol=1e-15)
    np.testing.assert_array_equal(result.ideal, [0, 0])
    assert int(result.rank) == 0


def test_the_data_are_not_changed() -> None:
    data = [
        np.diag([1.0, 2.0]),
        np.array([1.0, 2.0]),
        np.array([[1.0, 1.0]]),
        np.array([0.5]),
        np.array([0.1, 0.2]),
    ]
    kept = [array.copy() for array in data]
    da.fundamental(*data)
    for array, old in zip(data, kept, strict=True):
        np.testing.assert_array_equal(array, old)


# -- refused -------------------------------------------------------------------------


@moderate
@given(problems(), st.floats(1e-5, 1e3))
def test_contradictions_are_told(problem: Problem, size: float) -> None:
    """b outside the range of A, by any amount that is not rounding."""
    left = np.linalg.svd(problem.A)[0][:, problem.rank :] if problem.b.size else np.zeros((0, 0))
    assume(left.shape[1] > 0)
    away = left[:, 0] * size * (1 + np.abs(problem.b).max() + np.abs(problem.A).max())
    with pytest.raises(da.InconsistentConstraints, match="contradict"):
        da.fundamental(problem.M, problem.Q, problem.A, problem.b + away, problem.C)


def test_a_row_of_zeros_that_asks_for_something() -> None:
    with pytest.raises(da.InconsistentConstraints, match="constraint 2"):
        da.fundamental(np.eye(2), [0, 0], [[1, 0], [0, 0]], [1, 1])


def test_the_member_that_contradicts_is_named() -> None:
    A = np.array([[[1.0, 0], [2, 0]]] * 3)
    b = np.array([[1.0, 2.0], [1, 2], [1, 3]])
    with pytest.raises(da.InconsistentConstraints, match=r"batch member \(2,\)"):
        da.fundamental(np.eye(2), np.zeros(2), A, b)


def test_all_wrong_shapes_are_told_at_once() -> None:
    with pytest.raises(da.ModelError) as caught:
        da.fundamental(np.eye(3), np.zeros(2), np.zeros((1, 4)), np.zeros(1), np.zeros(5))
    told = caught.value.faults
    assert len(told) == 3
    for name, shape in (("Q", "(2,)"), ("C", "(5,)"), ("A", "(1, 4)")):
        assert any(fault.startswith(name) and shape in fault for fault in told)


@pytest.mark.parametrize(
    "data",
    [
        (np.zeros((2, 3)), np.zeros(2), np.zeros((1, 2)), np.zeros(1)),
        (np.eye(2)[0], np.zeros(2), np.zeros((1, 2)), np.zeros(1)),
        (5.0, np.zeros(2), np.zeros((1, 2)), np.zeros(1)),
        (np.eye(2), 5.0, np.zeros((1, 2)), np.zeros(1)),
        (np.eye(2), np.zeros(2), np.zeros(2), np.zeros(1)),
        (np.eye(2), np.zeros(2), np.zeros((1, 2)), np.zeros(2)),
        (np.eye(2), np.zeros(2), np.zeros((1, 2)), 0.0),
        (np.array([[1.0, 0.5], [0, 1]]), np.zeros(2), np.zeros((1, 2)), np.zeros(1)),
        (np.array([np.eye(2)] * 2), np.zeros((3, 2)), np.zeros((1, 2)), np.zeros(1)),
    ],
)
def test_wrong_shapes(data: tuple[Array, Array, Array, Array]) -> None:
    with pytest.raises(da.ModelError):
        da.fundamental(*data)


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_number(which: int, value: float) -> None:
    data = [np.eye(2), np.zeros(2), np.ones((1, 2)), np.zeros(1), np.zeros(2)]
    data[which] = data[which].copy()
    data[which].flat[0] = value
    with pytest.raises(da.UndefinedModel, match="MQAbC"[which]):
        da.fundamental(*data)


# -- its parts -------------------------------------------------------------------------


@moderate
@given(problems())
def test_null_space(problem: Problem) -> None:
    N = null_space(problem.A)
    assert N.shape == (problem.n, problem.n - problem.rank)
    close(N.T @ N, np.eye(N.shape[1]))
    close(problem.A @ N, np.zeros((problem.b.size, N.shape[1])))


@moderate
@given(problems())
def test_minimum_norm(problem: Problem) -> None:
    """A x = r, and x is orthogonal to A v = 0 in the metric: nothing shorter satisfies A x = r."""
    W, r = problem.M, problem.b
    found = minimum_norm(W, problem.A, r)
    close(problem.A @ found, r)
    close(problem.null.T @ W @ found, np.zeros(problem.n - problem.rank))


@moderate
@given(problems())
def test_independent_rows(problem: Problem) -> None:
    chosen = independent_rows(problem.A, problem.M)
    assert len(chosen) == problem.rank
    if chosen:
        assert np.linalg.matrix_rank(problem.A[chosen], tol=1e-6) == problem.rank
    flags = solved(problem).dependent
    assert [k for k, flag in enumerate(flags) if not flag] == chosen


def test_the_tolerance_of_the_rank_is_where_it_says() -> None:
    """Directions 1e-7 apart are two constraints, 1e-11 apart one: the stated tolerance, 1e-9, lies between."""
    for angle, rank in ((1e-7, 2), (1e-11, 1)):
        A = np.array([[1.0, 0.0], [1.0, angle]])
        assert int(da.fundamental(np.eye(2), np.zeros(2), A, A @ [1.0, 0.0]).rank) == rank


@moderate
@given(st.integers(0, 2**32 - 1))
def test_near_a_singular_configuration(seed: int) -> None:
    """Directions 1e-5 apart: the constraints still hold to rounding, and the forces to what the condition allows."""
    rng = np.random.default_rng(seed)
    M, feasible = positive(rng, 3), rng.normal(size=3)
    A = np.array([[1.0, 0, 0], [1.0, 1e-5, 0]]) * spread(rng, 2, 0.3, 3)[:, None]
    result = da.fundamental(M, rng.normal(size=3), A, A @ feasible)
    assert int(result.rank) == 2
    # The first two accelerations are fixed by the constraints; 1e-16 over 1e-5 leaves ten digits.
    np.testing.assert_allclose(result.acceleration[:2], feasible[:2], atol=1e-9)
    assert float(result.residual.max()) < 1e-13


def test_what_is_wrong_with_arrays_is_told_once():
    with pytest.raises(da.ModelError) as failed:
        da.fundamental([[1.0]], [1.0, 2.0], [[1.0]], [0.0])
    assert failed.value.faults == ("Q must have shape (…, 1); its shape is (2,)",)
    with pytest.raises(da.ModelError, match="A must be an array of numbers, got 'x'"):
        da.fundamental([[1.0]], [1.0], "x", [0.0])
