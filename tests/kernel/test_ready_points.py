"""Many points in one call of C: against CasADi's own machine, and against singular values."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.sparse import csr_array

import dalembert as da
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.graph import graph_of
from dalembert.kernel.ready.along import Along
from dalembert.kernel.ready.many import OPERATIONS, Many
from dalembert.kernel.ready.solve import _solve_dense, solve_points
from dalembert.kernel.ready.sparse import Pattern
from dalembert.kernel.ready.together import LONGEST, PARAMETERS, together_of
from dalembert.mechanics.solve.fundamental import UndeterminedDirection, solve

FOUND = ("acceleration", "unconstrained", "ideal", "nonideal", "multipliers", "residual")


def test_every_operation_is_that_of_casadi():
    x, y, p = ca.SX.sym("x"), ca.SX.sym("y"), ca.SX.sym("p")
    small = x / 4
    parts = [
        x + y, x - y, x * y, x / y, -x, x**2, 2 * x, 1 / x, ca.sqrt(ca.fabs(x)), ca.sin(x), ca.cos(x), ca.tan(x),
        ca.asin(small), ca.acos(small), ca.atan(x), ca.sinh(x), ca.cosh(x), ca.tanh(x), ca.asinh(x),
        ca.acosh(1 + ca.fabs(x)), ca.atanh(small), ca.exp(x), ca.log(ca.fabs(x)), ca.log1p(ca.fabs(x)), ca.expm1(x),
        ca.erf(x), ca.fabs(x), ca.sign(x), ca.floor(x), ca.ceil(x), ca.logic_not(x > 0), ca.fabs(x) ** y,
        ca.fabs(x) ** 1.7, ca.atan2(x, y), ca.fmin(x, y), ca.fmax(x, y), x < y, x <= y, ca.eq(x, y), ca.ne(x, y),
        ca.logic_and(x > 0, y > 0), ca.logic_or(x > 0, y > 0), ca.if_else(x > 0, y, 3 * p), ca.copysign(x, y),
        ca.hypot(x, y), ca.sin(p) * p, ca.SX(2.5),
    ]  # fmt: skip
    function = ca.Function("all", [x, y, p], [ca.vertcat(*parts), ca.horzcat(x, y, x * p)])
    used = {function.instruction_id(k) for k in range(function.n_instructions())}
    assert len(used & set(OPERATIONS)) >= len(OPERATIONS) - 2  # copies, and powers that CasADi writes as products
    rng = np.random.default_rng(1)
    given = rng.uniform(-2, 2, size=(2, 13))  # more than a block, and not a multiple of one
    ours = Many(function, parameters=2)(13, given[0], given[1], np.array([0.7]))
    theirs = Evaluator(function).many(13, given[0], given[1], np.array([0.7]))
    for one, other in zip(ours, theirs, strict=True):
        # Vector code may fuse a product with a sum, which is one rounding less.
        np.testing.assert_allclose(one, other, rtol=4e-16, atol=0)


@pytest.mark.parametrize("name", da.library.names())
def test_functions_of_the_library_are_those_of_casadi(name: str):
    system = da.library.get(name)
    graph = graph_of(system)
    p = system.parameter_values()
    rng = np.random.default_rng(2)
    q0, v0, _ = system.initial_values()
    q, v = (x + 0.1 * rng.uniform(-1, 1, size=(5, x.size)) for x in (q0, v0))
    t = np.linspace(0.1, 0.5, 5)
    for function in ("dynamics", "energy", "position", "velocity"):
        made = getattr(graph, function)
        if made.n_instructions() > LONGEST:
            continue
        given = (q, t, p) if function == "position" else (q, v, t, p)
        ours = Many(made, PARAMETERS.get(function, 3))(5, *given)
        theirs = getattr(graph.evaluators, function).many(5, *given)
        for one, other in zip(ours, theirs, strict=True):
            # Sums of terms of this size may differ by roundings of the terms, where products are fused with sums.
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max(initial=1e-3))


def random_problem(count: int, n: int, m: int, seed: int):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(count, n, n))
    M = root @ root.transpose(0, 2, 1) + 0.5 * np.eye(n)
    return (
        M,
        rng.normal(size=(count, n)),
        rng.normal(size=(count, m, n)),
        rng.normal(size=(count, m)),
        rng.normal(size=(count, n)),
    )


def assert_same(ours, theirs, digits: float):
    for name in FOUND:
        one, other = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(one, other, rtol=0, atol=digits * max(1.0, np.nanmax(np.abs(other), initial=0.0)))
    np.testing.assert_array_equal(ours.rank, theirs.rank)
    np.testing.assert_array_equal(ours.dependent, theirs.dependent)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (4, 2), (7, 5), (10, 3), (3, 5)])
def test_solutions_are_those_of_singular_values(n: int, m: int):
    M, Q, A, b, C = random_problem(9, n, m, seed=n + 10 * m)
    if m > n:
        b = np.einsum("tij,tj->ti", A, Q)  # redundant rows that agree with each other
    # Rounding times the condition of random matrices, which is below 1e4.
    assert_same(solve_points(M, Q, A, b, C), solve(M, Q, A, b, C), 1e-11)


def test_rows_of_zeros_and_dependent_rows_are_found_where_they_are():
    M, Q, A, b, C = random_problem(11, 6, 3, seed=5)
    A[2, 0], b[2, 0] = 0.0, 0.0  # in the middle of a block
    A[4:8, 1], b[4:8, 1] = 0.0, 0.0  # a whole block
    A[9, 2], b[9, 2] = 2 * A[9, 0], 2 * b[9, 0]
    A[10, 2] = A[10, 0] + 1e-10 * A[10, 1]  # dependent by the tolerance of `solve`
    b[10, 2] = b[10, 0]
    ours, theirs = solve_points(M, Q, A, b, C), solve(M, Q, A, b, C)
    assert_same(ours, theirs, 1e-11)
    assert ours.rank.tolist() == [3, 3, 2, 3, 2, 2, 2, 2, 3, 2, 2]


def test_singular_masses_are_left_to_the_null_space():
    M, Q, A, b, C = random_problem(6, 3, 1, seed=7)
    M[3] = np.diag([1.0, 2.0, 0.0])
    A[3] = [[0.3, 0.2, 1.0]]
    assert_same(solve_points(M, Q, A, b, C), solve(M, Q, A, b, C), 1e-11)
    A[3] = [[0.3, 0.2, 0.0]]  # nothing determines the third coordinate
    with pytest.raises(UndeterminedDirection):
        solve_points(M, Q, A, b, C)


def bodies_by_quaternions(count: int, seed: int):
    """A body that turns: M has no mass along the quaternion, whose length is its constraint."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, 4))
    q[: count // 2, 1:] *= 0.1  # near the identity, where the first coordinate has little mass
    q /= np.linalg.norm(q, axis=1)[:, None]
    w, x, y, z = q.T
    G = np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]]).transpose(2, 0, 1)
    M = 4 * np.einsum("tki,k,tkj->tij", G, [1.0, 2.0, 3.0], G)
    return M, rng.normal(size=(count, 4)), 2 * q[:, None, :], rng.normal(size=(count, 1)), rng.normal(size=(count, 4))


def test_no_rounding_is_taken_for_mass():
    """A small pivot magnifies the rounding of those after it: 2e-13 was seen where there is no mass, and its
    neighbours were left to the null space too, at a hundred times the cost.
    """
    problem = bodies_by_quaternions(4000, seed=3)
    found = _solve_dense(*problem)
    assert found is not None
    assert np.all(found[2] == 1)
    few = tuple(part[::100] for part in problem)
    assert_same(solve_points(*few), solve(*few), 1e-11)  # rounding: M is regular beside its constraint


def test_a_doubtful_mass_leaves_its_neighbours_alone():
    M, Q, A, b, C = bodies_by_quaternions(8, seed=5)
    M[2] = np.diag([1.0, 2.0, 3.0, 1.0])
    M[2, 0, 3] = M[2, 3, 0] = 1.0 - 1e-8  # light, not massless
    found = _solve_dense(M, Q, A, b, C)
    assert found is not None
    assert np.flatnonzero(found[2] < 0).tolist() == [2]
    assert_same(solve_points(M, Q, A, b, C), solve(M, Q, A, b, C), 1e-7)  # rounding by the condition of that one


def chain(count: int, links: int, seed: int):
    """Masses with some coupling, and rods from one to the next: mostly zeros."""
    rng, n = np.random.default_rng(seed), 2 * links
    A = np.zeros((count, links, n))
    for k in range(links):
        A[:, k, 2 * k : 2 * k + 2] = rng.normal(size=(count, 2))
        if k:
            A[:, k, 2 * k - 2 : 2 * k] = rng.normal(size=(count, 2))
    M = np.zeros((count, n, n))
    M[:, np.arange(n), np.arange(n)] = rng.uniform(1, 3, size=(count, n))
    M[:, 0, 5] = M[:, 5, 0] = 0.4
    sides = rng.normal(size=(count, 2 * n + links))
    return M, sides[:, :n], A, sides[:, n : n + links], sides[:, n + links :]


def test_sparse_solutions_are_those_of_singular_values():
    M, Q, A, b, C = chain(6, 25, seed=3)
    pattern = Pattern((M != 0).any(axis=0), (A != 0).any(axis=0))
    assert pattern.fill < 8 * (25 + 50)  # a chain is eliminated link by link
    A[4, 6, 10:12] = A[4, 7, 14:16] = 0.0
    A[4, 7, 12:14], b[4, 7] = 2 * A[4, 6, 12:14], 2 * b[4, 6]  # left to singular values
    found = pattern.solve(M, Q, A, b, C)
    assert found is not None
    assert found[2].tolist() == [25, 25, 25, 25, -1, 25]
    # As above; a chain of 25 random rows has a condition of some thousands.
    assert_same(solve_points(M, Q, A, b, C, pattern), solve(M, Q, A, b, C), 1e-9)


def test_what_is_made_is_kept_with_the_graph():
    graph = graph_of(da.library.penny())
    assert together_of(graph) is together_of(graph)


def test_along_definitions_is_a_triangular_solution():
    """Of thirty quantities defined by eight coordinates and by those before them: against dense algebra."""
    rng = np.random.default_rng(4)
    J = rng.normal(size=(30, 38)) * (rng.random((30, 38)) < 0.2)
    J[:, 8:] = np.tril(J[:, 8:], -1)
    along, given = Along(csr_array(J)), rng.normal(size=30)
    among = np.eye(30) - J[:, 8:]
    # Rounding of thirty sums, of which some grow a thousandfold.
    assert along.follow(given) == pytest.approx(np.linalg.solve(among, given), rel=1e-10)
    assert along.hand_down(given) == pytest.approx(np.linalg.solve(among.T, given), rel=1e-10)
