"""Definitions that are made several times of each other: written out they have some hundred thousand parts."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize

import dalembert as da
from dalembert.model.language.contents import replaced

COUNT = 14


def nested() -> da.System:
    q = da.coordinates("a b")
    names = da.definitions(" ".join(f"d{k}" for k in range(COUNT)))
    definitions, before = {}, q[0] + q[1]
    for k, name in enumerate(names):
        definitions[name] = sp.sin(before) * sp.cos(before / 3) / 2 + q[k % 2] / 4
        before = name
    return da.System(
        "nested",
        coordinates=list(q),
        definitions=definitions,
        kinetic=(q[0].d ** 2 + q[1].d ** 2) / 2,
        potential=before**2 / 2 + q[0] ** 2 + q[1] ** 2 - q[0] / 3,
        initial={q[0]: 0.1, q[1]: 0.1, q[0].d: 0, q[1].d: 0},
    )


def potential(q: np.ndarray) -> float:
    d = q[0] + q[1]
    for k in range(COUNT):
        d = np.sin(d) * np.cos(d / 3) / 2 + q[k % 2] / 4
    return float(d**2 / 2 + q @ q - q[0] / 3)


@pytest.fixture(autouse=True)
def _nothing_long_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting operations, or going through all parts again wherever they stand, takes minutes."""

    def count(expression: sp.Expr, *given: object, **options: object) -> object:
        walk = sp.preorder_traversal(expression)
        assert sum(1 for _ in zip(walk, range(20_000), strict=False)) < 20_000
        return counted(expression, *given, **options)

    counted = sp.count_ops
    monkeypatch.setattr(sp, "count_ops", count)


def test_equilibrium() -> None:
    (found,) = nested().equilibrium()
    wanted = minimize(potential, [0.1, 0.1], method="BFGS", options={"gtol": 1e-10})
    assert found.q == pytest.approx(wanted.x, abs=1e-6)  # slopes by differences


def test_classification() -> None:
    found = nested().classify()
    assert (found.cyclic, [quantity.name for quantity in found.conservation.quantities]) == ((), ["energy"])


def test_replacing_is_that_of_sympy() -> None:
    x, y, z = sp.symbols("x y z")
    inner = sp.sin(x) + y * sp.cos(x * y)
    sum_of = sp.Sum(inner * z, (z, 1, 4))
    for expression in (inner**2 + inner / 3, sum_of + inner, sp.Piecewise((inner, x > y), (z, True)), sp.Integer(3)):
        for swap in ({x: x + 2 * sp.pi}, {y: sp.S.Zero}, {inner: z}):
            assert replaced(expression, dict(swap)) == expression.xreplace(swap)
