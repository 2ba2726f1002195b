"""Pages of HTML read by the parser of the standard library, for tests of what stands on them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "meta", "link"}
# Elements whose names SVG and HTML share with texts that are no content.
SILENT = {"style", "script"}


class Parsed(HTMLParser):
    """A page: its elements with their attributes in order, its text, and whether every element is closed in turn."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.faults: list[str] = []
        self.feed(page)
        self.close()
        self.faults += [f"{name} is not closed" for name in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> after {self.open[-1:]}, line {self.getpos()[0]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in SILENT:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a name."""
        return [attributes for name, attributes in self.elements if name == tag]

    def loads(self) -> list[str]:
        """All that a browser would fetch, or go to: addresses outside of the page itself."""
        found = []
        for tag, attributes in self.elements:
            for key, value in attributes.items():
                outside = value is not None and not value.startswith(("#", "data:"))
                if key in ("src", "href", "xlink:href", "action", "poster", "srcset", "data", "background") and outside:
                    found.append(f"{tag} {key}={value}")
        return found


def addresses_in_styles(page: str) -> list[str]:
    """What style sheets would fetch."""
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    return [found for style in styles for found in re.findall(r"@import|url\((?!#)[^)]*", style)]
