"""Small systems that sweeps are tried on."""

from __future__ import annotations

import dalembert as da


def thrown_ball() -> da.System:
    """A projectile, in closed form: it lands after 2 v sin(angle)/g, at v² sin(2 angle)/g."""
    return da.System(
        "thrown ball",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        parameters={"m": 1, "g": 9.81, "v": 10, "angle": 0.7},
        initial={"x": 0, "y": 0, "x'": "v*cos(angle)", "y'": "v*sin(angle)"},
        events={"landing": da.Event("y", "falling", terminal=True), "top": da.Event("y'", "falling")},
    )


def spring() -> da.System:
    """x = a cos(w t)."""
    return da.System(
        "spring",
        coordinates="x",
        kinetic="x'^2/2",
        potential="w^2*x^2/2",
        parameters={"w": 2.0, "a": 1.0},
        initial={"x": "a", "x'": 0},
    )


def bead() -> da.System:
    """On a circle of radius l, without gravity: an initial state that is given may lie off it."""
    return da.System(
        "bead",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        constraints={"ring": "x^2 + y^2 = l^2"},
        parameters={"m": 1.0, "l": 1.0},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 1},
    )
