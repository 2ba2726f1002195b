"""`dalembert export MODEL --cuda FILE`: the system as a source for GPUs, with what runs it."""

from __future__ import annotations

from pathlib import Path

import typer

from dalembert.cli.arguments import JSON, MODEL, OPTION
from dalembert.cli.models import find_model, print_json
from dalembert.motion.export import cuda_program


def export(
    model: str = MODEL,
    option: list[str] = OPTION,
    cuda: Path = typer.Option(..., metavar="FILE", help="Write CUDA C to this file (say penny.cu)."),
    duration: float | None = typer.Option(None, help="How long a motion lasts, where a run says nothing else."),
    rtol: float | None = typer.Option(None, help="The relative tolerance, where a run says nothing else."),
    method: str | None = typer.Option(None, help="An explicit method: dop853 or dopri5; by rtol."),
    json: bool = JSON,
) -> None:
    """Write a system as one source for GPUs: a thread for each of many motions.

    Beside FILE.cu: FILE.json describes it, FILE.run.py runs it. That needs NumPy and CuPy, nothing of dalembert.
    """
    program = cuda_program(find_model(model, option), duration, rtol=rtol, method=method)
    files = program.write(cuda)
    if json:
        print_json({"files": [str(file) for file in files], "instructions": program.source.instructions})
        return
    typer.echo(f"{files[0]}: {program.numbers['name']}, {program.source.method}, described in {files[1].name}")
    typer.echo(f"run it where NumPy, CuPy and a GPU are: python {files[2].name} --help")
