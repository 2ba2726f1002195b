"""Finished chunks as files in the folder of a sweep. Whoever computes a chunk may write it, on any machine that sees
the folder: a file is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.chunk import Chunk
from dalembert.errors import DocumentError
from dalembert.model.documents.write_files import UNFINISHED, write_atomically

ABOUT = "sweep.json"
REASONS = "__reasons__"
# What reading a damaged archive ends in: one wrong bit may ask for another version of the format, or for a password
# (RuntimeError, of which NotImplementedError is one).
DAMAGE = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Kept:
    """A chunk that is in the folder: so many members from `first` on. by_gpu: a GPU had a part in it."""

    first: int
    count: int
    by_gpu: bool = False


@dataclass(frozen=True)
class Parts:
    """size: members of a chunk, of `members` in all. digest: of the sweep, as the folder tells it."""

    folder: Path
    size: int
    members: int
    digest: str

    def are_here(self) -> bool:
        """Whether this machine sees the folder, and it is the same one."""
        try:
            about = json.loads((self.folder / ABOUT).read_text(encoding="utf-8"))
            return bool(about["digest"] == self.digest)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def keep(self, chunk: Chunk) -> None:
        buffer = io.BytesIO()
        reasons = json.dumps({str(k): why for k, why in chunk.reasons.items()}).encode()
        arrays: dict[str, Any] = {**chunk.arrays, REASONS: np.frombuffer(reasons, dtype=np.uint8)}
        np.savez(buffer, **arrays)
        write_atomically(self.file(chunk.first), buffer.getvalue())

    def read(self, first: int) -> Chunk | None:
        """The chunk from this member on; None where it is not finished, or its file cannot be read."""
        file = self.file(first)
        if not file.is_file():
            return None
        with contextlib.suppress(*DAMAGE):
            data = np.load(io.BytesIO(file.read_bytes()))
            arrays = {name: data[name] for name in data.files if name != REASONS}
            reasons = json.loads(bytes(data[REASONS]))
            chunk = Chunk(first, arrays, {int(k): why for k, why in reasons.items()})
            if chunk.count == min(self.size, self.members - first):
                return chunk
        return None

    def column(self, first: int, name: str) -> Array | None:
        """One array of the chunk from this member on, and nothing else of it; None where it has none of this name."""
        try:
            with np.load(self.file(first)) as data:
                return data[name] if name in data.files else None
        except DAMAGE as error:
            raise DocumentError(str(self.file(first)), [f"this part of the sweep cannot be read: {error}"]) from None

    def reasons(self, first: int) -> dict[int, str]:
        """Why members of the chunk from this one on failed."""
        found = self.column(first, REASONS)
        return {} if found is None else {int(k): str(why) for k, why in json.loads(found.tobytes()).items()}

    def clear(self) -> None:
        for file in self.folder.glob("chunk-*.npz"):
            file.unlink(missing_ok=True)
        self.clear_unfinished()

    def clear_unfinished(self) -> None:
        """Remove what processes left that were killed while they wrote."""
        for file in self.folder.glob(f"{UNFINISHED}*"):
            if file.is_file():
                file.unlink(missing_ok=True)

    def file(self, first: int) -> Path:
        return self.folder / f"chunk-{first // self.size:07d}.npz"
