"""Passages through zero: found once, in order, at their exact times, by both backends and all methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.special import ellipk

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.integrate import native
from dalembert.motion.integrate.native import integrate_native
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.reference import integrate_reference
from dalembert.motion.integrate.settings import settings_of
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

x, z = da.coordinates("x z")
m, g, w = da.parameters("m g w")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
BACKENDS = ["reference", pytest.param("native", marks=needs_compiler)]
METHODS = ["dop853", "dopri5", "stiff"]
every_way = pytest.mark.parametrize(
    ("backend", "method"),
    [("reference", method) for method in METHODS]
    + [pytest.param("native", method, marks=needs_compiler) for method in (*METHODS, "taylor")],
)
each_backend = pytest.mark.parametrize("backend", BACKENDS)


def ball(**changes: Any) -> da.System:
    """A projectile from the ground, up with speed 5."""
    parts: dict[str, Any] = {
        "coordinates": [x, z],
        "kinetic": m * (x.d**2 + z.d**2) / 2,
        "potential": m * g * z,
        "parameters": {m: 2, g: 9.81},
        "initial": {x: 0, z: 0, x.d: 1, z.d: 5},
    }
    return da.System("ball", **{**parts, **changes})


def oscillator(amplitude: float = 1.0, speed: float = 0.0) -> da.System:
    """x = amplitude cos t + speed sin t."""
    return da.System(
        "oscillator",
        coordinates=[x],
        kinetic=x.d**2 / 2,
        potential=x**2 / 2,
        initial={x: amplitude, x.d: speed},
    )


def times(motion: da.Motion, name: str) -> np.ndarray:
    return np.array([event["t"] for event in motion.events if event["name"] == name])


def directions(motion: da.Motion, name: str) -> list[str]:
    return [event["direction"] for event in motion.events if event["name"] == name]


class TestClosedForms:
    @every_way
    def test_apex_and_landing(self, backend: str, method: str) -> None:
        """A parabola: every method integrates it exactly, so that times are right to rounding (a few dozen steps)."""
        events = {"landing": da.Event(z, terminal=True), "apex": z.d}
        motion = ball().simulate(3, events=events, backend=backend, method=method)
        assert [event["name"] for event in motion.events] == ["apex", "landing"]
        apex, landing = motion.events
        assert apex["t"] == pytest.approx(5 / 9.81, rel=1e-14)
        assert landing["t"] == pytest.approx(10 / 9.81, rel=1e-14)
        assert apex["direction"] == landing["direction"] == "falling"
        assert apex["state"]["z"] == pytest.approx(25 / 2 / 9.81, rel=1e-14)
        assert list(apex["state"]) == ["x", "z", "x'", "z'"]
        assert motion.ended_by == "landing"
        assert motion.final == {"t": landing["t"], **landing["state"]}
        assert motion.t[-2] < landing["t"]
        assert motion.certificate.holds

    @each_backend
    def test_pendulum_through_the_bottom(self, backend: str) -> None:
        """At the bottom at T/4 + k T/2 with T = 4 K(sin²(angle/2)) √(l/g), a constrained motion, projected."""
        angle, length = 2.0, 1.3
        system = da.library.pendulum().replace(parameters={"angle": angle, "l": length})
        motion = system.simulate(8, events={"bottom": "x", "turn": "x'", "rod": "x^2 + y^2 = l^2"}, backend=backend)
        period = 4 * ellipk(np.sin(angle / 2) ** 2) * np.sqrt(length / 9.81)
        exact = period / 4 + np.arange(int((8 - period / 4) / (period / 2)) + 1) * period / 2
        found = times(motion, "bottom")
        # The error of the integration at rtol 1e-9 over a few swings, divided by a speed of 4.
        np.testing.assert_allclose(found, exact, rtol=1e-8)
        assert directions(motion, "bottom")[:2] == ["falling", "rising"]
        # The rod is zero all the time: nothing passes. States of events lie on it.
        assert not times(motion, "rod").size
        for event in motion.events:
            state = event["state"]
            assert state["x"] ** 2 + state["y"] ** 2 == pytest.approx(length**2, rel=1e-14)

    @each_backend
    def test_bounces_of_a_ball(self, backend: str) -> None:
        """Each flight ends at the ground and starts there again: z = 0 at its start must not count."""
        restitution, speed, total = 0.8, 5.0, 0.0
        for _ in range(8):
            motion = ball(initial={x: 0, z: 0, x.d: 0, z.d: speed}).simulate(
                5, events={"ground": da.Event(z, "falling", terminal=True)}, backend=backend, samples=3
            )
            assert len(motion.events) == 1
            total += motion.final["t"]
            speed = -restitution * motion.final["z'"]
        exact = 2 * 5.0 / 9.81 * (1 - restitution**8) / (1 - restitution)
        assert total == pytest.approx(exact, rel=1e-13)

    @each_backend
    def test_two_events_at_one_time(self, backend: str) -> None:
        motion = ball().simulate(1, events={"b": z.d, "a": 2 * z.d, "c": da.t - 5 / sp.Float(9.81)}, backend=backend)
        assert sorted(event["name"] for event in motion.events) == ["a", "b", "c"]
        assert np.ptp([event["t"] for event in motion.events]) < 1e-14


class TestDoublePassages:
    @pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6])
    @every_way
    def test_close_to_grazing_in_one_step(self, backend: str, method: str, depth: float) -> None:
        """x = cos(t) rises above 1 − depth for 2 acos(1 − depth), far less than a step.

        cos from −1, so that the top comes in the middle. The top is flat: an error δ of the amplitude moves a passage
        by δ/√(2 depth); 300 rtol is what a period gathers.
        """
        rtol = 1e-4 * depth
        motion = oscillator(-1.0).simulate(
            6, events={"top": f"x = {1 - depth!r}"}, backend=backend, method=method, rtol=rtol, samples=2
        )
        half = np.arccos(1 - depth)
        found = times(motion, "top")
        np.testing.assert_allclose(found, [np.pi - half, np.pi + half], atol=300 * rtol / np.sqrt(2 * depth))
        assert directions(motion, "top") == ["rising", "falling"]

    @each_backend
    def test_steps_longer_than_what_happens_in_them(self, backend: str) -> None:
        """Free fall takes huge steps: sin(3x) passes zero often within one, at x = kπ/3, t = x."""
        motion = ball().simulate(10, events={"wave": sp.sin(3 * x)}, backend=backend, rtol=1e-3)
        assert motion.timing.steps < 20
        exact = np.arange(1, int(30 / np.pi) + 1) * np.pi / 3
        np.testing.assert_allclose(times(motion, "wave"), exact, rtol=1e-13)

    @pytest.mark.parametrize("frequency", [7.0, 31.4159, 4.0 * np.pi, 100.0])
    @each_backend
    def test_functions_faster_than_the_motion(self, backend: str, frequency: float) -> None:
        """The cosine of a phase in uniform motion, where a step is limited only by growing tenfold."""
        motion = ball().simulate(4, events={"wave": sp.cos(sp.Float(frequency) * x)}, backend=backend)
        exact = (np.arange(int(4 * frequency / np.pi + 0.5)) + 0.5) * np.pi / frequency
        np.testing.assert_allclose(times(motion, "wave"), exact, rtol=1e-12)

    @each_backend
    def test_every_place_of_a_pair_within_a_step(self, backend: str) -> None:
        """A parabola that dips below zero for 2e-4 at any time: steps of free fall are much longer."""
        events = {f"{k}": (da.t - 0.01 * k) ** 2 - sp.Float(1e-8) for k in range(1, 200)}
        motion = ball().simulate(2, events=events, backend=backend, samples=2)
        assert motion.timing.steps < 30
        expected = np.sort([0.01 * k + side for k in range(1, 200) for side in (-1e-4, 1e-4)])
        found = np.array([event["t"] for event in motion.events])
        assert found.size == expected.size
        # Rounding of (t − c)² at 1e-8 divided by its slope 2e-4.
        np.testing.assert_allclose(found, expected, atol=1e-11)

    @pytest.mark.parametrize(
        ("method", "rtol"), [("dopri5", 1e-2), ("dop853", 1e-3), ("dop853", 1e-6), ("stiff", 1e-4)]
    )
    @each_backend
    def test_against_the_motion_itself(self, backend: str, method: str, rtol: float) -> None:
        """At loose tolerance a motion is not the exact one, but every change of sign in its own output is an event."""
        system = da.library.pendulum().replace(parameters={"angle": 3.0})
        rng = np.random.default_rng(8)
        events = {f"level {k}": x - sp.Float(c) for k, c in enumerate(rng.uniform(-1, 1, 6))}
        events |= {f"wave {k}": sp.sin(sp.Float(f) * x) for k, f in enumerate(rng.uniform(3, 15, 3))}
        motion = system.simulate(4, events=events, method=method, rtol=rtol, backend=backend, samples=1001)
        for name, expression in events.items():
            values = sp.lambdify(x, expression, "numpy")(motion["x"])
            after = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0) + 1
            # Pairs closer than the output times do not show in it; these levels have none.
            assert np.searchsorted(motion.t, times(motion, name)).tolist() == after.tolist()

    @each_backend
    def test_touching_is_no_passage(self, backend: str) -> None:
        motion = ball().simulate(3, events={"touch": (da.t - 1) ** 2, "kink": sp.Abs(x - 2)}, backend=backend)
        assert motion.events == ()


class TestZeros:
    @each_backend
    def test_zero_at_the_start_does_not_count(self, backend: str) -> None:
        motion = oscillator().simulate(7, events={"turn": x.d}, backend=backend)
        np.testing.assert_allclose(times(motion, "turn"), [np.pi, 2 * np.pi], rtol=1e-8)
        assert directions(motion, "turn") == ["rising", "falling"]

    @pytest.mark.parametrize("angle", [0.3, 1.1, 2.0, 2.9])
    @each_backend
    def test_release_from_rest_on_a_constraint(self, backend: str, angle: float) -> None:
        """Rounding in the state at the start, as x cos² + x sin² − x leaves it, is no passage either."""
        system = da.library.pendulum().replace(parameters={"angle": angle})
        events = {"level": "y + l*cos(angle)", "turn": "x'*cos(angle) + y'*sin(angle)"}
        period = 4 * ellipk(np.sin(angle / 2) ** 2) / np.sqrt(9.81)
        motion = system.simulate(0.45 * period, events=events, backend=backend)
        assert times(motion, "level").size == 0
        assert all(times(motion, "turn") > 0.01)

    @each_backend
    def test_leaving_does_not_hide_what_follows(self, backend: str) -> None:
        """t (t − c): zero at the start, then negative, then positive from c on, however early c is."""
        for c in (1e-6, 1e-4, 1e-2, 1.0):
            motion = ball().simulate(3, events={"e": da.t * (da.t - sp.Float(c))}, backend=backend)
            np.testing.assert_allclose(times(motion, "e"), [c], rtol=1e-12)
            assert directions(motion, "e") == ["rising"]

    @each_backend
    def test_zero_for_a_while(self, backend: str) -> None:
        """max(0, x − 1) − max(0, x − 2) − … arrives at zero, stays, and leaves: one event."""
        flat = sp.Max(0, 1 - x) - sp.Max(0, x - 2)
        motion = ball().simulate(3, events={"flat": flat, "late": sp.Max(0, x - 1)}, backend=backend)
        np.testing.assert_allclose(times(motion, "flat"), [1.0], rtol=1e-13)
        assert directions(motion, "flat") == ["falling"]
        assert times(motion, "late").size == 0

    @each_backend
    def test_jumps(self, backend: str) -> None:
        motion = ball().simulate(3, events={"jump": sp.sign(x - 1) + sp.Rational(1, 2)}, backend=backend)
        np.testing.assert_allclose(times(motion, "jump"), [1.0], rtol=1e-14)

    @each_backend
    def test_functions_without_a_value_somewhere(self, backend: str) -> None:
        """√z − 1 has no value below the ground, where the ball is after its landing."""
        motion = ball().simulate(1.5, events={"e": sp.sqrt(z) - 1}, backend=backend)
        root = np.sqrt(25 - 2 * 9.81)
        np.testing.assert_allclose(times(motion, "e"), [(5 - root) / 9.81, (5 + root) / 9.81], rtol=1e-13)

    @pytest.mark.parametrize("terminal", [False, True])
    @each_backend
    def test_at_the_ends_of_steps(self, backend: str, terminal: bool) -> None:
        """A run that ends exactly at an event, and one whose last step does: once each."""
        end = 10 / 9.81
        event = {"e": da.Event(da.t - sp.Float(end), terminal=terminal)}
        motion = ball().simulate(times=[0, end], events=event, backend=backend)
        assert times(motion, "e").tolist() == [end]
        assert motion.ended_by == ("e" if terminal else None)
        assert motion.t.tolist() == [0, end]

    @each_backend
    def test_where_steps_meet(self, backend: str) -> None:
        """At rest, steps begin with 1e-6 and grow tenfold: a clock that is zero exactly at their ends passes once."""
        ends, t, h = [], 0.0, 1e-6
        while t + h < 3:
            # SciPy takes the size of a step from its ends, which are rounded.
            t, h = t + h, 10 * (h if backend == "native" else (t + h) - t)
            ends.append(t)
        still = ball(initial={x: 0, z: 0, x.d: 0, z.d: 0}, parameters={g: 0, m: 1})
        events = {f"{k}": da.t - sp.Float(end, 17) for k, end in enumerate(ends)}
        motion = still.simulate(3, events=events, backend=backend, samples=2)
        assert motion.timing.steps == len(ends) + 1
        assert [event["name"] for event in motion.events] == list(events)
        assert [event["t"] for event in motion.events] == ends


class TestFlags:
    @each_backend
    def test_directions(self, backend: str) -> None:
        events = {"both": x, "up": da.Event(x, "rising"), "down": da.Event(x, "falling")}
        motion = oscillator().simulate(20, events=events, backend=backend)
        exact = np.pi / 2 + np.arange(6) * np.pi
        np.testing.assert_allclose(times(motion, "both"), exact, rtol=1e-8)
        np.testing.assert_allclose(times(motion, "down"), exact[::2], rtol=1e-8)
        np.testing.assert_allclose(times(motion, "up"), exact[1::2], rtol=1e-8)
        assert set(directions(motion, "up")) == {"rising"}

    @every_way
    def test_terminal_counts(self, backend: str, method: str) -> None:
        events = {"third": da.Event(x, "falling", terminal=3), "all": x}
        motion = oscillator().simulate(60, events=events, backend=backend, method=method, samples=61, rtol=1e-7)
        # The error of the phase gathered over five half periods.
        assert motion.t[-1] == pytest.approx(np.pi / 2 + 4 * np.pi, abs=1e-5)
        assert motion.ended_by == "third"
        assert times(motion, "third").size == 3
        # Of events at one time, the one that ends the motion is listed first: it is earlier in the model.
        assert times(motion, "all").size in (4, 5)
        np.testing.assert_array_equal(motion.t[:-1], np.arange(15))
        assert motion.certificate.holds

    @each_backend
    def test_nothing_is_reported_beyond_the_end(self, backend: str) -> None:
        events = {
            "end": da.Event(da.t - 1, terminal=True),
            "later": da.t - sp.Float(1.0001),
            "before": da.t - sp.Float(0.9999),
        }
        motion = ball().simulate(3, events=events, backend=backend)
        assert [event["name"] for event in motion.events] == ["before", "end"]
        assert motion.t[-1] == 1.0

    @each_backend
    def test_output_times_at_the_event(self, backend: str) -> None:
        """An output time that is the time of the event gives one point, not two."""
        motion = ball().simulate(
            times=[0, 0.5, 1.0, 1.5], events={"end": da.Event(da.t - 1, terminal=True)}, backend=backend
        )
        assert motion.t.tolist() == [0, 0.5, 1.0]

    @each_backend
    def test_without_projection(self, backend: str) -> None:
        system = da.library.pendulum()
        one, two = (system.simulate(4, events={"a": "x"}, backend=backend, project=p) for p in (True, False))
        # Both have errors of integration at rtol 1e-9, over three swings.
        np.testing.assert_allclose(times(one, "a"), times(two, "a"), rtol=1e-7)
        assert times(two, "a").size == 3

    def test_too_many_for_a_kernel_run_on_the_reference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "dalembert.motion.integrate.choose.MOST_EVENTS", 250
        )  # 5000 would take their time on the reference
        events = {f"{k}": x - k for k in range(300)}
        assert ball().simulate(2.5, events=events).backend == "reference"
        with pytest.raises(da.ModelError, match="at most 250 events"):
            ball().simulate(1, events=events, backend="native")

    @needs_compiler
    def test_many_run_natively(self) -> None:
        # Thrown sideways at speed 1: x = t passes each place once, at its own time.
        events = {f"{k}": x - k / 1000 for k in range(1, 1001)}
        motion = ball().simulate(0.9995, events=events, backend="native")
        found = [(event["name"], event["t"]) for event in motion.events]
        assert [name for name, _ in found] == [f"{k}" for k in range(1, 1000)]
        np.testing.assert_allclose([t for _, t in found], np.arange(1, 1000) / 1000, rtol=1e-12)

    @each_backend
    def test_what_ends_the_motion_hides_nothing_before_it(self, backend: str) -> None:
        # All in one step: those after the first that ends the motion are not told, those before it all are.
        events = {f"{k}": da.Event(x - k / 10, terminal=k == 4) for k in (9, 3, 7, 4, 1, 5, 2)}
        motion = ball().simulate(1, events=events, backend=backend)
        assert [event["name"] for event in motion.events] == ["1", "2", "3", "4"]

    @each_backend
    def test_events_do_not_change_the_motion(self, backend: str) -> None:
        system = da.library.pendulum()
        with_them = system.simulate(3, events={"a": "x", "b": "y'"}, backend=backend)
        without = system.simulate(3, backend=backend)
        np.testing.assert_array_equal(with_them.q, without.q)
        assert with_them.timing.steps == without.timing.steps
        assert with_them.events
        assert without.ended_by is None

    def test_saved_motions_keep_them(self, tmp_path: Any) -> None:
        motion = ball().simulate(3, events={"landing": da.Event(z, terminal=True), "apex": "z'"})
        motion.save(tmp_path / "motion.nc")
        again = da.Motion.load(tmp_path / "motion.nc")
        assert list(again.events) == [dict(event) for event in motion.events]
        assert again.ended_by == "landing"
        assert again.system.events == motion.system.events
        assert "ended by 'landing'" in repr(again)


# Every system and every method, not their product: which step is searched depends on the method, what is searched for
# on the system, and neither knows the other.
@needs_compiler
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("pendulum", "dopri5"),
        ("penny", "dop853"),
        ("penny", "stiff"),
        ("redundant_double_pendulum", "dop853"),
        ("quaternion_body", "dop853"),
        ("appell_hamel", "dopri5"),
    ],
)
def test_backends_agree(name: str, method: str) -> None:
    """The same sequence, at times that differ by errors of integration."""
    system = da.library.get(name)
    first, second = system.coordinates[:2]
    middle = {q: float(np.mean(system.simulate(backend="native")[q.name])) for q in (first, second)}
    events = {"a": first - sp.Float(middle[first]), "b": second - sp.Float(middle[second]), "c": first.d, "d": second.d}
    rtol = 1e-10 if method == "dop853" else 1e-7
    options = {"events": events, "rtol": rtol, "method": method, "samples": 2}
    one, two = (system.simulate(**options, backend=backend) for backend in ("reference", "native"))
    # The penny arrives at a zero just as it ends, where errors of integration decide whether it passes.
    end = 0.999 * one.t[-1]
    one, two = (replace(m, events=tuple(e for e in m.events if e["t"] < end)) for m in (one, two))
    for event in events:  # one by one: a pendulum turns in x and y at once, in either order
        assert directions(one, event) == directions(two, event)
        # As between the backends' motions, divided by the speed of the function; a few hundred tolerances.
        np.testing.assert_allclose(times(one, event), times(two, event), atol=3e3 * rtol)
    assert sum(times(one, event).size for event in events) >= 2


@needs_compiler
def test_more_events_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = {"wave": sp.sin(20 * x), "end": da.Event(x - 4, terminal=True)}
    whole = ball().simulate(5, events=plenty, backend="native")
    assert not whole.warnings
    monkeypatch.setattr(native, "EVENT_ROOM", 7)
    tight = ball().simulate(5, events=plenty, backend="native")
    assert len(whole.events) == int(4 * 20 / np.pi) + 1
    assert tight.events == whole.events
    assert len(tight.warnings) == 1
    assert "more than the 7" in tight.warnings[0]


@each_backend
def test_a_run_can_be_resumed_at_an_event(backend: str) -> None:
    """State and work integrals at a terminal event continue the motion: friction laws will change there."""
    system = da.System(
        "damped",
        coordinates=[x],
        kinetic=x.d**2 / 2,
        potential=x**2 / 2,
        forces={x: -x.d / 5},
        initial={x: 1, x.d: 0},
        events={"zero": da.Event(x, terminal=True)},
    )
    whole = system.replace(events={}).simulate(10, samples=11, backend=backend)
    evaluation = Evaluation(system)
    q, v, t, work, legs = np.array([1.0]), np.array([0.0]), 0.0, np.zeros(3), 0
    while t < 10:
        settings = settings_of(system, None, np.array([t, 10.0]), t, {"backend": backend})
        with Progress("", t, 10.0, False) as bar:
            if backend == "native":
                leg = integrate_native(evaluation, settings, State(q, v, t), evaluation.solve(q, v, t), bar, work)
            else:
                leg = integrate_reference(evaluation, settings, State(q, v, t), bar, work)
        assert (leg.ended is not None) == (leg.t[-1] < 10)
        q, v, work, t, legs = leg.y[-1, :1], leg.y[-1, 1:2], leg.y[-1, 2:], float(leg.t[-1]), legs + 1
    assert legs == 4
    # Each leg has the error of its own integration at rtol 1e-9.
    np.testing.assert_allclose([*q, *v], [whole.final["x"], whole.final["x'"]], atol=1e-7)
    np.testing.assert_allclose(work, whole.work[-1], atol=1e-7)


def test_kernels_without_events_know_nothing_of_them() -> None:
    from dalembert.graph.graph import graph_of
    from dalembert.kernel.emit.source import kernel_source

    plain, watched = ball(), ball(events={"e": z})
    assert "da_events(" not in kernel_source(plain, graph_of(plain), []).split("/* Events:")[0]
    assert "#define DA_NG 0" in kernel_source(plain, graph_of(plain), [])
    assert "void da_events(" in kernel_source(watched, graph_of(watched), [])


def test_replacing_trajectories() -> None:
    """Old callers that build a trajectory without events still can."""
    from dalembert.motion.integrate.trajectory import Trajectory

    plain = Trajectory(np.zeros(1), np.zeros((1, 5)), None, "DOP853", "reference", 0, 0, 0.0, (), None)
    assert replace(plain, steps=1).ended is None
