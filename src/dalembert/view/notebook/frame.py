"""What all pages of results in a notebook stand in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from dalembert.view.markup.elements import Content, Html, element


@cache
def _style() -> Html:
    return Html(files(__package__).joinpath("style.css").read_text("utf-8"))


def frame(*content: Content) -> Html:
    """Pieces of a page with their style, which reaches nothing outside."""
    return element("div", element("style", _style()), content, class_="dalembert")


def verdict(good: bool, text: str) -> Html:
    """A few words that must be seen."""
    return element("span", text, class_="verdict" if good else "verdict bad")


def folded(title: str, content: Content) -> Html:
    """What opens at a click."""
    return element("details", element("summary", title), content)
