"""The page that sections stand on: one HTML file that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files

from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.report.section import Section

# Nothing is fetched from anywhere, whatever a model says: styles and scripts are those of the page, pictures its data.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"
)


def page(title: str, head: Html, sections: Sequence[Section]) -> str:
    """A whole document. head: what stands below the title, before the first section."""
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
            element("meta", http_equiv="Content-Security-Policy", content=POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("title", title),
            element("style", Html(files(__package__).joinpath("style.css").read_text("utf-8"))),
        ),
        element(
            "body",
            element("header", element("h1", title), head),
            element("nav", element("ul", links), aria_label="Contents"),
            element("main", chapters),
            element("footer", made),
        ),
        lang="en",
    )
    return fragment(Html("<!DOCTYPE html>\n"), whole, "\n")
