"""The player in a real browser: what moves, what stays, what keys and pointers do."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penny_scene import penny_panels, penny_scene

import dalembert as da
from dalembert.view.player.assets import content_policy, script_text, style_text
from dalembert.view.player.page import fragment_of, frame_of, page_of
from dalembert.view.scene.scene import Scene

selenium = pytest.importorskip("selenium", reason="selenium drives the browser")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

PLAYER = "const player = document.querySelector('.dalembert-player').dalembert;"


class Shown:
    """A page with a player, as a reader sees it."""

    def __init__(self, browser: Any) -> None:
        self.browser, self.run = browser, browser.run

    def seek(self, time: float) -> None:
        self.run(PLAYER + "player.clock.pause(); player.clock.seek(arguments[0]);", time)
        self.browser.wait_for_frames()

    @property
    def time(self) -> float:
        return self.run(PLAYER + "return player.clock.time")

    @property
    def playing(self) -> bool:
        return self.run(PLAYER + "return player.clock.playing")

    def pixels(self, selector: str = ".view canvas") -> np.ndarray:
        """(height, width, 4) of a canvas."""
        width, height, data = self.run(
            "const c = document.querySelector(arguments[0]); let text = '';"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "for (let i = 0; i < d.length; i += 8192) text += String.fromCharCode(...d.subarray(i, i + 8192));"
            "return [c.width, c.height, btoa(text)];",
            selector,
        )
        return np.frombuffer(base64.b64decode(data), dtype=np.uint8).reshape(height, width, 4)

    def element(self, selector: str) -> Any:
        return self.browser.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        ActionChains(self.browser.driver).send_keys(*keys).perform()
        self.browser.wait_for_frames()

    def drag(self, selector: str, dx: int, dy: int) -> None:
        chain = ActionChains(self.browser.driver, duration=20)
        chain.click_and_hold(self.element(selector)).move_by_offset(dx, dy).release().perform()
        self.browser.wait_for_frames()


def like(pixels: np.ndarray, colour: tuple[int, int, int], within: float = 40) -> np.ndarray:
    """Whether pixels are near a colour, or a shade of it."""
    shades = np.stack([np.array(colour) * share for share in (1.0, 0.85, 0.7, 0.55)])
    return (np.abs(pixels[..., None, :3].astype(float) - shades).sum(axis=-1) < within).any(axis=-1)


@pytest.fixture(scope="module")
def page(browser: Any) -> Shown:
    browser.open(page_of([penny_scene()], penny_panels(), "Penny", autoplay=False))
    return Shown(browser)


@pytest.fixture
def penny(page: Shown) -> Iterator[Shown]:
    """The page at the beginning, still, with the usual view."""
    page.run(PLAYER + "player.setForces(true); player.resetViews(); document.activeElement.blur(); scrollTo(0, 0);")
    page.seek(0.0)
    yield page
    assert page.browser.errors() == []


def test_pixels_change_while_playing_and_only_then(penny: Shown) -> None:
    before = penny.pixels()
    assert len(np.unique(before.reshape(-1, 4), axis=0)) > 100  # something lit is there
    penny.element(".play").click()
    penny.browser.wait_for_frames(4)
    assert penny.playing
    assert np.any(penny.pixels() != before)
    penny.element(".play").click()
    penny.browser.wait_for_frames()
    still = penny.pixels()
    penny.browser.wait_for_frames(4)
    assert np.array_equal(penny.pixels(), still)
    assert 0 < penny.time < 4


def cursor_at(shown: Shown, plot: int) -> float:
    """The middle column of what is drawn on the upper canvas of a plot, in its topmost rows, where no dots are."""
    shown.run("document.querySelectorAll('.plot .cursor').forEach((c, i) => c.id = 'cursor' + i)")
    drawn = np.flatnonzero(shown.pixels(f"#cursor{plot}")[9:14, :, 3].max(axis=0))
    return float(drawn.mean())


def expected_column(shown: Shown, plot: int, time: float) -> float:
    """62 pixels of the page are left of the axes, 12 right of them; see MARGIN of plots.js."""
    width = shown.run("return document.querySelectorAll('.plot')[arguments[0]].clientWidth", plot)
    return 62 + (width - 74) * time / 4 - 0.5


def test_the_slider_moves_time_and_cursors(penny: Shown) -> None:
    slider = penny.element("input[type=range]")
    slider.send_keys(Keys.END)
    penny.browser.wait_for_frames()
    assert penny.time == 4
    for _ in range(3):
        slider.send_keys(Keys.PAGE_DOWN)
    penny.browser.wait_for_frames()
    assert 2 < penny.time < 4
    assert slider.get_attribute("aria-valuetext").startswith(f"{penny.time:.1f}")
    for plot in (0, 1):
        assert cursor_at(penny, plot) == pytest.approx(expected_column(penny, plot, penny.time), abs=1.0)
    # The legend has the value there; x = cos 1.5 t by 201 points, with three digits.
    text = penny.element(".panel .value").text.replace("−", "-")
    assert float(text) == pytest.approx(np.cos(1.5 * penny.time), abs=6e-4)


def test_a_click_in_a_plot_moves_the_time(penny: Shown) -> None:
    plot = penny.element(".plot .cursor")
    penny.run("arguments[0].scrollIntoView()", plot)
    width = plot.size["width"]
    chain = ActionChains(penny.browser.driver, duration=20)
    chain.move_to_element_with_offset(plot, 62 + (width - 74) // 4 - width // 2, 0).click().perform()
    penny.browser.wait_for_frames()
    assert penny.time == pytest.approx(1.0, abs=4 / (width - 74) * 2)
    assert float(penny.element("input[type=range]").get_attribute("value")) == pytest.approx(250, abs=10)


def test_paths_have_a_dot_that_goes_along(penny: Shown) -> None:
    """In the plot of y over x, which have one scale, and a click there goes to the time of the nearest point."""
    penny.seek(1.0)
    cursor_at(penny, 0)  # numbers the canvases
    rows, columns = np.nonzero(penny.pixels("#cursor2")[..., 3])
    height, width = penny.pixels("#cursor2").shape[:2]
    middle, scale = ((62 + width - 12) / 2, (8 + height - 38) / 2), (height - 46) / 2.2
    # x from −1 to 1 and y from sin 4.71 = −1 to 1 lie in the middle, with 5 % of their extent on both sides.
    expected = middle[0] + np.cos(1.5) * scale, middle[1] - np.sin(1.5) * scale
    assert (columns.mean(), rows.mean()) == pytest.approx(expected, abs=1.5)
    plot = penny.element("#cursor2")
    penny.run("arguments[0].scrollIntoView()", plot)
    chain = ActionChains(penny.browser.driver, duration=20)  # y = −1, at 1.5 t = 3π/2
    chain.move_to_element_with_offset(plot, round(middle[0] - width / 2), round(middle[1] + scale - height / 2))
    chain.click().perform()
    penny.browser.wait_for_frames()
    assert penny.time == pytest.approx(np.pi, abs=0.06)


def test_on_paper_it_is_light(penny: Shown) -> None:
    penny.browser.prefer(color_scheme="dark")
    try:
        penny.browser.wait_for_frames()
        assert penny.pixels()[:4, :4, :3].mean() < 60
        penny.run("window.dispatchEvent(new Event('beforeprint'))")
        assert penny.pixels()[:4, :4, :3].mean() > 200
        penny.run("window.dispatchEvent(new Event('afterprint'))")
        assert penny.pixels()[:4, :4, :3].mean() < 60
    finally:
        penny.browser.prefer()


def test_keys(penny: Shown) -> None:
    penny.press(Keys.SPACE)
    assert penny.playing
    penny.press(Keys.SPACE)
    assert not penny.playing
    penny.press(Keys.END)
    assert penny.time == 4
    penny.press(Keys.HOME)
    assert penny.time == 0
    penny.press(Keys.ARROW_RIGHT)
    assert penny.time == pytest.approx(0.04)
    penny.press("e")
    assert penny.time == 2  # the event half way, whose name is said
    assert penny.element(".spoken").get_attribute("textContent") == "half way"
    ActionChains(penny.browser.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_LEFT).key_up(Keys.SHIFT).perform()
    assert penny.time == pytest.approx(1.6)
    penny.press("f")
    assert penny.run(PLAYER + "return player.forces") is False
    assert penny.element("button[aria-pressed=false]").text == "Forces"
    before = penny.pixels()
    penny.press("a")
    assert np.any(penny.pixels() != before)


def test_a_button_keeps_its_own_keys(penny: Shown) -> None:
    """Space on a button that has the focus presses that button only."""
    penny.run("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Forces').focus()")
    penny.press(Keys.SPACE)
    assert not penny.playing
    assert penny.run(PLAYER + "return player.forces") is False


def test_forces_are_shown_or_not(penny: Shown) -> None:
    impressed, ideal = (0x00, 0x72, 0xB2), (0x00, 0x7A, 0x59)
    shown = [like(penny.pixels(), colour).sum() for colour in (impressed, ideal)]
    penny.run("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Forces').click()")
    penny.browser.wait_for_frames()
    hidden = [like(penny.pixels(), colour).sum() for colour in (impressed, ideal)]
    assert min(shown) > 50
    assert max(hidden) < 0.1 * min(shown)


def test_events_flash_and_are_marked(penny: Shown) -> None:
    marks = np.flatnonzero(penny.pixels(".marks")[..., 3].max(axis=0))
    width = penny.pixels(".marks").shape[1]
    assert marks.mean() == pytest.approx(width / 2, abs=2)
    assert penny.element(".event").get_attribute("textContent") == ""
    penny.seek(2.1)
    assert penny.element(".event").text == "half way"
    events = PLAYER + "const { scene } = player.views[0]; "
    with_ring = penny.pixels()
    penny.run(events + "scene.kept = scene.events; scene.events = []; player.redraw();")
    penny.browser.wait_for_frames()
    rows, columns = np.nonzero(np.any(penny.pixels() != with_ring, axis=2))
    penny.run(events + "scene.events = scene.kept; player.redraw();")
    penny.browser.wait_for_frames()
    # A circle that faces the viewer, with nothing in its middle.
    assert np.ptp(rows) == pytest.approx(np.ptp(columns), abs=2)
    radii = np.hypot(rows - (rows.min() + rows.max()) / 2, columns - (columns.min() + columns.max()) / 2)
    assert radii.min() > 0.7 * radii.max() > 5
    assert "flashing" not in penny.element(".view").get_attribute("class")  # the frame, for events without a place
    penny.seek(2.9)
    assert penny.element(".event").get_attribute("textContent") == ""


def test_orbit_zoom_and_reset(penny: Shown) -> None:
    home = penny.pixels()
    for dx, dy in ((60, 0), (0, 40)):
        penny.drag(".view canvas", dx, dy)
        assert np.mean(np.any(penny.pixels() != home, axis=2)) > 0.02
        penny.run("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Reset view').click()")
        penny.browser.wait_for_frames()
        assert np.array_equal(penny.pixels(), home)
    copper = like(home, (0xB8, 0x73, 0x33)).sum()
    penny.press("-", "-", "-")
    # An area shrinks by the square of 1.15³; not exactly, since what is near goes away more, and edges are blurred.
    assert like(penny.pixels(), (0xB8, 0x73, 0x33)).sum() == pytest.approx(copper / 1.15**6, rel=0.4)


def test_labels_are_where_their_bodies_are(penny: Shown) -> None:
    """The label stands right of the middle of the penny, at the height of its upper edge."""
    penny.seek(1.0)
    rows, columns = np.nonzero(like(penny.pixels(), (0xB8, 0x73, 0x33)))
    box = penny.run(
        "const l = document.querySelector('.labels span').getBoundingClientRect();"
        "const v = document.querySelector('.view canvas').getBoundingClientRect();"
        "return [l.left - v.left, l.bottom - v.top]"
    )
    assert abs(box[0] - 6 - columns.mean()) < 12
    assert rows.min() - 12 < box[1] < rows.mean()


def dot_scene() -> Scene:
    """In a plane, 4 wide and 2 high: a red dot that goes from (−1, 0) to (1, 0.5)."""
    dot = {"kind": "point", "label": "", "color": "#d55e00", "role": "", "opacity": 1.0, "radius": 0.1,
           "position": np.array([[-1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])}  # fmt: skip
    return Scene("dot", 2, np.array([0.0, 1.0]), np.array([[-2.0, -1.0, 0.0], [2.0, 1.0, 0.0]]), (dot,), ())


def test_a_plane_is_seen_straight_on(browser: Any) -> None:
    browser.open(page_of([dot_scene()], autoplay=False))
    shown = Shown(browser)
    for time in (0.0, 0.25, 1.0):
        shown.seek(time)
        pixels = shown.pixels()
        height, width = pixels.shape[:2]
        rows, columns = np.nonzero(like(pixels, (0xD5, 0x5E, 0x00), 60))
        scale = width / (4 * 1.08)  # the width decides, with a margin of 8 %
        found = (columns.mean() - width / 2) / scale, (height / 2 - rows.mean()) / scale
        assert found == pytest.approx((-1 + 2 * time, 0.5 * time), abs=0.02)  # lit from one side
    before = shown.pixels()
    shown.press("a")
    assert np.array_equal(shown.pixels(), before)  # nothing turns
    shown.drag(".view canvas", 50, 0)
    moved = np.nonzero(like(shown.pixels(), (0xD5, 0x5E, 0x00), 60))[1].mean()
    assert moved - columns.mean() == pytest.approx(50, abs=2)


EVIL = "<script>window.bad = 1</script><img src=x onerror='window.bad = 1'> ]]> & \u2028"


def test_names_are_text(browser: Any) -> None:
    panels = [replace(panel, title=EVIL) for panel in penny_panels()]
    events = ({"time": 0.0, "name": EVIL, "position": None, "kind": "event"},)
    scene = replace(penny_scene(name=EVIL), events=events)
    browser.open(page_of([scene, penny_scene("other")], panels, EVIL, autoplay=False))
    browser.wait_for_frames()
    shown = [".labels span", ".scene figcaption", ".panel figcaption", ".event", "h1"]
    texts = browser.run("return arguments[0].map((s) => document.querySelector(s).textContent)", shown)
    assert texts == [EVIL] * len(shown)
    assert "flashing" in browser.driver.find_element(By.CSS_SELECTOR, ".view").get_attribute("class")
    assert browser.driver.title.startswith("<script>")
    assert browser.run("return window.bad ?? null") is None
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert browser.errors() == []


def test_a_motion_of_the_library(browser: Any, tmp_path: Path) -> None:
    """From a motion to a file to the browser: two pennies side by side, the plots of the first."""
    motions = [da.library.get("penny", alpha=angle).simulate(1.0, samples=20) for angle in (0.3, 0.6)]
    motions[0].animate(tmp_path / "pennies.html", beside=motions[1:])
    browser.open((tmp_path / "pennies.html").read_text("utf-8"))
    shown = Shown(browser)
    shown.seek(0.5)
    assert browser.run("return document.querySelectorAll('.view canvas').length") == 2
    assert browser.run("return document.querySelectorAll('.panel').length") >= 3
    assert len(np.unique(shown.pixels().reshape(-1, 4), axis=0)) > 100
    assert browser.errors() == []


def test_nothing_is_loaded_even_if_asked_for(browser: Any) -> None:
    browser.open(page_of([dot_scene()], autoplay=False))
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    blocked = browser.driver.execute_async_script(
        "const done = arguments[0]; document.addEventListener('securitypolicyviolation', (e) => "
        "done(e.effectiveDirective)); document.body.append(Object.assign(new Image(), {src: 'http://a.b/c.png'}));"
    )
    assert blocked == "img-src"


def test_several_players_on_one_page(browser: Any) -> None:
    parts = [fragment_of([penny_scene(name)], title=name) for name in ("one", "two")]
    style, script = style_text(), script_text()
    browser.open(
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>two</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy([script], [style])}">'
        f"<style>{style}</style><main><h1>two</h1>{''.join(parts)}</main><script>{script}</script>"
    )
    browser.wait_for_frames()
    times = "return [...document.querySelectorAll('.dalembert-player')].map((root) => root.dalembert.clock.time)"
    assert browser.run(times) == [0, 0]  # inside a page they do not start by themselves
    second = browser.driver.find_elements(By.CSS_SELECTOR, "input[type=range]")[1]
    second.send_keys(Keys.END)
    assert browser.run(times) == [0, 4]
    assert browser.errors() == []


def test_a_page_inside_a_notebook(browser: Any) -> None:
    browser.open(f"<!DOCTYPE html><title>book</title>{frame_of(page_of([penny_scene()], autoplay=False))}")
    browser.driver.switch_to.frame(0)
    try:
        browser.wait_for_frames()
        assert len(np.unique(Shown(browser).pixels().reshape(-1, 4), axis=0)) > 100
    finally:
        browser.driver.switch_to.default_content()
    assert browser.errors() == []


def test_without_webgl_the_rest_works(browser: Any) -> None:
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source":
        "const own = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
        " function (kind, ...rest) { return kind === 'webgl2' ? null : own.call(this, kind, ...rest); };"})  # fmt: skip
    try:
        browser.open(page_of([penny_scene()], penny_panels(), autoplay=False))
        shown = Shown(browser)
        shown.seek(3.0)
        assert "WebGL" in shown.element(".missing").text
        assert cursor_at(shown, 0) == pytest.approx(expected_column(shown, 0, 3.0), abs=1.0)
        assert browser.errors() == []
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]})


def test_it_begins_by_itself_unless_less_motion_is_asked_for(browser: Any) -> None:
    for calm in (False, True):
        browser.prefer(**({"reduced_motion": "reduce"} if calm else {}))
        browser.open(page_of([dot_scene()], repeat=False))
        browser.wait_for_frames()
        assert Shown(browser).playing is not calm
    browser.prefer()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_labels(browser: Any, scheme: str) -> None:
    """The rules of axe-core for the levels A and AA."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core judges contrast and labels")
    browser.prefer(color_scheme=scheme)
    try:
        browser.open(page_of([penny_scene(), penny_scene("other")], penny_panels(), "Penny", autoplay=False))
        shown = Shown(browser)
        shown.seek(2.1)
        shown.run("document.querySelector('details').open = true")
        browser.run((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
        result = browser.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}).then(done);"
        )
        told = [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in result["violations"]]
        assert told == []
        assert len(result["passes"]) > 15
        assert (shown.pixels()[:4, :4, :3].mean() < 60) == (scheme == "dark")
    finally:
        browser.prefer()
