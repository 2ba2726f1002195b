"""The folder of a sweep: what it is, its chunks as they are finished, and at the end the ensemble as one file.

A chunk is a file that is written whole or not at all. So whatever ends a sweep, an interrupt, a full disk, a machine
that goes down, the finished chunks stay, and a sweep that is resumed computes the others only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalembert import __version__
from dalembert.ensemble.members.chunk import Chunk
from dalembert.ensemble.members.parts import ABOUT as ABOUT
from dalembert.ensemble.members.parts import Parts
from dalembert.ensemble.members.task import Task
from dalembert.errors import DalembertError, DocumentError, OutputError
from dalembert.model.documents.write_files import write_atomically
from dalembert.motion.prepare import KEPT
from dalembert.remember import remember

if TYPE_CHECKING:
    from dalembert.model.system import System

WHOLE = "ensemble.nc"
# Of a sweep that stays in parts: the values that were varied, and what an ensemble tells of itself.
PARTED = "values.nc"


class Store:
    """Of one task, in one folder."""

    def __init__(self, folder: Path, task: Task, chunk: int, resume: bool) -> None:
        """Make the folder, or find in it the same sweep where it is resumed."""
        self.folder = folder
        about = read_about(folder)
        own = digest(task)
        self.parts = Parts(folder.absolute(), chunk, task.values.count, own)
        if about is not None and not resume:
            raise OutputError(
                f"{folder}: there is a sweep here already; resume it (resume=True, --resume), or choose another folder"
            )
        if about is None and resume:
            raise DocumentError(str(folder), ["there is no sweep here to resume"])
        if about is not None and about["digest"] != own:
            raise DocumentError(
                str(folder), ["the sweep here is another one: its model, values or options differ, or its version does"]
            )
        if about is None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"{folder}: cannot write here: {error.strerror or error}") from None
            self.parts.clear()  # of a sweep whose description is gone: these would be taken for its own
            for name in (WHOLE, PARTED):
                (folder / name).unlink(missing_ok=True)
            values = task.values
            told = {
                "digest": own, "version": __version__, "name": task.system.name, "members": values.count,
                "chunk": chunk, "seed": values.seed,
            }  # fmt: skip
            write_atomically(folder / ABOUT, json.dumps(told, indent=2).encode())

    @property
    def whole(self) -> Path:
        """Where the ensemble is, once it is complete."""
        return self.folder / WHOLE

    @property
    def is_complete(self) -> bool:
        return self.whole.is_file() or (self.folder / PARTED).is_file()

    def keep(self, chunk: Chunk) -> None:
        self.parts.keep(chunk)

    def leave_in_parts(self, content: bytes) -> None:
        """Say of the chunks that they are the ensemble."""
        write_atomically(self.folder / PARTED, content)
        self.parts.clear_unfinished()

    def kept(self, among: Iterable[int] | None = None) -> Iterator[Chunk]:
        """The chunks that are finished, of all or of those from these members on. One that cannot be read is computed
        again.
        """
        for first in range(0, self.parts.members, self.parts.size) if among is None else among:
            if (chunk := self.parts.read(first)) is not None:
                yield chunk

    def clear(self) -> None:
        """Remove the chunks: the ensemble is whole."""
        self.parts.clear()


def read_about(folder: Path) -> dict[str, Any] | None:
    """What a folder says of the sweep in it; None where it has none."""
    try:
        text = (folder / ABOUT).read_text(encoding="utf-8")
    except OSError:
        return None
    try:
        found = json.loads(text)
        _ = found["digest"], found["seed"]
        if not all(type(found[name]) is int and found[name] > 0 for name in ("chunk", "members")):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise DocumentError(str(folder / ABOUT), ["this is no description of a sweep"]) from None
    return dict(found)


def digest(task: Task) -> str:
    """The same for the same sweep, in every process."""
    system, settings, values = task.system, task.settings, task.values
    made = hashlib.sha256()
    parts = {field.name: getattr(system, field.name) for field in fields(system)}  # and nothing that was kept with it
    made.update((model_text(system) or repr(parts)).encode())
    made.update(repr((settings.rtol, settings.atol, settings.method, settings.project, settings.backend)).encode())
    made.update(repr((settings.step, settings.order, settings.max_step, __version__)).encode())
    made.update(settings.times.tobytes())
    for axis in values.axes:
        made.update(axis.name.encode())
        for name, column in axis.columns.items():
            made.update(name.encode() + column.tobytes())
    asked = (task.budget, task.certify, task.repair, task.single, task.lanes)
    made.update(repr((sorted(values.fixed.items()), *asked)).encode())
    wanted = task.wanted
    made.update(repr((wanted.states, wanted.kept, [*wanted.expressions.items()], wanted.reductions)).encode())
    return made.hexdigest()


def model_text(system: System) -> str:
    """The system as a document; empty where it has none (functions of Python, laws that are not registered). Kept with
    it: to write it takes as long as the members of many a sweep.
    """
    return str(remember(system.kept, "document", partial(_document, system), KEPT))


def _document(system: System) -> str:
    from dalembert.model.documents.write_document import dumps

    try:
        return dumps(system)
    except DalembertError:
        return ""
