"""The nearest consistent state of large systems, against the dense search of small ones."""

from __future__ import annotations

import numpy as np
import pytest
from dependent_systems import held_net, ring
from large_systems import rods

import dalembert as da
from dalembert.motion.large import nearest as search
from dalembert.motion.large import size as module


def off(system: da.System, seed: int) -> dict[str, float]:
    """A state near the initial one, off the constraints."""
    rng = np.random.default_rng(seed)
    symbols = (*system.coordinates, *system.velocities)
    values = np.concatenate(system.initial_values()[:2])
    return dict(zip((s.name for s in symbols), values + 0.05 * rng.normal(size=values.size), strict=True))


@pytest.mark.parametrize("system", [rods(5), held_net(3), ring()], ids=lambda s: s.name)
def test_it_is_that_of_the_small_way(system: da.System, monkeypatch: pytest.MonkeyPatch):
    given = off(system, 5)
    hold = [] if system.name == "held net" else ["x1", "y1'"]
    small = system.consistent(given, hold)
    monkeypatch.setattr(module, "LARGE", 4)
    large = system.consistent(given, hold)
    # Both settle to 1e-14 of the state.
    assert np.array(list(large.values())) == pytest.approx(np.array(list(small.values())), abs=1e-11)
    assert all(large[name] == given[str(name)] for name in large if str(name) in hold)


def test_it_is_no_farther_where_constraints_depend_on_each_other(monkeypatch: pytest.MonkeyPatch):
    """Off its constraints, a ring has no freedom at all: from here the small way strays."""
    system, given = ring(), off(ring(), 3)
    distance = []
    for large in (1000, 4):
        monkeypatch.setattr(module, "LARGE", large)
        found = system.consistent(given)
        distance.append(np.linalg.norm([found[q] - given[q.name] for q in system.coordinates]))
    assert distance[1] <= distance[0] * (1 + 1e-12)
    assert distance[1] < 0.3  # 36 deviations of 0.05 were made


def test_many_circles():
    """Each with a point: the nearest place is where the straight line to its middle meets it."""
    count = 40
    q = da.coordinates(" ".join(f"x{k} y{k}" for k in range(count)))
    radii = 1.0 + 0.01 * np.arange(count)
    system = da.System(
        "circles",
        coordinates=list(q),
        kinetic=sum(x.d**2 for x in q) / 2,
        constraints={f"circle {k}": q[2 * k] ** 2 + q[2 * k + 1] ** 2 - radii[k] ** 2 for k in range(count)},
        initial=dict.fromkeys(q, 1.0) | {x.d: 0.5 if k % 2 else -0.3 for k, x in enumerate(q)},
    )
    found = np.array(list(system.consistent().values()))
    # From (1, 1): the point of the circle in that direction; of the velocity, the part along the circle.
    assert found[: 2 * count] == pytest.approx(np.repeat(radii, 2) / np.sqrt(2), abs=1e-12)
    assert found[2 * count :] == pytest.approx(np.tile([-0.4, 0.4], count), abs=1e-12)


def test_a_state_that_cannot_be_mended_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LARGE", 4)
    system = rods(5)
    with pytest.raises(da.DalembertError, match="no state near the given one"):
        system.consistent({"x0": 3.0, "y0": 0.0}, hold=["x0", "y0"])
    assert search.nearest_of_large(system.replace(nonideal=[]), *system.initial_values(), np.ones(20, dtype=bool))
