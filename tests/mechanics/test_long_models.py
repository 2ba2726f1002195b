"""A bicycle and a rattleback: decided in seconds, equations by named parts that are the unabridged ones."""

from __future__ import annotations

import random
from importlib import import_module

import numpy as np
import pytest
import sympy as sp
from large_models import bicycle, rattleback

import dalembert as da
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.mechanics.classify.classify import classify
from dalembert.mechanics.principles import FORMS
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import standard_form

MODELS = {"bicycle": bicycle(), "rattleback": rattleback()}


def test_bicycle_is_nonholonomic_with_three_freedoms():
    # Meijaard et al. 2007: seven dimensions of accessible configurations, three degrees of freedom of velocity.
    found = classify(MODELS["bicycle"])
    assert found.holonomic is False
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (3, 7)
    assert [kind.integrable for kind in found.constraints] == [True, True, False, False, False, False]
    assert found.conservation.energy is True
    assert [quantity.name for quantity in found.conservation.quantities] == ["energy"]
    assert found.redundant == ()


def test_bicycle_that_cannot_lean_nor_steer_is_holonomic():
    # Held upright and straight it rolls along a line: one freedom, and its rolling conditions are integrable.
    held = {"upright": "roll", "straight": "steer", "heading": "yaw - 1/5"}
    given = {c.name: c.expression for c in MODELS["bicycle"].constraints}
    found = classify(MODELS["bicycle"].replace(constraints=given | held))
    assert found.holonomic is True
    assert found.configuration_freedoms == found.degrees_of_freedom == 1


def test_rattleback_and_its_vertical_rolling_condition():
    model = MODELS["rattleback"]
    found = classify(model)
    assert found.holonomic is False
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (3, 5)
    # The point of contact does not move down: that is the rate of the height, and so integrable though no one says so.
    height = next(c.expression for c in model.constraints if c.name == "touch")
    rate = sum(sp.diff(height, q) * q.d for q in model.coordinates)
    others = {c.name: c.expression for c in model.constraints if c.name != "touch"}
    rolling = classify(model.replace(constraints={"roll z": rate, **others}))
    assert [kind.integrable for kind in rolling.constraints] == [True, False, False]
    assert rolling.configuration_freedoms == 5


@pytest.mark.parametrize("name", MODELS)
def test_formulations_of_long_models_agree(name):
    found = MODELS[name].compare(["lagrange", "gauss", "appell", "kane", "hamilton"])
    assert found.agree
    assert all(row.applies for row in found.rows)


# -- equations ------------------------------------------------------------------------------------------------------


def at_random(system: da.System, entries: list[sp.Expr], parts=()) -> np.ndarray:
    """Values of expressions that hold named parts, at random values of everything else, in order of the parts."""
    defined = {symbol for symbol, _ in parts}
    symbols = sorted({s for e in (*entries, *(v for _, v in parts)) for s in e.free_symbols} - defined, key=str)
    known = {s: random.Random(f"{s}").uniform(0.2, 0.9) for s in symbols}
    return np.array(numeric_function(list(known), entries, parts)(*map(np.float64, known.values())))


def entries_of(found) -> list[sp.Expr]:
    lines = [line for section in found.sections if section.title != "where" for line in section.lines]
    return [entry for line in lines for entry in (line.left, *(term for _, term in line.terms))]


CASES = [("rattleback", form) for form in ("fundamental", "lagrange", "gauss", "vakonomic", "transposition")]
CASES += [("bicycle", "lagrange"), ("bicycle", "fundamental")]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_named_parts_are_the_unabridged_equations(name, form, monkeypatch):
    system, principle, derived = MODELS[name], import_module(FORMS[form]), []
    derive = principle.derive

    def keep(system):  # deriving takes seconds: what the page is made of is looked at, not derived again
        derived.append(derive(system))
        return derived[-1]

    monkeypatch.setattr(principle, "derive", keep)
    found = system.equations(form)
    (whole,) = derived
    assert found.parts
    assert not whole.parts
    abridged, exact = entries_of(found), entries_of(whole)
    assert len(abridged) == len(exact)
    a, b = at_random(system, abridged, found.parts), at_random(system, exact)
    # The same operations in another order: rounding of some thousands of them.
    assert np.all(np.abs(a - b) <= 1e-9 * np.maximum(1.0, np.abs(b)))


@pytest.mark.parametrize("form", ["appell", "kane"])
def test_quasi_velocities_by_parts_give_the_motion(form):
    system = MODELS["rattleback"]
    found = system.equations(form)
    sampler = Sampler(standard_form(system))
    state = sampler.states(1)[0]
    motion = sampler.motion(state)
    known = dict(
        zip((*sampler.arguments, *system.accelerations), (*state.arguments, *motion.acceleration), strict=True)
    )

    def values(entries) -> np.ndarray:
        return np.array(numeric_function(list(known), list(entries), found.parts)(*known.values()))

    # Rounding of the numeric motion, 1e-13 of its largest acceleration, about 1e3 here.
    assert np.allclose(values(found.quasi.velocities), state.v, rtol=1e-10, atol=1e-12)
    assert np.allclose(values(found.quasi.accelerations), motion.acceleration, rtol=1e-9, atol=1e-8)
    if form == "appell":
        assert np.allclose(values(found.rates), values(found.quasi.rates), rtol=1e-8, atol=1e-8)
        assert np.allclose(
            values(found.forces), (values(found.quasi.partial).reshape(6, 3).T @ impressed(system, known))
        )
    else:
        assert np.allclose(values(found.active), -values(found.inertia), rtol=1e-8, atol=1e-10)
        assert np.allclose(values(found.reactions), motion.ideal, rtol=1e-8, atol=1e-8)


def impressed(system: da.System, known: dict) -> np.ndarray:
    slopes = [-sp.diff(system.potential, q) for q in system.coordinates]
    return np.array(numeric_function(list(known), slopes)(*known.values()), dtype=float)


@pytest.mark.parametrize(("name", "form"), [("rattleback", "appell"), ("rattleback", "kane"), ("bicycle", "appell")])
def test_long_equations_are_bounded(name, form):
    found = MODELS[name].equations(form)
    assert len(found.text()) < 60_000
    assert len(found.latex()) < 120_000
    assert found.sections[-1].title == "where"
    # Each part is made of those before it.
    seen: set = set()
    names = {line.left for line in found.sections[-1].lines}
    for line in found.sections[-1].lines:
        assert line.terms[0][1].free_symbols & names <= seen
        seen.add(line.left)


def test_names_of_parts_are_no_names_of_the_model():
    # The rattleback has a coordinate z, so its parts are called k1, k2, …
    found = MODELS["rattleback"].equations("lagrange")
    assert {line.left.name[0] for line in found.sections[-1].lines} == {"k"}


def test_short_equations_are_written_out():
    assert da.library.penny().equations("appell").parts == ()
