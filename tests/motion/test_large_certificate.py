"""The certificate of large motions sees a wrong number, in whatever column, at whatever output, in whatever unit."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.motion.large.certificate import certify_large
from dalembert.motion.large.model import large_model
from dalembert.motion.large.state import LargeState

COUNT = 64


def row(units: np.ndarray) -> da.System:
    """Masses in a row, joined by springs that stiffen, each place in a unit of its own."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(units.size)))
    places = [sp.S(0), *(sp.Float(unit) * x for unit, x in zip(units, q, strict=True)), sp.S(0)]
    start = np.random.default_rng(5).normal(size=units.size) / units
    return da.System(
        "row",
        coordinates=q,
        kinetic=sp.Add(*(sp.Float(unit) ** 2 * x.d**2 / 2 for unit, x in zip(units, q, strict=True))),
        potential=sp.Add(*((b - a) ** 2 / 2 + (b - a) ** 4 / 40 for a, b in pairwise(places))),
        initial=dict(zip(q, start, strict=True)) | {x.d: 0 for x in q},
    )


def holds(motion: da.Motion) -> bool:
    model = large_model(motion.system, "auto", "auto")
    assert model is not None
    return certify_large(motion, LargeState(motion.system, model, motion.system.parameter_values())).holds


ALIKE = np.ones(COUNT)
MIXED = np.where(np.arange(COUNT) % 2, 1e2, 1e-2)


@pytest.mark.parametrize("units", [ALIKE, MIXED], ids=["alike", "mixed"])
@pytest.mark.parametrize("column", [0, 3, 32, 63])
def test_one_velocity_at_one_output(units: np.ndarray, column: int):
    """No force depends on it, and it is the less of the energy the more masses there are: what is off is by how far
    the motion goes from there.
    """
    motion = row(units).simulate(4, samples=9)
    assert motion.certificate.holds, motion.certificate.text()
    v = motion.v.copy()
    v[2, column] += 2e-3 * np.abs(v[:, column]).max()
    assert not holds(replace(motion, v=v))


def test_a_place_that_drifts_where_no_force_depends_on_it():
    """Over many outputs, so that it misses little from one to the next."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(COUNT)))
    system = da.System(
        "half free",
        coordinates=q,
        kinetic=sp.Add(*(x.d**2 / 2 for x in q)),
        potential=sp.Add(*(x**2 / 2 for x in q[::2])),
        initial=dict.fromkeys(q, 1.0) | {x.d: 0.3 for x in q},
    )
    motion = system.simulate(10, samples=4001)
    assert motion.certificate.holds, motion.certificate.text()
    places = motion.q.copy()
    places[:, 3] *= 1.002
    assert not holds(replace(motion, q=places))
