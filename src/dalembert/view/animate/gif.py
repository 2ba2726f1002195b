"""GIF files: one palette for all frames, and only what changes from frame to frame."""

from __future__ import annotations

import io
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

Image = NDArray[np.uint8]  # (height, width, 4): red, green, blue and 255

COLOURS = 255  # one is kept for what does not change
EXACT = 32
SAMPLES = 12  # frames that the palette is made of


def gif_of(images: Iterable[Image], samples: list[Image], fps: float) -> bytes:
    """Images as a GIF that repeats; samples: some of them, for the palette."""
    palette = _palette(samples)
    table = _table(palette)
    frames = [Picture.fromarray(table[_packed(image)]) for image in images]
    flat = palette.tobytes()
    for frame in frames:
        frame.putpalette(flat)
    buffer = io.BytesIO()
    frames[0].save(
        buffer, "GIF", save_all=True, append_images=frames[1:], duration=delays(len(frames), fps), loop=0,
        optimize=False, disposal=1,
    )  # fmt: skip
    return buffer.getvalue()


def delays(count: int, fps: float) -> list[int]:
    """Milliseconds of each frame. A GIF has hundredths of seconds: they are dealt out so that the whole keeps time."""
    marks = np.round(np.arange(count + 1) * 100.0 / fps)
    return [int(10 * max(step, 1)) for step in np.diff(marks)]


def _packed(image: Image) -> np.ndarray:
    """Colours of 5, 6 and 5 bits as one number."""
    whole = np.ascontiguousarray(image).view("<u4")[:, :, 0]  # alpha, blue, green, red
    return (whole & 0xF8) << 8 | (whole >> 5) & 0x7E0 | (whole >> 19) & 0x1F


def _palette(samples: list[Image]) -> NDArray[np.uint8]:
    """(256, 3) colours: those that cover most, paper among them, as they are, and others that stand for the rest."""
    strip = np.concatenate([sample[:, :, :3] for sample in samples], axis=1)
    some = strip[::3, ::3].reshape(-1, 3).astype(np.uint32)  # to count them all would take seconds
    each, counts = np.unique(some @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32), return_counts=True)
    often = each[np.argsort(-counts)[:EXACT]]
    exact = np.stack([often >> 16, often >> 8 & 255, often & 255], axis=1).astype(np.uint8)
    others = Picture.fromarray(strip).quantize(
        COLOURS - EXACT, method=Picture.Quantize.MEDIANCUT, dither=Picture.Dither.NONE
    )
    given = np.array((others.getpalette() or [])[: 3 * (COLOURS - EXACT)], dtype=np.uint8).reshape(-1, 3)
    colours = np.zeros((256, 3), dtype=np.uint8)
    colours[: len(exact) + len(given)] = np.concatenate([exact, given])
    return colours


def _table(palette: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The nearest colour of the palette to each that `_packed` can give."""
    packed = np.arange(1 << 16)
    red, green, blue = packed >> 11, (packed >> 5) % 64, packed % 32
    # The highest bits again in the place of those that are lost: black and white stay what they are.
    colours = np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], axis=1)
    nearest = np.empty(packed.size, dtype=np.uint8)
    known = palette[:COLOURS].astype(np.float32)
    squares = np.sum(known**2, axis=1)
    for part in np.array_split(packed, 16):
        nearest[part] = np.argmin(squares - 2 * colours[part].astype(np.float32) @ known.T, axis=1)
    return nearest
