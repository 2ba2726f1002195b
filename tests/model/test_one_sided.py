"""One-sided constraints: how they are written, that they survive, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import sympy as sp

import dalembert as da

x, y = da.coordinates("x y")
m, e, h, theta = da.parameters("m e h theta")


def system(constraints: Any, **changes: Any) -> da.System:
    parts: dict[str, Any] = {"parameters": {m: 1, e: 0.5, h: 2, theta: 0.3}, **changes}
    return da.System("s", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, constraints=constraints, **parts)


def faults(constraints: Any, **changes: Any) -> str:
    with pytest.raises(da.ModelError) as caught:
        system(constraints, **changes)
    return "\n".join(caught.value.faults)


@pytest.mark.parametrize(
    ("written", "expression"),
    [
        ("y >= h", y - h),
        ("y <= h", h - y),
        ("h <= y", y - h),
        ("y >= x*tan(theta)", y - x * sp.tan(theta)),
        (y >= h, y - h),
        (y <= h, h - y),
        (sp.Ge(y, x), y - x),
        (sp.Le(y, x), x - y),
    ],
)
@pytest.mark.parametrize(
    "given", [lambda w: {"c": w}, lambda w: [("c", w)], lambda w: [w], lambda w: [da.Constraint("c", w)]]
)
def test_spellings(written: Any, expression: sp.Expr, given: Any) -> None:
    (constraint,) = system(given(written)).constraints
    assert constraint.one_sided
    assert sp.expand(constraint.expression - expression) == 0
    assert constraint.level == "position"
    assert constraint.restitution is None


def test_said_of_an_equation() -> None:
    """left = right means left − right ≥ 0."""
    (constraint,) = system([da.Constraint("c", "y = h", one_sided=True, restitution="e")]).constraints
    assert constraint == da.Constraint("c", y - h, "position", True, e)
    assert str(constraint) == "y - h >= 0"


def test_two_sided_is_the_default() -> None:
    (constraint,) = system({"c": "y = h"}).constraints
    assert constraint == da.Constraint("c", y - h, "position")
    assert not constraint.one_sided


@pytest.mark.parametrize("restitution", [None, 0, 1, 0.3, sp.Rational(1, 3), e, "e/2"])
def test_kept(restitution: Any) -> None:
    first = system([da.Constraint("floor", y >= x, restitution=restitution), da.Constraint("wall", x)])
    for again in (pickle.loads(pickle.dumps(first)), first.replace(), da.loads(da.dumps(first))):
        assert again.constraints == first.constraints
        assert again.structure == first.structure


def test_document() -> None:
    text = (
        da.dumps(system({})) + "\n[[constraints]]\nname = 'c'\nequation = 'y = h'\none_sided = true\nrestitution = 0.5"
    )
    (constraint,) = da.loads(text).constraints
    assert constraint == da.Constraint("c", y - h, "position", True, sp.Float(0.5))
    bad = text.replace("true", "1")
    with pytest.raises(da.DocumentError, match="one_sided"):
        da.loads(bad)


def test_a_parameter_in_a_restitution_only() -> None:
    found = system([da.Constraint("c", y >= 0, restitution=e)], parameters={})
    assert set(found.parameter_symbols) == {m, e}


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (da.Constraint("c", "y' >= 0"), "position level"),
        (da.Constraint("c", "y'' >= 0"), "position level"),
        (da.Constraint("c", y.d, one_sided=True), "position level"),
        (da.Constraint("c", y, one_sided="yes"), "one_sided"),  # type: ignore[arg-type]
        (da.Constraint("c", y, one_sided=1), "one_sided"),  # type: ignore[arg-type]
        (da.Constraint("c", y, restitution=0.5), "one-sided"),
        (da.Constraint("c", y >= 0, restitution=-0.1), "from 0 to 1"),
        (da.Constraint("c", y >= 0, restitution=3 * e), "1.5"),
        (da.Constraint("c", y >= 0, restitution=x), "parameters only"),
        (da.Constraint("c", y >= 0, restitution=da.t), "parameters only"),
        (da.Constraint("c", y >= 0, restitution="q"), "'q'"),
        (da.Constraint("c", y >= 0, restitution=True), "restitution"),
        (da.Constraint("c", y >= 0, restitution=[1]), "restitution"),
        (da.Constraint("c", y > 0), ">="),
        (da.Constraint("c", "y > 0"), "'>'"),
        (da.Constraint("c", "0 <= y <= 1"), "more than one"),
        (da.Constraint("c", "(y >= 0)"), "parentheses"),
        (da.Constraint("c", "y => 0"), "'>'"),
    ],
)
def test_refused(constraint: da.Constraint, words: str) -> None:
    assert words in faults([constraint])


def test_an_unknown_name_in_a_restitution_is_offered_parameters_only() -> None:
    text = faults([da.Constraint("c", y >= 0, restitution="q")])
    offered = text.split("Known here: ")[1].split(".")[0].split(", ")
    assert {"m", "e"} <= set(offered)
    assert not {"x", "y", "x'", "y'", "x''", "t"} & set(offered)


@pytest.mark.parametrize("part", [{"events": {"a": "y >= 0"}}, {"potential": "y >= 0"}, {"forces": {"x": "x <= 1"}}])
def test_only_constraints_are_one_sided(part: Any) -> None:
    assert "=" in faults({}, **part)
