"""Systems held by dry friction: whether a configuration can be held, and the ranges over which it can."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import app

G = 9.81
PLANE = {"coordinates": "x y", "kinetic": "m*(x'^2 + y'^2)/2"}


def incline(th: float = 0.3) -> da.System:
    return da.System(
        "block on an incline",
        **PLANE,
        potential="m*g*y",
        constraints={"plane": "y - x*tan(th)"},
        nonideal=[da.Coulomb("plane", mu=0.2, mu_static="mu")],
        parameters={"m": 2, "g": G, "th": th, "mu": 0.5},
        initial={"x": 1, "y": "tan(th)"},
    )


def spring() -> da.System:
    return da.System(
        "mass on a rough floor",
        **PLANE,
        potential="m*g*y + k*(x - x0)^2/2",
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu="mu")],
        parameters={"m": 2, "g": G, "k": 50, "mu": 0.3, "x0": 0.4},
        initial={"x": 0.45, "y": 0},
    )


def ladder(one_sided: bool, angle: float = 1.2) -> da.System:
    """A uniform ladder with its foot on a rough floor and its head on a rough wall."""
    return da.System(
        "ladder",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*l^2/12*a'^2/2",
        potential="m*g*y",
        constraints=[
            da.Constraint("floor", "y - l/2*sin(a)", one_sided=one_sided),
            da.Constraint("wall", "x - l/2*cos(a)", one_sided=one_sided),
        ],
        nonideal=[
            da.Coulomb("floor", mu="mf", point=("x + l/2*cos(a)", "y - l/2*sin(a)")),
            da.Coulomb("wall", mu="mw", point=("x - l/2*cos(a)", "y + l/2*sin(a)")),
        ],
        parameters={"m": 10, "g": G, "l": 3, "mf": 0.4, "mw": 0.3},
        initial={"x": 1.5 * np.cos(angle), "y": 1.5 * np.sin(angle), "a": angle},
    )


def test_block_on_an_incline():
    """Held iff tan θ ≤ μ_s; the friction is m g sin θ, the reaction m g cos θ."""
    found = incline().equilibrium(range_of="th", between=(0, 1.5))
    assert found[0].stability.verdict == "held"
    contact = found[0].contacts["plane"]
    assert abs(contact.friction) == pytest.approx(2 * G * np.sin(0.3), rel=1e-12)
    assert contact.normal == pytest.approx(2 * G * np.cos(0.3), rel=1e-12)
    assert contact.used == pytest.approx(np.tan(0.3) / 0.5, rel=1e-12)
    ((low, high),) = found.range.intervals
    assert low == 0
    assert high == pytest.approx(np.arctan(0.5), rel=1e-10)
    assert found.range.ends == (("end of search", "'plane' slips"),)
    steep = incline(0.6).equilibrium()
    assert not len(steep)
    assert "'plane' needs a friction of 11.0783, it has at most 8.09654" in steep.reason


def test_the_limit_itself_is_held():
    assert len(incline(float(np.arctan(0.5))).equilibrium()) == 1
    assert len(incline(float(np.arctan(0.5)) + 1e-7).equilibrium()) == 0


def test_what_is_held_does_not_move_and_what_is_not_does():
    for th, count in ((0.45, 1), (0.48, 0)):
        system = incline(th)
        assert len(system.equilibrium()) == count
        moved = system.replace(initial={"x'": 0, "y'": 0}).simulate(0.5)["x"][-1] - 1
        assert (abs(moved) < 1e-12) == bool(count)


@pytest.mark.parametrize("between", [None, (-1, 2)])
def test_mass_and_spring_on_a_rough_floor(between):
    """|x − x0| ≤ μ m g/k."""
    ((low, high),) = spring().equilibrium(range_of="x", between=between).range.intervals
    reach = 0.3 * 2 * G / 50
    assert [low, high] == pytest.approx([0.4 - reach, 0.4 + reach], rel=1e-10)


def test_a_range_in_another_parameter_has_no_upper_end():
    """At x − x0 = 0.05 the friction needed is 2.5 N: μ ≥ 2.5/(m g)."""
    found = spring().equilibrium(range_of="mu", between=(0, 3)).range
    ((low, high),) = found.intervals
    assert low == pytest.approx(2.5 / (2 * G), rel=1e-10)
    assert high == 3
    assert 1.0 in found
    assert 0.1 not in found


def test_two_ranges_are_two():
    """Springs that vanish at x = ±1: V = k (x² − 1)²/4, |x³ − x| ≤ μ m g/k = 0.1 near −1, 0 and 1."""
    system = spring().replace(potential="m*g*y + k*(x^2 - 1)^2/4", parameters={"mu": 5 / (2 * G), "k": 50})
    found = system.equilibrium({"x": 0}, range_of="x", between=(-1.5, 1.5)).range
    exact = [np.sort(np.roots([1, 0, -1, side]).real) for side in (0.1, -0.1)]
    edges = np.sort(np.concatenate(exact))
    assert np.ravel(found.intervals) == pytest.approx(edges, rel=1e-9)


def test_a_narrow_range_between_samples_is_found():
    system = spring().replace(parameters={"mu": 1e-4})
    ((low, high),) = system.equilibrium({"x": 0.4}, range_of="x", between=(-1, 2)).range.intervals
    reach = 1e-4 * 2 * G / 50
    assert [low, high] == pytest.approx([0.4 - reach, 0.4 + reach], abs=1e-9)


@pytest.mark.parametrize("one_sided", [False, True])
def test_ladder(one_sided):
    """Statically indeterminate; held iff tan a ≥ (1 − μ_w μ_f)/(2 μ_f)."""
    found = ladder(one_sided).equilibrium(range_of="a", between=(0.5, 1.5))
    assert not found[0].determined
    ((low, high),) = found.range.intervals
    assert low == pytest.approx(np.arctan((1 - 0.12) / 0.8), rel=1e-9)
    assert high == 1.5
    assert "'floor' slips" in found.range.ends[0][0]
    assert len(ladder(one_sided, 0.8).equilibrium()) == 0


def test_the_forces_that_hold_a_ladder_balance_it_and_are_inside_their_cones():
    (found,) = ladder(True, 0.84).equilibrium()
    weight = np.array([0, -10 * G, 0])
    assert weight + found.ideal + found.nonideal == pytest.approx(np.zeros(3), abs=1e-9)
    assert all(contact.used <= 1 + 1e-9 for contact in found.contacts.values())
    assert min(found.reactions.values()) >= 0
    assert found.margin >= 0


@pytest.mark.parametrize("mu", [0.3, 0.6])
def test_a_box_on_an_incline_slides_or_tips(mu):
    """Two rough corners that only push: it stays for tan θ ≤ min(μ, w/h)."""
    box = da.System(
        "box",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + m*a'^2/20",
        potential="m*g*(y*cos(th) + x*sin(th))",
        constraints=[
            da.Constraint("lower", "y - w*sin(a) - h*cos(a)", one_sided=True),
            da.Constraint("upper", "y + w*sin(a) - h*cos(a)", one_sided=True),
        ],
        nonideal=[
            da.Coulomb("lower", mu="mu", point=("x - w*cos(a) + h*sin(a)", "y - w*sin(a) - h*cos(a)")),
            da.Coulomb("upper", mu="mu", point=("x + w*cos(a) + h*sin(a)", "y + w*sin(a) - h*cos(a)")),
        ],
        parameters={"m": 1, "g": G, "w": 0.2, "h": 0.5, "mu": mu, "th": 0.1},
        initial={"x": 0, "y": "h", "a": 0},
    )
    found = box.equilibrium(range_of="th", between=(0, 1))
    ((_, high),) = found.range.intervals
    assert high == pytest.approx(np.arctan(min(mu, 0.4)), rel=1e-8)
    assert ("lifts off" in found.range.ends[0][1]) == (mu > 0.4)


def test_particle_in_a_paraboloid():
    """z = c r²: held iff the slope 2 c r is at most μ; the cone is round."""
    bowl = da.System(
        "bowl",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"bowl": "z - c*(x^2 + y^2)"},
        nonideal=[da.Coulomb("bowl", mu="mu", point=("x", "y", "z"))],
        parameters={"m": 1, "g": G, "c": 0.5, "mu": 0.4},
        initial={"x": 0.2, "y": 0.1, "z": "c*0.05"},
    )
    found = bowl.equilibrium(range_of="x", between=(-1, 1))
    edge = np.sqrt(0.4**2 - 0.1**2)  # y stays where it is
    assert np.ravel(found.range.intervals) == pytest.approx([-edge, edge], rel=1e-9)
    assert found[0].determined
    slope = np.hypot(0.2, 0.1)
    assert found[0].contacts["bowl"].used == pytest.approx(slope / 0.4, rel=1e-10)


def test_round_cones_that_share_a_load():
    """A particle pressed with W into the edge of a floor and a wall, pulled by P along the edge. Each friction may
    press the other contact harder; with a = μ²W/(1 − μ²) of it, P ≤ 2 μ W/√(1 − μ²).
    """
    mu, W = 0.5, 10.0
    edge = da.System(
        "edge",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="W*(x + z)",
        forces={"y": "P"},
        constraints=[da.Constraint("floor", "z", one_sided=True), da.Constraint("wall", "x", one_sided=True)],
        nonideal=[da.Coulomb(name, mu="mu", point=("x", "y", "z")) for name in ("floor", "wall")],
        parameters={"m": 1, "W": W, "P": 1, "mu": mu},
        initial={"x": 0, "y": 0, "z": 0},
    )
    ((low, high),) = edge.equilibrium(range_of="P", between=(-20, 20)).range.intervals
    most = 2 * mu * W / np.sqrt(1 - mu**2)
    assert [low, high] == pytest.approx([-most, most], rel=1e-8)


def test_a_pin_holds_a_moment():
    """A disc on a rough pin of radius r: held while |τ| ≤ μ r N, N = m g the length of the pin's reaction."""
    disc = da.System(
        "disc",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + J*a'^2/2",
        potential="m*g*y",
        forces={"a": "tau"},
        constraints={"pin x": "x", "pin y": "y"},
        nonideal=[da.Coulomb(["pin x", "pin y"], mu="mu", point="r*a")],
        parameters={"m": 3, "J": 0.2, "g": G, "mu": 0.4, "r": 0.05, "tau": 0.1},
        initial={"x": 0, "y": 0, "a": 0},
    )
    ((low, high),) = disc.equilibrium(range_of="tau", between=(-5, 5)).range.intervals
    assert [low, high] == pytest.approx([-0.4 * 0.05 * 3 * G, 0.4 * 0.05 * 3 * G], rel=1e-9)


def test_two_pins_in_one_place_may_strain_each_other():
    """Their reactions are lengths and not determined: held, and said to be one choice among many."""
    disc = da.System(
        "disc",
        coordinates="x y a",
        kinetic="m*(x'^2 + y'^2)/2 + J*a'^2/2",
        potential="m*g*y",
        forces={"a": 0.9 * 0.4 * 0.05 * 3 * G},
        constraints={"one x": "x", "one y": "y", "two x": "2*x", "two y": "y"},
        nonideal=[
            da.Coulomb(["one x", "one y"], mu=0.4, point="r*a"),
            da.Coulomb(["two x", "two y"], mu=0.4, point="r*a"),
        ],
        parameters={"m": 3, "J": 0.2, "g": G, "r": 0.05},
        initial={"x": 0, "y": 0, "a": 0},
    )
    (found,) = disc.equilibrium()
    assert not found.determined
    assert all(contact.used <= 1 for contact in found.contacts.values())
    assert found.ideal + found.nonideal == pytest.approx([0, 3 * G, -0.9 * 0.4 * 0.05 * 3 * G], abs=1e-9)


@pytest.mark.parametrize("angle", [0.8, 0.82, 0.85, 1.2])
def test_an_instant_at_rest_agrees(angle):
    """What `at` decides with modes of sticking and slipping, the cones decide too."""
    system = ladder(True, angle).replace(initial={"x'": 0, "y'": 0, "a'": 0})
    held = len(system.equilibrium()) == 1
    assert held == (np.tan(angle) >= 0.88 / 0.8)
    assert (np.abs(system.at().acceleration).max() < 1e-9) == held


def test_small_things_are_judged_on_their_own_scale():
    """A grain of 1e-9 kg on a spring: friction of 6e-9 N against a stiffness of 1 N/m."""
    grain = spring().replace(parameters={"m": 2e-9, "k": 1, "x0": 0}, initial={"x": 0})
    ((low, high),) = grain.equilibrium(range_of="x", between=(-1e-7, 1e-7)).range.intervals
    reach = 0.3 * 2e-9 * G
    assert [low, high] == pytest.approx([-reach, reach], rel=1e-8)


def test_what_friction_leaves_free_must_balance_and_swings():
    """A pendulum hung from a block on a rough floor: the block stays where it is, the pendulum hangs down."""
    system = da.System(
        "block and pendulum",
        coordinates="x y a",
        kinetic="M*(x'^2 + y'^2)/2 + m*((x' + l*a'*cos(a))^2 + (y' + l*a'*sin(a))^2)/2",
        potential="M*g*y + m*g*(y - l*cos(a))",
        constraints={"floor": "y"},
        nonideal=[da.Coulomb("floor", mu=0.5, point=("x", "y"))],
        parameters={"M": 5, "m": 1, "l": 0.7, "g": G},
        initial={"x": 0.3, "y": 0, "a": 0.4},
    )
    (found,) = system.equilibrium()
    assert found.q == pytest.approx([0.3, 0, 0], abs=1e-10)
    assert found.stability.verdict == "stable"
    assert found.stability.frequencies == pytest.approx([np.sqrt(G / 0.7)], rel=1e-9)
    assert found.stability.notes == ("sticking contacts count as joints",)
    assert found.contacts["floor"].normal == pytest.approx(6 * G)
    assert len(system.equilibrium(starts=5)) == 2  # hanging or standing, the block anywhere


UNIT = st.integers(-1000, 1000).map(lambda k: k / 1000)
# Wedged between three supports, held by forces a hundred times the load.
JAMMED = {
    "places": [(1.0, -0.349609375), (-0.81640625, 0.0), (0.796875, 0.791015625)],
    "angles": [2.15234375, -1.689453125, 0.18283148837189334],
    "load": (1.0, 0.0, 0.0),
    "weights": None,
    "mu": 0.280959530522777,
}


@example(**JAMMED)
@settings(max_examples=20, deadline=None)
@given(
    places=st.lists(st.tuples(UNIT, UNIT), min_size=2, max_size=3),
    angles=st.lists(UNIT.map(lambda u: 3 * u), min_size=3, max_size=3),
    load=st.tuples(UNIT, UNIT, UNIT),
    weights=st.lists(UNIT.map(abs), min_size=6, max_size=6) | st.none(),
    mu=st.integers(1, 10).map(lambda k: k / 10),
)
def test_a_body_on_random_supports_is_held_iff_the_edges_of_the_cones_span_the_load(places, angles, load, weights, mu):
    """Points on a body that push it along n with friction along s: held iff −load is a nonnegative combination of the
    forces n ± μ s at the points, which nonnegative least squares decides independently.
    """
    constraints, laws, edges = [], [], []
    for k, ((px, py), angle) in enumerate(zip(places, angles, strict=False)):
        n = np.array([np.cos(angle), np.sin(angle)])
        at = (f"x + ({px})*cos(a) - ({py})*sin(a)", f"y + ({px})*sin(a) + ({py})*cos(a)")
        gap = f"({n[0]})*({at[0]} - ({px})) + ({n[1]})*({at[1]} - ({py}))"
        constraints.append(da.Constraint(f"support {k}", gap, one_sided=True))
        laws.append(da.Coulomb(f"support {k}", mu=mu, point=at))
        for side in (mu, -mu):
            fx, fy = n + side * np.array([-n[1], n[0]])
            edges.append([fx, fy, px * fy - py * fx])
    if weights is not None:  # a load that can be held
        load = -np.array(weights[: len(edges)]) @ np.array(edges)
    body = da.System(
        "body", coordinates="x y a", kinetic="(x'^2 + y'^2)/2 + J*a'^2/2",
        forces=dict(zip(("x", "y", "a"), load, strict=True)), constraints=constraints, nonideal=laws,
        parameters={"J": 0.3}, initial={"x": 0, "y": 0, "a": 0},
    )  # fmt: skip
    size = float(np.linalg.norm(load))
    assume(size > 1e-2)
    _, left = nnls(np.array(edges).T, -np.array(load))
    assume(left < 1e-10 * size or left > 1e-4 * size)  # not just at a limit
    found = body.equilibrium()
    assert (len(found) == 1 and np.abs(found[0].q).max() < 1e-9) == (left < 1e-10 * size)


def test_what_friction_holds_in_two_places_is_two():
    """V = k (x² − 1)²/4 with little friction: held near −1, 0 and 1, and nowhere between."""
    system = spring().replace(potential="m*g*y + k*(x^2 - 1)^2/4", parameters={"mu": 5 / (2 * G), "k": 50})
    found = [round(e["x"]) for e in system.equilibrium({"x": 1}, starts=60)]
    assert len(found) == len(set(found)) >= 2


def test_bad_questions_are_told():
    with pytest.raises(da.ModelError, match="no coordinate or parameter"):
        spring().equilibrium(range_of="z")
    with pytest.raises(da.ModelError, match=r"between=\(LOW, HIGH\), --between LOW HIGH"):
        spring().equilibrium(range_of="mu")
    with pytest.raises(da.ModelError, match="a lower and a higher"):
        spring().equilibrium(range_of="mu", between=(1, 0))
    with pytest.raises(da.ModelError, match="two numbers"):
        spring().equilibrium(range_of="mu", between=3)
    with pytest.raises(da.DoesNotApply, match=r"not at rest at x = 2.*--between"):
        spring().equilibrium({"x": 2}, range_of="x")


def test_the_command_line(tmp_path: Path):
    path = tmp_path / "incline.toml"
    incline().save(path)
    options = ["--range-of", "th", "--between", "0", "1.5"]
    found = json.loads(CliRunner().invoke(app, ["equilibrium", str(path), "--json", *options]).stdout)
    assert found["range"]["intervals"][0][1] == pytest.approx(np.arctan(0.5))
    assert found["equilibria"][0]["stability"] == "held"
    shown = CliRunner().invoke(app, ["equilibrium", str(path), *options])
    assert "'plane' slips" in shown.stdout
    steep = CliRunner().invoke(app, ["equilibrium", str(path), "--set", "th=0.7"])
    assert steep.exit_code == 0
    assert "no equilibrium" in steep.stdout
