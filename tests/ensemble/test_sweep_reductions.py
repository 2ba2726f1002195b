"""What members are reduced to, and what is observed along them, beside values computed from their samples."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from swept_systems import spring, thrown_ball

import dalembert as da
from dalembert.ensemble.ask.wanted import read_wanted
from dalembert.ensemble.result.variables import names_of_variables
from dalembert.graph.timed import spread


def test_reductions_are_those_of_the_samples() -> None:
    reduce = {
        "low": ("min", "x"),
        "high": ("max", "x"),
        "width": ("range", "x"),
        "middle": ("mean", "x + 1"),
        "size": "rms: x'",
        "end": ("final", "x*x'"),
        "E": "energy",
    }
    w = np.linspace(1, 3, 5)
    found = spring().sweep({"w": w}, 2.0, keep=["samples", "energy"], reduce=reduce, points=41)
    x, v, t = found.samples["x"].to_numpy(), found.samples["x'"].to_numpy(), found["time"].to_numpy()
    assert np.array_equal(found["low"], x.min(axis=1))
    assert np.array_equal(found["high"], x.max(axis=1))
    assert np.array_equal(found["width"], x.max(axis=1) - x.min(axis=1))
    # The same sums in another order.
    np.testing.assert_allclose(found["middle"], np.trapezoid(x + 1, t, axis=1) / 2.0, rtol=1e-14)
    np.testing.assert_allclose(found["size"], np.sqrt(np.trapezoid(v**2, t, axis=1) / 2.0), rtol=1e-14)
    np.testing.assert_allclose(found["end"], x[:, -1] * v[:, -1], rtol=1e-14)
    # The energy is that of the start, w² a²/2, to the tolerance of the motion.
    np.testing.assert_allclose(found["E"], w**2 / 2, rtol=1e-8)
    np.testing.assert_allclose(found["energy"], np.tile(w[:, None] ** 2 / 2, 41), rtol=1e-8)
    # And the samples are x = cos(w t).
    np.testing.assert_allclose(x, np.cos(w[:, None] * t), atol=1e-8)


def test_a_member_that_ends_early_is_reduced_up_to_its_end() -> None:
    v = np.array([5.0, 10.0])
    found = thrown_ball().sweep({"v": v}, 10.0, points=2001, reduce={"far": ("max", "x"), "mean": ("mean", "x")})
    flight = 2 * v * np.sin(0.7) / 9.81
    # The farthest point is the last one, whose time is no output time; x grows evenly, so its mean is half of that.
    np.testing.assert_allclose(found["far"], v * np.cos(0.7) * flight, rtol=1e-12)
    np.testing.assert_allclose(found["mean"], v * np.cos(0.7) * flight / 2, rtol=1e-12)


def test_events_are_counted_and_timed() -> None:
    w = np.array([1.0, 2.0, 5.0])
    reduce = {"n": ("count", "through"), "first": ("time", "through"), "last": ("last", "through")}
    found = spring().sweep({"w": w}, 6.0, events={"through": "x"}, reduce=reduce)
    # cos(w t) is zero at (k + 1/2) pi / w.
    count = np.floor(6.0 * w / np.pi + 0.5)
    assert np.array_equal(found["n"], count)
    np.testing.assert_allclose(found["first"], np.pi / 2 / w, rtol=1e-8)
    np.testing.assert_allclose(found["last"], (count - 0.5) * np.pi / w, rtol=1e-8)
    none = spring().sweep({"w": w}, 0.1, events={"through": "x"}, reduce=reduce)
    assert np.array_equal(none["n"], np.zeros(3))
    assert np.isnan(none["first"]).all()


def test_forces_and_accelerations_are_observed() -> None:
    pendulum = da.library.pendulum()
    (x, y) = da.coordinates("x y")
    rod = pendulum.constraints[0].name
    keep = {"pull": da.multiplier(rod), "ax": x.dd, "by rod": da.ideal(y)}
    found = pendulum.sweep({"l": [0.5, 1.0]}, 1.0, keep=keep, points=5)
    for k in range(2):
        motion = found.system_of(k).simulate(1.0, samples=5)
        np.testing.assert_allclose(found["pull"][k], motion.multipliers[:, 0], rtol=1e-12)
        np.testing.assert_allclose(found["ax"][k], motion.a[:, 0], rtol=1e-12)
        np.testing.assert_allclose(found["by rod"][k], motion.ideal[:, 1], rtol=1e-12)


def test_outputs_and_definitions_are_observed() -> None:
    system = spring().replace(definitions={"double": "2*x"}, outputs={"four": "2*double"})
    found = system.sweep({"a": [1.0, 3.0]}, 1.0, keep=["four", "double", "samples"], points=4)
    np.testing.assert_allclose(found["four"], 4 * found.samples["x"], rtol=1e-15)
    np.testing.assert_allclose(found["double"], 2 * found.samples["x"], rtol=1e-15)


def test_the_exponent_of_a_motion_that_grows() -> None:
    """By many powers of ten: the twin follows, and is not lost in the rounding of its neighbour."""
    saddle = da.System(
        "saddle", coordinates="x", kinetic="x'^2/2", potential="-a^2*x^2/2", parameters={"a": 1},
        initial={"x": 0.1, "x'": 0},
    )  # fmt: skip
    found = saddle.sweep({"a": [1.0, 2.0]}, 30.0, reduce={"rate": "lyapunov"})
    # The distance begins beside the growing direction: a factor of order one, over e^30 and e^60.
    np.testing.assert_allclose(found["rate"], [1.0, 2.0], atol=0.05)


def test_the_exponent_of_a_saddle_and_of_a_circle() -> None:
    saddle = da.System(
        "saddle", coordinates="x", kinetic="x'^2/2", potential="-k^2*x^2/2", parameters={"k": 1},
        initial={"x": 1e-3, "x'": "k*1e-3"},
    )  # fmt: skip
    k = np.array([0.5, 1.0])
    found = saddle.sweep({"k": k}, 20.0, reduce={"rate": "lyapunov"})
    # The distance grows like exp(k t), up to a factor that the first direction and the norm decide: of order one, so
    # the rate over the time 20 is known to some log(4)/20.
    np.testing.assert_allclose(found["rate"], k, atol=0.08)
    # Likewise where it has grown so far that its square is no number, x = 1e-3 exp(k t).
    far = saddle.sweep({"k": [2.0]}, 200.0, reduce={"rate": "lyapunov"})
    assert far.final["x"][0] > 1e160
    np.testing.assert_allclose(far["rate"], [2.0], atol=0.01)
    circle = spring().sweep({"w": [1.0, 2.0]}, 200.0, reduce={"rate": "lyapunov"})
    # Neighbouring motions stay neighbours: log(2)/200 at most.
    assert (np.abs(circle["rate"]) < 0.01).all()


def test_the_exponent_of_members_that_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    saddle = da.System(
        "saddle", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="-k^2*x^2/2", constraints={"line": "y = 2*x"},
        parameters={"k": 1}, initial={"x": 1e-3, "x'": 0, "y": 2e-3, "y'": 0},
    )  # fmt: skip
    ask: dict[str, Any] = {"reduce": {"rate": "lyapunov"}}
    at_once = saddle.sweep({"k": [0.5, 1.0]}, 20.0, **ask)
    monkeypatch.setattr("dalembert.ensemble.members.task.has_kernels", lambda: False)
    alone = saddle.sweep({"k": [0.5, 1.0]}, 20.0, **ask)
    assert (at_once.run_alone, alone.run_alone) == (0, 2)
    # On the line the mass is 5, so that the distance grows like exp(k t/√5); up to a factor of order one, as below.
    np.testing.assert_allclose(alone["rate"], np.array([0.5, 1.0]) / np.sqrt(5), atol=0.08)
    # Both are led back equally often, in nearly the same places.
    np.testing.assert_allclose(alone["rate"], at_once["rate"], rtol=1e-3)


def test_the_exponent_across_impacts_is_that_of_two_motions() -> None:
    ball = da.library.bouncing_ball().replace(parameters={"e": 1.0, "h": 1.0})
    found = ball.sweep({"g": [9.81]}, 1.7, reduce={"rate": "lyapunov"})  # two bounces, at 0.45 and 1.35
    names = ["x", "y", "x'", "y'"]
    start = dict(zip(names, (0.0, 1.0, 0.5, 0.0), strict=True))
    near = {name: value + 1e-6 * d for (name, value), d in zip(start.items(), spread(4, 1), strict=True)}
    one, other = (ball.replace(initial=state).simulate(1.7, samples=2) for state in (start, near))
    apart = [np.linalg.norm([one[name][k] - other[name][k] for name in names]) for k in (0, -1)]
    # Between impacts the map is linear; at an impact only to the order of the distance, 1e-6.
    np.testing.assert_allclose(found["rate"], np.log(apart[1] / apart[0]) / 1.7, rtol=1e-4)
    assert found.run_alone == 1


@pytest.mark.parametrize(("duration", "counted"), [(50.0, 50.0), (25.0, 25.0 * 31 / 32)])
def test_the_exponent_where_twins_are_led_back_at_an_impact(duration: float, counted: float) -> None:
    """Between elastic walls a motion is a straight one that is folded: distances grow as they do in free flight. From
    the middle at unit speed walls are struck at 1, 3, 5 …, and at 25 a sixteenth and the last of 32 pieces ends.
    """
    box = da.System(
        "box", coordinates="x", kinetic="x'^2/2", initial={"x": 0, "x'": 1},
        constraints=[da.Constraint(name, side, restitution=1) for name, side in (("l", "x >= -1"), ("r", "x <= 1"))],
    )  # fmt: skip
    found = box.sweep({"x": [0.0]}, duration, reduce={"rate": "lyapunov"})
    d = spread(2, 1)
    grown = np.hypot(d[0] + d[1] * counted, d[1]) / np.hypot(*d)
    # Distances of 1e-6 beside rounding of 1e-16, in sums of 32 logarithms.
    np.testing.assert_allclose(found["rate"], np.log(grown) / counted, rtol=1e-6)


def test_certificates_are_those_of_single_motions() -> None:
    found = da.library.pendulum().sweep({"angle": [0.5, 2.0], "spin": [0.0, 3.0]}, 2.0, certify=True, points=21)
    assert (found.certificate["holds"] == 1).all()
    for k in range(4):
        one = found.system_of(k).simulate(2.0, samples=21).certificate
        measured = {name: found.certificate[name].to_numpy().ravel()[k] for name in ("position", "velocity", "energy")}
        np.testing.assert_allclose(measured["position"], one.position, rtol=1e-9)
        np.testing.assert_allclose(measured["velocity"], one.velocity, rtol=1e-9)
        # A single motion has the state where it was fastest among its points.
        np.testing.assert_allclose(measured["energy"], one.energy, rtol=0.3)


def test_a_certificate_holds_where_nothing_moves() -> None:
    atwood = da.System(
        "balance", coordinates="a b", kinetic="m*a'^2/2 + n*b'^2/2", potential="m*g*a + n*g*b",
        constraints={"rope": "a + b = 0"}, parameters={"m": 1.0, "n": 1.0, "g": 9.81},
        initial={"a": 0, "b": 0, "a'": 0, "b'": 0},
    )  # fmt: skip
    masses = np.geomspace(0.1, 10, 12)
    found = atwood.sweep({("m", "n"): np.column_stack([masses, masses])}, 1.0, points=3, certify=True)
    # Velocities of rounding, some 1e-17, and energies that exchange as much: these are no fault of the balance.
    assert (found.certificate["holds"] == 1).all()


def test_a_certificate_sees_drift() -> None:
    options: dict[str, Any] = {"certify": True, "rtol": 1e-4, "method": "dopri5", "points": 21}
    kept, drifted = (
        da.library.pendulum().sweep({"angle": [2.0]}, 30.0, project=project, **options) for project in (True, False)
    )
    assert kept.certificate["position"].item() < 1e-14
    assert drifted.certificate["position"].item() > 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "speed"}, "unknown name 'speed'"),
        ({"keep": ["x", "x +"]}, "keep 'x +'"),
        ({"reduce": {"top": ("maximum", "x")}}, "unknown kind 'maximum'. Did you mean"),
        ({"reduce": {"top": "max"}}, "max of what?"),
        ({"reduce": {"n": ("count", "bounce")}}, "there is no event 'bounce'"),
        ({"reduce": {"E": ("energy", "x")}}, "leave 'x' away"),
        ({"reduce": ["max"]}, "names with what they are"),
        ({"reduce": {"w": ("max", "x")}}, "the name of something else"),
        ({"keep": ["x"], "reduce": {"x": ("max", "x")}}, "kept under this name"),
        ({"on": "thread"}, "Did you mean 'threads'"),
        ({"on": "cude"}, "Did you mean 'cuda'"),
        ({"threads": 0}, "threads is a whole number of at least 1"),
        ({"budget": {"step": 3}}, "Did you mean 'steps'"),
        ({"budget": {"steps": -3}}, "a positive number"),
        ({"budget": 3}, "budget is {"),
        ({"budget": {"seconds": math.nan, "steps": "many"}}, "seconds is a positive number, got nan"),
        ({"budget": {"seconds": math.nan, "steps": "many"}}, "steps is a positive number, got 'many'"),
        ({"budget": {"steps": 10**400}}, "budget steps is a positive number, got 1000"),
        ({"keep": "enrgy"}, "Did you mean 'energy'"),
        ({"keep": ["finall"]}, "Did you mean 'final'"),
        ({"keep": "sampels"}, "Did you mean 'samples'"),
        ({"reduce": {"top": ("max", "enrgy")}}, "Did you mean 'energy'"),
        ({"keep": ["2*enrgy"]}, "unknown name 'enrgy'. Known here: a, pi, t, w, x, x', x''"),  # no part of expressions
        ({"repair": ["z"]}, "no coordinate or velocity"),
        ({"repair": 5}, "repair is True, False or names"),
        ({"certify": "maybe"}, "certify is True or False, got 'maybe'"),
        ({"together": 1.0}, "together is True or False, got 1.0"),
        ({"lanes": np.array([1, 2])}, "lanes is True, False or None"),
        ({"out": 5}, "out is the name of a folder, got 5"),
        ({"reduce": {"": ("max", "x")}}, "has a name that is not empty"),
        ({"resume": True}, "needs the folder"),
        ({"points": 3, "times": [1, 2]}, "points="),
        ({"point": 3}, "sweep has no option 'point'. Did you mean 'points'?"),
        ({"rtol": -1}, "rtol"),
    ],
)
def test_faults_of_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(da.ModelError) as found:
        spring().sweep({"w": [1.0, 2.0]}, 1.0, **options)
    assert message in str(found.value)


def test_outputs_are_suggested() -> None:
    system = spring().replace(outputs={"stretch": "2*x", "tip of it": "x + 1"})
    for options, meant in (
        ({"keep": ["strech"]}, "stretch"),
        ({"reduce": {"a": "max: strech"}}, "stretch"),
        ({"keep": ["tip of its"]}, "tip of it"),
    ):
        with pytest.raises(da.ModelError, match=rf"Did you mean .*'{meant}'"):
            system.sweep({"w": [1.0, 2.0]}, 1.0, **options)


def test_many_steps_are_granted() -> None:
    free, granted = (spring().sweep({"w": [1.0, 2.0]}, 1.0, budget=budget) for budget in (None, {"steps": 10**12}))
    assert free.data.identical(granted.data)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"duration": 10**400}, "the duration is inf"),
        ({"duration": "10 s"}, "the duration is a number, got '10 s'"),
        ({"times": [0, math.nan, 1]}, "times: value 1 is nan; finite numbers are wanted"),
        ({"times": [0.0, 1.0, math.inf]}, "times: value 2 is inf; finite numbers are wanted"),
        ({"times": [0, 1, "end"]}, "times: value 2 is 'end', which is no number"),
        ({"times": "end"}, "times is 'end', which is no number"),
        ({"times": [0, 1j]}, "times: value 1 is 1j"),
        ({"times": [0, 10**400]}, "times: value 1 is 10000"),
        ({"times": [None, 1]}, "times: value 0 is None"),
        ({"times": [[0, 1], [2]]}, "times: numbers are wanted"),
        ({"times": []}, "times: no values"),
        ({"times": [-1.0, 1.0]}, "times: value 0 is -1.0, before the initial time 0"),
        ({"times": [0.0, 2.0, 1.0]}, "times: value 2 is 1.0 after 2; times must increase"),
    ],
)
def test_times_that_are_none(given: dict[str, Any], told: str) -> None:
    """One message that says which is wrong, by sweeps and single motions alike."""
    for run in (partial(spring().sweep, {"w": [1.0]}), spring().simulate):
        with pytest.raises(da.ModelError) as found:
            run(**given)
        assert [told in fault for fault in found.value.faults] == [True]


def test_names_of_observables_may_be_those_of_others() -> None:
    """What is kept under the name of something else, and what is reduced, are what they say."""
    t = np.linspace(0, 3, 31)
    found = spring().sweep({"w": [1.0, 2.0]}, 3.0, keep={"energy": "x^2"}, reduce={"e": "energy"}, points=31)
    alone = [spring().replace(parameters={"w": w}).simulate(times=t) for w in (1.0, 2.0)]
    assert found["energy"].to_numpy() == pytest.approx(np.array([motion["x"] ** 2 for motion in alone]), abs=1e-9)
    assert found["e"].to_numpy() == pytest.approx([motion.energy[-1] for motion in alone])
    found = spring().sweep({"w": [1.0, 2.0]}, 3.0, keep={"x": "x'"}, reduce={"top": ("max", "x")}, points=31)
    assert found["top"].to_numpy() == pytest.approx([motion["x"].max() for motion in alone])
    assert found["x"].to_numpy()[:, -1] == pytest.approx([motion["x'"][-1] for motion in alone])


def test_what_contacts_do_is_counted() -> None:
    """A ball dropped from h: with restitution e its n-th impact is at √(2h/g)(1 + 2e(1 − eⁿ⁻¹)/(1 − e))."""
    ball = da.library.bouncing_ball()
    heights, e = np.array([0.4, 0.9, 1.7]), 0.7
    asked = {"n": ("count", "impact"), "of floor": ("count", "impact floor"), "first": ("time", "impact"),
             "last": "last: impact floor", "rests": ("count", "contact")}  # fmt: skip
    found = ball.sweep({"h": heights}, 1.5, reduce=asked)
    fall = np.sqrt(2 * heights / 9.81)
    times = fall[:, None] * (1 + 2 * e * (1 - e ** np.arange(60)) / (1 - e))
    counts = (times < 1.5).sum(axis=1)
    assert found["n"].to_numpy().tolist() == found["of floor"].to_numpy().tolist() == counts.tolist()
    assert found["rests"].to_numpy().tolist() == [0, 0, 0]
    np.testing.assert_allclose(found["first"], fall, rtol=1e-9)
    np.testing.assert_allclose(found["last"], times[np.arange(3), counts - 1], rtol=1e-8)


def test_an_event_of_the_name_of_what_contacts_do() -> None:
    """The user's own is meant; what simulations report themselves, "impact" of any contact, is refused as a name."""
    ball = da.library.bouncing_ball()
    asked = {"own": ("count", "impact floor"), "blows": ("count", "impact")}
    found = ball.sweep({"h": [1.0]}, 1.2, events={"impact floor": da.Event("x - 0.1", "rising")}, reduce=asked)
    assert (float(found["own"][0]), float(found["blows"][0])) == (1.0, 2.0)


def test_what_contacts_do_is_known_only_where_there_are_some() -> None:
    with pytest.raises(da.ModelError, match="there is no event 'impact'"):
        spring().sweep({"w": [1.0]}, 1.0, reduce={"n": ("count", "impact")})
    with pytest.raises(da.ModelError, match=r"there is no event 'impact flor'\. Did you mean 'impact floor'"):
        da.library.bouncing_ball().sweep({"h": [1.0]}, 1.0, reduce={"n": ("count", "impact flor")})


def test_names_of_variables_are_known_before() -> None:
    ball = thrown_ball()
    keep, reduce = ["samples", "energy"], {"far": ("max", "x")}
    found = ball.sweep({"v": [5.0, 6.0]}, 2.0, keep=keep, reduce=reduce, certify=True)
    names = names_of_variables(ball, read_wanted(ball, keep, reduce), True)
    assert set(found.data.data_vars) - {"reason"} <= set(names)
    assert all(found[name] is not None for name in names)
