"""What the verbs share: where a model comes from, finding it, changing its values, printing JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalembert.errors import DocumentError, ModelError
from dalembert.model.language.suggest import suggest
from dalembert.motion.kept_models import Origin
from dalembert.results import plain_values

if TYPE_CHECKING:
    from dalembert.model.system import System

# No document is longer (`model.documents`).
MOST_BYTES = 5_000_000


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


def _read(text: str, where: str) -> System:
    from dalembert.model.documents.document import loads

    return loads(text, where=where)


def find_model(model: str, option: list[str] | None = None) -> System:
    """A system from a file or from the library, there with the options of `--option`."""
    from dalembert.model.documents.document import load  # needs SymPy, as all that follows

    path = Path(model)
    if is_path(model):
        if option:
            raise ModelError(
                model, ["--option is for systems of the library; a document has --set NAME=VALUE for its parameters"]
            )
        return load(path)
    from dalembert import library

    names = library.names()
    if model.replace("-", "_") not in names:
        if path.is_dir():
            return load(path)
        hint = suggest(model, names)
        raise DocumentError(
            model,
            [f"there is no such file and no library system of this name.{hint} See 'dalembert examples'."],
        )
    if not option:
        return library.get(model)
    from dalembert.library.options import read_options

    return library.get(model, **read_options(model, library.example(model).build, option))


def is_path(model: str) -> bool:
    """Whether a file is meant, and not a system of the library."""
    path = Path(model)
    return path.is_file() or path.suffix == ".toml" or "/" in model


def with_values(system: System, values: list[str], initial: list[str]) -> System:
    """The system with `--set` and `--initial` applied; every fault is told at once."""
    faults: list[str] = []
    known = [symbol.name for symbol in system.parameter_symbols]
    states = [symbol.name for symbol in (*system.coordinates, *system.velocities)] + ["t"]
    settings = pairs(values, "--set", known, faults)
    starts = pairs(initial, "--initial", states, faults)
    if faults:
        raise ModelError(system.name, faults)
    return system.replace(parameters=settings, initial=starts) if settings or starts else system


def pairs(items: list[str], option: str, known: list[str], faults: list[str]) -> dict[str, str]:
    """NAME=VALUE as given, by name; what is wrong goes to `faults`."""
    found: dict[str, str] = {}
    for item in items:
        name, sign, value = (part.strip() for part in item.partition("="))
        if not sign or not value:
            faults.append(f"{option} {item!r}: write NAME=VALUE")
        elif name not in known:
            faults.append(f"{option}: {name!r} is not known in this model.{suggest(name, known)}")
        elif value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            faults.append(f"{option} {name} is {value}; a finite number is wanted")
        elif found.get(name, value) != value:
            faults.append(f"{option}: {name} is given twice, {found[name]} and {value}")
        else:
            found[name] = value
    return found


def print_json(data: dict[str, Any]) -> None:
    """One JSON object; numbers JSON cannot hold (NaN, infinity) become null."""
    print(json.dumps(plain_values(data), ensure_ascii=False, indent=2), flush=True)
