"""A motion's energy and stretches are judged by where it is fastest, however many output points there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.certificate.certify import certify

NATIVE = pytest.mark.skipif(find_compiler() is None, reason="no C")


def comet(eccentricity: float) -> da.System:
    """Kepler's problem from the farthest point, period 2π: v is √((1 + e)/(1 − e)) at the nearest."""
    return da.System(
        "comet",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="-1/sqrt(x^2 + y^2)",
        parameters={"e": eccentricity},
        initial={"x": "1 + e", "y": 0, "x'": 0, "y'": "sqrt((1 - e)/(1 + e))"},
    )


def relaxation() -> da.System:
    return da.System(
        "relaxation",
        coordinates="x",
        kinetic="x'^2/2",
        potential="x^2/2",
        forces={"x": "mu*(1 - x^2)*x'"},
        parameters={"mu": 100},
        initial={"x": 2, "x'": 0},
    )


@pytest.mark.parametrize("backend", ["reference", pytest.param("native", marks=NATIVE)])
def test_the_fastest_state(backend: str) -> None:
    motion = comet(0.9).simulate(2 * np.pi, samples=3, rtol=1e-12, backend=backend)
    assert motion.fastest is not None
    t, x, y, vx, vy = motion.fastest[:5]
    # Next to the sun by a fraction of a step, of which there are hundreds in a period and most are near it.
    assert abs(t - np.pi) < 0.05
    assert (vx**2 + vy**2) / 2 - 1 / np.hypot(x, y) == pytest.approx(-0.5, abs=1e-9)
    assert np.hypot(vx, vy) > 0.95 * np.sqrt(1.9 / 0.1)
    assert motion.fastest[5:] == pytest.approx(np.zeros(3), abs=1e-12), "no work is done"


@NATIVE
@pytest.mark.parametrize(("orbits", "samples"), [(5, 2), (5, 21), (100, 2), (100, 501), (100, 5001)])
@pytest.mark.parametrize("rtol", [1e-5, 1e-7])
def test_the_verdict_does_not_depend_on_the_outputs(orbits: int, samples: int, rtol: float) -> None:
    motion = comet(0.9).simulate(2 * np.pi * orbits, rtol=rtol, samples=samples)
    assert motion.certificate.holds, motion.certificate.failures
    # Energies of 10 are exchanged next to the sun, 0.05 far from it: relative to those, a step errs by its tolerance.
    assert motion.timing is not None
    assert motion.certificate.energy < 10 * rtol * motion.timing.steps


@NATIVE
@pytest.mark.parametrize("samples", [11, 201])
def test_jumps_between_outputs(samples: int) -> None:
    """Energies of 9000 are exchanged in jumps that take a fiftieth of a unit, 2 elsewhere."""
    motion = relaxation().simulate(200, rtol=1e-5, samples=samples, method="dop853")
    assert motion.fastest is not None
    # In the jump from x = 1 to −2, x′ = μ(x − x³/3 − 2/3), at most 4μ/3 at x = −1; a step may end beside it.
    assert abs(motion.fastest[2]) == pytest.approx(400 / 3, rel=0.1)
    assert motion.certificate.holds, motion.certificate.failures


@NATIVE
def test_what_is_wrong_there_is_wrong() -> None:
    """A balance that outputs keep and the fastest state does not; and one that they do not keep."""
    motion = relaxation().simulate(200, rtol=1e-5, samples=201, method="dop853")
    assert motion.fastest is not None
    faster = motion.fastest.copy()
    faster[2] *= 1.05
    assert "energy" in certify(replace(motion, fastest=faster)).failures
    work = motion.work.copy()
    work[100:, 0] += 0.1 * motion.fastest[2] ** 2 / 2
    assert "energy" in certify(replace(motion, work=work)).failures


@NATIVE
def test_a_joined_comet_fails() -> None:
    """Half an orbit joined to half of one that began a thousandth faster, at a tolerance of 1e-7."""
    one = comet(0.9).simulate(2 * np.pi, rtol=1e-7, samples=101)
    start = dict(zip(("x", "y", "x'", "y'"), (*one.q[0], *(1.001 * one.v[0])), strict=True))
    other = comet(0.9).replace(initial=start).simulate(2 * np.pi, rtol=1e-7, samples=101)
    fields = ("q", "v", "a", "impressed", "inertial", "ideal", "nonideal", "multipliers", "energy", "work")
    joined = {f: np.concatenate([getattr(one, f)[:50], getattr(other, f)[50:]]) for f in fields}
    assert "repeat" in certify(replace(one, **joined)).failures


def test_kept_with_the_motion(tmp_path: Path) -> None:
    motion = comet(0.5).simulate(6, samples=5)
    motion.save(tmp_path / "comet.nc")
    again = da.Motion.load(tmp_path / "comet.nc")
    np.testing.assert_array_equal(again.fastest, motion.fastest)
    assert certify(again).energy == motion.certificate.energy
