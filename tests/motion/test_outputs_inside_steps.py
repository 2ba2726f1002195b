"""Outputs inside steps are as good as the ends of steps, also where stability limits the steps: a fast vibration too
small to matter goes once round in each, and an interpolant misses it by a thousand tolerances.
"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.kernel.emit.dispatch import methods_of
from dalembert.methods.inside import judge_of
from dalembert.methods.table import METHODS
from dalembert.motion.integrate import reference
from dalembert.motion.integrate.inside import InsideJudge

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
FAST, TINY, RTOL = 100.0, 1e-11, 1e-9
# Where a step may err by one tolerance, what lies inside may by four: in the mean over q and q̇, of which the
# velocities err most, and steps add to each other. Without control of what lies inside: 80 to 220. Outputs lie in every
# step, so that all steps are short: the ends of longer ones err by up to 60 themselves.
GOOD = 10 * RTOL


def pair() -> da.System:
    """Both masses swing slowly together, and 100 times as fast against each other, by 1e-11."""
    return da.System(
        "pair",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential=f"(x + y)^2/4 + {FAST}^2*(x - y)^2/4",
        initial={"x": 1 + TINY, "y": 1 - TINY, "x'": 0, "y'": 0},
    )


def missed(t: np.ndarray, x: np.ndarray, rate: np.ndarray) -> float:
    """By how much the first mass is wrong."""
    far = np.abs(x - np.cos(t) - TINY * np.cos(FAST * t)).max()
    return max(far, np.abs(rate + np.sin(t) + FAST * TINY * np.sin(FAST * t)).max())


@pytest.mark.parametrize("backend", [pytest.param("native", marks=needs_compiler), "reference"])
@pytest.mark.parametrize("samples", [301, 1001])
def test_outputs_of_a_motion_whose_steps_are_limited_by_stability(backend: str, samples: int) -> None:
    motion = pair().simulate(6.0, samples=samples, rtol=RTOL, method="dop853", backend=backend)
    assert missed(motion.t, motion["x"], motion["x'"]) < GOOD


@needs_compiler
def test_outputs_of_members_in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DALEMBERT_KERNEL", raising=False)
    asked = {"keep": ["x", "x'"], "points": 301, "rtol": RTOL, "method": "dop853", "lanes": True}
    members = pair().sweep({"x'": np.zeros(5)}, 6.0, **asked)
    assert members.in_lanes == 5
    x, rate = (members.data[name].to_numpy().reshape(5, 301) for name in ("x", "x'"))
    for k in range(5):
        assert missed(np.linspace(0.0, 6.0, 301), x[k], rate[k]) < GOOD


def chain(masses: int) -> da.System:
    """Of Fermi, Pasta, Ulam and Tsingou, in its longest wave."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(masses)))
    stretched = [b - a for a, b in zip([0, *q], [*q, 0], strict=True)]
    wave = np.sin(np.pi * np.arange(1, masses + 1) / (masses + 1))
    return da.System(
        "chain",
        coordinates=list(q),
        kinetic=sum(x.d**2 / 2 for x in q),
        potential=sum(e**2 / 2 + e**3 / 12 for e in stretched),
        initial=dict(zip(q, wave, strict=True)) | {x.d: 0 for x in q},
    )


@needs_compiler
def test_outputs_of_a_large_system() -> None:
    """70 masses, against SciPy on equations by hand, in steps so short that its interpolant serves. Before, 3e-7."""
    masses, end = 70, 100.0
    motion = chain(masses).simulate(end, samples=101, rtol=RTOL)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        stretched = np.diff(np.concatenate([[0.0], y[:masses], [0.0]]))
        return np.concatenate([y[masses:], np.diff(stretched + stretched**2 / 4)])

    start = np.concatenate([motion.q[0], motion.v[0]])
    fine = solve_ivp(rates, (0, end), start, "DOP853", motion.t, rtol=1e-12, atol=1e-15, max_step=0.3)
    assert np.abs(np.hstack([motion.q, motion.v]) - fine.y.T).max() < GOOD
    assert motion.certificate.holds


@pytest.mark.parametrize("name", [method.name for method in methods_of(METHODS) if method.tableau is not None])
@pytest.mark.parametrize("turn", [1j, 3j, 5j, -2.0, 1 + 1j])
def test_one_slope_tells_the_largest_error_inside(name: str, turn: complex) -> None:
    """Of y′ = λ y over a step of length one, λ the turn."""
    tableau = METHODS[name].tableau
    assert tableau is not None
    judge, slopes = judge_of(tableau), np.zeros(tableau.slopes, dtype=complex)
    for i, row in enumerate(tableau.matrix()):
        slopes[i] = turn * (1 + sum(a * k for a, k in zip(row, slopes, strict=False)))
    judged = abs(np.dot(judge.rate, slopes) - judge.weight * turn * (1 + np.dot(judge.state, slopes)))
    errors = [abs(1 + np.dot(tableau.inside(x), slopes) - cmath.exp(turn * x)) for x in np.linspace(0.0, 1.0, 101)]
    # The fifth-order pair has no fixed ratio: its step errs as much as its interpolant.
    assert 0.5 < judged / max(errors) < 2


@pytest.mark.parametrize("name", [method.name for method in methods_of(METHODS) if method.tableau is not None])
def test_rates_of_interpolants_are_those_of_their_states(name: str) -> None:
    tableau = METHODS[name].tableau
    assert tableau is not None
    for x in (0.1, 0.4, 0.8):
        apart = (np.array(tableau.inside(x + 1e-5)) - np.array(tableau.inside(x - 1e-5))) / 2e-5
        # The error of the difference, h² by the third derivative of polynomials with coefficients up to a thousand.
        np.testing.assert_allclose(tableau.rate_inside(x), apart, atol=1e-6)


def test_a_step_that_is_taken_again_is_no_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is one of those after which is looked whether time goes on. Of 61 outputs a dozen lie where a step is
    taken again; which ones is a matter of rounding.
    """
    began: list[float] = []
    hold = InsideJudge.hold

    def noted(judge: InsideJudge, solver: Any, due: float) -> None:
        began.append(float(solver.t))
        hold(judge, solver, due)

    monkeypatch.setattr(InsideJudge, "hold", noted)
    pair().simulate(6.0, samples=61, rtol=RTOL, method="dop853", backend="reference")
    again = next(k for k in range(1, len(began)) if began[k] == began[k - 1])
    monkeypatch.setattr(reference, "STALL_STEPS", again)
    assert pair().simulate(6.0, samples=61, rtol=RTOL, method="dop853", backend="reference").t[-1] == 6.0
