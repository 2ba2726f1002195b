"""Impressed and inertial forces mean the same in equations, at a state, along a motion and in files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import app

POLAR = {
    "coordinates": "r a",
    "parameters": {"m": 1.3, "g": 9.81, "k": 2},
    "initial": {"r": 0.8, "a": 0.4, "r'": 0.6, "a'": -2},
}
# The same particle, its forces told in four ways. By hand: impressed (m g cos a, −m g r sin a), drag −k r' along r.
WAYS = {
    "T and V": {"kinetic": "m*(r'^2 + r^2*a'^2)/2", "potential": "-m*g*r*cos(a)", "forces": {"r": "-k*r'"}},
    "L": {"lagrangian": "m*(r'^2 + r^2*a'^2)/2 + m*g*r*cos(a)", "forces": {"r": "-k*r'"}},
    "M and V": {
        "mass": [["m", "0"], ["0", "m*r^2"]],
        "potential": "-m*g*r*cos(a)",
        "forces": {"r": "-k*r' + m*r*a'^2", "a": "-2*m*r*r'*a'"},
    },
    "turning frame": {
        "kinetic": "m*(r'^2 + r^2*(a' + 1)^2)/2",
        "potential": "-m*g*r*cos(a)",
        "forces": {"r": "-k*r'"},
    },
}
IMPRESSED = np.array([1.3 * 9.81 * np.cos(0.4) - 2 * 0.6, -1.3 * 9.81 * 0.8 * np.sin(0.4)])
INERTIAL = np.array([1.3 * 0.8 * 4, 2 * 1.3 * 0.8 * 0.6 * 2])
EXPECTED = {
    "T and V": (IMPRESSED, INERTIAL),
    "L": (IMPRESSED, INERTIAL),
    "M and V": (IMPRESSED + INERTIAL, 0 * INERTIAL),  # what is given as Q is given
    "turning frame": (IMPRESSED, np.array([1.3 * 0.8 * 1, 2 * 1.3 * 0.8 * 0.6 * 1])),  # a' + 1 in place of a'
}


def system(way: str) -> da.System:
    return da.System("particle", **POLAR, **WAYS[way], constraints={"spiral": "r' + 3*a'/10 = 0"})


@pytest.mark.parametrize("way", WAYS)
def test_one_meaning(way: str) -> None:
    model = system(way)
    found, now, motion = model.equations(), model.at(), model.simulate(0.01, samples=2, backend="reference")
    known = dict(zip([*model.coordinates, *model.velocities], [*now.q, *now.v], strict=True))
    known |= {symbol: float(value) for symbol, value in model.parameters.items()}
    for kind, expected in zip(("impressed", "inertial"), EXPECTED[way], strict=True):
        symbolic = np.array(getattr(found, kind).subs(known).evalf(), dtype=float)[:, 0]
        # Each number is a handful of products.
        np.testing.assert_allclose(symbolic, expected, atol=1e-12)
        np.testing.assert_allclose(getattr(now, kind), expected, atol=1e-12)
        np.testing.assert_allclose(getattr(motion, kind)[0], expected, atol=1e-12)
        assert found.to_dict()[kind].keys() == {"r", "a"}
    total = found.impressed + found.inertial + found.ideal + found.nonideal
    left = np.array((found.M * found.acceleration - total).subs(known).evalf(), dtype=float)
    np.testing.assert_allclose(left, 0, atol=1e-11)


def test_a_page_shows_both() -> None:
    text = system("T and V").equations().text()
    assert "M q'' = Q + Q_i (impressed + inertial + ideal)" in text
    assert "m*r'' = (g*m*cos(a) - k*r') + m*a'**2*r + " in text
    assert "inertial" not in system("M and V").equations().text()
    free = system("T and V").replace(constraints={})
    assert r"\underbrace{m \dot{a}^{2} r}_{\text{inertial}}" in free.equations().latex()
    assert "M q'' = Q (impressed + inertial)" in free.equations().text()


def test_the_summary_adds_up(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    system("T and V").save("model.toml")
    ran = CliRunner().invoke(app, ["run", "model.toml", "--duration", "0.1", "--backend", "reference"])
    assert "inertial" in ran.output
    plain = CliRunner().invoke(app, ["run", "pendulum", "--duration", "0.1", "--backend", "reference"])
    assert "inertial" not in plain.output
    shown = CliRunner().invoke(app, ["equations", "model.toml", "--json"])
    assert {"impressed", "inertial", "unconstrained", "e", "K"} <= json.loads(shown.output).keys()
