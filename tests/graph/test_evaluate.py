"""Functions at many points at once against the same functions point by point."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from dalembert.graph.evaluate import CHUNK, Evaluator


def functions() -> list[ca.Function]:
    x, y, t, none = ca.SX.sym("x", 3), ca.SX.sym("y", 2), ca.SX.sym("t"), ca.SX.sym("none", 0)
    matrix = ca.densify(x @ y.T * ca.sin(t))
    return [
        ca.Function("f", [x, y, t, none], [matrix, x + t, ca.SX(0, 1), ca.SX(0, 3), t / (x[0] - 0.5)]),
        ca.Function("g", [x, y, t, none], [matrix.T, y]),
    ]


@pytest.mark.parametrize("count", [1, 2, 3, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
@pytest.mark.parametrize("function", functions())
def test_many_points_are_the_same_bit_for_bit(function: ca.Function, count: int):
    rng = np.random.default_rng(count)
    # y is one vector for all points, also where there are as many points as it has entries.
    x, y, t, none = rng.normal(size=(count, 3)), rng.normal(size=2), rng.normal(size=count), np.zeros(0)
    x[0, 0] = 0.5  # no finite value there, at that point alone
    evaluator = Evaluator(function)
    single = [evaluator(x[k], y, float(t[k]), none) for k in range(count)]
    for _ in range(2):
        together = evaluator.many(count, x, y, t, none)
        for k, results in enumerate(zip(*single, strict=True)):
            assert np.array_equal(together[k], np.stack(results), equal_nan=True)


def test_results_are_fresh():
    evaluator = Evaluator(functions()[1])
    x, y = np.ones((4, 3)), np.ones((4, 2))
    first = evaluator.many(4, x, y, 1.0, np.zeros(0))
    kept = first[0].copy()
    evaluator.many(4, 2 * x, y, 1.0, np.zeros(0))
    assert np.array_equal(first[0], kept)
