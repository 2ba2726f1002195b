"""A block that a slow push tips for a moment: how soon, how far, and what the small bounces after it lose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.motion.certificate.certify import certify

WIDTH, HEIGHT, G = 0.2, 0.5, 9.81  # half of each; mass 1
SQUARES = WIDTH**2 + HEIGHT**2


def pushed_block(above: float, rate: float) -> da.System:
    """A block on rough ground, pushed at its centre by (1 + above) sin(rate t) of what tips it."""
    x, y, a = da.coordinates("x y a")
    push, often = da.parameters("push often")
    corners = {
        name: (
            x + side * WIDTH * sp.cos(a) + HEIGHT * sp.sin(a),
            y + side * WIDTH * sp.sin(a) - HEIGHT * sp.cos(a),
        )
        for name, side in (("left", -1), ("right", 1))
    }
    return da.System(
        "pushed block",
        coordinates=[x, y, a],
        kinetic=(x.d**2 + y.d**2) / 2 + SQUARES / 3 * a.d**2 / 2,
        potential=G * y,
        forces={x: push * sp.sin(often * da.t)},
        constraints=[da.Constraint(name, corner[1] >= 0) for name, corner in corners.items()],
        nonideal=[da.Coulomb(name, 2.0, point=corner) for name, corner in corners.items()],
        parameters={push: (1 + above) * G * WIDTH / HEIGHT, often: rate},
        initial={x: 0, y: HEIGHT, a: 0, x.d: 0, y.d: 0, a.d: 0},
    )


@pytest.mark.parametrize(
    ("backend", "above", "rate", "duration"),
    [("native", 1e-3, 3.0, 0.7), ("native", 1e-3, 10.0, 0.25), ("reference", 1e-4, 1.0, 2.0)],
)
def test_a_push_just_above_the_limit_tips_for_a_moment(backend, above, rate, duration):
    motion = pushed_block(above, rate).simulate(duration, backend=backend, samples=61)
    # Between two looks at forces that are not determined the push is above its limit and below it again.
    begins = float(np.arcsin(1 / (1 + above))) / rate
    first = motion.events[0]
    assert (first["name"], first["contact"]) == ("release", "left")
    # Where the push is all but level, a share of 1e-9 of the forces, which counts as none, is so much time.
    assert first["t"] == pytest.approx(begins, abs=2e-9 * np.tan(rate * begins) / rate)
    # About the corner, by hand: (I + m r²) θ″ = F h − m g w, for angles that are small.
    about = 4 / 3 * SQUARES

    def by_hand(t, state):
        angle, speed = state
        push = (1 + above) * G * WIDTH / HEIGHT * np.sin(rate * t)
        return [speed, (push * (HEIGHT + angle * WIDTH) - G * (WIDTH - angle * HEIGHT)) / about]

    up = motion.t[(motion.t > begins) & (motion.t < np.pi / rate - begins)]  # it still accelerates
    right = solve_ivp(by_hand, (begins, up[-1]), [0.0, 0.0], t_eval=up, rtol=1e-10, atol=1e-20).y[0]
    at = np.isin(motion.t, up)
    # The angles come from coordinates of size one: their rounding.
    assert motion["a"][at] == pytest.approx(-right, abs=1e-6 * right.max() + 1e-14)
    # What bounces lose that are too slow to be followed is lost, not missing.
    assert motion.certificate.holds, motion.certificate.failures
    assert motion.certificate.energy < 1e-6
    assert motion.impact_loss[-1] == pytest.approx(sum(b.loss + b.left_out for b in motion.blows), rel=1e-12)


def test_a_loss_left_out_that_is_no_slow_bounce_is_seen():
    motion = pushed_block(1e-2, 3.0).simulate(0.7, samples=21)
    taken = 1e-3 * motion.blows[0].loss + 1e-6
    told = replace(
        motion,
        blows=(replace(motion.blows[0], left_out=taken), *motion.blows[1:]),
        impact_loss=motion.impact_loss + taken,
    )
    assert "impact" in certify(told).failures
