"""The options of a simulation that a document may give: what is wrong with them by themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.methods.table import AUTO, METHODS, method_names
from dalembert.model.language.suggest import suggest

MAX_SAMPLES = 10_000_000


def option_faults(options: Mapping[str, Any]) -> list[str]:
    """Every value that is out of its range, whatever the system."""
    faults = []
    rtol = number_of(options.get("rtol", 1e-9))
    if not 1e-13 <= rtol <= 0.1:
        faults.append(f"rtol is {options.get('rtol')!r}; it must lie between 1e-13 and 0.1")
    method = str(options.get("method", AUTO)).lower()
    if method != AUTO and method not in METHODS:
        faults.append(f"unknown method {method!r}.{suggest(method, method_names())}")
    atol = number_of(options.get("atol", 1.0))
    if not (math.isfinite(atol) and atol > 0):
        faults.append(f"atol is {options['atol']!r}; it must be positive")
    samples = options.get("samples", 2)
    if not (number_of(samples).is_integer() and samples >= 2):
        faults.append(f"samples is {samples!r}; at least 2 are needed, the start and the end")
    elif samples > MAX_SAMPLES:
        faults.append(f"samples is {samples!r}; at most {MAX_SAMPLES:,} are kept")
    return faults


def duration_faults(duration: Any) -> list[str]:
    if isinstance(duration, bool) or not isinstance(duration, (int, float, np.number)):
        return [f"the duration is a number, got {duration!r}"]
    if not math.isfinite(duration) or duration <= 0:
        return [f"the duration is {float(duration):g}; it must be positive and finite"]
    return []


def number_of(value: Any) -> float:
    """A number, or NaN for what is none: the range tests then refuse it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return math.nan
    return float(value)
