"""Functions without an expression in text: declared in documents as `functions = ["g(t)"]`, put in by `replace`."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.model.documents.document import loads
from dalembert.model.documents.write_document import dumps

x, y, z = da.coordinates("x y z")
F, G, V = sp.Function("F"), sp.Function("G"), sp.Function("V")

DOCUMENT = """
name = "Appell's particle as given"
coordinates = ["x", "y", "z"]
functions = ["G(t)", "F(x, y, z, t)"]
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
[forces]
x = "F(x, y, z, t)"
[[constraints]]
name = "cone"
equation = "x'^2 + y'^2 - z'^2 = 2*G(t)"
[initial]
x = 0
y = 0
z = 0
"x'" = 1
"y'" = 0
"z'" = 1
"""


def given(**parts) -> da.System:
    return da.System("given", coordinates=[x], kinetic=x.d**2 / 2, **parts)


def test_a_document_has_the_same_functions_as_sympy():
    read = loads(DOCUMENT)
    written = da.System(
        read.name,
        coordinates=[x, y, z],
        kinetic=(x.d**2 + y.d**2 + z.d**2) / 2,
        forces={x: F(x, y, z, da.t)},
        constraints={"cone": x.d**2 + y.d**2 - z.d**2 - 2 * G(da.t)},
        initial=dict(read.initial),
    )
    assert read.functions == ("F", "G")
    assert read.constraints == written.constraints
    assert dict(read.forces) == dict(written.forces)
    assert read.equations().acceleration == written.equations().acceleration


@pytest.mark.parametrize(
    "potential",
    [
        V(x),
        V(2 * x) + V(x) ** 2,
        F(x, da.t) * x,
        V(x).diff(x),
        V(x).diff(x, 3) + V(F(x, da.t)),
        V(x).diff(x, 4),
        2 * F(x, da.t).diff(x) ** 2 - F(x, da.t).diff(x, da.t),
        F(2 * x, x).diff(x),
    ],
)
def test_what_is_saved_is_read_back(potential):
    system = given(potential=potential)
    again = loads(dumps(system))
    assert again.potential == system.potential
    assert again.functions == system.functions


@pytest.mark.parametrize(
    ("potential", "told"),
    [
        (sp.Function("P", positive=True)(x), "that P is positive"),
    ],
)
def test_what_text_cannot_say_is_not_saved(potential, told):
    with pytest.raises(da.ModelError, match=f"a document cannot hold {told};"):
        dumps(given(potential=potential))


def test_the_rate_of_a_function_is_saved():
    """By partial derivatives, ∂F/∂t + x' ∂F/∂x, for which there is a word of its own."""
    system = loads(DOCUMENT.replace("= 2*G(t)", "= rate(F(x, y, z, t))"))
    again = loads(dumps(system))
    assert again.constraints == system.constraints
    # F = x t: rate(F) = x' t + x
    found = again.replace(functions={"F": "x*t"}).constraints[0].expression
    assert sp.expand(found - (x.d**2 + y.d**2 - z.d**2 - x.d * da.t - x)) == 0


def test_text_among_changes_knows_the_functions():
    system = loads(DOCUMENT)
    changed = system.replace(constraints={"line": "x' = G(t) + G'(t)"})
    assert changed.constraints[0].expression == given(functions=["G(t)"], forces={x: "x' - G(t) - G'(t)"}).forces[x]
    assert system.replace(functions={"G": "sin(t)", "F": "x*G(t)"}).functions == ("G",)
    # a name that is a parameter now is no function any more
    plain = system.replace(constraints={"line": "x' = G"}, parameters={"G": 2})
    assert plain.functions == ("F",)


def test_numbers_need_an_expression():
    with pytest.raises(da.MissingValues, match=r"F\(x, y, z, t\), G\(t\): numbers need one(?s:.*)or write it"):
        loads(DOCUMENT).at()
    # G of slope 1 and no force: α ġ q̇/(q̇·q̇) along (ẋ, ẏ, −ż)
    now = loads(DOCUMENT).replace(functions={"G": "t", "F": 0}).at()
    np.testing.assert_allclose(now.acceleration, [0.5, 0, -0.5], atol=1e-14)


@pytest.mark.parametrize(
    ("functions", "told"),
    [
        ("g(t)", "a list such as"),
        ({"g": "t"}, "a list such as"),
        (["g"], r"as in 'F\(x, y\)', is wanted, got 'g'"),
        (["g()"], r"is wanted, got 'g\(\)'"),
        (["g(2)"], r"is wanted, got 'g\(2\)'"),
        ([3], "is wanted, got 3"),
        (["sin(t)"], "'sin' is a coordinate, a parameter or a word"),
        (["rate(t)"], "'rate' is a coordinate, a parameter or a word"),
        (["partial(t)"], "'partial' is a coordinate, a parameter or a word"),
        (["x(t)"], "'x' is a coordinate, a parameter or a word"),
        (["g(t)", "g(x)"], "'g' is given twice"),
        (["_g(t)"], "'_g' is no name"),
    ],
)
def test_bad_declarations_are_told(functions, told):
    with pytest.raises(da.ModelError, match=told):
        given(functions=functions)


@pytest.mark.parametrize(
    ("force", "told"),
    [
        ("G", r"'G' is a function and needs an argument"),
        ("G(x, t)", "G takes 1 argument, got 2"),
        ("F(x)", "F takes 2 arguments, got 1"),
        ("F'(x, t)", "primes are for functions of one argument; F has 2"),
        ("partial(F(x, t), 3)", r"partial takes a function without an expression and the numbers"),
        ("partial(F(x, t), x)", r"as in partial\(F\(x, y\), 2\)"),
        ("partial(F(x, t))", "partial takes"),
        ("partial(x, 1)", "partial takes"),
        ("partial()", "partial takes"),
        ("g(t)", r"function 'g' is not allowed\. Did you mean 'G'"),
    ],
)
def test_bad_applications_are_told(force, told):
    with pytest.raises(da.ModelError, match=told):
        given(functions=["G(t)", "F(x, t)"], forces={x: force})


# -- particles


def bead_on_a_wire() -> da.Particles:
    bead = da.Particle("bead", mass="m", position=(x, V(x)), force=(0, "-m*g"))
    return da.Particles(
        "wire",
        coordinates=[x],
        particles=[bead],
        constraints={"wire": bead.y - V(bead.x)},
        parameters={"m": 1, "g": 9.81},
        initial={x: 0.5, x.d: 1},
    )


def test_particles_with_functions_are_saved_and_specified():
    wire = bead_on_a_wire()
    again = loads(dumps(wire.system)).particles
    for particles in (wire, again):
        parabola = particles.replace(functions={"V": lambda s: s**2}, parameters={"m": 2})
        by_system = particles.system.replace(functions={"V": lambda s: s**2}, parameters={"m": 2})
        for system in (parabola.system, by_system):
            freed = da.liberate(system.particles)
            # on y = x² at x = 1/2, ẋ = 1: R_y = m(ẋ² y″ + g)/(1 + y′²), along (−y′, 1)
            normal = 2 * (2 + 9.81) / 2
            np.testing.assert_allclose(freed.reactions(system.at())["bead"], [-normal, normal], rtol=1e-12)


def test_particles_are_replaced_as_systems_are():
    wire = bead_on_a_wire()
    heavy = wire.replace(parameters={"m": 3})
    assert [float(heavy.parameters[p]) for p in da.parameters("m g")] == [3, 9.81]
    with pytest.raises(TypeError, match="Particles has no part 'mass'"):
        wire.replace(mass=2)
    with pytest.raises(da.ModelError, match="the model has no function 'W'"):
        wire.replace(functions={"W": 1})


def test_a_function_of_sympy_cannot_take_a_word_of_the_language():
    with pytest.raises(da.ModelError, match="the name rate has a meaning of its own"):
        given(potential=sp.Function("rate")(da.t) * x)
