"""What the certificate of large motions doubts between outputs, and that it believes those that are right."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from large_systems import chain

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.certificate.consistency import consistency
from dalembert.motion.large import size as module
from dalembert.motion.large.certificate import certify_large
from dalembert.motion.large.model import large_model
from dalembert.motion.large.state import LargeState
from dalembert.motion.result.certificate import Certificate
from dalembert.motion.result.motion import Motion

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 4)
    monkeypatch.setattr(module, "is_soon_whole", lambda coordinates: False)
    monkeypatch.setattr("dalembert.motion.large.model.is_soon_whole", lambda coordinates: False)


def certified(motion: Motion) -> Certificate:
    model = large_model(motion.system, "auto", "auto")
    assert model is not None
    return certify_large(motion, LargeState(motion.system, model, motion.system.parameter_values()))


@pytest.fixture(scope="module")
def pushed() -> da.System:
    """Masses in a row on springs, and two that are pushed and that nothing else feels."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(8)))
    return da.System(
        "pushed",
        coordinates=q,
        kinetic=sum(x.d**2 for x in q) / 2,
        potential=sum((b - a) ** 2 for a, b in pairwise(q[:6])) * 3,
        forces={q[6]: sp.sin(da.t), q[7]: sp.cos(2 * da.t)},
        initial={x: 0.1 * k for k, x in enumerate(q)} | {x.d: 1 for x in q},
    )


@pytest.mark.parametrize("samples", [21, 201, 2001])
@pytest.mark.parametrize("name", ["q", "v"])
@pytest.mark.parametrize("wrong", ["scaled", "jumps", "one output"])
def test_a_column_that_no_force_depends_on_is_looked_at(pushed: da.System, samples: int, name: str, wrong: str) -> None:
    """By a thousandth of it, in places up to 20: from the start on, from an output on, or at one."""
    motion = pushed.simulate(10, samples=samples)
    assert motion.certificate.holds, motion.certificate
    column = getattr(motion, name).copy()
    off = 1e-3 * np.abs(column[:, 6]).max()
    if wrong == "scaled":
        column[:, 6] *= 1.001
    elif wrong == "jumps":
        column[samples // 2 :, 6] += off
    else:
        column[samples // 2, 6] += off
    assert not certified(replace(motion, **{name: column})).holds


def test_quadratures_that_err_are_overruled() -> None:
    """Links that turn faster than outputs show, for a moment: what ∫ q̈ dt misses there is wrong by the quadrature."""
    motion, fine = (chain(6).simulate(3.0, samples=151, rtol=rtol) for rtol in (1e-9, 1e-12))
    np.testing.assert_allclose(motion.q, fine.q, atol=1e-6)  # a thousand tolerances: a chain magnifies errors
    limit = motion.certificate.thresholds["consistency"]
    off = consistency(motion, np.ones_like(motion.v)) / np.abs(motion.v).max()
    assert off.max() > limit
    assert motion.certificate.holds, motion.certificate
    # There too, what is wrong is seen.
    k, v = int(off.argmax()), motion.v.copy()
    v[k + 1 :, 0] += 1e-4 * np.abs(v).max()
    assert not certified(replace(motion, v=v)).holds
