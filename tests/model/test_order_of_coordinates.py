"""The order in which coordinates are listed says nothing: the reaction on a sliding point is the same in all."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import dalembert as da

G, SLOPE, MU = 9.81, 0.6, 0.1


def rolling(order: tuple[str, ...]) -> da.System:
    """A disc on an incline, its rim by its velocity; another one of the same mass, which falls."""
    return da.System(
        "disc",
        coordinates=order,
        kinetic="m*(x'^2 + y'^2)/2 + J*a'^2/2 + m*(u'^2 + w'^2)/2" if "u" in order else "m*(x'^2 + y'^2)/2 + J*a'^2/2",
        potential="m*g*(y + w)" if "u" in order else "m*g*y",
        constraints={"incline": "s*x + c*y - r >= 0"},
        nonideal=[da.Coulomb("incline", "mu", slide=["c*x' - s*y' + r*a'"])],
        parameters={"m": 2.0, "J": 0.25, "r": 0.5, "g": G, "mu": MU, "s": np.sin(SLOPE), "c": np.cos(SLOPE)},
        initial={"y": 0.5 / np.cos(SLOPE)} | {f"{q}{d}": 0.0 for q in order for d in ("", "'") if q + d != "y"},
    )


@pytest.mark.parametrize("order", [*permutations("xya"), tuple("xuayw"), tuple("ywaxu"), tuple("xwuya")])
def test_a_disc_slides_down_an_incline_whatever_stands_between_its_coordinates(order):
    """It slips, for μ < tan(slope)/3: ẍ along the incline g (sin − μ cos), and J ä = μ m g cos · r."""
    motion = rolling(order).simulate(0.3, samples=4)
    along, turned = G * (np.sin(SLOPE) - MU * np.cos(SLOPE)), MU * 2.0 * G * np.cos(SLOPE) * 0.5 / 0.25
    gone = motion["x"] * np.cos(SLOPE) - (motion["y"] - 0.5 / np.cos(SLOPE)) * np.sin(SLOPE)
    np.testing.assert_allclose(gone, along * motion.t**2 / 2, atol=1e-8)
    np.testing.assert_allclose(np.abs(motion["a"]), turned * motion.t**2 / 2, atol=1e-8)
    np.testing.assert_allclose(motion.contacts["incline"].normal, 2.0 * G * np.cos(SLOPE), rtol=1e-9)


@pytest.mark.parametrize("order", ["x y z a b c", "y b x c a z", "c x y a z b", "z y b a c x"])
def test_a_ball_presses_on_a_plane_by_all_its_coordinates(order):
    """Its reaction is λ times the length of the gradient, (s, 0, c)."""
    ball = da.System(
        "ball",
        coordinates=order,
        kinetic="(x'^2 + y'^2 + z'^2)/2 + (a'^2 + b'^2 + c'^2)/5",
        potential="9.81*z",
        constraints={"plane": "2*s*x + 2*k*z - 2"},
        nonideal=[da.Coulomb("plane", "mu", slide=("k*x' - s*z' - a'", "y' + b'"))],
        parameters={"s": 0.6, "k": 0.8, "mu": 0.2},
        initial={q: 0.0 for name in order.split() for q in (name, f"{name}'")} | {"z": 1.25, "y'": 1.0},
    )
    motion = ball.simulate(0.01, samples=3)
    np.testing.assert_allclose(motion.contacts["plane"].normal, 9.81 * 0.8, rtol=1e-9)
