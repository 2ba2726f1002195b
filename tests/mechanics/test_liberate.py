"""`da.Particles` and `da.liberate`: the paper's examples as printed, reactions along motions, bad input."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin

import dalembert as da

m, a, g, r = da.parameters("m a g r")


def pendulum() -> da.Particles:
    (alpha,) = da.coordinates("alpha")
    bob = da.Particle("bob", mass=m, position=(a * sin(alpha), a * cos(alpha)), force=(0, m * g))
    return da.Particles(
        "pendulum",
        coordinates=[alpha],
        particles=[bob],
        constraints={"rod": bob.x**2 + bob.y**2 - a**2},
        parameters={m: 2, a: 1.5, g: 9.81},
        initial={alpha: 1, alpha.d: 0.5},
    )


def double_pendulum(constraints: dict[str, str] | None = None) -> da.Particles:
    """Written as text, unequal masses, the potential instead of forces."""
    return da.Particles(
        "double pendulum",
        coordinates="u w",
        particles=[
            da.Particle("one", mass="m1", position=("l*sin(u)", "-l*cos(u)")),
            da.Particle("two", mass="m2", position=("l*sin(u) + k*sin(w)", "-l*cos(u) - k*cos(w)")),
        ],
        constraints={
            "upper": "x_one^2 + y_one^2 = l^2",
            "lower": "(x_two - x_one)^2 + (y_two - y_one)^2 = k^2",
            **(constraints or {}),
        },
        potential="m1*g*y_one + m2*g*y_two",
        parameters={"m1": 1.3, "m2": 0.4, "l": 1, "k": 0.7, "g": 9.81},
        initial={"u": 0.8, "w": 2.0, "u'": 0.3, "w'": -1.0},
    )


def test_pendulum_as_printed():
    """Example 2: α̈ + (g/a) sin α = 0 and R = −m(a α̇² + g cos α) e_r; the paper prints α̈² by mistake."""
    (alpha,) = da.coordinates("alpha")
    found = da.liberate(pendulum())
    (motion,) = found.tangential
    assert sp.simplify(motion - m * a**2 * (alpha.dd + g / a * sin(alpha))) == 0
    printed = -m * (a * alpha.d**2 + g * cos(alpha)) * sp.Matrix([sin(alpha), cos(alpha)])
    assert (found.on["bob"] - printed).applyfunc(sp.simplify) == sp.zeros(2, 1)


def test_sphere_as_printed():
    """Example 1 in spherical coordinates: R = m(gz − v²)/r² r⃗."""
    u, w = da.coordinates("u w")
    place = (r * sin(u) * cos(w), r * sin(u) * sin(w), r * cos(u))
    point = da.Particle("point", mass=m, position=place, force=(0, 0, -m * g))
    system = da.Particles(
        "sphere", coordinates=[u, w], particles=[point], constraints={"s": point.x**2 + point.y**2 + point.z**2 - r**2}
    )
    square = r**2 * (u.d**2 + sin(u) ** 2 * w.d**2)
    printed = m * (g * place[2] - square) / r**2 * sp.Matrix(place)
    assert (da.liberate(system).on["point"] - printed).applyfunc(sp.simplify) == sp.zeros(3, 1)


def test_equilibrium_gives_applied_forces_and_reactions_together():
    """A pendulum pushed by a horizontal force P rests at tan α = P/(m g), and its rod pulls with √(P² + m²g²)."""
    alpha, P = da.coordinates("alpha")[0], sp.Symbol("P")
    bob = da.Particle("bob", mass=m, position=(a * sin(alpha), a * cos(alpha)), force=(P, m * g))
    pushed = da.Particles(
        "pushed", coordinates=[alpha], particles=[bob], constraints={"rod": bob.x**2 + bob.y**2 - a**2}
    )
    rest = da.liberate(pushed).at_rest()
    P = next(s for s in rest.tangential[0].free_symbols if s.name == "P")
    (needed,) = sp.solve(rest.tangential[0], P)
    assert sp.simplify(needed - m * g * sp.tan(alpha)) == 0
    reaction = rest.on["bob"].subs(P, needed).applyfunc(sp.simplify)
    assert (reaction + sp.Matrix([needed, m * g])).applyfunc(sp.simplify) == sp.zeros(2, 1)


@pytest.mark.parametrize("extra", [{}, {"again": "sqrt(x_one^2 + y_one^2) - l"}], ids=["independent", "redundant"])
def test_reactions_along_a_motion_are_those_of_the_cartesian_system(extra):
    system = double_pendulum(extra)
    found, cartesian = da.liberate(system), system.cartesian()
    motion = system.system.simulate(1.5, samples=7)
    reactions = found.reactions(motion)
    places = [sp.lambdify([*system.coordinates, *(q.d for q in system.coordinates)], e.subs(system.parameters))
              for e in system.positions.values()]  # fmt: skip
    for k in range(motion.t.size):
        state = dict(zip(system.positions, (f(*motion.q[k], *motion.v[k]) for f in places), strict=True))
        here = cartesian.at(state)
        both = np.concatenate([reactions["one"][k], reactions["two"][k]])
        assert both == pytest.approx(here.ideal, rel=1e-9, abs=1e-9)
    symbols = [*system.coordinates, *(q.d for q in system.coordinates), *(q.dd for q in system.coordinates)]
    closed = sp.lambdify(symbols, found.on["two"].subs(system.parameters))
    by_formula = [closed(*q, *v, *acc).ravel() for q, v, acc in zip(motion.q, motion.v, motion.a, strict=True)]
    assert reactions["two"] == pytest.approx(np.array(by_formula), rel=1e-9)


def test_a_moving_support_is_rheonomic():
    """A bob on a support that moves with c t²: the rod pulls as in a field (−2c, g); at α = 0 and rest R = −m g up."""
    alpha, c = da.coordinates("alpha")[0], da.parameters("c")[0]
    at = c * da.t**2
    bob = da.Particle("bob", mass=m, position=(at + a * sin(alpha), a * cos(alpha)), force=(0, m * g))
    moving = da.Particles(
        "moving", coordinates=[alpha], particles=[bob], constraints={"rod": (bob.x - at) ** 2 + bob.y**2 - a**2}
    )
    found = da.liberate(moving)
    pull = -m * (a * alpha.d**2 + g * cos(alpha) - 2 * c * sin(alpha))
    assert sp.simplify(found.on["bob"][1] - pull * cos(alpha)) == 0
    with pytest.raises(da.ModelError, match="time"):
        found.at_rest()


def test_the_energy_is_kept_and_the_instant_agrees():
    system = double_pendulum()
    assert system.system.simulate(1).certificate.holds
    now = da.liberate(system).reactions(system.system.at())
    assert np.concatenate([now["one"], now["two"]]) == pytest.approx(system.cartesian().at().ideal, rel=1e-12)


def test_reactions_at_an_equilibrium_that_was_found():
    """Hanging straight down, each rod carries what is below it."""
    system = double_pendulum()
    (found, *_) = (e for e in system.system.equilibrium(starts=12) if e.stability.verdict == "stable")
    assert found.q == pytest.approx([0, 0], abs=1e-12)
    reactions = da.liberate(system).reactions(system.system.at(found.state))
    assert reactions["one"] == pytest.approx([0, 1.3 * 9.81], abs=1e-11)
    assert reactions["two"] == pytest.approx([0, 0.4 * 9.81], abs=1e-11)


@pytest.mark.skipif(which("pdflatex") is None, reason="no LaTeX")
def test_latex_compiles(tmp_path: Path):
    parts = [da.liberate(pendulum()).latex(), da.library.hinged_rods().equations("liberation").latex()]
    body = "\n".join(parts)
    text = rf"\documentclass{{article}}\usepackage{{amsmath}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "a.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"constraints": {"rod": "x_bob^2 + y_bob^2 - 4*a^2"}}, "does not hold at the positions"),
        ({"constraints": {}}, "1 independent constraint must hold them; given: 0"),
        ({"constraints": {"rod": "a*sin(alpha) - x_bob"}}, "alpha is a generalized one"),
        ({"constraints": {"rod": "x_bob'"}}, "between positions"),
        ({"potential": "alpha"}, "Cartesian coordinates"),
        ({"coordinates": "alpha beta"}, "move in 1 way$"),
        ({"parameters": {"a": 2}}, "mass of 'bob': unknown name 'm'"),
        ({"particles": [da.Particle("bob", 1, (object(), 0))]}, "position of 'bob'"),
        ({"constraints": 5}, "a mapping"),
        ({"particles": []}, "no particles"),
        ({"particles": ["bob"]}, "da.Particle"),
        ({"particles": da.Particle("bob", 1, ("a*sin(alpha)", "a*cos(alpha)"))}, "a list of da.Particle"),
        ({"particles": [da.Particle("bob", "m + t", ("a*sin(alpha)", "a*cos(alpha)"))]}, "constant mass, without t"),
        ({"particles": [da.Particle("bob", "m*x_bob", ("a*sin(alpha)", "a*cos(alpha)"))]}, "constant mass"),
        ({"initial": {"x_bob": 1}}, "initial x_bob: positions follow"),
    ],
)
def test_bad_input_is_told(change, message):
    parts = {
        "coordinates": "alpha",
        "particles": [da.Particle("bob", mass="m", position=("a*sin(alpha)", "a*cos(alpha)"))],
        "constraints": {"rod": "x_bob^2 + y_bob^2 - a^2"},
        "parameters": {"m": 1, "a": 2},
        **change,
    }
    with pytest.raises(da.ModelError, match=message):
        da.Particles("pendulum", **parts)


def test_other_bad_input():
    with pytest.raises(da.ModelError, match="1 component of the force, but 2 of the position"):
        da.Particle("p", mass=1, position=(1, 2), force=(1,))
    with pytest.raises(da.ModelError, match="letters"):
        da.Particle("p q", mass=1, position=(1, 2))
    with pytest.raises(da.DoesNotApply, match="not a constraint on positions"):
        da.liberate(da.library.penny())
    with pytest.raises(da.ModelError, match="is wanted, got 3"):
        da.liberate(3)
    with pytest.raises(da.ModelError, match=r"particles\.system"):
        da.liberate(pendulum()).reactions(pendulum().cartesian().at())
    with pytest.raises(da.ModelError, match="got None"):
        da.Particle("p", mass=None, position=(1, 2))
    for nothing in (None, 3.0):
        with pytest.raises(da.ModelError, match=r"a motion is wanted, particles\.system\.simulate"):
            da.liberate(pendulum()).reactions(nothing)
    with pytest.raises(AttributeError, match=r"ask particles\.system\.simulate"):
        pendulum().simulate(1)
    with pytest.raises(AttributeError, match=r"Particles have no 'simulated'$"):
        _ = pendulum().simulated
    with pytest.raises(AttributeError, match="no z"):
        _ = da.Particle("p", mass=1, position=(1, 2)).z


def test_decimal_numbers_are_shown_as_written():
    ball = da.Particle("ball", mass=1, position=("sin(alpha)", "cos(alpha)"), force=(0, 9.81))
    given = da.Particles("ball", coordinates="alpha", particles=[ball], constraints={"rod": "x_ball^2 + y_ball^2 = 1"})
    for page in (da.liberate(given), da.liberate(given).steps, da.liberate(given.cartesian())):
        assert "9.81*" in str(page)
        assert "981*" not in str(page).replace("9.81*", "")
    r, theta = da.coordinates("r theta")
    polar = da.System(
        "polar", coordinates=[r, theta], kinetic=3 * (r.d**2 + r**2 * theta.d**2) / 2,
        potential=-29.43 * r * cos(theta), constraints={"rod": r - 2},
    )  # fmt: skip
    # By hand: R = -m (r theta'^2 + g cos(theta)), m = 3, r = 2.
    assert "R_r = -6*theta'**2 - 29.43*cos(theta)   [rod]" in str(da.liberate(polar))


def test_results_survive_a_copy():
    freed = da.liberate(pendulum())
    again = pickle.loads(pickle.dumps(freed))
    assert again.on == freed.on
    assert again.generalized == freed.generalized
    assert pickle.loads(pickle.dumps(freed.steps)).applied == freed.steps.applied
