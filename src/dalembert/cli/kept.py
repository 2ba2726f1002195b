"""What `run` simulates: a model that was kept, or one that is read and then kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from dalembert.cli.models import find_model, is_path, with_values
from dalembert.model.kept import KeptSystem, with_numbers
from dalembert.motion.kept_models import Origin, find_kept

if TYPE_CHECKING:
    from dalembert.model.system import System

# No document is longer (`model.documents`).
MOST_BYTES = 5_000_000
# Numbers that mean the same however they are read: more digits than these may be rounded in other ways.
NUMBER, DIGITS = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"), 15


def origin_of(model: str, option: list[str]) -> Origin | None:
    """Where a model comes from; None where that cannot be said, and reading it will tell why."""
    if not is_path(model):
        return Origin("\0".join(["library", model.replace("-", "_"), *option]), lambda: find_model(model, option))
    if option:
        return None
    try:
        content = Path(model).read_bytes() if Path(model).stat().st_size <= MOST_BYTES else None
        text = None if content is None else content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if text is None else Origin(f"document\0{text}", lambda: _read(text, model))


def kept_with(origin: Origin, values: list[str], initial: list[str]) -> KeptSystem | None:
    """What was kept of a model, with `--set` and `--initial` applied; None where there is nothing, or where the values
    are more than plain numbers for names that it has, each given once.
    """
    parameters, starts = _numbers(values), _numbers(initial)
    if parameters is None or starts is None:
        return None
    kept = find_kept(origin)
    if kept is None or not (values or initial):
        return kept
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


def _read(text: str, where: str) -> System:
    from dalembert.model.documents.document import loads

    return loads(text, where=where)
