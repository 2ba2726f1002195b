"""What needs an iteration at each state, on both backends: constraints nonlinear in q̈, and work with actual(…)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.kernel.kernel import make_kernel
from dalembert.motion.state.evaluation import Evaluation

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")

x, y, z = da.coordinates("x y z")
(mu,) = da.parameters("mu")
METHODS = ["dop853", "dopri5", "stiff"]
SPHERE = x.dd**2 + y.dd**2 + z.dd**2 - 9


def space(constraints: dict[str, sp.Expr], **changes: Any) -> da.System:
    parts: dict[str, Any] = {
        "coordinates": [x, y, z],
        "mass": [[2, 0.3, 0], [0.3, 1, -0.2], [0, -0.2, 3]],
        "forces": {x: 1 + x - y.d, y: -2 * sp.cos(da.t), z: 4 - z},
        "constraints": constraints,
        "initial": {x: 0.5, y: -0.3, z: 0.2, x.d: 1, y.d: 0.7, z.d: -0.4},
    }
    return da.System("in space", **{**parts, **changes})


def both(
    system: da.System, duration: float, shared: tuple[str, ...] = (), **options: Any
) -> tuple[da.Motion, da.Motion]:
    """The motion on both backends. shared: the constraints of which it must be told that they share a load anyhow."""
    one = system.simulate(duration, samples=11, backend="reference", **options)
    two = system.simulate(duration, samples=11, backend="native", **options)
    assert two.backend == "native"
    assert two.certificate.undetermined == shared
    assert two.certificate.failures == (("unique",) if shared else ())
    assert len(two.warnings) == bool(shared)
    return one, two


def same(one: da.Motion, two: da.Motion, tolerance: float) -> None:
    for name in ("q", "v", "a", "ideal", "nonideal", "work"):
        mine, other = getattr(two, name), getattr(one, name)
        np.testing.assert_allclose(mine, other, atol=tolerance * (1 + np.abs(other).max()), err_msg=name)
    np.testing.assert_array_equal(two.rank, one.rank)


CURVED: dict[str, da.System] = {
    "sphere": space({"a": SPHERE}),
    "ellipsoid with velocities": space({"a": x.dd**2 + 2 * y.dd**2 + z.dd**2 * (1 + x.d**2) - 4}),
    "cubic": space({"a": x.dd**3 + y.dd - z.dd - 2}),
    "exponential": space({"a": sp.exp(x.dd / 3) + z.dd - 3}),
    "sphere and plane": space({"a": SPHERE, "b": x.dd + y.dd - z.dd + 1}),
    "two spheres": space({"a": SPHERE, "b": (x.dd - 1) ** 2 + y.dd**2 + z.dd**2 - 8}),
    "with a velocity constraint": space({"b": x.d * y.d - sp.Rational(7, 10), "a": SPHERE}),
    "with a position constraint": space(
        {"b": z - sp.Rational(1, 5), "a": SPHERE}, initial={x: 0, y: 0, z: 0.2, x.d: 1, y.d: 1, z.d: 0}
    ),
    "with a repeated constraint": space({"a": SPHERE, "b": x.d - 1, "c": 2 * x.d - 2}),
    "with work": space({"a": SPHERE}, nonideal=[da.Work({x: -x.d, y: 2 * z})]),
    "with work of the ideal force": space({"a": SPHERE}, nonideal=[da.Work({y: da.ideal(x) / 3})]),
    "singular mass": space(
        {"a": sp.exp(x.dd / 3) + z.dd - 3}, mass=[[2, 0.3, 0], [0.3, 1, 0], [0, 0, 0]], forces={x: 1 + x, y: 2, z: 0.5}
    ),
}


@pytest.mark.parametrize("name", CURVED)
def test_nonlinear_in_the_accelerations(name: str) -> None:
    # Two integrators at rtol 1e-10 over half a second: within a few hundred tolerances.
    same(*both(CURVED[name], 0.5, rtol=1e-10), 1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_methods_follow_a_branch(method: str) -> None:
    # A few hundred tolerances; slopes by differences in the stiff method do not enter its accuracy.
    same(*both(CURVED["with work"], 1.0, rtol=1e-8, method=method), 1e-5)


@pytest.mark.parametrize("name", CURVED)
def test_accelerations_on_a_branch(name: str) -> None:
    """At many states near the motion, from the acceleration at the start of it."""
    system = CURVED[name]
    evaluation = Evaluation(system)
    q, v, t = system.initial_values()
    start = evaluation.solve(q, v, t)
    near = evaluation.branch_accelerations(start)
    compiler = find_compiler()
    assert compiler is not None
    rows = [int(k) for k in np.flatnonzero(~start.dependent)]
    kernel = make_kernel(system, evaluation.graph, rows, (), compiler)
    rng = np.random.default_rng(5)
    for _ in range(50):
        # Constraints on q and q̇ do not hold at these states; the equations of motion do not ask.
        Q, V = q + 0.05 * rng.normal(size=3), v + 0.05 * rng.normal(size=3)
        exact = evaluation.solve(Q, V, t, None, near).acceleration
        for way in (0, 2):
            found = kernel.slope(np.concatenate([Q, V, np.zeros(3)]), t, evaluation.p, way, near)
            # Newton stops at 1e-13; rounding is magnified by the curvature, below a hundred here.
            np.testing.assert_allclose(found[3:6], exact, atol=1e-10)


def test_a_branch_that_is_not_the_least_is_followed() -> None:
    """The force turns about: what was the nearest acceleration becomes the farther one, and stays the motion."""
    system = space({"a": x.dd**2 - 4}, mass=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], forces={x: 1 - da.t})
    one, two = both(system, 2.0)
    np.testing.assert_allclose(two["x''"], 2, rtol=1e-12)
    same(one, two, 1e-8)


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (x.dd**2 + y.dd**2 - 4, "branches of accelerations meet"),
        (x.dd**2 + da.t - 1, "branch of accelerations .* ends"),
    ],
)
def test_the_end_of_a_branch_is_told(constraint: sp.Expr, words: str, backend: str) -> None:
    system = da.System(
        "plane",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        forces={x: 1 - da.t},
        constraints={"size": constraint},
        initial={x: 0, y: 0, x.d: 0, y.d: 0},
    )
    with pytest.raises(da.MotionFailed, match=f"'size': .*{words}") as caught:
        system.simulate(2, samples=21, backend=backend)
    assert caught.value.motion is not None
    assert 0.85 < caught.value.motion.t[-1] <= 1


def pressed(law: dict[Any, Any], **changes: Any) -> da.System:
    """Inertia couples x and y, so that work along x changes the force that holds y."""
    parts: dict[str, Any] = {
        "coordinates": [x, y, z],
        "mass": [[2, 1, 0], [1, 2 + sp.cos(x) / 2, 0.3], [0, 0.3, 1]],
        "forces": {x: 3, y: -5 - sp.sin(x), z: -z},
        "constraints": {"floor": y - x**2 / 10},
        "nonideal": [da.Work(law)],
        "parameters": {mu: 0.3},
        "initial": {x: 0.5, y: 0.025, z: 1, x.d: 1, y.d: 0.1, z.d: 0},
    }
    return da.System("pressed", **{**parts, **changes})


PRESSED: dict[str, da.System] = {
    "linear": pressed({x: -mu * da.actual(y)}),
    "size": pressed({x: -mu * sp.sqrt(da.actual(x) ** 2 + da.actual(y) ** 2) * x.d}),
    "absolute value": pressed({x: -mu * sp.Abs(da.actual(y))}),
    "square": pressed({x: -mu / 20 * da.actual(y) ** 2}),
    "both forces": pressed({x: -mu * da.actual(y), z: -mu * da.ideal(y) * z.d}),
    "repeated constraint": pressed(
        {x: -mu * da.actual(y)}, constraints={"floor": y - x**2 / 10, "again": 2 * y - x**2 / 5}
    ),
    "nonholonomic": pressed(
        {x: -mu * da.actual(z)}, constraints={"floor": y - x**2 / 10, "cart": z.d - y * x.d + 0.025}
    ),
    "singular mass": pressed({x: -mu * da.actual(y)}, mass=[[2, 0, 0], [0, 0, 0], [0, 0, 1]]),
}


FLOOR, CART = da.multiplier("floor"), da.multiplier("cart")
TWICE = {"floor": y - x**2 / 10, "again": 2 * y - x**2 / 5}
ROLLING = {"floor": y - x**2 / 10, "cart": z.d - y * x.d + 0.025}
MULTIPLIED: dict[str, da.System] = {
    "no work": pressed({}, nonideal=[]),
    "work of the ideal force": pressed({x: -mu * da.ideal(y)}),
    "linear": pressed({x: -mu * FLOOR}),
    "absolute value": pressed({x: -mu * sp.Abs(FLOOR) * x.d, z: mu * FLOOR}),
    "square": pressed({x: -mu / 20 * FLOOR**2}),
    "with other forces": pressed({x: -mu * FLOOR + da.actual(y) / 10, z: -mu * da.ideal(y) * z.d}),
    "of each other": pressed({x: -mu * CART, z: mu * FLOOR / 3}, constraints=ROLLING),
    "repeated, no work": pressed({}, nonideal=[], constraints=TWICE),
    "repeated": pressed({x: -mu * da.multiplier("again"), z: FLOOR / 9}, constraints=TWICE),
    "repeated rates": pressed(
        {x: -mu * da.multiplier("again")}, constraints={**ROLLING, "again": 3 * z.d - 3 * y * x.d + 0.075}
    ),
    "singular mass, no work": pressed({}, nonideal=[], mass=[[2, 0, 0], [0, 0, 0], [0, 0, 1]]),
    "singular mass": pressed({x: -mu * FLOOR}, mass=[[1, 1, 0], [1, 1, 0], [0, 0, 1]]),
}


# Work that depends on one of two equal constraints: a choice, which both backends make alike.
SHARED = {"repeated": ("floor", "again"), "repeated rates": ("cart", "again")}


@pytest.mark.parametrize("name", MULTIPLIED)
def test_multipliers_in_work_and_events(name: str) -> None:
    system = MULTIPLIED[name]
    watched = {f"{c.name} passes": da.multiplier(c.name) * sp.cos(3 * da.t) + sp.sin(5 * x) for c in system.constraints}
    one, two = both(system, 1.0, SHARED.get(name, ()), rtol=1e-10, events=watched)
    # As above: within a few hundred tolerances.
    same(one, two, 1e-7)
    np.testing.assert_allclose(two.multipliers, one.multipliers, atol=1e-7)
    assert one.events
    assert [(e["name"], e["direction"]) for e in two.events] == [(e["name"], e["direction"]) for e in one.events]
    np.testing.assert_allclose([e["t"] for e in two.events], [e["t"] for e in one.events], atol=1e-8)


@pytest.mark.parametrize("name", PRESSED)
def test_work_with_the_actual_force(name: str) -> None:
    # Two integrators at rtol 1e-10 over a second: within a few hundred tolerances.
    same(*both(PRESSED[name], 1.0, rtol=1e-10), 1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_methods_with_the_actual_force(method: str) -> None:
    same(*both(PRESSED["size"], 1.0, rtol=1e-8, method=method), 1e-5)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_force_that_no_longer_agrees_with_its_work(backend: str) -> None:
    """λ = 6.5 + C/2 with C = t (20 + λ²): from the time when the parabola in λ has no root."""
    system = da.System(
        "coupled",
        coordinates=[x, y],
        mass=[[2, 1], [1, 2]],
        forces={x: 3, y: -5},
        constraints={"floor": y},
        nonideal=[da.Work({x: da.t * 20 + da.t * da.actual(y) ** 2})],
        initial={x: 0, y: 0, x.d: 1, y.d: 0},
    )
    with pytest.raises(da.MotionFailed, match="no constraint force found that agrees with the work"):
        system.simulate(2, samples=21, backend=backend)
