"""Members by compiled code, by tape, and as single motions."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da


def test_members_by_compiled_code_and_by_tape(monkeypatch: pytest.MonkeyPatch) -> None:
    pendulum = da.library.pendulum()
    given, events = {"l": [0.5, 1.0, 2.0]}, {"bottom": da.Event("x", "falling")}
    compiled = pendulum.sweep(given, 2.0, events=events)
    for k in range(3):
        motion = compiled.system_of(k).simulate(2.0, samples=2)
        assert np.array_equal(motion.q[-1], [compiled.final[name][k] for name in ("x", "y")])
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    tape = pendulum.sweep(given, 2.0, events=events)
    # Both round in their own way, and choose steps a little differently: some tolerances of 1e-9.
    for name in ("final.x", "final.y'", "bottom: time"):
        np.testing.assert_allclose(compiled[name], tape[name], rtol=1e-7, atol=1e-8)
    assert np.array_equal(compiled["bottom: count"], tape["bottom: count"])
