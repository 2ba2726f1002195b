"""The files of an exported system: the source, its description, and the runner beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalembert.kernel.cuda import run
from dalembert.kernel.cuda.source import BLOCKS, CudaSource
from dalembert.model.documents.write_files import write_atomically


def describe(source: CudaSource, file: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """What the runner must know. more: what belongs to the numbers, not to the source (`motion/export.py`)."""
    return {
        "format": run.FORMAT,
        "source": file,
        "entry": "da_members",
        "method": source.method,
        "coordinates": source.coordinates,
        "velocities": source.velocities,
        "parameters": source.parameters,
        "observables": source.observables,
        "events": source.events,
        "instructions": source.instructions,
        "stages": "loop" if source.rolled else "unrolled",
        "blocks": 1 if source.rolled else BLOCKS,
        "statuses": {str(code): reason for code, reason in run.REASONS.items()},
        **more,
    }


def write_program(source: CudaSource, file: Path, more: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write FILE, FILE's description and a runner that needs nothing of dalembert, and say where they are."""
    description, runner = file.with_suffix(".json"), file.with_suffix(".run.py")
    about = json.dumps(describe(source, file.name, more), indent=1, ensure_ascii=False)
    write_atomically(file, source.text.encode("utf-8"))
    write_atomically(description, f"{about}\n".encode())
    write_atomically(runner, Path(run.__file__).read_bytes())
    return file, description, runner
