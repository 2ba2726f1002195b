"""where(condition, value, otherwise) in documents, and SymPy's Piecewise written that way."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.errors import ExpressionError, ModelError
from dalembert.model.documents.document import loads
from dalembert.model.documents.expression_text import text_of
from dalembert.model.documents.write_document import dumps
from dalembert.model.language.parse import parse_expression
from dalembert.motion.result.motion import Motion

x, y = da.coordinates("x y")
TABLE = {"x": x, "y": y, "x'": x.d}


def pushed_back(force: sp.Expr) -> da.System:
    return da.System(
        "pushed back", coordinates=[x], kinetic=x.d**2 / 2, forces={x: force}, initial={x: 1, x.d: 0}
    )  # fmt: skip


def test_a_choice_is_read():
    assert parse_expression("where(x < 1, x, 2*y)", TABLE, where="force") == sp.Piecewise((x, x < 1), (2 * y, True))
    assert parse_expression("where(2 < 1, x, 2*y)", TABLE, where="force") == 2 * y


@pytest.mark.parametrize(
    "choice",
    [
        sp.Piecewise((1, x < 0), (-1, True)),
        sp.Piecewise((x, x <= 0), (y, y > 2), (x * y, True)),
        sp.Piecewise((x, (x < 0) & (y >= 1)), (y, True)),
        sp.Piecewise((x, (x < 0) | (y >= 1) | (x > 3)), (y, (x < 1) & (y < 0.5)), (x - y, True)),
        2 * sp.Piecewise((sp.Piecewise((x, y < 0), (3, True)), x < 0), (y, True)) + 1,
    ],
)
def test_what_is_written_is_read_back_with_the_same_values(choice):
    again = parse_expression(text_of(choice), TABLE, where="force")
    for a in np.linspace(-1, 4, 11):
        for b in np.linspace(-1, 3, 9):
            at = {x: a, y: b}
            assert float(choice.subs(at)) == float(again.subs(at))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x < 1", "known only in where"),
        ("(x < 1)*y", "can only be the condition"),
        ("where(x, 1, 2)", "where takes one comparison and two values"),
        ("where(x < 1, 2)", "where takes one comparison and two values"),
        ("where(0 < x < 1, 2, 3)", "where takes one comparison and two values"),
        ("where(x = 1, 2, 3)", "'=' inside parentheses"),
        ("where", "is a function and needs an argument"),
        ("wher(x < 1, 2, 3)", "Did you mean 'where'"),
    ],
)
def test_what_is_no_choice_is_refused(text, says):
    with pytest.raises(ExpressionError, match=says.replace("(", r"\(")):
        parse_expression(text, TABLE, where="force")


def test_a_motion_with_a_choice_is_saved_and_loaded(tmp_path):
    """A particle pushed towards 0 by a force of size one is a parabola from 1 until it passes at t = √2."""
    motion = pushed_back(sp.Piecewise((1, x < 0), (-1, True))).simulate(2, samples=21)
    fast = np.sqrt(2.0)
    exact = np.where(motion.t < fast, 1 - motion.t**2 / 2, -fast * (motion.t - fast) + (motion.t - fast) ** 2 / 2)
    # the kink is located to the tolerance of the integration, 1e-9
    np.testing.assert_allclose(motion["x"], exact, atol=1e-8)
    motion.save(tmp_path / "motion.nc")
    loaded = Motion.load(tmp_path / "motion.nc")
    np.testing.assert_array_equal(loaded.q, motion.q)
    again = loads(dumps(motion.system)).simulate(2, samples=21)
    np.testing.assert_array_equal(again.q, motion.q)


def test_a_choice_that_documents_cannot_hold_is_named():
    with pytest.raises(ModelError, match="cannot hold Piecewise"):
        dumps(pushed_back(sp.Piecewise((1, sp.Ne(x, 0)), (-1, True))))
