"""Members side by side in lanes: the same motions as one after the other, whoever their neighbours are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from swept_systems import bead, spring, thrown_ball

import dalembert as da
from dalembert.ensemble.ask.values import read_values
from dalembert.ensemble.members import series_order
from dalembert.ensemble.members.control import Budget
from dalembert.ensemble.members.in_lanes import lanes_of
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.start.starts import LIMITS, find_starts
from dalembert.ensemble.sweep import _task
from dalembert.graph.functions import graph_of
from dalembert.kernel import build
from dalembert.kernel.build import find_compiler
from dalembert.kernel.emit.straight_line import Hoist
from dalembert.kernel.emit.taylor import taylor_source
from dalembert.kernel.lanes import kernel as lane_kernels
from dalembert.kernel.lanes.look import look_in_lanes
from dalembert.kernel.ready.library import ready_library
from dalembert.kernel.ready.runtime import runtime_library
from dalembert.library.systems.penny import exact

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.fixture(autouse=True)
def _lanes_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others by tape: a few members are not worth compiling for. What reads tapes is loaded as all other tests have it,
    whose processes would round otherwise than this one.
    """
    _ = ready_library(), runtime_library()
    monkeypatch.delenv("DALEMBERT_KERNEL", raising=False)
    monkeypatch.setenv("DALEMBERT_OPTIMISE", "1")


def both(system: da.System, given: Any, duration: float, **asked: Any) -> tuple[Ensemble, Ensemble]:
    """In lanes, and one after the other."""
    lanes, plain = (system.sweep(given, duration, lanes=wish, threads=1, **asked) for wish in (True, False))
    assert plain.in_lanes == 0
    return lanes, plain


def farthest(one: Ensemble, other: Ensemble, names: tuple[str, ...]) -> float:
    """The largest difference of what both keep of these, relative where values exceed one."""
    found = 0.0
    for name in names:
        a, b = one.data[name].to_numpy(), other.data[name].to_numpy()
        assert np.array_equal(np.isnan(a), np.isnan(b)), name
        found = max(found, float(np.nanmax(np.abs(a - b) / np.maximum(1.0, np.abs(b)))))
    return found


PENNIES = {"v0": np.linspace(0.5, 1.5, 5), "omega": np.linspace(0.4, 1.6, 5)}


@pytest.mark.parametrize("method", ["dop853", "taylor"])
def test_pennies_in_lanes(method: str) -> None:
    """A constraint on velocities; samples and reductions, many outputs in a step."""
    asked = {"keep": ["x", "energy"], "reduce": {"far": ("max", "y"), "mean": ("mean", "x'")}, "points": 41}
    lanes, plain = both(da.library.penny(), PENNIES, 8.0, method=method, rtol=1e-9, **asked)
    assert (lanes.in_lanes, lanes.failed) == (25, 0)
    assert np.array_equal(lanes.data["steps"], plain.data["steps"])
    # Rounding of the estimated error, a small difference of large numbers, moves steps a little, and with them where
    # outputs lie in them: by a share of the interpolant's error, which is some tolerances.
    assert farthest(lanes, plain, ("final.x", "final.y", "final.psi'")) < 1e-11  # no step is on the verge here
    assert farthest(lanes, plain, ("x", "energy", "far", "mean")) < 1e-8
    end = exact(lanes.system_of(7), np.array([8.0]))
    for name in ("x", "y", "psi", "phi"):
        assert abs(float(lanes.final[name].to_numpy().ravel()[7]) - end[name][0]) < 1e-7  # a hundred tolerances


@pytest.mark.parametrize(("system", "given", "names"), [
    (da.library.pendulum, {"l": np.linspace(0.5, 2, 9), "angle": [0.3, 2.0]}, ("final.x", "final.y'")),
    (bead, {"y'": np.linspace(0.3, 3.0, 13)}, ("final.x", "final.y")),
    (da.library.moving_length_pendulum, {"g": np.linspace(8.0, 11.0, 7)}, ()),
], ids=["pendulum", "bead", "length that depends on time"])  # fmt: skip
def test_position_constraints_in_lanes(system: Any, given: Any, names: tuple[str, ...]) -> None:
    model = system()
    lanes, plain = both(model, given, 1.5, rtol=1e-9)
    assert lanes.in_lanes == lanes.members
    names = names or tuple(f"final.{q.name}" for q in model.coordinates)
    assert farthest(lanes, plain, names) < 1e-9  # the tolerance: some steps lie on the verge of being rejected


@pytest.mark.parametrize(("method", "rtol"), [("dopri5", 1e-5), ("auto", 1e-12)])
def test_a_spring_in_lanes(method: str, rtol: float) -> None:
    """By the method of loose tolerances, and by series where they are tight."""
    w = np.linspace(0.5, 6.0, 11)
    found = spring().sweep({"w": w}, 5.0, lanes=True, method=method, rtol=rtol)
    assert found.in_lanes == 11
    np.testing.assert_allclose(found.final["x"], np.cos(5.0 * w), atol=100 * rtol)  # errors of some ten steps add up


def test_constraints_of_all_kinds_as_series() -> None:
    """Constraints are expanded as they are written for velocities, an order ahead. x is led as sin t, p turns steadily,
    and others follow from these by quadrature, whatever the masses and forces; u only has a constraint on its
    acceleration.
    """
    system = da.System(
        "led by x",
        coordinates="x p y z u",
        kinetic="(x'^2 + p'^2 + 2*y'^2 + z'^2 + 3*u'^2)/2",
        potential="x*y + z^2*u + cos(z)",
        constraints={
            "lead": "x = sin(t)",
            "follow": "y' = (1 + x^2)^1.7 + log(3 + x) + tanh(x) + asin(x/2) + t*x'*sin(p)/(2 + x)",
            "turn": "z = c*atan2(x, 2 + cos(t)) + sqrt(4 + x) + exp(x*cos(t))",
            "pull": "u'' = x*cos(p)",
        },
        parameters={"c": 0.7, "w": 1.5},
        initial=dict.fromkeys(["p", "x", "y", "u", "u'"], 0)
        | {"z": 3, "x'": 1, "p'": "w", "y'": "1 + log(3)", "z'": "c/3 + 1/4 + 1"},
    )
    c, end = np.array([0.7, 1.0, -2.0]), 4.0
    found = system.sweep({"c": c}, end, lanes=True, method="taylor", rtol=1e-11)
    assert found.in_lanes == 3

    def rate(t: float) -> float:
        x, p = np.sin(t), 1.5 * t
        sums = (1 + x * x) ** 1.7 + np.log(3 + x) + np.tanh(x) + np.arcsin(x / 2)
        return sums + t * np.cos(t) * np.sin(p) / (2 + x)

    x = np.sin(end)
    true = {
        "y": quad(rate, 0, end, epsabs=1e-12)[0],
        "z": c * np.arctan2(x, 2 + np.cos(end)) + np.sqrt(4 + x) + np.exp(x * np.cos(end)),
        "u": quad(lambda t: (end - t) * np.sin(t) * np.cos(1.5 * t), 0, end, epsabs=1e-12)[0],
    }
    for name, value in true.items():  # errors of some ten steps add up
        np.testing.assert_allclose(found.final[name], value + 0 * c, atol=1e-9)


def test_constraints_take_few_products() -> None:
    """Of the penny: psi' cos(phi) and psi' sin(phi) of its constraints, and their gradients times multipliers."""
    penny = da.library.penny()
    source = taylor_source(graph_of(penny), (0, 1), 0.0, Hoist(), lanes=True)
    assert (len(source.pairs), len(source.ahead)) == (2, 2)


def test_neighbours_do_not_matter() -> None:
    """Motions of very different lengths, in two orders and in chunks of another size: each the same in all bits."""
    w = np.geomspace(0.1, 30.0, 37)
    found = spring().sweep({"w": w}, 4.0, lanes=True, keep="samples", points=7)
    turned = spring().sweep({"w": w[::-1]}, 4.0, lanes=True, keep="samples", points=7)
    few = spring().sweep({"w": w[30:]}, 4.0, lanes=True, keep="samples", points=7)
    x = found.samples["x"].to_numpy()
    assert np.array_equal(x, turned.samples["x"].to_numpy()[::-1])
    assert np.array_equal(x[30:], few.samples["x"].to_numpy())
    np.testing.assert_allclose(x[:, -1], np.cos(4.0 * w), atol=1e-6)


def test_members_in_lanes_are_the_same_beside_one_that_cannot_start() -> None:
    """Where all are plain lanes look at starts; beside one that is not, others do too."""
    speeds = np.linspace(0.3, 2.0, 9)
    states = np.column_stack([np.ones(9), np.zeros(9), np.zeros(9), speeds])
    off = states.copy()
    off[4, 0] = 1.1
    alone, beside = (bead().sweep(y, 2.0, lanes=True) for y in (states, off))
    assert beside.status.to_numpy().tolist() == [0, 0, 0, 0, 3, 0, 0, 0, 0]
    assert "'ring' is violated in position: residual 0.21" in str(beside.reason.to_numpy()[4])
    kept = np.arange(9) != 4
    assert np.array_equal(alone.final["x"].to_numpy()[kept], beside.final["x"].to_numpy()[kept])


def test_starts_that_lanes_find_plain_are_plain() -> None:
    """On the constraint and off it, where its gradient fades, where the energy or a force has no value, and where two
    constraints nearly say the same. Those that nothing is wrong with are found plain by lanes too.
    """
    system = da.System(
        "three constraints",
        coordinates="x y z u",
        kinetic="(x'^2 + 2*y'^2 + z'^2 + u'^2)/2",
        potential="sqrt(x + 2)*y^2",
        constraints={"ring": "x^2 + y^2 = l^2", "tied": "z' = k*x'", "also": "z' + d*u' = k*x'"},
        parameters={"l": 1.0, "k": 0.5, "d": 0.5},
        initial={"x": "l", "y": 0, "z": 0.1, "u": 0, "x'": 0, "y'": 0.4, "z'": 0, "u'": 0},
    )
    good = {"x": 1.0, "x'": 0.0, "y'": 0.4, "u'": 0.0, "l": 1.0, "d": 0.5}
    plain_ones = [
        {},
        {"x": 1 + 1e-10},
        {"x'": 1e-10},
        {"y'": 0.0},
        {"d": 0.1},
        {"l": 1.9, "x": 1.9},
        {"l": 7.0, "x": 7.0},
    ]
    others = [
        {"x": 1 + 1e-6}, {"x'": 1e-6}, {"d": 0.0}, {"d": 1e-7}, {"l": 1e-9, "x": 1e-9, "y'": 0.0}, {"u'": 1e-3},
        {"l": 0.0, "x": 0.0, "y'": 0.0}, {"l": 2.0, "x": -2.0}, {"l": 3.0, "x": -3.0},
    ]  # fmt: skip
    cases = plain_ones + others
    rows = [{**good, **case} for case in cases]
    values = {name: np.array([row[name] for row in rows], dtype=float) for name in good}
    asked = (1.0, None, {"rtol": 1e-9}, None, "final", None, None, Budget(), False, None, False, True)
    task = _task(system, read_values(system, values, together=True), *asked)
    block, kernel = task.blocks.between(0, len(rows)), lanes_of(task, (0, 1, 2))
    assert kernel is not None
    assert task.together is not None
    _, plain, acceleration = look_in_lanes(kernel, LIMITS, block.q, block.v, block.t, block.p)
    true = find_starts(task.start_look, task.together, block)
    regular = true.plain & true.kept.all(axis=1)
    assert not (plain & ~regular).any()
    assert plain.tolist() == [True] * len(plain_ones) + [False] * len(others)
    np.testing.assert_allclose(acceleration[plain], true.acceleration[plain], atol=1e-11)  # rounding


def test_threads_give_the_same_bits_in_lanes() -> None:
    one, two = (da.library.penny().sweep(PENNIES, 3.0, lanes=True, threads=n) for n in (1, 2))
    assert one.data.identical(two.data)


def test_as_wide_as_any_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lanes and eight give the same bits as this processor's own; one without vectors beyond two numbers and
    without fused products differs in rounding.
    """
    own = spring().sweep({"w": np.linspace(0.5, 6.0, 11)}, 5.0, lanes=True)
    made = lane_kernels.build

    def of_width(width: int) -> Ensemble:
        monkeypatch.setattr(lane_kernels, "_made", {})
        monkeypatch.setattr(lane_kernels, "build", lambda *given: made(*given, more=(f"-DDA_LANES={width}",)))
        return spring().sweep({"w": np.linspace(0.5, 6.0, 11)}, 5.0, lanes=True)

    for width in (2, 8):
        found = of_width(width)
        assert found.in_lanes == 11
        assert np.array_equal(found.final["x"], own.final["x"])
    monkeypatch.setattr(build, "NATIVE", ())
    assert farthest(of_width(2), own, ("final.x", "final.x'")) < 1e-12  # rounding, some hundred times


def test_one_that_fails_in_lanes() -> None:
    """It is run again alone, has its reason, and the others keep their lanes."""
    fall = da.System(
        "fall to a centre", coordinates="r", kinetic="r'^2/2", potential="-k/r", parameters={"k": 1},
        initial={"r": 1, "r'": 0},
    )  # fmt: skip
    lanes, plain = both(fall, {"r'": [0.0, 2.0, 2.5, 3.0]}, 3.0)
    assert lanes.in_lanes == 3
    assert np.array_equal(lanes.status, plain.status)
    assert lanes.reason[0].item() == plain.reason[0].item()
    assert "t = 1.11" in lanes.reason[0].item()
    assert farthest(lanes, plain, ("final.r",)) < 1e-9


def test_budgets_in_lanes() -> None:
    lanes, plain = both(spring(), {"w": [1e-9, 1.0, 2.0]}, 1e9, budget={"steps": 200}, method="dop853")
    assert lanes.status.to_numpy().tolist() == [0, 5, 5]
    assert np.array_equal(lanes.data["steps"], plain.data["steps"])
    assert "budget was spent" in lanes.reason[1].item()
    late = spring().sweep({"w": [1e-9, 1.0]}, 1e9, budget={"seconds": 0.05}, method="dop853", lanes=True)
    assert late.status.to_numpy().tolist() == [0, 5]


def test_a_stiff_motion_leaves_its_lane() -> None:
    lagging = da.System(
        "lagging", coordinates="x", kinetic="x'^2/2", potential="k*(x - sin(t))^2/2", forces={"x": "-c*x'"},
        parameters={"k": 1e8, "c": 2e5}, initial={"x": 0, "x'": 1},
    )  # fmt: skip
    found = lagging.sweep({"k": [1e8], "c": [2e5]}, 2.0, lanes=True)
    assert (found.run_alone, found.in_lanes) == (1, 0)


def test_lanes_say_where_they_are() -> None:
    few = spring().sweep({"w": [1.0, 2.0]}, 1.0)
    assert (few.in_lanes, "too few members" in str(few.about["why_no_lanes"])) == (0, True)
    asked = spring().sweep({"w": [1.0, 2.0]}, 1.0, lanes=True)
    assert "side by side in lanes: 2" in asked.text()
    assert asked.to_dict()["in_lanes"] == 2
    assert "work of the forces" in spring().sweep({"w": [1.0]}, 1.0, lanes=True, certify=True).about["why_no_lanes"]
    assert "events" in thrown_ball().sweep({"v": [5.0]}, 1.0, lanes=True).about["why_no_lanes"]
    body = da.library.quaternion_body().sweep({"I1": [1.0, 1.5]}, 0.5, lanes=True)  # whose M is singular
    assert (body.in_lanes, "a coordinate has no mass" in str(body.about["why_no_lanes"])) == (0, True)
    with pytest.raises(da.ModelError, match="lanes is True, False or None"):
        spring().sweep({"w": [1.0]}, 1.0, lanes="yes")


def test_the_order_of_series_is_tried_on_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Springs have entire motions of few products: high orders take fewer steps. By any number of threads the same."""
    rates = np.linspace(0.5, 3.0, series_order.LEAST_MEMBERS)
    asked = {"method": "taylor", "rtol": 1e-9, "lanes": True}
    one, three = (spring().sweep({"w": rates}, 20.0, threads=threads, **asked) for threads in (1, 3))
    np.testing.assert_array_equal(one.final["x"], three.final["x"])
    # Up to ten turns, of some steps each, at errors of some rtol: as much as 60 radians add to that.
    np.testing.assert_allclose(one.final["x"], np.cos(20 * rates), atol=1e-7)
    monkeypatch.setattr(series_order, "LEAST_MEMBERS", rates.size + 1)
    by_tolerance = spring().sweep({"w": rates}, 20.0, **asked)
    np.testing.assert_allclose(by_tolerance.final["x"], np.cos(20 * rates), atol=1e-7)
    assert one["steps"].mean() < 0.8 * by_tolerance["steps"].mean()
