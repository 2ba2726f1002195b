"""Names become symbols, in a tuple, which says so where it is used as a symbol."""

from __future__ import annotations

import pickle

import pytest
import sympy as sp

import dalembert as da

y = da.coordinates("x y")[1]


def test_they_come_in_a_tuple():
    (x,) = da.coordinates("x")
    assert x.d.name == "x'"
    assert da.coordinates("x") == (x,)
    assert da.System("ball", coordinates=da.coordinates("x"), kinetic=x.d**2 / 2).coordinates == (x,)
    assert pickle.loads(pickle.dumps(da.coordinates("x y"))) == da.coordinates("x y")


@pytest.mark.parametrize(
    "use",
    [
        lambda x, m: x.d,
        lambda x, m: x.name,
        lambda x, m: m * y,
        lambda x, m: y * m,
        lambda x, m: m / 2,
        lambda x, m: 2 / m,
        lambda x, m: y - x,
        lambda x, m: -x,
        lambda x, m: m**2,
        lambda x, m: y**m,
    ],
)
def test_one_alone_says_how_it_is_taken(use):
    with pytest.raises((AttributeError, TypeError)) as caught:
        use(da.coordinates("x"), da.parameters("m"))
    assert 'x, = da.coordinates("x")' in str(caught.value) or 'm, = da.parameters("m")' in str(caught.value)


def test_several_are_named_in_the_remedy():
    with pytest.raises(AttributeError, match=r'write x, y = da.coordinates\("x y"\)$'):
        _ = da.coordinates("x, y").d


def test_there_is_one_object_for_each_name():
    names = [f"q{k}" for k in range(2000)]  # more than SymPy keeps
    first = da.coordinates(" ".join(names))
    again = da.coordinates(" ".join(names))
    assert all(a is b and a.d is b.d and a.dd is b.dd for a, b in zip(first, again, strict=True))
    assert pickle.loads(pickle.dumps(first[7].d)) is first[7].d
    assert first[0] not in (*da.parameters("q0"), *da.definitions("q0"))


@pytest.mark.parametrize("make", [da.coordinates, da.parameters, da.definitions])
@pytest.mark.parametrize("given", [3, None, ["x", "y"]])
def test_names_that_are_no_text_are_refused(make, given):
    with pytest.raises(da.ModelError, match=rf'da\.{make.__name__}\("a b"\), got'):
        make(given)


def test_functions_of_them_are_those_of_plain_symbols():
    """What SymPy asks of an argument of a function has the answers of its own symbols."""
    (x,), plain = da.coordinates("x"), sp.Symbol("x", real=True)
    for part in (sp.I, sp.S.One, sp.pi, 2 * sp.I):
        assert str(x.as_coefficient(part)) == str(plain.as_coefficient(part)), part
    for function in (sp.sin, sp.cos, sp.tan, sp.sinh, sp.asin, sp.exp):
        for factor in (1, -1, sp.I, sp.pi):
            assert function(factor * x).xreplace({x: plain}) == function(factor * plain), (function, factor)
