"""What changes with time alone, and what does with the state."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from dalembert.graph.time_factors import time_factors

Q, T, P = (ca.SX.sym(name) for name in "qtp")


def parts(expression: ca.SX) -> tuple[list[float], list[float], int]:
    """At t = 0.3, p = 2: what depends on time alone, the sizes of its terms; and how many parts depend on both."""
    own, alone, sizes, joined = time_factors(ca.Function("f", [Q, T, P], [expression]), time=1, fixed=2)
    found = ca.Function("found", own[1:], [alone, sizes])(0.3, 2.0)
    return *(np.array(x).ravel().tolist() for x in found), joined.numel()


@pytest.mark.parametrize(
    ("expression", "alone", "joined"),
    [
        (ca.exp(Q) * ca.sin(P * T) + Q, [np.sin(0.6)], 0),
        (ca.sin(T) + ca.cos(T), [np.sin(0.3) + np.cos(0.3)], 0),  # a sum of functions of time is one
        (Q / (1 + T**2), [1 / 1.09], 0),  # what divides acts by its inverse
        (ca.exp(T) / ca.cos(Q), [np.exp(0.3)], 0),
        ((Q - ca.sin(T)) ** 2, [np.sin(0.3)], 0),
        (ca.if_else(T < P, Q, 0), [1.0], 0),
        (ca.sin(Q - ca.exp(T)), [np.exp(0.3)], 1),
        (ca.fmax(Q, ca.exp(T)), [np.exp(0.3)], 1),
        (T / (Q - T), [0.3], 1),
        (P * Q, [], 0),
    ],
)
def test_parts(expression: ca.SX, alone: list[float], joined: int) -> None:
    found, _, both = parts(expression)
    assert found == pytest.approx(alone)
    assert both == joined


def test_sizes_of_terms_that_cancel() -> None:
    found, sizes, _ = parts(Q * (ca.sin(P * T) - 2 * ca.sin(T) * ca.cos(T)))
    assert found == pytest.approx([0.0], abs=1e-15)
    assert sizes == pytest.approx([2 * np.sin(0.6)])
