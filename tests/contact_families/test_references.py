"""The references themselves, against each other and closed forms: they share no equations where they are compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from . import body_reference, chain_reference, dropped, particle_reference
from .compare import faults, run

G = 9.81


def puck(mu: float, mu_static: float, push: np.ndarray, growth: np.ndarray, v: np.ndarray):
    """One particle on a flat table by both ways: from event to event, and smoothed as a body on one foot."""
    exact = particle_reference.reference(
        particle_reference.Particle(
            gradient=lambda r: np.array([0.0, 0, 1]),
            hessian=lambda r: np.zeros((3, 3)),
            force=lambda t: np.array([*(push + growth * t), -G]),
            m=1.0,
            mu=mu,
            mu_static=mu_static,
            one_sided=False,
            start=(np.zeros(3), np.array([*v, 0.0])),
        ),
        2.0,
        "table",
    )
    smooth = body_reference.reference(
        body_reference.Body(
            mass=1.0,
            inertia=1.0,
            feet=np.zeros((1, 2)),
            loads=lambda th: (np.array([G]), np.zeros((1, 2))),
            push=lambda t, th: (push + growth * t, 0.0),
            mu=np.array([mu]),
            mu_static=np.array([mu_static]),
            start=np.array([0, 0, 0, *v, 0]),
        ),
        2.0,
        ["table"],
        lambda q, v: dict(zip(("x", "y", "x'", "y'"), np.column_stack([q[:, :2], v[:, :2]]).T, strict=True)),
    )
    return exact, smooth


@pytest.mark.parametrize(
    ("mu", "mu_static", "push", "growth", "v"),
    [
        (0.3, 0.3, [0.5, -0.4], [0, 0], [1.0, 1.5]),  # pushed aside while it stops
        (0.3, 0.3, [0, 0.5], [1.0, 1.5], [0, 0]),  # from rest, a force that turns and grows: a gentle start
        (0.3, 0.45, [0, 0.5], [1.0, 1.5], [0, 0]),  # a sudden start
        (0.3, 0.45, [-1.0, 0], [1.5, 2.5], [0.7, -0.2]),  # stops, sticks, starts again
    ],
)
def test_from_event_to_event_and_smoothed_agree(mu, mu_static, push, growth, v):
    exact, smooth = puck(mu, mu_static, *(np.array(value, float) for value in (push, growth, v)))
    for name, column in smooth.columns.items():
        # The smoothed one is off by about its width ε. Where a growing force passes μ_s > μ it passes a fold of the
        # smoothed law, which delays it by about ε^(2/3): the difference of the two widths tells that too.
        assert column == pytest.approx(exact.columns[name], abs=3 * (smooth.error + exact.error) + 1e-7)
    asked = (smooth.contacts["table"].state != "") & (exact.contacts["table"].state != "")
    assert asked.sum() > 30
    assert (smooth.contacts["table"].state == exact.contacts["table"].state)[asked].all()


def test_oscillator_on_a_belt_against_its_closed_form():
    """k x = μ_s m g after riding; then x = x_s + A cos(ω t + p) about x_s = μ m g/k until its speed is the belt's."""
    k, mu, mu_static, belt = 20.0, 0.3, 0.4, 0.5
    chain = chain_reference.Chain(
        np.ones(1),
        np.array([[k]]),
        np.zeros((2, 1)),
        belt,
        np.array([mu]),
        np.array([mu_static]),
        (np.zeros(1), np.array([belt])),
    )
    found = chain_reference.reference(chain, 3.0, ["belt"])
    w, rise = np.sqrt(k), (mu_static - mu) * G / k
    give = mu_static * G / k / belt
    # x − x_s = rise cos wτ + (belt/w) sin wτ has speed `belt` again at wτ = 2(π − atan(rise w/belt)).
    again = give + 2 * (np.pi - np.arctan(rise * w / belt)) / w
    assert found.events[1:3] == pytest.approx((give, again), abs=1e-9)


def test_a_body_that_spins_on_three_equal_feet_stops_after_its_closed_form():
    """I ω′ = −μ m g r: it stops at I ω/(μ m g r), turned by half of ω times that."""
    m, r, mu, spin, inertia = 1.3, 0.4, 0.25, 2.0, 0.15
    feet = r * np.array([[np.cos(a), np.sin(a)] for a in np.arange(3) * 2 * np.pi / 3])
    body = body_reference.Body(
        mass=m,
        inertia=inertia,
        feet=feet,
        loads=lambda th: (np.full(3, m * G / 3), np.zeros((3, 2))),
        push=lambda t, th: (np.zeros(2), 0.0),
        mu=np.full(3, mu),
        mu_static=np.full(3, mu),
        start=np.array([0, 0, 0, 0, 0, spin]),
    )
    found = body_reference.reference(body, 1.0, ["1", "2", "3"], lambda q, v: {"th": q[:, 2]})
    stop = inertia * spin / (mu * m * G * r)
    assert stop < 1
    assert found.columns["th"][-1] == pytest.approx(spin * stop / 2, abs=1e-7)


def test_a_sled_at_rest_gives_way_where_no_friction_within_the_cones_holds_it():
    """Feet at (0, ±w): torque fixes the parts of their friction along x, and what is left of both cones must carry F_y.
    Feet that stick share that in any way they like, so that the limit is not one of a single foot.
    """
    m, w, mu, pull = 1.0, 0.4, 0.3, np.array([0.3, 2.0, 0.25])
    body = body_reference.Body(
        mass=m,
        inertia=0.1,
        feet=np.array([[0, w], [0, -w]]),
        loads=lambda th: (np.full(2, m * G / 2), np.zeros((2, 2))),
        push=lambda t, th: (pull[:2] * t, pull[2] * t),
        mu=np.full(2, mu),
        mu_static=np.full(2, mu),
        start=np.zeros(6),
    )

    def left(t: float) -> float:
        along = np.array([-pull[0] * t + pull[2] * t / w, -pull[0] * t - pull[2] * t / w]) / 2
        return float(np.sqrt((mu * m * G / 2) ** 2 - along**2).sum() - pull[1] * t)

    gives = brentq(left, 0.1, 1.47)
    duration = gives + 0.04
    found = body_reference.reference(body, duration, ["left", "right"], lambda q, v: {"y'": v[:, 1], "y": q[:, 1]})
    # From its limit the force grows like t, the speed like t²: its root is a line that begins where the sled gives way.
    t, speed = found.t[-2:], np.sqrt(found.columns["y'"][-2:])
    begins = t[0] - speed[0] * (t[1] - t[0]) / (speed[1] - speed[0])
    # The outputs are 0.04 and 0.003 after it, where the next term of the series is a few per cent of the distance.
    assert begins == pytest.approx(gives, abs=2e-3)
    assert found.columns["y"][found.t < gives - 0.01] == pytest.approx(0, abs=1e-7)


def test_forces_of_a_body_that_turns_about_one_foot():
    """About the foot that is held, (I + m l²) α = −2 l μ N: the centre's acceleration says what that foot gives."""
    m, length, inertia, mu, spin = 1.3, 0.4, 0.1, 0.25, 2.0
    body = body_reference.Body(
        mass=m,
        inertia=inertia,
        feet=np.array([[-length, 0.0], [length, 0.0]]),
        loads=lambda th: (np.full(2, m * G / 2), np.zeros((2, 2))),
        push=lambda t, th: (np.zeros(2), 0.0),
        mu=np.full(2, mu),
        mu_static=np.full(2, mu),
        start=np.zeros(6),
    )
    state = np.array([0, 0, 0, 0, length * spin, spin])
    load, size, pull = body_reference._instant(body, 0.0, state, np.array([True, False]))
    rubs = mu * m * G / 2
    alpha = -2 * length * rubs / (inertia + m * length**2)
    along, across = -m * spin**2 * length, m * alpha * length
    assert load == pytest.approx(np.full(2, m * G / 2))
    assert size == pytest.approx([np.hypot(along, across + rubs), rubs])
    assert pull == pytest.approx([along, across, inertia * alpha])


def test_what_is_wrong_is_found():
    """A right motion beside references that are off a little, in each of what is compared."""
    case = dropped.case(5)
    motion = run(case)
    assert faults(case, motion) == []
    right, floor = case.reference, case.reference.contacts["floor"]
    for wrong in (
        replace(right, columns={**right.columns, "y": right.columns["y"] + 1e-5}),
        replace(right, pull={"x": right.pull["x"] + 0.01}),
        replace(right, contacts={"floor": replace(floor, normal=floor.normal * 1.001)}),
        replace(right, contacts={"floor": replace(floor, friction=floor.friction + 0.01)}),
        replace(right, contacts={"floor": replace(floor, state=np.full(floor.state.shape, "slip"))}),
    ):
        assert len(faults(replace(case, reference=wrong), motion)) == 1
