"""The certificate checks the heat of friction against its laws."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.motion.certificate.certify import certify

PLANE = {"coordinates": "x y", "kinetic": "m*(x'^2 + y'^2)/2", "constraints": {"floor": "y"}}


def oscillator(law) -> da.System:
    return da.System(
        "oscillator",
        **PLANE,
        potential="k*x^2/2 + m*g*y",
        nonideal=[law],
        parameters={"m": 2, "k": 100, "g": 9.81},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
    )


SYSTEMS = {
    "still": oscillator(da.Coulomb("floor", mu=0.1)),
    "belt": oscillator(da.Coulomb("floor", mu=0.1, point=["x - t", "y"])),
    "shaken": oscillator(da.Coulomb("floor", mu=0.1, point=["x - sin(3*t)", "y"])),
    "viscous": oscillator(da.Viscous("floor", coefficient=2.0)),
    "viscous belt": oscillator(da.Viscous("floor", coefficient=2.0, point=["x - t", "y"])),
}


@cache
def motion_of(name: str) -> da.Motion:
    return SYSTEMS[name].simulate(2)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("samples", [3, 21, 2001])
def test_right_heat_holds_however_it_is_sampled(name: str, samples: int) -> None:
    motion = SYSTEMS[name].simulate(2, samples=samples)
    assert motion.certificate.holds, motion.certificate.failures
    # Two digits above what integration at 1e-9 leaves of an energy.
    assert motion.certificate.energy < 1e-7


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(
    "change",
    [lambda h: 1.001 * h, lambda h: 0 * h, lambda h: -h, lambda h: h + 0.01 * h[-1] * (np.arange(h.size) > 100)],
    ids=["scaled", "lost", "turned", "jump"],
)
def test_a_wrong_column_fails(name: str, change) -> None:
    motion = motion_of(name)
    assert certify(motion).holds
    wrong = certify(replace(motion, heat={"floor": change(motion.heat["floor"])}))
    assert wrong.failures == ("energy",)


def test_columns_of_two_contacts_are_told_apart() -> None:
    """Two blocks: the sum of what they heat is right, the columns are exchanged."""
    system = da.System(
        "two blocks",
        coordinates="x y u w",
        kinetic="m*(x'^2 + y'^2)/2 + m*(u'^2 + w'^2)/2",
        potential="m*g*(y + w)",
        constraints={"one": "y", "two": "w"},
        nonideal=[da.Coulomb("one", mu=0.1, point=("x", "y")), da.Coulomb("two", mu=0.3, point=("u", "w"))],
        parameters={"m": 2, "g": 9.81},
        initial={"x": 0, "y": 0, "u": 0, "w": 0, "x'": 3, "y'": 0, "u'": 3, "w'": 0},
    )
    motion = system.simulate(2)
    assert motion.certificate.holds
    heat = motion.heat
    assert "energy" in certify(replace(motion, heat={"one": heat["two"], "two": heat["one"]})).failures


def test_sparse_outputs_on_a_still_floor() -> None:
    """Three points tell nothing of a power, but friction's work is all that becomes heat."""
    motion = SYSTEMS["still"].simulate(2, samples=3)
    assert certify(motion).holds
    assert "energy" in certify(replace(motion, heat={"floor": 1.001 * motion.heat["floor"]})).failures


def jerked(kind: str, width: float) -> da.System:
    """A block at 18 on a level floor, and at t = 2 a pulse about as narrow as outputs are apart."""
    x, z = da.coordinates("x z")
    pulse = sp.exp(-(((da.t - 2) / width) ** 2))
    law, forces = da.Coulomb("floor", 0.5, point=(x, z)), {}
    if kind == "surface":
        law = da.Coulomb("floor", 0.5, point=(x - pulse, z))
    elif kind == "load":
        forces = {z: -30 * pulse}
    elif kind == "oil":
        law = da.Viscous("floor", 0.5, point=(x - pulse, z))
    elif kind == "roughness":
        law = da.Coulomb("floor", 0.2 + 0.3 * pulse, point=(x, z))
    return da.System(
        "jerked block",
        coordinates=[x, z],
        kinetic=(x.d**2 + z.d**2) / 2,
        potential=10 * z,
        constraints={"floor": z},
        forces=forces,
        nonideal=[law],
        initial={x: 0, z: 0, x.d: 18, z.d: 0},
    )


@pytest.mark.parametrize(
    ("kind", "width", "samples"),
    [
        ("surface", 0.05, 31), ("load", 0.02, 41), ("load", 0.02, 101), ("oil", 0.02, 46), ("oil", 0.02, 101),
        ("roughness", 0.02, 41), ("roughness", 0.05, 41),
    ],
)  # fmt: skip
def test_pulses_as_narrow_as_outputs_are_apart(kind: str, width: float, samples: int) -> None:
    """From the outputs alone the integral seemed wrong by up to a fifth. A heat that is wrong by a hundredth is still
    seen there.
    """
    motion = jerked(kind, width).simulate(3, samples=samples)
    assert motion.certificate.holds, motion.certificate
    for change in (lambda h: 1.01 * h, lambda h: h + 0.01 * h[-1] * (np.arange(h.size) > samples // 3)):
        assert "energy" in certify(replace(motion, heat={"floor": change(motion.heat["floor"])})).failures


def rail(load: str) -> da.System:
    """A bead that swings on a rail under a load that changes the side it presses on; the rail runs at 20."""
    return da.System(
        "rail",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="2*x^2",
        forces={"y": load},
        constraints={"rail": "y"},
        nonideal=[da.Coulomb("rail", mu=0.2, slide="x' - 20")],
        initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )


@pytest.mark.parametrize("load", ["5*cos(3*t)", "100*sin(20*t)"])
def test_where_a_rail_presses_on_the_other_side(load: str) -> None:
    """The heat of one stretch is wrong by a twentieth of all, in one after the other around the change of side: what
    is not looked at inside must not clear what the outputs show.
    """
    motion = rail(load).simulate(4, samples=401)
    assert motion.certificate.holds, motion.certificate
    heat, normal = motion.heat["rail"], motion.contacts["rail"].normal
    turns = np.flatnonzero(normal[1:] * normal[:-1] < 0)
    assert turns.size
    for k in (turns[:3, None] + np.arange(-1, 2)).ravel():
        wrong = {"rail": heat + 0.05 * heat[-1] * (np.arange(heat.size) > k)}
        assert "energy" in certify(replace(motion, heat=wrong)).failures, k


@pytest.mark.parametrize("samples", [51, 151, 201, 401])
def test_a_pulse_that_presses_a_rail_on_the_other_side(samples: int) -> None:
    """It is about as wide as outputs are apart, which alone would see another heat."""
    motion = rail("30*exp(-((t - 2)/0.02)^2) - 1").simulate(4, samples=samples)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("samples", [31, 51])
def test_a_pulse_that_presses_on_the_other_side_between_two_outputs(samples: int) -> None:
    """Both outputs beside it show the same side, and in that mode the stretch leads elsewhere. The bead, which friction
    drives with 0.2·|N|, is where the integral of 0.2·|N(s)|·sin(2(t − s))/2 has it.
    """
    motion = rail("1 - 300*exp(-((t - 1.003)/0.01)^2)").simulate(4, samples=samples)
    s, end = np.linspace(0, 4, 400_001), 4.0
    pushed = 0.2 * np.abs(1 - 300 * np.exp(-(((s - 1.003) / 0.01) ** 2))) * np.sin(2 * (end - s)) / 2
    # Steps of 1e-5, beside a width of 1e-2, and a kink on either side of the pulse: 1e-7 of 0.5.
    assert motion["x"][-1] == pytest.approx(np.trapezoid(pushed, s), rel=1e-6)
    assert motion.certificate.holds, motion.certificate


@pytest.mark.parametrize("samples", [41, 101])
@pytest.mark.parametrize("viscous", [0.0, 0.03])
def test_heat_that_jumps_where_a_contact_changes(viscous: float, samples: int) -> None:
    """Stick and slip on a belt, whose drive gives the energy: no balance tells how much heat there is."""
    law = da.Stribeck("floor", 0.2, mu_static=0.35, speed=0.5, viscous=viscous, point=["x - 0.2*t", "y"])
    motion = oscillator(law).replace(initial={"x": 0, "y": 0, "x'": 0, "y'": 0}).simulate(10, samples=samples)
    assert motion.certificate.holds, motion.certificate
    heat = motion.heat["floor"]
    changes = np.unique(np.searchsorted(motion.t, [event["t"] for event in motion.events]))
    assert changes.size > 3
    # The last change included, behind which one output may be all that there is.
    for k in changes[changes < motion.t.size]:
        wrong = heat + 0.02 * heat[-1] * (np.arange(heat.size) >= k)
        assert "energy" in certify(replace(motion, heat={"floor": wrong})).failures, k


def test_heat_told_wrong_at_the_last_output_after_a_change() -> None:
    belt = oscillator(da.Coulomb("floor", 0.2, mu_static=0.35, point=["x - 0.2*t", "y"]))
    whole = belt.replace(initial={"x": 0, "y": 0, "x'": 0, "y'": 0}).simulate(10, samples=201)
    stop = [event["t"] for event in whole.events if event["name"] == "stick"][-1]
    motion = belt.replace(initial={"x": 0, "y": 0, "x'": 0, "y'": 0}).simulate(
        times=[*whole.t[whole.t < stop], stop + 0.02]
    )
    assert motion.certificate.holds, motion.certificate
    wrong = motion.heat["floor"].copy()
    wrong[-1] += 0.002 * wrong[-1]
    assert "energy" in certify(replace(motion, heat={"floor": wrong})).failures
