"""Equilibria do not depend on the unit of length."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

G = 9.81
x, y, th = da.coordinates("x y th")


@pytest.mark.parametrize("R", [1e-10, 1e-5, 1e-4, 1e-3, 1e-2, 1e8])
def test_a_pendulum_of_any_length(R):
    system = da.System(
        "pendulum", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=G * y,
        constraints={"rod": x**2 + y**2 - R**2}, initial={x: R * np.sin(0.4), y: -R * np.cos(0.4)},
    )  # fmt: skip
    down, up = system.equilibrium(starts=20)
    assert down.q / R == pytest.approx([0, -1], abs=1e-12)
    assert up.q / R == pytest.approx([0, 1], abs=1e-12)
    assert (down.stability.verdict, up.stability.verdict) == ("stable", "unstable")
    assert down.stability.frequencies == pytest.approx([np.sqrt(G / R)], rel=1e-10)
    assert "x = 0, " in str(down)


@pytest.mark.parametrize("start", [0, 0.8, 3])
@pytest.mark.parametrize("a", [1e-9, 1e-5, 1e-3, 1, 1e6])
def test_a_double_well_of_any_width(a, start):
    well = da.System(
        "well", coordinates=[x], kinetic=x.d**2 / 2, potential=(x**2 - a**2) ** 2, initial={x: start * a}
    )  # fmt: skip
    found = sorted(well.equilibrium(starts=20), key=lambda e: e["x"])
    assert [e["x"] / a for e in found] == pytest.approx([-1, 0, 1], abs=1e-12)
    assert [e.stability.verdict for e in found] == ["stable", "unstable", "stable"]
    assert found[0].stability.frequencies == pytest.approx([np.sqrt(8) * a], rel=1e-10)


def test_a_small_length_beside_an_angle_on_a_spring():
    """θ on a torsional spring is no angle to the search, and of another size than x."""
    a = 1e-5
    system = da.System(
        "both", coordinates=[x, th], kinetic=(x.d**2 + th.d**2) / 2,
        potential=(x**2 - a**2) ** 2 / a**2 + th**2 / 2, initial={x: 0.8 * a, th: 0.3},
    )  # fmt: skip
    found = system.equilibrium(starts=20)
    assert sorted(e["x"] / a for e in found) == pytest.approx([-1, 0, 1], abs=1e-10)


@pytest.mark.parametrize("R", [1e-5, 1.0, 1e5])
def test_one_sided_constraints_of_any_size(R):
    """A ball on a floor beside a wall, drawn to a place inside it."""
    system = da.System(
        "ball", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=G * y + (x + R) ** 2 / 2,
        constraints=[da.Constraint("floor", y >= 0), da.Constraint("wall", x >= 0)], initial={x: R / 2, y: R},
    )  # fmt: skip
    (found,) = system.equilibrium()
    assert found.q / R == pytest.approx([0, 0], abs=1e-12)
    assert found.reactions == pytest.approx({"floor": G, "wall": R}, rel=1e-9)
