"""What the certificate of a motion with contacts sees, and what it must not depend on."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.contacts import legs

G = 9.81
BACKENDS = [
    "reference",
    pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no compiler")),
]


def oscillator(mu: float = 0.1) -> da.System:
    return da.System(
        "oscillator",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="k*x^2/2 + m*g*y",
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu="mu")],
        parameters={"m": 2, "k": 100, "g": G, "mu": mu},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
    )


def integrated_with(monkeypatch, change):
    """All legs are integrated with other parameters of their mode than those that are told."""
    honest = legs._Run._part

    def part(run, mode, evaluation, *rest):
        other = copy(evaluation)
        names = [symbol.name for symbol in evaluation.system.parameter_symbols]
        other.p = np.array([change(name, value) for name, value in zip(names, evaluation.p, strict=True)])
        return honest(run, mode, other, *rest)

    monkeypatch.setattr(legs._Run, "_part", part)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_leg_with_friction_the_wrong_way_is_seen(backend, monkeypatch):
    """The states keep all constraints, the energy balance holds, and forces at the points are those of the laws."""
    integrated_with(monkeypatch, lambda name, value: -value if "slip_direction" in name else value)
    motion = oscillator().simulate(0.3, backend=backend)
    assert motion.certificate.failures == ("repeat",)
    # Friction is 10 % of the spring, and wrong by twice its size, over 1/500 of the motion.
    assert motion.certificate.repeat > 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_coefficient_that_was_not_the_models_is_seen(backend, monkeypatch):
    integrated_with(monkeypatch, lambda name, value: 1.05 * value if name == "mu" else value)
    motion = oscillator().simulate(0.3, backend=backend)
    assert motion.certificate.failures == ("repeat",)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("samples", [501, 21, 3])
def test_an_honest_motion_holds_however_it_is_sampled(backend, samples):
    """Three points a whole number of periods apart look like rest under a force that pulls."""
    period = 2 * np.pi / np.sqrt(100 / 2)
    for system in (oscillator(), oscillator(0.0)):
        motion = system.simulate(4 * period, backend=backend, samples=samples)
        assert "repeat" not in motion.certificate.failures
        # Two digits above what integration at 1e-9 leaves; a wrong force in one stretch is far above.
        assert motion.certificate.repeat < 1e-6


def test_a_blow_between_two_outputs_is_no_fault():
    """A force much shorter than the distance of the outputs."""
    system = oscillator().replace(forces={"x": "400*exp(-((t - 0.1003)/0.0004)^2)"})
    motion = system.simulate(0.3, samples=31)
    assert motion.certificate.holds, motion.certificate


def test_states_that_were_changed_are_seen():
    motion = oscillator().simulate(0.3)
    cooler = replace(motion, v=motion.v * np.linspace(1, 0.99, motion.t.size)[:, None])
    assert "repeat" in cooler.certified().certificate.failures


def test_friction_told_the_other_way_is_seen():
    motion = oscillator().simulate(0.3)
    for part in ("C", "nonideal"):
        assert not replace(motion, **{part: -getattr(motion, part)}).certified().certificate.holds


def test_a_contact_told_as_open_is_seen():
    motion = oscillator().simulate(0.3)
    floor = motion.contacts["floor"]
    flying = replace(motion, contacts={"floor": replace(floor, state=np.full(motion.t.size, "open"))})
    assert "contact" in flying.certified().certificate.failures


def test_a_certificate_from_before_it_was_measured_can_be_read():
    kept = oscillator().simulate(0.1).certificate.to_dict()
    del kept["repeat"], kept["thresholds"]["repeat"]
    assert da.motion.certificate.Certificate(**kept).failures == ()
