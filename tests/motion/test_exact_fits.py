"""Discs that just fill the room between two walls, one or several side by side.

Their contacts are in line: gaps are quadratic in how far discs are out of line, constraints depend on each other just
where they are in it, and walls could hold discs by friction with reactions that nothing makes.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_piles import G, pile
from test_wedged_piles import require_lawful

import dalembert as da


def row_of_discs(
    count: int, mu: float, e: float = 0.0, law: str = "newton", order: str = "together", extra: float = 0.0, **start
) -> da.System:
    """So many discs side by side in a box that is as wide as they are, above its floor; with `extra`, one more of this
    mass above the first.
    """
    r = 0.3
    values = {"g": G, "W": r * count, "mu": mu, "mus": mu, "sfloor": 0.0, "cfloor": 1.0}
    all_discs = count + (extra > 0.0)
    values |= {f"r{k}": r for k in range(all_discs)}
    values |= {f"m{k}": [1.0, 1.7, 0.8, 1.2][k] for k in range(all_discs)}
    initial = {}
    for k in range(all_discs):
        x = (2 * (k % count) + 1 - count) * r
        initial |= {f"x{k}": x, f"y{k}": 0.6 + 0.7 * (k // count), f"p{k}": 0.0}
        initial |= {f"x{k}'": 0.0, f"y{k}'": 0.0, f"p{k}'": 0.0}
    return pile("row", values, {**initial, **start}, e, law, order)


@pytest.mark.parametrize("mu", [0.1, 0.8])
@pytest.mark.parametrize("spin", [0.0, 2.0])
def test_a_disc_thrown_up_between_walls_that_it_just_touches_falls_down_again(mu, spin):
    """Nothing presses it, so that nothing rubs; at the top, reactions as large as one likes could hold it by friction,
    and nothing makes them: y = y₀ + v t − g t²/2.
    """
    motion = row_of_discs(1, mu, **{"y0": 2.0, "y0'": 1.0, "p0'": spin}).simulate(0.4, rtol=1e-9, samples=21)
    assert motion.certificate.holds, motion.certificate
    np.testing.assert_allclose(motion["y0"], 2.0 + motion.t - G * motion.t**2 / 2, atol=1e-9)
    np.testing.assert_allclose(motion["p0'"], spin, rtol=1e-12)


@pytest.mark.parametrize("count", [3, 4])
def test_discs_in_a_row_that_fills_its_box_fall_together(count):
    """Let go at one height they stay at one height, and nothing presses: friction that would hold them lasts just as
    long as they are in line. The motion was refused, with b not in the range of A.
    """
    motion = row_of_discs(count, 0.5).simulate(0.2, rtol=1e-9, samples=11)
    assert motion.certificate.holds, motion.certificate
    for k in range(count):
        np.testing.assert_allclose(motion[f"y{k}"], 0.6 - G * motion.t**2 / 2, atol=1e-9)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_row_falls_on_both_backends(backend):
    motion = row_of_discs(3, 0.5).simulate(0.1, backend=backend, samples=5)
    np.testing.assert_allclose(motion["y1"], 0.6 - G * motion.t**2 / 2, atol=1e-8)


@pytest.mark.parametrize(
    ("count", "mu", "e", "law", "order", "start"),
    [
        # Blows of contacts out of line by 1e-5, in sequence without end, or without impulses of any size.
        (2, 0.1, 0.8, "newton", "together", {"p0'": 3.0}),
        (3, 0.1, 0.2, "poisson", "sequence", {"p0'": -4.0, "p2'": 2.0}),
        (2, 0.3, 0.2, "stronge", "together", {"p1'": 1.5, "y1": 0.7}),
    ],
)
def test_discs_that_bounce_in_a_box_that_they_fill(count, mu, e, law, order, start):
    """A gap of 1e-10 was closed by bringing discs back into line, over 1e-5, and giving them one speed."""
    motion = row_of_discs(count, mu, e, law, order, extra=0.9, **start).simulate(1.0, rtol=1e-8, samples=51)
    require_lawful(motion)
