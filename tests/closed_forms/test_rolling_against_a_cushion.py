"""A ball that rolls on a table strikes a rough cushion: its rim slides along the cushion and up it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da

M, R, E, MU = 1.0, 0.1, 0.5, 0.25
SPEED, ALONG, SPIN = 1.0, 0.4, 3.0


def ball(level: str) -> da.System:
    """Rolling along x is a constraint on velocities, or on places, which says the same here."""
    rolls = {"velocity": "x' - R*b' = 0", "position": "x - R*b = 0"}[level]
    return da.System(
        "ball and cushion",
        coordinates="x y a b c",
        kinetic="M*(x'^2 + y'^2)/2 + M*R^2*(a'^2 + b'^2 + c'^2)/5",
        constraints=[
            da.Constraint("rolls along x", rolls),
            da.Constraint("rolls along y", "y' + R*a' = 0"),
            da.Constraint("cushion", "x + R <= 1", restitution=E),
        ],
        nonideal=[da.Coulomb("cushion", MU, slide=["y' + R*c'", "-R*b'"])],
        parameters={"M": M, "R": R},
        initial={"x": 0, "y": 0, "a": 0, "b": 0, "c": 0}
        | {"x'": SPEED, "y'": ALONG, "a'": -ALONG / R, "b'": SPEED / R, "c'": SPIN},
    )


def after_the_blow() -> tuple[float, float, float, float]:
    """x', y', c' and the normal impulse. Rolling adds 2/5 of the mass to x and y. The rim moves up as fast as the ball
    approaches, and its friction there brakes the ball, until both turn back: M 7/5 dx' = −dp + dp μ x'·(−1)/|u| with
    u = (y' + R c', −x'), and the slip along the cushion only dies away.
    """

    def rates(_: float, state: np.ndarray) -> list[float]:
        vx, vy, w = state
        u = np.array([vy + R * w, -vx])
        rubs = -MU * u / np.hypot(*u)
        return [(-1 - rubs[1]) / (1.4 * M), rubs[0] / (1.4 * M), rubs[0] / (0.4 * M * R)]

    def leaves(_: float, state: np.ndarray) -> float:
        return float(state[0] + E * SPEED)

    way = solve_ivp(rates, (0, 5), [SPEED, ALONG, SPIN], "DOP853", events=leaves, rtol=1e-12, atol=1e-14)
    return (*way.y_events[0][0], way.t_events[0][0])


@pytest.mark.parametrize("level", ["velocity", "position"])
def test_what_rolls_towards_a_wall_slides_on_it_in_two_directions(level):
    """The equation of the cushion follows from rolling and the sliding up: that one was taken for the normal, and had
    no friction.
    """
    motion = ball(level).simulate(1.2, samples=5)
    (blow,) = motion.blows
    vx, vy, w, impulse = after_the_blow()
    # The reference and the blow are integrated to 1e-12; the flight before has no error.
    assert blow.after[[0, 1, 4]] == pytest.approx([vx, vy, w], rel=1e-9)
    assert blow.contacts[0].normal == pytest.approx(impulse, rel=1e-9)
    assert motion.certificate.holds, motion.certificate
