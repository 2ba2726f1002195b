"""The vakonomic contrast: the printed equations, and agreement where the constraints are holonomic."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from latex_document import compiles
from test_action import random_system

import dalembert as da
from dalembert.mechanics.principles import vakonomic
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form

x, y, z, phi = da.coordinates("x y z phi")
m, J, g, alpha = da.parameters("m J g alpha")


def test_skater_by_hand():
    """With g = ẋ sin φ − ẏ cos φ: m ẍ = m g sin α + (μ sin φ)˙, m ÿ = −(μ cos φ)˙, J φ̈ = −μ (ẋ cos φ + ẏ sin φ)."""
    found = da.library.skater().equations("vakonomic").sections[0].lines
    mu, rate = vakonomic.multiplier(0), vakonomic.rate_of_multiplier(0)
    hand = [
        (m * x.dd, m * g * sp.sin(alpha) + rate * sp.sin(phi) + mu * phi.d * sp.cos(phi)),
        (m * y.dd, -rate * sp.cos(phi) + mu * phi.d * sp.sin(phi)),
        (J * phi.dd, -mu * (x.d * sp.cos(phi) + y.d * sp.sin(phi))),
    ]
    for line, (left, right) in zip(found, hand, strict=True):
        assert sp.simplify(line.left - sp.Add(*(term for _, term in line.terms)) - left + right) == 0


def test_numbers_with_a_multiplier_by_hand():
    """A skater on the level, φ = 0, ẋ = v, φ̇ = ω and μ given: from ġ = 0, ÿ = ẋ φ̇ = v ω, then
    m ÿ = −μ̇, m ẍ = μ ω, J φ̈ = −μ v.
    """
    skate = da.library.skater().replace(parameters={"alpha": 0, "m": 2, "J": 0.5, "v0": 1.2, "omega": 0.7})
    sampler = Sampler(standard_form(skate))
    q, v, t = skate.initial_values()
    solve = vakonomic.prepare(skate, sampler, multipliers=[0.3])
    found = solve(Sample(q, v, t, sampler.p), np.zeros(3))
    np.testing.assert_allclose(found.acceleration, [0.3 * 0.7 / 2, 1.2 * 0.7, -0.3 * 1.2 / 0.5], rtol=1e-12)
    # The force that this asks for is not normal to the allowed displacements: it turns the skate.
    np.testing.assert_allclose(found.force, [0.3 * 0.7, 2 * 1.2 * 0.7, -0.3 * 1.2], rtol=1e-12)


def test_it_is_shown_as_a_contrast():
    row = da.library.skater().compare(["vakonomic"])["vakonomic"]
    assert row.contrast
    assert not row.applies
    assert row.agrees
    assert row.acceleration_difference is not None
    assert "not integrable: knife edge" in row.reason
    assert "not the motion" in da.library.skater().equations("vakonomic").text()


DISGUISED = {"exact": x * x.d + y * y.d + z * z.d, "with a factor": sp.exp(x) * (x * x.d + y * y.d + z * z.d)}


@pytest.mark.parametrize("name", DISGUISED)
def test_it_is_the_motion_where_a_velocity_constraint_is_integrable(name: str):
    """For any μ: μ g_kj is zero, or along the gradient."""
    system = da.System(
        "disguised", coordinates=[x, y, z], kinetic=(x.d**2 + y.d**2 + 2 * z.d**2) / 2, potential=2 * z + x * y,
        constraints={name: DISGUISED[name]}, initial={x: 0.3, y: 0.4, z: 0.5, x.d: 0.5, y.d: 0.5, z.d: -0.7},
    )  # fmt: skip
    assert vakonomic.applies(system) == ""
    assert system.compare(["vakonomic"])["vakonomic"].applies
    sampler = Sampler(standard_form(system))
    for state in sampler.states(3):
        solve = vakonomic.prepare(system, sampler, multipliers=[0.8])
        exact = sampler.motion(state)
        np.testing.assert_allclose(solve(state, np.zeros(3)).acceleration, exact.acceleration, rtol=1e-10, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 3))
def test_random_holonomic_systems_agree(seed: int, n: int):
    found = random_system(seed, n, n - 1).compare(["vakonomic"], states=2)
    assert found["vakonomic"].applies
    assert found.agree, str(found)


def test_why_not():
    assert "accelerations: size" in vakonomic.applies(da.library.prescribed_acceleration())
    with pytest.raises(da.DoesNotApply, match="accelerations"):
        da.library.prescribed_acceleration().equations("vakonomic")
    rough = da.library.pendulum().replace(nonideal=[da.Coulomb("rod", mu=0.1)])
    assert "dry friction" in vakonomic.applies(rough)
    with pytest.raises(da.DoesNotApply, match="do work"):
        rough.equations("vakonomic")


def test_what_is_not_decided_is_not_called_nonintegrable():
    x, y = da.coordinates("x y")
    system = da.System(
        "ratio", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, constraints={"ratio": x.d / y.d - 2},
        initial={x: 0, y: 0, x.d: 2, y.d: 1},
    )  # fmt: skip
    assert "integrability not decided: ratio" in vakonomic.applies(system)
    assert "integrability not decided" in str(system.classify())


def test_the_verdict_on_integrability_is_that_of_classify():
    """A constraint quadratic in the velocities, whose possible velocities form a curved surface."""
    system = da.library.quadratic_penny()
    verdicts = {kind.name: kind.integrable for kind in system.classify().constraints}
    reason = vakonomic.applies(system)
    names = [name for name, integrable in verdicts.items() if integrable is False]
    assert names
    assert f"not integrable: {', '.join(names)}" in reason
    assert ("not decided" in reason) == (None in verdicts.values())


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path: Path):
    assert compiles(da.library.quadratic_penny().equations("vakonomic").latex(), tmp_path)
