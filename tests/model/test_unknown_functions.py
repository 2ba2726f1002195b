"""Functions without an expression are refused wherever a model takes one: they are no constants."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.errors import ModelError

x, y = da.coordinates("x y")
m = da.parameters("m")[0]
s = sp.Symbol("s")
g = sp.Function("g")
BASE = {"coordinates": [x, y], "kinetic": (x.d**2 + y.d**2) / 2}


def faults(**parts) -> list[str]:
    with pytest.raises(ModelError) as caught:
        da.System("test", **{**BASE, **parts})
    return list(caught.value.faults)


FUNCTIONS = {
    "g(t)": g(da.t),
    "g(x)": g(x),
    "g(s)": g(s),
    "g(x, t)": g(x, da.t),
    "g(x')": g(x.d),
    "g(2)": g(2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: x * sp.sin(f), lambda f: sp.Piecewise((1, f > 0), (x, True))])
def test_the_function_is_named_with_its_place(name, wrap):
    (fault,) = faults(lagrangian=wrap(FUNCTIONS[name]), kinetic=None)
    assert fault.startswith(f"lagrangian: the function {name} has no expression")
    assert "Write its expression in its place" in fault


@pytest.mark.parametrize(
    ("where", "parts"),
    [
        ("kinetic", {"kinetic": g(da.t) * x.d**2}),
        ("potential", {"potential": g(da.t)}),
        ("lagrangian", {"kinetic": None, "lagrangian": x.d**2 + g(da.t)}),
        ("mass[1][2]", {"kinetic": None, "mass": [[1, g(da.t)], [g(da.t), 1]]}),
        ("forces x", {"forces": {x: g(da.t)}}),
        ("constraint 'c'", {"constraints": {"c": x - g(da.t)}}),
        ("constraint 'c'", {"constraints": {"c": sp.Eq(x, g(da.t))}}),
        ("constraint 'c'", {"constraints": {"c": sp.Ge(x, g(da.t))}}),
        ("constraint 'c', restitution", {"constraints": [da.Constraint("c", x >= 0, restitution=g(da.t))]}),
        ("work y", {"constraints": {"c": x}, "nonideal": [da.Work({y: g(da.t)}, "c")]}),
        ("nonideal coulomb 'c', mu", {"constraints": {"c": x}, "nonideal": [da.Coulomb("c", mu=g(da.t))]}),
        (
            "nonideal coulomb 'c', point component 2",
            {"constraints": {"c": x}, "nonideal": [da.Coulomb("c", mu=1, point=(x, y + g(da.t)))]},
        ),
        ("event 'e'", {"events": {"e": x - g(da.t)}}),
        ("initial x", {"initial": {x: g(da.t)}}),
        ("parameter m", {"parameters": {m: g(da.t)}}),
    ],
)
def test_every_part_of_a_model_refuses_it(where, parts):
    found = faults(**parts)
    assert any(
        fault.startswith(f"{where}: the function g(t) has no expression and is no coordinate") for fault in found
    )
    assert all("(coordinates: x, y)" in fault for fault in found if "g(t)" in fault)


def test_derivatives_of_it_name_the_function():
    (fault,) = faults(potential=x * g(da.t).diff(da.t, 2))
    assert "the function g(t) has no expression" in fault
    (fault,) = faults(potential=x * sp.Derivative(g(x), x))
    assert "the function g(x) has no expression" in fault


def test_a_derivative_that_is_not_carried_out():
    """With coordinates as symbols its value would be zero."""
    (fault,) = faults(forces={x: sp.Derivative(sp.sin(x), da.t)})
    assert fault.startswith("forces x: Derivative(sin(x), t) is not carried out")


def test_a_coordinate_of_another_time():
    (fault,) = faults(potential=sp.Function("x")(s))
    assert fault == "potential: x(s): the coordinate x is a function of the time t; write x(t)"
    assert "coordinates: x(s): a coordinate is a function of the time t alone, or a symbol" in faults(
        coordinates=[sp.Function("x")(s), y], kinetic=y.d**2
    )
    assert faults(initial={sp.Function("x")(s): 1})[0].startswith("initial: 'x(s)' is neither")


def test_a_parameter_is_no_function():
    (fault,) = faults(parameters={"m": 1}, potential=dynamicsymbols("m") * x)
    assert "m is a parameter, which is constant" in fault
    assert faults(parameters={g(da.t): 1})[0].startswith("parameter g(t): a parameter is a constant")
    with pytest.raises(ModelError, match=r"g\(t\)"):
        da.System("test", **BASE).replace(parameters={g(da.t): 1})


def test_later_parts_refuse_it_too():
    system = da.System("test", **BASE, initial={x: 0, y: 0, x.d: 1, y.d: 0})
    with pytest.raises(ModelError, match=r"event 'e': the function g\(t\) has no expression"):
        system.simulate(1, events={"e": x - g(da.t)})
    with pytest.raises(ModelError, match=r"quasi-velocity 'u': the function g\(t\) has no expression"):
        system.equations("kane", quasi_velocities={"u": x.d * g(da.t), "w": y.d})
    with pytest.raises(ModelError, match=r"initial x: the function g\(t\)"):
        system.at({x: g(da.t)})


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
