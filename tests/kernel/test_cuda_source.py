"""One CUDA source for many motions: here compiled as plain C, where a loop takes the place of the threads."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, trapezoid

import dalembert as da
from dalembert.errors import DoesNotApply
from dalembert.kernel.build import find_compiler
from dalembert.kernel.cuda import run as runner
from dalembert.kernel.cuda.reals import in_chosen_precision
from dalembert.kernel.cuda.step import second_order, slope_rows
from dalembert.kernel.emit.saddle import Saddle
from dalembert.library.systems.penny import exact
from dalembert.methods.table import METHODS
from dalembert.motion.export import cuda_program

from .fake_cupy import fake_cupy
from .nvrtc import compile_with_nvrtc, find_nvrtc

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
SPEEDS, TURNS = np.array([0.6, 1.0, 1.4]), np.array([0.7, 1.0, 1.3])


@pytest.fixture(autouse=True)
def _without_gpu(monkeypatch, request):
    if "gpu" not in request.keywords:
        monkeypatch.setattr(runner, "_cupy", fake_cupy)
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")  # of the CPU: nothing else is compiled


def crank_and_slider(length: float) -> da.System:
    """Crank of length 1 and a rod; where they are equally long it passes a singular configuration at a = π/2."""
    return da.System(
        "crank and slider",
        coordinates="a b x",
        kinetic="(a'^2 + b'^2 + x'^2)/2",
        constraints={"along": "cos(a) + l*cos(b) - x", "across": "sin(a) - l*sin(b)"},
        parameters={"l": length},
        initial={"a": 0, "b": 0, "x": "1 + l", "a'": 1, "b'": "1/l", "x'": 0},
    )


@needs_compiler
@pytest.mark.parametrize(
    ("name", "duration", "method"),
    [("penny", 8.0, "dop853"), ("appell_hamel", 3.0, "dop853"), ("pendulum", 3.0, "dopri5")],
)
def test_members_agree_with_motions_of_the_cpu(name, duration, method):
    system = getattr(da.library, name)()
    run = system.prepare(duration, samples=31, method=method).run()
    program = cuda_program(system, duration, method=method, rolled=True).program
    part = runner.run(program, {}, keep=True, samples=31)
    assert part.status.tolist() == [0]
    # The same steps but for rounding: one more or less where the last ends a rounding before the end.
    assert abs(int(part.steps[0]) - run.timing.steps) <= 1
    # Rounding in step sizes moves a motion by a share of its error, here about 1e-9: far less in the end of a step …
    expected = np.concatenate([run.q, run.v], axis=1)
    np.testing.assert_allclose(part.final[0], expected[-1], rtol=0, atol=1e-10)
    # … than between steps, where the interpolant errs by more.
    np.testing.assert_allclose(part.samples[0], expected, rtol=0, atol=2e-9)


@needs_compiler
def test_pennies_follow_their_closed_form():
    system = da.library.penny(v0=1.0)
    values = {"v0": SPEEDS, "omega": TURNS}
    part = runner.run(cuda_program(system, 10.0).program, values)
    names = [*(x.name for x in system.coordinates), *(x.name for x in system.velocities)]
    for k in range(3):
        own = exact(system.replace(parameters={"v0": SPEEDS[k], "omega": TURNS[k]}), np.array([10.0]))
        # rtol 1e-9, errors that add up over ten units of time and a path of about ten.
        np.testing.assert_allclose(part.final[k], [own[name][0] for name in names], rtol=0, atol=1e-8)


@needs_compiler
def test_a_loop_over_stages_and_copies_of_them_agree():
    system = da.library.penny(v0=1.0)
    ends = [
        runner.run(cuda_program(system, 5.0, rolled=rolled).program, {"v0": SPEEDS}).final for rolled in (False, True)
    ]
    # The same sums in another order.
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12)


@needs_compiler
def test_single_precision_is_computed_in_single_precision():
    program = cuda_program(da.library.penny(v0=1.0), 5.0).program
    double = runner.run(program, {"v0": SPEEDS})
    single = runner.run(program, {"v0": SPEEDS}, single=True, rtol=1e-5)
    assert single.final.dtype == np.float32
    assert single.status.tolist() == [0, 0, 0]
    distance = np.abs(single.final - double.final).max()
    # Fewer digits than 6e-8 of a path of ten in all; and not as good as double, which a stray double would be.
    assert 1e-8 < distance < 1e-3


@needs_compiler
def test_samples_inside_steps_are_as_good_as_their_ends():
    """Two masses that swing slowly together, and by 1e-11 a hundred times as fast against each other: stability limits
    the steps. Bounds as in tests/motion/test_outputs_inside_steps.py; 80 tolerances without control of the inside.
    """
    system = da.System(
        "pair",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="(x + y)^2/4 + 100^2*(x - y)^2/4",
        initial={"x": 1 + 1e-11, "y": 1 - 1e-11, "x'": 0, "y'": 0},
    )
    part = runner.run(cuda_program(system, 6.0, method="dop853").program, {}, rtol=1e-9, keep=True, samples=301)
    assert part.status.tolist() == [0]
    t, (x, _, rate, _) = np.linspace(0.0, 6.0, 301), part.samples[0].T
    np.testing.assert_allclose(x, np.cos(t) + 1e-11 * np.cos(100 * t), rtol=0, atol=1e-8)
    np.testing.assert_allclose(rate, -np.sin(t) - 1e-9 * np.sin(100 * t), rtol=0, atol=1e-8)


@needs_compiler
def test_reductions_are_those_of_the_samples():
    program = cuda_program(da.library.penny(v0=1.0), 5.0).program
    part = runner.run(program, {"v0": SPEEDS}, keep=True, reduce=True, samples=41, observe=["x", "energy", "v"])
    np.testing.assert_array_equal(part.reduced["min"], part.samples.min(axis=1))
    np.testing.assert_array_equal(part.reduced["max"], part.samples.max(axis=1))
    # Over time, by trapezoids between samples; the same sums in another order.
    times = np.linspace(0.0, 5.0, 41)
    mean, square = (trapezoid(x, times, axis=1) / 5.0 for x in (part.samples, part.samples**2))
    np.testing.assert_allclose(part.reduced["mean"], mean, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(part.reduced["rms"], np.sqrt(square), rtol=1e-13)
    # Ideal constraints and a potential: the energy is the same at all times, as far as rtol 1e-9 goes.
    assert np.ptp(part.samples[:, :, 1], axis=1).max() < 1e-8


@needs_compiler
def test_outputs_may_use_definitions():
    """Outputs of definitions and their rates were left without what these stand for, and ended in a KeyError."""
    throw = da.System(
        "throw",
        coordinates="x",
        kinetic="x'^2/2",
        forces={"x": "-g"},
        definitions={"height": "2*x + h0"},
        outputs={"up": "height", "speed": "height'"},
        parameters={"g": 10.0, "h0": 3.0},
        initial={"x": 0, "x'": 4},
    )
    part = runner.run(cuda_program(throw, 1.0).program, {}, keep=True, samples=5, observe=["up", "speed"])
    t, (up, speed) = np.linspace(0.0, 1.0, 5), part.samples[0].T
    # x = 4t − 5t²: a method of order 8 takes a quadratic without error.
    np.testing.assert_allclose(up, 2 * (4 * t - 5 * t**2) + 3, rtol=0, atol=1e-13)
    np.testing.assert_allclose(speed, 2 * (4 - 10 * t), rtol=0, atol=1e-13)


@needs_compiler
def test_events_are_counted_and_end_motions():
    falling = da.System(
        "fall",
        coordinates="z",
        kinetic="m*z'^2/2",
        potential="m*g*z",
        parameters={"m": 1.0, "g": 9.81, "h": 2.0},
        initial={"z": "h", "z'": 0},
        events={"half": "z - h/2", "ground": da.Event("z", direction="falling", terminal=True)},
    )
    heights = np.array([1.0, 2.0, 50.0])
    part = runner.run(cuda_program(falling, 1.0).program, {"h": heights}, events=True)
    down = np.sqrt(2 * heights / 9.81)
    assert part.status.tolist() == [runner.EVENT, runner.EVENT, runner.DONE]
    assert part.event_count.tolist() == [[1, 1], [1, 1], [0, 0]]
    # A parabola is integrated without error, so the passages are as good as rounding makes a root.
    np.testing.assert_allclose(part.event_time[:2, 1], down[:2], rtol=1e-12)
    np.testing.assert_allclose(part.event_time[:2, 0], np.sqrt(0.5) * down[:2], rtol=1e-12)
    assert np.isnan(part.event_time[2]).all()
    np.testing.assert_allclose(part.time, [down[0], down[1], 1.0], rtol=1e-12)
    np.testing.assert_allclose(part.final[:2], np.stack([0 * down, -9.81 * down])[:, :2].T, rtol=1e-12, atol=1e-12)


@needs_compiler
def test_one_member_that_fails_leaves_the_others_alone():
    program = cuda_program(da.library.pendulum(), 2.0).program
    name = "g"
    usual = runner.run(program, {name: np.array([9.0, 10.0])})
    part = runner.run(program, {name: np.array([9.0, 1e300, 10.0])})
    assert part.status[1] != runner.DONE
    np.testing.assert_array_equal(part.final[[0, 2]], usual.final)
    few = runner.run(program, {name: 9.81}, most_steps=3)
    assert few.status.tolist() == [runner.BUDGET]
    assert few.time[0] < 2.0
    assert runner.account([few])["reasons"] == {"more steps than allowed": 1}


@needs_compiler
def test_a_passage_of_a_singular_configuration_is_left_to_the_cpu():
    # With b = a and x = 2 cos a the energy is (1 + 2 sin² a) a'², so that a = π/2 is reached after this time.
    passage = quad(lambda a: np.sqrt(1 + 2 * np.sin(a) ** 2), 0, np.pi / 2)[0]
    through = runner.run(cuda_program(crank_and_slider(1.0), 2.5).program, {})
    assert passage < 2.5
    assert through.status.tolist() == [runner.NEEDS_CPU]
    assert through.time[0] < passage
    beside = runner.run(cuda_program(crank_and_slider(2.0), 2.5).program, {})
    assert beside.status.tolist() == [runner.DONE]


@needs_compiler
@pytest.mark.parametrize("options", [{}, {"single": True, "rtol": 1e-5}])
def test_a_step_over_a_corner_of_the_constraints_is_left_to_the_cpu(options):
    """A slide in a meridian of a spindle of revolution into its edge at x = y = 0, where it would have to turn."""
    edge = da.System(
        "spindle",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="9.81*z",
        constraints={"spindle": "(sqrt(x^2 + y^2) - 0.5)^2 + z^2 = 1"},
        initial={"x": 1.2, "y": 0, "z": "-sqrt(0.51)", "x'": 0, "y'": 0, "z'": 0},
    )
    part = runner.run(cuda_program(edge, 2.0).program, {}, **options)
    assert part.status.tolist() == [runner.NEEDS_CPU]
    # The energy of the start: what is across the edge was not taken away.
    z, rates = part.final[0, 2], part.final[0, 3:]
    assert (rates**2).sum() / 2 + 9.81 * z == pytest.approx(-9.81 * 0.51**0.5, rel=1e-4)
    short = runner.run(cuda_program(edge, 0.3).program, {}, **options)
    assert short.status.tolist() == [runner.DONE]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("stick_slip", "contacts and friction"),
        ("redundant_double_pendulum", "redundant"),
        ("prescribed_acceleration", "nonlinear in the accelerations"),
    ],
)
def test_what_a_thread_cannot_do_is_said(name, reason):
    with pytest.raises(DoesNotApply, match=reason):
        cuda_program(getattr(da.library, name)(), 1.0)


def test_implicit_methods_and_kinks_are_said():
    with pytest.raises(DoesNotApply, match="explicit methods only"):
        cuda_program(da.library.penny(), 1.0, method="stiff")
    kinked = da.System("kink", coordinates="x", kinetic="x'^2/2", potential="abs(x)", initial={"x": 1, "x'": 0})
    with pytest.raises(DoesNotApply, match="kink"):
        cuda_program(kinked, 1.0)


def test_names_of_a_model_never_become_code():
    system = da.library.pendulum().replace(name="*/ int bad; /* \\")
    head = cuda_program(system, 1.0).source.text.split("*/")[0]
    assert "bad" in head
    assert "\\" not in head


def test_no_double_and_no_constant_of_it_is_left():
    text = in_chosen_precision("double x = 1.5e-3 * y[2] + .5; /* 0.2 of a double */ f(a1.b, 3, 2.);")
    assert text == "da_real x = DA_R(1.5e-3) * y[2] + DA_R(.5); /* 0.2 of a double */ f(a1.b, 3, DA_R(2.));"
    source = cuda_program(da.library.penny(), 1.0).source.text
    code = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    assert re.findall(r"\bdouble\b.*", code) == ["double da_real;"]
    assert "malloc" not in code
    assert "printf" not in code


@pytest.mark.parametrize("name", ["dop853", "dopri5"])
def test_composed_coefficients_are_products(name):
    tableau = METHODS[name].tableau
    rows = slope_rows(tableau)
    size = len(rows)
    A = np.array([[*row, *[0.0] * (size - len(row))] for row in rows])
    for row in A:
        share, twice = second_order(tuple(row), rows)
        # Sums of a dozen products of numbers up to 50.
        np.testing.assert_allclose(twice, row @ A, rtol=0, atol=1e-11)
        assert share == pytest.approx(row.sum(), abs=1e-13)


def test_the_margin_has_the_sign_of_the_pivot_over_its_limit():
    chance = np.random.default_rng(3)
    a = ca.SX.sym("a")
    # Two rows that include the angle a: the second pivot, relative to what it was, is sin² a.
    A = ca.vertcat(ca.horzcat(1, 0), ca.horzcat(ca.cos(a), ca.sin(a)))
    saddle = Saddle(ca.SX.eye(2), A)
    both = ca.Function("both", [a], [saddle.pivot(), saddle.margin(1e-2)])
    signs = set()
    for angle in chance.uniform(-0.3, 0.3, 50):
        pivot, margin = (float(x) for x in both(angle))
        assert pivot == pytest.approx(np.sin(angle) ** 2, rel=1e-9)
        assert (pivot > 1e-2) == (margin > 0)
        signs.add(margin > 0)
    assert signs == {True, False}


@pytest.mark.skipif(find_nvrtc() is None, reason="no NVRTC")
@pytest.mark.parametrize("options", [[], ["-DDA_LOOK=1", "-DDA_SINGLE=1", "-DDA_PACED=1"]])
def test_the_source_compiles_for_a_gpu(options):
    system = da.library.pendulum().replace(events={"through": "x"})
    architecture = ["--gpu-architecture=compute_90", "--std=c++14"]
    compile_with_nvrtc(find_nvrtc(), cuda_program(system, 1.0).source.text, [*architecture, *options])


@pytest.mark.gpu
def test_a_gpu_agrees_with_the_cpu():
    cupy = pytest.importorskip("cupy")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        count = 0
    if not count:
        pytest.skip("no GPU")
    system = da.library.penny(v0=1.0)
    part = runner.run(cuda_program(system, 8.0).program, {"v0": SPEEDS, "omega": TURNS}, keep=True, samples=31)
    for k in range(3):
        own = system.replace(parameters={"v0": SPEEDS[k], "omega": TURNS[k]})
        run = own.prepare(8.0, samples=31).run()
        np.testing.assert_allclose(part.final[k], [*run.q[-1], *run.v[-1]], rtol=0, atol=1e-10)
        np.testing.assert_allclose(part.samples[k], np.concatenate([run.q, run.v], axis=1), rtol=0, atol=2e-9)
