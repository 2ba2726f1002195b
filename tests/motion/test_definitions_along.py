"""Definitions on the way of a motion: friction, impacts, kinks, events, outputs; every study of such a system."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.errors import ModelError
from dalembert.graph.graph import graph_of
from dalembert.model.language.symbols import Coordinate, Definition

INCLINE = {
    "coordinates": "x y", "parameters": {"m": 1, "g": 9.81, "th": 0.5, "mu": 0.3}, "settings": {"duration": 0.6},
    "initial": {"x": 0, "y": 0, "x'": -1, "y'": -np.tan(0.5)},
}  # fmt: skip
BALL = {
    "coordinates": "x y", "parameters": {"m": 1, "g": 9.81}, "settings": {"duration": 1.0},
    "initial": {"x": 0, "y": 1, "x'": 1, "y'": 0},
}  # fmt: skip
SPRING = {
    "coordinates": "x", "parameters": {"m": 1, "k": 4, "c": 0.3}, "settings": {"duration": 2.0},
    "initial": {"x": 1, "x'": 0},
}  # fmt: skip


def pairs() -> dict[str, tuple[da.System, da.System]]:
    """Systems with definitions, each beside the same without, written by hand."""
    return {
        "friction": (
            da.System("incline", **INCLINE,
                      definitions={"h": "y - x*tan(th)", "v2": "x'^2 + y'^2", "grip": "mu*(1 + x^2)"},
                      kinetic="m*v2/2", potential="m*g*y", constraints={"plane": "h = 0"},
                      nonideal=[da.Coulomb("plane", mu="grip")], events={"low": "y + 0.1 = h"}, outputs={"o": "v2*h'"}),
            da.System("incline", **INCLINE, kinetic="m*(x'^2 + y'^2)/2", potential="m*g*y",
                      constraints={"plane": "y - x*tan(th) = 0"}, nonideal=[da.Coulomb("plane", mu="mu*(1+x^2)")],
                      events={"low": "x*tan(th) + 0.1"}, outputs={"o": "(x'^2 + y'^2)*(y' - x'*tan(th))"}),
        ),
        "impacts": (
            da.System("ball", **BALL, definitions={"gap": "y - x/10", "T": "m*(x'^2 + y'^2)/2"}, kinetic="T",
                      potential="m*g*y", constraints=[da.Constraint("floor", "gap >= 0", restitution=0.5)],
                      outputs={"o": "gap"}),
            da.System("ball", **BALL, kinetic="m*(x'^2 + y'^2)/2", potential="m*g*y",
                      constraints=[da.Constraint("floor", "y - x/10 >= 0", restitution=0.5)],
                      outputs={"o": "y - x/10"}),
        ),
        "kinks": (
            da.System("spring", **SPRING, definitions={"u": "x - 0.2", "w": "abs(u)", "drag": "-c*u'"},
                      kinetic="m*u'^2/2", potential="k*w^2/2 + w", forces={"x": "drag"}, outputs={"o": "w"}),
            da.System("spring", **SPRING, kinetic="m*x'^2/2", potential="k*(x - 0.2)^2/2 + abs(x - 0.2)",
                      forces={"x": "-c*x'"}, outputs={"o": "abs(x - 0.2)"}),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["friction", "impacts", "kinks"])
def test_motions_with_contacts_and_kinks_are_the_same(name, monkeypatch):
    _refuse_to_differentiate(monkeypatch)
    one, other = (s.simulate(backend="reference", samples=21) for s in pairs()[name])
    assert one.system.definitions
    assert one.certificate.holds
    assert one.certified().certificate.holds
    # Both are computed from the same expressions, so that they differ by rounding, magnified along the motion.
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)
    np.testing.assert_allclose(one.ideal, other.ideal, atol=1e-7)
    np.testing.assert_allclose(one["o"], other["o"], atol=1e-9)
    np.testing.assert_allclose(one["kinetic"], other["kinetic"], atol=1e-9)
    assert [e["name"] for e in one.events] == [e["name"] for e in other.events]


def _refuse_to_differentiate(monkeypatch) -> None:
    """SymPy takes a definition for a constant beside a coordinate: then only `rate` may differentiate."""

    def asked(symbol: Coordinate) -> bool:
        frame = sys._getframe(1)
        expression = frame.f_locals.get("expr")
        if isinstance(expression, sp.Basic) and expression.atoms(Definition):
            callers = []
            while frame is not None:
                callers.append(frame.f_code.co_name)
                frame = frame.f_back
            assert "rate" in callers, f"{expression} is differentiated by {symbol}"
        return True

    monkeypatch.setattr(Coordinate, "_diff_wrt", property(asked), raising=False)


def pendulum(**changes) -> da.System:
    parts = {
        "coordinates": "x y", "parameters": {"m": 1, "g": 9.81, "l": 1}, "settings": {"duration": 1.0},
        "initial": {"x": 0.6, "y": -0.8, "x'": 0, "y'": 0}, "definitions": {"r2": "x^2 + y^2", "V": "m*g*y"},
        "kinetic": "m*(x'^2 + y'^2)/2", "potential": "V", "constraints": {"rod": "sqrt(r2) = l"},
    }  # fmt: skip
    return da.System("pendulum", **{**parts, **changes})


STUDIES = {
    "classify": lambda s: s.classify().degrees_of_freedom,
    "lagrange": lambda s: s.equations("lagrange").explicit,
    "kane": lambda s: s.equations("kane").explicit,
    "liberation": lambda s: s.equations("liberation").explicit,
    "compare": lambda s: s.compare(["lagrange", "gauss", "hamilton"], states=1).agree,
    "equilibrium": lambda s: [e["y"] for e in s.equilibrium()],
    "displacements": lambda s: s.displacements().possible,
    "reduce": lambda s: len(s.reduce().coordinates),
    "vakonomic": lambda s: s.vakonomic(0.2, samples=3).q,
    "between": lambda s: s.between({"x": 0.6, "y": -0.8}, {"x": -0.6, "y": -0.8}, 1.0).action,
    "variational": lambda s: s.simulate(0.2, method="variational", step=0.02).q,
    "curvature": lambda s: s.simulate(0.2, samples=3, backend="reference").curvature()[1:],
    "consistent": lambda s: list(s.consistent({"x": 0.7}).values()),
    "momentum": lambda s: s.simulate(0.2, samples=3, backend="reference")["p_x"],
}


@pytest.mark.parametrize("study", STUDIES)
def test_studies_see_them_written_out(study, monkeypatch):
    _refuse_to_differentiate(monkeypatch)
    named = pendulum()
    plain = pendulum(definitions={}, potential="m*g*y", constraints={"rod": "sqrt(x^2 + y^2) = l"})
    np.testing.assert_allclose(STUDIES[study](named), STUDIES[study](plain), rtol=1e-9, atol=1e-9)


def test_equations_show_them_where_they_stand():
    x, a = da.coordinates("x a")
    m, k, l = da.parameters("m k l")
    tip, = da.definitions("tip")  # fmt: skip
    cart = da.System("cart", coordinates=[x, a], definitions={tip: x + l * sp.sin(a)},
                     kinetic=m * (x.d**2 + l**2 * a.d**2) / 2, potential=k * tip**2 / 2)  # fmt: skip
    page = cart.equations()
    assert "m*x'' = -k*tip" in page.text()
    assert page.text().endswith("where\n  tip = l*sin(a) + x")
    assert r"tip &= l \sin{\left(a \right)} + x" in page.latex()
    assert r"\text{where } tip &= x + l \sin{\left(a \right)}" in cart._repr_latex_()


def test_a_graph_holds_each_once():
    """Along a chain a model with definitions has as many instructions per link at every length."""
    sizes = []
    for n in (10, 20, 30):
        a = da.coordinates(" ".join(f"a{k}" for k in range(n)))
        tips = da.definitions(" ".join(f"x{k}" for k in range(n)))
        values = {tips[k].name: (tips[k - 1] if k else 0) + sp.sin(a[k]) for k in range(n)}
        chain = da.System("chain", coordinates=a, definitions=values, kinetic=sp.Add(*(tip.d**2 for tip in tips)))
        sizes.append(graph_of(chain).energy.n_instructions())
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0]


def test_long_chains_need_no_deep_recursion():
    """x_k = x_{k−1} + sin(a)/N: the last is sin(a), so that T = a'² cos²a/2 and M = cos²a."""
    (a,), count = da.coordinates("a"), 1200
    tips = da.definitions(" ".join(f"x{k}" for k in range(count)))
    values = {tips[k].name: (tips[k - 1] if k else 0) + sp.sin(a) / count for k in range(count)}
    system = da.System("long", coordinates=[a], definitions=values, kinetic=tips[-1].d ** 2 / 2,
                       initial={a: 0.3, a.d: 1.0})  # fmt: skip
    # 1,200 additions of rounding 1e-16
    assert system.at().M[0, 0] == pytest.approx(np.cos(0.3) ** 2, rel=1e-12)


# -- columns and expressions of a motion


@pytest.fixture(scope="module")
def swing() -> da.Motion:
    return pendulum(outputs={"height": "y + l"}).simulate(2.0, samples=21)


def test_columns_of_definitions_and_expressions(swing, tmp_path):
    np.testing.assert_allclose(swing["V"], 9.81 * swing["y"], rtol=1e-14)
    np.testing.assert_allclose(swing["V'"], 9.81 * swing["y'"], rtol=1e-14)
    np.testing.assert_allclose(swing["V''"], 9.81 * swing["y''"], rtol=1e-14)
    np.testing.assert_array_equal(swing[["x", "y'"]], np.column_stack([swing["x"], swing["y'"]]))
    assert swing[[]].shape == (21, 0)
    x, y = da.coordinates("x y")
    np.testing.assert_allclose(swing.evaluate(x * y.d - y * x.d), swing.evaluate("x*y' - y*x'"), rtol=1e-15)
    np.testing.assert_allclose(swing.evaluate("rate(V) + multiplier(rod)*0"), swing["V'"], rtol=1e-14)
    np.testing.assert_allclose(swing.evaluate("ideal(x)"), swing["ideal x"], rtol=1e-15)
    np.testing.assert_array_equal(swing.evaluate(2), np.full(21, 2.0))
    swing.save(tmp_path / "swing.nc")
    again = da.Motion.load(tmp_path / "swing.nc")
    np.testing.assert_array_equal(again["V'"], swing["V'"])
    assert "height" in swing.to_dataframe().columns
    *_, last = swing.plot(outputs=True).axes
    assert last.get_title(loc="left") == "outputs"
    np.testing.assert_array_equal(last.lines[0].get_ydata(), swing["height"])
    given = swing.plot(outputs=True).axes  # a figure to draw into again
    assert swing.plot(axes=given, outputs=True) is given[0].figure


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("W + 1", "evaluate: unknown name 'W'"),
        (sp.Symbol("W"), "evaluate: unknown name 'W'"),
        ("x +", "not a complete expression"),
        ("multiplier(string)", "'string' is not a constraint"),
        ("actual(x)", "may use ideal"),
        (None, "an expression is wanted, got None"),
        (da.definitions("W")[0], "there is no definition 'W'"),
    ],
)
def test_expressions_that_a_motion_does_not_have(swing, given, message):
    with pytest.raises(ModelError, match=message.replace("(", r"\(")):
        swing.evaluate(given)


# -- between outputs


def test_the_state_between_outputs_is_as_exact_as_they_are(swing):
    """Beside a motion of a thousandth of the tolerance."""
    t = np.array([1.731, 0.05, 1.0, 0.05, 2.0])
    finer = pendulum().simulate(times=np.unique(t), rtol=1e-12)
    place = np.searchsorted(finer.t, t)
    found = swing(t)
    for name in ("x", "y", "x'", "y'"):
        # What an integration at 1e-9 gathers in two seconds; the outputs themselves are off by as much.
        np.testing.assert_allclose(found[name], finer[name][place], atol=5e-9)
    alone = swing(0.05)
    assert alone == {name: column[1] for name, column in found.items()}
    assert swing.system.at(alone).t == 0.05
    # It lies on the constraint, so that a motion may begin there.
    assert abs(np.hypot(alone["x"], alone["y"]) - 1) < 1e-12
    with pytest.raises(ModelError, match=r"t = 2\.5 is not within the motion, which is from t = 0 to 2"):
        swing(2.5)


def test_dense_outputs_are_interpolated_and_sparse_ones_integrated(monkeypatch):
    from dalembert.motion.result import between_outputs

    asked = []
    integrated = between_outputs._Between.integrated
    monkeypatch.setattr(
        between_outputs._Between, "integrated", lambda self, k, t: asked.append(k) or integrated(self, k, t)
    )
    (a,) = da.coordinates("a")
    rotor = da.System("oscillator", coordinates=[a], kinetic=a.d**2 / 2, potential=a**2 / 2, initial={a: 1, a.d: 0})
    for samples, interpolates in ((401, True), (9, False)):
        asked.clear()
        motion = rotor.simulate(6.0, samples=samples, backend="reference")
        t = np.linspace(0.01, 5.99, 37)
        found = motion(t)
        # rtol 1e-9 of integration over six seconds, of interpolation no more than that again
        np.testing.assert_allclose(found["a"], np.cos(t), atol=1e-8)
        np.testing.assert_allclose(found["a'"], -np.sin(t), atol=1e-8)
        assert (not asked) == interpolates


def test_between_outputs_lie_impacts():
    """The ball falls from 1, strikes at √(2/g) and comes back with half its speed."""
    ball = da.System("ball", coordinates="y", kinetic="y'^2/2", potential="10*y", settings={"duration": 0.6},
                     constraints=[da.Constraint("floor", "y >= 0", restitution=0.5)],
                     initial={"y": 1, "y'": 0})  # fmt: skip
    motion = ball.simulate(samples=2, backend="reference")
    blow = np.sqrt(0.2)
    for t in (0.3, 0.5):
        since, v = (t, 0.0) if t < blow else (t - blow, 5 * blow)
        y = (1.0 if t < blow else 0.0) + v * since - 5 * since**2
        assert motion(t)["y"] == pytest.approx(y, abs=1e-9)
