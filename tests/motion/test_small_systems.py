"""What is done by plain numbers, or by one function, where systems are small: the same as by arrays."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.contacts.modes import regular_instant, small_instant
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Mode
from dalembert.motion.integrate import settings as options
from dalembert.motion.integrate.settings import settings_of, tolerances
from dalembert.remember import changed


def sled(gap="y - r*a"):
    """A body that turns, on a rough floor."""
    return da.System(
        "sled",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2 + x'*a'*cos(a)/5)/2 + a'^2",
        potential="9.81*m*y",
        constraints=[da.Constraint("floor", gap)],
        nonideal=[da.Coulomb("floor", mu=0.3, slide=["x' + r*a'"])],
        parameters={"m": 2, "r": 0.4},
        initial={"x": 0, "y": 0.08, "a": 0.2, "x'": 1, "y'": 0.04, "a'": 0.1},
    )


@pytest.mark.parametrize("state", [SLIP, STICK])
def test_an_instant_as_by_lapack(state):
    system = sled()
    contacts = Contacts(system)
    q, v, t = system.initial_values()
    mode = Mode((state,), (1,), (1,), ())
    evaluation = contacts.evaluation(mode)
    small = small_instant.small_instant(evaluation, contacts.graph, q, v, t)
    assert small is not None
    found = small_instant.solution_of(small)
    other = regular_instant.solve_regular(evaluation, q, v, t)
    assert other is not None
    for name in ("acceleration", "multipliers", "C", "unconstrained", "dependent", "M", "Q", "A", "b"):
        # Two eliminations of five equations of size one: rounding.
        assert getattr(found, name) == pytest.approx(getattr(other, name), abs=1e-12), name


def test_equations_that_nearly_depend_on_each_other_are_left_to_others():
    """A floor stated again, turned by a millionth."""
    system = sled()
    again = da.Constraint("again", "y - r*a*(1 + 1e-6)")
    system = system.replace(constraints=[*system.constraints, again], initial={"y": 0, "a": 0, "y'": 0, "a'": 0})
    q, v, t = system.initial_values()
    contacts = Contacts(system)
    evaluation = contacts.evaluation(Mode((SLIP,), (1,), (1,), ()))
    assert small_instant.small_instant(evaluation, contacts.graph, q, v, t) is None


@pytest.mark.parametrize("seed", range(4))
def test_tolerances_of_few(seed, monkeypatch):
    r = np.random.default_rng(seed)
    given = settings_of(sled(), 2.0, None, 0.0, {"rtol": 1e-6})
    q, v, a = (r.normal(size=3) * 10.0 ** r.integers(-6, 3, size=3) for _ in range(3))
    q[0] = v[0] = a[0] = 0.0
    if seed % 2:
        given = replace(given, rates=r.random(3), least=1e-3 * r.random(6))
    few = tolerances(given, q, v, a)
    monkeypatch.setattr(options, "FEW", 0)
    assert few.tolist() == tolerances(given, q, v, a).tolist()


def test_a_value_with_other_fields():
    given = settings_of(sled(), 2.0, None, 0.0, {})
    other = changed(given, rtol=1e-3)
    assert (other.rtol, given.rtol, other.times is given.times) == (1e-3, 1e-9, True)
