"""Large systems whose constraints depend on each other: always, in places, or for a moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dependent_systems import braced_bodies, held_net, ring, ring_points, windows, windows_with_centres
from large_systems import rods
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.graph.structure.equations import ACCELERATIONS
from dalembert.motion.large import model as making
from dalembert.motion.large import simulate as simulation
from dalembert.motion.large import size as module
from dalembert.motion.large.model import large_model
from dalembert.motion.large.state import LargeState
from dalembert.motion.state.evaluation import Evaluation


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 4)


def state_of(system: da.System) -> LargeState:
    model = large_model(system, "auto", "auto")
    assert model is not None
    return LargeState(system, model, system.parameter_values())


def states(system: da.System, at: LargeState, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The initial state, flat, and one near it, on the constraints and with velocities."""
    rng = np.random.default_rng(seed)
    q, v, _ = system.initial_values()
    moved = at.return_to_constraints(q + 0.02 * rng.normal(size=q.size), rng.normal(size=q.size), 0.0)
    return [(q, v), moved]


@pytest.mark.parametrize(
    ("system", "seed", "beyond"),
    [(held_net(3), 1, 2), (held_net(3), 2, 2), (held_net(5), 3, 4), (ring(), 4, 1), (braced_bodies(6), 5, 3)],
    ids=lambda value: value.name if isinstance(value, da.System) else str(value),
)
def test_forces_and_shortest_multipliers_are_those_of_singular_values(system: da.System, seed: int, beyond: int):
    at = state_of(system)
    for q, v in states(system, at, seed):
        a, multipliers = (values.copy() for values in at.solve(q, v, 0.0))
        dense = Evaluation(system).solve(q, v, 0.0)  # singular values of all of A
        # Rounding, over the least singular value that is not zero, some hundredths.
        size = max(np.abs(dense.acceleration).max(), np.abs(dense.ideal).max())
        assert a[: at.n] == pytest.approx(dense.acceleration, abs=1e-11 * size)
        assert dense.A.T @ multipliers == pytest.approx(dense.ideal, abs=1e-11 * size)
        # Along combinations of rows that vanish, rounding over ε = 1e-8, in each of some five passes.
        assert multipliers == pytest.approx(dense.multipliers, abs=2e-7 * size)
        assert at.rank() == int(dense.rank) == at.m - beyond


def test_a_row_of_linkages_is_solved_one_constraint_after_the_other():
    """Up to ten others stand beside a constraint there; without the centres, two."""
    system = windows_with_centres(7)
    at = state_of(system)
    for q, v in states(system, at, 6):
        a, multipliers = (values.copy() for values in at.solve(q, v, 0.0))
        assert not at.solvers[ACCELERATIONS].apart
        dense = Evaluation(system).solve(q, v, 0.0)  # singular values of all of A
        size = max(np.abs(dense.acceleration).max(), np.abs(dense.ideal).max())
        # Rounding, over the least singular value, some hundredths.
        assert a[: at.n] == pytest.approx(dense.acceleration, abs=1e-11 * size)
        assert multipliers == pytest.approx(dense.multipliers, abs=1e-11 * size)
        assert at.rank() == int(dense.rank) == at.m


@pytest.mark.parametrize("system", [held_net(3), ring()], ids=lambda s: s.name)
def test_motion_is_that_of_the_small_way(system: da.System, monkeypatch: pytest.MonkeyPatch):
    large = system.simulate(0.6, samples=5, rtol=1e-9)
    monkeypatch.setattr(module, "LARGE", 1000)
    small = system.simulate(0.6, samples=5, rtol=1e-9)
    assert large.certificate.holds, large.certificate.text()
    assert (large.certificate.rank_min, large.certificate.rank_max) == (small.rank.min(), small.rank.max())
    assert [event["name"] for event in large.events] == [event["name"] for event in small.events]
    for name in ("q", "v", "a", "ideal", "energy"):
        ours, theirs = getattr(large, name), getattr(small, name)
        # Two integrations at rtol 1e-9, over motions whose errors grow some hundredfold.
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6 * max(np.abs(theirs).max(initial=0.0), 1.0)), name


def test_a_ring_keeps_to_its_one_freedom():
    """Every configuration is one of the family of `ring_points`, moved as a whole: all distances are those of one."""
    system = ring()
    kick = system.consistent(initial={q.d: 0.4 * np.cos(3 * k) for k, q in enumerate(system.coordinates)})
    motion = system.replace(initial=kick).simulate(1.0, samples=5)
    assert motion.certificate.holds, motion.certificate.text()
    angles = np.linspace(0.35, 0.95, 1201)
    middles = np.array([ring_points(angle).mean(axis=1) for angle in angles])
    even, odd = (np.linalg.norm(middles[:, k] - middles[:, k + 2], axis=1) for k in (0, 1))  # hinges next but one
    order = np.argsort(even)
    found = motion.q.reshape(-1, 6, 2, 3).mean(axis=2)
    ours = np.linalg.norm(found[:, 0] - found[:, 2], axis=1)
    assert np.ptp(ours) > 0.01, "it moves"
    # Linear interpolation between 1201 members of the family, half a thousandth apart.
    expected = np.interp(ours, even[order], odd[order])
    assert np.linalg.norm(found[:, 1] - found[:, 3], axis=1) == pytest.approx(expected, abs=1e-6)


def test_a_constraint_written_twice_changes_nothing():
    chain = rods(5)
    twice = chain.replace(
        constraints={c.name: c.expression for c in chain.constraints} | {"again": "3*(x0^2 + y0^2) = 3*l^2"}
    )
    motion, single = twice.simulate(0.3, samples=4), chain.simulate(0.3, samples=4)
    assert motion.certificate.holds, motion.certificate.text()
    assert motion.q == pytest.approx(single.q, abs=1e-7)  # rtol 1e-9
    assert motion.ideal == pytest.approx(single.ideal, abs=1e-6 * np.abs(single.ideal).max())
    # The shortest ones share the load: both rows have the same length in their own units, and λ is a third of that.
    assert motion.multipliers[:, 0] == pytest.approx(single.multipliers[:, 0] / 2, rel=1e-5)
    assert motion.multipliers[:, -1] == pytest.approx(single.multipliers[:, 0] / 6, rel=1e-5)


def test_forty_windows_are_one_pendulum_through_the_place_where_all_lie_on_one_line():
    """θ̈ = −g cos θ whatever the number of windows; level at 0.37 s and again at the other side."""
    motion = windows(40).simulate(1.6, samples=9, rtol=1e-8)
    assert motion.certificate.holds, motion.certificate.text()
    found = solve_ivp(
        lambda t, u: [u[1], -9.81 * np.cos(u[0])], (0, 1.6), [np.pi / 2, -1], "DOP853", motion.t,
        rtol=1e-12, atol=1e-12, events=lambda t, u: np.sin(u[0]),
    )  # fmt: skip
    exact = found.y[0]
    passed = [event["t"] for event in motion.events if event["name"] == "singular configuration"]
    assert passed == pytest.approx(found.t_events[0], abs=3e-5)
    assert np.sin(exact).min() < -0.9, "it has gone through"
    for k in (0, 17, 40):
        # rtol 1e-8, of positions up to 40; and some hundred times that next to the singular place.
        assert motion[f"x{k}"] - k == pytest.approx(np.cos(exact), abs=3e-5)
        assert motion[f"y{k}"] == pytest.approx(np.sin(exact), abs=3e-5)


@pytest.mark.parametrize("wrong", ["a", "ideal", "multipliers", "energy", "q"])
def test_a_wrong_number_is_caught(wrong: str, monkeypatch: pytest.MonkeyPatch):
    """Each array is changed by 1e-4 of its size before it is certified; the energy, which is zero all the way, by as
    much of its kinetic part.
    """
    certify = simulation.certify_large

    def changed(motion: da.Motion, *rest: object) -> da.Certificate:
        array = getattr(motion, wrong).copy()
        size = 1.3 / 2 * np.sum(motion.v**2, axis=1).max() if wrong == "energy" else np.abs(array).max()
        array[-1] += 1e-4 * size
        return certify(replace(motion, **{wrong: array}), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(simulation, "certify_large", changed)
    assert not held_net(3).simulate(0.3, samples=4).certificate.holds


def test_multipliers_that_do_not_make_the_motion_are_caught(monkeypatch: pytest.MonkeyPatch):
    right = LargeState.solve

    def wrong(self: LargeState, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        a, multipliers = right(self, q, v, t)
        return a, multipliers * (1 + 1e-5)

    monkeypatch.setattr(LargeState, "solve", wrong)
    found = held_net(3).simulate(0.3, samples=4).certificate
    assert {"forces", "virtual_work"} <= set(found.failures)


def test_constraints_that_contradict_each_other_are_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dalembert.motion.large.steps.MOST_COORDINATES", 0)  # as if the small way took too long
    net = held_net(3)
    rows = {c.name: c.expression for c in net.constraints}
    moved = net.replace(constraints=rows | {"drag": "x0_0 - t^2"})
    with pytest.raises(da.DalembertError, match=r"no acceleration satisfies all constraints.*(hold x0_0|drag)"):
        moved.simulate(0.1)
    # Both hold at the start, and drift apart after it.
    later = net.replace(constraints=rows | {"drag": "x0_0 - t^4"})
    with pytest.raises(da.DalembertError, match=r"contradict|could not be returned"):
        later.simulate(1.0)


def test_what_more_constraints_than_coordinates_cannot_use_is_not_compiled(monkeypatch: pytest.MonkeyPatch):
    """Three times the same rods, nine for six coordinates: each program is compiled once, for dependent rows."""
    plain = rods(3)
    stated = {f"{c.name} {k}": k * c.expression for c in plain.constraints for k in (1, 2, 3)}
    system, names, compiled = plain.replace(constraints=stated), [], making.compile_programs
    monkeypatch.setattr(making, "_made", {})

    def compile_and_note(programs, compiler):  # type: ignore[no-untyped-def]
        names.extend(programs)
        return compiled(programs, compiler)

    monkeypatch.setattr(making, "compile_programs", compile_and_note)
    monkeypatch.setenv("DALEMBERT_KERNEL", "compiled")
    motion = system.simulate(0.2, samples=3)
    assert sorted(names) == sorted(set(names)), "made for independent rows, and for dependent ones"
    assert (motion.certificate.holds, motion.certificate.rank_max) == (True, 3)
    # Two integrations at rtol 1e-9 of a short, smooth motion.
    assert motion.q == pytest.approx(plain.simulate(0.2, samples=3).q, abs=1e-8)
