"""Drawings: read as the rest of a model is, kept, written, and of no influence on anything else."""

from __future__ import annotations

import pickle

import pytest
import sympy as sp

import dalembert as da
from dalembert.model.drawings.colours import colour_of
from dalembert.model.drawings.shapes import SHAPES

x, y = da.coordinates("x y")
(l,) = da.parameters("l")


def pendulum(*draw: object, **more: object) -> da.System:
    return da.System(
        "pendulum",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"rod": x**2 + y**2 - l**2},
        parameters={l: 1},
        initial={x: 1, y: 0, x.d: 0, y.d: 0},
        draw=draw,
        **more,
    )


def one_of_each() -> list[object]:
    return [
        da.Point(("x", "y"), "l/9", label="bob", color="red"),
        da.Sphere((x, y, 0), l / 3, rotation=(1, 0, 0, "t")),
        da.Disk((0, 0), 1, "x/l", hollow=True, opacity=0.5),
        da.Box(("x", "y"), ("l", "2*l"), "t", axis=(0, 0, 1)),
        da.Rod((0, 0), ("x", "y"), width="l/20", color="#00aaFF"),
        da.Spring((0, 0), ("x", "y"), coils=7),
        da.Trace(("x", "y"), 2),
        da.Plane((0, 0), (0, 1)),
        da.Curve(("l*cos(s)", "l*sin(s)"), over=("s", 0, "2*pi"), angle="t"),
        da.Curve([(0, 0), ("l", 0), ("l", "l")]),
        da.Mesh(vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]], at=("x", "y", 0)),
        da.Arrow(("x", "y"), ("ideal(x)", "multiplier(rod)"), "ideal"),
        da.Arrow(("x", "y"), force="impressed", of="x y"),
    ]


def test_text_and_expressions_mean_the_same():
    text, own = pendulum(da.Rod(("0", 0), ("x", "y - l"))), pendulum(da.Rod((0, 0), (x, y - l)))
    assert text.draw == own.draw
    assert text.draw[0].b == (x, y - l)


def test_a_document_has_every_shape():
    system = pendulum(*one_of_each())
    assert {shape.name for shape in system.draw} == set(SHAPES)
    text = da.dumps(system)
    again = da.loads(text)
    assert again.draw == system.draw
    assert da.dumps(again) == text
    assert 'kind = "rod"' in text
    assert "from = [" in text


@pytest.mark.parametrize("name", ["penny", "stick_slip", "satellite_pair", "rotating_hoop_bead"])
def test_drawings_of_the_library_come_back_from_documents(name):
    system = da.library.get(name)
    assert da.loads(da.dumps(system)).draw == system.draw


def test_it_influences_nothing_else():
    drawn, bare = pendulum(*one_of_each()), pendulum()
    assert drawn.structure == bare.structure
    assert hash(drawn.structure) == hash(bare.structure)
    assert drawn.parameter_symbols == bare.parameter_symbols
    assert bare.draw == ()


def test_it_stays_where_values_change_and_goes_where_coordinates_do():
    system = pendulum(da.Rod((0, 0), ("x", "y")))
    assert system.replace(parameters={"l": 2}, initial={"x": 2}).draw is system.draw
    assert system.replace(potential="9*y").draw is system.draw  # no expression is read again
    assert system.replace(draw=[]).draw == ()
    assert system.replace(draw=[da.Point(("x", 0))]).draw[0].at == (x, 0)
    assert pickle.loads(pickle.dumps(system)).draw == system.draw
    with_tip = pendulum(da.Point(("tip", 0)), definitions={"tip": "2*x"})
    assert with_tip.expanded.draw[0].at == (2 * x, 0)
    assert with_tip.replace(definitions={}).draw == ()  # it spoke of what is no longer there


def test_functions_that_are_given_are_put_into_it():
    g = sp.Function("g")
    ball = da.System("ball", coordinates=[x], kinetic=x.d**2 / 2, potential=g(da.t) * x, draw=[da.Point((x, 0))])
    assert ball.replace(functions={g: sp.sin(da.t)}).draw == ball.draw


def test_particles_keep_theirs():
    system = da.library.liberated_pendulum()
    assert system.particles is not None
    assert system.replace(parameters={"a": 2.0}).draw == system.draw
    again = da.loads(da.dumps(system))
    assert again.particles is not None
    assert again.draw == system.draw


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (da.Rod((0, 0), ("x", "yy")), "draw: rod 1: to.*yy"),
        (da.Rod((0, 0), ("x", "y", 0, 0)), "rod 1: to: a place of 2 or 3 components is wanted, got 4"),
        (da.Rod((0, 0), "x y"), "rod 1: to: a place of 2 or 3 components is wanted, got 'x y'"),
        (da.Point(("x", "__import__('os')")), "point 1: at"),
        (da.Point(("x", "y"), color="bleu"), "there is no colour 'bleu'. Did you mean 'blue'"),
        (da.Point(("x", "y"), color="#12345"), "'#12345' is no #rrggbb"),
        (da.Point(("x", "y"), label="a\nb"), "label: a line of text is wanted"),
        (da.Point(("x", "y"), opacity=2), "opacity: a number from 0 to 1 is wanted, got 2"),
        (da.Point(("multiplier(rot)", "y")), "'rot' is not a constraint. Did you mean 'rod'"),
        (da.Point(None), "at: a place of 2 or 3 components is wanted, got nothing"),
        (da.Spring((0, 0), (1, 0), coils=0), "coils: a positive whole number is wanted, got 0"),
        (da.Disk((0, 0), 1, hollow="yes"), "hollow: true or false is wanted"),
        (da.Arrow(("x", "y")), "give vector="),
        (da.Arrow(("x", "y"), force="idle"), "force: impressed, ideal or nonideal is wanted.*Did you mean 'ideal'"),
        (da.Arrow(("x", "y"), force="ideal", of="x z"), "'z' is not a coordinate"),
        (da.Curve([("x", 0), (1, 1)]), "a curve is fixed, so that x cannot stand in it"),
        (da.Curve([("l", 0)]), "two places or more are wanted"),
        (da.Curve(("s", 0), over=("s", 0)), "over: a variable with its limits"),
        (da.Mesh(), "give either a file, or vertices and faces"),
        (da.Mesh("body.step"), "read from .obj or .stl, got 'body.step'"),
        (da.Mesh(vertices=[[0, 0, 0]], faces=[[0, 0, 1]]), "numbers of vertices from 0 to 0"),
        (da.Box((0, 0), (1, 1), "t", rotation=(1, 0, 0, 0)), "by a quaternion, or by axis and angle, not by both"),
        ("rod", "da.Point.*is wanted, got 'rod'"),
    ],
)
def test_bad_shapes_get_one_clear_message(shape, message):
    with pytest.raises(da.ModelError, match=message) as told:
        pendulum(shape)
    assert len(told.value.faults) == 1


def test_a_list_is_wanted():
    with pytest.raises(da.ModelError, match="draw: a list of shapes such as"):
        pendulum().replace(draw=da.Point(("x", "y")))


DOCUMENT = """
name = "point"
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
[[draw]]
kind = "KIND"
KEY = ["0", "0"]
to = ["x", "0"]
"""


@pytest.mark.parametrize(
    ("kind", "key", "message"),
    [
        ("rodd", "from", "[[draw]] number 1: there is no kind 'rodd'. Did you mean 'rod'?"),
        ("rod", "fron", "[[draw]] number 1, rod: unknown entry 'fron'. Did you mean 'from'?"),
    ],
)
def test_bad_keys_of_documents(kind, key, message):
    with pytest.raises(da.DocumentError) as told:
        da.loads(DOCUMENT.replace("KIND", kind).replace("KEY", key))
    assert told.value.faults[0] == message
    good = da.loads(DOCUMENT.replace("KIND", "rod").replace("KEY", "from"))
    assert good.draw[0].b == (x, 0)


def test_colours():
    assert colour_of("Blue") == "#0072b2"
    assert colour_of("#ABCDEF") == "#abcdef"
    assert colour_of("") == ""
