"""Models that were read before, kept on disk beside the kernels, so that their motions need no SymPy.

A file (`kernel.keep`) has names and numbers (`model.kept`) and the functions of the graph as CasADi writes them, as
JSON. It is found by the text of the document, or by the name in the library with its options,
together with the state of this package and of the two that read models: what has changed in any of them is read anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import casadi as ca

from dalembert.errors import DalembertError
from dalembert.graph.functions import graph_of, plain_parts, take_graph
from dalembert.kernel.keep import keep, read_kept
from dalembert.model.kept import KeptSystem, from_parts, kept_parts
from dalembert.motion.large.size import is_large

if TYPE_CHECKING:
    from dalembert.model.system import System

PACKAGE = Path(__file__).parents[1]
SUFFIX = ".model"
# Reading a larger one takes longer than it saves.
MOST_BYTES = 4_000_000


@dataclass(frozen=True)
class Origin:
    """Where a model comes from: all that decides what is read, and what reads it."""

    text: str
    read: Callable[[], System]

    def digest(self) -> str:
        return hashlib.sha256("\0".join([*_readers(), self.text]).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _readers() -> list[str]:
    """The state of what reads models: files are told by size and time, because that is far quicker than their text."""
    found = []
    for folder, _, names in os.walk(PACKAGE):
        for name in names:
            if name.endswith(".py"):
                file = os.path.join(folder, name)
                state = os.stat(file)
                found.append(f"{file} {state.st_size} {state.st_mtime_ns}")
    sympy = find_spec("sympy")
    if sympy is not None and sympy.origin is not None:
        state = os.stat(sympy.origin)
        found.append(f"{sympy.origin} {state.st_size} {state.st_mtime_ns}")
    return [*sorted(found), ca.CasadiMeta.version()]


def find_kept(origin: Origin) -> KeptSystem | None:
    """What was kept of a model, or None."""
    key = origin.digest()
    text = read_kept(f"{key}{SUFFIX}")
    if text is None:
        return None
    try:
        data = json.loads(text)
        take_graph(data["graph"], ("kept", key))
        outputs = ca.Function.deserialize(data["outputs"])
        return from_parts(data["system"], ("kept", key), outputs, origin.read)
    except (ValueError, KeyError, TypeError, RuntimeError):
        return None  # of no use: read anew


def keep_model(origin: Origin, system: System) -> None:
    """Keep what motions ask of a model, where it is plain; where it cannot be written, nothing is kept."""
    if not is_plain(system):
        return
    from dalembert.graph.outputs import output_function  # needs SymPy, which has read the system

    try:
        data = {
            "system": kept_parts(system),
            "graph": plain_parts(graph_of(system)),
            "outputs": output_function(system).serialize(),
        }
        text = json.dumps(data).encode()
    except (DalembertError, TypeError, ValueError):
        return  # an output without a form as a graph, or a setting that is no plain value
    if len(text) > MOST_BYTES:
        return
    keep(f"{origin.digest()}{SUFFIX}", text)


def is_plain(system: System) -> bool:
    """Whether names, numbers and the graph are all that motions of a system ask for: no laws of nonideal constraints,
    no one-sided ones, no kinks, no definitions, no functions without an expression, and not large.
    """
    from dalembert.model.kinks import KINKED  # needs SymPy, which has read the system

    if is_large(system) or system.nonideal or system.definitions or system.functions:
        return False
    if any(constraint.one_sided for constraint in system.constraints):
        return False
    return not any(expression.has(*KINKED) for expression in system.expressions())
