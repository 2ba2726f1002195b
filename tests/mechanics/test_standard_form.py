"""M, Q, A, b, C by hand for the three ways of inertia and the three levels of constraint."""

from __future__ import annotations

import sympy as sp
from sympy import cos, sin
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.mechanics.standard_form import standard_form, time_derivative

x, y, theta = da.coordinates("x y theta")
m, g, l, k, w = da.parameters("m g l k w")


def same(found: sp.Matrix, expected: list) -> bool:
    return all(sp.simplify(a - b) == 0 for a, b in zip(found, expected, strict=True))


def test_kinetic_and_potential_with_moving_support():
    # A pendulum whose support is driven: x_s = sin(w t). T holds terms of degree 0, 1 and 2 in θ'.
    px, py = sin(w * da.t) + l * sin(theta), -l * cos(theta)
    vx, vy = (time_derivative(p, (theta,)) for p in (px, py))
    system = da.System("driven", coordinates=[theta], kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * py)
    form = standard_form(system)
    assert same(form.M, [m * l**2])
    assert same(form.Q, [-m * g * l * sin(theta) + m * l * w**2 * sin(w * da.t) * cos(theta)])


def test_lagrangian_with_velocity_dependent_terms():
    # A charge in a magnetic field: L = m v²/2 + k (x y' − y x')/2 gives the force k (y', −x').
    L = m * (x.d**2 + y.d**2) / 2 + k * (x * y.d - y * x.d) / 2
    form = standard_form(da.System("charge", coordinates=[x, y], lagrangian=L, forces={x: g}))
    assert same(form.M, [m, 0, 0, m])
    assert same(form.Q, [k * y.d + g, -k * x.d])


def test_mass_matrix_means_no_further_inertial_terms():
    M = sp.Matrix([[m + x**2, 0], [0, m]])
    system = da.System("given", coordinates=[x, y], mass=M, forces={x: g * y.d}, potential=k * x**2 * y)
    form = standard_form(system)
    assert same(form.M, list(M))
    assert same(form.Q, [g * y.d - 2 * k * x * y, -k * x**2])


def test_constraints_of_the_three_levels_in_order():
    system = da.System(
        "three",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        constraints={
            "acceleration": x * x.dd + y.d**2 - g,
            "position": x**2 + y**2 - (1 + w * da.t) ** 2,
            "velocity": x.d**2 + y * y.d - da.t,
        },
    )
    form = standard_form(system)
    assert same(form.A, [x, 0, 2 * x, 2 * y, 2 * x.d, y])
    assert same(form.b, [g - y.d**2, -2 * x.d**2 - 2 * y.d**2 + 2 * w**2, 1 - y.d**2])
    assert form.nonlinear == ()


def test_constraint_nonlinear_in_the_accelerations():
    h = x.dd**2 + y.dd**2 - g**2
    system = da.System("size", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, constraints={"size": h})
    form = standard_form(system)
    assert form.nonlinear == ("size",)
    assert same(form.A, [2 * x.dd, 2 * y.dd])
    # A q̈ = b says h = 0
    assert same(form.A * sp.Matrix(system.accelerations) - form.b, [h])


def test_work_is_summed_and_keeps_its_reactions():
    laws = [da.Work({x: -k * da.ideal(y)}), da.Work({x: da.actual(x), y: -w})]
    system = da.System(
        "rough", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, constraints={"floor": y}, nonideal=laws
    )
    form = standard_form(system)
    assert same(form.C, [-k * da.ideal(y) + da.actual(x), -w])
    assert {reaction.name for reaction in form.reactions} == {"ideal(y)", "actual(x)"}


def test_dynamicsymbols_give_the_same_form():
    q = dynamicsymbols("x")
    M, K, time = sp.symbols("m k t")
    system = da.System("spring", coordinates=[q], kinetic=M * q.diff(time) ** 2 / 2, potential=K * q**2 / 2)
    form = standard_form(system)
    assert same(form.M, [m])
    assert same(form.Q, [-k * x])


def test_a_jump_of_sign_has_the_derivative_of_its_sides():
    rate = time_derivative(sp.sign(x) * x.d, (x,))
    assert sp.simplify(rate - sp.sign(x) * x.dd) == 0
