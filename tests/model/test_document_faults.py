"""The faults of a document are told together, each once, and no consequences of them."""

from __future__ import annotations

from itertools import combinations

import pytest

import dalembert as da

GOOD = """
name = "block"
description = "on a rough plane"
coordinates = ["x", "y"]

[parameters]
m = 1.0
g = 9.81
theta = 0.5

[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"

[forces]
x = "-m*x'"

[[constraints]]
name = "plane"
equation = "y = x*tan(theta)"

[[constraints]]
name = "wall"
equation = "x >= -1"
restitution = 0.5

[[nonideal]]
law = "coulomb"
constraint = "plane"
mu = 0.3

[[events]]
name = "home"
expression = "x"
direction = "falling"

[initial]
x = 0.0
y = 0.0
"x'" = 1.0
"y'" = "tan(theta)"

[simulate]
duration = 2.0
"""

# What is changed, into what, and what is told of it. No two of them at one place.
FAULTS = {
    "unknown table": ('description = "on', '[friction]\nmu = 1\n', "unknown entry 'friction'"),
    "name of a wrong type": ('name = "block"', "name = 5", "name of the model is missing or no text, got 5"),
    "a word of the energy": ("potential =", "potenial =", "[energy]: unknown entry 'potenial'"),
    "kinetic": ("m*(x'^2 + y'^2)/2", "m*(x'^2 + y'^2/2", "kinetic: this is not a complete expression"),
    "force": ('"-m*x\'"', '"-m*z"', "forces x: unknown name 'z'"),
    "constraint without an equation": ('equation = "y = x*tan(theta)"', "", "[[constraints]] number 1: no 'equation'"),
    "second constraint": ('"x >= -1"', '"x > -1"', "constraint 'wall': '>' is known only in where"),
    "restitution": ("restitution = 0.5", "restitution = 2", "constraint 'wall': restitution is from 0 to 1"),
    "friction": ("mu = 0.3", "mu = [1]", "'mu' is a number or a text, got [1]"),
    "event without a name": ('name = "home"', "", "[[events]] number 1: no 'name'"),
    "direction": ('"falling"', '"down"', "event 'home': direction is 'rising'"),
    "initial": ('"tan(theta)"', '"tan(phi)"', "initial y': unknown name 'phi'"),
    "parameter": ("g = 9.81", 'g = "nine"', "parameter g: unknown name 'nine'"),
    "kind of a setting": ("duration = 2.0", "duration = 2.0\nsamples = 9.5", "samples is a whole number, got 9.5"),
    "setting": ("duration = 2.0", "duratoin = 2.0", "simulate: unknown setting 'duratoin'"),
}  # fmt: skip


def test_a_one_sided_equation_that_is_said_to_be_none() -> None:
    """Which of the two is meant cannot be told."""
    (fault,) = told(GOOD.replace("restitution = 0.5", "one_sided = false"))
    assert "[[constraints]] number 2: an equation with >= or <= is one-sided" in fault


def spoiled(*names: str) -> str:
    text = GOOD
    for name in names:
        old, new, _ = FAULTS[name]
        assert text.count(old) == 1
        if name == "unknown table":
            text += new  # a table stands at the end
        else:
            text = text.replace(old, new)
    return text


def told(text: str) -> list[str]:
    with pytest.raises(da.DocumentError) as caught:
        da.loads(text)
    return list(caught.value.faults)


def test_an_energy_outside_its_table_is_told_where_it_belongs() -> None:
    with pytest.raises(da.DocumentError, match=r"unknown entry 'lagrangian'. It belongs below \[energy\]"):
        da.loads('name = "spring"\ncoordinates = ["x"]\nlagrangian = "x\'^2/2 - x^2/2"\n')


def test_the_document_is_good() -> None:
    assert da.loads(GOOD).name == "block"


@pytest.mark.parametrize("name", FAULTS)
def test_each_is_one_fault(name: str) -> None:
    (fault,) = told(spoiled(name))
    assert FAULTS[name][2] in fault


# What hides another fault: an event without a name is not read further.
HIDE = {frozenset({"event without a name", "direction"})}


@pytest.mark.parametrize("pair", [pair for pair in combinations(FAULTS, 2) if frozenset(pair) not in HIDE], ids=str)
def test_two_are_told_together_and_nothing_else(pair: tuple[str, str]) -> None:
    found = told(spoiled(*pair))
    assert sorted(found) == sorted(fault for name in pair for fault in told(spoiled(name)))


def test_all_of_them_are_told_in_one_message() -> None:
    names = [name for name in FAULTS if name != "direction"]
    found = told(spoiled(*names))
    assert len(found) == len(names)
    for name in names:
        assert any(FAULTS[name][2] in fault for fault in found)
    with pytest.raises(da.DocumentError) as caught:
        da.loads(spoiled(*names))
    lines = str(caught.value).splitlines()
    assert lines[0] == f"document: {len(names)} faults"
    assert lines[1:] == [f"  - {fault}" for fault in found]  # one per line


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace('coordinates = ["x", "y"]', ""),
        GOOD.replace("[parameters]", "[constants]"),
        GOOD.replace("[parameters]\n", "[[parameters]]\n"),
        GOOD.replace('name = "plane"\n', ""),
        GOOD.replace("[energy]", "[work]"),
        GOOD.replace("kinetic", "inertia"),
        GOOD.replace("[[constraints]]", "[[joints]]"),
        GOOD.replace("[[constraints]]", "[[constraint]]"),
        GOOD.replace("[initial]", "[inital]"),
    ],
)
def test_no_consequences_are_told(text: str) -> None:
    """Without its coordinates every name of a document is unknown, and so on: only the cause is told."""
    found = told(text)
    assert len(found) == 1, found
