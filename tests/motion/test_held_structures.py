"""Structures that constraints hold wholly: nothing moves, in units of any size."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da

AT = {"a": (0.0, 0.0), "b": (3.0, 0.0), "p": (1.0, 1.0), "q": (2.0, 1.5)}
# The last one is a rod too many.
RODS = ("ap", "bp", "pq", "bq", "aq")


def truss(length: float, gravity: float) -> da.System:
    """Two masses held by five rods, as its unit of length makes them."""
    x, y, u, w = coordinates = da.coordinates("x y u w")
    places = {name: (at[0] * length, at[1] * length) for name, at in AT.items()} | {"p": (x, y), "q": (u, w)}
    values = dict(zip(coordinates, (length * k for k in (*AT["p"], *AT["q"])), strict=True))
    rods = {f"rod {one}{other}": sp.Add(*((r - s) ** 2 for r, s in zip(places[one], places[other], strict=True)))
            for one, other in RODS}  # fmt: skip
    return da.System(
        "truss",
        coordinates=list(coordinates),
        kinetic=sp.Add(*(q.d**2 / 2 for q in coordinates)),
        potential=gravity * (y + w),
        constraints={name: square - square.subs(values) for name, square in rods.items()},
        initial=values | {q.d: 0 for q in coordinates},
    )


@pytest.mark.parametrize(("length", "gravity"), [(1.0, 9.81), (1e8, 9.81e8), (1e8, 9.81e11), (1e-3, 9.81)])
def test_what_is_held_takes_few_steps(length: float, gravity: float) -> None:
    """Velocities are rounding in the forces of the rods. They had to be small in single units: 15 million steps."""
    motion = truss(length, gravity).simulate(10.0, samples=11, method="dop853")
    assert motion.certificate.holds
    time = (length / gravity) ** 0.5  # in which a mass would fall as far
    assert motion.timing.steps < 10 + 10 / time
    assert np.abs(motion.q - motion.q[0]).max() < 1e-12 * length  # rounding of the return to the constraints
    assert np.abs(motion.v).max() < 1e-12 * length / time
    # Rods in tension and compression balance the weights, whatever their number.
    assert motion.ideal[-1] == pytest.approx([0, gravity, 0, gravity], abs=1e-9 * gravity)


def test_a_weak_tie_far_away_makes_no_other_steps() -> None:
    """Rounding of its force takes years to be seen: that says nothing of the tolerances of a pendulum beside it."""
    steps = []
    for force in ("1e-6", "0"):
        beside = da.System(
            "pendulum and tie",
            coordinates="x y z w",
            kinetic="(x'^2 + y'^2 + z'^2 + w'^2)/2",
            potential="9.81*y",
            constraints={"rod": "x^2 + y^2 = 1", "tie": "z = w"},
            forces={"z": force},
            initial={"x": 0.6, "y": -0.8, "x'": 4, "y'": 3, "z": 1e7, "w": 1e7, "z'": 0, "w'": 0},
        )
        steps.append(beside.simulate(200.0, samples=3, rtol=1e-11, method="dop853").timing.steps)
    assert steps[0] == pytest.approx(steps[1], rel=0.01)  # the tie moves, by a step more or less in a hundred
