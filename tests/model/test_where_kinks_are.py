"""A model with its kinks switched: with the sides of a state it has the same values there, whatever it is made of."""

from __future__ import annotations

import random

import pytest
import sympy as sp

import dalembert as da
from dalembert.model.kinks import switched_kinks

x, y = da.coordinates("x y")
a, b = da.parameters("a b")
VALUES = {a: 0.7, b: 0.4}
CONDITION = sp.Or(sp.And(x > a, y <= b), da.t >= 2)
MODELS = {
    "abs": sp.Abs(x - a),
    "sign": sp.sign(x) * y,
    "heaviside": sp.Heaviside(x - y) * x,
    "max of three": sp.Max(x, y, a),
    "min of three": sp.Min(x, 2 * y, b) * x,
    "nested": sp.Abs(sp.Abs(x) - sp.Max(y, a)),
    "three pieces": sp.Piecewise((x, x < -a), (x**2, x <= b), (y, True)),
    "and, or": sp.Piecewise((x * y, CONDITION), (x - y, True)),
    "a parameter decides": sp.Piecewise((sp.Abs(x), a > b), (x, True)),
    "in functions": sp.sin(sp.Abs(x)) * sp.exp(-sp.Abs(y)) / (1 + sp.Abs(x)),
    "not beyond": sp.Max(x, 0) ** sp.Rational(3, 2) + sp.sqrt(1 + sp.Abs(y)),
    "not in a piece": sp.Piecewise((sp.log(x), x > 1), (0, True)),
}


def model(potential: sp.Expr) -> da.System:
    return da.System("model", coordinates=[x, y], kinetic=x.d**2 + y.d**2, potential=potential, parameters=VALUES)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_values_with_the_sides_of_a_state(name: str) -> None:
    system = model(MODELS[name])
    found = switched_kinks(system)
    assert found is not None
    rng = random.Random(3)
    for _ in range(40):
        state = {x: rng.uniform(-2, 2), y: rng.uniform(-2, 2), da.t: rng.uniform(0, 4), **VALUES}
        for kink in found.kinks:  # in order: those inside come first
            state[kink.side] = int(sp.sign(kink.function.xreplace(state)))
        value, wanted = (system_.potential.xreplace(state) for system_ in (found.system, system))
        assert float(value) == pytest.approx(float(wanted), rel=1e-13, abs=1e-13)  # rounding


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("not")])
def test_nothing_of_the_kinks_is_left(name: str) -> None:
    found = switched_kinks(model(MODELS[name]))
    assert found is not None
    left = found.system.potential.atoms(sp.Abs, sp.sign, sp.Heaviside, sp.Min, sp.Max, sp.Piecewise)
    assert not any(kink.free_symbols & {x, y, da.t} for kink in left)


def test_a_function_and_its_negative_share_a_side() -> None:
    found = switched_kinks(model(sp.Abs(x - a) + sp.Max(a, x) + sp.Piecewise((x, x < a), (0, True))))
    assert found is not None
    assert len(found.kinks) == 1


@pytest.mark.parametrize("potential", [x**2, x * sp.Max(a, b), sp.sqrt(x**2 + y**2), x * sp.floor(y)])
def test_without_kinks_that_a_motion_could_pass(potential: sp.Expr) -> None:
    assert switched_kinks(model(potential)) is None


def test_kinks_of_reactions_stay() -> None:
    """They are known only once the forces are."""
    rubbed = da.System(
        "rubbed",
        coordinates=[x, y],
        kinetic=x.d**2 + y.d**2,
        constraints={"floor": y},
        nonideal=[da.Work({x: -sp.Abs(da.multiplier("floor")) * x.d})],
    )
    assert switched_kinks(rubbed) is None


def swinging(links: int, **changed: object) -> da.System:
    """Point masses on links, positions as definitions, and a force that is switched on."""
    angles = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    places = da.definitions(" ".join(f"x{k} y{k}" for k in range(links)))
    definitions: dict[sp.Symbol, sp.Expr] = {}
    before = (sp.S(0), sp.S(0))
    for k, angle in enumerate(angles):
        here = places[2 * k : 2 * k + 2]
        definitions |= {here[0]: before[0] + sp.sin(angle), here[1]: before[1] - sp.cos(angle)}
        before = here
    written: dict[str, object] = {
        "coordinates": angles,
        "definitions": definitions,
        "kinetic": sp.Add(*(place.d**2 / 2 for place in places)),
        "potential": sp.Add(*(9.81 * y for y in places[1::2])),
        "forces": {angles[0]: sp.Piecewise((0, da.t < 0.2), (5, True))},
        "initial": {angle: 0.3 + 0.1 * k for k, angle in enumerate(angles)} | {angle.d: 0 for angle in angles},
    }
    return da.System("swinging", **{**written, **changed})  # type: ignore[arg-type]


def test_definitions_without_kinks_are_kept() -> None:
    """Written out, the velocities of a chain of n links have n² terms."""
    system = swinging(6)
    found = switched_kinks(system)
    assert found is not None
    assert found.system.definitions == system.definitions
    assert found.system.kinetic == system.kinetic
    motion, written_out = (s.simulate(0.5, samples=6) for s in (system, system.expanded))
    assert motion.certificate.holds, motion.certificate.text()
    assert motion.q == pytest.approx(written_out.q, abs=1e-8)  # two runs at rtol 1e-9


def test_definitions_in_kinks_are_written_out() -> None:
    """A wall on one side of the tip: g is a function of coordinates, and the rest keeps its definitions."""
    x = da.definitions("x2")[0]
    system = swinging(3)
    wall = system.replace(potential=system.potential + 200 * sp.Max(0.5 - x, 0) ** 2)
    found = switched_kinks(wall)
    assert found is not None
    kink = next(kink for kink in found.kinks if da.t not in kink.function.free_symbols)
    assert kink.function.free_symbols == set(wall.coordinates)
    assert set(found.system.definitions) == set(wall.definitions)
    motion, written_out = (s.simulate(1.0, samples=6) for s in (wall, wall.expanded))
    assert motion.certificate.holds, motion.certificate.text()
    assert motion["x2"].min() < 0.5, "it goes into the wall"
    assert motion.q == pytest.approx(written_out.q, abs=1e-7)  # the wall magnifies what rtol 1e-9 leaves


def test_definitions_with_kinks_are_written_out() -> None:
    bent = da.definitions("bent")[0]
    system = model(x**2).replace(definitions={bent: sp.Abs(x - a) + y}, potential=bent**2)
    found = switched_kinks(system)
    assert found is not None
    assert not found.system.definitions
