"""The family of results: what a public call answers can be read, shown, written and, where it makes sense, drawn."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import dalembert as da
from dalembert.library import Orbit, OrbitFigure
from dalembert.mechanics.principles import FORMS, Principle, formulation
from dalembert.results import Page, Result, Table, item_named, plain_values

PENDULUM = da.library.pendulum()


def ball() -> da.System:
    return da.System("ball", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="10*y")


def written(form: str) -> da.Equations:
    """The equations of what the form applies to: a mass on a spring, or a free particle in polar coordinates."""
    spring = da.System(
        "spring", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="x^2", constraints={"c": "y=x"}
    )
    polar = da.System("polar", coordinates="r theta", kinetic="(r'^2 + r^2*theta'^2)/2")
    return (polar if form in ("routh", "hertz") else spring).equations(form)


@cache
def swing() -> da.Motion:
    return PENDULUM.simulate(0.5, samples=11)


@cache
def vakonomic() -> da.VakonomicMotion:
    return da.library.skater().vakonomic(0.2, samples=5, rtol=1e-8)


@cache
def bounce() -> da.Motion:
    return da.library.bouncing_ball().simulate(1.0, samples=5)


# One of each class that a public call answers with.
def lattice() -> da.System:
    """Large enough to be taken as one."""
    q = [f"x{k}" for k in range(64)]
    return da.System(
        "lattice",
        coordinates=q,
        kinetic=" + ".join(f"{x}'^2/2" for x in q),
        potential=" + ".join(f"({x} - {y})^2/2" for x, y in pairwise(q)),
        initial={"x0": 0.1} | dict.fromkeys(q[1:], 0) | {f"{x}'": 0 for x in q},
    )


RESULTS: dict[str, Callable[[], Any]] = {
    "Certificate": lambda: swing().certificate,
    "Classification": PENDULUM.classify,
    "ClosedForm": lambda: da.library.closed_form("penny"),
    "Comparison": lambda: PENDULUM.compare(["lagrange", "maupertuis"], states=1),
    "Conservation": lambda: one("Classification").conservation,
    "Conserved": lambda: one("Classification").conservation.quantities[0],
    "Displacements": PENDULUM.displacements,
    "Ensemble": lambda: PENDULUM.sweep({"l": [0.5, 1.0]}, 0.1),
    "Equilibria": lambda: PENDULUM.equilibrium(),
    "Equilibrium": lambda: one("Equilibria")[0],
    "Fundamental": lambda: da.fundamental(np.eye(2), [0, -9.81], [[1, 1]], [0]),
    "GaussPicture": lambda: PENDULUM.at().gauss_picture(),
    "Impact": lambda: bounce().blows[0],
    "Instant": PENDULUM.at,
    "Kind": lambda: one("Classification").constraints[0],
    "LargeRun": lambda: one("PreparedLarge").run(),
    "Liberation": lambda: da.liberate(da.library.liberated_pendulum()),
    "Motion": swing,
    "Orbit": lambda: Orbit(1.0, 2.0),
    "OrbitFigure": lambda: OrbitFigure(2, "a", (Orbit(1.0, 2.0),), (da.library.penny().simulate(1, samples=5),)),
    "Parting": lambda: vakonomic().against(),
    "Passage": lambda: ball().between({"x": 0, "y": 0}, {"x": 4, "y": 0}, 2),
    "Path": lambda: ball().path({"x": 0, "y": 0}, {"x": 4, "y": 0}, energy=50, samples=11),
    "Prepared": lambda: PENDULUM.prepare(0.5, samples=11),
    "PreparedLarge": lambda: lattice().prepare(0.1, samples=3),
    "Range": lambda: da.Range("alpha", (0.0, 1.0), ((0.0, 0.29),), (("end of search", "slips"),)),
    "ReducedSystem": lambda: PENDULUM.reduce(),
    "Run": lambda: one("Prepared").run(),
    "Steps": lambda: one("Liberation").steps,
    "Trace": lambda: swing().trace("x", "y"),
    "VakonomicMotion": vakonomic,
}
EQUATIONS = {f"equations {form}": lambda form=form: written(form) for form in FORMS}
FAMILY = {**RESULTS, **EQUATIONS}
TABLES = ("Motion", "Passage", "Path", "Run", "Trace", "VakonomicMotion")
PANELS = {"Motion": 5, "Comparison": 1, "Parting": 4, "Trace": 2, "Path": 2, "Passage": 2, "VakonomicMotion": 2}
PANELS |= {"Ensemble": 1, "Instant": 1, "GaussPicture": 1, "Orbit": 1, "OrbitFigure": 1}


@cache
def one(name: str) -> Any:
    return FAMILY[name]()


def subclasses(of: type) -> set[type]:
    return {of, *(deeper for child in of.__subclasses__() for deeper in subclasses(child))}


def test_every_class_of_the_family_is_looked_at():
    seen = {type(one(name)) for name in FAMILY}
    concrete = {kind for kind in subclasses(Result) if not inspect.isabstract(kind) and kind is not da.Equations}
    assert concrete - seen == set(), "add one of it to RESULTS"
    assert all(type(one(name)).__name__ == name for name in RESULTS)


def test_what_verbs_of_a_system_answer_is_of_the_family_and_exported():
    verbs = ("equations", "classify", "at", "between", "compare", "equilibrium", "displacements", "simulate", "prepare")
    for verb in (*verbs, "vakonomic", "path", "reduce"):
        name = inspect.signature(getattr(da.System, verb)).return_annotation
        assert name in da.__all__, f"System.{verb} answers {name}"
        assert name == "ReducedSystem" or issubclass(getattr(da, name), Result)


@pytest.mark.parametrize("name", FAMILY)
def test_it_can_be_read(name):
    result = one(name)
    assert str(result) == result.text()
    assert len(result.text()) > 10
    line = repr(result)
    assert line.startswith(f"<{type(result).__name__} ") or name == "ReducedSystem"
    assert "\n" not in line
    assert len(line) < 250, "a line to recognise it by, not all that is in it"
    assert "array(" not in result.text()
    assert "Matrix(" not in result.text()


@pytest.mark.parametrize("name", FAMILY)
def test_it_shows_itself_in_a_notebook(name):
    result = one(name)
    formulas = getattr(result, "_repr_latex_", lambda: None)()
    page = getattr(result, "_repr_html_", lambda: None)()
    # Notebooks take HTML where there is both: a result made of formulas must not hide them behind plain text.
    assert (formulas is None) != (page is None)
    if formulas is not None:
        assert formulas.startswith("$$")
        assert formulas.endswith("$$")
    if isinstance(result, Page):
        assert result.latex().startswith(r"\begin{align*}")
    if page is not None:
        assert page.startswith("<")


@pytest.mark.parametrize("name", FAMILY)
def test_it_is_written_in_plain_values(name):
    values = one(name).to_dict()
    text = json.dumps(values, allow_nan=False)  # raises where a value is of a kind that JSON has not
    assert json.loads(text) == values


@pytest.mark.parametrize("name", TABLES)
def test_columns_go_by_names_and_symbols(name):
    table = one(name)
    assert isinstance(table, Table)
    columns = table.columns()
    assert {len(column) for column in columns.values()} == {len(table.t)}
    for key in columns:
        np.testing.assert_array_equal(table[key], columns[key])
    np.testing.assert_array_equal(table[da.coordinates("x")[0]], columns["x"])
    with pytest.raises(KeyError, match=r"no column 'y0'.*There are: t, x"):
        table["y0"]


def test_every_result_with_a_picture_is_drawn():
    assert {name for name in RESULTS if hasattr(one(name), "plot")} == set(PANELS)


@pytest.mark.parametrize("name", PANELS)
def test_it_draws_into_given_axes(name):
    result = one(name)
    figure = Figure()
    axes = figure.subplots(PANELS[name], 1)
    assert result.plot(axes=axes) is figure
    assert all(panel.lines or panel.patches for panel in figure.axes)
    with pytest.raises(da.OutputError, match=f"has {PANELS[name]} panel"):
        result.plot(axes=Figure().subplots(3, 1))


def test_a_picture_shows_itself_without_a_backend(tmp_path):
    picture = one("Orbit").plot(tmp_path / "own.svg")
    assert (tmp_path / "own.svg").read_text().startswith("<?xml")
    assert picture._repr_png_().startswith(b"\x89PNG")


def test_ipython_takes_the_best_of_what_is_offered():
    formatters = pytest.importorskip("IPython.core.formatters")
    format_ = formatters.DisplayFormatter().format
    assert "image/png" in format_(one("Orbit").plot())[0]
    assert "text/html" in format_(swing())[0]
    shown = format_(one("equations fundamental"))[0]
    assert "text/latex" in shown
    assert "text/html" not in shown
    assert shown["text/plain"] == repr(one("equations fundamental"))


def test_a_result_of_formulas_in_text_is_escaped():
    class Sharp(Result):
        def text(self) -> str:
            return "a < b & c"

        def to_dict(self) -> dict[str, Any]:
            return {}

    assert Sharp()._repr_html_() == "<pre>a &lt; b &amp; c</pre>"
    assert repr(Sharp()) == "<Sharp a < b & c>"


def test_unknown_names_are_told_with_the_nearest():
    with pytest.raises(KeyError, match=r"no row 'lagrang' here. Did you mean 'lagrange'"):
        one("Comparison")["lagrang"]
    with pytest.raises(KeyError, match=r"no coordinate 'z' here. There are: x, y"):
        one("Equilibrium")["z"]
    with pytest.raises(KeyError, match=r"no constraint 'rode' here. Did you mean 'rod'"):
        one("Displacements")["rode"]
    with pytest.raises(KeyError, match="There are: a, b"):
        item_named({"a": 1}, "q", "thing", more=["b"])


def test_plain_values_are_those_of_json():
    given = {"a": np.array([1.0, np.nan]), 2: (np.int64(3), np.bool_(True)), "x": da.t, "none": None, "inf": np.inf}
    assert plain_values(given) == {"a": [1.0, None], "2": [3, True], "x": "t", "none": None, "inf": None}


def test_a_certificate_with_a_measure_that_is_no_number_still_fails_after_a_file():
    from dataclasses import replace

    broken = replace(swing().certificate, energy=float("nan"), holds=False)
    again = da.Certificate.from_dict(json.loads(json.dumps(broken.to_dict(), allow_nan=False)))
    assert again.failures == ("energy",)


# -- signatures


def test_public_methods_show_their_options():
    """No `**options`: what may be typed is in the signature. `**unknown: Never` turns misspelt names into messages."""
    classes = [da.System, da.Particles, *(type(one(name)) for name in RESULTS)]
    for kind in classes:
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith("_") or not method.__module__.startswith("dalembert"):
                continue
            for parameter in inspect.signature(method).parameters.values():
                hidden = parameter.kind is parameter.VAR_KEYWORD and parameter.annotation != "Never"
                assert not hidden, f"{kind.__name__}.{name}"


def test_replace_takes_every_part_of_a_system():
    for kind in (da.System, da.Particles):
        parts = set(inspect.signature(kind.__init__).parameters) - {"self", "functions", "unknown"}
        assert set(inspect.signature(kind.replace).parameters) - {"self", "functions", "unknown"} == parts
    with pytest.raises(TypeError, match=r"a System has no part 'kinetc'. Did you mean 'kinetic'\?"):
        PENDULUM.replace(kinetc="x")
    with pytest.raises(TypeError, match="a System has no part 'solver'; its parts are name, coordinates, kinetic"):
        PENDULUM.replace(solver="x")


def test_misspelt_parts_of_a_new_model_are_told():
    with pytest.raises(TypeError, match=r"a System has no part 'constraint'. Did you mean 'constraints'\?"):
        da.System("p", coordinates="x", kinetic="x'^2", constraint={"c": "x = 0"})
    with pytest.raises(TypeError, match=r"Particles has no part 'potentials'. Did you mean 'potential'\?"):
        da.Particles("p", coordinates="x", particles=[], potentials="x")


def test_options_of_a_simulation_are_the_same_wherever_they_are_listed():
    options = dict(inspect.signature(da.System.simulate).parameters)
    for name in ("duration", "unknown"):
        del options[name]
    assert list(inspect.signature(da.Passage.motion).parameters.items()) == list(options.items())
    assert set(inspect.signature(da.System.sweep).parameters) >= set(options)
    del options["progress"]
    assert set(inspect.signature(da.System.prepare).parameters) - {"duration", "unknown"} == set(options)


def test_forms_are_principles():
    first, *others = FORMS  # the first is what the others are compared with, and has no numbers of its own
    assert first == "fundamental"
    assert all(isinstance(formulation(PENDULUM, form), Principle) for form in others)
    assert ", ".join(f'"{form}"' for form in others) in " ".join(inspect.getdoc(da.System.equations).split())


def test_only_our_names_are_listed():
    assert set(dir(da)) == {*da.__all__, "__version__"}
    with pytest.raises(AttributeError, match="Did you mean 'System'"):
        _ = da.Sistem


def test_columns_side_by_side_and_short_messages():
    """Of every table, not of motions alone; a system of many coordinates does not fill pages with its names."""
    run = PENDULUM.prepare(0.1, samples=3).run()
    assert run[["x", "y'"]].tolist() == [[x, w] for x, w in zip(run["x"], run["y'"], strict=True)]
    assert run[[]].shape == (3, 0)
    with pytest.raises(KeyError, match=r"There are: c0, .* c59, … \(200 in all\)"):
        item_named({f"c{k}": k for k in range(200)}, "q", "column")


def test_a_time_that_is_none_is_told():
    motion = PENDULUM.simulate(0.1, samples=3)
    with pytest.raises(da.ModelError, match="t is a time or several, got 'soon'"):
        motion("soon")
