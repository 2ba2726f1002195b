"""Large systems given by a Lagrangian alone: read term by term, they move as the small way says, with its forces."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.graph.structure.read import structured_of
from dalembert.motion.large import size as module

COUNT = 4


def in_a_turning_frame(what: str) -> da.System:
    """Masses joined by springs, charged, in a frame that turns: part of the Lagrangian stands at rest too."""
    c = da.coordinates(" ".join(f"x{k} y{k}" for k in range(COUNT)))
    m, k, w, b = da.parameters("m k w b")
    factor = sp.exp(da.t / 5) if what == "fading" else sp.Integer(1)
    terms, constraints, definitions = [], {}, {}
    for j, (x, y) in enumerate(zip(c[::2], c[1::2], strict=True)):
        terms.append(factor * m * ((x.d - w * y) ** 2 + (y.d + w * x) ** 2) / 2 + b * x**2 * y.d)
        before = c[2 * j - 2 : 2 * j] if j else (sp.Integer(0), sp.Integer(0))
        stretch = (x - before[0] - 1) ** 2 + (y - before[1]) ** 2
        if what == "defined":
            (s,) = da.definitions(f"s{j}")
            definitions[s], stretch = stretch, s
            terms.append(m * s.d**2 / 50)
        terms.append(-k * stretch / 2)
    if what == "held":
        constraints = {"rod": (c[2] - c[0]) ** 2 + (c[3] - c[1]) ** 2 - 1}
    start = {q: (j // 2 + 1.0 if j % 2 == 0 else 0.0) for j, q in enumerate(c)} | {q.d: 0.0 for q in c}
    return da.System(
        what, coordinates=list(c), definitions=definitions, lagrangian=sp.Add(*terms), constraints=constraints,
        forces={c[0]: -c[0].d / 4 + sp.cos(da.t)},
        parameters={m: 1.2, k: 7.0, w: 0.6, b: 0.3}, initial=start,
    )  # fmt: skip


@pytest.mark.parametrize("what", ["free", "held", "fading", "defined"])
def test_it_is_that_of_the_small_way(what: str, monkeypatch: pytest.MonkeyPatch):
    system = in_a_turning_frame(what)
    assert structured_of(system) is not None
    small = system.simulate(1.0, samples=5, rtol=1e-10)
    monkeypatch.setattr(module, "LARGE", 4)
    large = system.simulate(1.0, samples=5, rtol=1e-10)
    assert (small.certificate.holds, large.certificate.holds) == (True, True)
    # Two integrations at rtol 1e-10; accelerations and forces are a few tens.
    for name in ("q", "v", "a", "impressed", "inertial", "ideal", "multipliers", "energy", "work"):
        np.testing.assert_allclose(getattr(large, name), getattr(small, name), rtol=1e-7, atol=1e-7, err_msg=name)


def test_what_moves_at_rest_is_left_to_the_small_way():
    """A support that is shaken, and a definition that holds velocities: what is at rest is not seen term by term."""
    x, s = dynamicsymbols("x s")
    time = dynamicsymbols._t
    for value in (x + sp.sin(time), sp.diff(x, time) + x):
        fast = sp.diff(s, time) if value.has(sp.sin) else s
        system = da.System(
            "moved", coordinates=[x], definitions={"s": value}, lagrangian=fast**2 - x**2, initial={"x": 1, "x'": 0}
        )
        assert structured_of(system) is None
