"""What a motion tells of the changes of its contacts, and of friction and heat between them, when it is told wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import cos, sin
from typing import Any

import numpy as np
import pytest

import dalembert as da


def pushed() -> da.Motion:
    """A particle on a slope stops and sets off, twice each."""
    return da.System(
        "pushed",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="9.81*z",
        forces={"x": "5*sin(2*t)", "y": "3*cos(3*t)"},
        constraints={"plane": "z = 0.2*x"},
        nonideal=[da.Coulomb("plane", 0.3, mu_static=0.4)],
        initial={"x": 0, "y": 0, "z": 0, "x'": 1, "y'": -1, "z'": 0.2},
    ).simulate(5, samples=101)


def wedge() -> da.Motion:
    """A block on a wedge that is pushed to and fro: both set off, turn back and stop."""
    return da.System(
        "wedge",
        coordinates="X Y x y",
        kinetic="(4*X'^2 + 4*Y'^2 + x'^2 + y'^2)/2",
        potential="9.81*(4*Y + y)",
        forces={"X": "30*sin(4*t)"},
        constraints={"ground": "Y", "face": f"(y - Y)*{cos(0.6)!r} - (x - X)*{sin(0.6)!r}"},
        nonideal=[
            da.Coulomb("ground", 0.1, mu_static=0.15, slide="X'"),
            da.Coulomb("face", 0.6, mu_static=0.75, point=("x - X", "y - Y")),
        ],
        initial={"X": 0, "Y": 0, "x": cos(0.6), "y": sin(0.6), "X'": 0, "Y'": 0, "x'": 0, "y'": 0},
    ).simulate(3, samples=61)


def belt() -> da.Motion:
    """Four blocks in a row on a belt: 25 changes."""
    numbers = range(4)
    return da.System(
        "belt",
        coordinates=" ".join(f"x{i} y{i}" for i in numbers),
        kinetic=" + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in numbers),
        potential=" + ".join(
            [*(f"10*(x{i + 1} - x{i})^2" for i in range(3)), *(f"5*x{i}^2 + 9.81*y{i}" for i in numbers)]
        ),
        constraints={f"f{i}": f"y{i}" for i in numbers},
        nonideal=[da.Coulomb(f"f{i}", 0.3, mu_static=0.5, point=(f"x{i} - 0.3*t", f"y{i}")) for i in numbers],
        initial={
            **{f"x{i}": 0.05 * i for i in numbers}, **{f"x{i}'": 0.3 for i in numbers},
            **dict.fromkeys([f"y{i}{mark}" for i in numbers for mark in ("", "'")], 0),
        },
    ).simulate(8, samples=161)  # fmt: skip


def sled() -> da.Motion:
    """A body on two feet that turn with it is pushed to and fro: both stop and set off at the same instants."""
    return da.System(
        "sled",
        coordinates="x y p",
        kinetic="x'^2 + y'^2 + 0.2*p'^2",
        potential="19.62*y",
        forces={"x": "9*sin(t)"},
        constraints={"A": "y - 0.5*p >= 0", "B": "y + 0.5*p >= 0"},
        nonideal=[
            da.Coulomb("A", 0.3, mu_static=0.4, slide="x' + 0.3*p'"),
            da.Coulomb("B", 0.2, mu_static=0.25, slide="x' + 0.3*p'"),
        ],
        initial={"x": 0, "y": 0, "p": 0, "x'": 0.5, "y'": 0, "p'": 0},
    ).simulate(6, samples=61)


def ball() -> da.Motion:
    """A ball slides, rolls and comes to rest."""
    return da.System(
        "ball",
        coordinates="x y z a b c",
        kinetic="(x'^2 + y'^2 + z'^2)/4 + (a'^2 + b'^2 + c'^2)/1000",
        potential="4.905*z",
        constraints={"table": "z"},
        nonideal=[
            da.Coulomb("table", 0.1, mu_static=0.15, slide=("x' - 0.1*b'", "y' + 0.1*a'")),
            da.Rolling("table", 0.001, slide=("a'", "b'")),
        ],
        initial=dict.fromkeys("xyzabc", 0) | {"x'": 1, "y'": 2, "z'": 0, "a'": 5, "b'": -20, "c'": 7},
    ).simulate(3, samples=61)


def turntable() -> da.Motion:
    """A particle slides off a turntable that turns ever faster; outputs are further apart than steps."""
    return da.System(
        "turntable",
        coordinates="r th z",
        kinetic="r'^2 + r^2*th'^2 + z'^2",
        potential="19.62*z",
        constraints={"table": "z"},
        nonideal=[da.Coulomb("table", 0.3, mu_static=0.45, slide=("r'", "r*(th' - 0.8*t)"))],
        initial={"r": 0.6, "th": 0, "z": 0, "r'": 0, "th'": 0, "z'": 0},
    ).simulate(6, samples=61)


MAKES = {make.__name__: make for make in (pushed, wedge, belt, sled, ball, turntable)}
MOTIONS: dict[str, da.Motion] = {}


def motion_of(name: str) -> da.Motion:
    if name not in MOTIONS:
        MOTIONS[name] = MAKES[name]()
        assert MOTIONS[name].certificate.holds, MOTIONS[name].certificate
    return MOTIONS[name]


def with_events(motion: da.Motion, change: Callable[[int, dict[str, Any]], dict[str, Any] | None]) -> da.Motion:
    """change: of the number of an event and the event; None leaves it out."""
    told = [change(k, dict(event)) for k, event in enumerate(motion.events)]
    return replace(motion, events=tuple(sorted((e for e in told if e is not None), key=lambda event: event["t"])))


def shifted(motion: da.Motion, number: int, by: float) -> da.Motion:
    return with_events(motion, lambda k, event: {**event, "t": event["t"] + by} if k == number else event)


def is_refuted(motion: da.Motion) -> bool:
    return not motion.certified().certificate.holds


@pytest.mark.parametrize("by", [-0.01, 0.01])
def test_setting_off_in_a_plane_at_another_time_is_seen(by):
    """A fifth of the outputs' distance: its friction was said not to be known, because nothing else moved then."""
    motion = motion_of("pushed")
    for number in (k for k, event in enumerate(motion.events) if event["name"] == "slip"):
        assert is_refuted(shifted(motion, number, by))


def test_stopping_in_a_plane_too_soon_is_seen():
    motion = motion_of("pushed")
    for number in (k for k, event in enumerate(motion.events) if event["name"] == "stick"):
        assert is_refuted(shifted(motion, number, -0.01))


def test_reversals_are_where_sliding_turns_back():
    motion = motion_of("wedge")
    numbers = [k for k, event in enumerate(motion.events) if event["name"] == "reversal"]
    assert numbers
    for number in numbers:
        assert is_refuted(with_events(motion, lambda k, event, own=number: None if k == own else event))
        assert is_refuted(replace(motion, events=(*motion.events[: number + 1], *motion.events[number:])))
        other = {"ground": "face", "face": "ground"}[motion.events[number]["contact"]]
        assert is_refuted(
            with_events(motion, lambda k, event, own=number, to=other: {**event, "contact": to} if k == own else event)
        )


@pytest.mark.parametrize("name", ["belt", "sled", "wedge"])
def test_the_state_of_every_change_is_looked_at(name):
    """Half a hundredth of the largest place or velocity, in one or the other; of 25 changes, and of two at once."""
    motion = motion_of(name)
    sizes = {"": 0.005 * np.abs(motion.q).max(), "'": 0.005 * np.abs(motion.v).max()}
    for number, told in enumerate(motion.events):
        for key in list(told["state"])[number % 4 :: 7]:  # all would be 400 certificates
            state = {**told["state"], key: told["state"][key] + sizes["'" if key.endswith("'") else ""]}
            wrong = with_events(motion, lambda k, e, own=number, new=state: {**e, "state": new} if k == own else e)
            assert is_refuted(wrong), (number, key)


def test_what_rests_as_another_stops_has_stopped():
    """Both feet stop together; one is said to stop a tenth of the outputs' distance later."""
    motion = motion_of("sled")
    for number in (k for k, event in enumerate(motion.events) if event["name"] == "stick"):
        assert is_refuted(shifted(motion, number, 0.012))


def test_friction_that_holds_beside_other_friction_is_what_c_has():
    """Of a ball that rolls, sliding and rolling are held and braked on the same coordinates."""
    motion = motion_of("ball")
    told = motion.contacts["table"]
    for k in np.flatnonzero(told.state == "stick")[1::7]:
        friction = told.friction.copy()
        friction[k] += 1e-3 * told.friction.max()
        assert is_refuted(replace(motion, contacts={**motion.contacts, "table": replace(told, friction=friction)}))


def test_heat_of_sparse_outputs_on_a_moving_surface():
    motion = motion_of("turntable")
    (name,) = motion.heat
    assert is_refuted(replace(motion, heat={name: 1.003 * motion.heat[name]}))
    for k in (45, 60):
        heat = motion.heat[name].copy()
        heat[k] *= 1.005
        assert is_refuted(replace(motion, heat={name: heat}))


def test_a_place_beside_a_reaction_that_begins_with_nothing_is_looked_at():
    """A sleigh goes straight on at first: its edge presses with nothing there, so that the side was not clear."""
    motion = da.System(
        "sleigh",
        coordinates="x y a",
        kinetic="(x'^2 + y'^2)/2 + a'^2/10",
        forces={"a": "0.8*cos(2*t)", "x": "0.6*sin(t)"},
        constraints={"edge": "x'*sin(a) - y'*cos(a)"},
        nonideal=[da.Coulomb("edge", 0.2, mu_static=0.3, slide="x'*cos(a) + y'*sin(a)")],
        initial={"x": 0, "y": 0, "a": 0, "x'": 1, "y'": 0, "a'": 0},
    ).simulate(6, samples=61)
    assert motion.certificate.holds, motion.certificate
    q = motion.q.copy()
    q[0, 0] += 0.005 * np.abs(q[:, 0]).max()
    assert is_refuted(replace(motion, q=q))


def test_bounces_are_told_once_and_nothing_pushes_in_flight():
    motion = da.System(
        "ball",
        coordinates="x z b",
        kinetic="(x'^2 + z'^2)/2 + 0.002*b'^2",
        potential="9.81*z",
        constraints={"floor": da.Constraint("floor", "z >= 0.1", restitution=0.6)},
        nonideal=[da.Coulomb("floor", 0.3, slide="x' - 0.1*b'")],
        initial={"x": 0, "z": 1, "b": 0, "x'": 2, "z'": 0, "b'": -10},
    ).simulate(1, samples=31)
    assert [event["name"] for event in motion.events] == ["impact", "impact"]
    assert motion.certificate.holds, motion.certificate
    assert is_refuted(replace(motion, events=(motion.events[0], *motion.events)))
    multipliers = motion.multipliers.copy()
    multipliers[0, 0] = 0.05  # of a weight of ten
    assert is_refuted(replace(motion, multipliers=multipliers))


@pytest.mark.parametrize("samples", [2, 3])
def test_outputs_that_are_all_at_rest_say_nothing_of_how_fast_it_was(samples: int) -> None:
    """x'' = −20 x ∓ 0.1 g from rest at 1: it stops for good long before 20 s, and every output is at rest."""
    motion = da.System(
        "block", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="10*x^2 + 9.81*y", constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", 0.1, point="x")], initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
    ).simulate(20, samples=samples)  # fmt: skip
    # Each half period takes 2 μ g/k from the largest x, until the spring no longer moves it.
    largest, lost = 1.0, 2 * 0.1 * 9.81 / 20
    while largest > lost / 2:
        largest = abs(largest - lost)
    assert abs(motion["x"][-1]) == pytest.approx(largest, abs=1e-7)
    assert motion.certificate.holds, motion.certificate
