"""All formulations that apply give one motion on every library system, and a corrupted one is caught."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import app
from dalembert.mechanics.principles import FORMS, lagrange
from dalembert.mechanics.principles.shared.formulation import Answer
from dalembert.study.compare import AGREEMENT

# Systems of the library with constraints on velocities or accelerations, and those whose constraints do work.
NONHOLONOMIC = {
    "penny", "upright_penny", "quadratic_penny", "skater", "cart", "benenti_rods", "appell_hamel", "appell_fall",
    "isokinetic", "prescribed_acceleration",
}  # fmt: skip
ROUGH = {"incline_block", "rough_incline", "thrown_block", "stick_slip", "stacked_blocks"}
MOVING = {"moving_length_pendulum", "rotating_hoop_bead"}
FREE = {"benenti_rods", "quaternion_body"}  # of forces
SILENT = {
    "appell": {"prescribed_acceleration"},  # nonlinear in q̈
    "kane": {"prescribed_acceleration"},
    "hamilton": {"prescribed_acceleration", "quaternion_body"},  # the latter has a singular M
    "routh": set(da.library.names()) - {"bouncing_ball", "liberated_sphere"},  # flying sideways, the azimuth
    "hertz": set(da.library.names()) - FREE,
    "action": NONHOLONOMIC | ROUGH,
    "maupertuis": NONHOLONOMIC | ROUGH | MOVING,
    # What is not made of particles, and what no constraint holds.
    "liberation": NONHOLONOMIC | {"quaternion_body", "bouncing_ball", "stick_slip"},  # which sticks: a velocity is held
    "vakonomic": NONHOLONOMIC | ROUGH - {"stick_slip"},  # which sticks at first
    "transposition": set(da.library.names()),
}


@pytest.mark.parametrize("name", da.library.names())
def test_formulations_agree_on_the_library(name: str):
    found = da.library.get(name).compare()
    assert found.agree, str(found)
    assert [row.form for row in found.rows] == list(FORMS)
    for row in found.rows:
        # A principle that says nothing agrees with everything: which are silent is known.
        assert row.applies == (name not in SILENT.get(row.form, ())), f"{row.form}: {row.reason}"
        assert bool(row.reason) or row.applies, row.form


def corrupted(prepare: Callable) -> Callable:
    """A formulation with an acceleration or force that is wrong by 1e-8 of its size."""

    def changed(*arguments):
        solve = prepare(*arguments)

        def wrong(state, C):
            found = solve(state, C)
            return Answer(found.acceleration * (1 + 1e-8), found.force)

        return wrong

    return changed


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("fundamental", "transposition")])
def test_every_formulation_is_caught_when_corrupted(form: str, monkeypatch: pytest.MonkeyPatch):
    module = import_module(FORMS[form])
    system = da.library.get({"hertz": "quaternion_body", "routh": "bouncing_ball"}.get(form, "pendulum"))
    assert system.compare([form]).agree
    monkeypatch.setattr(module, "prepare", corrupted(module.prepare))
    found = system.compare([form])
    assert found[form].applies
    assert not found.agree


def test_a_corrupted_formulation_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lagrange, "prepare", corrupted(lagrange.prepare))
    found = da.library.penny().compare()
    assert not found.agree
    assert not found["lagrange"].agrees
    assert AGREEMENT < found["lagrange"].acceleration_difference < 1.1e-8
    assert "DISAGREES" in str(found)
    result = CliRunner().invoke(app, ["compare", "penny", "--json"])
    assert result.exit_code == 3
    assert json.loads(result.stdout)["agree"] is False


def test_a_wrong_force_is_caught(monkeypatch: pytest.MonkeyPatch):
    prepare = lagrange.prepare

    def changed(*arguments):
        solve = prepare(*arguments)
        return lambda state, C: Answer(solve(state, C).acceleration, np.zeros(len(state.q)))

    monkeypatch.setattr(lagrange, "prepare", changed)
    assert not da.library.pendulum().compare().agree


def test_json_has_the_rows_of_the_contract():
    result = CliRunner().invoke(app, ["compare", "penny", "--json"])
    assert result.exit_code == 0
    rows = json.loads(result.stdout)["rows"]
    assert {"form", "applies", "reason", "acceleration_difference", "force_difference"} <= set(rows[0])


def test_a_block_at_rest_is_compared_in_the_mode_that_sticks():
    x, y = da.coordinates("x y")
    block = da.System(
        "block",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=9.81 * y,
        constraints={"floor": y},
        forces={x: 1.0},
        nonideal=[da.Coulomb("floor", mu=0.3)],
        initial={x: 0, y: 0, x.d: 0, y.d: 0},
    )
    found = block.compare(["lagrange"])
    assert found.agree
    assert found["lagrange"].applies
    assert found["lagrange"].state_size == 6  # the floor and what sticks


def test_an_unknown_form_is_named():
    with pytest.raises(da.ModelError, match="lagrange"):
        da.library.penny().compare(["newton"])


@pytest.mark.parametrize(("m", "l"), [(1e-12, 1.0), (1e12, 1.0), (6e24, 1e-3), (1e9, 1e9), (1e-6, 1200.0)])
def test_units_have_no_say(m: float, l: float):
    pendulum = da.System(
        "pendulum", coordinates="x y", kinetic="m*(x'^2 + y'^2)/2", potential="m*9.81*y",
        constraints={"rod": "x^2 + y^2 = l^2"}, parameters={"m": m, "l": l},
        initial={"x": 0.6 * l, "y": -0.8 * l, "x'": 0.8 * l, "y'": 0.6 * l},
    )  # fmt: skip
    found = pendulum.compare([form for form in FORMS if form != "action"])
    assert found.agree, str(found)
    assert found["lagrange"].applies
    assert found["vakonomic"].applies


def test_a_pendulum_of_a_nanometre_from_rest():
    """Velocities of the states that are looked at are a nanometre a second: they lay on the constraint to 1e-16 of one
    metre a second, and Maupertuis' metric, which needs them relative to themselves, was off by 5e-7.
    """
    pendulum = da.System(
        "pendulum", coordinates="x y", kinetic="m*(x'^2 + y'^2)/2", potential="m*9.81*y",
        constraints={"rod": "x^2 + y^2 = l^2"}, parameters={"m": 1e-25, "l": 1e-9},
        initial={"x": 6e-10, "y": -8e-10, "x'": 0, "y'": 0},
    )  # fmt: skip
    found = pendulum.compare(["lagrange", "maupertuis"])
    assert found["maupertuis"].applies
    assert found.agree, str(found)


def test_a_motion_without_acceleration_is_compared():
    """3 (x y' + y x') is the derivative of 3 x y: nothing accelerates, and rounding is relative to nothing."""
    free = da.System(
        "gauge", coordinates="x y", lagrangian="(x'^2 + y'^2)/2 + 3*(x*y' + y*x')",
        initial={"x": 1, "y": 2, "x'": 1, "y'": 0.5},
    )  # fmt: skip
    assert free.compare(["lagrange", "hamilton", "kane"]).agree


def test_vakonomic_paths_need_an_action():
    rough = da.library.incline_block()
    assert not rough.compare(["vakonomic"])["vakonomic"].applies
    (x,) = da.coordinates("x")
    given = da.System("given", coordinates=[x], mass=[[1 + x**2]], forces={x: 1}, initial={x: 0.3, x.d: 1})
    row = given.compare(["vakonomic"])["vakonomic"]
    assert not row.applies
    assert not row.contrast
    assert "no Lagrangian" in row.reason


def test_one_form_by_its_name():
    assert str(da.library.pendulum().compare("gauss")).count("gauss") == 1
    with pytest.raises(da.ModelError, match="there is no form '3'"):
        da.library.pendulum().compare([3])
