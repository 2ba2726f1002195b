"""`dalembert animate MODEL --out FILE`: simulate, and show the motion as a GIF, an MP4 or a page of HTML."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.arguments import INITIAL, MODEL, OPTION, SET
from dalembert.cli.folders import slug_of
from dalembert.cli.models import find_model, with_values
from dalembert.errors import MotionFailed


def animate(
    model: str = MODEL,
    option: list[str] = OPTION,
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    duration: float | None = typer.Option(None, help="How long to simulate."),
    out: Path | None = typer.Option(None, help="The file: .gif, .mp4 or .html; default NAME.gif here."),
    fps: float = typer.Option(30.0, help="Frames for each second of showing."),
    speed: float = typer.Option(1.0, help="Seconds of the motion in each second of showing; 1 is real time."),
    forces: bool = typer.Option(True, "--forces/--no-forces", help="Draw forces as arrows."),
    dark: bool = typer.Option(False, "--dark", help="Light on dark."),
) -> None:
    """Simulate a model and write its motion as an animation."""
    from dalembert.view.animate.animate import require_writable
    from dalembert.view.scene.frames import watchable_speed

    system = with_values(find_model(model, option), set_, initial)
    file = out if out is not None else Path(f"{slug_of(system)}.gif")
    require_writable(file)  # before anything is computed
    failure: MotionFailed | None = None
    try:
        motion = system.simulate(duration)
    except MotionFailed as error:
        if error.motion is None:
            raise
        motion, failure = error.motion, error
    motion.animate(file, fps=fps, speed=speed, forces=forces, style="dark" if dark else "light")
    seconds = (motion.t[-1] - motion.t[0]) / speed
    rate = "in real time" if speed == 1 else f"at {speed:g} times its speed"
    print(f"{system.name}: t = {motion.t[0]:g} … {motion.t[-1]:g}, {seconds:.4g} s {rate}\nwrote {file}", flush=True)
    better = watchable_speed(seconds) * speed
    if better != speed:
        print(f"--speed {better:g} shows it in about {seconds * speed / better:.0f} s", flush=True)
    if failure is not None:
        raise failure
