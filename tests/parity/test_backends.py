"""The native backend against the reference: the same motions, events and refusals."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel import kernel as kernels
from dalembert.kernel.build import find_compiler
from dalembert.kernel.kernel import RunWatch, make_kernel
from dalembert.mechanics.solve.fundamental import is_positive
from dalembert.motion.integrate import kernel_choice
from dalembert.motion.integrate.trajectory import is_stalled
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project

from .test_singular_configurations import passed

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.mark.parametrize("name", da.library.names())
def test_library_motions(name):
    system = da.library.get(name)
    one = system.simulate(rtol=1e-10, samples=41, backend="reference")
    two = system.simulate(rtol=1e-10, samples=41, backend="native")
    assert two.backend == "native"
    assert two.certificate.holds
    # Each has a global error of a few hundred tolerances; the chaotic hinged rods magnify it a hundredfold more.
    tolerance = 2e-6 if name == "hinged_rods" else 1e-7
    np.testing.assert_allclose(two.q, one.q, atol=tolerance * (1 + np.abs(one.q).max()))
    np.testing.assert_allclose(two.v, one.v, atol=tolerance * (1 + np.abs(one.v).max()))
    np.testing.assert_allclose(two.ideal, one.ideal, atol=10 * tolerance * (1 + np.abs(one.ideal).max()))
    # They pass the same singular configurations, at speeds above one.
    times = [[event["t"] for event in passed(motion)] for motion in (one, two)]
    assert len(times[0]) == len(times[1])
    np.testing.assert_allclose(times[1], times[0], atol=1e-5)


@pytest.mark.parametrize("name", da.library.names())
def test_accelerations(name):
    """Straight-line code, robust path and reference at many states around the motion."""
    system = da.library.get(name)
    evaluation = Evaluation(system)
    motion = system.simulate(samples=11, backend="native")
    n = evaluation.n
    start = evaluation.solve(motion.q[0], motion.v[0], motion.t[0])
    rows = [int(k) for k in np.flatnonzero(~start.dependent)]
    compiler = find_compiler()
    assert compiler is not None
    completion = 0.0 if is_positive(start.M) else 1.0
    kernel = make_kernel(system, evaluation.graph, rows, (), compiler, completion)
    rng = np.random.default_rng(3)
    # States are independent of each other, and there are 26 systems: what a hundred of each do not show, more do not.
    for k in rng.integers(0, motion.t.size, 100):
        q, v = (x[k] + 1e-2 * rng.normal(size=n) * (1 + np.abs(x[k])) for x in (motion.q, motion.v))
        if len(rows) < evaluation.m or completion:
            # Off their common surface redundant constraints contradict each other: return to it first.
            q, v, _ = project(evaluation, q, v, float(motion.t[k]))
        y, t = np.concatenate([q, v, np.zeros(3)]), float(motion.t[k])
        solution = evaluation.solve(q, v, t)
        exact = solution.acceleration
        branch = evaluation.branch_accelerations(solution) if evaluation.graph.nonlinear else None
        scale = 1 + np.abs(exact).max()
        for way in (0, 1, 2):
            found = kernel.slope(y, t, evaluation.p, way, branch)[n : 2 * n]
            # Rounding times the condition of M and A, which stays below 1e4 in the library.
            np.testing.assert_allclose(found, exact, atol=1e-12 * scale)


@pytest.mark.parametrize("method", ["dop853", "dopri5", "stiff", "taylor"])
def test_methods(method):
    system = da.library.spherical_pendulum()
    exact = system.simulate(2.0, rtol=1e-12, samples=11, backend="reference")
    motion = system.simulate(2.0, rtol=1e-8, samples=11, backend="native", method=method)
    assert motion.certificate.holds
    # Global errors over two seconds stay within a thousand tolerances for each method.
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-5)


def parallelogram(redundant: bool) -> da.System:
    """Three swinging unit bars joined by couplers; with a fourth, redundant relation between the couplers."""
    bars = {f"bar {i}": f"(x{i} - {i - 1})^2 + y{i}^2 = 1" for i in (1, 2, 3)}
    couplers = {f"coupler {i}": f"(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1" for i in (1, 2)}
    more = {"level": "y2 - y1 = 0", "apart": "x2 - x1 = 1"} if redundant else {}
    initial: dict[str, float] = {}
    for i in (1, 2, 3):
        initial |= {f"x{i}": i - 1 + np.cos(-0.7), f"y{i}": np.sin(-0.7), f"x{i}'": 0.0, f"y{i}'": 0.0}
    return da.System(
        "parallelogram",
        coordinates="x1 y1 x2 y2 x3 y3",
        kinetic=" + ".join(f"(x{i}'^2 + y{i}'^2)/2" for i in (1, 2, 3)),
        potential=" + ".join(f"9.81*y{i}" for i in (1, 2, 3)),
        constraints={**bars, **couplers, **more},
        initial=initial,
    )


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_redundancy_on_the_constraints_only(backend):
    """Constraints that depend on each other only on their common surface: rank 5 of 7, and a pendulum's motion."""
    plain = parallelogram(False).simulate(2.0, rtol=1e-11, samples=21, backend="reference")
    motion = parallelogram(True).simulate(2.0, rtol=1e-10, samples=21, backend=backend)
    assert motion.certificate.holds
    assert motion.certificate.rank_max == 5
    np.testing.assert_allclose(motion.q, plain.q, atol=1e-7)  # a thousand tolerances


def four_bar(count: int) -> da.System:
    """`count` parallelogram windows of uniform unit rods, released upright with the tips moving at unit speed."""
    points = range(count + 1)
    rods = [f"(x{i}'^2 + y{i}'^2)/6" for i in points]
    rods += [
        f"(x{i}'^2 + y{i}'^2 + x{i}'*x{i + 1}' + y{i}'*y{i + 1}' + x{i + 1}'^2 + y{i + 1}'^2)/6" for i in range(count)
    ]
    heights = [f"y{i}/2" for i in points] + [f"(y{i} + y{i + 1})/2" for i in range(count)]
    constraints = {f"rod {i}": f"(x{i} - {i})^2 + y{i}^2 = 1" for i in points}
    constraints |= {f"bar {i}": f"(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1" for i in range(count)}
    initial: dict[str, float] = {}
    for i in points:
        initial |= {f"x{i}": i, f"y{i}": 1, f"x{i}'": 1, f"y{i}'": 0}
    return da.System(
        "four-bar mechanism",
        coordinates=" ".join(f"x{i} y{i}" for i in points),
        kinetic=" + ".join(rods),
        potential=f"9.81*({' + '.join(heights)})",
        constraints=constraints,
        initial=initial,
    )


def angle_at_the_end(count: int) -> float:
    """The one degree of freedom by itself: I θ̈ = −k cos θ."""
    from scipy.integrate import solve_ivp

    inertia, weight = (count + 1) / 3 + count, 9.81 * ((count + 1) / 2 + count)
    solution = solve_ivp(
        lambda t, u: [u[1], -weight * np.cos(u[0]) / inertia],
        (0, 10),
        [np.pi / 2, -1],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    return float(solution.y[0, -1])


@pytest.mark.parametrize("count", [1, 3])
def test_through_singular_configurations(count):
    """Every time the bars lie flat the mechanism could leave its branch; it must not, at any tolerance."""
    system, angle = four_bar(count), angle_at_the_end(count)
    for rtol in np.logspace(-5, -11, 13):  # twice a decade; `test_four_bar` takes more, of one system
        final = system.simulate(10, rtol=float(rtol), samples=2, backend="native", method="dop853").final
        for i in range(count + 1):
            # What the mechanism is asked to reach: max(1e4 rtol, 1e-6).
            assert final[f"x{i}"] - i == pytest.approx(np.cos(angle), abs=max(1e4 * rtol, 1e-6)), rtol
            assert final[f"y{i}"] == pytest.approx(np.sin(angle), abs=max(1e4 * rtol, 1e-6)), rtol


def test_a_motion_that_ends_early():
    fall = da.System("fall", coordinates="r", kinetic="r'^2/2", potential="-1/r", initial={"r": 1, "r'": 0})
    with pytest.raises(da.MotionFailed, match="could not be continued") as caught:
        fall.simulate(3.0, samples=31, backend="native")
    motion = caught.value.motion
    assert motion is not None
    # The time of fall from rest is π/(2√2); output points stop before it.
    assert 1.0 < motion.t[-1] < np.pi / (2 * np.sqrt(2))


def test_ideal_reactions():
    """Friction by the ideal force, as in the second example of the 2005 paper, on both backends."""
    friction = "-0.3*sqrt(ideal(x)^2 + ideal(y)^2)"
    block = da.System(
        "block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"plane": "y = x*tan(0.7)"},
        nonideal=[da.Work({"x": f"{friction}*x'/sqrt(x'^2 + y'^2)", "y": f"{friction}*y'/sqrt(x'^2 + y'^2)"})],
        initial={"x": 0, "y": 0, "x'": -1, "y'": "-tan(0.7)"},
    )
    along = 9.81 * (np.sin(0.7) - 0.3 * np.cos(0.7))
    start = 1 / np.cos(0.7)
    for backend in ("native", "reference"):
        final = block.simulate(1.0, backend=backend, samples=2).final
        # Constant acceleration: integrated exactly up to rounding.
        assert final["x"] == pytest.approx(-(start + along / 2) * np.cos(0.7), abs=1e-10)


def test_a_long_run_with_steady_steps_is_no_stall():
    """A thousand steps may cover a tiny share of a long motion; only steps that collapse are a stall."""
    system = da.library.pendulum()
    evaluation = Evaluation(system)
    compiler = find_compiler()
    assert compiler is not None
    kernel = make_kernel(system, evaluation.graph, [0], (), compiler)
    q, v, t0 = system.initial_values()
    y0, times, watch = np.concatenate([q, v, np.zeros(3)]), np.array([t0, 1e9]), RunWatch(t0)
    stop = threading.Timer(0.5, lambda: setattr(watch.stop, "value", 1))
    stop.start()
    run = kernel.integrate(y0, t0, evaluation.p, times, 1e-9, np.full(4, 1e-12), "dop853", True, watch)
    stop.join()
    assert run.status == kernels.DONE, "ended because it was told to, not because it was thought to chatter"
    assert run.report["steps"] > 2000


def test_a_run_ends_after_the_steps_it_may_take():
    system = da.library.pendulum()
    evaluation = Evaluation(system)
    compiler = find_compiler()
    assert compiler is not None
    kernel = make_kernel(system, evaluation.graph, [0], (), compiler)
    q, v, t0 = system.initial_values()
    y0, times = np.concatenate([q, v, np.zeros(3)]), np.array([t0, 1e9])
    for steps in (1, 64, 65, 128):
        run = kernel.integrate(
            y0, t0, evaluation.p, times, 1e-9, np.full(4, 1e-12), "dop853", True, RunWatch(t0, steps)
        )
        assert run.status == kernels.DONE
        assert run.y.shape[0] == 1
        assert steps <= run.report["steps"] < steps + 64, "it looks every 64 steps"


@pytest.mark.parametrize("duration", [0.5, 200.0])
def test_short_and_long_runs_give_the_same(duration, monkeypatch):
    """In the calling thread, in a worker, or first the one and then the other: the same bits."""
    found = []
    for short in (0, 128, 100_000):
        monkeypatch.setattr(kernel_choice, "SHORT_STEPS", short or 1)
        monkeypatch.setattr(kernel_choice, "SHORT_SAMPLES", 2000 if short else 0)
        found.append(da.library.pendulum().simulate(duration, samples=20, backend="native"))
    for motion in found[1:]:
        assert np.array_equal(motion.q, found[0].q)
        assert motion.timing.steps == found[0].timing.steps


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one child there")
def test_an_interrupt_ends_a_long_run():
    # A process started in the background may have been told to ignore interrupts.
    script = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import dalembert as da\n"
        "pendulum = da.library.pendulum()\n"
        "pendulum.simulate(0.1, samples=2, backend='native')\n"
        "print('ready', flush=True)\n"
        "pendulum.simulate(1e9, samples=2, backend='native')"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
        time.sleep(0.5)
        assert process.poll() is None, "it was to be a long run"
        process.send_signal(signal.SIGINT)
        # A limit that tells an answer from a run to the end, which would take hours.
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert b"KeyboardInterrupt" in errors


def test_what_counts_as_a_stall():
    assert not is_stalled(covered=50.0, longest=0.06, span=1e9)  # steady steps, long motion
    assert is_stalled(covered=1e-7, longest=0.06, span=3.0)  # collapsed
    assert is_stalled(covered=1e-12, longest=1e-15, span=3.0)  # tiny from the start
    assert not is_stalled(covered=0.1, longest=10.0, span=3.0)  # slow, but it arrives


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_chattering_is_given_up(backend):
    """sgn at rest with more friction than pull: v changes sign in every step, and the steps collapse."""
    friction = "-0.8*9.81*cos(0.3)"
    block = da.System(
        "block",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"plane": "y = x*tan(0.3)"},
        nonideal=[da.Work({"x": f"{friction}*cos(0.3)*sign(x')", "y": f"{friction}*sin(0.3)*sign(x')"})],
        initial={"x": 0, "y": 0, "x'": 1, "y'": "tan(0.3)"},
    )
    with pytest.raises(da.MotionFailed, match="chatter"):
        block.simulate(3.0, samples=3, backend=backend)


def test_an_interpolant_without_a_value_shortens_the_step():
    """The force has no value around 7/9 of the first step, where only its interpolant looks: a shorter one passes."""
    end = 5e-5  # short enough for a single step
    fall = da.System(
        "fall",
        coordinates="x",
        mass=[[1]],
        forces={"x": "2 + none*sqrt((t - middle)^2 - width^2)"},
        parameters={"none": 0, "middle": 7 / 9 * end, "width": 0.005 * end},
        initial={"x": 0, "x'": 1},
    )
    evaluation, compiler = Evaluation(fall), find_compiler()
    assert compiler is not None
    kernel = make_kernel(fall, evaluation.graph, [], (), compiler)
    y0, tolerance = np.array([0.0, 1.0, 0.0, 0.0, 0.0]), np.full(2, 1e-12)
    for times, rejected in (([0, end], 0), ([0, end / 2, end], 1)):
        run = kernel.integrate(y0, 0.0, evaluation.p, np.array(times), 1e-9, tolerance, "dop853", True)
        assert run.status == kernels.DONE
        assert run.report["rejected"] == rejected
        np.testing.assert_allclose(run.y[:, 0], np.array(times) + np.square(times), rtol=1e-14)
