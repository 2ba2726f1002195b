"""Derivatives as numbers: those of the symbols, and the same verdicts, on library systems and on chains."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.mechanics import sample
from dalembert.mechanics.algebra.slopes import Walk
from dalembert.mechanics.classify.classify import classify
from dalembert.mechanics.numbers import Numbers
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import nonlinear_constraints


def test_rules_of_differentiation_beside_those_of_sympy():
    x, y, z = sp.symbols("x y z", real=True)
    expressions = [
        sp.atan2(x * y, z) + x**3, sp.sqrt(1 + x**2) * sp.exp(-y), sp.Max(x, y) * sp.Abs(z), sp.atan2(x, x) + y**z,
        sp.Piecewise((x**2 * y, x > 0), (z, True)), sp.sin(x * y * z) / (2 + sp.cos(x)), sp.S(7), x,
    ]  # fmt: skip
    at = {x: 0.7, y: 0.4, z: 1.3}
    point, passing = np.array(list(at.values())), np.array([0.3, -1.1, 0.6])
    value, rate, slope, bent = Walk([x, y, z], expressions).along(point, np.eye(3), passing)
    for k, e in enumerate(expressions):
        first = np.array([float(sp.diff(e, s).subs(at)) for s in at])
        second = np.array([[float(sp.diff(e, s, r).subs(at)) for r in at] for s in at])
        # Rounding of some ten operations.
        assert value[k] == pytest.approx(float(sp.S(e).subs(at)), rel=1e-13)
        assert slope[k] == pytest.approx(first, rel=1e-12, abs=1e-13)
        assert rate[k] == pytest.approx(first @ passing, rel=1e-12, abs=1e-13)
        assert bent[k] == pytest.approx(second @ passing, rel=1e-12, abs=1e-12)
    total = sp.Add(*expressions)
    _, gradient, size, bent = Walk([x, y, z], expressions).curvature(point, np.eye(3))
    assert gradient == pytest.approx([float(sp.diff(total, s).subs(at)) for s in at], rel=1e-12)
    assert bent == pytest.approx(np.array([[float(sp.diff(total, s, r).subs(at)) for r in at] for s in at]), rel=1e-12)
    assert np.all(size >= np.abs(gradient) * (1 - 1e-12))


def test_outside_of_its_domain_a_function_is_no_number():
    x = sp.Symbol("x", real=True)
    value, *_ = Walk([x], [sp.sqrt(x), sp.log(x), (-1) ** x]).along(np.array([-0.5]), np.eye(1), np.ones(1))
    assert np.all(np.isnan(value))


@pytest.mark.parametrize("name", da.library.names())
def test_matrices_of_library_systems_are_those_of_the_standard_form(name):
    system = da.library.get(name).expanded
    if nonlinear_constraints(system):
        return  # A and b hold accelerations
    by_symbols, by_numbers = Sampler(system), Numbers(system)
    state = by_symbols.start()
    with np.errstate(all="ignore"):
        expected = by_symbols._matrices(state)
        found = (*by_numbers.inertia(state), *by_numbers.rows(state, np.zeros(len(state.q))))
    for one, other in zip(expected, found, strict=True):
        # Rounding of sums of some hundred terms, which are larger than what they leave by at most the entries' size.
        scale = np.max(np.abs(one), initial=1e-300)
        assert np.allclose(one, other, rtol=1e-9, atol=1e-11 * scale, equal_nan=True)


@pytest.mark.parametrize("name", ["penny", "skate", "rods", "shaken", "spinning"])
def test_verdicts_are_the_same_by_numbers_and_by_symbols(name, monkeypatch):
    system = SYSTEMS[name]()
    by_symbols = classify(system).text()
    monkeypatch.setattr(sample, "LARGE", 0)
    assert classify(system).text() == by_symbols


def _skate() -> da.System:
    x, y, a = da.coordinates("x y a")
    return da.System(
        "skate", coordinates=[x, y, a], kinetic=(x.d**2 + y.d**2 + a.d**2) / 2,
        constraints={"edge": x.d * sp.sin(a) - y.d * sp.cos(a), "twice": 2 * x.d * sp.sin(a) - 2 * y.d * sp.cos(a)},
    )  # fmt: skip


def _rods() -> da.System:
    c = da.coordinates("x0 y0 x1 y1")
    before, rods = (0, 0), {}
    for k in range(2):
        here = c[2 * k : 2 * k + 2]
        rods[f"rod {k}"] = sum((p - q) ** 2 for p, q in zip(here, before, strict=True)) - 1
        before = here
    return da.System("rods", coordinates=c, kinetic=sum(q.d**2 for q in c) / 2, potential=c[1] + c[3], constraints=rods)


def _shaken() -> da.System:
    """The support moves: L holds the time, and h is not the energy."""
    (a,) = da.coordinates("a")
    x, y = sp.Rational(1, 3) * sp.sin(2 * da.t) + sp.sin(a), -sp.cos(a)
    return da.System("shaken", coordinates=[a], kinetic=(da.rate(x) ** 2 + da.rate(y) ** 2) / 2, potential=y)


def _spinning() -> da.System:
    """A bead on a hoop that turns evenly: h is conserved, the energy is not; and a disc whose momentum is."""
    a, b = da.coordinates("a b")
    kinetic = (a.d**2 + 4 * sp.sin(a) ** 2 + b.d**2) / 2
    return da.System("spinning", coordinates=[a, b], kinetic=kinetic, potential=-sp.cos(a))


SYSTEMS = {"penny": da.library.penny, "skate": _skate, "rods": _rods, "shaken": _shaken, "spinning": _spinning}


def _chain(links: int, held: bool = True) -> da.System:
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    definitions, kinetic, potential = {}, [], []
    before = (0, 0) if held else da.coordinates("x y")
    start = () if held else before
    kinetic += [q.d**2 / 2 for q in start]
    for k, q in enumerate(a):
        here = da.definitions(f"x{k} y{k}")
        definitions |= {here[0]: before[0] + sp.sin(q), here[1]: before[1] - sp.cos(q)}
        kinetic.append((here[0].d ** 2 + here[1].d ** 2) / 2)
        potential.append(here[1])
        before = here
    return da.System(
        "chain",
        coordinates=[*start, *a],
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential),
    )


def test_long_chains_have_one_integral_if_held_and_one_more_if_not():
    hung = classify(_chain(40))
    assert hung.degrees_of_freedom == 40
    assert [quantity.name for quantity in hung.conservation.quantities] == ["energy"]
    assert hung.conservation.quantities[0].expression == _chain(40).kinetic + _chain(40).potential  # as it is written
    thrown = classify(_chain(20, held=False))
    assert [quantity.name for quantity in thrown.conservation.quantities] == ["energy", "p_x"]
    assert thrown.cyclic == ("x",)


def test_a_ring_of_rods_with_one_too_many():
    """A closed ring of 20 masses, twice one rod; in the plane, thrown: momenta are kept, and 20 − 1 + 1 rods hold."""
    n = 20
    c = da.coordinates(" ".join(f"x{k} y{k}" for k in range(n)))
    rods = {f"rod {k}": (c[2 * k] - c[2 * k - 2]) ** 2 + (c[2 * k + 1] - c[2 * k - 1]) ** 2 - 1 for k in range(n)}
    rods["again"] = 2 * rods["rod 3"]
    turn = 2 * np.pi * np.arange(n) / n
    places = np.stack([np.cos(turn), np.sin(turn)], axis=1).ravel() / (2 * np.sin(np.pi / n))
    ring = da.System(
        "ring", coordinates=c, kinetic=sp.Add(*(q.d**2 for q in c)) / 2, constraints=rods,
        initial=dict(zip(c, places, strict=True)),
    )  # fmt: skip
    found = classify(ring)
    assert found.holonomic
    assert found.degrees_of_freedom == found.configuration_freedoms == n
    assert found.redundant == ("again",)
    assert found.conservation.energy


def test_velocity_constraints_in_a_large_system():
    """Ten skates: each edge is nonholonomic, ten freedoms of velocity less; one line is a position in disguise."""
    n = 10
    c = da.coordinates(" ".join(f"x{k} y{k} a{k}" for k in range(n)))
    edges = {f"edge {k}": c[3 * k].d * sp.sin(c[3 * k + 2]) - c[3 * k + 1].d * sp.cos(c[3 * k + 2]) for k in range(n)}
    skates = da.System("skates", coordinates=c, kinetic=sp.Add(*(q.d**2 for q in c)) / 2, constraints=edges)
    found = classify(skates)
    assert found.holonomic is False
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (20, 30)
    assert Sampler(skates).motion(Sampler(skates).states(1)[0]).acceleration.shape == (30,)


def test_forces_and_given_masses():
    q = da.coordinates(" ".join(f"q{k}" for k in range(3)))
    k = da.parameters("k")[0]
    mass = sp.diag(2 + q[0] ** 2, 3, 5)
    given = da.System(
        "given", coordinates=q, mass=mass, forces={q[0]: -k * q[0].d}, potential=q[1] ** 2, parameters={k: 7}
    )
    state = Sample(np.array([0.3, 0.4, 0.5]), np.array([1.0, 2.0, 3.0]), 0.0, np.array([7.0]))
    M, Q = Numbers(given).inertia(state)
    assert pytest.approx(np.diag([2.09, 3, 5])) == M
    assert pytest.approx([-7.0, -0.8, 0.0]) == Q
