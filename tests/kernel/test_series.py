"""Recurrences of Taylor coefficients against coefficients found without them, in 60 digits."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import mpmath
import numpy as np
import pytest

from dalembert.kernel.build import FLAGS, find_compiler
from dalembert.kernel.emit import layout, series
from dalembert.kernel.emit.series import Emission, Shared, function_in_pieces
from dalembert.kernel.emit.series_nodes import nodes_of
from dalembert.kernel.emit.straight_line import Hoist
from dalembert.kernel.size import TaylorNotApplicable

compiler = find_compiler()
needs_compiler = pytest.mark.skipif(compiler is None, reason="no C compiler on this machine")
BASE = (layout.RUNTIME / "base" / "base.h").read_text(encoding="utf-8")
ORDER = 12
LOOP = """
DA_API void run(const double *x, const double *p, double *out)
{
    double c[%(constants)d], z[%(kept)d], sum[%(pairs)d], left[%(order)d][%(pairs)d], right[%(order)d][%(pairs)d];
    double last[%(last)d] = {0.0};
    da_constants(p, c);
    start(x, x[2], c, out, z);
    for (int k = 1; k < %(order)d; k++) {
        for (int l = 0; l < %(pairs)d; l++) {
            sum[l] = 0.0;
            for (int j = 1; j < k; j++) sum[l] += left[j][l] * right[k - j][l];
        }
        order(x + 3 * k, x[3 * k + 2], c, k, 1.0 / k, z, sum, out + %(size)d * k, left[k], right[k], last);
    }
}
"""


def coefficients(
    function: ca.Function, x: np.ndarray, p: np.ndarray, folder: Path, slopes: dict[str, str] | None = None
) -> np.ndarray:
    """Of the outputs of a function of (q, t, p), q and t being polynomials: x has a row for each order, t last. slopes:
    of those that are known to be straight lines.
    """
    hoist, shared, size = Hoist(), Shared(), function.numel_out(0)
    outputs = nodes_of(function, ("q", "t", "p"), ("out",), hoist, {}, slopes)["out"]
    higher, first = Emission(shared, hoist, first=False), Emission(shared, hoist, first=True)
    for order in (higher, first):
        for i, node in enumerate(outputs):
            order.line(f"out[{i}] = {order.value(node)};")
    higher.hand_on()
    first.keep()
    texts = []
    for name, order, more in (
        ("start", first, ("out", "z")),
        ("order", higher, ("k", "over_k", "z", "sum", "out", "left", "right", "last")),
    ):
        names = ("q", "t", "c", *more)
        declared = ", ".join(f"double {n}" if n in ("t", "k", "over_k") else f"double *{n}" for n in names)
        declared = declared.replace("double *q", "const double *q").replace("double *c", "const double *c")
        texts.append(function_in_pieces(name, order.lines, declared, names, order.variables))
    sizes = {
        "constants": max(hoist.size, 1),
        "kept": max(len(shared.kept), 1),
        "pairs": max(len(shared.pairs), 1),
        "last": max(len(shared.carried), 1),
        "order": ORDER,
        "size": size,
    }
    (folder / "f.c").write_text("\n".join([BASE, *texts, hoist.source(), LOOP % sizes]), encoding="utf-8")
    assert compiler is not None
    target = str(folder / f"f{len(list(folder.iterdir()))}.so")
    subprocess.run(
        [*compiler.command, *FLAGS, "-Wall", "-Werror", str(folder / "f.c"), "-o", target, "-lm"], check=True
    )
    out = np.zeros((ORDER, size))
    pointer = ctypes.c_void_p
    run = ctypes.CDLL(target).run
    run.argtypes = [pointer] * 3
    run(x.ctypes.data, p.ctypes.data, out.ctypes.data)
    return out


# Pairs of the same function for CasADi and for mpmath, of two arguments that lie in (0.2, 0.8).
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "mul": (lambda a, b: a * b, lambda a, b: a * b),
    "square": (lambda a, b: a * a + 3 * b, lambda a, b: a * a + 3 * b),
    "div": (lambda a, b: a / b, lambda a, b: a / b),
    "inv": (lambda a, b: 1 / a - b, lambda a, b: 1 / a - b),
    "sqrt": (lambda a, b: ca.sqrt(a), lambda a, b: mpmath.sqrt(a)),
    "exp": (lambda a, b: ca.exp(a), lambda a, b: mpmath.exp(a)),
    "expm1": (lambda a, b: ca.expm1(a), lambda a, b: mpmath.expm1(a)),
    "log": (lambda a, b: ca.log(a), lambda a, b: mpmath.log(a)),
    "log1p": (lambda a, b: ca.log1p(a), lambda a, b: mpmath.log1p(a)),
    "sin": (lambda a, b: ca.sin(a), lambda a, b: mpmath.sin(a)),
    "cos": (lambda a, b: ca.cos(a), lambda a, b: mpmath.cos(a)),
    "sin and cos": (lambda a, b: ca.sin(a) * ca.cos(b), lambda a, b: mpmath.sin(a) * mpmath.cos(b)),
    "tan": (lambda a, b: ca.tan(a), lambda a, b: mpmath.tan(a)),
    "asin": (lambda a, b: ca.asin(a), lambda a, b: mpmath.asin(a)),
    "acos": (lambda a, b: ca.acos(a), lambda a, b: mpmath.acos(a)),
    "atan": (lambda a, b: ca.atan(a), lambda a, b: mpmath.atan(a)),
    "atan2": (lambda a, b: ca.atan2(a, -b), lambda a, b: mpmath.atan2(a, -b)),
    "sinh": (lambda a, b: ca.sinh(a), lambda a, b: mpmath.sinh(a)),
    "cosh": (lambda a, b: ca.cosh(a), lambda a, b: mpmath.cosh(a)),
    "tanh": (lambda a, b: ca.tanh(a), lambda a, b: mpmath.tanh(a)),
    "asinh": (lambda a, b: ca.asinh(a), lambda a, b: mpmath.asinh(a)),
    "acosh": (lambda a, b: ca.acosh(1 + a), lambda a, b: mpmath.acosh(1 + a)),
    "atanh": (lambda a, b: ca.atanh(a), lambda a, b: mpmath.atanh(a)),
    "erf": (lambda a, b: ca.erf(a), lambda a, b: mpmath.erf(a)),
    "hypot": (lambda a, b: ca.hypot(a, b), lambda a, b: mpmath.hypot(a, b)),
    "whole power": (lambda a, b: a**5 + b**-3, lambda a, b: a**5 + b**-3),
    "real power": (lambda a, b: a**1.7, lambda a, b: a ** mpmath.mpf(1.7)),
    "any power": (lambda a, b: a**b, lambda a, b: a**b),
    "of a constant": (lambda a, b: 2.5**a, lambda a, b: mpmath.mpf(2.5) ** a),
}


def true_coefficients(x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Of the functions below, by mpmath's numerical differentiation."""
    with mpmath.workdps(60):
        u, w = (mpmath.mpf(v) for v in parameters)

        polynomials = [[mpmath.mpf(v) for v in x[3::-1, i]] for i in range(3)]
        functions: list[Callable[..., Any]] = [lambda a, b, t, f=f: f(a, b) for _, f in FUNCTIONS.values()]
        functions += [
            lambda a, b, t: u * a / w + mpmath.sin(u) * t,
            lambda a, b, t: t * t * b - 1,
            lambda a, b, t: mpmath.mpf(2),
            lambda a, b, t: w - a,
            lambda a, b, t: -a,
        ]

        def along(f: Callable[..., Any]) -> Callable[[Any], Any]:
            return lambda s: f(*(mpmath.polyval(polynomial, s) for polynomial in polynomials))

        rows = [mpmath.taylor(along(f), 0, ORDER - 1) for f in functions]
        return np.array([[float(c) for c in row] for row in rows]).T


@needs_compiler
@pytest.mark.parametrize("known", [(), ("t",), ("t", "q[0]"), ("t", "q[1]"), ("t", "q[0]", "q[1]"), ("fixed",)])
def test_every_recurrence(tmp_path, known):
    """All functions at once, with parameters and time, at random polynomials of degree 3, or at straight lines and
    constants that are known to be such, whose sums have one term or none.
    """
    q, t, p = ca.SX.sym("q", 2), ca.SX.sym("t"), ca.SX.sym("p", 2)
    parts = [f(q[0], q[1]) for f, _ in FUNCTIONS.values()]
    parts += [p[0] * q[0] / p[1] + ca.sin(p[0]) * t, t * t * q[1] - 1, ca.SX(2.0), p[1] - q[0], -q[0]]
    function = ca.Function("f", [q, t, p], [ca.vertcat(*parts)])
    rng = np.random.default_rng(3)
    for _ in range(3):
        x = np.zeros((ORDER, 3))
        x[0] = rng.uniform(0.2, 0.8, size=3)
        x[1:4, :2] = rng.normal(size=(3, 2))
        x[1, 2] = 1.0
        slopes = {"t": "1.0"} if known else {}
        for i in range(2):
            if f"q[{i}]" in known:
                x[1:, i] = 0.0
                x[1, i] = 0.625 + i
                slopes[f"q[{i}]"] = str(x[1, i])
        if "fixed" in known:
            x[1:, 1], slopes["q[1]"] = 0.0, "0.0"
        parameters = rng.uniform(0.5, 2.0, size=2)
        found = coefficients(function, x, parameters, tmp_path, slopes)
        truth = true_coefficients(x, parameters)
        # Coefficients grow as powers of an inverse radius r of convergence, and so does what rounding leaves in them:
        # each order hands it on through sums of a dozen terms.
        for i in range(truth.shape[1]):
            growth = np.maximum.accumulate(np.abs(truth[:, i]) ** (1 / np.maximum(np.arange(ORDER), 1)))
            size = np.maximum(1.0, growth) ** np.arange(ORDER) + np.abs(truth[:, i])
            np.testing.assert_array_less(np.abs(found[:, i] - truth[:, i]), 1e-13 * size, err_msg=str(i))


@needs_compiler
def test_pieces_give_the_same(tmp_path, monkeypatch):
    q, t, p = ca.SX.sym("q", 2), ca.SX.sym("t"), ca.SX.sym("p", 1)
    function = ca.Function("f", [q, t, p], [ca.vertcat(*[f(q[0], q[1]) for f, _ in FUNCTIONS.values()])])
    x, parameters = np.zeros((ORDER, 3)), np.ones(1)
    x[:2] = [[0.3, 0.6, 0.1], [0.5, -0.4, 1.0]]
    whole = coefficients(function, x, parameters, tmp_path)
    monkeypatch.setattr(series, "SINGLE", 10)
    monkeypatch.setattr(series, "PIECE", 7)
    # Fused operations may fall on other sums.
    np.testing.assert_allclose(coefficients(function, x, parameters, tmp_path), whole, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda a: ca.fabs(a), "absolute value"),
        (lambda a: ca.sign(a), "sign"),
        (lambda a: ca.fmin(a, 1), "min"),
        (lambda a: ca.fmax(a, 1), "max"),
        (lambda a: ca.floor(a), "floor"),
        (lambda a: ca.if_else(a > 0, a, 2 * a), "condition"),
    ],
)
def test_not_analytic(make, name):
    q, t, p = ca.SX.sym("q"), ca.SX.sym("t"), ca.SX.sym("p")
    hoist = Hoist()

    def orders(function: ca.Function) -> None:
        node = nodes_of(function, ("q", "t", "p"), ("out",), hoist, {})["out"][0]
        Emission(Shared(), hoist, first=True).value(node)
        Emission(Shared(), hoist, first=False).value(node)

    with pytest.raises(TaylorNotApplicable, match=name):
        orders(ca.Function("f", [q, t, p], [q * make(q)]))
    orders(ca.Function("f", [q, t, p], [q * make(p)]))  # of a parameter it is a number
