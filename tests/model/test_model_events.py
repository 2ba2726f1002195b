"""Events of a model: what is accepted, and that everything wrong is told at once."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da

x, y = da.coordinates("x y")
m, g = da.parameters("m g")


def particle(**changes: Any) -> da.System:
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "parameters": {m: 2, g: 9.81},
        "initial": {x: 0, y: 0, x.d: 1, y.d: 0},
    }
    return da.System("particle", **{**parts, **changes})


def faults(events: Any) -> tuple[str, ...]:
    with pytest.raises(da.ModelError) as caught:
        particle(events=events)
    return caught.value.faults


@pytest.mark.parametrize(
    "given",
    [
        {"low": y + g},
        {"low": "y + g"},
        {"low": "y = -g"},
        {"low": sp.Eq(y, -g)},
        {"low": da.Event(y + g)},
        {"low": dynamicsymbols("y") + g},
        [da.Event("y + g", name="low")],
    ],
)
def test_ways_to_give_one(given: Any) -> None:
    (event,) = particle(events=given).events
    assert event == da.Event(y + g, 0, 0, "low")


@pytest.mark.parametrize(
    ("direction", "sign"), [("rising", 1), ("Falling", -1), ("any", 0), (1, 1), (-1, -1), (0, 0), (np.int64(-1), -1)]
)
def test_directions(direction: Any, sign: int) -> None:
    assert particle(events={"e": da.Event(y, direction)}).events[0].direction == sign


@pytest.mark.parametrize(("terminal", "count"), [(False, 0), (True, 1), (0, 0), (1, 1), (7, 7), (np.int32(2), 2)])
def test_terminal_counts(terminal: Any, count: int) -> None:
    assert particle(events={"e": da.Event(y, terminal=terminal)}).events[0].terminal == count


def test_time_alone_is_an_event() -> None:
    assert particle(events={"noon": da.t - 12}).events[0].expression == da.t - 12


def test_all_faults_at_once() -> None:
    found = faults(
        [
            da.Event("z + y", name="unknown"),
            da.Event(y.dd, name="fast"),
            da.Event(y, name="twice"),
            da.Event(x, name="twice"),
            da.Event(m - g, name="constant"),
            da.Event(sp.sin(x) ** 2 + sp.cos(x) ** 2 - 2, name="hidden constant"),
            da.Event(da.ideal(x), name="force"),
            da.Event(y, direction="up", name="direction"),
            da.Event(y, direction=True, name="direction 2"),
            da.Event(y, terminal=-1, name="terminal"),
            da.Event(y, terminal="yes", name="terminal 2"),
            da.Event(y > 0, name="inequality"),
            da.Event(y, name=""),
            da.Event(y, name="two\nlines"),
            da.Event(y, name="rank change"),
            da.Event(None, name="nothing"),
            y,
        ]
    )
    text = "\n".join(found)
    assert len(found) == 16
    for name in ("unknown", "fast", "twice", "constant", "hidden constant", "force", "direction", "terminal 2"):
        assert f"event {name!r}: " in text
    assert "unknown name 'z'" in text
    assert "accelerations" in text
    assert "the name is given twice" in text


@pytest.mark.parametrize("given", [None, 3, "x", x, {"e": object()}, {1: x}, {"e": "x ="}, {"e": "__import__('os')"}])
def test_what_is_no_event(given: Any) -> None:
    assert len(faults(given)) == 1


def test_a_simulation_refuses_names_it_does_not_know() -> None:
    """In a model an unknown symbol is a parameter without a value yet; in a simulation it can only be mistyped."""
    h = sp.Symbol("h")
    assert "h" in [symbol.name for symbol in particle(events={"low": y + h}).parameter_symbols]
    with pytest.raises(da.ModelError) as caught:
        particle().simulate(1, events={"low": y + h, "fast": x.dd, "stray": sp.Symbol("z'")})
    text = str(caught.value)
    assert all(part in text for part in ("'low': unknown name 'h'", "'fast'", "'stray'"))
    with pytest.raises(da.ModelError, match="'low': the name is given twice"):
        particle(events={"low": y}).simulate(1, events={"low": x})


def test_the_structure_tells_events_apart() -> None:
    """Graphs and kernels are shared by structure: other functions need others, other flags do not."""
    plain, low, side = particle(), particle(events={"e": y}), particle(events={"e": x})
    assert len({plain.structure, low.structure, side.structure}) == 3
    assert low.structure == particle(events={"other name": da.Event(y, 1, terminal=True)}).structure


def test_systems_keep_their_events() -> None:
    system = particle(events={"e": da.Event(y - m, "falling", 2)})
    assert pickle.loads(pickle.dumps(system)).events == system.events
    assert system.replace(parameters={"m": 3}).events == system.events
    assert system.replace(events={"f": x}).events == (da.Event(x, 0, 0, "f"),)


DOCUMENT = """
name = "drop"
coordinates = ["z"]
[parameters]
m = 1
g = 9.81
h = 0.5
[energy]
kinetic = "m*z'^2/2"
potential = "m*g*z"
[[events]]
name = "floor"
expression = "z = h"
direction = "falling"
terminal = 2
[[events]]
name = "top"
expression = "z'"
"""


def test_documents() -> None:
    (z,) = da.coordinates("z")
    (h,) = da.parameters("h")
    system = da.loads(DOCUMENT)
    assert system.events == (da.Event(z - h, -1, 2, "floor"), da.Event(z.d, 0, 0, "top"))
    assert da.loads(da.dumps(system)).events == system.events


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('expression = "z = h"', 'expression = "z = hh"', ["event 'floor'", "'hh'", "Did you mean 'h'"]),
        ('expression = "z = h"', "expression = 3", ["[[events]] number 1", "text"]),
        ('expression = "z = h"\n', "", ["[[events]] number 1", "no 'expression'"]),
        ("terminal = 2", 'terminal = "two"', ["event 'floor'", "'two'"]),
        ("terminal = 2", "end = true", ["[[events]] number 1", "'end'"]),
        ('direction = "falling"', 'direction = "down"', ["event 'floor'", "'down'"]),
        ('name = "top"', 'name = "floor"', ["event 'floor'", "twice"]),
        ("[[events]]\nname", "[events]\nname", ["TOML"]),
    ],
)
def test_bad_documents(old: str, new: str, words: list[str]) -> None:
    with pytest.raises(da.DocumentError) as caught:
        da.loads(DOCUMENT.replace(old, new, 1))
    assert all(word in str(caught.value) for word in words)


def test_names_that_contacts_report_themselves_are_refused_where_there_are_contacts() -> None:
    names = ("stick", "slip", "reversal", "release", "impact", "contact", "mine (contact)")
    events = dict.fromkeys(names, x.d)
    particle(events=events)  # no contacts: the names are free
    with pytest.raises(da.ModelError) as caught:
        particle(constraints=[da.Constraint("floor", y >= 0)], events=events)
    assert len(caught.value.faults) == len(names)
    assert "event 'stick': a simulation reports events of this name by itself; choose another" in str(caught.value)
    rough = particle(constraints={"floor": y}, nonideal=[da.Coulomb("floor", 0.3)])
    with pytest.raises(da.ModelError, match="'slip'"):
        rough.simulate(1, events={"slip": x.d})
    particle(constraints={"floor": y}, nonideal=[da.Coulomb("floor", 0.3, regularize=1e-3)], events=events)
