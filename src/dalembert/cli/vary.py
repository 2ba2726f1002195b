"""`--vary`: what a sweep varies, as it is written on a line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dalembert.ensemble.ask.memory import free_memory, readable
from dalembert.errors import ExpressionError
from dalembert.model.language.parse import parse_expression
from dalembert.model.language.suggest import suggest

# Distributions by the names and arguments that a person would give them: SciPy's are by location and scale.
DISTRIBUTIONS = {
    "uniform": ("low", "high"),
    "normal": ("mean", "deviation"),
    "lognormal": ("median", "sigma"),
    "exponential": ("mean",),
    "triangular": ("low", "mode", "high"),
    "randint": ("low", "high"),
}
DRAWN = re.compile(r"^(?P<kind>\w+)\s*\((?P<arguments>.*)\)$")


def read_vary(items: list[str], faults: list[str]) -> dict[str, Any]:
    """`NAME=FIRST:LAST:COUNT`, `NAME=1,2,5`, `NAME~uniform(0.1,0.5)`; what is wrong goes to `faults`."""
    found: dict[str, Any] = {}
    for item in items:
        match = re.match(r"^\s*([^=~]+?)\s*([=~])\s*(.*?)\s*$", item)
        if match is None or not match[3]:
            faults.append(f"--vary {item!r}: write NAME=FIRST:LAST:COUNT, NAME=1,2,5 or NAME~uniform(0.1,0.5)")
            continue
        name, sign, text = match.groups()
        if name in found:
            faults.append(f"--vary: {name} is given twice")
            continue
        value = _distribution(name, text, faults) if sign == "~" else _numbers(name, text, faults)
        if value is not None:
            found[name] = value
    return found


def _numbers(name: str, text: str, faults: list[str]) -> Any:
    parts = text.split(":")
    if len(parts) == 1:
        values = [_number(name, part, faults) for part in text.split(",")]
        return None if None in values else values
    if len(parts) != 3:
        faults.append(f"--vary {name}={text}: a range is FIRST:LAST:COUNT, as 0:10:101")
        return None
    first, last = (_number(name, part, faults) for part in parts[:2])
    try:
        count = int(parts[2])
    except ValueError:
        faults.append(f"--vary {name}: {parts[2]!r} is no number of values; a range is FIRST:LAST:COUNT")
        return None
    if count < 1:
        faults.append(f"--vary {name}: the range has {count} values; at least one is wanted")
        return None
    if 8 * count > (free := free_memory()):
        faults.append(f"--vary {name}: {count} values take {readable(8 * count)}, and {readable(free)} are free")
        return None
    if first is None or last is None:
        return None
    if count == 1 and first != last:
        faults.append(f"--vary {name}: one value from {first:g} to {last:g}; give at least two, or {name}={first:g}")
        return None
    return np.linspace(first, last, count)


def _number(name: str, text: str, faults: list[str]) -> float | None:
    """A number, or an expression of numbers, as pi/6."""
    try:
        value = complex(parse_expression(text.strip(), {}, where=name))
    except (ExpressionError, TypeError, ValueError, OverflowError):
        value = complex("nan")
    if value.imag or not np.isfinite(value.real):
        faults.append(f"--vary {name}: {text.strip()!r} is no finite number")
        return None
    return value.real


def _distribution(name: str, text: str, faults: list[str]) -> Any:
    match = DRAWN.match(text)
    kind = match["kind"] if match else text
    if match is None or kind not in DISTRIBUTIONS:
        known = ", ".join(f"{kind}({', '.join(names)})" for kind, names in DISTRIBUTIONS.items())
        faults.append(f"--vary {name}: unknown distribution {kind!r}.{suggest(kind, DISTRIBUTIONS)} There are {known}")
        return None
    names = DISTRIBUTIONS[kind]
    parts = [part for part in match["arguments"].split(",") if part.strip()]
    if len(parts) != len(names):
        faults.append(f"--vary {name}: {kind} has the arguments {', '.join(names)}, got {len(parts)}")
        return None
    numbers = [_number(name, part, faults) for part in parts]
    given = [number for number in numbers if number is not None]
    if len(given) < len(numbers):
        return None
    fault = _fault(kind, given)
    if fault:
        faults.append(f"--vary {name}~{text}: {fault}")
        return None
    return _frozen(kind, given)


def _fault(kind: str, given: list[float]) -> str | None:
    if kind in ("uniform", "randint") and not given[0] < given[1]:
        return "the range is empty; low must be below high"
    if kind == "randint" and any(x != round(x) for x in given):
        return "whole numbers are wanted"
    if kind == "triangular" and not (given[0] < given[2] and given[0] <= given[1] <= given[2]):
        return "low, mode, high must be in this order"
    if kind in ("normal", "lognormal") and not given[1] > 0:
        return "the second argument, its width, must be positive"
    if kind in ("exponential", "lognormal") and not given[0] > 0:
        return f"the first argument, its {DISTRIBUTIONS[kind][0]}, must be positive"
    return None


def _frozen(kind: str, given: list[float]) -> Any:
    from scipy import stats  # takes its time to load

    if kind == "uniform":
        return stats.uniform(given[0], given[1] - given[0])
    if kind == "normal":
        return stats.norm(*given)
    if kind == "lognormal":
        return stats.lognorm(given[1], scale=given[0])
    if kind == "exponential":
        return stats.expon(scale=given[0])
    if kind == "randint":
        return stats.randint(int(given[0]), int(given[1]))
    low, mode, high = given
    return stats.triang((mode - low) / (high - low), low, high - low)
