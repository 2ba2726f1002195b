"""Where the verbs write: a folder that is made before anything is computed, and tables in it."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dalembert.cli.models import print_json
from dalembert.errors import DalembertError, OutputError
from dalembert.model.documents.write_files import write_atomically

if TYPE_CHECKING:
    from dalembert.model.system import System
    from dalembert.study.between import Passage
    from dalembert.study.path import Path as FoundPath

Answer = TypeVar("Answer")


# Letters of a file's name have up to four bytes, names of files 255, and verbs put words of their own around this one.
LONGEST = 50


def slug_of(system: System) -> str:
    """The name of a system as that of a file."""
    return re.sub(r"[^\w]+", "-", system.name.lower())[:LONGEST].strip("-") or "motion"


def make(folder: Path) -> list[Path]:
    """Make the folder before anything is computed; returns the folders that did not exist before."""
    made: list[Path] = []
    try:
        made += [parent for parent in (folder, *folder.parents) if not parent.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        unmake(made)
        raise OutputError(
            f"{folder}: cannot write here: {error.strerror or error}. Choose another folder with --out."
        ) from None
    return made


def unmake(made: list[Path]) -> None:
    """Remove the folders that were made, deepest first, as long as they are empty."""
    for folder in made:
        try:
            folder.rmdir()
        except OSError:
            return


def compute_into(folder: Path, compute: Callable[[], Answer]) -> Answer:
    """What is computed once the folder is there; the folder is gone again where that fails."""
    made = make(folder)
    try:
        return compute()
    except (DalembertError, KeyboardInterrupt):
        unmake(made)
        raise


def write_and_tell(found: FoundPath | Passage, folder: Path, kind: str, json: bool) -> None:
    """The end of a verb that finds a way: its table and its picture in the folder, and what it is on the screen."""
    name = f"{slug_of(found.system)}-{kind}"
    files = [folder / f"{name}.csv", folder / f"{name}.png"]
    write_table(files[0], found.columns())
    found.plot(files[1])
    tell(found.text(), found.to_dict(), files, json)


def tell(text: str, values: Mapping[str, Any], files: Iterable[Path], json: bool) -> None:
    """A text and the files that were written, or the same as one JSON object."""
    names = [str(file) for file in files]
    if json:
        print_json({**values, "files": names})
    else:
        print("\n".join([text, *(f"wrote {name}" for name in names)]), flush=True)


def write_table(file: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Columns as a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(np.column_stack(list(columns.values())).tolist())
    write_atomically(file, text.getvalue().encode("utf-8"))
