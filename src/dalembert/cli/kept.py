"""What `run` simulates: a model that was kept, or one that is read and then kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dalembert.cli.models import find_model, is_path
from dalembert.motion.kept_models import Origin

if TYPE_CHECKING:
    from dalembert.model.system import System

# No document is longer (`model.documents`).
MOST_BYTES = 5_000_000


def origin_of(model: str, option: list[str]) -> Origin | None:
    """Where a model comes from; None where that cannot be said, and reading it will tell why."""
    if not is_path(model):
        return Origin("\0".join(["library", model.replace("-", "_"), *option]), lambda: find_model(model, option))
    if option:
        return None
    try:
        content = Path(model).read_bytes() if Path(model).stat().st_size <= MOST_BYTES else None
        text = None if content is None else content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if text is None else Origin(f"document\0{text}", lambda: _read(text, model))


def _read(text: str, where: str) -> System:
    from dalembert.model.documents.document import loads

    return loads(text, where=where)
