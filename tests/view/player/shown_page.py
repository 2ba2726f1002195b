"""A page with a player, as a reader sees it: pixels, keys and pointers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from dalembert.view.scene.scene import Scene

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


def cursor_at(shown: Shown, plot: int) -> float:
    """The middle column of what is drawn on the upper canvas of a plot, in its topmost rows, where no dots are."""
    shown.run("document.querySelectorAll('.plot .cursor').forEach((c, i) => c.id = 'cursor' + i)")
    drawn = np.flatnonzero(shown.pixels(f"#cursor{plot}")[9:14, :, 3].max(axis=0))
    return float(drawn.mean())


def expected_column(shown: Shown, plot: int, time: float) -> float:
    """62 pixels of the page are left of the axes, 12 right of them; see MARGIN of plots.js."""
    width = shown.run("return document.querySelectorAll('.plot')[arguments[0]].clientWidth", plot)
    return 62 + (width - 74) * time / 4 - 0.5


def dot_scene() -> Scene:
    """In a plane, 4 wide and 2 high: a red dot that goes from (−1, 0) to (1, 0.5)."""
    dot = {"kind": "point", "label": "", "color": "#d55e00", "role": "", "opacity": 1.0, "radius": 0.1,
           "position": np.array([[-1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])}  # fmt: skip
    return Scene("dot", 2, np.array([0.0, 1.0]), np.array([[-2.0, -1.0, 0.0], [2.0, 1.0, 0.0]]), (dot,), ())
