"""Constraints with a corner that is no kink of one function: the apex of a cone, the edge of a spindle, a cusp."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

G, MU, SLOPE = 9.81, 0.3, 0.7
START = {"x": 1, "y": 0.5, "z": SLOPE * 1.25**0.5, "x'": 0, "y'": 0, "z'": 0}
CORNER = "the constraints have a corner here"


def on_a_cone(relation: str = "=", mu: float = 0.0, start: dict[str, float] = START, **more) -> da.System:
    return da.System(
        "cone",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"cone": f"z {relation} {SLOPE}*sqrt(x^2 + y^2)"},
        nonideal=[da.Coulomb("cone", mu, point=["x", "y", "z"])] if mu else [],
        parameters={"m": 1, "g": G},
        initial=start,
        **more,
    )


@pytest.mark.parametrize("relation", ["=", ">="])
@pytest.mark.parametrize("mu", [0.0, MU])
@pytest.mark.parametrize("options", [{}, {"backend": "reference"}, {"method": "stiff"}, {"method": "taylor"}])
def test_a_slide_into_the_apex_ends_there(options, mu, relation):
    """Along the line of slope the acceleration is g (sin α − μ cos α); the apex is s = √(1.25 (1 + slope²)) away."""
    if mu and options.get("method") == "taylor":
        options = {}  # there are no series for friction that decides by itself
    angle = np.arctan(SLOPE)
    reached = np.sqrt(2 * np.sqrt(1.25 * (1 + SLOPE**2)) / (G * (np.sin(angle) - mu * np.cos(angle))))
    with pytest.raises(da.MotionFailed, match=CORNER) as failed:
        on_a_cone(relation, mu).simulate(2, samples=51, **options)
    said = float(str(failed.value).split("t = ")[1].split(":")[0])
    assert said == pytest.approx(reached, rel=1e-6)  # some hundred tolerances
    # Nothing was lost before: energy and heat make up the potential energy of the start.
    motion = failed.value.motion
    assert motion.certificate.energy < 1e-6


def test_what_passes_beside_the_apex_goes_on():
    """A sideways speed leads around it: the moment of momentum and the energy stay."""
    motion = on_a_cone(start={**START, "x'": -0.002, "y'": 0.004}).simulate(2, samples=51)
    moment = motion["x"] * motion["y'"] - motion["y"] * motion["x'"]
    assert moment == pytest.approx(np.full(51, 0.005), rel=1e-6)
    assert motion.certificate.holds


@pytest.mark.parametrize("lanes", [True, False])
def test_members_of_a_sweep_end_there_too(lanes):
    found = on_a_cone().sweep({"g": [0.01, G, 2 * G]}, 2.0, points=5, lanes=lanes)
    assert "2 × the constraints have a corner there" in found.text()


def test_an_edge_of_a_spindle_of_revolution():
    start = {"x": 1.2, "y": 0, "z": -((1 - 0.49) ** 0.5), "x'": 0, "y'": 0, "z'": 0}
    spindle = on_a_cone(start=start).replace(constraints={"cone": "(sqrt(x^2 + y^2) - 0.5)^2 + z^2 = 1"})
    with pytest.raises(da.MotionFailed, match=CORNER):
        spindle.simulate(2)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e8])
@pytest.mark.parametrize("options", [{}, {"backend": "reference"}, {"method": "stiff"}])
def test_what_rests_has_no_corners(options, size):
    """Two masses, one held by two lines and one hanging from it: velocities are rounding of forces that balance, which
    constraints remove in full, and nothing says how small they should be.
    """
    held = da.System(
        "held",
        coordinates="x y z w",
        kinetic="m*(x'^2 + y'^2 + z'^2 + w'^2)/2",
        potential="m*g*(y + w)",
        constraints={"a": "x = 1.3*l", "b": "y = 0.7*l - x/3", "rope": "(x - z)^2 + (y - w)^2 = l^2"},
        parameters={"m": 3.1, "g": G, "l": size},
        initial={"x": "1.3*l", "y": "0.7*l - 1.3*l/3", "z": "1.3*l", "w": "0.7*l - 1.3*l/3 - l"}
        | dict.fromkeys(("x'", "y'", "z'", "w'"), 0),
    )
    motion = held.simulate(5 * np.sqrt(size / G), samples=5, atol=1e-30, **options)
    np.testing.assert_allclose(motion.q, motion.q[[0]].repeat(5, axis=0), atol=1e-12 * size)
