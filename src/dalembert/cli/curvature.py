"""`dalembert curvature MODEL`: how much the path of a motion bends in the metric of the masses (Hertz)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from dalembert.cli.arguments import INITIAL, JSON, MODEL, OPTION, OUT, SET
from dalembert.cli.folders import compute_into, slug_of, tell, write_table
from dalembert.cli.models import find_model, with_values
from dalembert.model.system import System
from dalembert.motion.result.motion import Motion


def curvature(
    model: str = MODEL,
    option: list[str] = OPTION,
    duration: float | None = typer.Option(None, help="How long to simulate."),
    rtol: float | None = typer.Option(None, help="Relative tolerance, default 1e-9."),
    samples: int | None = typer.Option(None, help="Number of output times, default 501."),
    set_: list[str] = SET,
    initial: list[str] = INITIAL,
    out: Path | None = OUT,
    json: bool = JSON,
) -> None:
    """Simulate a model and write Hertz's curvature √K along the motion, with a picture."""
    system = with_values(find_model(model, option), set_, initial)
    folder = out if out is not None else Path(f"dalembert-{slug_of(system)}")
    motion, bend = compute_into(folder, lambda: _bend(system, duration, rtol, samples))
    files = [folder / f"{slug_of(system)}-curvature.csv", folder / f"{slug_of(system)}-curvature.png"]
    write_table(files[0], {"t": motion.t, "curvature": bend})
    from dalembert.view.plots.curvature import plot_curvature

    plot_curvature(motion, bend, files[1])
    moving = np.isfinite(bend)
    low, high = (float(np.min(bend[moving])), float(np.max(bend[moving]))) if moving.any() else (np.nan, np.nan)
    lines = [f"{system.name}: curvature in the metric of the masses, t = {motion.t[0]:g} … {motion.t[-1]:g}"]
    lines.append(
        f"  least {low:.10g}, most {high:.10g}" if moving.any() else "  at rest throughout: it has no direction"
    )
    if not moving.all() and moving.any():
        still = int(np.sum(~moving))
        lines.append(f"  not defined at {still} point{'s' if still > 1 else ''}, where it is at rest")
    values = {"name": system.name, "least": low, "most": high, "t": motion.t, "curvature": bend}
    tell("\n".join(lines), values, files, json)


def _bend(system: System, duration: float | None, rtol: float | None, samples: int | None) -> tuple[Motion, np.ndarray]:
    motion = system.simulate(duration, rtol=rtol, samples=samples)
    return motion, motion.curvature()
