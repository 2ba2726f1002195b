"""The systems that are measured on a GPU, and how their members differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from problems import andrews, appell_hamel, penny
from scipy.optimize import root

from dalembert import Event, System

LENGTHS = {"crank": 0.3, "coupler": 1.0, "rocker": 0.8, "ground": 1.0}


@dataclass(frozen=True)
class Case:
    """vary: of each parameter that differs, the least and the largest value; members are uniform between them."""

    name: str
    system: Callable[[], System]
    duration: float
    vary: Mapping[str, tuple[float, float]]
    members: int = 1_000_000


def four_bar() -> System:
    """A crank that turns right round, a coupler and a rocker, uniform bars in a vertical plane, driven by a torque.

    Nowhere along its way do all bars lie on one line, so that it has no singular configuration.
    """
    c = LENGTHS
    a = 1.0

    def miss(x: np.ndarray) -> list[float]:
        b, d = x
        return [
            c["crank"] * np.cos(a) + c["coupler"] * np.cos(b) - c["rocker"] * np.cos(d) - c["ground"],
            c["crank"] * np.sin(a) + c["coupler"] * np.sin(b) - c["rocker"] * np.sin(d),
        ]

    b, d = root(miss, [0.5, 1.5], tol=1e-15).x
    square = (
        "crank^2*a'^2/3 + coupler^2*b'^2/12 + rocker^2*d'^2/3 + crank^2*a'^2 + coupler^2*b'^2/4"
        " + crank*coupler*a'*b'*cos(a - b)"
    )
    return System(
        "crank and rocker",
        coordinates="a b d",
        kinetic=f"m*({square})/2",
        potential="m*g*(crank*sin(a)/2 + crank*sin(a) + coupler*sin(b)/2 + rocker*sin(d)/2)",
        forces={"a": "torque - damping*a'"},
        constraints={
            "loop x": "crank*cos(a) + coupler*cos(b) - rocker*cos(d) - ground",
            "loop y": "crank*sin(a) + coupler*sin(b) - rocker*sin(d)",
        },
        parameters={"m": 1.0, "g": 9.81, "torque": 8.0, "damping": 1.0, **c},
        initial={"a": a, "b": b, "d": d, "a'": 0, "b'": 0, "d'": 0},
    )


def belt() -> System:
    """A mass on a spring that a belt drags along by smooth friction: it creeps, tears itself off and swings back."""
    return System(
        "mass on a belt, friction made smooth",
        coordinates="x",
        kinetic="m*x'^2/2",
        potential="k*x^2/2",
        forces={"x": "m*g*(mu + (mu_s - mu)*exp(-((vb - x')/fall)^2))*tanh((vb - x')/creep)"},
        parameters={
            "m": 1.0, "k": 10.0, "g": 9.81, "mu": 0.2, "mu_s": 0.4, "vb": 0.3, "fall": 0.05, "creep": 0.02,
        },
        initial={"x": 0, "x'": 0},
    )  # fmt: skip


def fall() -> System:
    """A stone that falls from the height h, passes half of it and ends on the ground: all known in closed form."""
    return System(
        "fall",
        coordinates="z",
        kinetic="m*z'^2/2",
        potential="m*g*z",
        parameters={"m": 1.0, "g": 9.81, "h": 2.0},
        initial={"z": "h", "z'": 0},
        events={"half": "z - h/2", "ground": Event("z", direction="falling", terminal=True)},
    )


CASES = (
    Case("penny", penny.system, 20.0, {"v0": (0.5, 1.5), "omega": (0.5, 1.5)}),
    Case("appell_hamel", appell_hamel.system, 5.0, {"push": (0.5, 1.1), "a0": (0.1, 0.2)}),
    Case("four_bar", four_bar, 10.0, {"torque": (7.0, 9.0), "damping": (0.8, 1.2)}),
    Case("belt", belt, 12.0, {"vb": (0.1, 0.5), "mu_s": (0.3, 0.5)}),
    Case("andrews", andrews.system, 0.03, {"mom": (0.03, 0.036)}, 100_000),
)
