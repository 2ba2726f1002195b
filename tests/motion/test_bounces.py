"""Bounces that a kernel goes through by itself, beside those decided between legs and beside closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.ready.library import ready_library
from dalembert.motion.certificate.impact_laws import _Checked, _Inverses
from dalembert.motion.certificate.smooth_impacts import is_smooth, smooth_residual
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.run import legs
from dalembert.motion.contacts.run.bounces import impulses_by_numpy

G = 9.81


def ball(e: float = 0.8, floor: str = "y >= 0", **more: object) -> da.System:
    return da.System(
        "ball",
        coordinates="y",
        kinetic="m*y'^2/2",
        potential="m*g*y",
        constraints=[da.Constraint("floor", floor, restitution=e)],
        parameters={"m": 2, "g": G},
        initial={"y": 1, "y'": 0},
        **more,
    )


def box() -> da.System:
    """A particle between four walls, without gravity."""
    walls = {"left": "x >= 0", "right": "1 - x >= 0", "low": "y >= 0", "high": "2 - y >= 0"}
    return da.System(
        "box",
        coordinates="x y",
        kinetic="(x'^2 + 3*y'^2)/2",
        constraints=[da.Constraint(name, text, restitution=1) for name, text in walls.items()],
        initial={"x": 0.3, "y": 0.2, "x'": 0.7, "y'": 1.1},
    )


def double_pendulum() -> da.System:
    """Its tip strikes a wall; the mass matrix is full."""
    return da.System(
        "double pendulum at a wall",
        coordinates="a b",
        kinetic="a'^2 + b'^2/2 + cos(a - b)*a'*b'",
        potential="-g*(2*cos(a) + cos(b))",
        constraints=[da.Constraint("wall", "sin(a) + sin(b) + 0.2 >= 0", restitution=0.7)],
        parameters={"g": G},
        initial={"a": 0.8, "b": 0.9, "a'": 0, "b'": 0},
    )


def bob(stated: int = 1) -> da.System:
    """A pendulum in Cartesian coordinates, its rod stated once or twice, that swings against a stop."""
    rods = [da.Constraint(f"rod {k}", "x^2 + y^2 = 1") for k in range(stated)]
    return da.System(
        "bob",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="g*y",
        constraints=[*rods, da.Constraint("stop", "x + 0.3 >= 0", restitution=0.6)],
        parameters={"g": G},
        initial={"x": 0.8, "y": -0.6, "x'": 0, "y'": 0},
    )


def rolling() -> da.System:
    """A wheel that rolls, two coordinates and one constraint on velocities, against a buffer that moves."""
    return da.System(
        "wheel",
        coordinates="x a",
        kinetic="x'^2/2 + a'^2/4",
        potential="0.5*x^2",
        constraints=[
            da.Constraint("rolls", "x' - a' = 0"),
            da.Constraint("buffer", "x + 0.5 + 0.1*sin(3*t) >= 0", restitution=0.9),
        ],
        initial={"x": 1, "a": 0, "x'": 0, "a'": 0},
    )


SYSTEMS = {
    "ball": (ball(), 3.0),
    "moving floor": (ball(floor="y - 0.05*sin(9*t) >= 0"), 2.0),
    "box": (box(), 9.0),
    "double pendulum": (double_pendulum(), 4.0),
    "bob": (bob(), 3.0),
    "rod stated twice": (bob(2), 3.0),
    "rolling": (rolling(), 12.0),
}


@pytest.fixture
def between_legs(monkeypatch):
    """Call it, and every bounce ends a leg, as on the reference backend."""
    return lambda: monkeypatch.setattr(legs, "bounces_in", lambda *_: None)


def count_of_legs(monkeypatch) -> list[int]:
    counted = []
    part = legs._Run._part
    monkeypatch.setattr(legs._Run, "_part", lambda *given: counted.append(1) or part(*given))
    return counted


@pytest.mark.parametrize("name", SYSTEMS)
def test_as_those_decided_between_legs(name, between_legs, monkeypatch):
    system, duration = SYSTEMS[name]
    counted = count_of_legs(monkeypatch)
    within = system.simulate(duration, rtol=1e-10, samples=41)
    assert within.backend == "native"
    assert len(counted) == 1
    assert within.certificate.holds, within.certificate
    between_legs()
    apart = system.simulate(duration, rtol=1e-10, samples=41)
    assert len(counted) == 2 + len(apart.blows) > 3
    assert [e["contact"] for e in within.events] == [e["contact"] for e in apart.events]
    # Both are within some hundred tolerances of the motion; the double pendulum multiplies errors by about a hundred.
    close = {"rtol": 1e-6, "atol": 1e-7}
    assert np.allclose(within.q, apart.q, **close)
    assert np.allclose(within.v, apart.v, **close)
    assert np.allclose(within.impact_loss, apart.impact_loss, **close)
    for one, other in zip(within.blows, apart.blows, strict=True):
        assert one.law == other.law
        assert one.contacts[0].state == other.contacts[0].state == "smooth"
        assert np.allclose(one.t, other.t, **close)
        assert np.allclose(one.after, other.after, **close)
        assert np.allclose(one.contacts[0].normal, other.contacts[0].normal, **close)
        assert np.allclose(one.contacts[0].compression, other.contacts[0].compression, **close)
        assert np.allclose(one.constraint_impulses, other.constraint_impulses, **close)
        assert np.allclose(one.loss, other.loss, **close)
    for one, other in zip(within.events, apart.events, strict=True):
        assert set(one) == set(other)
        assert one["name"] == other["name"] == "impact"


@pytest.mark.parametrize("method", ["dop853", "dopri5", "stiff"])
def test_a_box_is_a_torus_of_mirror_images(method):
    motion = box().simulate(40, rtol=1e-10, samples=101, method=method)
    for name, start, speed, width in (("x", 0.3, 0.7, 1.0), ("y", 0.2, 1.1, 2.0)):
        unfolded = (start + speed * motion.t) % (2 * width)
        # Flights are straight lines, which every method follows to rounding.
        assert np.allclose(motion[name], np.minimum(unfolded, 2 * width - unfolded), atol=1e-9)
    assert len(motion.blows) == 28 + 22
    assert motion.certificate.holds


def test_thousands_of_bounces():
    """More than a first run has room for."""
    motion = ball(e=1).simulate(4000, samples=11, rtol=1e-9)
    fall = np.sqrt(2 / G)
    times = np.array([event["t"] for event in motion.events])
    assert times.size == int((4000 / fall + 1) / 2) > 4096 // 2
    # Where each bounce is located, rounding of the interpolant takes 2e-14 of the energy, always the same way.
    assert np.allclose(times, fall * (2 * np.arange(times.size) + 1), rtol=1e-10, atol=0)
    assert np.allclose(motion.energy, motion.energy[0], rtol=1e-9)
    assert motion.certificate.holds


def test_to_the_end_of_all_bounces():
    """What becomes too slow is left to the decisions between legs: the ball comes to rest when the series says."""
    motion = ball(e=0.5).simulate(3, samples=31)
    assert motion.events[-1]["name"] == "contact"
    assert motion.certificate.holds
    # The last bounces are left out: of the time that all take, a share as small as their speed, 1e-5.
    assert motion.events[-1]["t"] == pytest.approx(np.sqrt(2 / G) * (1 + 2 * 0.5 / (1 - 0.5)), rel=3e-5)
    assert motion["y"][-1] == pytest.approx(0, abs=1e-9)
    assert motion["y'"][-1] == 0


def test_two_walls_at_once_end_the_leg():
    corner = box().replace(initial={"x": 0.5, "y": 0.5, "x'": -1, "y'": -1})
    motion = corner.simulate(1, samples=5)
    assert [event["contact"] for event in motion.events] == ["left", "low"]
    assert motion["x"][-1] == pytest.approx(0.5)
    assert motion["y'"][-1] == pytest.approx(1)
    assert motion.certificate.holds


def test_friction_and_resting_contacts_are_decided_between_legs(monkeypatch):
    """A block slides on a rough floor between two smooth walls."""
    system = da.System(
        "block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="g*y",
        constraints=[
            da.Constraint("floor", "y >= 0"),
            da.Constraint("left", "x >= 0", restitution=0.5),
            da.Constraint("right", "1 - x >= 0", restitution=0.5),
        ],
        nonideal=[da.Coulomb("floor", 0.1, point=("x", "y"))],
        parameters={"g": G},
        initial={"x": 0.5, "y": 0, "x'": 3, "y'": 0},
    )
    motion = system.simulate(3, samples=21)
    v, way, walls = 3.0, 0.5, 0
    while v * v > 2 * 0.1 * G * way:
        v, way, walls = 0.5 * np.sqrt(v * v - 2 * 0.1 * G * way), 1.0, walls + 1
    rest = v * v / (2 * 0.1 * G)
    assert sum(event["name"] == "impact" for event in motion.events) == walls
    assert motion["x"][-1] == pytest.approx(1 - rest if walls % 2 else rest, rel=1e-7)
    assert motion.certificate.holds


def test_events_of_the_user_are_seen_in_the_jump(between_legs):
    """A velocity that changes sign in the blow passes zero there, as the decisions between legs tell it."""
    system = ball(events=[da.Event("y'", name="turns")])
    motion = system.simulate(1.5, samples=5)
    fall = np.sqrt(2 / G)
    turns = [event["t"] for event in motion.events if event["name"] == "turns"]
    assert turns == pytest.approx([fall, fall * 1.8, fall * 2.6, fall * (2.6 + 0.64)], rel=1e-9)


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
@pytest.mark.parametrize("name", ["bob", "double pendulum"])
def test_all_blows_at_once_are_judged_as_one_by_one(name, law):
    """Also where they are wrong: each number of a blow, changed by a hundredth."""
    system, duration = SYSTEMS[name]
    constraints = [replace(c, impact=law) if c.one_sided else c for c in system.constraints]
    motion = system.replace(constraints=constraints).simulate(duration, samples=5)
    contacts = Contacts(motion.system)
    blow = motion.blows[1]
    (contact,) = blow.contacts

    def judged(wrong) -> tuple[float, float]:
        assert is_smooth(contacts, wrong)
        return smooth_residual(contacts, [motion.blows[0], wrong]), _Checked(contacts, wrong, 1.0, _Inverses()).worst()

    right = judged(blow)
    assert max(right) < 1e-13
    changes = [replace(blow, after=1.01 * blow.after), replace(blow, before=1.01 * blow.before)]
    changes += [
        replace(blow, contacts=(replace(contact, **{field: 1.01 * getattr(contact, field)}),))
        for field in ("normal", "compression", "loss")
    ]
    if blow.constraint_impulses.size:
        changes.append(replace(blow, constraint_impulses=1.01 * blow.constraint_impulses))
    for wrong in changes:
        at_once, alone = judged(wrong)
        assert at_once > 1e-6
        assert 0.3 < at_once / alone < 3
    wrong = replace(blow, contacts=(replace(contact, e=contact.e + 0.01),))
    assert not is_smooth(contacts, wrong)
    assert _Checked(contacts, wrong, 1.0, _Inverses()).worst() > 1e-3


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_c_and_numpy_see_the_same_blows(name, law, monkeypatch):
    """Their impulses, and how far what is told of them is from its laws; rods stated twice share impulses evenly."""
    system, duration = SYSTEMS[name]
    contacts, motion = Contacts(system), system.simulate(duration, samples=5)
    blows = [replace(blow, law=law) for blow in motion.blows if is_smooth(contacts, blow)]
    assert len(blows) >= 2
    t = np.array([blow.t for blow in blows])
    q, before, after = (np.array([getattr(blow, name) for blow in blows]) for name in ("q", "before", "after"))
    which = [contacts.gap_numbers[blow.contacts[0].name] for blow in blows]
    if ready_library() is None:
        pytest.skip("no library of C for all models: no compiler has made one here")
    by_c = contacts.blows_at(which, t, q, before, after)
    assert by_c is not None
    impulses = by_c.impulses()
    assert impulses == pytest.approx(
        impulses_by_numpy(contacts, which, t, q, before, after), rel=1e-9, abs=1e-12
    )  # velocities are about one, and a blow may lose a thousandth
    contact = blows[1].contacts[0]
    wrong = [
        *(replace(blows[1], **{name: 1.01 * getattr(blows[1], name)}) for name in ("before", "after")),
        *(
            replace(blows[1], contacts=(replace(contact, **{name: 1.01 * getattr(contact, name)}),))
            for name in ("normal", "compression", "loss")
        ),
        replace(blows[1], constraint_impulses=1.01 * blows[1].constraint_impulses + 0.01),
        replace(blows[1], after=np.nan * blows[1].after),
    ]
    for other in (blows[1], *wrong):
        found = smooth_residual(contacts, [blows[0], other])
        with monkeypatch.context() as without:
            without.setattr(Contacts, "blows_at", lambda *_: None)
            # What is right is rounding in both.
            assert found == pytest.approx(smooth_residual(contacts, [blows[0], other]), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("method", ["auto", "dopri5", "stiff"])
@pytest.mark.parametrize("after", [1e-15, 1e-13, 1e-12, 1e-11])
def test_a_motion_right_after_a_bounce(after, method):
    """At t = 1 it is at the floor, with the time of the bounce a rounding later: what is left is shorter than steps
    begin with, and too short for the gap to be seen open.
    """
    for height in (0.0, 1.8e-15):
        falling = ball(0.5).replace(initial={"y": height, "y'": -G, "t": 1.0})
        run = falling.prepare(times=[1 + after], method=method).run()
        assert run.failure is None
        assert len(run.events) == 1
        # times near 1 have a grain of 2e-16 s
        assert run.q[-1, 0] == pytest.approx(0.5 * G * ((1 + after) - 1) - 0.5 * height, abs=5e-15)


def on_a_cone(gap: str) -> da.System:
    """Appell and Hamel's constraint, and a fourth coordinate which it leaves alone."""
    return da.System(
        "cone",
        coordinates="x y z u",
        kinetic="(x'^2 + y'^2 + z'^2 + u'^2)/2",
        potential="g*z",
        constraints=[da.Constraint("cone", "x'^2 + y'^2 = z'^2"), da.Constraint("stop", gap, restitution=0.5)],
        parameters={"g": G},
        initial={"x": 0, "y": 0, "z": 3, "u": 0, "x'": 0.6, "y'": 0.8, "z'": -1, "u'": 2},
    )


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_no_blow_leaves_a_constraint_nonlinear_in_velocities(backend):
    with pytest.raises(da.MotionFailed, match="'cone' is nonlinear in the velocities, and no law says"):
        on_a_cone("x <= 0.5").simulate(1, backend=backend)
    motion = on_a_cone("u <= 1").simulate(1, backend=backend)
    assert motion.certificate.holds
    assert motion["u"][-1] == pytest.approx(1 - 0.5 * 2 * 0.5, abs=1e-9)  # free but for the stop at t = 1/2


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("method", ["dop853", "stiff"])
@pytest.mark.parametrize("floor", ["log(1 + y) >= 0", "sqrt(1 + y) - 1 >= 0"])
def test_a_gap_without_a_value_beyond_it(floor, method, backend):
    """Free fall takes steps as long as it likes, to where there is no logarithm; the gap closes before."""
    motion = ball(0.8, floor).simulate(1.2, method=method, backend=backend)
    assert motion.certificate.holds
    np.testing.assert_allclose(motion["y"], ball(0.8).simulate(1.2)["y"], atol=1e-7)  # the same floor


def test_no_more_are_looked_at_at_once_than_there_is_room_for(monkeypatch):
    whole = box().simulate(9, samples=7)
    monkeypatch.setattr(Contacts, "points_at_once", 4)
    parts = box().simulate(9, samples=7)
    assert len(whole.blows) == len(parts.blows) > 8
    assert np.array_equal(whole.q, parts.q)
    assert np.array_equal(whole.impact_loss, parts.impact_loss)
    assert parts.certificate.holds
    assert [event["t"] for event in whole.events] == [event["t"] for event in parts.events]


@pytest.mark.parametrize("mass", [1e-9, 1.0, 3.0, 7.0])
def test_a_ball_in_nanometres_bounces(mass: float) -> None:
    """What a return to the floor leaves of a velocity of 1e10 is rounding of that, and larger than any size of its own:
    taken for one, the blow did nothing, and the ball fell through.
    """
    height, e = 1e9, 0.6
    g = G * height
    motion = ball(e).replace(
        parameters={"m": mass, "g": g}, initial={"y": height, "y'": 0}
    ).simulate(1.3, samples=14)  # fmt: skip
    time, speed = np.sqrt(2 / G), np.sqrt(2 * G)  # in heights, of the first fall
    while time + 2 * e * speed / G < 1.3:
        speed *= e
        time += 2 * speed / G
    left = 1.3 - time
    assert motion["y"][-1] / height == pytest.approx(e * speed * left - G * left**2 / 2, abs=1e-8)
    assert motion.certificate.holds, motion.certificate
