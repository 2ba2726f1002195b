"""Functions without an expression in a model: where they may stand, how they are read, what is put in their place."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.errors import MissingValues, ModelError
from dalembert.model.language.functions import given_back

x, y = da.coordinates("x y")
m, k = da.parameters("m k")
s = sp.Symbol("s")
g, F, V = (sp.Function(name) for name in ("g", "F", "V"))
BASE = {"coordinates": [x, y], "kinetic": (x.d**2 + y.d**2) / 2}
STATE = {x: 1, y: 0, x.d: 0, y.d: 0.5}


def faults(**parts) -> list[str]:
    with pytest.raises(ModelError) as caught:
        da.System("test", **{**BASE, **parts})
    return list(caught.value.faults)


@pytest.mark.parametrize(
    "parts",
    [
        {"kinetic": g(da.t) * x.d**2 + y.d**2},
        {"potential": g(x, da.t)},
        {"kinetic": None, "lagrangian": x.d**2 + y.d**2 + g(x.d)},
        {"kinetic": None, "mass": [[g(da.t), 0], [0, 1]]},
        {"forces": {x: g(x, x.d, da.t)}},
        {"constraints": {"c": x - g(da.t)}},
        {"constraints": {"c": sp.Eq(x.d, g(da.t) * y.d)}},
        {"constraints": {"c": sp.Ge(x, g(da.t))}},
        {"constraints": {"c": x.dd - g(x)}},
        {"constraints": {"c": x}, "nonideal": [da.Work({y: g(y.d)}, "c")]},
        {"constraints": {"c": x}, "nonideal": [da.Coulomb("c", mu=g(da.t))]},
        {"constraints": {"c": x}, "nonideal": [da.Viscous("c", g(y), point=(x, y))]},
        {"events": {"e": x - g(da.t)}},
        {"potential": x * sp.sin(g(2 * x)) + sp.Piecewise((1, g(x) > 0), (x, True))},
    ],
)
def test_every_part_of_a_model_takes_them(parts):
    system = da.System("test", **{**BASE, **parts})
    assert system.functions == ("g",)
    again = pickle.loads(pickle.dumps(system))
    assert again.structure == system.structure


@pytest.mark.parametrize(
    ("where", "parts"),
    [
        (
            "constraint 'c', restitution",
            {"constraints": [da.Constraint("c", x >= 0, restitution=g(da.t))]},
        ),
        ("initial x", {"initial": {x: g(da.t)}}),
        ("parameter m", {"parameters": {m: g(da.t)}}),
    ],
)
def test_values_cannot_be_functions(where, parts):
    (fault,) = faults(**parts)
    assert fault.startswith(f"{where}: the function g(t) has no expression")


def test_names_mean_one_thing():
    assert faults(parameters={"g": 1}, potential=g(da.t) * x) == [
        "potential: the function g(t): g is a parameter, which is constant; give the function another name"
    ]
    assert faults(potential=g(da.t) * sp.Symbol("g") * x) == ["g is a parameter and a function, g(t); rename one"]
    assert faults(potential=g(x) + g(x, y)) == ["the function g has different numbers of arguments: g(x), g(x, y)"]
    assert "different assumptions" in faults(potential=g(x) + sp.Function("g", positive=True)(y))[0]
    assert "meaning of its own" in faults(potential=sp.Function("sin")(x))[0]
    assert "letters, digits" in faults(potential=sp.Function("g 1")(x))[0]
    assert faults(parameters={g(da.t): 1})[0].startswith("parameter g(t): a parameter is a constant")


def test_a_coordinate_of_another_time():
    (fault,) = faults(potential=sp.Function("x")(s))
    assert fault == "potential: x(s): the coordinate x is a function of the time t; write x(t)"
    assert faults(initial={sp.Function("x")(s): 1})[0].startswith("initial: 'x(s)' is neither")


def test_a_derivative_that_is_not_carried_out():
    """With coordinates as symbols its value would be zero."""
    for derivative in (sp.Derivative(sp.sin(x), da.t), sp.Derivative(g(x), da.t)):
        (fault,) = faults(forces={x: derivative})
        assert fault.startswith(f"forces x: {derivative} is not carried out")


# -- derivatives


def adopted(expression: sp.Expr) -> sp.Expr:
    """As a model reads it."""
    return da.System("test", **BASE, forces={x: expression}).forces[x]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (g(da.t), "g(t)"),
        (g(da.t).diff(da.t), "g'(t)"),
        (g(x).diff(x, 3), "g'''(x)"),
        (g(x).diff(x, 4), "g^(4)(x)"),
        (F(x, y).diff(x), "∂F/∂x"),
        (F(x, y).diff(x, x, y), "∂³F/∂x²∂y"),
        (2 / F(x, y).diff(y), "2/(∂F/∂y)"),
        (g(2 * x).diff(x), "2*g'(2*x)"),
        (F(x**2, y).diff(y), "∂₂F(x**2, y)"),
        (sp.Derivative(g(x), x), "g'(x)"),
    ],
)
def test_derivatives_are_read_and_given_back(given, text):
    found = adopted(given)
    assert str(found) == text
    assert sp.simplify(given_back(found) - given) == 0


def test_the_chain_rule():
    """Differentiated here and by SymPy, then written out: F = sin(u) v², u = x y, v = x + s."""
    (s,) = da.parameters("s")
    function = adopted(F(x * y, x + s))
    native = F(x * y, x + s)

    def written_out(e: sp.Expr) -> sp.Expr:
        return e.replace(F, lambda u, v: sp.sin(u) * v**2).doit()

    direct = sp.sin(x * y) * (x + s) ** 2
    for symbols in ((x,), (y, y), (x, s), (x, y, x)):
        ours = given_back(sp.diff(function, *symbols))
        assert sp.expand(written_out(ours) - sp.diff(direct, *symbols)) == 0
        assert sp.expand(written_out(sp.diff(native, *symbols)) - sp.diff(direct, *symbols)) == 0


def test_a_total_derivative_of_dynamicsymbols():
    """d/dt F(x(t), t) holds ẋ."""
    q = dynamicsymbols("x")
    time = dynamicsymbols._t
    for derivative in (F(q, time).diff(time), sp.Derivative(F(q, time), time)):
        found = given_back(adopted(derivative)).doit()
        assert sp.expand(found - F(x, da.t).diff(x) * x.d - F(x, da.t).diff(da.t)) == 0


def test_a_derivative_by_time_that_is_given_back_takes_an_expression():
    """∂F/∂t with F = x sin 2t put in: by t itself SymPy's derivative would take x for a constant, and is refused."""
    found = given_back(adopted(sp.Derivative(F(x, da.t), da.t)))
    assert found.replace(F, lambda u, v: u * sp.sin(2 * v)).doit() == 2 * x * sp.cos(2 * da.t)


def test_dynamicsymbols_of_coordinates_go_on_working():
    """A forced oscillator q″ = −q + cos 2t from rest at 0: q = (cos t − cos 2t)/3."""
    q = dynamicsymbols("q")
    time = dynamicsymbols._t
    system = da.System(
        "oscillator",
        coordinates=[q],
        kinetic=q.diff(time) ** 2 / 2,
        potential=q**2 / 2,
        forces={q: sp.cos(2 * time)},
        initial={q: 0, q.diff(time): 0},
        events={"top": q.diff(time)},
    )
    motion = system.simulate(3.0, rtol=1e-10)
    # The error asked for, with room for its growth over three units of time.
    assert np.allclose(motion[q], (np.cos(motion.t) - np.cos(2 * motion.t)) / 3, atol=1e-8)


# -- numbers

DRIVEN = da.System("driven", **BASE, potential=V(x), constraints={"c": y - g(da.t)}, initial=STATE)
RESTING = da.System("resting", **BASE, potential=V(x) + y**2, initial=STATE)  # statics and paths want no time in it
VERBS = {
    "at": lambda: DRIVEN.at(),
    "simulate": lambda: DRIVEN.simulate(1),
    "equilibrium": lambda: RESTING.equilibrium(),
    "compare": lambda: DRIVEN.compare(),
    "consistent": lambda: DRIVEN.consistent(),
    "displacements": lambda: DRIVEN.displacements(),
    "vakonomic": lambda: DRIVEN.vakonomic(1),
    "between": lambda: DRIVEN.between({x: 1, y: 0}, {x: 0, y: 1}, 1.0),
    "path": lambda: RESTING.path({x: 1, y: 0}, {x: 0, y: 1}, energy=3.0),
    "parameters": lambda: DRIVEN.parameter_values(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_numbers_need_expressions(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingValues) as caught:
        VERBS[verb]()
    text = str(caught.value)
    if text.startswith("resting"):
        told = "no expression for V(x): numbers need one; use system.replace(functions={'V': …}), or write it in the"
        assert text == f"resting: {told} place of the function."
    else:
        assert "no expression for V(x), g(t): numbers need one; use system.replace(functions={'V': …, 'g': …})" in text
        assert "If g is a coordinate, list it among the coordinates" in text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "given",
    [
        {V: x**2 * k},
        {"V": x**2 * k},
        {"V": "k*x^2"},
        {V(s): s**2 * k},
        {V: sp.Lambda(s, s**2 * k)},
        {V: lambda u: u**2 * k},
    ],
)
def test_ways_to_give_an_expression(given):
    system = da.System("test", **BASE, potential=V(x) + V(x).diff(x), parameters={k: 3})
    assert sp.expand(system.replace(functions=given).potential - k * x**2 - 2 * k * x) == 0


def test_functions_of_several_arguments_and_of_others():
    system = da.System("test", **BASE, potential=F(x, y) + F(y, 2 * x), forces={x: F(x, y).diff(x, y)})
    found = system.replace(functions={F: lambda a, b: a**2 * sp.sin(b)})
    assert found.potential == x**2 * sp.sin(y) + y**2 * sp.sin(2 * x)
    assert found.forces[x] == 2 * x * sp.cos(y)
    # Others stay, and one may be put into another.
    nested = system.replace(potential=g(V(x)), forces={}).replace(functions={V: 2 * x})
    assert nested.functions == ("g",)
    assert str(nested.potential) == "g(2*x)"
    assert str(nested.replace(functions={g: V}).potential) == "V(2*x)"
    # A function of functions of itself is put in once.
    assert str(system.replace(potential=g(x), forces={}).replace(functions={g: 2 * g(x)}).potential) == "2*g(x)"
    assert nested.replace(functions={g: lambda u: m * u}, parameters={m: 4}).potential == 2 * m * x


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (7, "a mapping such as"),
        ({"W": 1}, "no function 'W'"),
        ({3: 1}, "or its name is wanted, got 3"),
        ({V: y}, "holds y, no argument of it"),
        ({V: da.t}, "holds t, no argument of it"),
        ({V: x.d}, "holds x', no argument of it"),
        ({V: lambda a, b: a}, "cannot be called with one argument"),
        ({V: sp.Lambda((x, y), x)}, "cannot be called with one argument"),
        ({V: math.sin}, "use SymPy's sin"),
        ({V: "x +"}, "not a complete expression"),
        ({V: "__import__('os')"}, "functions: V"),
        ({V: lambda u: "u"}, "returns 'u'"),
        ({V: True}, "is wanted, got True"),
        ({V: None}, "is wanted, got None"),
        ({V: sp.Matrix([1])}, "is wanted, got Matrix"),
        ({V: sp.oo}, "NaN, infinity"),
        ({V: sp.Derivative(sp.sin(x), x)}, "not carried out"),
        ({V(x, y): x}, "name each by a symbol"),
        ({V(2 * x): x}, "name each by a symbol"),
        ({V: x, "V": x}, "given twice"),
    ],
)
def test_bad_functions_get_one_message(given, words):
    system = da.System("test", **BASE, potential=V(x))
    with pytest.raises(ModelError) as caught:
        system.replace(functions=given)
    (fault,) = caught.value.faults
    assert words in fault


def test_an_expression_needs_arguments_of_its_own():
    system = da.System("test", **BASE, forces={x: -V(x.d) * x.d, y: -V(y.d) * y.d})
    with pytest.raises(ModelError, match=r"V is applied as V\(x'\), V\(y'\)"):
        system.replace(functions={V: x.d**2})
    assert system.replace(functions={V: 2}).forces == {x: -2 * x.d, y: -2 * y.d}


def test_where_there_are_none():
    with pytest.raises(ModelError, match=r"no function 'g'\. The model has none"):
        da.library.pendulum().replace(functions={"g": 1})


# -- what else is given in the wrong shape


@pytest.mark.parametrize("key", ["parameters", "initial", "settings"])
def test_a_list_for_a_mapping(key):
    (fault,) = faults(**{key: [1, 2]})
    assert fault.startswith(f"{key}: a mapping such as")
    with pytest.raises(ModelError, match=f"{key}: a mapping such as"):
        da.library.pendulum().replace(**{key: [1, 2]})


def test_a_matrix_for_an_expression():
    assert "a scalar expression is wanted" in faults(potential=sp.Matrix([x]))[0]


def test_later_parts_take_them_too():
    system = da.System("test", **BASE, initial=STATE)
    with pytest.raises(MissingValues, match=r"no expression for g\(t\)"):
        system.simulate(1, events={"e": x - g(da.t)})
    assert "g = g(t)" in str(system.equations("kane", quasi_velocities={"u": x.d * g(da.t), "w": y.d}))
    with pytest.raises(ModelError, match=r"initial x: the function g\(t\)"):
        system.at({x: g(da.t)})
