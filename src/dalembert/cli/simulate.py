"""What `dalembert run` does, however its line was read: simulate, certify, print, write the numbers and a picture."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dalembert.cli.folders import make, slug_of, unmake
from dalembert.cli.kept import kept_with
from dalembert.cli.models import find_model, origin_of, print_json, with_values
from dalembert.errors import DalembertError, MotionFailed, OutputError
from dalembert.motion.kept_models import Origin, find_kept, keep_model

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class RunOptions:
    """The options of `dalembert run`, as its help tells them."""

    model: str
    option: tuple[str, ...] = ()
    set_: tuple[str, ...] = ()
    initial: tuple[str, ...] = ()
    duration: float | None = None
    rtol: float | None = None
    samples: int | None = None
    method: str | None = None
    max_step: float | None = None
    step: float | None = None
    order: int | None = None
    project: bool | None = None
    event: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    backend: str | None = None
    repair: bool = False
    out: Path | None = None
    kind: str = "csv"
    free: bool = False
    json: bool = False
    report: Path | None = None


def simulate_and_write(given: RunOptions) -> int:
    """The exit status: 3 where the certificate does not hold. What went wrong otherwise is raised."""
    if given.report is not None:
        from dalembert.cli.report import require_place

        require_place(given.report)
    system, to_keep = _system(given)
    slug = slug_of(system)
    folder = given.out if given.out is not None else Path(f"dalembert-{slug}")
    made = make(folder)
    failure: MotionFailed | None = None
    try:
        motion = system.simulate(
            given.duration, rtol=given.rtol, samples=given.samples, method=given.method, max_step=given.max_step,
            step=given.step, order=given.order, project=given.project, backend=given.backend,
        )  # fmt: skip
    except MotionFailed as error:
        if error.motion is None:
            unmake(made)
            raise
        motion, failure = error.motion, error
    except (DalembertError, KeyboardInterrupt):
        unmake(made)
        raise
    files: list[Path] = []
    lost: OutputError | None = None
    try:
        files.append(folder / f"{slug}.{'csv' if given.kind == 'csv' else 'nc'}")
        motion.save(files[-1])
        # A program that reads JSON asks for its picture, by naming a folder for it.
        if given.out is not None or given.free or not given.json:
            from dalembert.view.plots.motion import plot  # with NumPy alone; Matplotlib where it draws

            files.append(folder / f"{slug}.png")
            plot(motion, files[-1], free=given.free)
        if given.report is not None:
            from dalembert.cli.report import write_report_of

            files.append(given.report)
            write_report_of(motion, given.report, "" if failure is None else str(failure))
    except OutputError as error:
        lost = error
        files.pop()  # it could not be written
    if not files:
        unmake(made)
    if given.json:
        reason = {} if failure is None else {"failure": str(failure)}
        print_json({**motion.to_dict(), "files": [str(file) for file in files], **reason})
    else:
        from dalembert.cli.summary import print_summary

        print_summary(motion, files)
    if to_keep is not None:
        keep_model(*to_keep)
    if lost is not None:
        raise lost
    if failure is not None:
        raise failure
    if motion.certificate.holds:
        return 0
    failed = ", ".join(motion.certificate.failures)
    hints = "".join(f"\n  {warning}" for warning in motion.warnings)
    print(f"dalembert: {system.name}: the certificate does not hold: {failed}{hints}", file=sys.stderr)
    return 3


def _system(given: RunOptions) -> tuple[System, tuple[Origin, System] | None]:
    """The system to simulate; and what is to be kept for the next time, with where it comes from."""
    option, numbers = list(given.option), (list(given.set_), list(given.initial))
    if given.event or given.until or given.repair:
        from dalembert.cli.events import with_given_events

        system = with_values(find_model(given.model, option), *numbers)
        system = with_given_events(system, list(given.event), list(given.until))
        return (system.replace(initial=system.consistent()) if given.repair else system), None
    origin = origin_of(given.model, option)
    kept = None
    if origin is not None:
        kept = kept_with(origin, *numbers) if any(numbers) else find_kept(origin)
    if kept is not None:
        return cast("System", kept), None
    read = find_model(given.model, option)
    return with_values(read, *numbers), None if origin is None else (origin, read)
