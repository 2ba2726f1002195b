"""Explicit methods as data: every tableau has the orders it claims, and one that has not is refused or seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dalembert.methods.dop853 import DOP853
from dalembert.methods.dopri5 import DOPRI5
from dalembert.methods.order_conditions import defect, defects, density, trees
from dalembert.methods.table import METHODS
from dalembert.methods.tableau import Estimate, Nested, Powers, Tableau

EXPLICIT = {name: method.tableau for name, method in METHODS.items() if method.tableau is not None}
# Sums of at most sixteen products of rounded coefficients, relative to their terms.
ROUNDING = 1e-14


def test_rooted_trees_are_all_there() -> None:
    """A000081; and Σ 1/γ over orderings: the tall tree has γ = n!, the bush γ = n."""
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert {density(tree) for tree in trees(4)} == {4, 8, 12, 24}


@pytest.mark.parametrize("name", EXPLICIT)
def test_orders_are_those_claimed(name: str) -> None:
    tableau = EXPLICIT[name]
    for part, missed in defects(tableau).items():
        assert missed < ROUNDING, part
    assert METHODS[name].orders == (tableau.order,)
    # Not one order more: the measure would not see anything otherwise.
    a = tableau.matrix()
    assert defect(a, tableau.b, tableau.order + 1) > 1e-6
    assert defect(a, tableau.inside(0.4), tableau.interpolant.order + 1, 0.4) > 1e-6


@pytest.mark.parametrize("name", EXPLICIT)
def test_interpolants_end_where_steps_do(name: str) -> None:
    tableau = EXPLICIT[name]
    assert tableau.inside(0.0) == pytest.approx([0.0] * tableau.slopes, abs=0)
    ends = (*tableau.b, *[0.0] * (tableau.slopes - tableau.stages))
    assert tableau.inside(1.0) == pytest.approx(ends, abs=1e-14)  # sums of coefficients of about one


def test_the_cubic_by_powers_is_the_cubic() -> None:
    plain = replace(DOPRI5, interpolant=Nested())
    for x in (0.1, 0.5, 0.9):
        powers = [sum(w * x ** (j + 1) for j, w in enumerate(row)) for row in plain.powers()]
        assert plain.inside(x) == pytest.approx(powers, abs=1e-15)  # of weights of about one


def test_a_wrong_digit_is_refused_or_seen() -> None:
    b = list(DOP853.b)
    b[5] += 1e-3
    with pytest.raises(ValueError, match=r"b has the sum 1\.001"):
        replace(DOP853, b=tuple(b))
    b[6] -= 1e-3  # the sum is right again
    assert defects(replace(DOP853, b=tuple(b)))["step"] > 1e-6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"a": ((), (0.3,), *DOPRI5.a[2:])}, "row 1 of a has the sum 0.29"),
        ({"c": DOPRI5.c[:-1]}, "6 weights b need as many entries c"),
        ({"estimates": ()}, "one or two estimates"),
        (
            {"estimates": (Estimate((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), 4),)},
            "an estimate of the error has the sum 1, not 0",
        ),
        ({"interpolant": Powers(((1.0,),), 1)}, "the interpolant needs 7 rows"),
        ({"interpolant": Nested(a=((1.0,),), order=3)}, "a row of a and an entry of c each"),
        ({"interpolant": Nested(rows=((1.0,) * 9,), order=3)}, "there are 7 slopes"),
        ({"c": (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 0.9)}, "with c = 1"),
    ],
)
def test_what_is_no_tableau_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(DOPRI5, **change)  # type: ignore[arg-type]


def test_a_stage_that_needs_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="slopes before it only"):
        Tableau(a=((0.5,),), b=(1.0,), c=(0.5,), order=1, estimates=(Estimate((0.0,), 0),))
