"""Equilibria of smooth systems: configurations, reactions, stability and frequencies against closed forms."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Rational, cos, sin, sqrt
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import app

G = 9.81
x, y, th = da.coordinates("x y th")


def on_a_line(name: str, **parts) -> da.System:
    return da.System(name, **{"coordinates": [x], "kinetic": x.d**2 / 2, "initial": {x: 0.3}, **parts})


def test_pendulum_hangs_or_stands():
    found = da.library.pendulum(m=2, l=0.8, angle=0.4).equilibrium(starts=10)
    down, up = found
    assert [down["x"], down["y"]] == pytest.approx([0, -0.8], abs=1e-14)
    assert down.stability.verdict == "stable"
    assert down.stability.frequencies == pytest.approx([np.sqrt(G / 0.8)], rel=1e-12)
    assert [up["x"], up["y"]] == pytest.approx([0, 0.8], abs=1e-14)
    assert up.stability.verdict == "unstable"
    assert not up.stability.frequencies.size
    # 2 λ (x, y) + (0, −m g) = 0
    assert down.reactions == pytest.approx({"rod": -2 * G / 1.6}, rel=1e-13)
    assert down.on_particles["x, y"] == pytest.approx([0, 2 * G], rel=1e-13)
    assert down.determined
    assert found.stable == (down,)


def test_the_state_found_does_not_accelerate():
    system = da.library.redundant_double_pendulum()
    for found in system.equilibrium(starts=12):
        now = system.at(found.state)
        assert np.abs(now.acceleration).max() < 1e-12
        assert found.ideal == pytest.approx(now.ideal, abs=1e-12)


def test_a_mode_is_a_small_oscillation_that_is_seen():
    system = da.library.pendulum(angle=0.01)
    (found, *_) = system.equilibrium()
    motion = system.simulate(10, samples=2001)
    crossing = motion.t[:-1][(motion["x"][:-1] < 0) & (motion["x"][1:] >= 0)]
    period = np.mean([b - a for a, b in pairwise(crossing)])
    assert 2 * np.pi / found.stability.frequencies[0] == pytest.approx(period, rel=1e-2)


def test_redundant_double_pendulum():
    """Hanging: T1 = (m1 + m2) g, T2 = m2 g; the frequencies solve det(K − ω²M) = 0 of the two angles."""
    found = da.library.redundant_double_pendulum().equilibrium(starts=12)
    assert len(found) == 4
    hanging = found.stable[0]
    assert hanging.q == pytest.approx([0, -1, 0, -1.8], abs=1e-13)
    assert not hanging.determined
    assert hanging.on_particles["x1, y1"] == pytest.approx([0, G], abs=1e-12)
    assert hanging.on_particles["x2, y2"] == pytest.approx([0, 0.5 * G], abs=1e-12)
    pull = hanging.forces["upper rod"] + hanging.forces["upper rod again"]
    assert pull == pytest.approx([0, 1.5 * G, 0, 0], abs=1e-12)
    M = np.array([[1.5, 0.5 * 0.8], [0.5 * 0.8, 0.5 * 0.64]])
    K = np.diag([1.5 * G, 0.5 * G * 0.8])
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)))
    assert hanging.stability.frequencies**2 == pytest.approx(squares, rel=1e-10)
    assert [e.stability.verdict for e in found].count("unstable") == 3


def test_two_hinged_rods_pulled_sideways():
    """A force P along x at the free end B: moments about A and O give tan ψ = 2P/(m g), tan φ = 2P/(3 m g); the joints
    carry all that hangs below them, R_A = (−P, −m g), R_O = (−P, −2 m g) with y downwards.
    """
    P = 4.0
    pull = {"x1": P, "x2": P, "phi": f"{P}*l*cos(phi)", "psi": f"{P}*l*cos(psi)"}
    (found,) = da.library.hinged_rods(angle1=0.5, angle2=0.5).replace(forces=pull).equilibrium()
    assert found["phi"] == pytest.approx(np.arctan(2 * P / (3 * G)), rel=1e-13)
    assert found["psi"] == pytest.approx(np.arctan(2 * P / G), rel=1e-13)
    assert found.reactions == pytest.approx({"O x": -P, "O y": -2 * G, "A x": -P, "A y": -G}, rel=1e-13)
    assert found.on_particles["x1, y1"] == pytest.approx([-P, -2 * G], rel=1e-12)
    assert found.stability.verdict == "stable"


@pytest.mark.parametrize("w", [2.0, 4.0])
def test_bead_on_a_rotating_hoop_bifurcates(w):
    """In the turning frame V = −m g R cos θ − m ω²R² sin²θ/2: below ω² = g/R only the bottom is stable, above it the
    two places cos θ = g/(ω²R), with the frequency ω sin θ.
    """
    m, R = 0.7, 1.3
    kinetic = m * R**2 * (th.d**2 + w**2 * sin(th) ** 2) / 2
    hoop = da.System("hoop", coordinates=[th], kinetic=kinetic, potential=-m * G * R * cos(th), initial={th: 0.3})
    found = {round(e["th"], 9): e for e in hoop.equilibrium(starts=20)}
    if w**2 * R < G:
        assert {k: e.stability.verdict for k, e in found.items()} == {0: "stable", round(np.pi, 9): "unstable"}
        assert found[0].stability.frequencies == pytest.approx([np.sqrt(G / R - w**2)], rel=1e-10)
        return
    side = np.arccos(G / (w**2 * R))
    verdicts = {0: "unstable", round(np.pi, 9): "unstable", round(side, 9): "stable", round(-side, 9): "stable"}
    assert {k: e.stability.verdict for k, e in found.items()} == verdicts
    assert found[round(side, 9)]["th"] == pytest.approx(side, rel=1e-13)
    assert found[round(side, 9)].stability.frequencies == pytest.approx([w * np.sin(side)], rel=1e-10)


def test_at_the_bifurcation_nothing_is_decided():
    kinetic = (th.d**2 + 9 * sin(th) ** 2) / 2
    hoop = da.System("hoop", coordinates=[th], kinetic=kinetic, potential=-9 * cos(th), initial={th: 0.3})
    (found,) = hoop.equilibrium()
    assert found["th"] == pytest.approx(0, abs=1e-5)
    assert found.stability.verdict == "undecided"
    assert found.stability.free == 1


def test_masses_between_three_springs():
    k, m = 50.0, 2.0
    chain = da.System(
        "chain", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=k * (x**2 + (y - x) ** 2 + y**2) / 2, initial={x: 1, y: -2},
    )  # fmt: skip
    (found,) = chain.equilibrium()
    assert found.stability.frequencies == pytest.approx(np.sqrt([k / m, 3 * k / m]), rel=1e-12)
    first, second = found.stability.modes.T
    assert first[0] == pytest.approx(first[1])
    assert second[0] == pytest.approx(-second[1])


@pytest.mark.parametrize(("power", "verdict"), [(2, "stable"), (4, "undecided"), (3, "undecided")])
def test_a_flat_potential_is_undecided(power, verdict):
    (found,) = on_a_line("well", potential=x**power).equilibrium()
    assert found["x"] == pytest.approx(0, abs=1e-5)
    assert found.stability.verdict == verdict


@pytest.mark.parametrize(
    ("damping", "turning", "verdict"), [(0, 0.5, "unstable"), (1, 0.5, "stable"), (1, 3, "unstable"), (0, 0, "stable")]
)
def test_circulatory_forces_need_the_linearised_motion(damping, turning, verdict):
    """ẍ = −4x + c y − d ẋ, ÿ = −4y − c x − d ẏ: stable iff c < d √4; without damping never, save for c = 0."""
    system = da.System(
        "follower", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2,
        forces={x: -4 * x + turning * y - damping * x.d, y: -4 * y - turning * x - damping * y.d},
        initial={x: 0.1, y: 0.2},
    )  # fmt: skip
    (found,) = system.equilibrium()
    assert found.stability.verdict == verdict
    assert found.stability.by.startswith("eigenvalues" if turning else "second variation")


@pytest.mark.parametrize(("b", "verdict"), [(1, "unstable"), (3, "undecided")])
def test_gyroscopic_forces_on_a_hill(b, verdict):
    """V = −r²/2 with a field b: bounded in the linear approximation iff b² > 4, which proves no stability."""
    L = (x.d**2 + y.d**2) / 2 + b * (x * y.d - y * x.d) / 2 + (x**2 + y**2) / 2
    (found,) = da.System("hill", coordinates=[x, y], lagrangian=L, initial={x: 0.1, y: 0.2}).equilibrium()
    assert found.stability.verdict == verdict
    assert found.stability.by.startswith("eigenvalues")
    if b == 3:  # ω² ∓ b ω + 1 = 0
        assert found.stability.frequencies == pytest.approx([(3 - np.sqrt(5)) / 2, (3 + np.sqrt(5)) / 2], rel=1e-10)
        assert "linearised frequencies: 0.381966" in str(found)
        assert "only oscillates, which does not prove stability" in str(found)
    else:
        assert not found.stability.frequencies.size


def test_the_triangular_points_oscillate_in_the_linear_approximation():
    """ω⁴ − ω² + 27 μ(1 − μ)/4 = 0 in the circular restricted problem of three bodies."""
    mu = Rational(1, 100)
    V = -(1 - mu) / sqrt((x + mu) ** 2 + y**2) - mu / sqrt((x - 1 + mu) ** 2 + y**2)
    kinetic = ((x.d - y) ** 2 + (y.d + x) ** 2) / 2
    (found,) = da.System(
        "L4", coordinates=[x, y], kinetic=kinetic, potential=V, initial={x: 0.45, y: 0.85}
    ).equilibrium()
    assert found.q == pytest.approx([0.49, np.sqrt(3) / 2], rel=1e-12)
    assert found.stability.verdict == "undecided"
    squares = np.sort(np.roots([1, -1, 27 * 0.0099 / 4]))
    assert found.stability.frequencies**2 == pytest.approx(squares, rel=1e-9)


def test_a_double_frequency_with_one_mode_is_not_called_oscillating():
    """V = −r²/2 in a field b = 2: both frequencies are 1, and t e^{it} is a motion too."""
    L = (x.d**2 + y.d**2) / 2 + (x * y.d - y * x.d) + (x**2 + y**2) / 2
    (found,) = da.System("hill", coordinates=[x, y], lagrangian=L, initial={x: 0.1, y: 0.2}).equilibrium()
    assert not found.stability.frequencies.size
    assert not found.stability.notes


def test_gyroscopic_forces_in_a_bowl_leave_it_stable():
    """Frequencies of a charge in a bowl V = r²/2 and a field b: ω² ∓ b ω − 1 = 0."""
    L = (x.d**2 + y.d**2) / 2 + 3 * (x * y.d - y * x.d) / 2 - (x**2 + y**2) / 2
    (found,) = da.System("bowl", coordinates=[x, y], lagrangian=L, initial={x: 0.1, y: 0.2}).equilibrium()
    assert found.stability.verdict == "stable"
    assert found.stability.frequencies == pytest.approx([(np.sqrt(13) - 3) / 2, (np.sqrt(13) + 3) / 2], rel=1e-10)


def test_a_knife_edge_on_an_incline_rests_across_it():
    """The edge forbids displacements across itself, so that gravity must act across it: cos φ = 0, anywhere."""
    (found,) = da.library.skater().equilibrium({"x": 1, "y": 2, "phi": 1.2})
    assert found["phi"] == pytest.approx(np.pi / 2, rel=1e-10)
    assert found.stability.verdict == "undecided"
    assert found.stability.free > 0
    both = da.library.skater().equilibrium(starts=6)  # two families: forwards and backwards
    assert sorted(e["phi"] for e in both) == pytest.approx([-np.pi / 2, np.pi / 2], rel=1e-10)


def test_a_velocity_constraint_that_moves_must_let_it_rest():
    """x' = y lets nothing rest except where y = 0."""
    system = da.System(
        "belt", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=(y - 1) ** 2 / 2 + x**2 / 2,
        constraints={"belt": x.d - y}, initial={x: 1, y: 1},
    )  # fmt: skip
    assert len(system.equilibrium(starts=5)) == 0
    (found,) = system.replace(potential=y**2 / 2 + x * 3).equilibrium()
    assert found["y"] == pytest.approx(0, abs=1e-12)
    assert found.reactions["belt"] == pytest.approx(3)


def test_nothing_is_free_to_move():
    system = da.System(
        "fixed", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2, potential=5 * y,
        constraints={"a": x**2 + y**2 - 1, "b": x - Rational(3, 5)}, initial={x: 0.5, y: 0.7},
    )  # fmt: skip
    (found,) = system.equilibrium()
    assert found.q == pytest.approx([0.6, 0.8])
    assert found.stability.verdict == "rigid"
    assert found.forces["a"] + found.forces["b"] == pytest.approx([0, 5], abs=1e-13)


def test_time_must_be_stopped():
    system = da.library.moving_length_pendulum()
    with pytest.raises(da.DoesNotApply, match=r"time appears.*\(t=…, --time …\)"):
        system.equilibrium()
    (found,) = system.equilibrium(t=2.0)
    assert found["y"] == pytest.approx(-1.4)
    assert found.stability.frequencies == pytest.approx([np.sqrt(G / 1.4)])


def test_one_sided_constraints_push_or_are_open():
    floor = [da.Constraint("floor", y >= 0), da.Constraint("wall", x + 2 >= 0)]
    parts = {"coordinates": [x, y], "kinetic": (x.d**2 + y.d**2) / 2, "constraints": floor, "initial": {x: 0.5, y: 1}}
    (resting,) = da.System("ball", potential=10 * y + x**2 / 2, **parts).equilibrium()
    assert resting.q == pytest.approx([0, 0], abs=1e-13)
    assert resting.reactions == pytest.approx({"floor": 10, "wall": 0})
    assert resting.open == ("wall",)
    assert resting.stability.verdict == "stable"
    (hanging,) = da.System("ball", potential=10 * (y - 1) ** 2 + x**2 / 2, **parts).equilibrium()
    assert hanging.open == ("floor", "wall")
    nowhere = da.System("ball", potential=-10 * y + x**2 / 2, **parts).equilibrium()
    assert not len(nowhere)
    assert "'floor' would have to pull" in str(nowhere)
    with pytest.raises(IndexError, match="floor"):
        nowhere[0]


def test_viscous_friction_leaves_equilibria_stable():
    pendulum = da.library.pendulum(angle=0.5).replace(nonideal=[da.Viscous("rod", 0.3)])
    (found,) = pendulum.equilibrium()
    assert found.stability.verdict == "stable"
    assert found.stability.frequencies == pytest.approx([np.sqrt(G)])
    # λ² + c λ + g/l = 0
    assert found.stability.damped == pytest.approx([np.sqrt(G - 0.15**2)])


def test_natural_frequencies_are_those_without_damping():
    """x'' + 0.4 x' + 4 x = 0: 2, and with damping √(4 − 0.04)."""
    (found,) = on_a_line("damped", potential=2 * x**2, forces={x: -Rational(2, 5) * x.d}).equilibrium()
    assert found.stability.frequencies == pytest.approx([2], rel=1e-12)
    assert found.stability.damped == pytest.approx([np.sqrt(3.96)], rel=1e-12)
    assert "natural frequencies: 2\n" in str(found)
    assert "damped frequencies: 1.989974" in str(found)
    assert found.to_dict()["damped_frequencies"] == pytest.approx([np.sqrt(3.96)])


def test_damping_leaves_the_frequencies_of_gyroscopic_forces():
    """V = r²/2 in a field b = 3, damped: naturally ω² ∓ b ω − 1 = 0."""
    L = (x.d**2 + y.d**2) / 2 + 3 * (x * y.d - y * x.d) / 2 - (x**2 + y**2) / 2
    bowl = da.System("bowl", coordinates=[x, y], lagrangian=L, forces={x: -x.d, y: -y.d}, initial={x: 0.1, y: 0.2})
    (found,) = bowl.equilibrium()
    assert found.stability.frequencies == pytest.approx([(np.sqrt(13) - 3) / 2, (np.sqrt(13) + 3) / 2], rel=1e-10)
    roots = np.roots([1, 1 - 3j, 1])  # of z = x + i y
    assert found.stability.damped == pytest.approx(np.sort(np.abs(roots.imag)), rel=1e-10)


@pytest.mark.parametrize("system", ["prescribed_acceleration", "appell_fall"])
def test_what_is_not_determined_at_rest_is_refused(system):
    with pytest.raises(da.DoesNotApply, match="not determined"):
        da.library.get(system).equilibrium()


def test_bad_input_is_told():
    pendulum = da.library.pendulum()
    with pytest.raises(da.ModelError, match="starts"):
        pendulum.equilibrium(starts=0)
    with pytest.raises(da.ModelError, match="finite number"):
        pendulum.equilibrium(t="now")
    with pytest.raises(da.ModelError, match=r"range_of=…, --range-of …"):
        pendulum.equilibrium(between=(0, 1))
    with pytest.raises(da.DoesNotApply, match="fill a range"):
        pendulum.equilibrium(range_of="x")
    with pytest.raises(da.MissingValues, match=r"no initial value for x: .*--initial x=…"):
        da.System("s", coordinates="x", kinetic="x'^2", potential="x^2").equilibrium()
    with pytest.raises(KeyError, match="no coordinate"):
        pendulum.equilibrium()[0]["z"]


@settings(max_examples=20, deadline=None)
@given(
    k=st.lists(st.floats(0.5, 4), min_size=3, max_size=3),
    c=st.lists(st.floats(-0.3, 0.3), min_size=6, max_size=6),
    load=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    m=st.lists(st.floats(0.3, 3), min_size=3, max_size=3),
)
def test_random_springs_on_a_random_plane(k, c, load, m):
    """A quadratic potential on a plane has one equilibrium, from linear algebra: [K Aᵀ; A 0][q; −λ] = [F; d]."""
    q = da.coordinates("a b c")
    K = np.diag(k) + np.array([[0, c[0], c[1]], [c[0], 0, c[2]], [c[1], c[2], 0]])
    A = np.array([[1.0, c[3], c[4]]])
    potential = sum(K[i, j] * q[i] * q[j] / 2 for i in range(3) for j in range(3))
    system = da.System(
        "plane", coordinates=q, kinetic=sum(mi * qi.d**2 / 2 for mi, qi in zip(m, q, strict=True)),
        potential=potential, forces=dict(zip(q, load, strict=True)),
        constraints={"plane": sum(a * qi for a, qi in zip(A[0], q, strict=True)) - c[5]},
        initial=dict.fromkeys(q, 0.5),
    )  # fmt: skip
    (found,) = system.equilibrium()
    exact = np.linalg.solve(np.block([[K, A.T], [A, np.zeros((1, 1))]]), np.concatenate([load, [c[5]]]))
    assert found.q == pytest.approx(exact[:3], abs=1e-9)
    assert found.multipliers[0] == pytest.approx(-exact[3], abs=1e-9)
    N = np.linalg.svd(A)[2][1:].T
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(N.T @ np.diag(m) @ N, N.T @ K @ N)).real)
    if squares[0] > 1e-3:
        assert found.stability.verdict == "stable"
        assert found.stability.frequencies == pytest.approx(np.sqrt(squares), rel=1e-8)


def test_the_command_line():
    shown = CliRunner().invoke(app, ["equilibrium", "pendulum"])
    assert shown.exit_code == 0
    assert "stable" in shown.stdout
    assert "natural frequencies: 3.132092" in shown.stdout
    result = CliRunner().invoke(app, ["equilibrium", "pendulum", "--json", "--set", "l=2"])
    found = json.loads(result.stdout)["equilibria"]
    assert {round(e["q"]["y"], 9): e["stability"] for e in found} == {-2: "stable", 2: "unstable"}
    stopped = CliRunner().invoke(app, ["equilibrium", "moving_length_pendulum", "--time", "0", "--json"])
    assert json.loads(stopped.stdout)["equilibria"][0]["frequencies"] == pytest.approx([np.sqrt(G)])


@pytest.mark.parametrize("start", [0.0, 0.3])
def test_a_squared_constraint_is_refused_by_name(start: float) -> None:
    """It has no reaction where it is satisfied, so that nothing would balance."""
    system = da.System(
        "squared",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="x^2 + y",
        constraints={"floor": "y^2"},
        initial={"x": 1, "y": start, "x'": 0, "y'": 0},
    )
    with pytest.raises(da.ModelError, match="'floor' has no gradient on its own surface"):
        system.equilibrium()
    found = system.replace(constraints={"floor": "y"}).equilibrium()
    assert [e["x"] for e in found] == pytest.approx([0.0])


def test_forces_without_a_slope_are_told_as_such() -> None:
    system = da.System("cusp", coordinates="x", kinetic="x'^2/2", potential="abs(x)^1.5", initial={"x": 0, "x'": 0})
    with pytest.raises(da.DalembertError, match="no finite slope at x = 0") as caught:
        system.equilibrium()
    assert "Coulomb" not in str(caught.value)
