"""Figures as images that a page holds."""

from __future__ import annotations

import base64

from matplotlib.figure import Figure

from dalembert.view.figures import as_bytes
from dalembert.view.markup.elements import Html, element


def image(figure: Figure, text: str) -> Html:
    """text: the same in words, for those who cannot see it."""
    return image_of(as_bytes(figure, "png"), text)


def image_of(png: bytes, text: str) -> Html:
    """The bytes of an image as an element."""
    return element("img", src=f"data:image/png;base64,{base64.b64encode(png).decode()}", alt=text)
