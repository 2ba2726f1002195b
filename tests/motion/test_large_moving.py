"""Large systems whose definitions hold the time: supports that are moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from large_systems import VALUES, angles_of

import dalembert as da
from dalembert.graph.structure.read import structured_of
from dalembert.graph.structure.templates import QUANTITY, RATE, TIME
from dalembert.graph.structure.velocities import Rates
from dalembert.kernel.build import find_compiler
from dalembert.model.language.symbols import t
from dalembert.motion.large import prepare
from dalembert.motion.large.model import large_model

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
LINKS = 64
SUPPORT = (sp.Rational(3, 10) * sp.sin(2 * t), sp.cos(3 * t) / 10)


def chain(support: tuple[sp.Expr, sp.Expr], felt: tuple[sp.Expr, sp.Expr], **more: Any) -> da.System:
    """Point masses on massless links, from a support at this place; a force m·felt acts on each."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(LINKS)))
    d = da.definitions(" ".join(f"x{k} y{k}" for k in range(LINKS)))
    m, l, g = da.parameters("m l g")
    definitions, kinetic, potential = {}, [], []
    for k in range(LINKS):
        x, y = d[2 * k], d[2 * k + 1]
        before = (d[2 * k - 2], d[2 * k - 1]) if k else support
        definitions[x], definitions[y] = before[0] + l * sp.sin(a[k]), before[1] - l * sp.cos(a[k])
        kinetic.append(m * (x.d**2 + y.d**2) / 2)
        potential.append(m * (g * y - felt[0] * x - felt[1] * y))
    return da.System(
        "chain",
        coordinates=list(a),
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential),
        parameters=VALUES,
        initial=dict(zip(a, angles_of(LINKS), strict=True)) | {q.d: 0 for q in a},
        **more,
    )


def is_taken_in_large(system: da.System) -> bool:
    return large_model(system, "auto", "auto") is not None


def test_a_shaken_support_is_a_force_on_all_masses() -> None:
    """In a frame that moves with the support nothing moves by itself; each mass feels −m times its acceleration."""
    shaken = chain(SUPPORT, (sp.S.Zero, sp.S.Zero)).simulate(0.5, samples=11, rtol=1e-10)
    felt = tuple(-sp.diff(place, t, 2) for place in SUPPORT)
    there = chain((sp.S.Zero, sp.S.Zero), (felt[0], felt[1])).simulate(0.5, samples=11, rtol=1e-10)
    assert is_taken_in_large(shaken.system)
    assert is_taken_in_large(there.system)
    # Tolerances of 1e-10, some of which add up; velocities and accelerations are 5 and 80 times the angles.
    np.testing.assert_allclose(shaken.q, there.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shaken.v, there.v, rtol=0, atol=1e-8)
    np.testing.assert_allclose(shaken.a, there.a, rtol=0, atol=1e-6)


def test_the_energy_is_of_the_velocities_of_coordinates_alone() -> None:
    """E = q̇·∂L/∂q̇ − L = T₂ − T₀ + V, of T the parts quadratic in q̇ and without it, from the angles by hand."""
    motion = chain(SUPPORT, (sp.S.Zero, sp.S.Zero)).simulate(0.5, samples=11)
    m, l, g = VALUES["m"], VALUES["l"], VALUES["g"]
    own = np.cumsum(l * np.cos(motion.q) * motion.v, axis=1), np.cumsum(l * np.sin(motion.q) * motion.v, axis=1)
    moved = 0.6 * np.cos(2 * motion.t), -0.3 * np.sin(3 * motion.t)
    heights = 0.1 * np.cos(3 * motion.t)[:, None] - np.cumsum(l * np.cos(motion.q), axis=1)
    by_hand = m * (own[0] ** 2 + own[1] ** 2).sum(axis=1) / 2 + m * g * heights.sum(axis=1)
    by_hand -= LINKS * m * (moved[0] ** 2 + moved[1] ** 2) / 2
    # Rounding of sums of 64 terms, up to a few hundred each.
    np.testing.assert_allclose(motion.energy, by_hand, rtol=1e-12, atol=1e-9)
    # What the support does to it is the work of the time, all of it.
    assert np.ptp(motion.energy) > 1
    np.testing.assert_allclose(motion.energy - motion.energy[0], motion.work.sum(axis=1), atol=1e-6)
    assert motion.certificate.holds


@pytest.mark.parametrize("what", ["end held", "end led by its speed", "event"])
def test_both_ways_agree(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    end, a0 = da.definitions(f"x{LINKS - 1}")[0], da.coordinates("a0")[0]
    held = sp.Float(np.sin(angles_of(LINKS)).sum())
    more: dict[str, dict[str, Any]] = {
        "end held": {"constraints": {"end": end - held - sp.sin(t) / 5}},
        "end led by its speed": {"constraints": {"end": end.d - a0.d * sp.cos(t) / 3 - sp.sin(t)}},
        "event": {"events": {"there": end - held - sp.Rational(1, 10)}},
    }
    system = chain(SUPPORT, (sp.S.Zero, sp.S.Zero), **more[what])
    if what != "event":
        system = system.replace(initial=system.consistent())
    large = system.simulate(0.5, samples=6, rtol=1e-10, method="dop853")
    assert is_taken_in_large(system)
    monkeypatch.setattr(prepare, "large_model", lambda *_: None)
    small = system.replace(name="as a whole").simulate(0.5, samples=6, rtol=1e-10, method="dop853")
    assert large.certificate.holds
    assert large.certificate.energy < 1e-7  # ten tolerances of 1e-10, and as many of the work, relative to its size
    # Relative to the largest: tolerances of 1e-10 that add up, in accelerations and forces some hundred times.
    for name, bound in (("q", 1e-9), ("v", 1e-9), ("energy", 1e-9), ("work", 1e-8), ("multipliers", 1e-7), ("a", 1e-8)):
        one, other = getattr(large, name), getattr(small, name)
        assert np.abs(one - other).max(initial=0.0) <= bound * np.abs(other).max(initial=0.0), name
    if what == "event":
        assert [event["name"] for event in large.events] == [event["name"] for event in small.events] == ["there"]
        assert abs(large.events[0]["t"] - small.events[0]["t"]) < 1e-9


@pytest.mark.parametrize("defined", [True, False])
def test_velocities_that_hold_the_time(defined: bool) -> None:
    """Of the masses, as definitions u = u₁ + l cos a a′, or written plainly; the motion is that of places."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(LINKS)))
    m, l, g = da.parameters("m l g")
    names = da.definitions(" ".join(f"u{k} w{k}" for k in range(LINKS)))
    definitions, kinetic = {}, []
    u, w = (sp.diff(place, t) for place in SUPPORT)
    for k, angle in enumerate(a):
        u, w = u + l * sp.cos(angle) * angle.d, w + l * sp.sin(angle) * angle.d
        if defined:
            definitions[names[2 * k]], definitions[names[2 * k + 1]] = u, w
            u, w = names[2 * k], names[2 * k + 1]
        kinetic.append(m * (u**2 + w**2) / 2)
    system = da.System(
        "by velocities",
        coordinates=list(a),
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*(-m * g * l * (LINKS - k) * sp.cos(angle) for k, angle in enumerate(a))),
        parameters=VALUES,
        initial=dict(zip(a, angles_of(LINKS), strict=True)) | {q.d: 0 for q in a},
    )
    # The weight of the support's height depends on time alone, and moves nothing.
    motion = system.simulate(0.5, samples=6, rtol=1e-10)
    there = chain(SUPPORT, (sp.S.Zero, sp.S.Zero)).simulate(0.5, samples=6, rtol=1e-10)
    assert is_taken_in_large(system)
    assert motion.certificate.holds
    np.testing.assert_allclose(motion.q, there.q, rtol=0, atol=1e-9)  # tolerances of 1e-10, some of which add up
    lifted = LINKS * VALUES["m"] * VALUES["g"] * np.cos(3 * motion.t) / 10
    np.testing.assert_allclose(motion.energy + lifted, there.energy, rtol=1e-11, atol=1e-6)


def test_only_rates_of_positions_that_hold_the_time_are_quantities() -> None:
    """t cos a a′ + sin a is that of t sin a; t cos a a′ is of nothing."""
    (a,) = da.coordinates("a")
    is_rate = Rates({t: (TIME, 0), a: (QUANTITY, 0), a.d: (RATE, 0)})
    assert is_rate(t * sp.cos(a) * a.d + sp.sin(a))
    assert not is_rate(t * sp.cos(a) * a.d)
    assert is_rate(sp.cos(a) * a.d)
    assert not is_rate(sp.cos(a) * a.d + sp.sin(a))


def test_a_moved_chain_has_the_patterns_of_one_at_rest() -> None:
    """The time stands in the first link only: one more template for each of x and y."""
    moved, still = (
        structured_of(chain(support, (sp.S.Zero, sp.S.Zero))) for support in (SUPPORT, (sp.S.Zero, sp.S.Zero))
    )
    assert moved is not None
    assert still is not None
    assert (moved.moving, still.moving) == (True, False)
    assert len(moved.derivatives.examples) <= len(still.derivatives.examples) + 2
