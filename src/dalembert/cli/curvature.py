"""`dalembert curvature MODEL`: how much the path of a motion bends in the metric of the masses (Hertz)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from dalembert.cli.folders import OUT, computed, slug_of, write_table
from dalembert.cli.models import JSON, MODEL, OPTION, changed, find_model, print_json
from dalembert.model.system import System
from dalembert.motion.result.motion import Motion


def curvature(
    model: str = MODEL,
    option: list[str] = OPTION,
    duration: float | None = typer.Option(None, help="How long to simulate."),
    rtol: float | None = typer.Option(None, help="Relative tolerance, default 1e-9."),
    samples: int | None = typer.Option(None, help="Number of output times, default 501."),
    set_: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="Another value for a parameter."),
    initial: list[str] = typer.Option([], metavar="NAME=VALUE", help="Another initial value."),
    out: Path | None = OUT,
    json: bool = JSON,
) -> None:
    """Simulate a model and write Hertz's curvature √K along the motion, with a picture."""
    system = changed(find_model(model, option), set_, initial)
    folder = out if out is not None else Path(f"dalembert-{slug_of(system)}")
    motion, bend = computed(folder, lambda: _bend(system, duration, rtol, samples))
    files = [folder / f"{slug_of(system)}-curvature.csv", folder / f"{slug_of(system)}-curvature.png"]
    write_table(files[0], {"t": motion.t, "curvature": bend})
    from dalembert.view.plot_curvature import plot_curvature

    plot_curvature(motion, bend, files[1])
    moving = np.isfinite(bend)
    low, high = (float(np.min(bend[moving])), float(np.max(bend[moving]))) if moving.any() else (np.nan, np.nan)
    if json:
        names = [str(file) for file in files]
        print_json({"name": system.name, "least": low, "most": high, "t": motion.t, "curvature": bend, "files": names})
        return
    typer.echo(f"{system.name}: curvature in the metric of the masses, t = {motion.t[0]:g} … {motion.t[-1]:g}")
    typer.echo(f"  least {low:.10g}, most {high:.10g}" if moving.any() else "  at rest throughout: it has no direction")
    if not moving.all() and moving.any():
        still = int(np.sum(~moving))
        typer.echo(f"  not defined at {still} point{'s' if still > 1 else ''}, where it is at rest")
    for file in files:
        typer.echo(f"wrote {file}")


def _bend(system: System, duration: float | None, rtol: float | None, samples: int | None) -> tuple[Motion, np.ndarray]:
    motion = system.simulate(duration, rtol=rtol, samples=samples)
    return motion, motion.curvature()
