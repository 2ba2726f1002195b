"""Right motions of which a certificate is easily mistaken: slipping whose friction falls with its speed, and rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.motion.certificate.certify import certify

G, STATIC, SLIDING = 9.81, 0.35, 0.2
# Of two belts: the spring, the speed of the belt, that at which friction falls, and the start.
BELTS = [
    (11.098394, 0.24574029, 0.02, -0.07341917, 0.03970240),
    (24.540082, 0.24622342, 0.02, 0.0061302244, -0.08921386),
]


def on_a_belt(spring: float, belt: float, falls: float, x: float, v: float) -> da.System:
    return da.System(
        "mass on a belt",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential=f"{G}*y + {spring}*x^2/2",
        constraints={"f": "y = 0"},
        nonideal=[da.Stribeck("f", SLIDING, mu_static=STATIC, speed=falls, point=f"x - {belt}*t")],
        initial={"x": x, "y": 0, "x'": v, "y'": 0},
    )


@pytest.mark.parametrize("belt", BELTS)
@pytest.mark.parametrize("samples", [3, 4, 7, 15, 60])
@pytest.mark.parametrize("rtol", [1e-7, 1e-9])
def test_right_motions_are_certified(belt, samples, rtol):
    """A repetition in 16 and in 32 steps may agree by chance where slipping begins: three of these failed."""
    motion = on_a_belt(*belt).simulate(10, samples=samples, rtol=rtol)
    spring, speed, falls, *_ = belt
    # From the last time that it sets off, by SciPy: x″ = −k x + μ(|x′ − belt|) g, against the belt that is faster.
    setting_off = [event for event in motion.events if event["name"] == "slip"]
    start, until = setting_off[0]["t"], motion.t[(motion.t > setting_off[0]["t"] + 0.05)][0]
    stops = [event["t"] for event in motion.events if event["name"] == "stick" and event["t"] > start]
    if stops and stops[0] > until:
        found = solve_ivp(
            lambda t, y: [
                y[1],
                -spring * y[0] + G * (SLIDING + (STATIC - SLIDING) * np.exp(-(((y[1] - speed) / falls) ** 2))),
            ],
            (start, until),
            [STATIC * G / spring, speed],
            rtol=1e-12,
            atol=1e-14,
            method="DOP853",
        )
        k = int(np.searchsorted(motion.t, until))
        # A setting off told wrong by a tolerance is a thousand of them when the speed has left the peak of friction.
        assert motion["x"][k] == pytest.approx(found.y[0, -1], abs=1e4 * rtol)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("share", [0.98, 1.02])
def test_a_wrong_slip_is_still_seen(share):
    """Speeds within one slip off by a fiftieth, with the places that belong to them."""
    motion = on_a_belt(*BELTS[0]).simulate(10, samples=60, rtol=1e-7)
    slipping = np.flatnonzero(motion.contacts["f"].state == "slip")
    first = slipping[3]
    v = motion.v.copy()
    v[first] = share * v[first]
    assert motion.certificate.holds
    assert not certify(replace(motion, v=v)).holds


@pytest.mark.parametrize("mass", [4.0, 1e-3])
@pytest.mark.parametrize("angle", [1.0, 1.2])
@pytest.mark.parametrize("rtol", [1e-6, 1e-11, 1e-12])
def test_what_friction_holds_rests_at_any_tolerance(rtol, angle, mass):
    """A ladder between floor and wall: of forces that balance, rounding is left, which no tolerance can forbid."""
    half = 0.5
    feet = {
        "floor": [f"x + {half}*cos(a)", f"y - {half}*sin(a)"],
        "wall": [f"x - {half}*cos(a)", f"y + {half}*sin(a)"],
    }
    ladder = da.System(
        "ladder",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*a'^2/24",
        potential=f"m*{G}*y",
        constraints={"floor": f"{feet['floor'][1]} >= 0", "wall": f"{feet['wall'][0]} >= 0"},
        nonideal=[da.Coulomb(name, 0.5, point=point) for name, point in feet.items()],
        parameters={"m": mass},
        initial={"x": half * np.cos(angle), "y": half * np.sin(angle), "a": angle, "x'": 0, "y'": 0, "a'": 0},
    )
    for duration in (1, 3):
        motion = ladder.simulate(duration, samples=21, rtol=rtol)
        assert motion["a"] == pytest.approx(np.full(21, angle), abs=1e-13)  # rounding that adds up
        assert motion.certificate.holds, motion.certificate
