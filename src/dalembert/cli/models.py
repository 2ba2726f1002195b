"""What the verbs share: finding a model, changing its values, printing JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from dalembert.cli import completion
from dalembert.errors import DocumentError, ModelError
from dalembert.model.documents.document import load
from dalembert.model.language.parse import suggest
from dalembert.model.system import System
from dalembert.results import plain_values

MODEL = typer.Argument(
    ...,
    help="A model document (TOML file) or the name of a library system.",
    show_default=False,
    autocompletion=completion.models,
)
OPTION = typer.Option(
    [],
    "--option",
    metavar="NAME=VALUE",
    help="Build the library system with this option, as ratio=2 or alpha=pi/6; may be repeated.",
)
SET = typer.Option(
    [],
    "--set",
    metavar="NAME=VALUE",
    help="Change a parameter, as g=1.62; may be repeated.",
    autocompletion=completion.parameters,
)
INITIAL = typer.Option(
    [], "--initial", metavar="NAME=VALUE", help='Change an initial value, as x=1 or "x\'=0"; may be repeated.'
)
JSON = typer.Option(False, "--json", help="Print exactly one JSON object on standard output.")


def find_model(model: str, option: list[str] | None = None) -> System:
    """A system from a file or from the library, there with the options of `--option`."""
    path = Path(model)
    if path.is_file() or path.suffix == ".toml" or "/" in model:
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
    typer.echo(json.dumps(plain_values(data), ensure_ascii=False, indent=2))
