"""Replacing definitions by their expressions changes nothing: forces, motion, certificate, outputs, events.

The model without definitions is written with SymPy's `dynamicsymbols`, whose derivatives SymPy takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da

TIME = dynamicsymbols._t
COORDINATES = da.coordinates("x y a")
VALUES = {"m": 1.3, "l": 0.8, "k": 2.1, "c": 0.4}
START = {"x": 0.3, "y": -0.2, "a": 0.5, "x'": 0.4, "y'": -0.1, "a'": 0.6}
m, l, k, c = da.parameters("m l k c")

# What a definition is made of others and of coordinates: smooth near the start, with the time in some.
SHAPES = (
    lambda u, w: u + l * sp.sin(w),
    lambda u, w: u * w - l,
    lambda u, w: sp.cos(u) * w,
    lambda u, w: sp.sqrt(1 + u**2) + w,
    lambda u, w: u / (2 + w**2),
    lambda u, w: sp.exp(u / 4) - sp.sin(TIME) * w,
)


@dataclass(frozen=True)
class Recipe:
    """Which shape each definition has, and of which two earlier quantities (the coordinates come first)."""

    steps: tuple[tuple[int, int, int], ...]
    with_constraint: int  # 0: none, 1: on places, 2: on velocities, 3: on accelerations

    def expressions(self, use) -> dict[str, sp.Expr]:
        """use(name, expression): what stands for a definition in later ones."""
        known = list(dynamicsymbols("x y a"))
        found = {}
        for number, (shape, one, other) in enumerate(self.steps):
            name = f"d{number}"
            found[name] = SHAPES[shape](known[one % len(known)], known[other % len(known)])
            known.append(use(name, found[name]))
        return found


@st.composite
def recipes(draw) -> Recipe:
    number = st.integers(0, 20)
    steps = draw(st.lists(st.tuples(st.integers(0, len(SHAPES) - 1), number, number), min_size=2, max_size=4))
    return Recipe(tuple(steps), draw(st.integers(0, 3)))


def system(recipe: Recipe, by_name: bool) -> da.System:
    """The same model with definitions, or with their expressions in all places."""
    functions = {f"d{j}": dynamicsymbols(f"d{j}") for j in range(len(recipe.steps))}
    definitions = recipe.expressions(lambda name, value: functions[name] if by_name else value)
    u, w = (functions[name] if by_name else definitions[name] for name in (*definitions,)[-2:])
    x, y, a = dynamicsymbols("x y a")
    du, dw = sp.diff(u, TIME), sp.diff(w, TIME)
    held = {
        0: {}, 1: {"held": x + y / 3 + u / 5}, 2: {"held": sp.diff(x, TIME) + dw / 5},
        3: {"held": sp.diff(x, TIME, 2) + sp.diff(u, TIME, 2) / 5},
    }[recipe.with_constraint]  # fmt: skip
    works = [da.Work({y: -c * dw / 5}, "held")] if held else []
    kinetic = sum(sp.diff(q, TIME) ** 2 for q in (x, y, a)) * m / 2 + (du**2 + dw**2) / 10
    made = da.System(
        "recipe", coordinates=[x, y, a], definitions=definitions if by_name else {}, kinetic=kinetic,
        potential=k * u**2 / 4 + w / 3, forces={a: -c * du}, constraints=held, nonideal=works,
        parameters=VALUES, initial=START, outputs={"u": u, "rate": dw, "bend": sp.diff(u, TIME, 2) if held else w},
        events={"passes": du - sp.Rational(1, 10)},
    )  # fmt: skip
    return made.replace(initial=made.consistent()) if held else made


@settings(max_examples=8, deadline=None, derandomize=True)
@given(recipes())
def test_a_definition_is_its_expression(recipe: Recipe):
    named, plain = system(recipe, True), system(recipe, False)
    assert named.definitions
    assert not plain.definitions
    here, there = named.at(), plain.at()
    for part in ("M", "Q", "A", "b", "C", "acceleration", "impressed", "inertial", "ideal", "nonideal", "multipliers"):
        # The same expressions in another order: rounding of a few dozen operations on numbers of a few.
        np.testing.assert_allclose(getattr(here, part), getattr(there, part), rtol=1e-10, atol=1e-11, err_msg=part)
    assert here.outputs.keys() == there.outputs.keys()
    np.testing.assert_allclose(list(here.outputs.values()), list(there.outputs.values()), rtol=1e-10, atol=1e-11)
    again = da.loads(da.dumps(named))
    assert again.structure == named.structure


def test_the_motion_and_its_certificate_are_the_same():
    for recipe in (Recipe(((0, 0, 2), (3, 3, 1), (1, 4, 3)), 1), Recipe(((2, 0, 2), (5, 3, 1)), 2)):
        one, other = (
            system(recipe, by_name).simulate(0.5, samples=4, backend="reference", rtol=1e-10)
            for by_name in (True, False)
        )
        assert one.certificate.holds
        assert other.certificate.holds
        # Both are within the tolerance, whose errors are magnified by a few in that time.
        for name in reduce(
            lambda names, q: [*names, q.name, q.d.name], COORDINATES, ["ideal x", "u", "rate", "energy"]
        ):
            np.testing.assert_allclose(one[name], other[name], rtol=1e-8, atol=1e-8, err_msg=name)
        assert [event["name"] for event in one.events] == [event["name"] for event in other.events]
        for passage, same in zip(one.events, other.events, strict=True):
            assert abs(passage["t"] - same["t"]) < 1e-7  # a zero of a function of slope above 0.1, to tolerance
