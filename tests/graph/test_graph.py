"""The numeric graph against derivations by hand and by SymPy: M, Q, A, b, C, energies, and every function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.graph.convert import Converter
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.graph import graph_of
from dalembert.model.language.vocabulary import FUNCTIONS
from dalembert.motion.state.evaluation import Evaluation

Array = np.ndarray

x, y, z = da.coordinates("x y z")
th1, th2 = da.coordinates("th1 th2")
m, g, l, k = da.parameters("m g l k")
m1, m2, l1, l2 = da.parameters("m1 m2 l1 l2")
t = da.t

# Every entry is a short formula in doubles on both sides: some tens of roundings.
ROUNDING = 1e-13


def dynamics(system: da.System, q: Any, v: Any, time: float = 0.0) -> list[Array]:
    return Evaluator(graph_of(system).dynamics)(np.asarray(q), np.asarray(v), time, system.parameter_values())


def close(found: Array, wanted: Any) -> None:
    np.testing.assert_allclose(found, np.asarray(wanted, dtype=float), rtol=ROUNDING, atol=ROUNDING)


# -- by hand -------------------------------------------------------------------------


def double_pendulum() -> da.System:
    speed = l1**2 * th1.d**2 + l2**2 * th2.d**2 + 2 * l1 * l2 * th1.d * th2.d * sp.cos(th1 - th2)
    return da.System(
        "double pendulum",
        coordinates=[th1, th2],
        kinetic=m1 * l1**2 * th1.d**2 / 2 + m2 * speed / 2,
        potential=-(m1 + m2) * g * l1 * sp.cos(th1) - m2 * g * l2 * sp.cos(th2),
        parameters={m1: 1.5, m2: 0.7, l1: 1.1, l2: 0.6, g: 9.81},
    )


def test_double_pendulum() -> None:
    a, b, p, w = 0.4, -1.3, 2.1, -0.8
    M, Q, A, rhs = dynamics(double_pendulum(), [a, b], [p, w])
    mm, coupling = 1.5 + 0.7, 0.7 * 1.1 * 0.6
    close(M, [[mm * 1.1**2, coupling * np.cos(a - b)], [coupling * np.cos(a - b), 0.7 * 0.6**2]])
    first = -coupling * np.sin(a - b) * w**2 - mm * 9.81 * 1.1 * np.sin(a)
    second = coupling * np.sin(a - b) * p**2 - 0.7 * 9.81 * 0.6 * np.sin(b)
    close(Q, [first, second])
    assert A.shape == (0, 2)
    assert rhs.shape == (0,)


def test_lagrangian_with_time_and_gyroscopic_terms() -> None:
    """L = (1+t)ẋ²/2 + x ẏ cos t − x y: p = ((1+t)ẋ, x cos t)."""
    system = da.System(
        "s",
        coordinates=[x, y],
        lagrangian=(1 + t) * x.d**2 / 2 + y.d**2 * m / 2 + x * y.d * sp.cos(t) - x * y,
        forces={y: -k * y.d},
        parameters={m: 2, k: 0.3},
    )
    X, Y, U, V, T = 0.7, -0.2, 1.1, 0.9, 0.5
    M, Q, _, _ = dynamics(system, [X, Y], [U, V], T)
    close(M, [[1 + T, 0], [0, 2]])
    close(Q, [V * np.cos(T) - Y - U, -0.3 * V - X - U * np.cos(T) + X * np.sin(T)])


def test_rheonomic_constraint() -> None:
    """A bead on a wire turning at the rate k: φ = y cos kt − x sin kt."""
    system = da.System(
        "wire",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"wire": y * sp.cos(k * t) - x * sp.sin(k * t)},
        parameters={k: 1.7},
    )
    X, Y, U, V, T = 0.3, 0.8, -0.5, 1.2, 0.9
    s, c, w = np.sin(1.7 * T), np.cos(1.7 * T), 1.7
    _, _, A, b = dynamics(system, [X, Y], [U, V], T)
    close(A, [[-s, c]])
    close(b, [2 * V * w * s + Y * w**2 * c + 2 * U * w * c - X * w**2 * s])
    phi, slope = Evaluator(graph_of(system).position)([X, Y], T, [1.7])
    close(phi, [Y * c - X * s])
    close(np.atleast_2d(slope), [[-s, c]])
    rate, by_velocity = Evaluator(graph_of(system).velocity)([X, Y], [U, V], T, [1.7])
    close(rate, [V * c - U * s - w * (Y * s + X * c)])
    close(np.atleast_2d(by_velocity), [[-s, c]])


def test_nonlinear_velocity_constraints() -> None:
    system = da.System(
        "s",
        coordinates=[x, y, z],
        kinetic=(x.d**2 + y.d**2 + z.d**2) / 2,
        constraints={
            "cone": x.d**2 + y.d**2 - z.d**2 - 2 * k * (1 + sp.sin(2 * t) / 2),
            "cubic": x * y.d**3 - sp.sin(z) * x.d - t,
        },
        parameters={k: 0.5},
    )
    X, Y, Z, U, V, W, T = 0.3, 0.4, 0.5, 1.5, -0.7, 0.9, 0.2
    _, _, A, b = dynamics(system, [X, Y, Z], [U, V, W], T)
    close(A, [[2 * U, 2 * V, -2 * W], [-np.sin(Z), 3 * X * V**2, 0]])
    close(b, [2 * 0.5 * np.cos(2 * T), -(U * V**3 - np.cos(Z) * W * U - 1)])
    psi, _ = Evaluator(graph_of(system).velocity)([X, Y, Z], [U, V, W], T, [0.5])
    close(psi, [U**2 + V**2 - W**2 - (1 + np.sin(2 * T) / 2), X * V**3 - np.sin(Z) * U - T])


def test_mass_form_has_no_inertial_terms() -> None:
    """With M and forces given, Q is the forces less the gradient of the potential, whatever M depends on."""
    system = da.System(
        "s",
        coordinates=[x, y],
        mass=[[1 + x**2, x * y + t], [x * y + t, 3 + y**2]],
        potential=x * y**2,
        forces={x: -k * x.d, y: t},
        parameters={k: 0.3},
    )
    X, Y, U, V, T = 0.7, -0.2, 1.1, 0.9, 0.5
    M, Q, _, _ = dynamics(system, [X, Y], [U, V], T)
    close(M, [[1 + X**2, X * Y + T], [X * Y + T, 3 + Y**2]])
    close(Q, [-0.3 * U - Y**2, T - 2 * X * Y])
    energy, explicit, force, inertial = Evaluator(graph_of(system).energy)([X, Y], [U, V], T, [0.3])
    close(energy, [((1 + X**2) * U**2 + 2 * (X * Y + T) * U * V + (3 + Y**2) * V**2) / 2 + X * Y**2])
    # ½ q̇ᵀṀq̇ with Ṁ = [[2XU, UY + XV + 1], [·, 2YV]].
    close(explicit, [X * U**3 + (U * Y + X * V + 1) * U * V + Y * V**3])
    close(force, [-0.3 * U, T])
    close(inertial, [0, 0])


def test_linear_acceleration_constraints() -> None:
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"h": x * x.dd + t * y.dd - x.d**2, "hidden": (x.dd + 1) ** 2 - (x.dd - 1) ** 2 - y},
    )
    X, Y, U, V, T = 0.7, -0.2, 1.1, 0.9, 0.5
    assert graph_of(system).nonlinear == ()
    _, _, A, b = dynamics(system, [X, Y], [U, V], T)
    close(A, [[X, T], [4, 0]])
    close(b, [U**2, Y])


def test_nonlinear_acceleration_constraints() -> None:
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"linear": y.dd - x, "circle": x.dd**2 + y * y.dd**2 - 4},
    )
    graph = graph_of(system)
    assert graph.nonlinear == (1,)
    h, slope, curvature = Evaluator(graph.acceleration)([0.1, 0.7], [0, 0], [1.5, -2.0], 0.0, [], [3.0])
    close(h, [1.5**2 + 0.7 * 4 - 4])
    close(np.atleast_2d(slope), [[3.0, -2.8]])
    close(curvature, 3.0 * np.diag([2, 2 * 0.7]))
    _, _, A, b = dynamics(system, [0.1, 0.7], [0, 0])
    close(A, [[0, 1], [0, 0]])
    close(b, [0.1, 0])


def test_levels_keep_the_order_of_the_constraints() -> None:
    rows = {"v": x.d - y, "p": x - z**2, "a": z.dd - x.d, "w": y.d * z.d - 1}
    system = da.System("s", coordinates=[x, y, z], kinetic=x.d**2 + y.d**2 + z.d**2, constraints=rows)
    q, v = [0.1, 0.2, 0.3], [1.0, 2.0, 4.0]
    _, _, A, b = dynamics(system, q, v)
    close(A, [[1, 0, 0], [1, 0, -0.6], [0, 0, 1], [0, 4, 2]])
    close(b, [2, 32, 1, 0])
    graph = graph_of(system)
    assert graph.position_rows == (1,)
    assert graph.velocity_rows == (0, 3)
    # (φ̇, ψ): the position rows come first.
    close(Evaluator(graph.velocity)(q, v, 0.0, [])[0], [1 - 2 * 0.3 * 4, 1 - 0.2, 7])


def test_laws_are_added_up() -> None:
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"c": y},
        nonideal=[da.Work({x: -k * x.d, y: da.ideal(x) * t}), da.Work({x: da.actual(y) ** 2})],
        parameters={k: 0.3},
    )
    graph = graph_of(system)
    C, slope, _ = Evaluator(graph.work)([0, 0], [2, 3], 0.5, [0.3], [7, 8], [9, 10], [0])
    close(C, [-0.6 + 100, 3.5])
    close(slope, [[0, 20], [0, 0]])
    assert graph.uses_reactions
    assert graph.uses_actual


# -- by SymPy -------------------------------------------------------------------------


def symbolic(system: da.System) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix, sp.Matrix]:
    """M, Q, A, b of section 1 of the theory, by SymPy's differentiation."""
    clock = sp.Symbol("clock")  # by t itself SymPy's derivative would take coordinates for constants

    def explicit(expression: sp.Expr) -> sp.Expr:
        return sp.diff(expression.subs(t, clock), clock).subs(clock, t)

    q, v, a = sp.Matrix(system.coordinates), sp.Matrix(system.velocities), sp.Matrix(system.accelerations)
    F = sp.Matrix([system.forces.get(c, 0) for c in system.coordinates])
    potential = system.potential or sp.Integer(0)
    if system.mass is not None:
        M, Q = sp.Matrix(system.mass), F - sp.Matrix([potential]).jacobian(q).T
    else:
        L = system.lagrangian if system.lagrangian is not None else system.kinetic - potential
        momentum = sp.Matrix([L]).jacobian(v).T
        M = momentum.jacobian(v)
        Q = F + sp.Matrix([L]).jacobian(q).T - momentum.jacobian(q) * v - momentum.applyfunc(explicit)

    def total(expression: sp.Expr) -> sp.Expr:
        one = sp.Matrix([expression])
        return (one.jacobian(q) * v + one.jacobian(v) * a)[0] + explicit(expression)

    rows, right = [], []
    for constraint in system.constraints:
        h = constraint.expression
        for _ in range(("acceleration", "velocity", "position").index(constraint.level)):
            h = total(h)
        rows.append(sp.Matrix([h]).jacobian(a))
        right.append(-h.subs(dict.fromkeys(a, 0)))
    n = len(q)
    return M, Q, sp.Matrix.vstack(sp.zeros(0, n), *rows), sp.Matrix(len(right), 1, right)


def spherical() -> da.System:
    r, th, ph = da.coordinates("r th ph")
    return da.System(
        "spherical",
        coordinates=[r, th, ph],
        kinetic=m * (r.d**2 + r**2 * th.d**2 + r**2 * sp.sin(th) ** 2 * ph.d**2) / 2,
        potential=m * g * r * sp.cos(th) + sp.exp(-t) / r,
        forces={ph: -k * ph.d**3},
        constraints={"swing": r - 2 - sp.sin(t) / 3, "law": th.d * ph.d - r * sp.cos(ph)},
        parameters={m: 1.3, g: 9.81, k: 0.2},
    )


def driven_cart() -> da.System:
    return da.System(
        "driven cart",
        coordinates=[x, th1],
        kinetic=(m1 + m2) * (x.d + sp.cos(t)) ** 2 / 2 + m2 * l * x.d * th1.d * sp.cos(th1) + m2 * l**2 * th1.d**2 / 2,
        potential=-m2 * g * l * sp.cos(th1) + k * x**4 / 4,
        forces={x: -sp.Abs(x.d) * x.d, th1: sp.tanh(th1.d) * t},
        constraints={"a": sp.exp(x) * th1 - t**2, "h": x.dd * th1 - x.d * th1.d + sp.sqrt(1 + x**2)},
        parameters={m1: 1, m2: 0.4, l: 0.8, g: 9.81, k: 3},
    )


def surface() -> da.System:
    """Metric of a curved surface as a mass matrix with time in it."""
    return da.System(
        "surface",
        coordinates=[x, y],
        mass=[[2 + sp.cos(y) ** 2, sp.sin(x) * t / 4], [sp.sin(x) * t / 4, 1 + x**2]],
        potential=sp.log(1 + x**2 + y**2) * (1 + t),
        forces={x: y.d, y: -x.d},
        constraints={"knife": x.d * sp.sin(y) - y.d * sp.cos(y) + t},
    )


@pytest.mark.parametrize("build", [double_pendulum, spherical, driven_cart, surface], ids=lambda f: f.__name__)
def test_agrees_with_symbolic_differentiation(build: Callable[[], da.System]) -> None:
    system = build()
    n = len(system.coordinates)
    wanted = symbolic(system)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v, time = rng.uniform(0.3, 1.2, n), rng.normal(size=n), float(rng.uniform(0.1, 2))
        place = dict(zip((*system.coordinates, *system.velocities), (*q, *v), strict=True)) | {t: time}
        place |= {symbol: float(value) for symbol, value in system.parameters.items()}
        for found, exact in zip(dynamics(system, q, v, time), wanted, strict=True):
            number = np.array(exact.subs(place).evalf(), dtype=float).reshape(found.shape)
            # Terms of size up to about 100 cancel here and there: two more digits than one rounding.
            np.testing.assert_allclose(found, number, rtol=1e-11, atol=1e-11)


# -- functions -------------------------------------------------------------------------

NUMPY: dict[str, Callable[..., Any]] = {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "abs": np.abs,
    "Abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
}
POINTS = [(0.3, -0.7), (-0.6, 0.2), (0.9, 0.9), (-0.2, -0.4)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_the_language(name: str) -> None:
    count = FUNCTIONS[name][2]
    text = f"{name}(x)" if count == 1 else f"{name}(x, y)"
    system = da.System("s", coordinates=[x, y], kinetic="x'^2 + y'^2", forces={"x": text})
    numeric = NUMPY.get(name) or getattr(np, name)
    for a, b in POINTS:
        if name in ("log", "sqrt"):
            a = abs(a)
        if name == "acosh":
            a = 1 + abs(a)
        arguments = (a,) if count == 1 else (a, b)
        assert dynamics(system, [a, b], [0, 0])[1][0] == pytest.approx(float(numeric(*arguments)), rel=4e-16), name


MORE: list[tuple[sp.Expr, Callable[[float, float], float]]] = [
    (x**17, lambda a, b: a**17),
    (x**16, lambda a, b: a**16),
    (x**-3, lambda a, b: a**-3),
    (x**5 / y**4, lambda a, b: a**5 / b**4),
    ((1 + x**2) ** sp.Rational(3, 2), lambda a, b: (1 + a * a) ** 1.5),
    ((1 + x**2) ** sp.Rational(-1, 2), lambda a, b: 1 / np.sqrt(1 + a * a)),
    ((1 + x**2) ** y, lambda a, b: (1 + a * a) ** b),
    (2**x, lambda a, b: 2**a),
    (2 ** (-x) / y, lambda a, b: 2**-a / b),
    (sp.exp(-x) / 3, lambda a, b: np.exp(-a) / 3),
    (sp.sqrt(2) * x / 2, lambda a, b: np.sqrt(2) * a / 2),
    (sp.pi * x + sp.E, lambda a, b: np.pi * a + np.e),
    (sp.sin(1) * x, lambda a, b: np.sin(1) * a),
    (sp.Min(x, y, 0), lambda a, b: min(a, b, 0)),
    (sp.Max(x, -x, y), lambda a, b: max(a, -a, b)),
    (sp.sec(x) + sp.csc(x) + sp.cot(x), lambda a, b: 1 / np.cos(a) + 1 / np.sin(a) + 1 / np.tan(a)),
    (
        sp.asinh(x) + sp.acosh(2 + x) + sp.atanh(x),
        lambda a, b: np.arcsinh(a) + np.arccosh(2 + a) + np.arctanh(a),
    ),
    (sp.floor(3 * x) + sp.ceiling(3 * x), lambda a, b: np.floor(3 * a) + np.ceil(3 * a)),
    (sp.Heaviside(x), lambda a, b: float(a > 0)),
    (
        sp.Piecewise((x, x < 0), (y, x > sp.Rational(1, 2)), (1, True)),
        lambda a, b: a if a < 0 else b if a > 0.5 else 1,
    ),
    (
        sp.Piecewise((1, (x > 0) & (y > 0)), (2, (x > 0) | (y > 0)), (3, True)),
        lambda a, b: 3 - (a > 0) - (b > 0),
    ),
]


@pytest.mark.parametrize(("expression", "numeric"), MORE, ids=[str(e) for e, _ in MORE])
def test_more_of_sympy(expression: sp.Expr, numeric: Callable[[float, float], float]) -> None:
    system = da.System("s", coordinates=[x, y], kinetic=x.d**2 + y.d**2, forces={x: expression})
    for a, b in POINTS:
        # Products are grouped differently: a few roundings.
        assert dynamics(system, [a, b], [0, 0])[1][0] == pytest.approx(numeric(a, b), rel=1e-14)


@pytest.mark.parametrize(
    "expression", [sp.gamma(x), sp.Function("f")(x), sp.besselj(0, x), sp.Derivative(sp.sin(x), x)]
)
def test_what_has_no_numeric_form_is_refused(expression: sp.Expr) -> None:
    with pytest.raises(da.ModelError):
        da.System("s", coordinates=[x], kinetic=x.d**2, forces={x: expression}, initial={x: 1, x.d: 0}).at()


def test_a_stray_symbol_is_refused() -> None:
    with pytest.raises(da.ModelError, match="stray"):
        Converter({})(sp.Symbol("stray"))


# -- rates -------------------------------------------------------------------------


def damped() -> da.System:
    """Nonideal, with a velocity constraint and explicit time."""
    return da.System(
        "damped",
        coordinates=[x, y, z],
        lagrangian=(1 + t / 3) * x.d**2 / 2
        + y.d**2
        + z.d**2 * (1 + x**2) / 2
        + x.d * y * sp.sin(t)
        - x * y * z
        + t * y,
        forces={x: -k * x.d, z: sp.cos(t)},
        constraints={"knife": x.d * sp.sin(z) - y.d * sp.cos(z) - t / 5},
        nonideal=[da.Work({x: -x.d, y: 0.3 * z.d, z: -(z.d**3)})],
        parameters={k: 0.4},
    )


@pytest.mark.parametrize("build", [double_pendulum, spherical, driven_cart, surface, damped], ids=lambda f: f.__name__)
def test_rate_of_energy(build: Callable[[], da.System]) -> None:
    """dE/dt along the motion is the power of forces that are not potential plus that of explicit time."""
    system = build()
    evaluation, n = Evaluation(system), len(system.coordinates)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q, v, time = rng.uniform(0.3, 1.2, n), rng.normal(size=n), float(rng.uniform(0.1, 2))
        solution = evaluation.solve(q, v, time)
        a, e = solution.acceleration, evaluation.energetics(q, v, time)
        power = v @ (e.forces + solution.ideal + solution.nonideal) + e.explicit
        h = 1e-4
        ahead, behind = (evaluation.energetics(q + s * v + s * s * a / 2, v + s * a, time + s).energy for s in (h, -h))
        # Central differences at h = 1e-4 leave h² times third derivatives (1e-8 times up to 1e4 here) and
        # rounding of 1e-16/h; a wrong term would show at the size of the power itself.
        size = 1 + abs(power) + float(np.abs(a).max()) ** 2
        assert (ahead - behind) / (2 * h) == pytest.approx(power, abs=1e-6 * size)


@pytest.mark.parametrize("build", [spherical, driven_cart, surface, damped], ids=lambda f: f.__name__)
def test_rates_of_constraints(build: Callable[[], da.System]) -> None:
    """φ̇ is the rate of φ, and A q̈ − b that of (φ̇, ψ), by central differences along any smooth path."""
    system = build()
    evaluation, n = Evaluation(system), len(system.coordinates)
    graph = graph_of(system)
    rng = np.random.default_rng(7)
    q, v, a, time = rng.uniform(0.3, 1.2, n), rng.normal(size=n), rng.normal(size=n), 0.7
    h = 1e-4

    def along(measure: Callable[[Array, Array, float], Array]) -> Array:
        ends = [measure(q + s * v + s * s * a / 2, v + s * a, time + s) for s in (h, -h)]
        return (ends[0] - ends[1]) / (2 * h)

    rates = evaluation.velocity(q, v, time)[0]
    # Error h² times third derivatives, which stay below 100 here.
    count = len(graph.position_rows)
    moved = along(lambda q, v, t: evaluation.position(q, t)[0])
    np.testing.assert_allclose(moved, rates[:count], atol=1e-6)
    _, _, A, b = evaluation.dynamics(q, v, time)
    order = [*graph.position_rows, *graph.velocity_rows]
    moved = along(lambda q, v, t: evaluation.velocity(q, v, t)[0])
    np.testing.assert_allclose(moved, (A @ a - b)[order], atol=1e-6)


def test_inertial_forces_are_what_the_kinetic_energy_gives() -> None:
    """Q = impressed + inertial: nothing is inertial at rest; with T and V apart, impressed is F − ∂V/∂q."""
    system = spherical()
    evaluation = Evaluation(system)
    q, v, time = np.array([1.3, 0.6, 0.9]), np.array([0.4, -1.1, 2.0]), 0.3
    Q = evaluation.dynamics(q, v, time)[1]
    e = evaluation.energetics(q, v, time)
    r, th, _ = q
    gradient = [
        1.3 * 9.81 * np.cos(th) - np.exp(-time) / r**2,
        -1.3 * 9.81 * r * np.sin(th),
        0,
    ]
    close(Q - e.inertial, np.array([0, 0, -0.2 * 2.0**3]) - gradient)
    close(evaluation.energetics(q, 0 * v, time).inertial, [0, 0, 0])


def test_the_graph_is_made_once() -> None:
    """For one structure: other values share it, other expressions do not."""
    system = double_pendulum()
    assert graph_of(system) is graph_of(system)
    values = system.replace(parameters={symbol.name: 3 for symbol in system.parameters})
    assert graph_of(system) is graph_of(values)
    assert graph_of(system) is not graph_of(system.replace(forces={system.coordinates[0]: 1}))


def test_results_are_fresh_arrays() -> None:
    evaluate = Evaluator(graph_of(double_pendulum()).dynamics)
    p = double_pendulum().parameter_values()
    first = evaluate([0.1, 0.2], [0, 0], 0.0, p)[0]
    kept = first.copy()
    evaluate([1.1, 2.2], [0, 0], 0.0, p)
    np.testing.assert_array_equal(first, kept)
