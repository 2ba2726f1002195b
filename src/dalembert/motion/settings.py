"""The options of a simulation, checked: every fault is told at once."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.errors import ModelError
from dalembert.mechanics.fundamental import Array
from dalembert.model.parse import suggest
from dalembert.model.system import System

METHODS = ("auto", "dop853", "dopri5", "stiff")
BACKENDS = ("auto", "native", "reference")
DEFAULT_RTOL = 1e-9
DEFAULT_SAMPLES = 501


@dataclass(frozen=True)
class Settings:
    """Checked options. `times` are the output times; the first one is the initial time."""

    times: Array
    rtol: float
    atol: float
    method: str
    project: bool
    backend: str


def settings_of(
    system: System, duration: float | None, times: ArrayLike | None, t0: float, options: Mapping[str, Any]
) -> Settings:
    """Options with their defaults, or `ModelError` with every fault found."""
    faults: list[str] = []
    rtol = _number(options.get("rtol", DEFAULT_RTOL))
    if not 1e-13 <= rtol <= 0.1:
        faults.append(f"rtol is {options.get('rtol')!r}; it must lie between 1e-13 and 0.1")
    method = str(options.get("method", "auto")).lower()
    if method not in METHODS:
        faults.append(f"unknown method {method!r}.{suggest(method, METHODS)}")
    backend = str(options.get("backend") or os.environ.get("DALEMBERT_BACKEND") or "auto").lower()
    if backend not in BACKENDS:
        faults.append(f"unknown backend {backend!r}.{suggest(backend, BACKENDS)}")
    # Components pass through zero, so a purely relative tolerance would stall; 1e-14 is where rounding begins. Stiff
    # forces magnify rounding by their stiffness, so that small components cannot be had to a thousandth of rtol.
    share = 1.0 if method == "stiff" else 1e-3
    atol = _number(options.get("atol", max(share * rtol, 1e-14)))
    if "atol" in options and not (math.isfinite(atol) and atol > 0):
        faults.append(f"atol is {options['atol']!r}; it must be positive")
    samples = options.get("samples", DEFAULT_SAMPLES)
    if not (_number(samples).is_integer() and samples >= 2):
        faults.append(f"samples is {samples!r}; at least 2 are needed, the start and the end")
    if duration is not None and times is not None:
        faults.append("give a duration or the output times, not both")
    duration = options.get("duration") if duration is None and times is None else duration
    points = np.array([t0])
    if times is not None:
        points = np.asarray(times, dtype=float).ravel()
        if points.size == 0 or not np.isfinite(points).all() or np.any(np.diff(points) <= 0) or points[0] < t0:
            faults.append(f"times must be finite, increasing, and not before the initial time {t0:g}")
        elif points[0] > t0:
            points = np.concatenate([[t0], points])
    elif duration is None:
        faults.append("no duration: say how long to simulate")
    elif isinstance(duration, bool) or not isinstance(duration, (int, float, np.number)):
        faults.append(f"the duration is a number, got {duration!r}")
    elif not math.isfinite(duration) or duration <= 0:
        faults.append(f"the duration is {float(duration):g}; it must be positive and finite")
    elif not faults:
        points = t0 + np.linspace(0.0, float(duration), int(samples))
    if faults:
        raise ModelError(system.name, faults)
    return Settings(points, rtol, atol, method, bool(options.get("project", True)), backend)


def _number(value: Any) -> float:
    """A number, or NaN for what is none: the range tests then refuse it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return math.nan
    return float(value)
