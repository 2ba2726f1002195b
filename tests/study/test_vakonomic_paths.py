"""Vakonomic paths beside motions: they part on nonintegrable constraints, by amounts derived by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da


def skater_by_hand(system: da.System, t: np.ndarray, mu0: float = 0.0) -> np.ndarray:
    """x, y, φ of the vakonomic skater.

    Its equations for x and y integrate: m ẋ = m(v₀ + g sin α t) + μ sin φ, m ẏ = μ₀ − μ cos φ (φ = 0 at first).
    ẋ sin φ = ẏ cos φ then gives μ = μ₀ cos φ − m(v₀ + g sin α t) sin φ, and J φ̈ = −μ (ẋ cos φ + ẏ sin φ) with
    ẋ cos φ + ẏ sin φ = (v₀ + g sin α t) cos φ + (μ₀/m) sin φ.
    """
    p = {symbol.name: float(value) for symbol, value in system.parameters.items()}

    def rates(t: float, s: np.ndarray) -> list[float]:
        phi, turn = s[2], s[3]
        u = p["v0"] + p["g"] * np.sin(p["alpha"]) * t
        mu = mu0 * np.cos(phi) - p["m"] * u * np.sin(phi)
        along = u * np.cos(phi) + mu0 / p["m"] * np.sin(phi)
        return [along * np.cos(phi), along * np.sin(phi), turn, -mu * along / p["J"]]

    run = solve_ivp(rates, (0, t[-1]), [0, 0, 0, p["omega"]], "DOP853", t, rtol=1e-12, atol=1e-12)
    return run.y[:3].T


@pytest.mark.parametrize("mu0", [0.0, 0.4])
def test_skater_against_the_path_derived_by_hand(mu0: float):
    skater = da.library.skater(m=2.0, J=1.5)
    path = skater.vakonomic(2.0, multipliers={"knife edge": mu0}, samples=41)
    np.testing.assert_allclose(path.q, skater_by_hand(skater, path.t, mu0), rtol=1e-7, atol=1e-7)
    assert path.residual < 1e-8


def test_skater_parts_from_its_motion():
    """The motion keeps turning at the rate ω; the vakonomic skater turns away, φ̈ = (m/J) u² sin φ cos φ."""
    skater = da.library.skater(m=2.0, J=1.5)
    path = skater.vakonomic(2.0)
    parting = path.against()
    motion = parting.motion
    assert motion.certificate.holds
    assert path.residual < 1e-8  # both keep the constraint
    np.testing.assert_allclose(motion["phi"], motion.t, rtol=1e-9, atol=1e-9)
    by_hand = skater_by_hand(skater, path.t)
    extent = np.ptp(np.vstack([by_hand, motion.q]).reshape(2, -1, 3), axis=1).max(axis=0)
    apart = np.abs(by_hand - motion.q) / extent
    assert parting.largest["phi"] == pytest.approx(apart[:, 2].max(), rel=1e-6)
    first = path.t[np.argmax(apart.max(axis=1) > 1e-3)]
    assert first - (path.t[1] - path.t[0]) <= parting.time <= first
    assert "leaves the motion" in str(parting)


def test_penny_parts_from_its_motion():
    penny = da.library.penny()
    parting = penny.vakonomic(1.5).against()
    assert parting.path.residual < 1e-8
    assert parting.motion.certificate.holds
    assert parting.largest["phi"] > 0.1
    # The motion turns steadily; the vakonomic one does not: (βmR²/2) φ̈ = μ₁R ψ̇ … ≠ 0 as soon as μ grows.
    assert np.ptp(parting.motion["phi'"]) < 1e-8
    assert np.ptp(parting.path["phi'"]) > 0.1


def test_it_is_the_motion_of_a_pendulum():
    parting = da.library.pendulum().vakonomic(2.0).against()
    assert parting.time is None
    assert max(parting.largest.values()) < 1e-7
    assert "is the motion" in str(parting)


def test_picture(tmp_path: Path):
    parting = da.library.skater(m=2.0).vakonomic(0.5, samples=51).against()
    parting.plot(tmp_path / "both.png")
    assert (tmp_path / "both.png").stat().st_size > 20_000
    parting.plot()


def test_faults_are_told():
    with pytest.raises(da.ModelError, match="knife edge"):
        da.library.skater().vakonomic(1.0, multipliers={"knife edg": 1.0})
    with pytest.raises(da.DoesNotApply, match="accelerations"):
        da.library.prescribed_acceleration().vakonomic(1.0)
    with pytest.raises(da.DoesNotApply, match="do work"):
        da.library.incline_block().vakonomic(1.0)
    with pytest.raises(da.ModelError, match="positive"):
        da.library.skater().vakonomic(-1.0)
    path = da.library.pendulum().vakonomic(1.0, samples=11)
    with pytest.raises(da.ModelError, match="same output times"):
        path.against(da.library.pendulum().simulate(1.0, samples=21))
    with pytest.raises(da.MotionFailed, match="singular"):
        da.library.quadratic_penny().vakonomic(2.0)
    with pytest.raises(KeyError, match="phi"):
        path["phi"]
