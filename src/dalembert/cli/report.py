"""`dalembert run MODEL --report FILE`: whether the file can be written, before anything is computed, and the report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from dalembert.errors import OutputError
from dalembert.motion.result.motion import Motion


def require_place(file: Path) -> None:
    """Refuse what could not be written at the end."""
    from dalembert.view.report.file import require_html

    require_html(file)
    if not file.absolute().parent.is_dir():
        raise OutputError(f"{file}: there is no folder {file.parent}: make it, or name another file with --report")
    if file.is_dir():
        raise OutputError(f"{file}: this is a folder: name a file with --report")


def write_report_of(motion: Motion, file: Path, failure: str) -> None:
    from dalembert.view.report.write import write_report

    write_report(motion, file, command=shlex.join(["dalembert", *sys.argv[1:]]), failure=failure)
