"""A wedge that is pushed under a block between vertical guides, and lifts it against friction on its face."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da

SLOPE, MU, WEDGE, BLOCK, PUSH, G = 0.3, 0.15, 1.0, 5.0, 60.0, 9.81


def lifted(face_names_the_guided: bool) -> da.System:
    X, x, y = da.coordinates("X x y")
    face = y - (X - x if face_names_the_guided else X) * sp.tan(SLOPE)
    return da.System(
        "guided wedge",
        coordinates=[X, x, y],
        kinetic=WEDGE * X.d**2 / 2 + BLOCK * (x.d**2 + y.d**2) / 2,
        potential=BLOCK * G * y,
        forces={X: PUSH},
        constraints={"guide": x, "face": face},
        nonideal=[da.Coulomb("face", MU, point=(x - X, y))],
        initial={X: 0, x: 0, y: 0, X.d: 0, x.d: 0, y.d: 0},
    )


@pytest.mark.parametrize("face_names_the_guided", [False, True])
def test_the_reaction_on_the_face_is_found_beside_a_guide(face_names_the_guided):
    """Block: m y″ = N (cos − μ sin) − m g; wedge: M X″ = F − N (sin + μ cos); y″ = X″ tan. The block cannot move along
    x, so that the equation of the face says the same with x and without it; the reaction must not depend on that.
    """
    c, s = np.cos(SLOPE), np.sin(SLOPE)
    rate, normal = np.linalg.solve([[BLOCK * s / c, MU * s - c], [WEDGE, s + MU * c]], [-BLOCK * G, PUSH])
    motion = lifted(face_names_the_guided).simulate(0.5)
    assert motion["X"][-1] == pytest.approx(rate / 8, rel=1e-8)  # rtol is 1e-9
    assert np.abs(motion.contacts["face"].normal) == pytest.approx(normal, rel=1e-9)
    assert motion.contacts["face"].friction == pytest.approx(MU * normal, rel=1e-9)
    assert motion.certificate.holds
