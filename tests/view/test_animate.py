"""Animations as files: frames, time, styles, and what is refused."""

from __future__ import annotations

import io
import json
import re
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from PIL import Image

import dalembert as da
from dalembert.view.animate import video
from dalembert.view.animate.animate import with_names_of_their_own
from dalembert.view.animate.camera import Camera
from dalembert.view.animate.gif import delays, gif_of
from dalembert.view.animate.look import hull
from dalembert.view.animate.painter import Painter, Style
from dalembert.view.scene.scene_of import scene_of

SMALL = {"width": 160, "height": 120}


@cache
def swing() -> da.Motion:
    return da.library.pendulum().simulate(1.0, samples=31)


def test_a_gif_has_the_frames_and_the_time_of_the_motion(tmp_path):
    file = swing().animate(tmp_path / "swing.gif", fps=20, style=SMALL)
    with Image.open(file) as image:
        assert image.size == (160, 120)
        assert image.n_frames == 21
        shown = []
        for k in range(image.n_frames):
            image.seek(k)
            shown.append(image.info["duration"])
    assert sum(shown) == 1050
    assert [path.name for path in tmp_path.iterdir()] == ["swing.gif"]  # nothing is left beside it


def test_slow_motion_has_more_frames(tmp_path):
    file = swing().animate(tmp_path / "slow.gif", fps=10, speed=0.5, style=SMALL)
    with Image.open(file) as image:
        assert image.n_frames == 21


def test_hundredths_of_seconds_are_dealt_out():
    given = delays(600, 30)
    assert set(given) == {30, 40}
    assert sum(given) == 20_000
    assert sum(delays(1000, 24)) == pytest.approx(1e6 / 24, abs=10)


@pytest.mark.parametrize(
    ("start", "span", "text"),
    [(0, 20, "13.33"), (0, 0.05, "0.0333"), (0, 1e-7, "6.667e-08"), (0, 3e7, "2e+07"), (100, 2e4, "13433")],
)
def test_the_time_has_digits_that_change(start, span, text):
    scene = replace(scene_of(swing(), frames=4), times=start + span * np.arange(4) / 3)
    (panel,) = Painter([scene], Style(**SMALL)).panels
    assert panel.time_text(float(scene.times[2])) == text


def test_long_names_are_shortened_and_what_rests_is_small():
    """At rest there is one point, of 0.016 of a drawing that is two units wide."""
    rest = da.System("rest " * 60, coordinates="x y", kinetic="(x'^2 + y'^2)/2",
                     initial={"x": 5, "y": 5, "x'": 0, "y'": 0})  # fmt: skip
    painter = Painter([scene_of(rest.simulate(1.0, samples=3), frames=2)], Style(**SMALL))
    (title,) = [text for text in painter.figure.texts if text.get_text().startswith("rest")]
    assert title.get_text().endswith("…")
    assert title.get_window_extent().width <= 140
    assert np.ptp(painter.panels[0].axes.get_ylim()) > 2


def test_a_gif_shows_what_was_drawn():
    """Its colours are those of the images, to what 255 of them can tell."""
    painter = Painter([scene_of(swing(), frames=3)], Style(**SMALL))
    images = [painter.image(k).copy() for k in range(3)]
    with Image.open(io.BytesIO(gif_of(images, images, 10))) as film:
        film.seek(2)
        seen = np.asarray(film.convert("RGB")).astype(int)
    away = np.abs(seen - images[2][:, :, :3].astype(int))
    assert away.mean() < 2
    assert np.percentile(away, 99) < 20


def test_the_bob_is_where_it_should_be():
    """The middle of what is red in a frame is the bob's place in the window of the drawing."""
    motion = swing()
    scene = scene_of(motion, frames="outputs", forces=False)
    painter = Painter([scene], Style(width=320, height=320))
    (panel,) = painter.panels
    for frame in (0, 10, 30):
        image = painter.image(frame).astype(int)
        rows, columns = np.nonzero((image[:, :, 0] - image[:, :, 2] > 120) & (image[:, :, 0] > 150))
        seen = panel.axes.transData.inverted().transform((columns.mean() + 0.5, 320 - rows.mean() - 0.5))
        # Light on one side of the ball moves the middle of its red by a pixel or two.
        np.testing.assert_allclose(seen, [motion["x"][frame], motion["y"][frame]], atol=3 * panel.pixel)


def test_motions_stand_side_by_side_and_ghosts_lie_below(tmp_path):
    file = swing().animate(tmp_path / "two.gif", fps=5, style={"width": 240}, beside=swing(), ghost=swing())
    with Image.open(file) as image:
        assert image.size[0] == 240
        assert image.n_frames == 6
    painter = Painter([scene_of(swing(), frames=4)] * 2, Style(width=240, theme="dark"))
    assert len(painter.panels) == 2
    assert np.all(painter.image(0)[0, 0, :3] < 40)


def test_a_page_has_the_scenes_and_the_plots(tmp_path):
    file = swing().animate(tmp_path / "two.html", fps=5, style="dark", beside=swing(), ghost=swing())
    text = file.read_text("utf-8")
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    assert [scene["name"] for scene in data["scenes"]] == ["pendulum", "pendulum"]
    assert [shape.get("role") == "ghost" for shape in data["scenes"][0]["shapes"]].count(
        True
    ) == 4  # without the ground
    assert data["panels"]
    assert 'data-theme="dark"' in text
    inline = swing().animate(fps=5)  # as a notebook shows it
    assert 'data-theme="auto"' in inline.page
    assert [path.name for path in tmp_path.iterdir()] == ["two.html"]


def test_a_video_has_the_frames_and_the_time(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    file = swing().animate(tmp_path / "swing.mp4", fps=20, style={"width": 161, "height": 121})
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(file))
    assert count == 21
    assert seconds == pytest.approx(1.05, abs=0.01)


def test_without_ffmpeg_there_is_one_clear_message(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(da.OutputError, match=r"pip install 'dalembert\[mp4\]' brings it"):
        swing().animate(tmp_path / "swing.mp4")
    assert list(tmp_path.iterdir()) == []


def test_what_ffmpeg_refuses_is_told(monkeypatch):
    monkeypatch.setattr(video, "ffmpeg", lambda: shutil.which("false"))
    with pytest.raises(da.OutputError, match="ffmpeg could not write the video"):
        video.mp4_of([np.zeros((2, 2, 4), dtype=np.uint8)], (2, 2), 10)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("swing.avi", {}, "written as .gif, .mp4 or .html, not '.avi'"),
        ("swing", {}, "not 'without one'"),
        ("nowhere/swing.gif", {}, "there is no folder"),
        ("swing.gif", {"style": "pink"}, "'light' or 'dark', got 'pink'"),
        ("swing.gif", {"style": {"widht": 100}}, "no 'widht'. Did you mean 'width'"),
        ("swing.gif", {"style": {"width": 10}}, "width of an animation is 64 to 4096 pixels, got 10"),
        ("swing.gif", {"style": {"width": "wide"}}, "width of an animation is 64 to 4096 pixels, got 'wide'"),
        ("swing.gif", {"style": {"azimuth": "left"}}, "azimuth of an animation is an angle in degrees, got 'left'"),
        ("swing.gif", {"fps": -1}, "fps is a positive number, got -1"),
        ("swing.gif", {"beside": ["x"]}, "beside: a motion is wanted, got 'x'"),
        ("swing.html", {"ghost": 3}, "ghost: a motion is wanted, got 3"),
    ],
)
def test_bad_requests(tmp_path, name, options, message):
    with pytest.raises(da.OutputError, match=message):
        swing().animate(tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_the_camera_keeps_lengths_and_looks_from_above():
    camera = Camera.of(3)
    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(camera.axes) == pytest.approx(1)
    up = camera.seen(np.array([0.0, 0.0, 1.0]))
    assert up[0] == pytest.approx(0)
    assert up[1] > 0.8
    np.testing.assert_array_equal(Camera.of(2).seen(np.array([1.0, 2.0, 0.0])), [1, 2, 0])


def test_hull():
    inside = np.random.default_rng(1).uniform(-0.9, 0.9, (40, 2))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]])
    assert {tuple(p) for p in hull(np.concatenate([inside, corners]))} == {tuple(p) for p in corners}


def test_motions_of_one_system_are_told_apart_by_what_differs() -> None:
    system = da.library.pendulum()
    name = system.parameter_symbols[0].name
    motions = [system.replace(parameters={name: value}).simulate(0.1) for value in (2.0, 3.0)]
    scenes = [scene_of(motion, frames=2) for motion in motions]
    found = with_names_of_their_own(scenes, [motion.system for motion in motions])
    assert [scene.name for scene in found] == [f"pendulum, {name} = 2", f"pendulum, {name} = 3"]
    assert [scene.name for scene in with_names_of_their_own(scenes[:1], [system])] == ["pendulum"]
    # Beside another system too.
    third = replace(scenes[0], name="another")
    three = with_names_of_their_own([*scenes, third], [*(motion.system for motion in motions), system])
    assert [scene.name for scene in three] == [f"pendulum, {name} = 2", f"pendulum, {name} = 3", "another"]
