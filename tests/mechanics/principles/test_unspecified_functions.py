"""Equations with functions that have no expression: the papers' formulas as printed, every form, classification."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from latex_document import compiles

import dalembert as da
from dalembert.errors import DoesNotApply, MissingValues, ModelError
from dalembert.mechanics.page.equations import Equations
from dalembert.mechanics.principles import FORMS

x, y, z, theta = da.coordinates("x y z theta")
m, alpha, a_0, gamma = da.parameters("m alpha a_0 gamma")
t = da.t
g, F, V, f, mu, length = (sp.Function(name) for name in ("g", "F", "V", "f", "mu", "length"))
F_x, F_y, F_z = (sp.Function(name)(x, y, z, t) for name in ("F_x", "F_y", "F_z"))
speed = sp.sqrt(x.d**2 + y.d**2 + z.d**2)


def appell_hamel() -> da.System:
    """Example 1 of Udwadia 2005 as it is given there."""
    return da.System(
        "Appell-Hamel",
        coordinates=[x, y, z],
        kinetic=(x.d**2 + y.d**2 + z.d**2) / 2,
        forces={x: F_x, y: F_y, z: F_z},
        constraints={"cone": x.d**2 + y.d**2 - z.d**2 - 2 * alpha * g(t)},
        nonideal=[da.Work({q: -a_0 * speed * q.d for q in (x, y, z)}, "cone")],
    )


def surface() -> da.System:
    """Example 1 of Đukić 2012."""
    return da.System(
        "surface",
        coordinates=[x, y, z],
        kinetic=m * (x.d**2 + y.d**2 + z.d**2) / 2,
        potential=m * gamma * z,
        constraints={"surface": F(x, y, z)},
    )


def test_udwadia_30():
    """The printed formula, with the dots that the printer lost in the last column (THEORY): ẋ² + ẏ²."""
    found = appell_hamel().equations()
    u2, dg = x.d**2 + y.d**2 + z.d**2, sp.Derivative(g(t), t)
    factor = (alpha * dg - x.d * F_x - y.d * F_y + z.d * F_z) / u2
    ideal = factor * sp.Matrix([x.d, y.d, -z.d])
    nonideal = -a_0 / sp.sqrt(u2) * sp.Matrix([2 * x.d * z.d**2, 2 * y.d * z.d**2, 2 * z.d * (x.d**2 + y.d**2)])
    impressed = sp.Matrix([F_x, F_y, F_z])
    none = sp.zeros(3, 1)
    assert (found.ideal - ideal).applyfunc(sp.simplify) == none
    assert (found.nonideal - nonideal).applyfunc(sp.simplify) == none
    assert (found.acceleration - impressed - ideal - nonideal).applyfunc(sp.simplify) == none
    # (28): the constraint was multiplied by two.
    assert 2 * sp.Matrix([[x.d, y.d, -z.d]]) == found.A
    assert found.b[0] == 2 * alpha * dg


def test_udwadia_30_reads_as_printed():
    found = appell_hamel().equations()
    assert "x'' = F_x + x'*(alpha*g' - x'*F_x - y'*F_y + z'*F_z)/(x'**2 + y'**2 + z'**2)" in found.text()
    assert "  g = g(t)" in found.text().splitlines()
    assert r"\alpha \dot{g} - \dot{x} F_{x} - \dot{y} F_{y} + \dot{z} F_{z}" in found.latex()
    assert found.to_dict()["equations"]["unspecified functions"][0] == "F_x = F_x(x, y, z, t)"


def test_djukic_example_1():
    """(8.1), (8.2) and R = R₃ ∇F/|∇F|² with R₃ = m γ F_z − m (ẋ Ḟ_x + ẏ Ḟ_y + ż Ḟ_z), γ the gravity there called g."""
    reaction = surface().equations("liberation")
    normal = [F(x, y, z).diff(q) for q in (x, y, z)]

    def rate(e: sp.Expr) -> sp.Expr:
        return sp.Add(*(e.diff(q) * q.d for q in (x, y, z)))

    R_3 = m * gamma * normal[2] - m * sp.Add(*(q.d * rate(n) for q, n in zip((x, y, z), normal, strict=True)))
    printed = [R_3 / sum(n**2 for n in normal) * n for n in normal]
    lines = {str(line.left): line for section in reaction.sections[:3] for line in section.lines}
    for axis, expected in zip("xyz", printed, strict=True):
        assert sp.simplify(lines[f"R_{axis}"].terms[0][1] - expected) == 0
    assert sp.simplify(lines["R_1"].terms[0][1] - R_3) == 0
    # As a sphere: R = m (γ z − v²)/r² times the place.
    r = sp.Symbol("r", positive=True)
    sphere = [e.replace(F, lambda a, b, c: a**2 + b**2 + c**2 - r**2).doit() for e in printed]
    on_it = {z: sp.sqrt(r**2 - x**2 - y**2)}
    v2 = x.d**2 + y.d**2 + z.d**2
    for q, e in zip((x, y, z), sphere, strict=True):
        assert sp.simplify((e - m * (gamma * z - v2) / r**2 * q).subs(on_it)) == 0


def test_liberation_on_a_surface_z_of_x_and_y():
    """z = f(x, y): with Monge's normal the reaction is m (γ + f_xx ẋ² + 2 f_xy ẋẏ + f_yy ẏ²)/(1 + f_x² + f_y²) times
    (−f_x, −f_y, 1).
    """
    ball = da.Particle("ball", mass=m, position=(x, y, f(x, y)), force=(0, 0, -m * gamma))
    bowl = da.Particles("bowl", coordinates=[x, y], particles=[ball], constraints={"wall": ball.z - f(ball.x, ball.y)})
    found = da.liberate(bowl)
    fx, fy = f(x, y).diff(x), f(x, y).diff(y)
    bent = fx.diff(x) * x.d**2 + 2 * fx.diff(y) * x.d * y.d + fy.diff(y) * y.d**2
    # The acceleration along the normal is known without q̈: its q̈ has no part along (−f_x, −f_y, 1).
    size = m * (gamma + bent)
    assert sp.simplify(found.generalized["wall"] - size) == 0
    printed = size / (1 + fx**2 + fy**2) * sp.Matrix([-fx, -fy, 1])
    assert (found.on["ball"] - printed).applyfunc(sp.simplify) == sp.zeros(3, 1)
    assert "∂f/∂x" in str(found)
    assert r"\dot{x}^{2} \frac{\partial^{2} f}{\partial x^{2}}" in found.latex()
    assert sp.simplify(found.at_rest().generalized["wall"] - m * gamma) == 0
    # Numbers want an expression.
    motion = bowl.system.replace(
        functions={f: lambda a, b: a**2 + b**2}, parameters={m: 1, gamma: 9.81}, initial={x: 1, y: 0, x.d: 0, y.d: 1}
    )
    with pytest.raises(MissingValues, match=r"no expression for f\(x, y\)"):
        found.reactions(motion.at())


def test_an_implicit_surface_in_generalized_coordinates():
    """F(x, y, f(x, y)) = 0 cannot be checked without expressions and is taken at its word; the reaction is that of
    Đukić's formula with q̈ of z = f in it. More coordinates than it leaves are refused.
    """
    ball = da.Particle("ball", mass=m, position=(x, y, f(x, y)), force=(0, 0, -m * gamma))
    wall = {"wall": F(ball.x, ball.y, ball.z)}
    found = da.liberate(da.Particles("bowl", coordinates=[x, y], particles=[ball], constraints=wall))

    def on_a_sphere(e: sp.Expr) -> sp.Expr:
        e = e.replace(F, lambda a, b, c: a**2 + b**2 + c**2 - 25).doit()
        return e.replace(f, lambda a, b: -sp.sqrt(25 - a**2 - b**2)).doit()

    at = {x: 1.0, y: 2.0, x.d: 0.3, y.d: -0.7, m: 1.4, gamma: 9.8}
    motion = {x.dd: 0.2, y.dd: 0.5}  # any: what they contribute cancels on the surface
    height = -np.sqrt(20.0)
    velocity = np.array([0.3, -0.7, -(1 * 0.3 + 2 * -0.7) / height])
    size = 1.4 * (9.8 * height - velocity @ velocity) / 25
    for k, place in enumerate((1.0, 2.0, height)):
        value = float(on_a_sphere(found.on["ball"][k]).subs({**motion, **at}))
        assert value == pytest.approx(size * place, rel=1e-12)  # rounding of some fifty operations
    free = da.Particle("ball", mass=m, position=(x, y, z))
    with pytest.raises(ModelError, match="positions move in 3"):
        da.Particles("free", coordinates=[x, y, z], particles=[free], constraints={"s": F(free.x, free.y, free.z)})


# -- every form: with functions and then written out, as written out from the start


def systems() -> dict[str, tuple[da.System, dict]]:
    """Systems, each with expressions for its functions."""
    plane = (x.d**2 + y.d**2) / 2
    rate = sp.sqrt(x.d**2 + y.d**2)
    return {
        "cone": (
            appell_hamel(),
            {
                "g": lambda s: sp.sin(s) + 2,
                **{n: lambda *q: q[0] * sp.cos(q[3]) + q[1] ** 2 for n in ("F_x", "F_y", "F_z")},
            },
        ),
        "curve": (
            da.System("curve", coordinates=[x, y], kinetic=m * plane, potential=V(x), constraints={"curve": F(x, y)}),
            # With this ellipse x' is the dependent velocity, as it is without an expression: lines can be compared.
            {"F": lambda a, b: 2 * a**2 + b**2 + a * b - 4, "V": lambda a: a**3},
        ),
        "length": (
            da.System("length", coordinates=[x, y], kinetic=m * plane, potential=m * gamma * y,
                      constraints={"rod": x**2 + y**2 - length(t) ** 2}),
            {"length": lambda s: 2 + sp.sin(s) / 3},
        ),
        "drag": (
            da.System("drag", coordinates=[x, y], kinetic=m * plane,
                      forces={x: -mu(rate) * x.d, y: -mu(rate) * y.d}),
            {"mu": lambda v: 1 + v**2},
        ),
        "lagrangian": (
            da.System("lagrangian", coordinates=[x], lagrangian=F(x.d, t) - V(x)),
            {"F": lambda v, s: v**4 / 12 + v**2 * (2 + sp.sin(s)) / 2, "V": lambda a: sp.exp(a)},
        ),
        "edge": (
            da.System("edge", coordinates=[x, y, theta], kinetic=plane + theta.d**2 / 2, potential=V(x),
                      constraints={"edge": x.d * sp.sin(f(theta)) - y.d * sp.cos(f(theta))}),
            {"V": lambda a: a**3, "f": lambda a: a + a**2 / 5},
        ),
        "metric": (
            da.System("metric", coordinates=[x, y], kinetic=f(x, y) * plane),
            {"f": lambda a, b: 2 + a**2 + sp.sin(b)},
        ),
    }  # fmt: skip


SYSTEMS = systems()


def written_out(e: sp.Expr, functions: dict) -> sp.Expr:
    for name, value in functions.items():
        e = e.replace(sp.Function(name), value)
    return e.doit()


def equations_or_reason(system: da.System, form: str) -> Equations | str:
    try:
        return system.equations(form)
    except DoesNotApply as error:
        return error.reason


def values(e: sp.Expr, at: dict[str, float]) -> float:
    return float(e.xreplace({s: sp.Float(at.setdefault(s.name, 0.3 + 0.09 * len(at))) for s in e.free_symbols}))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_form(name, form):
    """Derivatives are carried through all forms: nothing that depends on the state or the time counts as constant."""
    system, functions = SYSTEMS[name]
    direct = system.replace(functions=functions)
    assert not direct.functions
    found, expected = equations_or_reason(system, form), equations_or_reason(direct, form)
    if isinstance(expected, str):
        assert found == expected
        return
    assert not isinstance(found, str), found
    assert found.text()
    assert found.latex()
    assert "Derivative" not in found.text()
    assert "Subs" not in found.text()
    assert found.explicit == expected.explicit
    at: dict[str, float] = {}
    pairs = [
        (line, other)
        for section, its in zip(found.sections, expected.sections, strict=True)
        for line, other in zip(section.lines, its.lines, strict=True)
    ]
    for line, other in pairs:
        ours = sp.Add(*(term for _, term in line.terms)) - line.left
        theirs = sp.Add(*(term for _, term in other.terms)) - other.left
        if line.left.free_symbols and any("d/dt" in s.name or "Integral" in s.name for s in ours.free_symbols):
            continue  # a text inside, not an expression
        if ours.has(sp.Integral):
            continue
        a, b = values(written_out(found.unabridged(ours), functions), at), values(expected.unabridged(theirs), at)
        # Both are sums of at most a few hundred terms of size one to a hundred.
        assert a == pytest.approx(b, rel=1e-8, abs=1e-9), f"{line.text()}\n{other.text()}"


def test_motion_is_that_of_the_system_written_directly():
    """A pendulum whose length is a function of time: ℓ̇ and ℓ̈ act. The same equations, to the last digit."""
    ell = 1 + sp.sin(3 * t) / 4
    values = {"parameters": {m: 1, gamma: 9.81}, "initial": {x: 1, y: 0, x.d: sp.Rational(3, 4), y.d: 0}}
    system = SYSTEMS["length"][0].replace(**values)
    motion = system.replace(functions={length: ell}).simulate(2.0, rtol=1e-10)
    direct = system.replace(constraints={"rod": x**2 + y**2 - ell**2}).simulate(2.0, rtol=1e-10)
    assert motion.certificate.holds
    assert np.array_equal(motion.q, direct.q)
    assert np.array_equal(motion.v, direct.v)
    # Independently: ℓ θ̈ + 2 ℓ̇ θ̇ + γ sin θ = 0 for the angle from the downward vertical, by SciPy.
    from scipy.integrate import solve_ivp

    def right(time: float, state: np.ndarray) -> list[float]:
        size, slope = 1 + np.sin(3 * time) / 4, 3 * np.cos(3 * time) / 4
        return [state[1], -(2 * slope * state[1] + 9.81 * np.sin(state[0])) / size]

    reference = solve_ivp(right, (0, 2), [np.pi / 2, 0.0], rtol=1e-11, atol=1e-12)
    size = 1 + np.sin(6.0) / 4
    # Two integrations to 1e-10 over two units of time, errors growing less than a hundredfold.
    assert motion["x"][-1] == pytest.approx(size * np.sin(reference.y[0, -1]), abs=1e-7)
    assert motion["y"][-1] == pytest.approx(-size * np.cos(reference.y[0, -1]), abs=1e-7)


# -- what is said of them


def test_a_function_of_time_is_rheonomic():
    kind = SYSTEMS["length"][0].classify()
    assert kind.constraints[0].rheonomic
    assert not kind.constraints[0].catastatic
    assert kind.conservation.energy is False
    assert any("said of general length" in note for note in kind.notes)
    assert not surface().classify().constraints[0].rheonomic


def test_what_holds_for_every_function_is_found():
    kind = surface().classify()
    assert (kind.holonomic, kind.degrees_of_freedom) == (True, 2)
    assert kind.conservation.energy is True
    central = da.System("central", coordinates=[x, theta], kinetic=m * (x.d**2 + x**2 * theta.d**2) / 2, potential=V(x))
    found = {q.name: q.expression for q in central.classify().conservation.quantities}
    assert sp.simplify(found["energy"] - central.kinetic - V(x)) == 0
    assert sp.simplify(found["p_theta"] - m * x**2 * theta.d) == 0


def test_integrability():
    """The cone's is refused for every g; x dy = y dx about a point that moves with g(t) only where g moves; a
    differential is recognised, and Ḟ = 0 integrated.
    """
    (cone,) = appell_hamel().classify().constraints
    assert cone.integrable is False
    assert "not integrable" in str(cone)
    base = {"coordinates": [x, y], "kinetic": (x.d**2 + y.d**2) / 2}
    pursuit = da.System("pursuit", **base, constraints={"aim": (x - g(t)) * y.d - y * x.d})
    (aim,) = pursuit.classify().constraints
    assert aim.integrable is None
    assert "not integrable in general, integrable where g is constant" in str(aim)
    assert pursuit.classify().holonomic is None
    linear = da.System("linear", **base, constraints={"c": x.d - g(t).diff(t, 2) * y - y.d})
    assert "integrable where g is linear" in str(linear.classify().constraints[0])
    curved = da.System("curved", **base, constraints={"c": F(x.d, y.d)})
    assert "not integrable in general, integrable where F is linear" in str(curved.classify().constraints[0])
    hidden = sp.Add(*(F(x, y).diff(q) * q.d for q in (x, y)))
    (kind,) = da.System("hidden", **base, constraints={"c": hidden}).classify().constraints
    assert kind.integrable
    assert kind.integrated == "F(x, y)"
    (kind,) = da.System("driven", **base, constraints={"c": x.d - g(t).diff(t)}).classify().constraints
    assert kind.integrable
    assert kind.integrated == "x - g(t)"


def test_other_constraints_are_decided_beside_a_function():
    """A skate in an unknown potential is as nonholonomic as without one."""
    kind = SYSTEMS["edge"][0].replace(functions={"f": lambda a: a}).classify()
    assert kind.constraints[0].integrable is False


def test_names_alone_where_they_suffice():
    """V(x) and V(y) keep their arguments."""
    twice = da.System("twice", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=V(x) + V(y) + f(x))
    text = twice.equations().text()
    assert "x'' = -V'(x) - f'" in text
    assert "  f = f(x)" in text
    assert "  V = V(x)" not in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path: Path):
    for name in ("cone", "curve", "lagrangian", "drag"):
        for form in ("fundamental", "gauss"):
            assert compiles(SYSTEMS[name][0].equations(form).latex(), tmp_path), (name, form)


def test_a_name_that_the_page_has_for_something_else():
    H = sp.Function("H")
    text = da.System("H", coordinates=[x], kinetic=x.d**2 / 2, potential=H(x)).equations("hamilton").text()
    assert "H = p_x**2/2 + H(x)" in text
    assert "p_x' = -H'(x)" in text
    assert "unspecified" not in text


def test_friction_on_an_unspecified_wire():
    """y = h(x): the normal is (−h′, 1), and friction acts along (1, h′)."""
    h, c = sp.Function("h"), sp.Function("c")
    wire = da.System(
        "wire", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * gamma * y,
        constraints={"wire": y - h(x)}, nonideal=[da.Viscous("wire", c(x))],
    )  # fmt: skip
    found, slope = wire.equations(), h(x).diff(x)
    drag = -c(x) * (x.d + slope * y.d) / (1 + slope**2) * sp.Matrix([1, slope])
    assert (found.nonideal - drag).applyfunc(sp.simplify) == sp.zeros(2, 1)
    assert sp.simplify(found.multipliers[0] - m * (gamma + slope.diff(x) * x.d**2) / (1 + slope**2)) == 0
    dry = wire.replace(nonideal=[da.Coulomb("wire", mu=0.3, mu_static=c(m))], parameters={m: 1, gamma: 9.81})
    assert "of at most c(m) times the reaction" in dry.equations().reason
    given = dry.replace(functions={h: x**2 / 2, c: 0.4}, initial={x: 1, y: 0.5, x.d: 0, y.d: 0})
    assert given.simulate(0.5).certificate.holds
