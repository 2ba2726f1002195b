"""The certificate by C equals the one by singular values, holds without a library, and fails for what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sample_systems import pendulum, penny

import dalembert as da
from dalembert.kernel.ready import again, check, many, solve, sparse, together
from dalembert.motion.certificate.algebra import at_points, at_points_dense, data_along
from dalembert.motion.certificate.consistency import consistency, quadratures
from dalembert.motion.certificate.repeat import SEQUENCE, _in_pieces
from dalembert.motion.certificate.slopes import all_slopes
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points


def instants(system: da.System, seed: int = 0) -> tuple[Motion, Evaluation]:
    """States near the initial one with all their forces, as if they were a motion."""
    evaluation = Evaluation(system)
    q, v, _ = system.initial_values()
    rng = np.random.default_rng(seed)
    # Off the constraints redundant ones contradict each other: then the state itself, again and again.
    free = 0.05 if int(evaluation.solve(q, v, 0.0).rank) == evaluation.m else 0.0
    q, v = (x + free * rng.uniform(-1, 1, size=(7, x.size)) for x in (q, v))
    t = np.linspace(0.0, 0.6, 7)
    points = evaluate_points(evaluation, t, q, v)
    found = points.solution
    motion = Motion(
        system=system, t=t, q=q, v=v, a=found.acceleration, impressed=found.Q - points.inertial,
        inertial=points.inertial, ideal=found.ideal, nonideal=found.nonideal, multipliers=found.multipliers,
        rank=found.rank, energy=points.energy, work=np.zeros((7, 3)), rtol=1e-9, method="", backend="",
    )  # fmt: skip
    return motion, evaluation


SMOOTH = [name for name in da.library.names() if not da.library.get(name).contacts]


@pytest.mark.parametrize("name", [n for n in SMOOTH if not any(c.one_sided for c in da.library.get(n).constraints)])
def test_both_ways_measure_the_same(name: str):
    motion, evaluation = instants(da.library.get(name))
    rng = np.random.default_rng(4)
    kinds = ("a", "impressed", "ideal", "nonideal", "multipliers")
    wrong = {kind: getattr(motion, kind) + 1e-3 * rng.normal(size=getattr(motion, kind).shape) for kind in kinds}
    for case in (motion, *(replace(motion, **{kind: values}) for kind, values in wrong.items())):
        data = data_along(case, evaluation)
        ours, theirs = at_points(case, data), at_points_dense(case, data)
        assert (ours.ranks, ours.unique) == (theirs.ranks, theirs.unique)
        for measure, value in theirs.measured.items():
            one = ours.measured[measure]
            # Rounding is rounding; what is wrong is measured to many digits. Virtual work is the largest component
            # along some basis of the null space, and these differ by no more than the root of its dimension.
            factor = np.sqrt(evaluation.n) if measure == "virtual_work" else 1 + 1e-6
            assert one <= factor * value + 1e-10, measure
            assert value <= factor * one + 1e-10, measure
        np.testing.assert_allclose(ours.scale, theirs.scale, rtol=1e-14)
        np.testing.assert_allclose(ours.kinetic, theirs.kinetic, rtol=1e-12, atol=1e-14)
        assert ours.pushed == pytest.approx(theirs.pushed, rel=1e-9)
        assert ours.pull == pytest.approx(theirs.pull, rel=1e-12)


def test_a_large_system_is_measured_as_by_singular_values():
    links = 20
    names = [f"{axis}{k}" for k in range(links) for axis in "xy"]
    rods = {"rod 0": "x0^2 + y0^2 = 1"}
    rods |= {f"rod {k}": f"(x{k} - x{k - 1})^2 + (y{k} - y{k - 1})^2 = 1" for k in range(1, links)}
    initial = {f"x{k}": 0.6 * (k + 1) for k in range(links)} | {f"y{k}": 0.8 * (k + 1) for k in range(links)}
    system = da.System(
        "chain",
        coordinates=names,
        kinetic=" + ".join(f"{name}'^2/2" for name in names),
        potential=" + ".join(f"9.81*y{k}" for k in range(links)),
        constraints=rods,
        initial=initial | {f"{name}'": 0.0 for name in names},
    )
    motion, evaluation = instants(system)
    wrong = replace(motion, a=motion.a + 1e-3 * np.random.default_rng(5).normal(size=motion.a.shape))
    for case in (motion, wrong):
        data = data_along(case, evaluation)
        assert data.pattern is not None
        ours, theirs = at_points(case, data), at_points(case, replace(data, pattern=None))
        assert ours.ranks == theirs.ranks == (links, links)
        for measure, value in theirs.measured.items():
            factor = np.sqrt(evaluation.n) if measure == "virtual_work" else 1 + 1e-6
            assert ours.measured[measure] <= factor * value + 1e-10
            assert value <= factor * ours.measured[measure] + 1e-10


def test_stretches_are_repeated_as_in_numpy():
    motion = penny().simulate(2, samples=21)
    evaluation = Evaluation(motion.system)
    at = np.arange(0, 18, 3)
    y = np.concatenate([motion.q, motion.v], axis=1)[at]
    t, length = motion.t[at], np.diff(motion.t)[at]
    wanted = np.full(y.shape, 1e-9)
    own = together.together_of(evaluation.graph)
    assert own is not None
    ours = again.extrapolate(own, evaluation.p, t, y, length, wanted, SEQUENCE)
    theirs = _in_pieces(all_slopes(evaluation), t, y, length, wanted, np.ones(1))
    assert ours is not None
    np.testing.assert_array_equal(ours[2], theirs[2])
    # The same sums in another order: rounding of states of size 1, and of its extrapolation.
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=0, atol=1e-13)


def test_quadratures_are_those_in_numpy():
    motion = pendulum().simulate(2, samples=201)
    v = motion.v.copy()
    v[100] += 1e-4
    jumped = replace(motion, v=v)
    root = np.full(motion.v.shape, 1.3)
    for case in (motion, jumped):
        found, trapezoid = quadratures(case, root)
        np.testing.assert_allclose(found, consistency(case, root), rtol=0, atol=1e-13)
        half = np.diff(case.t)[:, None] / 2
        missed = np.abs(np.diff(case.v, axis=0) - half * (case.a[1:] + case.a[:-1]))
        np.testing.assert_allclose(trapezoid, 1.3 * missed.max(axis=1), rtol=1e-12, atol=1e-14)
    assert quadratures(jumped, root)[0].max() > 1e-5


def test_without_the_library_all_is_as_before(monkeypatch: pytest.MonkeyPatch):
    system = pendulum()
    with_it = system.simulate(2, samples=21)
    verdict = with_it.certificate
    for module in (again, check, solve, sparse):
        monkeypatch.setattr(module, "entry", lambda *_: None)
    for module in (many, together):
        monkeypatch.setattr(module, "ready_library", lambda: None)
    # A graph of its own, which keeps nothing yet.
    other = system.replace(forces={"x": "0*x'"}).simulate(2, samples=21)
    assert together.together_of(Evaluation(other.system).graph) is None
    np.testing.assert_allclose(other.a, with_it.a, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.multipliers, with_it.multipliers, rtol=0, atol=1e-11)
    assert other.certificate.holds
    for measure in ("position", "velocity", "acceleration", "forces", "virtual_work", "gauss"):
        # Rounding in both.
        assert abs(getattr(other.certificate, measure) - getattr(verdict, measure)) < 1e-13
    assert other.certificate.energy == pytest.approx(verdict.energy, rel=1e-3)
