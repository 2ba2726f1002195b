"""Output between steps: the interpolant of every method shows the order it promises, and costs no accuracy.

The order is fitted on single steps of given length. The first step of a run may be as long as the run where the systems
turn by a radian in a microsecond and the tolerances are loose; each fit watches that it was.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dalembert as da
from dalembert.graph.graph import graph_of
from dalembert.kernel.build import build, find_compiler
from dalembert.kernel.emit.source import kernel_source
from dalembert.kernel.kernel import Kernel, kernel_in

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="no C compiler on this machine")

# Of the interpolants: their error within one step falls with one power more.
ORDERS = {"dop853": 7, "dopri5": 4, "stiff": 3}
# Where rounding and higher orders of the error leave a straight line, as shares of a radian or so.
STEPS = {
    "dop853": np.geomspace(0.13, 0.3, 8),
    "dopri5": np.geomspace(0.05, 0.3, 8),
    "stiff": np.geomspace(0.02, 0.15, 8),
}
FAST = 1e6
INSIDE = np.linspace(0, 1, 41)


def systems() -> dict[str, da.System]:
    """A constraint on positions and one on velocities."""
    pendulum = da.library.pendulum(g=FAST**2, angle=0.3, spin=FAST)
    penny = da.library.penny()
    spun = {f"{q.name}'": float(v) * FAST for q, v in zip(penny.coordinates, penny.initial_values()[1], strict=True)}
    return {"pendulum": pendulum, "penny": penny.replace(initial=spun)}


def kernel_of(system: da.System, change: Callable[[str], str] = lambda text: text) -> Kernel:
    assert compiler is not None
    source = kernel_source(system, graph_of(system), range(len(system.constraints)), ("stiff",))
    return kernel_in(build(change(source), compiler)[0], 0.0, False)


def error_inside(kernel: Kernel, system: da.System, method: str, project: bool, step: float) -> float:
    """The largest error on one step of so many microseconds, of positions in units of the way and of velocities."""
    name = "penny" if "psi" in [q.name for q in system.coordinates] else "pendulum"
    exact = da.library.exact(name)
    assert exact is not None
    q, v, t0 = system.initial_values()
    times = t0 + step / FAST * INSIDE
    parameters = np.array([float(system.parameters[p]) for p in system.parameter_symbols])
    # More than the error of any method here, yet so small that the stages of the stiff one are solved well.
    loose = 10 * step**3 * np.repeat([1, FAST], q.size)
    run = kernel.integrate(np.concatenate([q, v, np.zeros(3)]), t0, parameters, times, 1e-9, loose, method, project)
    assert run.status == 0
    assert run.report["steps"] == 1
    truth = exact(system, times)
    n, worst = q.size, 0.0
    for k, coordinate in enumerate(system.coordinates):
        worst = max(worst, float(np.abs(run.y[:, k] - truth[coordinate.name]).max()))
        worst = max(worst, float(np.abs(run.y[:, n + k] - truth[f"{coordinate.name}'"]).max()) / FAST)
    return worst


def fitted_order(kernel: Kernel, system: da.System, method: str, project: bool) -> float:
    errors = [error_inside(kernel, system, method, project, float(step)) for step in STEPS[method]]
    return float(np.polyfit(np.log(STEPS[method]), np.log(errors), 1)[0]) - 1


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("name", ["pendulum", "penny"])
def test_order_between_steps(name: str, method: str, project: bool) -> None:
    system = systems()[name]
    order = fitted_order(kernel_of(system), system, method, project)
    # Half an order below would be a lower interpolant; on the constraints it may be higher.
    assert order > ORDERS[method] - 0.5
    assert project or order < ORDERS[method] + 1.0


WRONG = {
    # One coefficient of each, changed in its third digit.
    "dop853": ("f[4][j] = h * (10.4275", "f[4][j] = h * (10.4375"),
    "dopri5": ("-6.249321565289", "-6.259321565289"),
    "stiff": ("dense[1][j] = (d2 - d1) / c[1];", "dense[1][j] = 1.001 * (d2 - d1) / c[1];"),
}


@pytest.mark.parametrize("method", ORDERS)
def test_a_wrong_interpolant_is_seen(method: str) -> None:
    """The measure itself."""
    system = systems()["pendulum"]

    def change(text: str) -> str:
        assert WRONG[method][0] in text
        return text.replace(*WRONG[method])

    for project in (True, False):
        assert fitted_order(kernel_of(system, change), system, method, project) < ORDERS[method] - 0.5


# How many times the error at the ends of steps there may be between them: the orders of the interpolants are lower
# than those of the steps, and most so in the stiff method.
COST = {"dop853": 3.0, "dopri5": 3.0, "stiff": 100.0}


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("method", ORDERS)
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_output_between_steps_is_as_good_as_at_their_ends(rtol: float, method: str, project: bool) -> None:
    """A run always ends with a step: runs of many lengths show errors at the ends of steps."""
    system, exact = da.library.pendulum(), da.library.exact("pendulum")
    assert exact is not None

    def error(motion: da.Motion) -> np.ndarray:
        truth = exact(system, motion.t)
        return np.max([np.abs(motion[name] - truth[name]) for name in ("x", "y", "x'", "y'")], axis=0)

    options = {"rtol": rtol, "method": method, "project": project, "backend": "native"}
    between = error(system.simulate(4, samples=2001, **options))
    ends = [error(system.simulate(float(end), samples=2, **options))[-1] for end in np.linspace(0.2, 4, 40)]
    assert between.max() < COST[method] * max(ends)
