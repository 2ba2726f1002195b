"""A picture of the curvature along a motion."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dalembert.model.documents.document import write_atomically
from dalembert.motion.result.motion import Motion
from dalembert.view.plot import picture


def plot_curvature(motion: Motion, curvature: np.ndarray, file: str | os.PathLike[str] | None = None) -> Figure:
    """Draw √K of a motion; write it to `file` (png, pdf, svg) where that is given."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(motion.t, curvature, lw=1.2)
    axes.set(xlabel="t", ylabel=r"$\sqrt{K}$")
    axes.set_ylim(bottom=0)
    name = "".join(character for character in motion.system.name if character.isprintable()).replace("$", r"\$")
    axes.set_title(f"{name}: curvature in the metric of the masses", fontsize=11)
    if file is not None:
        write_atomically(file, picture(figure, Path(file).suffix.lstrip(".") or "png"))
    return figure
