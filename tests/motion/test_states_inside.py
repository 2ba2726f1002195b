"""States between two outputs, on the cubics through both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.ready import again
from dalembert.motion.certificate import consistency, pieces
from dalembert.motion.certificate.consistency import kinks_passed
from dalembert.motion.certificate.stretches import states_inside


@pytest.mark.parametrize("by_c", [True, False])
def test_a_cubic_is_its_own_cubic(by_c: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a fall with q = t³, q̇ = 3t² and q̈ = 6t both cubics are exact."""
    if not by_c:
        monkeypatch.setattr(again, "states_inside", lambda *_: None)
    system = da.System("fall", coordinates="x", kinetic="x'^2/2", forces={"x": "6*t"}, initial={"x": 0, "x'": 0})
    motion = system.simulate(2.0, samples=5)
    shares = np.linspace(0.0, 1.0, 4)
    t, q, v = states_inside(motion, shares)
    np.testing.assert_allclose(t.reshape(4, 4), motion.t[:-1] + shares[:, None] * 0.5, rtol=1e-14)
    # What the integration errs by at its tolerance, 1e-9.
    np.testing.assert_allclose(q[:, 0], t**3, atol=1e-7)
    np.testing.assert_allclose(v[:, 0], 3 * t**2, atol=1e-7)


@pytest.mark.parametrize("force", ["-abs(x)", "-x"])
def test_kinks_are_looked_for_where_there_are_some(force: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Along a motion with friction, whose certificate looks at the stretches between changes of contacts."""
    looked: list[object] = []

    def inside(motion: Any, shares: Any) -> Any:
        looked.append(motion)
        return states_inside(motion, shares)

    def passed(*given: Any) -> Any:
        looked.append(given)
        return kinks_passed(*given)

    monkeypatch.setattr(consistency, "states_inside", inside)
    monkeypatch.setattr(consistency, "kinks_passed", passed)
    monkeypatch.setattr(pieces, "kinks_passed", passed)
    slider = da.System(
        "slider",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"floor": "y"},
        forces={"x": force},
        nonideal=[da.Coulomb("floor", mu=0.1)],
        initial={"x": 3, "y": 0, "x'": 0, "y'": 0},
    )
    assert slider.simulate(6.0).certificate.holds
    assert bool(looked) == ("abs" in force)
