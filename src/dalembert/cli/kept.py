"""Models that were kept, with `--set` and `--initial` applied, without SymPy."""

from __future__ import annotations

import re

from dalembert.cli.models import with_values
from dalembert.model.kept import KeptSystem, with_numbers
from dalembert.motion.kept_models import Origin, find_kept

# Numbers that mean the same however they are read: more digits than these may be rounded in other ways.
NUMBER, DIGITS = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"), 15


def kept_with(origin: Origin, values: list[str], initial: list[str]) -> KeptSystem | None:
    """What was kept of a model, with `--set` and `--initial` applied; None where there is nothing, or where the values
    are more than plain numbers for names that it has, each given once.
    """
    parameters, starts = _numbers(values), _numbers(initial)
    if parameters is None or starts is None:
        return None
    kept = find_kept(origin)
    if kept is None:
        return None
    known = {symbol.name for symbol in kept.parameter_symbols}
    states = {*(q.name for q in kept.coordinates), *(v.name for v in kept.velocities), "t"}
    if not (parameters.keys() <= known and starts.keys() <= states):
        return None
    return with_numbers(kept, parameters, starts, lambda: with_values(origin.read(), values, initial))


def _numbers(items: list[str]) -> dict[str, float] | None:
    found: dict[str, float] = {}
    for item in items:
        name, _, value = (part.strip() for part in item.partition("="))
        if name in found or not NUMBER.fullmatch(value) or sum(map(str.isdigit, value)) > DIGITS:
            return None
        found[name] = float(value)
    return found
