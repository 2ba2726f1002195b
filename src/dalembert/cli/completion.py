"""What a shell proposes when the tab key is pressed: models, formulations, methods, backends, names to change.

A proposal must never end in an error: where something cannot be read, nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from dalembert.errors import DalembertError


def models(incomplete: str) -> list[tuple[str, str]]:
    """Systems of the library with their line of description, and the model documents that lie there."""
    from dalembert import library

    known = [(name, library.example(name).summary) for name in library.names()]
    return [*_beginning(known, incomplete), *((file, "a model document") for file in _documents(incomplete))]


def systems(incomplete: str) -> list[tuple[str, str]]:
    """Systems of the library only."""
    from dalembert import library

    return _beginning([(name, library.example(name).summary) for name in library.names()], incomplete)


def forms(incomplete: str) -> list[tuple[str, str]]:
    from dalembert.mechanics.principles import FORMS

    return _beginning([(form, "") for form in FORMS], incomplete)


def forms_or_all(incomplete: str) -> list[tuple[str, str]]:
    return [*forms(incomplete), *_beginning([("all", "every formulation, one after the other")], incomplete)]


def methods(incomplete: str) -> list[tuple[str, str]]:
    from dalembert.methods.table import METHODS, method_names

    help_of = {name: method.help for name, method in METHODS.items()}
    return _beginning([(name, help_of.get(name, "chosen by the tolerance")) for name in method_names()], incomplete)


def backends(incomplete: str) -> list[tuple[str, str]]:
    known = [
        ("auto", "compiled where it can be"),
        ("native", "compiled C"),
        ("reference", "CasADi's virtual machine and SciPy"),
    ]
    return _beginning(known, incomplete)


def parameters(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """NAME= of every parameter of the model that stands before on the line."""
    from dalembert.cli.models import find_model

    # An option without its value ends the reading of the line: what stood before is among the rest.
    given = [context.params.get("model"), *(word for word in context.args if not word.startswith("-"))]
    try:
        system = find_model(next((str(word) for word in given if word), ""))
    except DalembertError:
        return []
    values = [(f"{s.name}=", f"now {float(value):g}") for s, value in system.parameters.items()]
    return _beginning(values, incomplete)


def _beginning(known: Iterable[tuple[str, str]], incomplete: str) -> list[tuple[str, str]]:
    return [(name, text) for name, text in known if name.startswith(incomplete)]


def _documents(incomplete: str) -> list[str]:
    """Documents and folders whose path begins so; a folder ends with a slash, to go on from."""
    folder, _, start = incomplete.rpartition("/")
    shown = f"{folder}/" if "/" in incomplete else ""
    try:
        entries = sorted(Path(shown or ".").iterdir())
    except OSError:
        return []
    found = []
    for entry in entries:
        if entry.name.startswith(start) and not (entry.name.startswith(".") and not start):
            if entry.suffix == ".toml" and entry.is_file():
                found.append(f"{shown}{entry.name}")
            elif shown and entry.is_dir():
                found.append(f"{shown}{entry.name}/")
    return found
