"""Pages of the player in a real browser: what they show, what they load, and what they do without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penny_scene import penny_panels, penny_scene

import dalembert as da
from dalembert.view.player.assets import content_policy, script_text, style_text
from dalembert.view.player.page import fragment_of, frame_of, page_of

pytest.importorskip("selenium", reason="selenium drives the browser")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from shown_page import Shown, cursor_at, dot_scene, expected_column, like


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


@contextmanager
def contexts(browser: Any, replacement: str) -> Iterator[None]:
    """Pages opened meanwhile get this for a WebGL context, an expression in the one that the browser gives."""
    source = (
        "const own = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind,"
        " ...rest) { const context = own.call(this, kind, ...rest);"
        f" return kind === 'webgl2' ? {replacement} : context; }};"
    )
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        yield
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]})


def test_without_webgl_the_rest_works(browser: Any) -> None:
    with contexts(browser, "null"):
        browser.open(page_of([penny_scene()], penny_panels(), autoplay=False))
    shown = Shown(browser)
    shown.seek(3.0)
    assert "WebGL" in shown.element(".missing").text
    assert cursor_at(shown, 0) == pytest.approx(expected_column(shown, 0, 3.0), abs=1.0)
    assert browser.errors() == []


def test_a_context_that_was_lost_comes_back(browser: Any) -> None:
    """As after a computer has slept: nothing is drawn while it is lost, and everything anew afterwards."""
    with contexts(browser, "(window.kept = context)"):
        browser.open(page_of([dot_scene()], autoplay=False))
    shown = Shown(browser)
    shown.seek(1.0)
    wait = (
        "const done = arguments[0]; const after = (name) => kept.canvas.addEventListener(name, () => setTimeout(done));"
    )
    browser.driver.execute_async_script(
        wait + "window.off = kept.getExtension('WEBGL_lose_context'); after('webglcontextlost'); off.loseContext();"
    )
    shown.seek(0.0)
    assert browser.run("return kept.isContextLost()")
    browser.driver.execute_async_script(wait + "after('webglcontextrestored'); off.restoreContext();")
    shown.seek(0.0)
    restored = shown.pixels()
    browser.open(page_of([dot_scene()], autoplay=False))
    shown.seek(0.0)
    assert np.array_equal(restored, shown.pixels())


def test_two_fingers_magnify(browser: Any) -> None:
    browser.open(page_of([dot_scene()], autoplay=False))
    shown = Shown(browser)
    shown.seek(0.5)
    before = like(shown.pixels(), (0xD5, 0x5E, 0x00), 60).sum()
    box = shown.element(".view canvas").rect
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(kind: str, apart: float) -> None:
        points = [{"x": middle[0] + side * apart, "y": middle[1], "id": side + 1} for side in (-1, 1) if apart]
        browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 40)
    for apart in (50, 60, 70, 80):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    browser.wait_for_frames()
    # Twice as far apart: four times the area.
    assert like(shown.pixels(), (0xD5, 0x5E, 0x00), 60).sum() == pytest.approx(4 * before, rel=0.25)


def test_a_single_moment_is_shown(browser: Any) -> None:
    scene = dot_scene()
    shapes = tuple({**shape, "position": shape["position"][:1]} for shape in scene.shapes)
    browser.open(page_of([replace(scene, times=np.zeros(1), shapes=shapes)], autoplay=True))
    shown = Shown(browser)
    browser.wait_for_frames(2)
    assert not shown.playing
    assert like(shown.pixels(), (0xD5, 0x5E, 0x00), 60).any()
    assert browser.errors() == []


def test_it_begins_by_itself_unless_less_motion_is_asked_for(browser: Any) -> None:
    for calm in (False, True):
        browser.prefer(**({"reduced_motion": "reduce"} if calm else {}))
        browser.open(page_of([dot_scene()]))
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
