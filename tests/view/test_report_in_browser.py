"""Reports opened from disk in a real browser without a network."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dalembert as da
from dalembert.view.report.section import Request
from dalembert.view.report.write import report_page


@cache
def page(seconds: float = 10.0) -> str:
    """seconds: less than what is derived takes gives a short page."""
    return report_page(da.library.pendulum().simulate(2.0, samples=41), Request(seconds))


@pytest.fixture
def report(browser: Any) -> Any:
    browser.open(page(), "report.html")
    browser.wait_for_frames(2)
    return browser


def test_it_opens_without_a_word_from_the_console(report):
    assert report.errors() == []
    assert report.run("return document.querySelectorAll('.dalembert-player canvas').length") >= 1
    assert (
        report.run("return performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).length")
        == 0
    )


def test_formulas_and_charts_have_their_size(report):
    heights = report.run(
        "return [...document.querySelectorAll('#equations math')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(heights) > 5
    assert min(heights) > 5
    # A fraction is higher than a letter: formulas are set, not shown as text.
    assert max(heights) > 1.5 * min(heights)
    charts = report.run(
        "return [...document.querySelectorAll('.chart > svg')].map(c => [c.clientWidth, c.clientHeight])"
    )
    assert len(charts) > 4
    assert all(width > 200 and height > 100 for width, height in charts)
    # No text of a chart lies outside of the page.
    outside = report.run(
        "const w = document.documentElement.clientWidth;"
        "return [...document.querySelectorAll('.chart text')].filter(t => {"
        "const r = t.getBoundingClientRect(); return r.left < 0 || r.right > w; }).map(t => t.textContent)"
    )
    assert outside == []


def test_a_narrow_screen_needs_no_scrolling_aside(report):
    wide, page_wide = report.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= page_wide


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']"), ("dark", "['color-contrast']")]
)
def test_contrast_and_labels(browser, scheme, rules):
    """The rules of axe-core for the levels A and AA; in the dark only colours are others."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core judges contrast and labels")
    browser.prefer(color_scheme=scheme)
    try:
        browser.open(page() if scheme == "light" else page(1e-4), "report.html")
        browser.wait_for_frames(2)
        browser.run((Path(axe.__file__).parent / "axe.min.js").read_text("utf-8"))
        result = browser.driver.execute_async_script(
            f"const done = arguments[0]; axe.run({{runOnly: {rules}}}).then(done);"
        )
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in result["violations"]] == []
        dark = browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
        assert dark == (scheme == "dark")
    finally:
        browser.prefer()


def test_on_paper_there_is_a_still_picture_and_no_controls(browser):
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        browser.open(page(), "report.html")
        shown = "return getComputedStyle(document.querySelector(arguments[0])).display"
        assert browser.run(shown, "#motion .screen") == "none"
        assert browser.run(shown, "nav") == "none"
        assert browser.run("return document.querySelector('.still img').clientHeight") > 100
        # The document is not cut off where it would scroll on a screen.
        assert browser.run("const d = document.querySelector('.document'); return d.scrollHeight - d.clientHeight") <= 0
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
