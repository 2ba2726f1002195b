"""The residuals of the certificate over time, each as a share of what is allowed."""

from __future__ import annotations

import numpy as np

from dalembert.motion.certificate.over_time import residuals_over_time
from dalembert.motion.large.size import is_large
from dalembert.view.plots.along import Along
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import choose_names, nothing

# Shares of what is allowed below this are rounding; where a residual passes through zero its logarithm has no end.
LEAST = 1e-10


def certificate(along: Along, of: tuple[str, ...]) -> list[Panel]:
    motion = along.motion
    verdict = motion.certificate.headline().removeprefix("that ")
    title = f"certificate {verdict}"
    if is_large(motion.system):
        return nothing(title, "of large systems the residuals are not kept over time")
    values, limits = residuals_over_time(motion), motion.certificate.thresholds
    names = choose_names("certificate", of, list(values), "measure")
    curves = []
    for hue, name in enumerate(names):
        share = values[name] / limits[name]
        if (share > 0).any():
            curves.append(Curve(name.replace("_", " "), motion.t, np.maximum(share, LEAST), hue=hue))
    if not curves:
        return nothing(title, "all residuals are zero")
    ends = np.array([motion.t[0], motion.t[-1]])
    curves.append(Curve("allowed", ends, np.ones(2), "limit", -1))
    return [Panel("", title, along.names.time, "residual / allowed", tuple(curves), log=True)]
