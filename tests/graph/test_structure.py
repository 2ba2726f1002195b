"""Templates: expressions that are the same but for names. Loops: stretches of steps that repeat."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from dalembert.graph.structure.partial_sums import PartialSums, is_rate_of_position
from dalembert.graph.structure.step_list import Step, StepList
from dalembert.graph.structure.templates import GIVEN, QUANTITY, RATE, Templates, terms_of
from dalembert.kernel.rolled.loops import stretches

X = sp.symbols("x0:12", real=True)
V = sp.symbols("v0:12", real=True)
M, L = sp.symbols("m l", real=True)
NAMES = {x: (QUANTITY, k) for k, x in enumerate(X)} | {v: (RATE, k) for k, v in enumerate(V)}
NAMES |= {M: (GIVEN, 0), L: (GIVEN, 1)}


def test_the_same_pattern_whatever_the_names():
    templates = Templates(NAMES)
    found = [templates.read(X[k] + L * sp.sin(X[k + 1])) for k in range(11)]  # SymPy orders x9 and x10 otherwise
    assert {instance.template for instance in found} == {0}
    assert [set(instance.quantities) for instance in found] == [{k, k + 1} for k in range(11)]
    assert len({tuple(sorted(i.quantities)) == i.quantities for i in found}) == 1, "in the same order everywhere"


@pytest.mark.parametrize(
    "other",
    [X[3] * V[4] ** 2, X[3] * V[3] ** 3, L * X[3] * V[3] ** 2, X[3] ** 2 * V[3] ** 2, 5 * X[3] * V[3] ** 2],
)
def test_another_pattern(other: sp.Expr):
    templates = Templates(NAMES)
    assert templates.read(X[3] * V[3] ** 2).template != templates.read(other).template


def test_numbers_with_many_digits_are_data():
    templates = Templates(NAMES)
    first, second = templates.read(sp.Float(0.37) * X[0]), templates.read(sp.Float(0.41) * X[5])
    assert first.template == second.template
    assert (first.given, second.given) == ((0.37,), (0.41,))


def test_terms_of_a_product_with_a_long_sum():
    long = sp.Add(*(v**2 for v in V)) * sp.sin(X[0]) * M
    terms = terms_of(long)
    assert len(terms) == 12
    assert sp.expand(sp.Add(*terms) - long) == 0


def test_stretches_cover_everything_once():
    rng = np.random.default_rng(3)
    codes = np.concatenate([[0], np.tile([1, 2, 3], 7), rng.integers(4, 9, 20), np.tile([2], 9), [5, 6]])
    found = stretches(codes)
    covered = [s.start + k for s in found for k in range(s.period * s.rounds)]
    assert covered == list(range(codes.size))
    for s in found:
        part = codes[s.start : s.start + s.period * s.rounds].reshape(s.rounds, s.period)
        assert (part == part[0]).all()
    assert any(s.period == 3 and s.rounds == 7 for s in found)


def test_sums_go_on_from_each_other():
    steps = [L * sp.cos(x) * v for x, v in zip(X, V, strict=True)]
    # Each sum ends with half a step, as the centre of a link does.
    squares = [sp.Add(*steps[:k], steps[k] / 2) ** 2 for k in range(12)]
    sums = PartialSums(lambda expression: True)
    found = sums.replace_in(squares)
    table = dict(sums.defined)
    assert max(len(value.args) for value in table.values()) <= 5, "no long sum is left"
    for square, short in zip(squares, found, strict=True):
        while short.free_symbols & set(table):
            short = short.xreplace(table)
        assert sp.expand(short - square) == 0


def test_which_velocities_are_rates_of_positions():
    import casadi as ca

    x, v = ca.SX.sym("x", 2), ca.SX.sym("v", 2)
    assert is_rate_of_position(ca.cos(x[0]) * v[0] + x[1] * v[0] + x[0] * v[1], x, v)
    assert not is_rate_of_position(ca.cos(x[1]) * v[0], x, v), "a knife edge's"
    assert not is_rate_of_position(v[0] ** 2, x, v)
    assert not is_rate_of_position(v[0] + 1, x, v)


def test_steps_in_a_list_are_what_was_added():
    rng = np.random.default_rng(4)
    given = [(("a", 2), 3), (("b",), 1), (("c", "x"), 5)]
    added = [Step(given[k][0], tuple(rng.integers(0, 99, given[k][1]).tolist())) for k in rng.integers(0, 3, 40)]
    steps, back = StepList(), StepList()
    for step in added:
        steps.add(step.code, step.places)
        back.add(step.code, step.places)
    assert list(steps) == added
    steps.add_backwards(back)
    assert list(steps) == [*added, *reversed(added)]
    with pytest.raises(ValueError, match="has 1 places, not 2"):
        steps.add(("b",), (1, 2))
    only = StepList()
    for step in added:
        if step.code == ("b",):
            only.add(step.code, step.places)
    code, rows = only.arrays().rows(0, len(only), 1)
    assert (code, [tuple(row) for row in rows.tolist()]) == (("b",), [step.places for step in only])
