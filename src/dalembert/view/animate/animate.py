"""`motion.animate(file)`: a motion as a GIF, an MP4, or a page of HTML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.ensemble.bar import Bar
from dalembert.errors import OutputError
from dalembert.model.documents.write_files import write_atomically
from dalembert.model.language.suggest import suggest
from dalembert.motion.result.motion import Motion
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.animate.gif import SAMPLES, Image, gif_of
from dalembert.view.animate.painter import Painter, Style
from dalembert.view.animate.video import ffmpeg, mp4_of
from dalembert.view.notebook.inline import InlinePage
from dalembert.view.scene.overlay import with_ghost
from dalembert.view.scene.scene import Scene
from dalembert.view.scene.scene_of import scene_of

SUFFIXES = (".gif", ".mp4", ".html")
Shown = Motion | VakonomicMotion


def animate(
    motion: Shown,
    path: str | os.PathLike[str] | None = None,
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    style: Mapping[str, Any] | str | None = None,
    forces: bool = True,
    beside: Shown | Iterable[Shown] = (),
    ghost: Shown | None = None,
    progress: bool | None = None,
) -> Path | InlinePage:
    """Write the animation; returns the file, or the page for a notebook. Arguments as in `Motion.animate`."""
    file = Path("inline.html" if path is None else path)
    suffix = require_writable(file)
    look = style_of(style)
    others = [beside] if isinstance(beside, Shown) else list(beside)
    strange = [each for each in others if not isinstance(each, Shown)]
    if strange:
        raise OutputError(f"beside: motions are wanted, got {strange[0]!r}")
    if suffix == ".html":
        page = _page([motion, *others], ghost, look, fps, speed, forces)
        if path is None:
            return InlinePage(page, motion.system.name)
        content = page.encode("utf-8")
    else:
        scenes = [scene_of(each, fps=fps, speed=speed, forces=forces) for each in (motion, *others)]
        scenes[0] = scenes[0] if ghost is None else with_ghost(scenes[0], ghost)
        content = _film(scenes, look, suffix, fps, speed, progress)
    write_atomically(file, content)
    return file


def require_writable(file: Path) -> str:
    """The suffix; `OutputError` where no such animation can be written, or not there."""
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise OutputError(
            f"{file}: an animation is written as .gif, .mp4 or .html, not {file.suffix or 'without one'!r}"
        )
    if not file.absolute().parent.is_dir():
        raise OutputError(f"{file}: there is no folder {file.absolute().parent}")
    if suffix == ".mp4":
        ffmpeg()
    return suffix


def style_of(given: Mapping[str, Any] | str | None) -> Style:
    """A theme, or sizes and more by name."""
    if given is None:
        return Style()
    if isinstance(given, str):
        return Style(theme=given)
    known = Style.__dataclass_fields__
    unknown = [str(key) for key in given if key not in known] if isinstance(given, Mapping) else [repr(given)]
    if unknown:
        raise OutputError(f"the style of an animation has no {unknown[0]!r}.{suggest(unknown[0], known)}")
    return Style(**given)


def _film(scenes: Sequence[Scene], style: Style, suffix: str, fps: float, speed: float, progress: bool | None) -> bytes:
    painter = Painter(scenes, style, speed)
    with Bar("frames", painter.count, 0, progress) as bar:
        if suffix == ".mp4":
            width, height = (int(side) for side in painter.canvas.get_width_height())
            return mp4_of(_told(painter, bar), (width, height), fps)
        some = np.unique(np.linspace(0, painter.count - 1, SAMPLES).astype(int))
        return gif_of(_told(painter, bar), [painter.image(int(k)).copy() for k in some], fps)


def _told(painter: Painter, bar: Bar) -> Iterator[Image]:
    """The images, counted on a bar."""
    for k, image in enumerate(painter.images(), 1):
        yield image
        bar.update(k)


def _page(motions: Sequence[Shown], ghost: Shown | None, style: Style, fps: float, speed: float, forces: bool) -> str:
    try:
        page_of = import_module("dalembert.view.player.page").page_of
        panels_of = import_module("dalembert.view.plots.panel").panels_of
    except ModuleNotFoundError:
        raise OutputError("this installation has no player for pages of HTML; write a .gif or .mp4") from None

    del style  # a page follows the reader's own light or dark
    scenes = [scene_of(each, fps=fps, speed=speed, forces=forces) for each in motions]
    scenes[0] = scenes[0] if ghost is None else with_ghost(scenes[0], ghost)
    first = motions[0]
    return str(page_of(scenes, panels_of(first) if isinstance(first, Motion) else (), speed=speed))
