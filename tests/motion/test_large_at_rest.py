"""Large chains that hang at rest, against the catenary of links: the motion, the pull at its end, the certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import dalembert as da
from dalembert.motion.large import size as module
from dalembert.motion.large.certificate import certify_large
from dalembert.motion.large.model import large_model
from dalembert.motion.large.state import LargeState

MASS, G = 0.5, 9.81


def hung_at_both_ends(links: int) -> tuple[da.System, np.ndarray, float]:
    """In angles; a mass at each joint, and none at the end that is held. With its angles and its horizontal pull H: the
    loads beyond a link divided by H are its slope.
    """
    loads = MASS * G * (np.arange(links) - (links - 1) / 2)
    pull = float(brentq(lambda h: np.cos(np.arctan(loads / h)).sum() - 0.6 * links, 1e-3, 1e6))
    at = np.arctan(loads / pull)
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    joints = [da.definitions(f"x{k} y{k}") for k in range(links)]
    definitions = {}
    x: tuple[sp.Expr, ...] = (sp.Integer(0), sp.Integer(0))
    for q, joint in zip(a, joints, strict=True):
        definitions |= {joint[0]: x[0] + sp.cos(q), joint[1]: x[1] + sp.sin(q)}
        x = joint
    kinetic = sp.Add(*(MASS * (x.d**2 + y.d**2) / 2 for x, y in joints[:-1])) + a[-1].d ** 2 / 100
    system = da.System(
        "hung at both ends", coordinates=list(a), definitions=definitions, kinetic=kinetic,
        potential=sp.Add(*(MASS * G * y for _, y in joints[:-1])),
        constraints={"end x": x[0] - float(np.cos(at).sum()), "end y": x[1] - float(np.sin(at).sum())},
        initial=dict(zip(a, at, strict=True)) | {q.d: 0 for q in a},
    )  # fmt: skip
    return system, at, pull


@pytest.mark.parametrize("links", [10, 80])
def test_what_is_held_has_no_mass(links: int, monkeypatch: pytest.MonkeyPatch):
    """All accelerations along the span are rounding: of what the pull would make of the masses beside the end."""
    monkeypatch.setattr(module, "LARGE", 4)
    system, at, pull = hung_at_both_ends(links)
    motion = system.simulate(1.0, samples=5, rtol=1e-8)
    assert np.abs(motion.q - at).max() < 1e-9  # rounding, in a second
    assert motion.multipliers[-1] == pytest.approx([pull, MASS * G * (links - 1) / 2], rel=1e-9)
    assert motion.certificate.holds, motion.certificate.text()
    model = large_model(system, "auto", "auto")
    assert model is not None
    wrong = motion.a.copy()
    wrong[2, links // 2] += 1e-4 * G
    assert not certify_large(replace(motion, a=wrong), LargeState(system, model, system.parameter_values())).holds
