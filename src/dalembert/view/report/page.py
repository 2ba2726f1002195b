"""The page that sections stand on: one HTML file that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files

from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.player.assets import content_policy, script_text, style_text
from dalembert.view.report.section import Section

# What the elements of the player are known by.
PLAYER = 'class="dalembert-player'


def page(title: str, head: Html, sections: Sequence[Section]) -> str:
    """A whole document. head: what stands below the title, before the first section.

    The browser is told to run the player's script and nothing else, and to load nothing, whatever a model says.
    """
    style = files(__package__).joinpath("style.css").read_text("utf-8")
    moves = any(PLAYER in section.body for section in sections)
    script = script_text() if moves else ""
    # Figures are styled element by element, so that all styles of the page count.
    policy = content_policy([script] if moves else (), ()).replace("style-src 'none'", "style-src 'unsafe-inline'")
    links = [element("li", element("a", section.title, href=f"#{section.key}")) for section in sections]
    chapters = [
        element("section", element("h2", section.title), section.body, id=section.key, aria_label=section.title)
        for section in sections
    ]
    from dalembert import __version__

    made = f"Made by dalembert {__version__} on {datetime.now().astimezone():%d %B %Y at %H:%M}."
    whole = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("title", title),
            element("style", Html(style + (style_text() if moves else ""))),
            element("noscript", element("style", Html(".still { display: block; } .screen { display: none; }"))),
        ),
        element(
            "body",
            element("header", element("h1", title), head),
            element("nav", element("ul", links), aria_label="Contents"),
            element("main", chapters),
            element("footer", made),
            element("script", Html(script)) if moves else None,
        ),
        lang="en",
    )
    return fragment(Html("<!DOCTYPE html>\n"), whole, "\n")
