"""Dry friction in closed form: the printed equations beside `at()`, which solves λ and C together by other means, at
random states that slide, and beside motions.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin

import dalembert as da
from dalembert.mechanics.explicit.explicit import FundamentalEquations
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import standard_form

# The same numbers, of up to some hundreds, by two ways of a dozen operations each.
ROUNDING = 1e-9
RNG = np.random.default_rng(39)

x, y, z, th = da.coordinates("x y z th")
m, g, mu, l, J, k, W = da.parameters("m g mu l J k W")
VALUES = {m: 1.3, g: 9.81, mu: 0.25, l: 0.7, J: 0.2, k: 2.4, W: 3.0}


def used(**given: object) -> dict:
    """Values of the parameters that occur."""
    symbols = {s.name for value in given.values() for part in _parts(value) for s in sp.sympify(part).free_symbols}
    return {symbol: value for symbol, value in VALUES.items() if symbol.name in symbols | {"mu"}}


def _parts(value: object) -> list:
    return list(value.values()) if isinstance(value, dict) else [value]


def particle(curve: sp.Expr, **changes: object) -> da.System:
    T, V = m * (x.d**2 + y.d**2) / 2, m * g * y
    return da.System(
        "bead", coordinates=[x, y], kinetic=T, potential=V, constraints={"wire": curve},
        nonideal=[da.Coulomb("wire", mu=mu)], parameters=used(T=T, V=V, curve=curve), **changes,
    )  # fmt: skip


def bar() -> da.System:
    """Its lower end slides on the floor: friction there turns it, and so changes the reaction."""
    T, V = m * (x.d**2 + y.d**2) / 2 + J * th.d**2 / 2, m * g * y
    foot = (x - l * sin(th), y - l * cos(th))
    return da.System(
        "bar", coordinates=[x, y, th], kinetic=T, potential=V, constraints={"floor": foot[1]},
        nonideal=[da.Coulomb("floor", mu=mu, point=foot)], parameters=used(T=T, V=V, foot=foot[1]),
    )  # fmt: skip


def unequal() -> da.System:
    """Masses that differ by direction: friction along the plane is not at right angles to the reaction."""
    T, V = m * x.d**2 / 2 + k * y.d**2 / 2, m * g * y
    return da.System(
        "unequal", coordinates=[x, y], kinetic=T, potential=V, constraints={"plane": y - x / 2},
        nonideal=[da.Coulomb("plane", mu=mu, point=[x, y])], parameters=used(T=T, V=V),
    )  # fmt: skip


def plane() -> da.System:
    """Sliding in two directions, with a force along the plane."""
    T, V = m * (x.d**2 + y.d**2 + z.d**2) / 2, m * g * z
    return da.System(
        "plane", coordinates=[x, y, z], kinetic=T, potential=V, constraints={"plane": z - x / 3 - y / 5},
        nonideal=[da.Coulomb("plane", mu=mu)], forces={x: -k * x}, parameters=used(T=T, V=V, k=k),
    )  # fmt: skip


def belt() -> da.System:
    """The surface moves: what counts is the velocity relative to it."""
    T, V = m * (x.d**2 + y.d**2) / 2, m * g * y
    return da.System(
        "belt", coordinates=[x, y], kinetic=T, potential=V, constraints={"belt": y},
        nonideal=[da.Coulomb("belt", mu=mu, slide=[x.d - W])], parameters=used(T=T, V=V, W=W),
    )  # fmt: skip


def sphere() -> da.System:
    """A surface whose normal points anywhere."""
    T, V = m * (x.d**2 + y.d**2 + z.d**2) / 2, m * g * z
    return da.System(
        "sphere", coordinates=[x, y, z], kinetic=T, potential=V, constraints={"sphere": x**2 + y**2 + z**2 - l**2},
        nonideal=[da.Coulomb("sphere", mu=mu)], parameters=used(T=T, V=V, l=l),
    )  # fmt: skip


def curve() -> da.System:
    """Along the line where two surfaces meet: |N| is the length of a sum of two reactions."""
    T, V = m * (x.d**2 + y.d**2 + z.d**2) / 2, m * g * z
    return da.System(
        "curve", coordinates=[x, y, z], kinetic=T, potential=V, constraints={"a": y - x**2, "b": z - x},
        nonideal=[da.Coulomb(["a", "b"], mu=mu)], parameters=used(T=T, V=V),
    )  # fmt: skip


CASES = {
    "parabola": particle(y - x**2),
    "circle": particle(x**2 + y**2 - l**2),
    "wave": particle(y - l * sin(k * x)),
    "bar": bar(),
    "unequal": unequal(),
    "plane": plane(),
    "belt": belt(),
    "sphere": sphere(),
    "curve": curve(),
    "stack": da.library.stacked_blocks(),
}


@cache
def equations(name: str) -> FundamentalEquations:
    return CASES[name].equations()


def states(system: da.System, count: int = 4) -> list[dict]:
    """States on the constraints that slide, by solving for what is dependent."""
    names = [*system.coordinates, *system.velocities]
    return [dict(zip(names, [*s.q, *s.v], strict=True)) for s in Sampler(standard_form(system)).states(count)]


@pytest.mark.parametrize("name", CASES)
def test_as_at_random_states(name: str) -> None:
    system, found = CASES[name], equations(name)
    assert found.explicit
    parts = ("acceleration", "C", "ideal", "nonideal", "multipliers", "c", "e")
    symbols = [*system.coordinates, *system.velocities, *system.parameters, da.t]
    evaluate = sp.lambdify(symbols, [list(getattr(found, part)) for part in parts])
    for state in states(system):
        now = system.at(state)
        known = state | {symbol: float(value) for symbol, value in system.parameters.items()} | {da.t: now.t}
        for part, numbers in zip(parts, evaluate(*(known[symbol] for symbol in symbols)), strict=True):
            np.testing.assert_allclose(numbers, getattr(now, part), atol=ROUNDING, err_msg=part)


def test_both_signs_of_the_reaction() -> None:
    """On the circle, at the top: slowly it is pushed up, fast it is pulled down."""
    system, found = CASES["circle"], equations("circle")
    assert found.nonideal.has(sp.Abs)
    for rate, side in ((0.5, 1), (5.0, -1)):
        state = {x: 0, y: 0.7, x.d: rate, y.d: 0}
        now = system.at(state)
        assert np.sign(now.multipliers[0]) == side
        known = state | {symbol: float(value) for symbol, value in system.parameters.items()}
        numbers = np.array(found.nonideal.subs(known).evalf(), dtype=float)[:, 0]
        np.testing.assert_allclose(numbers, now.nonideal, atol=ROUNDING)
        # By hand: N = m(g − v²/l), friction −μ|N|.
        assert now.nonideal[0] == pytest.approx(-0.25 * abs(1.3 * (9.81 - rate**2 / 0.7)), rel=1e-10)


def test_a_motion_along_a_wire() -> None:
    """The printed acceleration at the points of a motion is that of the motion, to its tolerance."""
    system = CASES["parabola"].replace(initial={x: -0.4, y: 0.16, x.d: 2, y.d: -1.6})
    found, motion = equations("parabola"), system.simulate(0.3, samples=7)
    function = sp.lambdify([x, y, x.d, y.d, *system.parameters], list(found.acceleration))
    for k in range(7):
        here = function(*motion.q[k], *motion.v[k], *map(float, system.parameters.values()))
        np.testing.assert_allclose(here, motion.a[k], atol=1e-7)


def test_what_changes_its_own_reaction_says_how_far() -> None:
    found = equations("bar")
    assert "changes its own reaction" in found.reason
    assert "Painlevé" in found.reason
    assert "changes its own reaction" not in equations("parabola").reason


def test_a_coupling_that_a_zero_hides_is_shown_all_the_same() -> None:
    """Values of parameters do not decide what depends on what: k = m here, but not in the formula."""
    found = unequal().replace(parameters={k: 1.3}).equations()
    assert "changes its own reaction" in found.reason


def test_one_sided_contacts_push() -> None:
    """While it holds, N ≥ 0: no bars."""
    T, V = m * (x.d**2 + y.d**2) / 2, m * g * y
    system = da.System(
        "floor", coordinates=[x, y], kinetic=T, potential=V, constraints=[da.Constraint("floor", "y >= 0")],
        forces={y: k * x}, nonideal=[da.Coulomb("floor", mu=mu)],
    )  # fmt: skip
    found = system.equations()
    assert found.explicit
    assert not found.nonideal.has(sp.Abs)
    assert sp.simplify(found.nonideal[0] + mu * (m * g - k * x) * sp.sign(x.d)) == 0


def test_smooth_laws_of_the_reaction_too() -> None:
    """Regularised friction has the reaction in its work as well; on a plane it is the ideal one."""
    system = particle(y - x / 2).replace(nonideal=[da.Coulomb("wire", mu=mu, regularize=0.01)])
    found = system.equations()
    assert found.explicit
    state = {x: 0.2, y: 0.1, x.d: 0.02, y.d: 0.01}
    known = state | {symbol: float(value) for symbol, value in system.parameters.items()}
    numbers = np.array(found.acceleration.subs(known).evalf(), dtype=float)[:, 0]
    np.testing.assert_allclose(numbers, system.at(state).acceleration, atol=ROUNDING)


def test_reactions_in_a_circle_stay_as_they_are() -> None:
    """A ladder on a rough floor and a rough wall: each friction changes the other's reaction."""
    T, V = m * (x.d**2 + y.d**2) / 2 + J * th.d**2 / 2, m * g * y
    foot, top = (x - l * sin(th), y - l * cos(th)), (x + l * sin(th), y + l * cos(th))
    system = da.System(
        "ladder", coordinates=[x, y, th], kinetic=T, potential=V, constraints={"floor": foot[1], "wall": top[0]},
        nonideal=[da.Coulomb("floor", mu=mu, point=foot), da.Coulomb("wall", mu=mu, point=top)],
    )  # fmt: skip
    found = system.equations()
    assert not found.explicit
    assert "'floor', 'wall'" in found.reason
    assert "lambda_1" in found.text()
    assert found.K is not None  # what the constraints make of the free motion is known all the same
    assert "q'' - a = K (e - A c) + c" in found.text()


def test_redundant_constraints_share_their_reactions() -> None:
    """Which of two equal planes carries the block is a choice; a reaction by name is none of the page's."""
    system = particle(y - x / 2).replace(constraints={"wire": y - x / 2, "again": 2 * y - x})
    found = system.equations()
    assert not found.explicit
    assert "which redundant ones share: 'again'" in found.reason


def test_on_a_surface_friction_is_against_the_velocity() -> None:
    found = equations("sphere")
    speed = sp.sqrt(x.d**2 + y.d**2 + z.d**2)
    ratio = [sp.simplify(entry * speed / q.d) for entry, q in zip(found.C, (x, y, z), strict=True)]
    assert sp.simplify(ratio[0] - ratio[1]) == sp.simplify(ratio[0] - ratio[2]) == 0
    assert "`system.at()` tells the force" in found.reason
