"""The Taylor method against other methods, the reference backend, closed forms, and its own promises."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.graph.graph import graph_of
from dalembert.kernel import kernel as kernels
from dalembert.kernel.build import find_compiler
from dalembert.kernel.emit import taylor
from dalembert.kernel.kernel import make_kernel
from dalembert.motion.integrate import kernel_choice, native
from dalembert.motion.state.evaluation import Evaluation

from .test_backends import angle_at_the_end, four_bar

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
# A constraint nonlinear in the accelerations; friction, whose force is found by iteration.
NOT_HERE = {"prescribed_acceleration", "thrown_block", "stick_slip", "stacked_blocks"}


@pytest.mark.parametrize("name", [name for name in da.library.names() if name not in NOT_HERE])
def test_library(name):
    system = da.library.get(name)
    # Another method, a thousand times finer, on code of its own: it is held to the reference in `test_library_motions`.
    exact = system.simulate(2.0, rtol=1e-12, samples=21, backend="native", method="dop853")
    motion = system.simulate(2.0, rtol=1e-9, samples=21, backend="native", method="taylor")
    assert motion.method == "Taylor"
    assert motion.certificate.holds
    # Global errors over two seconds stay within a thousand tolerances; outputs lie between steps.
    for found, true in ((motion.q, exact.q), (motion.v, exact.v), (motion.work, exact.work)):
        np.testing.assert_allclose(found, true, atol=1e-6 * (1 + np.abs(true).max()))


@pytest.mark.parametrize("name", ["penny", "spherical_pendulum"])
def test_substitution_instead_of_the_inverse(name, monkeypatch):
    """Larger systems solve each order with the factors of order 0; a small one must come out the same so."""
    system = da.library.get(name)
    usual = system.simulate(2.0, rtol=1e-10, samples=5, backend="native", method="taylor")
    kernels._made.clear()
    monkeypatch.setattr(taylor, "SMALL", 0)
    other = system.simulate(2.0, rtol=1e-10, samples=5, backend="native", method="taylor")
    kernels._made.clear()
    np.testing.assert_allclose(other.q, usual.q, atol=1e-13 * (1 + np.abs(usual.q).max()))  # rounding


@pytest.mark.parametrize("acts", ["0", "x"])
def test_time_and_coordinates_on_which_nothing_acts(acts):
    """Straight lines, whose products are shorter sums; a and b are joined by their inertia, and no longer straight as
    soon as something acts on one of them. DOP853 on the reference backend knows nothing of series.
    """
    forces = {
        "x": "-x*(2 + cos(a + 2*b)*exp(-t/3)) + log(3 + t)*tanh(b*a') + a'*b'*sin(a)/(2 + t^2)",
        "y": "-y*sqrt(4 + a*b')/(1 + t) + (2 + sin(a)*t)^1.5 + atan2(a + 3, 2 + t)*b'^2 + sin(x)*(a - b)",
        "b": acts,
    }
    system = da.System(
        "lines",
        coordinates="x a b y",
        kinetic="(x'^2 + y'^2)/2 + a'^2 + a'*b'/2 + b'^2",
        forces=forces,
        initial={"x": 1, "a": 0.2, "b": 0.5, "y": -1, "x'": 0.3, "a'": 0.7, "b'": -0.4, "y'": 0},
    )
    exact = system.simulate(2.0, rtol=1e-12, samples=11, backend="reference")
    motion = system.simulate(2.0, rtol=1e-10, samples=11, backend="native", method="taylor")
    assert motion.method == "Taylor"
    assert motion.certificate.holds
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-8)  # a hundred tolerances, as far as they grow in 2 s
    np.testing.assert_allclose(motion.v, exact.v, atol=1e-8)
    uniform = [1, 2] if acts == "0" else []
    assert taylor._functions(graph_of(system), [], 0.0, {})[-1] == uniform


def test_forces_that_depend_on_ideal_ones():
    """Friction by the ideal force: the second stage of every order."""
    friction = "-0.3*sqrt(ideal(x)^2 + ideal(y)^2)"
    bead = da.System(
        "bead on a rough parabola",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={"wire": "y = x^2/2"},
        nonideal=[da.Work({"x": f"{friction}*x'/sqrt(x'^2 + y'^2)", "y": f"{friction}*y'/sqrt(x'^2 + y'^2)"})],
        initial={"x": -2, "y": 2, "x'": 1, "y'": -2},
    )
    exact = bead.simulate(0.5, rtol=1e-12, samples=11, backend="reference")
    motion = bead.simulate(0.5, rtol=1e-10, samples=11, backend="native", method="taylor")
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-8)  # a hundred tolerances
    np.testing.assert_allclose(motion.work, exact.work, atol=1e-7)  # ten times as large
    assert np.abs(motion.work[-1, 2]) > 0.1


def test_order_of_convergence():
    """Within a short time the tolerance allows any step, so that steps are fixed shares of it: its power shows."""
    system = da.library.pendulum()
    evaluation = Evaluation(system)
    compiler = find_compiler()
    assert compiler is not None
    kernel = make_kernel(system, evaluation.graph, [0], ("taylor",), compiler)
    q, _, t0 = system.initial_values()
    v = np.array([-q[1], q[0]])  # along the circle
    y0 = np.concatenate([q, v, np.zeros(3)])

    def run(span: float, rtol: float) -> kernels.KernelRun:
        times, atol = np.array([t0, t0 + span]), np.full(4, 1e-3 * rtol)
        return kernel.integrate(y0, t0, evaluation.p, times, rtol, atol, "taylor", False)

    rtol = 1e-2
    order = int(np.ceil(1 - 0.9 * np.log(rtol)))
    spans = np.array([0.02, 0.04, 0.08])
    runs = [run(float(span), rtol) for span in spans]
    assert len({found.report["steps"] for found in runs}) == 1
    errors = [
        np.abs(found.y[-1, :4] - run(float(span), 1e-13).y[-1, :4]).max()
        for found, span in zip(runs, spans, strict=True)
    ]
    slope = np.polyfit(np.log(spans), np.log(errors), 1)[0]
    # The error of single steps, one order above that of many; terms of still higher order bend the line a little.
    assert order + 0.7 < slope < order + 1.3


def test_dense_output():
    """Between steps the polynomial is as good as at their ends."""
    system, truth = da.library.penny(), da.library.exact("penny")
    assert truth is not None
    motion = system.simulate(20.0, rtol=1e-10, samples=1001, backend="native", method="taylor")
    assert motion.timing.steps < 100
    exact = truth(system, motion.t)
    for name in ("x", "y", "psi", "phi"):
        # Twenty tolerances in units of the motion, which is some ten units wide.
        np.testing.assert_allclose(motion[name], exact[name], atol=2e-8)


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9, 1e-11])
def test_through_singular_configurations(rtol):
    angle = angle_at_the_end(1)
    final = four_bar(1).simulate(10, rtol=rtol, samples=2, backend="native", method="taylor").final
    # What is asked of the other methods in test_backends.
    assert final["x0"] == pytest.approx(np.cos(angle), abs=max(1e4 * rtol, 1e-6))
    assert final["y1"] == pytest.approx(np.sin(angle), abs=max(1e4 * rtol, 1e-6))


def test_a_force_that_begins_later():
    """At rest the series is almost zero, which would allow any step: the slope at its end tells."""
    push = da.System(
        "push",
        coordinates="x",
        kinetic="x'^2/2",
        forces={"x": "exp(-20*(t - 5)^2)"},
        initial={"x": 0, "x'": 0},
    )
    found = push.simulate(10.0, rtol=1e-9, samples=2, backend="native", method="taylor").final
    assert found["x'"] == pytest.approx(np.sqrt(np.pi / 20), rel=1e-7)  # a hundred tolerances


def test_redundant_constraints():
    """The series takes an independent set of them; every accepted state decides the rank."""
    rod = {"rod": "x^2 + y^2 + z^2 = l^2"}
    twice = {**rod, "again": "2*x^2 + 2*y^2 + 2*z^2 = 2*l^2"}
    finals = []
    for constraints in (rod, twice):
        system = da.System(
            "pendulum",
            coordinates="x y z",
            kinetic="m*(x'^2 + y'^2 + z'^2)/2",
            potential="m*9.81*z",
            constraints=constraints,
            parameters={"m": 2, "l": 1},
            initial={"x": 1, "y": 0, "z": 0, "x'": 0, "y'": 1, "z'": 0.5},
        )
        finals.append(system.simulate(5.0, rtol=1e-11, samples=2, backend="native", method="taylor").q[-1])
    np.testing.assert_allclose(finals[1], finals[0], atol=1e-8)  # a thousand tolerances


def test_a_singular_mass_matrix():
    """y has no mass of its own and follows x."""
    system = da.System(
        "massless",
        coordinates="x y",
        kinetic="x'^2/2",
        potential="x^2/2 + y^4/4",
        constraints={"tied": "x + y = 0"},
        initial={"x": 1, "y": -1, "x'": 0, "y'": 0},
    )
    exact = system.simulate(5.0, rtol=1e-12, samples=6, backend="reference")
    motion = system.simulate(5.0, rtol=1e-10, samples=6, backend="native", method="taylor")
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-8)  # a hundred tolerances


def test_a_chain_of_many_links():
    """Large enough for the sparse path next to singular configurations, and for substitution with kept factors."""
    count = 10
    names = [f"{axis}{k}" for k in range(count) for axis in "xy"]
    links = {
        f"link{k}": f"(x{k} - {f'x{k - 1}' if k else 0})^2 + (y{k} - {f'y{k - 1}' if k else 0})^2 = 1"
        for k in range(count)
    }
    initial = {f"x{k}": k + 1 for k in range(count)} | {f"y{k}": 0 for k in range(count)}
    chain = da.System(
        "chain",
        coordinates=" ".join(names),
        kinetic=" + ".join(f"{name}'^2/2" for name in names),
        potential=" + ".join(f"9.81*y{k}" for k in range(count)),
        constraints=links,
        initial=initial | {f"{name}'": 0 for name in names},
    )
    exact = chain.simulate(1.0, rtol=1e-11, samples=3, backend="native", method="dop853")
    motion = chain.simulate(1.0, rtol=1e-10, samples=3, backend="native", method="taylor")
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-7)  # a thousand tolerances
    assert motion.timing.steps < exact.timing.steps


def test_refused_by_name():
    kinked = da.System(
        "kinked", coordinates="x", kinetic="x'^2/2", potential="max(x, 0)^2.5", initial={"x": 1, "x'": 0}
    )  # it has no value beyond its kink, so that it stays as it is written
    with pytest.raises(da.ModelError, match=r"(max\(…\)|a condition).*no Taylor series.*dop853"):
        kinked.simulate(1.0, method="taylor")
    with pytest.raises(da.ModelError, match=r"nonlinear in the accelerations.*iteration.*dop853"):
        da.library.prescribed_acceleration().simulate(1.0, method="taylor")
    actual = da.System(
        "actual",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        constraints={"floor": "y"},
        nonideal=[da.Work({"x": "-0.1*actual(y)"})],
        initial={"x": 0, "y": 0, "x'": 1, "y'": 0},
    )
    with pytest.raises(da.ModelError, match=r"actual\(…\).*iteration.*dop853"):
        actual.simulate(1.0, method="taylor")
    with pytest.raises(da.ModelError, match=r"series do not integrate dry friction.*use method='dop853'"):
        da.library.thrown_block().simulate(1.0, method="taylor")
    with pytest.raises(da.ModelError, match="native backend only"):
        da.library.penny().simulate(1.0, method="taylor", backend="reference")


def test_without_a_compiler(monkeypatch):
    """Nobody said backend='reference': the motion is computed, and the result says how."""
    monkeypatch.setattr(kernel_choice, "find_compiler", lambda: None)
    monkeypatch.setattr(kernel_choice, "runtime_library", lambda: None)
    native._told.clear()
    with pytest.warns(UserWarning, match="no C compiler"):
        motion = da.library.penny().simulate(1.0, method="taylor", samples=3)
    assert (motion.method, motion.backend) == ("DOP853", "reference")
    assert any("taylor" in text for text in motion.warnings)
