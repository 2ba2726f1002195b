"""One browser for all tests that look at pages: real Chromium without a screen, which can reach no network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Browser:
    """Pages opened from disk. `driver` is Selenium's."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def open(self, html: str, name: str = "page.html") -> None:
        """Open a page as a file; what the console said before is forgotten."""
        file = self.folder / name
        file.write_text(html, encoding="utf-8")
        self.driver.get_log("browser")
        self.driver.get(file.as_uri())

    def errors(self) -> list[str]:
        """What the console said since the page was opened, but for advice on how tests read pixels."""
        said = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        return [message for message in said if "willReadFrequently" not in message]

    def run(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def wait_for_frames(self, count: int = 1) -> None:
        """Until what was asked for before is drawn, and so many times in all."""
        self.driver.execute_async_script(
            "let left = arguments[0]; const done = arguments[1];"
            "const next = () => (left-- > 0 ? requestAnimationFrame(next) : done()); next();",
            count,
        )

    def prefer(self, **features: str) -> None:
        """What the reader's system asks for: prefer(color_scheme="dark"); nothing as usual."""
        listed = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not on this machine")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
        "--window-size=500,700",  # small, since pixels are computed without a graphics card
        "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        "--host-resolver-rules=MAP * ~NOTFOUND",  # no name has an address
    ):  # fmt: skip
        options.add_argument(argument)
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_script_timeout(20)
    try:
        yield Browser(started, tmp_path_factory.mktemp("pages"))
    finally:
        started.quit()
