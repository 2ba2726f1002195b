"""Whole motions of reduced ones with a constraint that is nonlinear in the accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.state import evaluation


def test_branches_are_followed_from_the_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """|(x″, y″)| = 1, z free: what Gauss's principle chooses turns with the pull (−x, −y), so that the acceleration is
    its direction. It is looked for from nowhere at outputs only; everywhere else it is followed.
    """
    system = da.System(
        "of one acceleration",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="(x^2 + y^2)/2",
        constraints={"size": "x''^2 + y''^2 - 1"},
        initial={"x": 0.8, "y": 0.6, "z": 0.2, "x'": 0, "y'": 0.1, "z'": 1.5},
    )
    reduced = system.reduce()
    motion = reduced.simulate(1.0, samples=11)
    calls: list[int] = []

    def counted(*given: Any) -> Any:
        calls.append(1)
        return found(*given)

    found = evaluation.least_branch
    monkeypatch.setattr(evaluation, "least_branch", counted)
    whole = reduced.reconstruct(motion)
    assert len(calls) <= 4 * motion.t.size
    assert whole.certificate.holds
    np.testing.assert_allclose(whole["z"], 0.2 + 1.5 * whole.t, atol=1e-9)
    place = whole.q[:, :2]
    wanted = -place / np.linalg.norm(place, axis=1)[:, None]
    np.testing.assert_allclose(whole.a[:, :2], wanted, atol=1e-8)  # of an iteration to 1e-13, at states to 1e-9
