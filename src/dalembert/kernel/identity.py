"""What determines a kernel's source, as text that is known before the source is made.

A kernel found on disk under it needs neither factorisations nor emission. So everything the source depends on must
be in it: the functions of the system's graph, instruction by instruction; the names and options that `kernel_source`
takes besides; the methods and limits in force; and the text of this package itself, emitter and runtime.
`tests/kernel/test_identity.py` watches that the package takes nothing from anywhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.limits import LIMITS
from dalembert.methods.table import METHODS, Method

if TYPE_CHECKING:
    from dalembert.model.system import System

PACKAGE = Path(__file__).parent
METHODS_PACKAGE = PACKAGE.parent / "methods"  # what a tableau says of itself decides the source too


def identity(
    system: System, graph: Graph, rows: Sequence[int], asked: Collection[str], completion: float
) -> str | None:
    """The same in every process for the same model, options and version; another for any other.

    None where the package on disk is no longer the one that was loaded (it was updated under a running process): then
    only the source itself tells what it is.
    """
    package = package_identity()
    if package is None:
        return None
    options = ([int(row) for row in rows], list(asked), float(completion))
    return "\0".join([package, *_graph(graph), repr(_names(system)), repr(options)])


def package_identity() -> str | None:
    """What determines a source that belongs to no model; None as for `identity`."""
    if code(PACKAGE, METHODS_PACKAGE) != LOADED:
        return None
    return "\0".join([LOADED, table_text(), repr(LIMITS), ca.CasadiMeta.version()])


def _graph(graph: Graph) -> list[str]:
    """Written out once: a kernel and tapes are looked for under it."""
    if "identity" not in graph.kept:
        values = [(field.name, getattr(graph, field.name)) for field in fields(graph)]
        text = [f"{name}={x.serialize() if isinstance(x, ca.Function) else x!r}" for name, x in values]
        graph.kept["identity"] = text
    found: list[str] = graph.kept["identity"]
    return found


def _names(system: System) -> tuple[object, ...]:
    return (
        system.name,
        [q.name for q in system.coordinates],
        [p.name for p in system.parameter_symbols],
        [(constraint.name, constraint.level) for constraint in system.constraints],
    )


def table_text() -> str:
    """A digest of the table of methods as it stands: one that was added to it is in no file of this package."""
    entries = tuple(METHODS.values())
    known = tuple(map(id, entries))  # a thousand coefficients take longer to compare than a short motion takes
    if known not in _digests:
        _digests[known] = entries, hashlib.sha256(repr(entries).encode()).hexdigest()
    return _digests[known][1]


# With the entries themselves, so that no other can come to have their id.
_digests: dict[tuple[int, ...], tuple[tuple[Method, ...], str]] = {}


def code(*packages: Path) -> str:
    """A digest of the sources of packages, C headers among them."""
    digest = hashlib.sha256()
    for package in packages:
        for file in sorted(package.rglob("*")):
            if file.suffix in (".py", ".h"):
                text = file.read_bytes()
                digest.update(f"{file.relative_to(package)} {len(text)}\n".encode())
                digest.update(text)
    return digest.hexdigest()


LOADED = code(PACKAGE, METHODS_PACKAGE)
