"""Figures as parts of a page: as images, or as drawings that follow its colours."""

from __future__ import annotations

import base64

from matplotlib.figure import Figure

from dalembert.view.figures import as_bytes
from dalembert.view.markup.elements import Html, element


def image(figure: Figure, text: str) -> Html:
    """A figure as an image that the page holds. text: the same in words, for those who cannot see it."""
    data = base64.b64encode(as_bytes(figure, "png")).decode()
    return element("img", src=f"data:image/png;base64,{data}", alt=text)
