"""What docs/sympy.md shows runs as it stands, and does what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sympy as sp
from sympy.physics.mechanics import ReferenceFrame, dynamicsymbols

import dalembert as da

PAGE = Path(__file__).parents[2] / "docs" / "sympy.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def own_time() -> Iterator[None]:
    """SymPy's time as it was, whatever a test makes of it."""
    before = dynamicsymbols._t
    yield
    dynamicsymbols._t = before


def test_the_page(own_time: None) -> None:
    found: dict[str, object] = {}
    for block in BLOCKS:
        exec(block, found)
    cart, framed = found["cart"], found["framed"]
    assert isinstance(cart, da.System)
    assert isinstance(framed, da.System)
    assert sp.simplify(cart.kinetic - framed.kinetic) == 0
    assert sp.simplify(cart.potential - framed.potential) == 0
    assert dynamicsymbols._t == da.t


def test_frames_refuse_our_coordinates_once_time_is_ours(own_time: None) -> None:
    (x,) = da.coordinates("x")
    frame = ReferenceFrame("N")
    assert (x * frame.x).dt(frame) == 0  # by SymPy's own time x is a constant: the page says so
    dynamicsymbols._t = da.t
    with pytest.raises(da.AmbiguousDerivative):
        (x * frame.x).dt(frame)
    y = dynamicsymbols("y")
    assert (y * frame.x).dt(frame).dot(frame.x) == sp.Derivative(y, da.t)
    system = da.System("free", coordinates=[y], kinetic=y.diff(da.t) ** 2 / 2)
    assert system.kinetic == system.coordinates[0].d ** 2 / 2


def test_the_partial_derivative_of_the_page() -> None:
    (x,) = da.coordinates("x")
    L, s = x.d**2 / 2 - sp.cos(da.t) * x, sp.Symbol("s")
    assert L.subs(da.t, s).diff(s).subs(s, da.t) == x * sp.sin(da.t)
