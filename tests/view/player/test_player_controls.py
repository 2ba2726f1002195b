"""The player in a real browser: what moves, what stays, what keys and pointers do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from penny_scene import penny_panels, penny_scene

from dalembert.view.player.page import page_of

pytest.importorskip("selenium", reason="selenium drives the browser")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from shown_page import PLAYER, Shown, cursor_at, expected_column, like


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
        penny.browser.wait_for_frames(3)
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
