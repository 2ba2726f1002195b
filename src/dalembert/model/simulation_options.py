"""The options of a simulation that a document may give: what is wrong with them by themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.methods.table import AUTO, METHODS, method_names
from dalembert.model.language.suggest import suggest

MAX_SAMPLES = 10_000_000
# What `float` would take all the same.
NO_NUMBERS = (bool, np.bool_, complex, np.complexfloating, np.ndarray, str, bytes)


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
    if not is_number(duration):
        return [f"the duration is a number, got {duration!r}"]
    if not math.isfinite(value := number_of(duration)) or value <= 0:
        return [f"the duration is {value:g}; it must be positive and finite"]
    return []


def times_faults(times: Any, t0: float) -> list[str]:
    """Of output times; t0: the initial time. The first value that is wrong is told, by its place from 0."""
    try:
        row = np.asarray(times).ravel()
        if row.dtype.kind not in "iuf":
            row = np.asarray(times, dtype=object).ravel()  # as it was given: lists of numbers and text are all text
    except ValueError:  # arrays of several shapes
        return [f"times: numbers are wanted, got {times!r}"]
    if not row.size:
        return ["times: no values"]
    if row.dtype != object and np.isfinite(row).all() and row[0] >= t0 and (np.diff(row.astype(float)) > 0).all():
        return []
    values, before = row.tolist(), -math.inf
    for k, given in enumerate(values):
        what = f"times: value {k} is {given!r:.80}" if len(values) > 1 else f"times is {given!r:.80}"
        if not is_number(given):
            return [f"{what}, which is no number"]
        if not math.isfinite(value := number_of(given)):
            return [f"{what}; finite numbers are wanted"]
        if value < t0:
            return [f"{what}, before the initial time {t0:g}"]
        if value <= before:
            return [f"{what} after {before:g}; times must increase"]
        before = value
    return []


def is_number(value: Any) -> bool:
    """Also fractions, decimals and numbers of SymPy; text and truth values are none."""
    if isinstance(value, NO_NUMBERS) or not hasattr(value, "__float__"):
        return False
    try:
        float(value)
    except OverflowError:  # beyond the doubles
        return True
    except (TypeError, ValueError):
        return False
    return True


def number_of(value: Any) -> float:
    """A number, or NaN for what is none: the range tests then refuse it."""
    if not is_number(value):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def whole_number(value: Any) -> int | None:
    """A whole number, however it is written; None for what is none."""
    return int(value) if number_of(value).is_integer() else None
