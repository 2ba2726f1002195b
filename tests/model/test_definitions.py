"""Definitions: how they are written, in which order, what is refused, and what a model keeps of them."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.errors import AmbiguousDerivative, DocumentError, ModelError
from dalembert.model.definitions import in_order

x, a = da.coordinates("x a")
m, l, k = da.parameters("m l k")
tip, speed = da.definitions("tip speed")
VALUES = {m: 1.5, l: 0.7, k: 3.0}
START = {x: 0.1, a: 0.4, x.d: 0.2, a.d: -0.3}


def cart(**changes) -> da.System:
    parts = {
        "coordinates": [x, a], "definitions": {tip: x + l * sp.sin(a)},
        "kinetic": m * (x.d**2 + tip.d**2 + l**2 * a.d**2) / 2, "potential": k * tip**2 / 2,
        "parameters": VALUES, "initial": START,
    }  # fmt: skip
    return da.System("cart", **{**parts, **changes})


def test_a_model_keeps_them_as_they_are_written():
    system = cart()
    assert dict(system.definitions) == {"tip": x + l * sp.sin(a)}
    assert system.potential == k * tip**2 / 2
    assert system.parameter_symbols == (k, l, m)
    plain = system.expanded
    assert not plain.definitions
    assert plain.potential == k * (x + l * sp.sin(a)) ** 2 / 2
    assert plain.kinetic == m * (x.d**2 + (x.d + l * a.d * sp.cos(a)) ** 2 + l**2 * a.d**2) / 2
    assert plain.expanded is plain


def test_every_way_of_writing_gives_the_same_model():
    T, q = dynamicsymbols("tip"), dynamicsymbols("x a")
    time = dynamicsymbols._t
    inertia = "m*(x'^2 + tip'^2 + l^2*a'^2)/2"
    ways = [
        cart(definitions={"tip": "x + l*sin(a)"}, kinetic=inertia, potential="k*tip^2/2"),
        cart(definitions={"tip": x + l * sp.sin(a)}, potential=k * sp.Symbol("tip") ** 2 / 2),
        cart(definitions={T: q[0] + l * sp.sin(q[1])}, potential=k * T**2 / 2,
             kinetic=m * (x.d**2 + T.diff(time)**2 + l**2 * a.d**2) / 2),
        cart(kinetic="m*(x'^2 + rate(tip)^2 + l^2*a'^2)/2"),
        cart().replace(definitions={"tip": l * sp.sin(a) + x}),
    ]  # fmt: skip
    for way in ways:
        assert way.structure == cart().structure
        assert hash(way.structure) == hash(cart().structure)


def test_they_are_part_of_the_identity():
    other = cart().replace(definitions={tip: x + 2 * l * sp.sin(a)})
    assert other.structure != cart().structure
    assert other.at().acceleration[1] != pytest.approx(cart().at().acceleration[1])


def test_rates_of_expressions_with_them():
    assert da.rate(tip**2 * x) == 2 * tip * tip.d * x + tip**2 * x.d
    assert da.rate(tip.d) == tip.dd
    with pytest.raises(AmbiguousDerivative, match="third derivatives"):
        da.rate(tip.dd)
    with pytest.raises(AmbiguousDerivative, match="tip would count as constant"):
        sp.diff(tip * da.t, da.t)
    with pytest.raises(AmbiguousDerivative, match="another symbol"):
        da.rate(tip * sp.Symbol("tip"))
    with pytest.raises(TypeError, match=r"tip, = da.definitions\(\"tip\"\)"):
        da.definitions("tip") * 2


def test_any_order_is_put_right():
    first, second, third = da.definitions("first second third")
    system = cart(definitions={third: second * 2, "other": x, second: first + a, first: l * x, tip: third})
    assert list(system.definitions) == ["first", "second", "third", "other", "tip"]
    assert system.expanded.potential == k * (2 * (l * x + a)) ** 2 / 2


def test_documents_keep_them(tmp_path):
    system = cart(outputs={"tip": tip, "pace": "speed'"}, definitions={tip: x + l * sp.sin(a), "speed": "tip'/l"},
                  events={"middle": tip - x}, forces={x: -speed}, constraints={"slow": "speed = x'"})  # fmt: skip
    system.save(tmp_path / "cart.toml")
    text = (tmp_path / "cart.toml").read_text()
    assert "[definitions]" in text
    assert 'speed = "tip\'/l"' in text
    again = da.load(tmp_path / "cart.toml")
    assert again.structure == system.structure
    assert dict(again.outputs) == dict(system.outputs)
    assert da.dumps(again) == da.dumps(system)
    copy = pickle.loads(pickle.dumps(system))
    assert copy.structure == system.structure


def test_levels_are_read_through_them():
    found = cart(
        definitions={"tip": "x + l*sin(a)", "w": "x' + a", "pull": "x''"},
        constraints={
            "place": "tip = 0.3",
            "pace": "tip' = 0.1",
            "bend": "tip'' = 0",
            "hidden": "w = x'",
            "law": "pull",
        },
    ).constraints
    levels = {constraint.name: constraint.level for constraint in found}
    # w − x' is a, though w and x' are velocities
    assert levels == {
        "place": "position", "pace": "velocity", "bend": "acceleration", "hidden": "position", "law": "acceleration"
    }  # fmt: skip
    one_sided = cart(constraints={"stop": tip >= 0}).constraints[0]
    assert (one_sided.level, one_sided.one_sided) == ("position", True)
    given = cart(constraints=[da.Constraint("pace", tip.d, level="velocity")])
    assert given.constraints[0].level == "velocity"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"definitions": {"tip": "reach + 1", "reach": "tip*x"}}, "'tip' is defined by itself (tip → reach → tip)"),
        ({"definitions": {"tip": "x + rate(tip)"}}, "'tip' is defined by itself (tip → tip)"),
        ({"definitions": {"tip": x, tip: a}}, "definition 'tip' is given twice"),
        ({"definitions": {"tip": x, "energy": x}}, "definition 'energy': a motion has a column of this name by itself"),
        ({"definitions": {"tip": x, "a": x}}, "'a' is both a coordinate and a definition; rename one"),
        ({"definitions": {"tip": x, "k": x}}, "'k' is both a parameter and a definition; rename one"),
        ({"definitions": {"tip": x, "sin": x}}, "definition 'sin': this name has a meaning of its own"),
        ({"definitions": {"tip": x, "tip x": x}}, "definition 'tip x': a name has letters, digits and _ only"),
        ({"definitions": {"tip": x, "tip'": x}}, "rates follow by themselves"),
        ({"definitions": {"tip": "xx + l"}}, "definition 'tip': unknown name 'xx'"),
        ({"definitions": {"tip": None}}, "definition 'tip': no expression given"),
        ({"definitions": {"tip": "ideal(x)"}}, "definition 'tip': ideal(…) is known only in"),
        ({"definitions": {"tip": da.ideal(x)}}, "ideal(x): write constraint forces where they are used"),
        ({"definitions": [tip]}, "definitions: a mapping such as"),
        ({"definitions": {}}, "kinetic: there is no definition 'tip'"),
        ({"definitions": {"tip": x.dd}, "kinetic": m * x.d**2}, "potential: it depends on positions and time only"),
        ({"definitions": {"tip": x.dd}}, "kinetic: tip': tip holds accelerations, and a model has no third"),
        ({"definitions": {"tip": x.d}}, "kinetic: accelerations cannot appear in it (look at tip')"),
        ({"definitions": {"tip": x.d, "jerk": "tip''"}, "kinetic": m * x.d**2}, "'jerk': tip'' would be a third"),
        ({"forces": {"tip": x}}, "forces: 'tip' is not a coordinate."),
        ({"initial": {**START, "tip": 1}}, "initial: 'tip' is neither a coordinate nor a velocity."),
        ({"initial": {**START, x: tip}}, "an initial value may use parameters only, not tip"),
        ({"outputs": {"pull": "ideal(tip)"}}, "'tip' is not a coordinate"),
        ({"constraints": {"c": tip - x - l * sp.sin(a)}}, "contains no coordinate, so it constrains nothing"),
        ({"constraints": {"c": "sin(tip)^2 + cos(tip)^2"}}, "has one value whatever the coordinates"),
        ({"events": {"e": "tip''"}}, "accelerations cannot appear in it"),
        ({"events": {"e": "tip - x - l*sin(a) + 1"}}, "has one value whatever the motion"),
        ({"functions": ["tip(t)"]}, "functions: 'tip' is a coordinate"),
        ({"potential": sp.Function("tip")(x)}, "the definition tip is a function of the time t"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_once(changes, message):
    with pytest.raises(ModelError) as caught:
        cart(**changes)
    told = [fault for fault in caught.value.faults if message in fault]
    assert len(told) == 1, caught.value.faults


def test_faults_come_together_and_without_consequences():
    with pytest.raises(ModelError) as caught:
        cart(
            definitions={"tip": "x + nowhere", "one": "two", "two": "one + x", "sin": "x"},
            constraints={"c": "one' = tip'", "stop": "two >= 0"},
            outputs={"o": "tip + one''"},
        )
    assert len(caught.value.faults) == 3, caught.value.faults


def test_a_document_tells_the_same():
    with pytest.raises(DocumentError) as caught:
        da.loads(da.dumps(cart()).replace("[definitions]", "[definition]"))
    assert any("unknown entry 'definition'. Did you mean 'definitions'?" in fault for fault in caught.value.faults)
    assert len(caught.value.faults) == 1
    particles = '[[particles]]\nname = "p"\nmass = 1\nposition = ["x", "a"]\n[definitions]\ntip = "x"'
    with pytest.raises(DocumentError, match=r"\[definitions\]: positions of particles"):
        da.loads(f'name = "p"\ncoordinates = ["x", "a"]\n{particles}')


def test_functions_without_an_expression_may_stand_in_them():
    system = cart(definitions={tip: x + sp.Function("g")(da.t)})
    assert system.functions == ("g",)
    put = system.replace(functions={"g": sp.sin(da.t)})
    assert put.definitions["tip"] == x + sp.sin(da.t)
    assert put.expanded.kinetic.has(sp.cos(da.t))


def test_circles_and_order_of_many():
    """No recursion: a chain may be long. Each circle is told once."""
    names = [f"d{k}" for k in range(3000)]
    chain = {name: da.definitions(names[k - 1])[0] + x if k else x + l for k, name in reversed([*enumerate(names)])}
    ordered, circles = in_order(chain)
    assert (list(ordered), circles) == (names, [])
    ring = {**chain, "d0": da.definitions("d2999")[0] + x}
    assert [len(circle) for circle in in_order(ring)[1]] == [3000]


def test_definitions_too_long_to_write_out_are_told():
    """Each is made of the one before it three times: 3^24 terms, which `classify` and others never came through."""
    names = [f"d{k}" for k in range(25)]
    values = {"d0": "x"} | {b: f"sin({a})*{a} + cos({a})" for a, b in pairwise(names)}
    system = da.System("nest", coordinates="x", kinetic="x'^2/2", potential="d24", definitions=values,
                       initial={"x": 0.3, "x'": 0})  # fmt: skip
    with pytest.raises(ModelError, match=r"'d24' has more than 2e\+06 terms"):
        system.classify()
    d, slope = 0.3, 1.0
    for _ in range(24):
        d, slope = math.sin(d) * d + math.cos(d), d * math.cos(d) * slope
    # Numbers need nothing written out. One rounding for each of a hundred operations.
    assert system.at().acceleration[0] == pytest.approx(-slope, rel=1e-13)
