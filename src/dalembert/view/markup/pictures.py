"""Figures as images that a page holds."""

from __future__ import annotations

import base64
import io

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from dalembert.view.figures import as_bytes
from dalembert.view.markup.elements import Html, element

# Colours of a plot with smooth edges; a page with all of them would be three times as large.
COLOURS = 64


def image(figure: Figure, text: str) -> Html:
    """A figure as an element. text: the same in words, for those who cannot see it."""
    return image_of(np.asarray(Image.open(io.BytesIO(as_bytes(figure, "png")))), text)


def image_of(pixels: np.ndarray, text: str) -> Html:
    """Pixels (height, width, 3 or more) as an element."""
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels[..., :3])).quantize(COLOURS).save(file, "png")
    return element("img", src=f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}", alt=text)
