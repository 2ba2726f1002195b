"""The runs of members: closed forms over grids, the same bits however they are run, and every kind of system."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk
from swept_systems import bead, spring, thrown_ball

import dalembert as da
from dalembert.ensemble.members import chunk
from dalembert.ensemble.place import processes, threads
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.start import ahead, starts
from dalembert.motion.integrate import kernel_choice, native
from dalembert.motion.integrate.settings import tolerances
from dalembert.motion.prepare import prepare


def same(one: Ensemble, other: Ensemble) -> bool:
    return one.data.identical(other.data)


def test_periods_of_the_pendulum() -> None:
    lengths, angles = np.array([0.3, 1.0, 2.5]), np.linspace(0.1, 3.0, 7)
    found = da.library.pendulum().sweep(
        {"l": lengths, "angle": angles}, 6.0, events={"bottom": da.Event("x", "falling")}, rtol=1e-10
    )
    quarter = np.sqrt(lengths[:, None] / 9.81) * ellipk(np.sin(angles / 2) ** 2)
    # From rest to the lowest point it takes a quarter of the period; at this tolerance a motion errs by some 1e-9.
    np.testing.assert_allclose(found["bottom: time"], quarter, rtol=3e-9)


def test_a_throw_ends_where_it_lands() -> None:
    speeds, angles = np.linspace(5, 20, 4), np.linspace(0.2, 1.4, 5)
    found = thrown_ball().sweep({"v": speeds, "angle": angles}, 100.0, keep="samples", points=51)
    v, angle = speeds[:, None], angles[None, :]
    assert (found.status == 1).all()
    assert found.failed == 0
    assert (found["ended by"] == 0).all()
    # Parabolas are integrated to rounding, and events located to it.
    np.testing.assert_allclose(found.final["t"], 2 * v * np.sin(angle) / 9.81, rtol=1e-12)
    np.testing.assert_allclose(found.final["x"], v**2 * np.sin(2 * angle) / 9.81, rtol=1e-12)
    np.testing.assert_allclose(found["top: time"], v * np.sin(angle) / 9.81, rtol=1e-12)
    # Output times after the end have no state.
    late = found["time"] > found.final["t"]
    assert np.isnan(found.samples["x"].where(late, 0.0)).where(late, True).all()
    assert np.isfinite(found.samples["x"].where(~late, 0.0)).all()


def test_members_are_the_motions_that_simulate_gives() -> None:
    found = da.library.penny().sweep({"v0": [1.0, 2.0], "omega": [0.5, 1.5]}, 3.0, keep="samples", points=9)
    for k in range(4):
        motion = found.system_of(k).simulate(3.0, samples=9)
        for name in ("x", "phi", "psi'"):
            assert np.array_equal(motion[name], found.samples[name].to_numpy().reshape(4, 9)[k])


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_give_the_same_bits(threads: int) -> None:
    given = {"v0": np.linspace(0.5, 3, 20), "omega": np.linspace(0.2, 2, 10)}
    asked = {"keep": ["x", "energy"], "reduce": {"far": ("max", "x")}, "points": 11, "certify": True}
    serial, parallel = (da.library.penny().sweep(given, 2.0, threads=n, **asked) for n in (1, threads))
    assert same(serial, parallel)


@pytest.mark.parametrize("lanes", [True, False])
def test_members_are_the_same_beside_one_that_fails(lanes: bool) -> None:
    """Chunks whose members all come to their end take a shorter way."""
    asked = {"keep": "samples", "points": 7, "lanes": lanes, "together": True}
    angles = np.linspace(0.2, 1.2, 24)
    pendulum = da.System(
        "pendulum", coordinates="theta", kinetic="theta'^2/2", potential="cos(theta)*sqrt(theta + 10)",
        parameters={"angle": 0.0}, initial={"theta": "angle", "theta'": "angle/2"},
    )  # fmt: skip
    whole = pendulum.sweep({"angle": angles}, 3.0, **asked)
    angles = angles.copy()
    angles[5] = -11.0  # no potential
    other = pendulum.sweep({"angle": angles}, 3.0, **asked)
    assert whole.failed == 0
    assert other.failed == 1
    kept = np.arange(24) != 5
    for name in whole.data.data_vars:
        assert np.array_equal(whole.data[name].to_numpy()[kept], other.data[name].to_numpy()[kept]), name


def test_small_chunks_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"w": np.linspace(1, 5, 60)}
    whole = spring().sweep(given, 3.0)
    monkeypatch.setattr("dalembert.ensemble.members.chunk_size.MOST", 1)
    assert same(whole, spring().sweep(given, 3.0))


def test_processes_give_the_same_bits() -> None:
    given = {"g": [5.0, 9.81]}
    ball = da.library.bouncing_ball()
    asked = {"events": {"half": "y - 0.5"}}
    here, there = (ball.sweep(given, 0.5, on=on, threads=1, **asked) for on in ("threads", "processes"))
    assert same(here, there)
    assert here.run_alone == 2


def test_processes_that_are_ended_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without processes: they take a second to begin. All but one range are lost at the first attempt."""
    asked: list[int] = []

    def lose(task: Any, ranges: Any, control: Any, finish: Any, wait: Any, workers: Any) -> None:
        asked.append(len(ranges))
        threads.execute(task, ranges[:1] if len(asked) == 1 else ranges, control, finish, wait, 1)
        if len(asked) == 1:
            raise BrokenProcessPool

    here = spring().sweep({"w": np.linspace(1, 5, 9)}, 1.0)
    monkeypatch.setattr(processes, "_in_processes", lose)
    assert same(here, spring().sweep({"w": np.linspace(1, 5, 9)}, 1.0, on="processes"))
    assert asked[1] == asked[0] - 1

    def gone(*_: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(processes, "_in_processes", gone)
    with pytest.raises(da.ClusterError, match="ended 4 times, near member 0"):
        spring().sweep({"w": [1.0, 2.0]}, 1.0, on="processes")


def test_tolerances_are_those_of_single_motions() -> None:
    rng = np.random.default_rng(0)
    # Of all sizes: below 2e-5 absolute tolerances follow the largest of the others that sizes lead up to.
    q, v, a = (rng.normal(size=(400, 3)) * 10.0 ** rng.integers(-12, 3, (400, 3)) for _ in range(3))
    q[0], v[0], a[0] = 0.0, 0.0, 0.0
    v[1], a[1] = 0.0, 0.0
    q[2], v[2], a[2] = [1.0, 1e-7, 1e-6], 0.0, 0.0
    settings = prepare(spring(), 7.0, None, {"rtol": 1e-8}).settings
    for rates in (None, np.abs(a[:1]), np.abs(q)):
        found = starts.member_tolerances(settings, q, v, a, rates)
        for k in range(len(q)):
            own = settings if rates is None else replace(settings, rates=rates[k % len(rates)])
            assert np.array_equal(found[k], tolerances(own, q[k], v[k], a[k]))


def test_each_of_many_starts_is_judged_as_by_itself() -> None:
    """Plain ones among those that have no mass, no value, no gradient, two constraints that are one or that disagree,
    in blocks of any length.
    """
    system = da.System(
        "starts",
        coordinates="x y",
        kinetic="m*x'^2/2 + y'^2/2",
        potential="sqrt(1 - h)*x",
        constraints={"wall": "k*(x - c*y^2) = 0", "again": "s*(x - c*y^2) + (1 - s)*y' = u"},
        parameters={"m": 1.0, "h": 0.0, "k": 1.0, "c": 1.0, "s": 0.0, "u": 0.0},
        initial={"x": "c", "y": 1, "x'": 0, "y'": "u/(1 - s + 1e-300)"},
    )
    odd: list[dict[str, float]] = [
        {}, {"m": 0.0}, {"h": 2.0}, {"k": 0.0}, {"k": 1e-12}, {"s": 1.0}, {"u": 0.5}, {"s": 1.0, "u": 0.5}, {"m": 1e-9},
    ]  # fmt: skip
    rng = np.random.default_rng(3)
    rows = [{"m": 1.0, "h": 0.0, "k": 1.0, "s": 0.0, "u": 0.0, **odd[k]} for k in rng.integers(0, len(odd), 45)]
    found = system.sweep(rows, 0.1)
    for row, status, x in zip(rows, found.status.to_numpy(), found.final["x"].to_numpy(), strict=True):
        try:
            motion = system.replace(parameters=row).simulate(0.1, samples=2)
        except da.DalembertError:
            assert status > 1, row
        else:
            assert status == 0, row
            # A dependent constraint that is left out of the kernel changes rounding at most.
            assert abs(x - motion["x"][-1]) <= 1e-12, row
    assert len(set(found.status.to_numpy().tolist())) > 1


def test_a_start_off_its_constraint_is_told_and_others_go_on() -> None:
    found = bead().sweep({"x": [1.0, 0.5, -1.0], "y'": [1.0, 0.0]}, 1.0)
    assert found.status.to_numpy().tolist() == [[0, 0], [3, 3], [0, 0]]
    assert found.failed == 2
    assert "'ring' is violated in position: residual -0.75" in str(found.reason[1, 0].item())
    assert found.reason[0, 0].item() == ""
    assert np.isnan(found.final["x"][1]).all()
    np.testing.assert_allclose(found.final["x"][:, 0][[0, 2]], [np.cos(1.0), -np.cos(1.0)], rtol=1e-9)


def test_starts_are_repaired_as_consistent_does() -> None:
    xs, ys = [0.5, 0.8, 1.5], [0.3, 0.9]
    found = bead().sweep({"x": xs, "y": ys}, 1e-12, repair=True, keep="samples", points=2)
    assert found.failed == 0
    for i, x in enumerate(xs):
        for j, y in enumerate(ys):
            state = bead().consistent({"x": x, "y": y})
            nearest = [float(state[s]) for s in bead().coordinates]
            start = [found.samples[name][i, j, 0].item() for name in ("x", "y")]
            np.testing.assert_allclose(start, nearest, rtol=1e-11)  # both are on the ring to rounding
    held = bead().sweep({"x": [0.6, 0.8, 1.5], "y": 0.5}, 1e-12, repair=["x"])
    assert held.status.to_numpy().tolist() == [0, 0, 3]
    np.testing.assert_allclose(held.final["x"][:2], [0.6, 0.8], rtol=1e-11)
    np.testing.assert_allclose(np.abs(held.final["y"][:2]), [0.8, 0.6], rtol=1e-11)
    assert "no state nearby" in str(held.reason[2].item())


def test_a_start_above_a_one_sided_constraint_stays_there() -> None:
    found = da.library.bouncing_ball().sweep({"y": [2.0, -0.5]}, 1e-9, repair=True)
    np.testing.assert_allclose(found.final["y"], [2.0, 0.0], atol=1e-12)  # it falls by 5e-18


def test_numbers_alone_are_one_member() -> None:
    found = spring().sweep({"w": 3.0}, 1.0, keep="samples", points=3)
    assert found.samples["x"].dims == ("time",)
    np.testing.assert_allclose(found.samples["x"], np.cos([0.0, 1.5, 3.0]), atol=1e-8)


def test_redundant_constraints_run_at_once() -> None:
    twice = bead().replace(constraints={"ring": "x^2 + y^2 = l^2", "again": "3*x^2 + 3*y^2 = 3*l^2"})
    found = twice.sweep({"y'": [0.5, 1.0, 2.0]}, 1.0)
    np.testing.assert_allclose(found.final["x"], np.cos([0.5, 1.0, 2.0]), rtol=1e-8)
    assert found.run_alone == 0


def test_singular_mass_matrices_run_at_once() -> None:
    """Bodies turned by quaternions, of sizes so different that they need several kernels: Euler's equations by SciPy,
    and the bits of single motions.
    """
    body, sizes = da.library.quaternion_body(), np.array([1e-3, 1.0, 1.2, 1e4])
    kinds = {name: value * sizes for name, value in (("I1", 1.0), ("I2", 2.0), ("I3", 3.5))}
    found = body.sweep(kinds, 2.0, together=True, rtol=1e-9)
    assert found.run_alone == 0

    def euler(t: float, w: np.ndarray) -> list[float]:
        return [(2 - 3.5) * w[1] * w[2], (3.5 - 1) * w[2] * w[0] / 2, (1 - 2) * w[0] * w[1] / 3.5]

    w = solve_ivp(euler, (0, 2), [0.8, 0.3, 1.2], rtol=1e-11, atol=1e-13).y[:, -1]
    e0, e1, e2, e3 = (found.final[f"e{k}"] for k in range(4))
    d0, d1, d2, d3 = (found.final[f"e{k}'"] for k in range(4))
    rates = 2 * np.array(
        [
            e0 * d1 - e1 * d0 - e2 * d3 + e3 * d2,
            e0 * d2 + e1 * d3 - e2 * d0 - e3 * d1,
            e0 * d3 - e1 * d2 + e2 * d1 - e3 * d0,
        ]
    )
    # The motion has no size; some ten steps of errors of rtol each.
    np.testing.assert_allclose(rates, np.tile(w[:, None], sizes.size), atol=1e-7)
    alone = body.replace(parameters={name: values[3] for name, values in kinds.items()}).simulate(2.0, rtol=1e-9)
    assert float(found.final["e1"][3]) == alone.final["e1"]


def test_kinks_run_at_once() -> None:
    valley = da.System(
        "valley", coordinates="x", kinetic="x'^2/2", potential="k*abs(x)", parameters={"k": 1},
        initial={"x": 1, "x'": 0},
    )  # fmt: skip
    found = valley.sweep({"k": [1.0, 2.0, 8.0]}, 1.9, events={"through": "x"})
    # It falls for sqrt(2/k), and four times that is its period; up to 1.9 it comes through one to four times.
    assert found.run_alone == 0
    assert found["through: count"].to_numpy().tolist() == [1, 1, 2]
    np.testing.assert_allclose(found["through: time"], np.sqrt(2 / np.array([1.0, 2.0, 8.0])), rtol=1e-9)


def test_contacts_run_one_by_one() -> None:
    ball = da.library.bouncing_ball()
    found = ball.sweep({"g": [5.0, 9.81]}, 0.5, certify=True)
    assert found.run_alone == 2
    assert "leg by leg" in found.text()
    for k in range(2):
        motion = found.system_of(k).simulate(0.5, samples=101)
        assert motion["y"][-1] == found.final["y"][k]
        assert motion.certificate.energy == found.certificate["energy"][k]


# The direction of an incline of half a radian.
ALONG_HALF = [np.cos(0.5), np.sin(0.5)]


@pytest.mark.parametrize(
    ("system", "given", "names"),
    [
        (da.library.bouncing_ball, {"y": np.linspace(0.2, 2.0, 7), "x'": [0.5, 1.0]}, ("x", "y", "y'")),
        (da.library.stick_slip, {"x": np.linspace(-0.1, 0.1, 9), "x'": [0.0]}, ("x", "x'")),
        (da.library.thrown_block, {("x'", "y'"): np.outer([-1.0, 0.0, 2.0, 4.0], ALONG_HALF)}, ("x", "y", "x'")),
        (da.library.stacked_blocks, {"x2'": np.linspace(-2.0, 2.0, 9)}, ("x1", "x2", "x2'")),
        # Of two members in turn that have other parameters, and that have the same again.
        (da.library.bouncing_ball, [{"e": e, "y": y} for e, y in [(0.7, 1), (0.7, 1), (0.9, 1), (0.7, 1)]], ("y",)),
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_contacts_of_members_that_differ_in_their_states(
    system: Any, given: Any, names: tuple[str, ...], workers: int
) -> None:
    """What one member found out of the contacts serves the next one in its thread, and changes no bit."""
    found = system().sweep(given, 1.5, threads=workers)
    assert found.run_alone == found.members
    assert found.failed == 0
    for k in range(found.members):
        motion = found.system_of(k).simulate(1.5, samples=2)
        for name in names:
            assert motion[name][-1] == found.final[name].to_numpy().ravel()[k]


def test_a_stiff_motion_is_left_to_the_stiff_method() -> None:
    lagging = da.System(
        "lagging", coordinates="x", kinetic="x'^2/2", potential="k*(x - sin(t))^2/2", forces={"x": "-c*x'"},
        parameters={"k": 1e8, "c": 2e5}, initial={"x": 0, "x'": 1},
    )  # fmt: skip
    found = lagging.sweep({"k": [1e8]}, 2.0)
    assert found.run_alone == 1
    # To first order in c/k it lags behind sin(t) by that time; the next term is its square.
    np.testing.assert_allclose(found.final["x"], np.sin(2.0 - 2e-3), atol=1e-5)


def test_times_of_their_own() -> None:
    driven = da.System(
        "driven", coordinates="x", kinetic="x'^2/2", forces={"x": "F*cos(w*t)"}, parameters={"F": 1, "w": 2},
        initial={"x": 0, "x'": 0},
    )  # fmt: skip
    starts_at, w = np.array([0.0, 0.4]), np.array([1.0, 3.0])
    found = driven.sweep({"t": starts_at, "w": w}, 2.0)
    a, b = starts_at[:, None], starts_at[:, None] + 2.0
    exact = (np.cos(w * a) - np.cos(w * b)) / w**2 - np.sin(w * a) / w * (b - a)
    np.testing.assert_allclose(found.final["x"], exact, rtol=1e-8)
    np.testing.assert_allclose(found.final["t"], np.broadcast_to(b, (2, 2)))


def test_one_that_fails_leaves_the_others() -> None:
    fall = da.System(
        "fall to a centre", coordinates="r", kinetic="r'^2/2", potential="-k/r", parameters={"k": 1},
        initial={"r": 1, "r'": 0},
    )  # fmt: skip
    found = fall.sweep({"r'": [0.0, 2.0]}, 3.0, reduce={"far": ("max", "r")}, points=31)
    assert found.status.to_numpy().tolist() == [2, 0]
    # It falls in for pi/(2 sqrt 2).
    assert abs(float(found.final["t"][0]) - np.pi / 2**1.5) < 1e-3
    assert "t = 1.11" in str(found.reason[0].item())
    assert np.isnan(found["far"][0])
    assert found["far"][1] > 3
    assert len(found.failures()) == 1


def test_a_start_without_a_value_is_refused() -> None:
    fall = da.System(
        "pole", coordinates="r", kinetic="r'^2/2", potential="-1/r", parameters={"s": 1},
        initial={"r": "sqrt(s)", "r'": 0},
    )  # fmt: skip
    for repair in (False, True):
        found = fall.sweep({"s": [1.0, 0.0, -1.0]}, 0.1, repair=repair)
        assert found.status.to_numpy().tolist() == [0, 4, 4]
        assert "r = 0" in str(found.reason[1].item())
        # As `simulate` says it.
        assert "the initial value of r, sqrt(s), is not a finite number" in str(found.reason[2].item())


@pytest.mark.parametrize("budget", [{"steps": 200}, {"seconds": 0.2}])
def test_a_member_that_never_ends_is_stopped(budget: dict[str, float]) -> None:
    found = spring().sweep({"w": [1e-9, 1.0]}, 1e9, budget=budget, method="dop853")
    assert found.status.to_numpy().tolist() == [0, 5]
    assert "budget was spent" in str(found.reason[1].item())
    assert 0 < found.final["t"][1] < 1e9


def test_the_budget_holds_for_members_run_one_by_one() -> None:
    ball = da.library.bouncing_ball()
    found = ball.sweep({"g": [9.81]}, 1e7, budget={"seconds": 0.3}, backend="reference")
    assert found.status.to_numpy().tolist() in ([5], [0])  # it may come to rest, and is done then
    found = spring().sweep({"w": [1.0]}, 1e7, budget={"seconds": 0.3}, backend="reference")
    assert found.status.to_numpy().tolist() == [5]
    # Steps are those of all legs together. A kernel looks at its budget after every 64 steps.
    found = ball.sweep({"g": [9.81]}, 1e3, budget={"steps": 20})
    assert found.status.to_numpy().tolist() == [5]
    assert 20 <= found.data["steps"][0] <= 20 + 64
    assert 0.45 < found.final["t"][0] < 3.0
    assert found.final["y"][0] < 1.0


def test_a_large_model_keeps_to_its_budget() -> None:
    """Masses on springs of their own, x = cos(w t): one that may take its steps, and one that would take millions."""
    names = [f"x{k}" for k in range(64)]
    many = da.System(
        "many springs", coordinates=" ".join(names), kinetic="(" + " + ".join(f"{x}'^2" for x in names) + ")/2",
        potential="w^2*(" + " + ".join(f"{x}^2" for x in names) + ")/2", parameters={"w": 1.0},
        initial={**dict.fromkeys(names, 1), **dict.fromkeys((f"{x}'" for x in names), 0)},
    )  # fmt: skip
    for budget in ({"steps": 100}, {"seconds": 0.2}):
        found = many.sweep({"w": [1e-6, 1.0]}, 1e6, budget=budget, threads=1)
        assert found.status.to_numpy().tolist() == [0, 5]
        assert "budget was spent" in str(found.reason[1].item())
        np.testing.assert_allclose(found.final["x63"][0], np.cos(1.0), atol=1e-7)
        if "steps" in budget:
            assert 0 < found.final["t"][1] < 1e6
            np.testing.assert_allclose(found.final["x63"][1], np.cos(found.final["t"][1]), atol=1e-6)


def test_all_is_alone_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = spring().sweep({"w": [1.0, 2.0]}, 1.0)
    monkeypatch.setattr("dalembert.ensemble.members.task.has_kernels", lambda: False)
    alone = spring().sweep({"w": [1.0, 2.0]}, 1.0)
    assert (at_once.run_alone, alone.run_alone) == (0, 2)
    np.testing.assert_array_equal(at_once.final["x"], alone.final["x"])


def test_a_kernel_that_cannot_be_built_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise da.BuildError("no")

    monkeypatch.setattr(chunk, "run_at_once", refuse)
    found = spring().sweep({"w": [1.0, 2.0]}, 1.0)
    assert found.run_alone == 2
    np.testing.assert_allclose(found.final["x"], np.cos([1.0, 2.0]), rtol=1e-8)


def test_steps_of_one_length_run_one_by_one() -> None:
    found = spring().sweep({"w": [1.0, 2.0]}, 1.0, method="variational", step=1e-3, order=4)
    assert found.run_alone == 2
    # Of fourth order: the error is some (w step)⁴.
    np.testing.assert_allclose(found.final["x"], np.cos([1.0, 2.0]), rtol=1e-10)


def test_a_budget_holds_within_a_leg() -> None:
    system = da.System(
        "far from its wall",
        coordinates="x",
        kinetic="x'^2/2",
        potential="w^2*x^2/2",
        constraints=[da.Constraint("wall", "x + 10 >= 0")],
        parameters={"w": 30.0},
        initial={"x": 1, "x'": 0},
    )
    found = system.sweep({"w": [30.0]}, 6.0, budget={"steps": 100})
    assert found.status.to_numpy().tolist() == [5]
    assert 100 <= int(found["steps"][0]) <= 128  # they are counted in groups of 64


def pulsed(force: str, **initial: float) -> da.System:
    """A mass in the plane, pushed along x for some hundredths of a second."""
    return da.System(
        "pulsed", coordinates="x y", kinetic="(x'^2 + y'^2)/2", forces={"x": force},
        initial={"x": 0, "x'": 0, "y": 0, "y'": 0} | initial,
    )  # fmt: skip


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("beside", ["", " - 0.1*sin(x)"])
def test_a_force_in_time_that_acts_on_three_of_thousands(lanes: bool, beside: str) -> None:
    """A pulse near y = 50, where three members are: at y = 0 it is nothing, and beside another force less than that."""
    system = pulsed(f"exp(-(y - 50)^2)*exp(-((t - 5)/0.02)^2){beside}")
    places = np.zeros(3000)
    places[[1, 1717, 2999]] = 49.5, 50.0, 51.0
    found = system.sweep({"y": places}, 10.0, lanes=lanes)
    if not beside:
        pushed = 0.02 * np.sqrt(np.pi) * np.exp(-((places - 50) ** 2))
        assert found.final["x'"].to_numpy() == pytest.approx(pushed, abs=1e-9)  # rtol 1e-9 of speeds below one
    for k in (0, 1, 1717, 2999):
        own = system.replace(initial={"x": 0, "x'": 0, "y": places[k], "y'": 0}).simulate(
            10.0, samples=2, max_step=0.01
        )
        assert float(found.final["x"][k]) == pytest.approx(float(own["x"][-1]), abs=1e-8)
    assert float(found.final["x"][1717]) > 0.1


def test_a_wave_in_time_and_place_is_looked_at_for_each_member() -> None:
    """Where time and place cannot be told apart, each member has a look of its own, from where it begins."""
    system = pulsed("exp(-((y - 10*t)/0.1)^2)")
    places = np.linspace(20, 60, 500)  # the wave comes by at t = y/10
    found = system.sweep({"y": places}, 10.0, threads=1)
    assert found.final["x'"].to_numpy() == pytest.approx(0.01 * np.sqrt(np.pi), rel=1e-7)


def test_one_look_ahead_serves_all_where_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, look = [], ahead.look_from
    monkeypatch.setattr(ahead, "look_from", lambda *given: looks.append(1) or look(*given))
    swung = da.System(
        "swung", coordinates="x", kinetic="x'^2/2", forces={"x": "-x*(2 + cos(t))"}, initial={"x": 0, "x'": 1}
    )
    swung.sweep({"x": np.linspace(0, 1, 500)}, 5.0, threads=1)
    assert len(looks) <= 10  # one for each chunk


def test_tolerances_of_members_under_forces_in_time_are_their_own() -> None:
    """The first member has a billionth of the mass of the others, whose motions are small: the bits of `simulate`."""
    system = da.System(
        "small", coordinates="x", kinetic="m*x'^2/2", forces={"x": "sin(t)"}, parameters={"m": 1.0},
        initial={"x": 0, "x'": 0},
    )  # fmt: skip
    masses = [1.0, 1e9, 2e9]
    found = system.sweep({"m": masses}, 5.0, lanes=False)
    for k, mass in enumerate(masses):
        assert float(found.final["x"][k]) == system.replace(parameters={"m": mass}).simulate(5.0)["x"][-1]


def test_members_that_run_alone_have_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever comes first: tape and compiled code differ in their last bits, and threads take members as they come.
    After so few steps, runs of one member after the other change from one to the other.
    """
    monkeypatch.delenv("DALEMBERT_KERNEL", raising=False)
    monkeypatch.setattr(kernel_choice, "steps_worth_compiling", lambda instructions: 800)
    monkeypatch.setattr(kernel_choice, "find_kernel", lambda *given: None)  # none was compiled before
    kinds: list[str] = []

    def choose(wanted: kernel_choice.Wanted) -> kernel_choice.Choice:
        choice = kernel_choice.choose_kernel(wanted)
        kinds.append(choice.kernel.kind)
        return choice

    monkeypatch.setattr(native, "choose_kernel", choose)
    da.library.stick_slip().sweep({"k": np.linspace(0.8, 1.3, 40)}, 8.0, threads=1)
    assert len(kinds) >= 40
    assert len(set(kinds)) == 1
