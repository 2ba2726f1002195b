"""Bounds hold everywhere, and what keeps its sign is told from what does not."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from dalembert.mechanics.algebra.bounds import EVERYTHING, bounds, keeps_sign

x, y, a = sp.symbols("x y a", real=True)
CASES = [
    2 + sp.sin(x),
    1 + x**2,
    (3 + sp.cos(x)) * (2 - sp.sin(y)),
    (3 + sp.cos(x)) / (2 - sp.sin(y)),
    -sp.exp(x) - 1,
    sp.sqrt(4 + x**2),
    (x**2 + 1) ** -2,
    (sp.sin(x) - 3) ** 3,
    (sp.sin(x) - 3) ** 2,
    (sp.sin(x) - 3) ** -1,
    sp.tanh(x) * sp.cosh(y),
    sp.Abs(x) + 1,
    x * y,
    sp.log(x**2 + 1),
    x**2 * sp.cos(y) - 5,
    sp.pi * sp.cos(x) ** 2,
]


@pytest.mark.parametrize("expression", CASES, ids=str)
def test_bounds_hold(expression):
    low, high = bounds(expression)
    values = sp.lambdify((x, y), expression, "numpy")(*np.random.default_rng(0).uniform(-4, 4, (2, 2000)))
    # Rounding of sums of a few terms.
    assert np.min(values) >= low - 1e-12 * max(1.0, abs(low))
    assert np.max(values) <= high + 1e-12 * max(1.0, abs(high))


def test_signs():
    for positive in (2 + sp.sin(x), 1 + x**2, sp.exp(x) + 1, sp.sqrt(4 + x**2), (sp.sin(x) - 3) ** 2, sp.cosh(x)):
        assert keeps_sign(positive, {}) == 1
        assert keeps_sign(-positive, {}) == -1
    for undecided in (sp.sin(x), 1 + sp.sin(x), x, x**2, x * y, a - 1):
        assert keeps_sign(undecided, {}) == 0
    assert keeps_sign(a - 1, {a: sp.Integer(3)}) == 1
    assert keeps_sign(a - 1, {a: sp.Integer(1)}) == 0
    assert keeps_sign(a + sp.cos(x), {a: sp.Float(1.5)}) == 1
    assert keeps_sign(a + sp.cos(x), {a: sp.Float(0.5)}) == 0


def test_what_has_no_bounds():
    assert bounds(sp.sqrt(x)) == EVERYTHING
    assert bounds(x**y) == EVERYTHING
    assert bounds(sp.I) == EVERYTHING
    assert bounds(1 / sp.sin(x)) == EVERYTHING
