"""Pages as text: what is embedded, what is packed, what they may load. No browser is needed."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from penny_scene import penny_panels, penny_scene

import dalembert as da
from dalembert.errors import OutputError
from dalembert.view.player.assets import SCRIPTS, script_text
from dalembert.view.player.moments import moments
from dalembert.view.player.pack import MOST_NUMBERS, MOST_POINTS, kept_frames, numbers, pack_panel, pack_scene
from dalembert.view.player.page import fragment_of, frame_of, page_of
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.report.sections.drawing import drawing_section
from dalembert.view.scene.frames import watchable_speed
from dalembert.view.scene.scene_of import scene_of

EVIL = "</script><script>alert(1)</script> ]]> <img src=x onerror=alert(1)> \" ' & \u2028 <!--"


class Elements(HTMLParser):
    """Elements of a page with their attributes, and the text in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def unpacked(packed: dict[str, object]) -> np.ndarray:
    flat = np.frombuffer(base64.b64decode(str(packed["data"])), dtype="<f8" if packed.get("wide") else "<f4")
    return flat.reshape(-1, packed["of"]) if packed["of"] != 1 else flat


def test_names_from_a_model_are_never_markup() -> None:
    """The same elements stand on a page whatever its names are, and the data come back as they were."""
    scene = penny_scene(name=EVIL)
    panels = [replace(panel, title=EVIL) for panel in penny_panels()]
    evil, plain = Elements(page_of([scene], panels, EVIL)), Elements(page_of([penny_scene()], penny_panels(), "penny"))
    assert [tag for tag, _ in evil.found] == [tag for tag, _ in plain.found]
    assert [tag for tag, _ in evil.found].count("script") == 2
    data = json.loads(next(text for text in evil.texts if text.startswith('{"scenes"')))
    assert data["scenes"][0]["name"] == EVIL
    assert data["panels"][0]["title"] == EVIL
    assert EVIL in evil.texts  # the title, once its entities are read


def test_a_page_loads_nothing() -> None:
    page = page_of([penny_scene()], penny_panels())
    elements = Elements(page)
    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in elements.found}
    assert not [attributes for _, attributes in elements.found if {"src", "href"} & attributes.keys()]
    policy = next(a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_every_script_is_joined() -> None:
    from importlib.resources import files

    there = {path.name for path in (files("dalembert.view.player") / "js").iterdir()}
    assert there == {f"{name}.js" for name in SCRIPTS}
    assert "</" not in script_text()


def test_places_far_away_keep_their_shape() -> None:
    """An orbit of 1 m about a point 1e7 m away: single precision alone would round it to whole metres."""
    scene = penny_scene()
    shift = np.array([1e7, -2e7, 3e7])
    moved = replace(
        scene,
        bounds=scene.bounds + shift,
        shapes=tuple({**shape, "position": shape["position"] + shift} for shape in scene.shapes),
    )
    here, there = (pack_scene(each)["shapes"][1]["position"] for each in (scene, moved))
    # Places near 4e7 have a spacing of 7e-9 in double precision; single precision of unit size has 6e-8.
    np.testing.assert_allclose(unpacked(there), unpacked(here), rtol=0, atol=2e-7)
    half_diagonal = np.linalg.norm([1.3, 1.3, 0.3])
    np.testing.assert_allclose(unpacked(here)[0], np.array([1.0, 0.0, 0.0]) / half_diagonal, atol=1e-7)


def test_numbers_that_are_none() -> None:
    assert numbers(np.array([1.0, np.nan, np.inf])) == [1.0, None, None]
    long = np.where(np.arange(40) == 3, np.nan, np.pi)
    np.testing.assert_array_equal(unpacked(numbers(long, wide=True)), long)


def test_long_scenes_keep_fewer_frames_and_the_last() -> None:
    scene = penny_scene(frames=MOST_NUMBERS // 8)
    kept = kept_frames(scene)
    rows = sum(shape[key].shape[1] for shape in scene.shapes for key in ("position", "rotation", "vector")
               if key in shape and len(shape[key]) > 1)  # fmt: skip
    assert kept.size * rows <= MOST_NUMBERS + rows
    assert kept[0] == 0
    assert kept[-1] == scene.times.size - 1
    assert len(set(np.diff(kept)[:-1])) == 1
    np.testing.assert_array_equal(kept_frames(penny_scene()), np.arange(61))


def test_curves_of_many_points_keep_their_extremes() -> None:
    t = np.linspace(0.0, 1.0, 10_000)
    y = np.sin(40 * t)
    y[[1234, 7777]] = 5.0, -6.0  # two single points that a plain choice of every fifth would miss
    packed = pack_panel(Panel("p", "p", "t", "y", (Curve("y", t, y),)))["curves"][0]
    found = unpacked(packed["y"])
    assert found.size <= MOST_POINTS
    assert (found.max(), found.min()) == (5.0, -6.0)
    assert set(unpacked(packed["x"])) <= set(t)
    path = Curve("", np.cos(t), y, t=t).thinned(300)
    assert path.x.size <= 300
    assert path.t is not None
    np.testing.assert_array_equal(path.x, np.cos(path.t))  # every point keeps its own time
    assert (path.y.max(), path.y.min(), path.x.min()) == (5.0, -6.0, np.cos(1.0))


def test_a_long_motion_makes_a_small_page() -> None:
    """10,000 outputs with 1200 frames: three shapes and two plots."""
    page = page_of([penny_scene(frames=1200)], penny_panels(points=10_000))
    assert len(page) < 700_000


def test_moments_have_those_of_events() -> None:
    """Regular ones, the last one, and impacts, where the ball is on the floor: a way of 10 frames a second has its
    corners all the same. A motion of two days has no more than can be held.
    """
    motion = da.library.get("bouncing_ball").simulate(1.5, samples=12)
    times = moments(motion, fps=10)
    impacts = [float(event["t"]) for event in motion.events if event["name"] == "impact"]
    assert len(impacts) > 1
    assert set(impacts) <= set(times)
    assert set(np.round(np.arange(16) / 10, 12)) <= set(np.round(times, 12))
    scene = scene_of(motion, frames=times)
    ball = next(shape for shape in scene.shapes if shape["kind"] == "sphere")
    heights = ball["position"][np.searchsorted(times, impacts), 1] - ball["radius"]
    np.testing.assert_allclose(heights, 0.0, atol=1e-6)  # to the tolerance of the motion
    long = replace(motion, t=np.linspace(0.0, 2e5, motion.t.size), events=())
    assert 15_000 < moments(long).size <= 20_000


def test_a_fast_motion_has_its_outputs() -> None:
    """An electron goes around 28 times in a microsecond, which is no frame of a film: its way is round all the same."""
    electron = da.System(
        "electron", coordinates="x y", kinetic="m*(x'^2 + y'^2)/2", forces={"x": "q*B*y'", "y": "-q*B*x'"},
        parameters={"m": 9.109e-31, "q": -1.602e-19, "B": 1e-3}, initial={"x": 0, "y": 0, "x'": 1e6, "y'": 0},
    )  # fmt: skip
    motion = electron.simulate(1e-6, samples=1001)
    np.testing.assert_array_equal(moments(motion), motion.t)
    assert moments(motion, most=100).size <= 101
    assert watchable_speed(1e-6) == 1e-7
    assert watchable_speed(20.0) == watchable_speed(0.0) == 1.0
    with pytest.raises(OutputError, match="one frame, since the motion lasts 1e-06 s only: speed=1e-07 shows it"):
        motion.animate("electron.gif")
    (data,) = re.findall(r'"speed":([^,]*),', str(drawing_section(motion).body))
    assert float(data) == 1e-7


def test_inside_other_pages() -> None:
    first, second = (fragment_of([penny_scene(name)], title=name) for name in ("one", "two"))
    elements = Elements(first + second)
    assert [tag for tag, _ in elements.found] == ["section", "noscript", "script"] * 2
    frame = Elements(frame_of(page_of([penny_scene(EVIL)]), EVIL, height=400)).found
    assert [tag for tag, _ in frame] == ["iframe"]
    assert frame[0][1]["sandbox"] == "allow-scripts"  # and not allow-same-origin: no access to the page around it
    assert (frame[0][1]["srcdoc"] or "").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("change", "said"),
    [({"theme": "pink"}, "'pink'"), ({"speed": 0.0}, "positive number, got 0.0"), ({"speed": float("nan")}, "nan")],
)
def test_settings_that_are_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(OutputError, match=said):
        page_of([penny_scene()], **change)  # type: ignore[arg-type]


def test_nothing_to_show() -> None:
    with pytest.raises(OutputError, match="nothing to show"):
        page_of([])
    alone = Elements(page_of([], penny_panels()[:1]))
    data = json.loads(next(text for text in alone.texts if text.startswith('{"scenes"')))
    assert (data["start"], data["end"]) == (0.0, 4.0)
