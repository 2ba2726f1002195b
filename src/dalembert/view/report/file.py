"""The file of a report: its name, and how it is written."""

from __future__ import annotations

import os
from pathlib import Path

from dalembert.errors import OutputError
from dalembert.model.documents.write_files import write_atomically

ENDINGS = (".html", ".htm")


def require_html(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() not in ENDINGS:
        raise OutputError(f"{os.fspath(path)}: a report is a page for browsers; name the file with .html at its end")


def write_page(path: str | os.PathLike[str], text: str) -> None:
    write_atomically(path, text.encode("utf-8", "replace"))
