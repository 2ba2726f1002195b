"""What determines a kernel's source, as text that is known before the source is made.

A kernel found on disk under it needs neither factorisations nor emission. So everything the source depends on must
be in it: the functions of the system's graph, instruction by instruction; the names and options that `kernel_source`
takes besides; the methods and limits in force; and the text of this package itself, emitter and runtime.
`tests/kernel/test_identity.py` watches that the package takes nothing from anywhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.package_digest import package_digest

if TYPE_CHECKING:
    from dalembert.model.system import System


def identity(
    system: System, graph: Graph, rows: Sequence[int], asked: Collection[str], completion: float
) -> str | None:
    """The same in every process for the same model, options and version; another for any other.

    None where the package on disk is no longer the one that was loaded (it was updated under a running process): then
    only the source itself tells what it is.
    """
    package = package_digest()
    if package is None:
        return None
    options = ([int(row) for row in rows], list(asked), float(completion))
    return "\0".join([package, ca.CasadiMeta.version(), *_graph(graph), repr(_names(system)), repr(options)])


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
