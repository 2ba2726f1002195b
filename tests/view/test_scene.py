"""Scenes: places, turns and forces of shapes against closed forms."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.kept_models import Origin, find_kept, keep_model
from dalembert.view.plots.panel import panels_of
from dalembert.view.scene.overlay import with_ghost
from dalembert.view.scene.rotations import of_axes, of_wheel, rotated
from dalembert.view.scene.scene import Scene
from dalembert.view.scene.scene_of import scene_of

# Motions are integrated to 1e-9, and interpolated for pictures to 1e-7 of their size.
CLOSE = 2e-6


@cache
def moving(name: str, duration: float = 1.0, **options: float) -> da.Motion:
    return da.library.get(name, **options).simulate(duration, samples=31)


def shapes(scene: Scene, kind: str, role: str | None = None) -> list:
    return [shape for shape in scene.shapes if shape["kind"] == kind and role in (None, shape["role"])]


def test_the_penny_touches_the_incline_where_the_closed_form_says():
    motion = moving("penny", 2.0)
    scene = scene_of(motion, fps=50)
    exact = da.library.exact("penny")(motion.system, scene.times)
    alpha = 0.3
    along, normal = np.array([np.cos(alpha), 0, -np.sin(alpha)]), np.array([np.sin(alpha), 0, np.cos(alpha)])
    contact = exact["x"][:, None] * along + exact["y"][:, None] * np.array([0, 1.0, 0])
    (disk,), (trace,) = shapes(scene, "disk"), shapes(scene, "trace")
    np.testing.assert_allclose(trace["position"], contact, atol=CLOSE)
    np.testing.assert_allclose(disk["position"] - disk["radius"] * normal, contact, atol=CLOSE)
    np.testing.assert_allclose(np.linalg.norm(disk["rotation"], axis=1), 1, atol=1e-12)
    assert scene.dimensions == 3


def test_the_penny_rolls():
    """The point of the body that touches the ground is at rest: it moves by the square of a short time only."""
    motion = moving("penny", 2.0)
    h = 1e-3
    times = np.sort(np.concatenate([np.arange(0.1, 1.9, 0.2), np.arange(0.1, 1.9, 0.2) + h]))
    (disk,) = shapes(scene_of(motion, frames=times), "disk")
    for k in range(0, times.size, 2):
        back = disk["rotation"][k] * [1, -1, -1, -1]
        foot = rotated(back, -disk["radius"] * np.array([[np.sin(0.3), 0, np.cos(0.3)]]))  # in the axes of the disk
        first, second = (rotated(disk["rotation"][i], foot)[0] + disk["position"][i] for i in (k, k + 1))
        # It would move by 0.005 if it slid; rolling lifts it by about v²h²/(2R).
        assert np.linalg.norm(second - first) < 30 * h**2


def test_rods_keep_their_lengths():
    scene = scene_of(moving("redundant_double_pendulum"), fps=60)
    for rod, length in zip(shapes(scene, "rod"), (1.0, 0.8), strict=True):
        np.testing.assert_allclose(np.linalg.norm(rod["to"] - rod["from"], axis=1), length, atol=CLOSE)


def test_a_body_turns_as_its_quaternion_says():
    motion = moving("quaternion_body", 3.0)
    scene = scene_of(motion, fps=20)
    exact = da.library.exact("quaternion_body")(motion.system, scene.times)
    e = np.stack([exact[f"e{k}"] for k in range(4)], axis=1)
    (box,), (arrow,) = shapes(scene, "box"), shapes(scene, "arrow")
    np.testing.assert_allclose(np.abs(np.sum(box["rotation"] * e, axis=1)), 1, atol=CLOSE)
    third = np.array([rotated(q, np.array([0, 0, 1.0])) for q in box["rotation"]])
    unit = arrow["vector"] / np.linalg.norm(arrow["vector"], axis=1, keepdims=True)
    np.testing.assert_allclose(unit, third, atol=CLOSE)


@pytest.mark.parametrize("fps", [30, 47.0])  # at outputs, and between them
def test_forces_of_the_pendulum(fps):
    motion = moving("pendulum")
    scene = scene_of(motion, fps=fps)
    exact = da.library.exact("pendulum")(motion.system, scene.times)
    (ideal,), (impressed,) = shapes(scene, "arrow", "ideal"), shapes(scene, "arrow", "impressed")
    for k, q in enumerate("xy"):
        expected = scene.force_scale * exact[f"ideal {q}"]
        np.testing.assert_allclose(ideal["vector"][:, k], expected, atol=1e-5 * scene.size)
    np.testing.assert_allclose(impressed["vector"], [[0, -9.81 * scene.force_scale, 0]])
    assert 0.2 < np.abs(ideal["vector"]).max() / scene.size < 0.8


def test_forces_in_joints_are_drawn_where_they_act():
    motion = moving("hinged_rods")
    scene = scene_of(motion, frames="outputs")
    known = da.library.forces("hinged_rods")(motion.system, motion.q, motion.v, motion.t)
    at_o, at_a = shapes(scene, "arrow", "ideal")
    for arrow, n in ((at_o, 1), (at_a, 2)):
        expected = np.column_stack([known[f"ideal x{n}"], -known[f"ideal y{n}"], 0 * motion.t])  # y downwards there
        np.testing.assert_allclose(arrow["vector"] / scene.force_scale, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(at_a["position"], axis=1), 1, atol=1e-9)


def test_friction_of_the_penny_lies_in_the_incline():
    motion = moving("penny", 2.0)
    scene = scene_of(motion, frames="outputs")
    (ideal,) = shapes(scene, "arrow", "ideal")
    np.testing.assert_allclose(ideal["vector"] @ [np.sin(0.3), 0, np.cos(0.3)], 0, atol=1e-12)
    sizes = np.hypot(motion["ideal x"], motion["ideal y"])
    np.testing.assert_allclose(np.linalg.norm(ideal["vector"], axis=1), scene.force_scale * sizes, atol=1e-9)


def test_an_angle_gives_no_force():
    """A torque is none, even about a rod of length 1, where the numbers agree."""
    system = da.System(
        "swing", coordinates="a", kinetic="a'^2/2", potential="-cos(a)", initial={"a": 1, "a'": 0},
        draw=[da.Point(("sin(a)", "-cos(a)"))],
    )  # fmt: skip
    assert shapes(scene_of(system.simulate(0.2, samples=3)), "arrow") == []
    asked = system.replace(draw=[da.Arrow(("sin(a)", "-cos(a)"), force="impressed")])
    with pytest.raises(da.ModelError, match="a do not move its place as Cartesian coordinates do"):
        scene_of(asked.simulate(0.2, samples=3))


def test_cones_stand_on_the_incline():
    motion = moving("thrown_block")
    scene = scene_of(motion, frames=15)
    (cone,) = shapes(scene, "cone")
    assert cone["angle"] == pytest.approx(np.arctan(0.4))
    np.testing.assert_allclose(cone["normal"], [[-np.sin(0.5), np.cos(0.5), 0]], atol=1e-12)
    np.testing.assert_allclose(cone["position"][:, 1], cone["position"][:, 0] * np.tan(0.5), atol=1e-9)
    assert shapes(scene_of(motion, frames=3, forces=False), "cone") == []


def test_events_have_their_place_and_kind():
    scene = scene_of(moving("bouncing_ball", 0.8), frames=9)
    first = scene.events[0]
    fall = np.sqrt(2 / 9.81)
    assert first["kind"] == "impact"
    assert first["time"] == pytest.approx(fall, abs=1e-8)
    np.testing.assert_allclose(first["position"], [0.5 * fall, 1 / 16, 0], atol=1e-8)  # the middle of the ball
    kinds = {event["kind"] for event in scene_of(moving("stick_slip", 3.0), frames=3).events}
    assert kinds == {"slip", "stick"}


def test_times_are_real_times_and_end_with_the_motion():
    motion = moving("pendulum")
    np.testing.assert_allclose(scene_of(motion, fps=30).times, np.arange(31) / 30)
    np.testing.assert_allclose(scene_of(motion, fps=10, speed=0.25).times, np.arange(41) / 40)
    np.testing.assert_array_equal(scene_of(motion, frames="outputs").times, motion.t)
    between = scene_of(motion, frames=[0.123, 0.7])
    (bob,) = shapes(between, "sphere")
    state = motion([0.123, 0.7])
    np.testing.assert_allclose(bob["position"][:, 0], state["x"], atol=CLOSE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frames": [0.5, 2.0]}, "times in order within the motion, t = 0 … 1"),
        ({"frames": "all"}, "a number of them or their times are wanted, got 'all'"),
        ({"fps": 0}, "fps is a positive number, got 0"),
        ({"speed": float("nan")}, "speed is a positive number"),
        ({"fps": 1e6}, "would have 1000001 frames"),
    ],
)
def test_bad_frames(options, message):
    with pytest.raises(da.OutputError, match=message):
        scene_of(moving("pendulum"), **options)


def test_plain_data():
    scene = scene_of(moving("stacked_blocks"), frames=5)
    data = json.loads(json.dumps(scene.to_dict(), allow_nan=False))
    assert list(data) == ["name", "dimensions", "times", "bounds", "force_scale", "shapes", "events"]
    boxes = [shape for shape in data["shapes"] if shape["kind"] == "box"]
    assert boxes[0]["size"] == [1.4, 0.2, 0.2]
    assert len(boxes[1]["position"]) == 5
    assert boxes[0]["rotation"] == [[1, 0, 0, 0]]  # one row where nothing changes


def test_a_system_without_a_drawing_shows_points_and_dials():
    system = da.System(
        "wheel", coordinates="x y phi", kinetic="(x'^2 + y'^2)/2 + 3*phi'^2/2",
        initial={"x": 0, "y": 0, "phi": 0.5, "x'": 1, "y'": 0, "phi'": 2},
    )  # fmt: skip
    scene = scene_of(system.simulate(1.0, samples=5), frames="outputs")
    (point,), (dial,) = shapes(scene, "point"), shapes(scene, "dial")
    np.testing.assert_allclose(point["position"][:, 0], scene.times, atol=1e-9)
    assert dial["label"] == "φ"
    turn = 2 * np.arctan2(dial["rotation"][:, 3], dial["rotation"][:, 0])
    np.testing.assert_allclose(np.unwrap(turn), 0.5 + 2 * scene.times - np.pi / 2, atol=1e-9)  # from below, as a swing


def test_a_mass_on_a_line_is_a_point():
    start = {"z": 0.5, "z'": 0}
    system = da.System("mass", coordinates="z", kinetic="z'^2/2", potential="z^2/2", initial=start)
    scene = scene_of(system.simulate(1.0, samples=5), frames="outputs")
    (point,) = shapes(scene, "point")
    assert shapes(scene, "dial") == []
    np.testing.assert_allclose(point["position"], np.outer(0.5 * np.cos(scene.times), [0, 1, 0]), atol=1e-9)


def test_outputs_are_points_where_the_model_has_no_others():
    """A tip that has no value is left out, and dials show the angle in any case."""
    outputs = {"tip x": "sin(a)", "tip y": "-cos(a)", "far x": "log(a)", "far y": "a"}
    start = {"a": 0.5, "a'": -1}
    system = da.System("rod", coordinates="a", kinetic="a'^2/2", potential="-cos(a)", initial=start, outputs=outputs)
    motion = system.simulate(1.0, samples=5)
    scene = scene_of(motion, frames="outputs")
    (point,), (dial,) = shapes(scene, "point"), shapes(scene, "dial")
    np.testing.assert_allclose(point["position"][:, 0], np.sin(motion["a"]), atol=1e-12)
    assert dial["label"] == "a"


def test_what_hangs_still_is_drawn_still():
    """Neither the hand of a dial nor the forces show rounding errors, and a single point does not fill the picture."""
    system = da.System("hanging", coordinates="w", kinetic="w'^2/2", potential="5*w^2 + 9.81*w",
                       initial={"w": -0.981, "w'": 0})  # fmt: skip
    motion = system.simulate(5.0, samples=51)
    (dial,) = shapes(scene_of(motion, frames="outputs"), "dial")
    np.testing.assert_allclose(np.abs(dial["rotation"] @ [1, 0, 0, 1]) / np.sqrt(2), 1, atol=1e-6)  # straight up
    forces, energy, error = panels_of(motion, ["forces", "energy balance", "energy error"])
    assert forces.text == "no forces act"
    assert error.text or max(curve.y.max() for curve in error.curves) <= 1e-5
    assert not energy.text


def test_points_in_space_have_axes():
    system = da.System("free", coordinates="x y z", kinetic="(x'^2 + y'^2 + z'^2)/2",
                       initial={"x": 0, "y": 0, "z": 0, "x'": 1, "y'": 2, "z'": 3})  # fmt: skip
    axes = shapes(scene_of(system.simulate(1.0, samples=3), frames="outputs"), "arrow")
    assert [axis["label"] for axis in axes] == ["x", "y", "z"]
    np.testing.assert_allclose([axis["vector"][0] for axis in axes], 0.16 * 3 * np.eye(3), rtol=1e-6)


def test_particles_without_a_drawing():
    system = da.library.liberated_pendulum().replace(draw=[])
    motion = system.simulate(0.5, samples=6)
    (bob,) = shapes(scene_of(motion, frames="outputs"), "point")
    np.testing.assert_allclose(bob["position"][:, 0], np.sin(motion["alpha"]), atol=1e-12)


def test_definitions_and_several_bodies_of_one_mass():
    system = da.System(
        "two", coordinates="x1 y1 x2 y2", kinetic="(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2",
        definitions={"middle": "(x1 + x2)/2"},
        initial={"x1": 0, "y1": 0, "x2": 2, "y2": 1, "x1'": 1, "y1'": 0, "x2'": 0, "y2'": 0},
    )  # fmt: skip
    motion = system.simulate(1.0, samples=3)
    assert [p["label"] for p in shapes(scene_of(motion), "point")] == ["x₁, y₁", "x₂, y₂"]
    drawn = motion.system.replace(draw=[da.Point(("middle", "middle'"))]).simulate(1.0, samples=3)
    (point,) = shapes(scene_of(drawn, frames="outputs"), "point")
    np.testing.assert_allclose(point["position"], [[1, 0.5, 0], [1.25, 0.5, 0], [1.5, 0.5, 0]], atol=1e-9)


def test_many_bodies_have_no_labels_and_no_arrows():
    names = [f"{axis}{k}" for k in range(21) for axis in "xy"]
    start = {name: k for k, name in enumerate(names)} | {f"{name}'": 0 for name in names}
    kinetic, potential = " + ".join(f"{name}'^2/2" for name in names), " + ".join(names)
    system = da.System("dust", coordinates=names, kinetic=kinetic, potential=potential, initial=start)
    scene = scene_of(system.simulate(0.1, samples=2), frames="outputs")
    assert {(shape["kind"], shape["label"]) for shape in scene.shapes} == {("trace", ""), ("point", "")}
    assert len(shapes(scene, "point")) == 21


def test_ghosts_are_another_motion_at_the_same_times():
    motion = moving("skater", 0.5)
    scene = with_ghost(scene_of(motion, fps=10), motion.system.vakonomic(0.4, samples=21, rtol=1e-8))
    ghosts = shapes(scene, "trace", "ghost")
    assert len(ghosts) == 1
    assert len(ghosts[0]["position"]) == scene.times.size
    np.testing.assert_array_equal(ghosts[0]["position"][-1], ghosts[0]["position"][-2])  # it stays at its end
    with pytest.raises(da.OutputError, match="their times must overlap"):
        with_ghost(scene, motion.system.replace(initial={"t": 3}).simulate(0.1, samples=3))


def test_wheels_and_axes():
    turns = np.linspace(0, 3, 7)
    flat = of_wheel(np.tile([0, 0, 1.0], (7, 1)), turns, None)
    np.testing.assert_allclose(flat, np.column_stack([np.cos(turns / 2), 0 * turns, 0 * turns, np.sin(turns / 2)]))
    rng = np.random.default_rng(4)
    R, _ = np.linalg.qr(rng.normal(size=(50, 3, 3)))
    R *= np.linalg.det(R)[:, None, None]
    q = of_axes(R[:, :, 0], R[:, :, 1], R[:, :, 2])
    for k in range(50):
        np.testing.assert_allclose(rotated(q[k], np.eye(3)), R[k].T, atol=1e-12)


def test_a_parameter_without_a_value_is_asked_for():
    motion = moving("pendulum")
    width = da.parameters("width")[0]
    x, y = motion.system.coordinates
    drawn = motion.system.replace(draw=[da.Rod((0, 0), (x, y), width=width)])
    with pytest.raises(da.ModelError, match="draw: no value for parameter width"):
        scene_of(drawn.simulate(0.1, samples=3))


@pytest.mark.parametrize(
    ("radius", "message"), [("-l", "is -1; a length is wanted"), ("2 + x", "changes along the motion")]
)
def test_lengths_are_constant_and_not_negative(radius, message):
    drawn = da.library.pendulum().replace(draw=[da.Sphere(("x", "y"), radius)])
    with pytest.raises(da.ModelError, match=message):
        scene_of(drawn.simulate(0.1, samples=3))


def test_a_kept_model_is_drawn_as_it_was_written():
    system = da.library.pendulum(l=1.7)
    origin = Origin("a pendulum of a test of drawings", lambda: system)
    keep_model(origin, system)
    kept = find_kept(origin)
    assert kept is not None
    assert kept.draw == system.draw
    motion = kept.simulate(0.2, samples=5)
    assert (
        scene_of(motion, frames="outputs").to_dict()
        == scene_of(system.simulate(0.2, samples=5), frames="outputs").to_dict()
    )


def test_a_place_without_a_value_is_told():
    drawn = da.library.pendulum().replace(draw=[da.Point(("sqrt(-1 - x^2)", "y"))])
    with pytest.raises(da.ModelError, match="position of a point has no finite value"):
        scene_of(drawn.simulate(0.1, samples=3))
