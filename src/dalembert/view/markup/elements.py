"""HTML by functions: text is escaped wherever it stands, and only what was made here is not.

Names, descriptions and messages come from models, and models come from anywhere. So there is no other way to make a
piece of a page than `element`, and what it is given as plain text is shown as that text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

# Elements without content, which have no end.
VOID = frozenset({"br", "hr", "img", "meta", "link"})
# What no page may hold, as it stands or by its number: control characters but those of lines, and halves of others.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class Html(str):
    """Text that is HTML already: made by `element`, or by something that escapes as carefully."""

    __slots__ = ()


Content = str | None | Iterable["Content"]


def element(name: str, /, *content: Content, **attributes: str | bool | None) -> Html:
    """An element with its content: text, elements, and lists of both; None is nothing. An underscore behind the name of
    an attribute is dropped, those within are hyphens; True gives it without a value, None and False leave it out.

    >>> element("p", "a < b & ", element("b", "c"), class_="note")
    '<p class="note">a &lt; b &amp; <b>c</b></p>'
    """
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    return Html(f"<{opening}>" if name in VOID else f"<{opening}>{fragment(*content)}</{name}>")


def fragment(*content: Content) -> Html:
    """Several pieces one after the other."""
    return Html("".join(map(_piece, content)))


def _piece(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return escape(content)
    return "".join(map(_piece, content))


def escape(text: str) -> Html:
    """Text as it stands, also between quotation marks; control characters, which HTML has none of, as a sign."""
    return Html(html.escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)))


def _attribute(key: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
