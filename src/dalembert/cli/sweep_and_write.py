"""What `dalembert sweep` does: read its line, run the members, print a summary, write the results and a picture."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from dalembert.cli.events import with_given_events
from dalembert.cli.folders import make, slug_of, unmake
from dalembert.cli.models import find_model, is_path, print_json, with_values
from dalembert.cli.vary import read_vary
from dalembert.ensemble.ask.values import label_of
from dalembert.ensemble.ask.wanted import read_wanted
from dalembert.ensemble.place.executors import ON_CPU
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.result.store import ABOUT, PARTED, WHOLE, read_about
from dalembert.ensemble.result.variables import names_of_variables
from dalembert.errors import DocumentError, ModelError, OutputError
from dalembert.model.documents.write_files import write_atomically
from dalembert.model.system import System
from dalembert.results import item_named

LINE = "line.json"


@dataclass(frozen=True)
class SweepOptions:
    """The options of `dalembert sweep`, as its help tells them."""

    model: str | None
    vary: tuple[str, ...] = ()
    samples: int | None = None
    seed: int | None = None
    sampler: str | None = None
    together: bool = False
    option: tuple[str, ...] = ()
    set_: tuple[str, ...] = ()
    initial: tuple[str, ...] = ()
    duration: float | None = None
    keep: tuple[str, ...] = ()
    reduce: tuple[str, ...] = ()
    points: int | None = None
    event: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    rtol: float | None = None
    method: str | None = None
    precision: str | None = None
    certify: bool = False
    repair: bool = False
    hold: tuple[str, ...] = ()
    steps: int | None = None
    seconds: float | None = None
    on: str | None = None  # threads
    threads: int | None = None
    plot: str | None = None
    out: Path | None = None
    json: bool = False


def sweep_and_write(given: SweepOptions, resume: Path | None) -> int:
    """The exit status: 3 where no member came to its end. What went wrong otherwise is raised."""
    if resume is not None:
        given = _resumed(given, resume)
        if read_about(resume) is None and not any(resume.glob("chunk-*")):
            resume = None  # it was ended before it began
    if given.model is None:
        raise ModelError("sweep", ["which model? Give a file or the name of a library system, or --resume FOLDER"])
    system = with_values(find_model(given.model, list(given.option)), list(given.set_), list(given.initial))
    system = with_given_events(system, list(given.event), list(given.until))
    arguments = _arguments(system.name, given)
    _require_shown(system, given, arguments)
    slug = slug_of(system)
    folder = given.out if given.out is not None else Path(f"dalembert-{slug}-sweep")
    made, before = make(folder), {} if resume is not None else _complete(folder)
    try:
        if resume is None:
            (folder / ABOUT).unlink(missing_ok=True)
            words = {key: value for key, value in asdict(given).items() if key not in ("out", "json")}
            if is_path(given.model):  # to be found from any folder
                words["model"] = str(Path(given.model).absolute())
            write_atomically(folder / LINE, json.dumps(words).encode())
        ensemble = system.sweep(duration=given.duration, **arguments, out=folder, resume=resume is not None)
    except KeyboardInterrupt:
        print(f"dalembert: interrupted; {_what_is_kept(folder)}", file=sys.stderr)
        raise
    finally:
        if read_about(folder) is None:  # it never began: all is as it was
            (folder / LINE).unlink(missing_ok=True)
            for name, content in before.items():
                write_atomically(folder / name, content)
            unmake(made)
    files, lost = [folder / (WHOLE if (folder / WHOLE).is_file() else PARTED)], None
    try:
        picture = folder / f"{slug}.png"
        ensemble.plot(picture, of=given.plot)
        files.append(picture)
    except (OutputError, KeyError) as error:
        lost = OutputError(str(error.args[0]))
    _tell(ensemble, folder, files, given.json)
    if lost is not None:
        raise lost
    return 3 if ensemble.failed == ensemble.members else 0


def _resumed(given: SweepOptions, folder: Path) -> SweepOptions:
    """The options that the sweep in a folder was begun with; those of this line say only how to go on."""
    own = {f.name: getattr(given, f.name) for f in fields(SweepOptions)}
    plain = {f.name: f.default for f in fields(SweepOptions)} | {"model": None}
    new = [key for key, value in own.items() if value != plain[key] and key not in ("threads", "on", "json", "plot")]
    if new:
        raise ModelError("sweep", [f"--resume goes on with what the folder says; leave {', '.join(new)} away"])
    try:
        words: dict[str, Any] = json.loads((folder / LINE).read_text(encoding="utf-8"))
        kept: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in words.items()}
        began = SweepOptions(**kept)
    except (OSError, ValueError, TypeError):
        raise DocumentError(str(folder), ["there is no sweep here to resume"]) from None
    changed = {key: own[key] for key in ("threads", "on", "plot") if own[key] != plain[key]}
    return replace(began, out=folder, json=given.json, **changed)


def _arguments(name: str, given: SweepOptions) -> dict[str, Any]:
    """As `System.sweep` takes them; every fault of the line is told at once."""
    faults: list[str] = []
    values = read_vary(list(given.vary), faults)
    if not given.vary:
        faults.append("nothing varies: give --vary NAME=FIRST:LAST:COUNT or --vary 'NAME~uniform(LOW,HIGH)'")
    for option, items in (("--set", given.set_), ("--initial", given.initial)):
        once = [left for item in items if (left := item.partition("=")[0].strip()) in values]
        faults += [f"{option} {left} has no effect beside --vary {left}: leave one of them out" for left in once]
    reduce = {}
    for text in given.reduce:
        left, sign, right = (part.strip() for part in text.partition("="))
        if not (left and sign and right):
            faults.append(f"--reduce {text!r}: write NAME = KIND: EXPRESSION, as 'top = max: y'")
        elif left in reduce:
            faults.append(f"--reduce: {left!r} is given twice; choose another name for one of them")
        reduce[left] = right
    if given.hold and not given.repair:
        faults.append("--hold belongs to --repair")
    if faults:
        raise ModelError(name, faults)
    budget = {key: value for key in ("steps", "seconds") if (value := getattr(given, key)) is not None}
    return {
        "values": values, "samples": given.samples, "seed": given.seed, "sampler": given.sampler,
        "together": given.together, "keep": list(given.keep) or "final", "reduce": reduce or None,
        "points": given.points, "rtol": given.rtol, "method": given.method, "precision": given.precision,
        "certify": given.certify,
        "repair": list(given.hold) if given.hold else given.repair, "budget": budget or None,
        "on": given.on or "threads", "threads": given.threads,
    }  # fmt: skip


def _require_shown(system: System, given: SweepOptions, arguments: dict[str, Any]) -> None:
    """What the picture is to show must be there when all members have run: a wrong name is told before."""
    if given.plot is None:
        return
    wanted = read_wanted(system, arguments["keep"], arguments["reduce"])
    names = names_of_variables(system, wanted, given.certify)
    states = {symbol.name for symbol in system.symbols} - {symbol.name for symbol in system.parameter_symbols}
    names += [label_of(name, name in states) for name in arguments["values"]]
    names += [ON_CPU] if given.on not in (None, "threads", "processes") else []
    try:
        item_named(dict.fromkeys(names), given.plot, "variable")
    except KeyError as error:
        raise ModelError(system.name, [f"--plot: {error.args[0]}"]) from None


def _complete(folder: Path) -> dict[str, bytes]:
    """What tells of the complete sweep in a folder, by file; empty where there is none. A new one replaces it, as
    results of `run` are replaced, once it begins; an interrupted one is not replaced.
    """
    if read_about(folder) is None:
        return {}
    if not (folder / WHOLE).is_file() and not (folder / PARTED).is_file():
        raise OutputError(
            f"{folder}: an interrupted sweep is here; go on with it by --resume {folder}, or choose another --out"
        )
    return {name: (folder / name).read_bytes() for name in (ABOUT, LINE) if (folder / name).is_file()}


def _what_is_kept(folder: Path) -> str:
    about = read_about(folder)
    done = 0 if about is None else len(list(folder.glob("chunk-*.npz"))) * int(about["chunk"])
    if about is None or not done:
        return "nothing was finished yet"
    done = min(done, int(about["members"]))
    return f"{done} of {about['members']} members are kept: go on with 'dalembert sweep --resume {folder}'"


def _tell(ensemble: Ensemble, folder: Path, files: list[Path], as_json: bool) -> None:
    if as_json:
        print_json({**ensemble.to_dict(), "out": str(folder), "files": [str(file) for file in files]})
    else:
        print("\n".join([ensemble.text(), *(f"wrote {file}" for file in files)]), flush=True)
