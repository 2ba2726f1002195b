"""The references themselves, against each other and closed forms: they share no equations where they are compared."""

from __future__ import annotations

import numpy as np
import pytest

from . import body_reference, chain_reference, particle_reference

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
