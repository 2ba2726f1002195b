"""Sums over many quantities, in definitions, constraints, energies and forces of large systems."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp
from large_systems import angles_of, chain

import dalembert as da
from dalembert.graph.structure.velocities import WIDEST
from dalembert.motion.large import size as module
from dalembert.motion.large.model import large_model
from dalembert.motion.large.state import LargeState
from dalembert.motion.state.evaluation import Evaluation

LINKS = WIDEST + 6
PLAIN = chain(LINKS)
a = PLAIN.coordinates
x, y = (da.definitions(" ".join(f"{name}{k}" for k in range(LINKS))) for name in "xy")
l, total, mean = sp.Symbol("l"), *da.definitions("total mean")
ANGLES = angles_of(LINKS)
TIP = float(np.sin(ANGLES).sum())
MEAN = float(np.cumsum(np.sin(ANGLES)).mean())
DEFINED = {sp.Symbol(name): value for name, value in PLAIN.definitions.items()}
WIDE: Mapping[str, Mapping[str, Any]] = {
    "a tip, plainly": {"constraints": {"tip": sp.Add(*(l * sp.sin(q) for q in a)) - TIP}},
    "a tip, defined": {
        "definitions": {**DEFINED, total: sp.Add(*(l * sp.sin(q) for q in a))},
        "constraints": {"tip": total - TIP},
    },
    "a tip that moves": {"constraints": {"tip": sp.Add(*(sp.sin(q + da.t) for q in a)) - float(np.sin(ANGLES).sum())}},
    "a mean of definitions": {"constraints": {"mean": sp.Add(*x) / LINKS - MEAN, "tip": x[-1] - TIP}},
    "a defined mean": {
        "definitions": {**DEFINED, mean: sp.Add(*x) / LINKS},
        "constraints": {"mean": mean - MEAN},
        "potential": PLAIN.potential + mean**2,
    },
    "a velocity": {"constraints": {"drift": sp.Add(*(symbol.d for symbol in x))}},
    "a velocity, defined": {
        "definitions": {**DEFINED, total: sp.Add(*(symbol.d for symbol in x))},
        "constraints": {"drift": total},
    },
    "a potential": {"potential": PLAIN.potential + 3 * sp.cos(sp.Add(*x) / 50) * sp.Add(*y)},
    "forces": {"forces": {a[0]: -sp.Add(*a) / 7, a[3]: -sp.Add(*(q.d for q in a)) / 5 - sp.Add(*a) * a[1].d}},
}


@pytest.mark.parametrize("what", WIDE)
def test_wide_sums_are_taken_apart(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 4)
    system = PLAIN.replace(**WIDE[what])
    model = large_model(system, "auto", "auto")
    assert model is not None, "it keeps its structure"
    assert model.quantities >= len(PLAIN.definitions) + LINKS
    at = LargeState(system, model, system.parameter_values())
    rng = np.random.default_rng(4)
    # Of a tip that moves, the state given is one at the time 0.
    q, v = at.return_to_constraints(ANGLES + 0.05 * rng.normal(size=LINKS), rng.normal(size=LINKS), 0.0)
    found, multipliers = at.solve(q, v, 0.0)
    dense = Evaluation(system).solve(q, v, 0.0)  # by dense matrices of the whole graph, with their singular values
    # Rounding times the condition of M, which grows with the square of the links: some thousand here.
    size = np.abs(dense.acceleration).max()
    assert found[:LINKS] == pytest.approx(dense.acceleration, rel=1e-9, abs=1e-10 * size)
    assert multipliers == pytest.approx(dense.multipliers, rel=1e-9, abs=1e-9)


def closed(links: int, how: str) -> da.System:
    """An arch of links with springs between them, symmetric, its ends held; how its tip is written."""
    open_, l, bent = chain(links), 1.0, np.linspace(1.0, -1.0, links)
    a, at = open_.coordinates, (np.sin(bent).sum(), np.cos(bent).sum())
    tip = sp.Add(*(l * sp.sin(q) for q in a)), sp.Add(*(l * sp.cos(q) for q in a))
    if how == "definitions":
        ends = da.definitions(f"x{links - 1} y{links - 1}")
        tip = ends[0], -ends[1]
    springs = sp.Add(*(40 * (p - q - float(bent[0] - bent[1])) ** 2 for p, q in pairwise(a)))
    return open_.replace(
        constraints={"along": tip[0] - float(at[0]), "up": tip[1] - float(at[1])},
        potential=open_.potential + springs,
        initial={**dict(zip(a, bent, strict=True)), **{q.d: 0 for q in a}},
    )


def test_a_closed_chain_is_the_same_however_its_tip_is_written() -> None:
    """Its tip, held where the arch is symmetric, is at rest as a sum of accelerations that are not."""
    motions = [closed(70, how).simulate(0.3, samples=4) for how in ("definitions", "sums")]
    for motion in motions:
        assert motion.backend == "native"
        assert motion.certificate.holds, motion.certificate.text()
    # Two motions at rtol 1e-9 with their own steps; angles are of size one.
    assert motions[0].q == pytest.approx(motions[1].q, abs=1e-6)


def test_events_see_definitions_behind_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of quantities are not those of definitions, where sums stand between them."""
    first, last = da.definitions("first last")
    defined = {first: sp.Add(*(sp.sin(q) for q in a)), **DEFINED, last: 2 * x[3]}
    level = 2 * float(np.sin(ANGLES[:4]).sum()) - 0.05
    system = PLAIN.replace(definitions=defined, events={"back": last - level})
    ways = [system.simulate(1.0)]
    monkeypatch.setattr(module, "LARGE", 4)
    ways.append(system.simulate(1.0))
    times = [[event["t"] for event in way.events] for way in ways]
    assert times[0]
    assert times[0] == pytest.approx(times[1], abs=1e-6)  # motions at rtol 1e-9
