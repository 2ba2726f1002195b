"""Results in notebooks: pages that escape, readable in the dark; one that is run and looked at; progress bars."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pages import Parsed

import dalembert as da
from dalembert.motion.integrate import bars, progress
from dalembert.motion.integrate.progress import Progress
from dalembert.view.notebook.show import PAGES

EVIL = "<script>alert(1)</script> ]]> <img src=x onerror=alert(1)> \"&'"


@cache
def evil() -> da.System:
    return da.System(
        EVIL,
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints={EVIL: "x^2 + y^2 = 1"},
        parameters={"l": 1},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
        events={EVIL: "y + 0.5"},
    )


@cache
def swing() -> da.Motion:
    return evil().simulate(0.5, samples=11)


SHOWN: dict[str, Callable[[], Any]] = {
    "Motion": swing,
    "Certificate": lambda: swing().certificate,
    "Instant": lambda: evil().at(),
    "Classification": lambda: evil().classify(),
    "Comparison": lambda: evil().compare(["lagrange", "maupertuis"], states=1),
    "Equilibria": lambda: evil().equilibrium(starts=4),
    "Equilibrium": lambda: evil().equilibrium(starts=4)[0],
    "Ensemble": lambda: evil().sweep({"l": [1.0, 2.0]}, 0.1),
}


def test_every_page_is_looked_at():
    assert SHOWN.keys() == PAGES.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_pages_escape_and_bring_their_own_style_only(name):
    result = SHOWN[name]()
    page = result._repr_html_()
    parsed = Parsed(page)
    assert parsed.faults == []
    assert parsed.loads() == []
    assert parsed.of("script") == []
    assert not any(key.startswith("on") for _, attributes in parsed.elements for key in attributes)
    assert EVIL in parsed.text or name == "Certificate", "the name is there, as text"
    assert parsed.elements[0] == ("div", {"class": "dalembert"})
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)[1]
    for rule in re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL).split("}")[:-1]:
        assert all(part.strip().startswith(".dalembert") for part in rule.split("{")[0].split(",")), rule
        # Light or dark is the notebook's: whoever sets a colour of letters sets what is behind them.
        assert ("color: #" in rule) == ("background: #" in rule), rule
    assert len(page) < 3e5


def test_numbers_on_pages_are_those_of_the_result():
    text = Parsed(evil().at()._repr_html_()).text
    # At rest beside the pivot only gravity acts.
    assert re.search(r"y 0 0 −9\.81 −9\.81 −9\.81 0 0 0", text)
    text = Parsed(swing()._repr_html_()).text
    assert "certificate holds" in text
    assert f"{swing()['x'][-1]:.6g}".replace("-", "−") in text


def test_a_system_is_set_with_its_name_and_its_values():
    shown = da.library.penny()._repr_latex_()
    assert r"\textbf{rolling penny}" in shown
    assert r"\beta = 0.5" in shown
    q = [f"x{k}" for k in range(200)]
    many = da.System("many", coordinates=q, kinetic=" + ".join(f"{x}'^2" for x in q), constraints={x: x for x in q})
    assert "161 more lines" in many._repr_latex_()
    assert "script" not in re.sub(r"\\text(bf)?\{[^}]*\}", "", evil()._repr_latex_())


def test_an_animation_without_a_file_is_shown_in_the_notebook():
    shown = swing().animate()
    frame = Parsed(shown._repr_html_())
    assert frame.faults == []
    (attributes,) = frame.of("iframe")
    assert attributes["sandbox"] == "allow-scripts", "it cannot reach the notebook"
    inside = Parsed(attributes["srcdoc"])
    assert inside.faults == []
    assert inside.loads() == []
    assert len(repr(shown)) < 250


# -- progress


class Handle:
    def __init__(self) -> None:
        self.pages: list[str] = []

    def update(self, page: str) -> None:
        self.pages.append(page)


@pytest.fixture
def notebook(monkeypatch) -> Handle:
    """As if this ran in the kernel of a notebook; what is shown is kept."""
    handle = Handle()

    def display(page: str, display_id: bool) -> Handle:
        handle.update(page)
        return handle

    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel="here"))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    monkeypatch.setattr(bars, "PAUSE_S", 0.0)
    return handle


def test_a_bar_in_a_notebook_shows_how_far_it_is_and_goes(notebook):
    with Progress(EVIL, 2.0, 6.0, None) as bar:
        for t in (2.5, 4.0, 6.0):
            bar.update(t)
    first, *shown, last = notebook.pages
    assert [float(Parsed(page).of("progress")[0]["value"]) for page in (first, *shown)] == [0.0, 0.125, 0.5, 1.0]
    assert last == ""
    assert "t = 4" in Parsed(shown[1]).text
    for page in shown:
        assert Parsed(page).faults == []
        assert Parsed(page).of("script") == Parsed(page).of("img") == []
        assert EVIL in Parsed(page).text


def test_a_sweep_shows_its_members(notebook):
    da.library.pendulum().sweep({"l": np.linspace(0.5, 1, 3)}, 0.1)
    assert any("3/3" in page for page in notebook.pages)


def test_nobody_looks_where_there_is_neither_terminal_nor_notebook(monkeypatch):
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    assert not Progress("", 0, 1, None).on
    assert Progress("", 0, 1, True).on


# -- a notebook that is run

CELLS = (
    "import dalembert as da\nswing = da.library.pendulum().simulate(1.0, samples=21)\nswing",
    "swing.certificate",
    "swing.animate()",
    "swing.system",
    "from dalembert.motion.integrate import progress\nprogress.PATIENCE_S = 0.0\n"
    "with progress.Progress('way', 0, 1, None) as bar:\n    bar.update(0.5)\n    assert 'NotebookBar' in repr(bar.bar)",
)


@pytest.mark.filterwarnings("ignore")  # of the machinery of notebooks, not ours
def test_a_notebook_is_run_and_looked_at(browser):
    client = pytest.importorskip("nbclient", reason="nbclient runs notebooks")
    v4 = pytest.importorskip("nbformat.v4")
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS])
    client.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    motion, certificate, animation, system, bar = [
        [output["data"] for output in cell.outputs if "data" in output] for cell in book.cells
    ]
    assert "certificate holds" in motion[0]["text/html"]
    assert "text/latex" in system[0]
    assert "text/html" not in system[0]
    assert bar[0]["text/html"] == "", "gone at the end"
    for scheme, paper, ink in (("light", "#fff", "#222"), ("dark", "#111", "#ddd")):
        pages = "".join(each["text/html"] for (each,) in (motion, certificate, animation))
        # JupyterLab sets tables of every output to the right, by a rule of this weight.
        style = (
            f"<style>body {{ background: {paper}; color: {ink}; font-family: sans-serif }}"
            ".lab:not(.markdown) td, .lab:not(.markdown) th { text-align: right }</style>"
        )
        browser.prefer(color_scheme=scheme)
        try:
            browser.open(f"<!DOCTYPE html><html lang=en><title>n</title><body class=lab>{style}{pages}</body></html>")
            browser.wait_for_frames(2)
            assert browser.errors() == []
            wide, high = browser.run("const i = document.querySelector('img'); return [i.naturalWidth, i.clientHeight]")
            assert wide > 300
            assert high > 100
            # Texts have the colour of the notebook.
            found = browser.run("return getComputedStyle(document.querySelector('.dalembert table th')).color")
            assert found == browser.run("return getComputedStyle(document.body).color")
            aligned = browser.run(
                "return [...document.querySelectorAll('.dalembert table.certificate th')].map("
                "each => getComputedStyle(each).textAlign)"
            )
            assert set(aligned) == {"left"}, "sentences begin at the left"
        finally:
            browser.prefer()
