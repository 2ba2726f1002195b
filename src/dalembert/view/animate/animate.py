"""`motion.animate(file)`: a motion as a GIF, an MP4, or a page of HTML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.ensemble.bar import Bar
from dalembert.errors import OutputError
from dalembert.model.documents.write_files import write_atomically
from dalembert.model.language.suggest import suggest
from dalembert.model.system import System
from dalembert.model.units import unit_of
from dalembert.motion.result.motion import Motion
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.animate.gif import SAMPLES, Image, gif_of
from dalembert.view.animate.inline import InlinePage
from dalembert.view.animate.painter import Painter, Style
from dalembert.view.animate.video import ffmpeg, mp4_of
from dalembert.view.player.moments import moments
from dalembert.view.player.page import page_of
from dalembert.view.plots.panel import panels_of
from dalembert.view.scene.frames import watchable_speed
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
    given = [("beside", each) for each in others] + ([] if ghost is None else [("ghost", ghost)])
    for name, each in given:
        if not isinstance(each, Shown):
            raise OutputError(f"{name}: a motion is wanted, got {each!r}")
    shown = (motion, *others)
    times = [moments(each, fps, speed) if suffix == ".html" else None for each in shown]
    scenes = [
        scene_of(each, frames=own, fps=fps, speed=speed, forces=forces) for each, own in zip(shown, times, strict=True)
    ]
    scenes[0] = scenes[0] if ghost is None else with_ghost(scenes[0], ghost)
    scenes = with_names_of_their_own(scenes, [each.system.as_written for each in shown])
    if suffix == ".html":
        page = _page(motion, scenes, "auto" if style is None else look.theme, speed)
        if path is None:
            return InlinePage(page, motion.system.name)
        content = page.encode("utf-8")
    else:
        _require_several(scenes, max(float(each.t[-1] - each.t[0]) for each in shown))
        content = _film(scenes, look, suffix, fps, speed, progress)
    write_atomically(file, content)
    return file


def _require_several(scenes: Sequence[Scene], span: float) -> None:
    """`OutputError` where a film of motions that last `span` would be over with its first frame."""
    if span > 0 and all(scene.times.size == 1 for scene in scenes):
        raise OutputError(
            f"this animation would have one frame, since the motion lasts {span:g} s only: "
            f"speed={watchable_speed(span):g} shows it in some seconds"
        )


def with_names_of_their_own(scenes: Sequence[Scene], systems: Sequence[System]) -> list[Scene]:
    """Scenes with the values of parameters that differ between those of one name."""
    values = [
        dict(zip((symbol.name for symbol in system.parameter_symbols), system.parameter_values(), strict=True))
        for system in systems
    ]
    found = []
    for scene, own in zip(scenes, values, strict=True):
        alike = [other for other, each in zip(values, scenes, strict=True) if each.name == scene.name]
        parts = [f"{name} = {own[name]:g}" for name in own if len({other.get(name) for other in alike}) > 1]
        found.append(replace(scene, name=", ".join([scene.name, *parts])))
    return found


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
            return mp4_of(_images(painter, bar), (width, height), fps)
        some = np.unique(np.linspace(0, painter.count - 1, SAMPLES).astype(int))
        return gif_of(_images(painter, bar), [painter.image(int(k)).copy() for k in some], fps)


def _images(painter: Painter, bar: Bar) -> Iterator[Image]:
    """The images, counted on a bar."""
    for k, image in enumerate(painter.images(), 1):
        yield image
        bar.update(k)


def _page(motion: Shown, scenes: Sequence[Scene], theme: str, speed: float) -> str:
    """A page with the plots of the first motion below. theme: "auto", as the reader has it, unless one is asked for."""
    panels = panels_of(motion) if isinstance(motion, Motion) else ()
    return page_of(scenes, panels, speed=speed, unit=unit_of(motion.system, "t") or "s", theme=theme)
