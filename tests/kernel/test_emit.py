"""Straight-line C against CasADi's own evaluation of the same function."""

from __future__ import annotations

import ctypes
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import dalembert as da
from dalembert.graph.graph import graph_of
from dalembert.kernel.build import FLAGS, find_compiler
from dalembert.kernel.emit import layout
from dalembert.kernel.emit import straight_line as emit
from dalembert.kernel.emit.functions import is_workless
from dalembert.kernel.emit.straight_line import Hoist, straight_line

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="no C compiler on this machine")
RUNTIME = layout.RUNTIME
BASE = "".join((RUNTIME / name).read_text(encoding="utf-8") for name in ("base/base.h", "base/elementary.h"))


def compiled(function: ca.Function, folder: Path, hoist: Hoist | None = None) -> ctypes.CDLL:
    """A library with `run(x, t, p, out)` for a function of (x, t, p) with one output."""
    import subprocess

    source = BASE + straight_line("f", function, ("x", "t", "p"), ("out",), hoist)
    third = "p"
    constants = ""
    if hoist is not None:
        source += hoist.source()
        constants = f"    double c[{max(hoist.size, 1)}];\n    da_constants(p, c);\n"
        third = "c"
    source += (
        "DA_API void run(const double *x, double t, const double *p, double *out)\n"
        f"{{\n{constants}    f(x, t, {third}, out);\n}}\n"
    )
    (folder / "f.c").write_text(source, encoding="utf-8")
    assert compiler is not None
    command = [
        *compiler.command,
        *FLAGS,
        "-Wall",
        "-Wextra",
        "-Werror",
        str(folder / "f.c"),
        "-o",
        str(folder / "f.so"),
        "-lm",
    ]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "f.so"))


def call(library: ctypes.CDLL, x: np.ndarray, t: float, p: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size)
    pointer = ctypes.c_void_p
    library.run.argtypes = [pointer, ctypes.c_double, pointer, pointer]
    library.run(x.ctypes.data, t, p.ctypes.data, out.ctypes.data)
    return out


def everything() -> ca.Function:
    """A function with every operation that a model can hold."""
    x, t, p = ca.SX.sym("x", 3), ca.SX.sym("t"), ca.SX.sym("p", 2)
    a, b, c = ca.vertsplit(x)
    unary = [
        ca.sin,
        ca.cos,
        ca.tan,
        ca.sinh,
        ca.cosh,
        ca.tanh,
        ca.exp,
        ca.fabs,
        ca.sign,
        ca.floor,
        ca.ceil,
        ca.erf,
        ca.asinh,
    ]
    parts = [f(a) for f in unary]
    parts += [
        ca.asin(ca.tanh(a)),
        ca.acos(ca.tanh(b)),
        ca.atan(c),
        ca.log(1 + a * a),
        ca.sqrt(2 + b),
        ca.atanh(ca.sin(c) / 2),
    ]
    parts += [
        ca.acosh(2 + a * a),
        ca.atan2(a, b),
        ca.fmin(a, c),
        ca.fmax(b, c),
        (a * a) ** 1.7,
        (1 + a * a) ** b,
        1 / b,
        2 * c,
    ]
    parts += [
        ca.if_else(a > b, c, t),
        ca.if_else(ca.logic_and(a <= b, c != 0), a, b),
        ca.if_else(ca.logic_or(a < 0, b < 0), 1, 2),
    ]
    parts += [ca.sin(p[0]) * a + p[1] / p[0], p[0] ** 2 + ca.exp(p[1]) * t, p[1], ca.SX(3.25), 1e-300 * a, 1e300 * b]
    return ca.Function("f", [x, t, p], [ca.vertcat(*parts)])


@pytest.mark.parametrize("hoisted", [False, True])
@pytest.mark.parametrize("piece", [10_000, 7, 1])
def test_every_operation(hoisted, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(emit, "PIECE", piece)
    function = everything()
    library = compiled(function, tmp_path, Hoist() if hoisted else None)
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, t, p = rng.normal(size=3), float(rng.normal()), rng.uniform(0.5, 2, size=2)
        exact = np.array(function(x, t, p)).ravel()
        # Both call the same elementary functions; contraction to fused operations changes the last digit or two.
        np.testing.assert_allclose(call(library, x, t, p, exact.size), exact, rtol=1e-14, atol=1e-15)


def test_long_functions_are_cut(tmp_path):
    x, t, p = ca.SX.sym("x", 4), ca.SX.sym("t"), ca.SX.sym("p", 1)
    value = x
    for k in range(900):
        value = ca.sin(value) + ca.vertcat(value[1:], value[0]) * (0.1 + 0.001 * k)
    function = ca.Function("f", [x, t, p], [value])
    text = straight_line("f", function, ("x", "t", "p"), ("out",))
    assert text.count("DA_PIECE") > 5
    library = compiled(function, tmp_path)
    start = np.array([0.1, -0.2, 0.3, 0.4])
    exact = np.array(function(start, 0, [1.0])).ravel()
    # 900 rounds magnify the last digit of fused operations.
    np.testing.assert_allclose(call(library, start, 0.0, np.ones(1), 4), exact, rtol=1e-10)


def test_constants_read_back_exactly():
    for value in (0.1, -1.0, 1e-300, 123456789.123456789, 5e-324, 2.0**60):
        assert float(emit.number(value)) == value


@pytest.mark.parametrize(
    ("constraint", "workless"),
    [
        ("x^2 + y^2 = 1", True),
        ("sin(x)*x' - y' = 0", True),
        ("x - sin(t) = 0", False),
        ("x' - 2*y' = 3", False),
        ("x'^2 + y'^2 = 4", False),
        ("x'' - y' = 0", False),
    ],
)
def test_the_power_of_ideal_forces_is_left_out_only_where_there_is_none(constraint, workless):
    system = da.System("bead", coordinates="x y", kinetic="(x'^2 + y'^2)/2", constraints={"c": constraint})
    graph = graph_of(system)
    state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate("qvtp")]
    assert is_workless(graph, state) == workless
