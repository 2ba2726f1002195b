"""What a motion says of its contacts beside its states: columns, events, blows. The certificate sees what is wrong.

Each was once certified.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sympy as sp

import dalembert as da

G = 9.81


def blocks_pulled(mu_static: float, rod: bool = False) -> da.System:
    """Two blocks on a floor, of which one is pulled ever harder; a rod between them, or a spring."""
    constraints = {"f0": "z0", "f1": "z1"} | ({"rod": "x1 - x0 - 1"} if rod else {})
    return da.System(
        "two blocks",
        coordinates="x0 z0 x1 z1",
        kinetic="(x0'^2 + z0'^2 + x1'^2 + z1'^2)/2",
        potential="9.81*(z0 + z1) + k*(x1 - x0 - 1)^2/2",
        forces={"x0": "2*t"},
        constraints=constraints,
        nonideal=[da.Coulomb("f0", 0.15, mu_static=mu_static, point=("x0", "z0")),
                  da.Coulomb("f1", 0.2, mu_static=0.3, point=("x1", "z1"))],
        parameters={"k": 20.0},
        initial={"x0": 0, "z0": 0, "x1": 1, "z1": 0, "x0'": 0, "z0'": 0, "x1'": 0, "z1'": 0},
    )  # fmt: skip


@pytest.mark.parametrize("rod", [False, True])
@pytest.mark.parametrize("samples", [5, 201])
def test_a_contact_that_sets_off_a_little_early_is_seen(rod, samples):
    """By a hundredth of its limit, by itself or with others."""
    model = blocks_pulled(0.2, rod)
    assert model.simulate(4, samples=samples).certificate.holds
    early = blocks_pulled(0.198, rod).simulate(4, samples=samples)
    assert early.certificate.holds
    assert replace(early, system=model).certified().certificate.failures == ("contact",)


@pytest.mark.parametrize("samples", [3, 41])
def test_a_contact_that_sets_off_a_little_late_is_seen(samples):
    """It has held more than it could between two outputs."""
    model = blocks_pulled(0.2)
    late = blocks_pulled(0.202).simulate(4, samples=samples)
    assert late.certificate.holds
    assert "contact" in replace(late, system=model).certified().certificate.failures


def test_what_another_lets_go_may_set_off_below_its_limit():
    """The first block gives way and pulls less from then on: nothing of that is early."""
    motion = blocks_pulled(0.4, rod=True).simulate(6)
    assert [event["name"] for event in motion.events if event["name"] == "slip"]
    assert motion.certificate.holds, motion.certificate


def ball(law: str) -> da.System:
    """A rough ball that spins and bounces aslant: laws of impact differ where its slipping stops or turns."""
    return da.System(
        "rod on a floor",
        coordinates="x y p",
        kinetic="(x'^2 + y'^2)/2 + p'^2/24",
        potential="9.81*y",
        constraints={"floor": da.Constraint("floor", "y - cos(p)/2", one_sided=True, restitution=0.6, impact=law)},
        nonideal=[da.Coulomb("floor", 0.4, slide=("x' + cos(p)/2*p'",))],
        initial={"x": 0, "y": 0.9, "p": 0.6, "x'": 1.5, "y'": 0, "p'": 0},
    )


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_blows_by_another_law_than_the_models_are_seen(law):
    motion = ball(law).simulate(0.5)
    assert len(motion.blows) >= 1
    assert motion.certificate.holds, motion.certificate
    assert "impact" in replace(motion, system=ball("newton")).certified().certificate.failures


def cradle(impacts, speeds=(1, 0, 0)) -> da.System:
    names = ("x0", "x1", "x2")
    return da.System(
        "cradle",
        coordinates=names,
        kinetic="(x0'^2 + x1'^2 + 2*x2'^2)/2",
        constraints={k: da.Constraint(k, f"{b} - {a} - 1", one_sided=True, restitution=0.8) for k, a, b in
                     (("left", "x0", "x1"), ("right", "x1", "x2"))},
        impacts=impacts,
        initial={"x0": -0.5, "x1": 1, "x2": 2} | {f"{name}'": v for name, v in zip(names, speeds, strict=True)},
    )  # fmt: skip


@pytest.mark.parametrize(("made", "asked"), [("sequence", "together"), ("together", "sequence")])
def test_blows_in_another_order_than_the_models_are_seen(made, asked):
    motion = cradle(made).simulate(1)
    assert motion.certificate.holds, motion.certificate
    assert replace(motion, system=cradle(asked)).certified().certificate.failures == ("impact",)


def test_the_fastest_approach_strikes_first():
    """Two balls close in on one between them at once: the order of the names says otherwise."""
    start = {"x0": -1, "x1": 1, "x2": 2.5, "x0'": 2, "x1'": 0, "x2'": -1}
    named = cradle(("right", "left")).replace(initial=start)
    motion = named.simulate(1)
    assert [blow.contacts[0].name for blow in motion.blows[:2]] == ["right", "left"]
    assert motion.certificate.holds, motion.certificate
    assert replace(
        motion, system=cradle(("left", "right")).replace(initial=start)
    ).certified().certificate.failures == ("impact",)
    other = cradle("sequence").replace(initial=start)
    assert other.simulate(1).certificate.holds
    assert replace(motion, system=other).certified().certificate.failures == ("impact",)


@pytest.fixture(scope="module")
def hop() -> da.Motion:
    """A block that falls, bounces, slides, rests, and is pushed until it slips."""
    return da.System(
        "block",
        coordinates="x z",
        kinetic="(x'^2 + z'^2)/2",
        potential="9.81*z",
        forces={"x": "2*t"},
        constraints={"floor": da.Constraint("floor", "z", one_sided=True, restitution=0.3)},
        nonideal=[da.Coulomb("floor", 0.5, mu_static=0.6, point=("x", "z"))],
        initial={"x": 0, "z": 0.2, "x'": 4, "z'": 0},
    ).simulate(4, samples=161)


def told(motion: da.Motion, **columns) -> da.Motion:
    return replace(motion, contacts={"floor": replace(motion.contacts["floor"], **columns)})


NAMES = ("stick", "slip", "reversal", "release", "contact", "impact")


def with_event(motion: da.Motion, name: str) -> da.Motion:
    """The motion, and one more event while its block sticks."""
    k = int(np.flatnonzero(motion.contacts["floor"].state == "stick")[10])
    state = dict(zip(("x", "z", "x'", "z'"), [*motion.q[k].tolist(), *motion.v[k].tolist()], strict=True))
    more = {"name": name, "contact": "floor", "t": (motion.t[k] + motion.t[k + 1]) / 2, "state": state}
    return replace(motion, events=tuple(sorted((*motion.events, more), key=lambda event: event["t"])))


def renamed(motion: da.Motion, old: str, new: str) -> da.Motion:
    events = tuple({**event, "name": new} if event["name"] == old else event for event in motion.events)
    return replace(motion, events=events)


WRONG = {
    "friction while it sticks": lambda m: told(
        m, friction=np.where(m.contacts["floor"].state == "stick", 1.01, 1.0) * m.contacts["floor"].friction
    ),
    "slips in the air": lambda m: told(m, state=np.where(m.q[:, 1] > 0.01, "slip", m.contacts["floor"].state)),
    "sticks in the air": lambda m: told(m, state=np.where(m.q[:, 1] > 0.01, "stick", m.contacts["floor"].state)),
    "pushes in the air": lambda m: told(m, normal=m.contacts["floor"].normal + (m.q[:, 1] > 0.01)),
    "a multiplier in the air": lambda m: replace(m, multipliers=m.multipliers + (m.q[:, 1:] > 0.01)),
    "no events": lambda m: replace(m, events=()),
    "events of another time": lambda m: replace(m, events=tuple({**e, "t": e["t"] + 0.05} for e in m.events)),
    "events without impulses": lambda m: replace(
        m, events=tuple({k: v for k, v in e.items() if k != "impulse"} for e in m.events)
    ),
    **{f"another {name}": partial(with_event, name=name) for name in NAMES},
    "slips told as sticking": partial(renamed, old="slip", new="stick"),
    "sticking told as slips": partial(renamed, old="stick", new="slip"),
    "bounces told as contacts": partial(renamed, old="impact", new="contact"),
    "blows of another time": lambda m: replace(m, blows=tuple(replace(blow, t=blow.t + 0.05) for blow in m.blows)),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_told_wrongly_is_seen(hop, what):
    assert {"impact", "contact", "stick", "slip"} <= {event["name"] for event in hop.events}
    assert hop.certificate.holds, hop.certificate
    assert "contact" in WRONG[what](hop).certified().certificate.failures


@pytest.mark.parametrize("samples", [(0, 1.9), (0, 0.15, 1.9), (0, 0.2, 1.3, 1.9)])
def test_what_rolls_may_slip_where_it_lands(samples):
    """A disc is thrown up, and forward, and lands between two outputs: that its resistance to rolling, which has a name
    of its own, holds before and gives way behind is told by the floor.
    """
    side, up = (sp.Piecewise((force, (da.t > 0.2) & (da.t < 0.3)), (0, True)) for force in (8, 60))
    disc = da.System(
        "disc",
        coordinates="x y p",
        kinetic="(x'^2 + y'^2)/2 + p'^2/4",
        potential="9.81*y",
        forces={"x": side, "y": up},
        constraints={"floor": da.Constraint("floor", "y - 1", one_sided=True, restitution=0)},
        nonideal=[da.Coulomb("floor", 0.5, slide=("x' - p'",)), da.Rolling("floor", 0.02, slide="p'")],
        initial={"x": 0, "y": 1, "p": 0, "x'": 0, "y'": 0, "p'": 0},
    )
    motion = disc.simulate(times=samples)
    assert [event["name"] for event in motion.events] == ["release", "contact"]
    rolling = motion.contacts["floor rolling"].state
    assert (rolling[0], rolling[-1]) == ("stick", "slip")
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize(("e", "ends"), [(1.0, [2000, 4000]), (0.9999, [2000, 2001])])
def test_two_balls_between_walls_that_they_touch(e, ends):
    """Each goes to and fro in a slot of its own width, without end: by the law, both are caught, one after the other
    where the second is slower all the time, and else at once. What they lose is v²: of 1 and 0.7, or of 1 and 1.
    """
    speeds = (1.0, 0.7) if e == 1.0 else (1.0, 1.0)
    gaps = {f"{side}{n}": f"{sign}x{n} >= 0" for n in "12" for side, sign in (("left", ""), ("right", "-"))}
    motion = da.System(
        "slots",
        coordinates="x1 y1 x2 y2",
        kinetic="x1'^2 + y1'^2 + x2'^2 + y2'^2",
        constraints=[da.Constraint(name, gap, restitution=e) for name, gap in gaps.items()],
        impacts="sequence",
        initial={"x1": 0, "y1": 0, "x1'": speeds[0], "y1'": 2, "x2": 0, "y2": 0, "x2'": speeds[1], "y2'": 2},
    ).simulate(1, samples=3)
    assert [k for k, blow in enumerate(motion.blows) if len(blow.contacts) > 1] == ends
    np.testing.assert_allclose(motion.v[-1], [0, 2, 0, 2], atol=1e-12)
    assert sum(blow.loss for blow in motion.blows) == pytest.approx(speeds[0] ** 2 + speeds[1] ** 2, rel=1e-9)
    assert motion.certificate.holds, motion.certificate
    early = replace(motion, blows=motion.blows[1000:])
    assert not early.certified().certificate.holds
