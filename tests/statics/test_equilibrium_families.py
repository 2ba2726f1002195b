"""Equilibria side by side: what is one family is listed once, what is apart is listed apart."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Expr, cos, sin, sqrt

import dalembert as da

x, y, th, ph, psi = da.coordinates("x y th ph psi")


def beside(potential: Expr, start: float) -> da.System:
    """A potential of x, and a coordinate ph that is free wherever the potential leaves it so."""
    kinetic = (x.d**2 + ph.d**2) / 2
    return da.System("beside", coordinates=[x, ph], kinetic=kinetic, potential=potential, initial={x: start, ph: 0})


def test_two_wells_beside_a_free_coordinate():
    """x = ±1 have one height and one spectrum, but nothing leads from one to the other."""
    found = beside((x**2 - 1) ** 2, 0.8).equilibrium(starts=30)
    assert sorted(e["x"] for e in found) == pytest.approx([-1, 0, 1], abs=1e-12)


def test_two_degenerate_wells_beside_a_free_coordinate():
    found = beside(x**4 * (x - 1) ** 4, 0.3).equilibrium(starts=30)
    assert sorted(e["x"] for e in found) == pytest.approx([0, 0.5, 1], abs=1e-4)


def test_a_valley_is_one_family_though_its_frequency_changes():
    (found,) = beside((1 + ph**2) * x**2, 0.3).equilibrium(starts=15)
    assert found["x"] == pytest.approx(0, abs=1e-12)
    assert (found.stability.verdict, found.stability.free) == ("undecided", 1)


@pytest.mark.parametrize("start", [0.5, 1.0, 2.5])
def test_rings(start):
    """V = cos 3√(r² + 1): r = 0 and rings at 3√(r² + 1) = k π, each once."""
    potential = cos(3 * sqrt(x**2 + y**2 + 1))
    kinetic = (x.d**2 + y.d**2) / 2
    system = da.System("rings", coordinates=[x, y], kinetic=kinetic, potential=potential, initial={x: start, y: 0.2})
    radii = np.sort([np.hypot(*e.q) for e in system.equilibrium(starts=30)])
    order = np.sqrt(radii**2 + 1) * 3 / np.pi
    rings = order[radii > 1e-9]
    assert rings == pytest.approx(np.round(rings), rel=1e-9)
    assert len(set(np.round(rings))) == len(rings) >= 2
    assert np.sum(radii <= 1e-9) <= 1


def test_a_heavy_top_stands_or_hangs():
    kinetic = (th.d**2 + ph.d**2 * sin(th) ** 2) / 2 + (psi.d + ph.d * cos(th)) ** 2 / 4
    parts = {"coordinates": [th, ph, psi], "kinetic": kinetic, "potential": 3 * cos(th)}
    found = da.System("top", **parts, initial={th: 0.5, ph: 0, psi: 0}).equilibrium(starts=30)
    assert sorted(abs(e["th"]) for e in found) == pytest.approx([0, np.pi], abs=1e-9)


def test_a_pole_of_the_coordinates_is_listed_once():
    """A spherical pendulum in angles: the azimuth has no inertia at either pole, though rounding leaves it some."""
    kinetic = (th.d**2 + ph.d**2 * sin(th) ** 2) / 2
    parts = {"coordinates": [th, ph], "kinetic": kinetic, "potential": 9.81 * cos(th)}
    found = da.System("pendulum", **parts, initial={th: 0.5, ph: 0.3}).equilibrium(starts=20)
    assert sorted(abs(e["th"]) for e in found) == pytest.approx([0, np.pi], abs=1e-9)
    assert all("singular" in e.stability.by for e in found)
