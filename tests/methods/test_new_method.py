"""A new integrator is one entry of the table: it then runs on both backends, with its order, and messages know it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError
from dalembert.graph.graph import graph_of
from dalembert.kernel.build import find_compiler
from dalembert.kernel.emit.source import kernel_source
from dalembert.kernel.identity import identity
from dalembert.methods.order_conditions import defects
from dalembert.methods.table import METHODS, Method
from dalembert.methods.tableau import Estimate, Tableau
from kernel.test_compilers import C11, COMPILERS, CUDA, is_there, messages

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
BACKENDS = ["reference", pytest.param("native", marks=needs_compiler)]

# All that has to be written. The cubic through both ends of a step is the interpolant of any method without its own.
HEUN = Tableau(
    a=((), (1.0,)),
    b=(1 / 2, 1 / 2),
    c=(0.0, 1.0),
    order=2,
    estimates=(Estimate((-1 / 2, 1 / 2), 1),),
    limit=2.0,
)
BOGACKI_SHAMPINE = Tableau(
    a=((), (1 / 2,), (0.0, 3 / 4)),
    b=(2 / 9, 1 / 3, 4 / 9),
    c=(0.0, 1 / 2, 3 / 4),
    order=3,
    estimates=(Estimate((-5 / 72, 1 / 12, 1 / 9, -1 / 8), 2),),
)
TOYS = (
    Method("heun", "Heun", "explicit, order 2, with Euler's step for its estimate", (2,), code=21, tableau=HEUN),
    Method("bs32", "BS32", "explicit, order 3, by Bogacki and Shampine", (3,), code=32, tableau=BOGACKI_SHAMPINE),
)


@pytest.fixture(autouse=True)
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    for toy in TOYS:
        monkeypatch.setitem(METHODS, toy.name, toy)


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_its_tableau_has_its_order(toy: Method) -> None:
    assert toy.tableau is not None
    found = defects(toy.tableau)
    # The cubic is as accurate as the slopes at its ends: of order 3 for methods of order 3.
    parts = ("step", "estimate 0") if toy.name == "heun" else tuple(found)
    assert max(found[part] for part in parts) < 1e-15


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_converges_with_its_order(toy: Method, backend: str) -> None:
    """Against the closed form, with steps of given lengths: at the end of the motion, and at outputs between them."""
    system, exact = da.library.pendulum(), da.library.exact("pendulum")
    assert exact is not None
    steps, errors = (0.02, 0.01, 0.005), []
    for step in steps:
        motion = system.simulate(
            0.5, samples=38, method=toy.name, backend=backend, max_step=step, rtol=0.1, atol=1e3, project=False
        )
        assert motion.method == toy.title
        assert motion.timing.steps >= 0.5 / step
        truth = exact(system, motion.t)
        errors.append(max(float(np.abs(motion[q.name] - truth[q.name]).max()) for q in system.coordinates))
    order = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    # The steps of a few lengths only: terms of the next order are still seen.
    assert toy.orders[0] - 0.25 < order < toy.orders[0] + 0.5


@needs_compiler
@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.name)
def test_its_error_estimate_keeps_the_tolerance(toy: Method) -> None:
    system, exact = da.library.pendulum(), da.library.exact("pendulum")
    assert exact is not None
    errors = []
    for rtol in (1e-3, 1e-5):
        motion = system.simulate(2.0, samples=5, method=toy.name, rtol=rtol, backend="native")
        truth = exact(system, motion.t)
        errors.append(max(float(np.abs(motion[q.name] - truth[q.name]).max()) for q in system.coordinates))
        assert motion.certificate.holds
    # In some hundred steps errors of a tolerance each add up; two decimals of tolerance give at least one of error.
    assert errors[0] < 0.1
    assert errors[1] < 0.1 * errors[0]


def test_messages_and_backends_know_it() -> None:
    with pytest.raises(ModelError, match="bs32"):
        da.library.pendulum().simulate(1, method="bs3")
    assert METHODS["bs32"].runs_on_reference


def test_a_kernel_on_disk_is_not_mistaken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same method with another tableau makes another kernel."""
    system = da.library.pendulum()

    def key() -> str | None:
        return identity(system, graph_of(system), [0], ("heun",), 0.0)

    before = key()
    midpoint = Tableau(((), (1 / 2,)), (0.0, 1.0), (0.0, 1 / 2), 2, (Estimate((-1.0, 1.0), 1),))
    monkeypatch.setitem(METHODS, "heun", Method("heun", "Heun", "the midpoint rule", (2,), code=21, tableau=midpoint))
    assert before is not None
    assert key() != before


@needs_compiler
@pytest.mark.parametrize(("options", "suffix"), [(C11, ".c"), (CUDA, ".cpp")])
def test_its_source_compiles_without_a_warning(options: tuple[str, ...], suffix: str, tmp_path: Path) -> None:
    compiler = next(name for name in COMPILERS if is_there(name))
    system = da.library.pendulum()
    text = kernel_source(system, graph_of(system), [0], [toy.name for toy in TOYS])
    assert messages(text, compiler, options, tmp_path, suffix) == ""


def test_a_method_that_has_not_its_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Euler's method with a second stage that changes nothing, called one of order two."""
    tableau = Tableau(a=((), (1.0,)), b=(1.0, 0.0), c=(0.0, 1.0), order=2, estimates=(Estimate((0.5, -0.5), 1),))
    monkeypatch.setitem(METHODS, "false", Method("false", "false", "none", (2,), code=77, tableau=tableau))
    with pytest.raises(da.ModelError, match="its step misses the order it claims"):
        da.library.pendulum().simulate(1.0, method="false")


def test_a_code_that_another_method_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "twin", replace(METHODS["dopri5"], name="twin", in_every_kernel=False))
    with pytest.raises(da.ModelError, match="its code 5 is that of 'dopri5'"):
        da.library.pendulum().simulate(1.0, method="twin")


def test_what_the_reference_cannot_make_it_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An estimate in two parts is SciPy's own for DOP853 only."""
    other = replace(METHODS["dop853"], name="own853", scipy=None, code=78, in_every_kernel=False, instead="dop853")
    assert not other.runs_on_reference
    monkeypatch.setitem(METHODS, "own853", other)
    with pytest.raises(da.ModelError, match="runs on the native backend only"):
        da.library.pendulum().simulate(1.0, method="own853", backend="reference")
