"""Tapes against CasADi's own evaluation: each operation by itself, and the functions of all library systems."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import dalembert as da
from dalembert.errors import BuildError
from dalembert.graph.graph import graph_of
from dalembert.kernel.build import find_compiler
from dalembert.kernel.emit.functions import kernel_functions
from dalembert.kernel.emit.operations import BINARY, UNARY
from dalembert.kernel.ready import make_tape as module
from dalembert.kernel.ready.library import ready_library
from dalembert.kernel.ready.make_tape import instructions, make_tape

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")

VALUES = np.array([0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 0.9999, 1.5, -2.5, 3e5, -1e300, 1e-310, np.inf, -np.inf])
# Sines and cosines are taken four at once, within 1.5 units of the last place; the C library is within one.
TURNS = (ca.OP_SIN, ca.OP_COS)
# Which of 0 and -0 these give is left open.
EITHER_ZERO = (ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX)


def library():
    found = ready_library()
    assert found is not None
    return found


def evaluated(function: ca.Function, *inputs: np.ndarray, parameters: int | None = None) -> list[np.ndarray]:
    """The outputs by a tape, at one point."""
    made = make_tape(library(), function, parameters)
    fixed = np.zeros(0) if parameters is None else inputs[parameters]
    moving = [x[None] for k, x in enumerate(inputs) if k != parameters]
    return [row[0] for row in made(library(), fixed, *moving)]


def by_casadi(function: ca.Function, *inputs: np.ndarray) -> list[np.ndarray]:
    return [np.array(ca.densify(x)).flatten(order="F") for x in function.call([ca.DM(x) for x in inputs])]


@pytest.mark.parametrize("operation", [*UNARY, *BINARY])
def test_each_operation_is_casadis(operation: int) -> None:
    x, y = ca.SX.sym("x", VALUES.size), ca.SX.sym("y", VALUES.size)
    first, second = np.repeat(VALUES, VALUES.size), np.tile(VALUES, VALUES.size)
    if operation in UNARY:
        function = ca.Function("f", [x], [ca.SX.unary(operation, x)])
        given = [VALUES]
    else:
        x, y = ca.SX.sym("x", first.size), ca.SX.sym("y", first.size)
        function = ca.Function("f", [x, y], [ca.SX.binary(operation, x, y)])
        given = [first, second]
    found, wanted = evaluated(function, *given)[0], by_casadi(function, *given)[0]
    if operation in TURNS:
        np.testing.assert_allclose(found, wanted, rtol=6e-16, atol=1e-16)
    else:
        np.testing.assert_array_equal(found, wanted)
        zero = wanted == (np.nan if operation in EITHER_ZERO else 0)
        np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


def test_products_sums_and_angles_together() -> None:
    """All that a tape does besides single operations: products joined with sums, angles inside angles, the same twice,
    an input and a constant as outputs, zeros left out, one value as two outputs, parameters alone, what occurs twice.
    """
    x, p = ca.SX.sym("x", 6), ca.SX.sym("p", 2)
    turns = ca.vertcat(*[ca.sin(x[k] * p[0]) + ca.cos(ca.sin(x[k]) + x[0]) for k in range(6)])
    sums = ca.vertcat(x[0] * x[1] + x[2], x[2] - x[0] * x[1], x[3] * x[4] - x[5], x[0] * x[1] + x[2] * x[3])
    alone = ca.vertcat(p[0] * p[1], 2.5, p[1], ca.sin(p[0]), x[3])
    sparse = ca.SX(4, 2)
    sparse[1, 0], sparse[3, 1], sparse[0, 1] = turns[2], turns[2], p[0] / 3
    function = ca.Function("f", [x, p], [turns, sums, alone, sparse])
    rng = np.random.default_rng(1)
    given = (rng.uniform(-2, 2, 6), rng.uniform(0.5, 1, 2))
    for found, wanted in zip(evaluated(function, *given, parameters=1), by_casadi(function, *given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-15, atol=1e-15)  # a few roundings of numbers below 3


@pytest.mark.parametrize("name", da.library.names())
def test_functions_of_the_library(name: str) -> None:
    system = da.library.get(name)
    graph = graph_of(system)
    rows = [k for k in range(len(system.constraints)) if k not in graph.nonlinear]
    if name == "redundant_double_pendulum":
        rows = rows[:2]  # an independent set
    q, v, t = system.initial_values()
    p = np.array([float(system.parameters[symbol]) for symbol in system.parameter_symbols])
    rng = np.random.default_rng(2)
    completion = 1.0 if name == "quaternion_body" else 0.0  # its M is singular
    for function in vars(kernel_functions(graph, rows, True, completion)).values():
        if function is None:
            continue
        place = {"acceleration": 4, "backsolve": None}.get(function.name(), 3)
        known = {0: q, 1: v, 2: np.array([t]), place: p} if function.name() not in ("acceleration", "backsolve") else {}
        given = [known.get(k, rng.uniform(0.5, 1, function.numel_in(k))) for k in range(function.n_in())]
        if function.name() == "acceleration":
            given[0], given[1], given[4] = q, v, p
        found, wanted = evaluated(function, *given, parameters=place), by_casadi(function, *given)
        for one, other in zip(found, wanted, strict=True):
            # Joined products and other sines differ in the last place; eliminations lose a few digits of it.
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.nanmax(np.abs(other), initial=1e-3))


def test_what_occurs_twice_is_done_once() -> None:
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
    terms = [ca.sin(x[0] * p + 0.5) * x[1] for _ in range(3)]
    twice = ca.Function("f", [x, p], [terms[0] + terms[1], terms[2] - x[0]])
    # x[0] p, + 0.5, sin, times x[1], the sum and the difference: six.
    assert twice.n_instructions() > 3 * 4
    assert make_tape(library(), twice, 1).instructions == 6
    given = (np.array([0.3, 0.7]), np.array([1.7]))
    for one, other in zip(evaluated(twice, *given, parameters=1), by_casadi(twice, *given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)  # a rounding or two


def test_instructions_are_read_from_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ca.SX.sym("x", 5)
    function = ca.Function("f", [x], [ca.cumsum(ca.sin(x) * 0.1) ** 2, ca.sqrt(x[0]) * -1e300])
    quick = instructions(function)
    monkeypatch.setattr(module, "_from_text", lambda function, count: None)
    np.testing.assert_array_equal(quick, instructions(function))


def test_an_operation_without_a_form_is_named() -> None:
    x = ca.SX.sym("x", 2)
    function = ca.Function("f", [x], [ca.remainder(x[0], x[1])])
    with pytest.raises(BuildError, match=rf"operation {ca.OP_REMAINDER} .* no form in C"):
        make_tape(library(), function)
