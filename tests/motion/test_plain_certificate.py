"""The certificate in one call of C: equal to the one from its parts, on sound motions and on corrupt ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.ready.together import together_of
from dalembert.motion.certificate import plain as module
from dalembert.motion.certificate.algebra import data_along
from dalembert.motion.certificate.certify import certify, thresholds
from dalembert.motion.certificate.plain import measure_plain
from dalembert.motion.result.certificate import MEASURES, Certificate
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.evaluation import Evaluation

SYSTEMS = {"penny": (20.0, 201), "cart": (3.0, 9), "pendulum": (4.0, 60), "satellite_pair": (5.0, 30)}


def simulated(name: str) -> Motion:
    duration, samples = SYSTEMS[name]
    return da.library.get(name).simulate(duration, samples=samples)


def from_parts(motion: Motion, monkeypatch: pytest.MonkeyPatch) -> Certificate:
    with monkeypatch.context() as patch:
        patch.setattr(module, "measure_plain", lambda *_: None)
        return certify(motion)


@pytest.mark.parametrize("name", SYSTEMS)
def test_one_call_measures_what_the_parts_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = simulated(name)
    evaluation = Evaluation(motion.system)
    together = together_of(evaluation.graph)
    assert together is not None
    wanted = thresholds(motion.rtol)["repeat"]
    found = measure_plain(motion, evaluation, together, data_along(motion, evaluation), wanted)
    assert found is not None  # it is this road that is looked at
    parts = from_parts(motion, monkeypatch)
    assert (int(found["rank_min"]), int(found["rank_max"])) == (parts.rank_min, parts.rank_max)
    for measure in set(MEASURES) & found.keys():
        # Sums of rounding may differ by a few roundings.
        assert found[measure] == pytest.approx(getattr(parts, measure), rel=1e-6, abs=2e-14), measure
    assert motion.certificate.holds
    assert parts.holds


@pytest.mark.parametrize("field", ["q", "v", "a", "ideal", "impressed", "inertial", "multipliers", "work"])
def test_a_corrupt_motion_fails_alike(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = simulated("pendulum")
    values = getattr(motion, field).copy()
    values[23] += 1e-3  # of sizes about one, at one output, a thousand times what any measure allows
    wrong = replace(motion, **{field: values})
    assert not certify(wrong).holds
    assert set(certify(wrong).failures) == set(from_parts(wrong, monkeypatch).failures)


@pytest.mark.parametrize("field", ["q", "v", "a", "ideal"])
def test_what_is_changed_in_place_is_seen(field: str) -> None:
    """What was evaluated for the forces serves the certificate only for the states and forces it belongs to."""
    motion = simulated("pendulum")
    getattr(motion, field)[23] += 1e-3
    assert not motion.certificate.holds


def test_a_value_that_is_no_number_fails() -> None:
    motion = simulated("pendulum")
    a = motion.a.copy()
    a[5, 0] = np.nan
    assert not certify(replace(motion, a=a)).holds
