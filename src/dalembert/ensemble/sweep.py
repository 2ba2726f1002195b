"""`sweep`: the motions of one system from many states and with many values of its parameters."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert import __version__
from dalembert.ensemble.ask.options import at_least, is_switch, read_folder, read_repair, require_switches
from dalembert.ensemble.ask.values import RESERVED, Values, read_values
from dalembert.ensemble.ask.wanted import read_wanted
from dalembert.ensemble.bar import Bar
from dalembert.ensemble.members.chunk_size import chunk_size
from dalembert.ensemble.members.control import Budget, Control
from dalembert.ensemble.members.in_lanes import why_no_lanes
from dalembert.ensemble.members.outcome import MEANING
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place.cluster import Cluster
from dalembert.ensemble.place.cuda_plan import plan_of
from dalembert.ensemble.place.executors import ON_CPU, executor, place_of
from dalembert.ensemble.place.threads import run_in_thread
from dalembert.ensemble.result.ensemble import Ensemble
from dalembert.ensemble.result.files import finish_folder
from dalembert.ensemble.result.gather import Gather, stays_in_parts
from dalembert.ensemble.result.in_parts import REASON
from dalembert.ensemble.result.pieces import pieces
from dalembert.ensemble.result.store import Store, model_text, read_about
from dalembert.ensemble.result.units import units_of_variables, with_units
from dalembert.ensemble.result.variables import require_room
from dalembert.errors import ModelError, OutputError
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.suggest import suggest
from dalembert.model.simulation_options import MAX_SAMPLES, number_of
from dalembert.motion.large.prepare import prepare_large
from dalembert.motion.large.size import is_large
from dalembert.motion.prepare import prepare

if TYPE_CHECKING:
    from dalembert.model.system import System

# Why no member ran in lanes, where nothing in the model or in what is asked prevents it.
ALL_LEFT = "no member stayed in one: constraints depend on each other, a coordinate has no mass, or motions are stiff"
# Variables of a result that belong together begin so.
GROUPS = ("final.", "samples.", "certificate.")
# Output times of a member, unless given, where any are wanted.
POINTS = 101
BUDGET = ("steps", "seconds")
# As many as C counts; more are as good as any number.
MOST_STEPS = 2**31 - 1
PRECISIONS = ("double", "single")
# The tolerance in single precision, unless given: rounding adds up to more than tighter ones ask for.
SINGLE_RTOL = 1e-5


def sweep(
    system: System,
    given: Any,
    duration: float | None,
    times: ArrayLike | None,
    options: Mapping[str, Any],
    *,
    on: Any,
    keep: Any,
    reduce: Any,
    events: Mapping[str, Any] | Iterable[Any] | None,
    together: bool,
    samples: int | None,
    seed: int | None,
    sampler: str | None,
    points: int | None,
    certify: bool,
    repair: bool | Iterable[Any],
    budget: Mapping[str, float] | None,
    threads: int | None,
    lanes: bool | None,
    out: Any,
    resume: bool,
    progress: bool | None,
    precision: str | None,
) -> Ensemble:
    """Run all members. `System.sweep` says what is given."""
    started = clock.perf_counter()
    run = executor(system.name, on)
    folder = read_folder(system, out)
    require_switches(system, together=together, certify=certify, resume=resume)
    if resume and folder is None:
        raise ModelError(system.name, ["sweep: resume= needs the folder of the sweep, out="])
    if resume and seed is None and folder is not None and (about := read_about(folder)) is not None:
        seed = about["seed"]
    if threads is not None:
        threads = at_least(system, "threads", threads, 1)
    if not (lanes is None or is_switch(lanes)):
        raise ModelError(system.name, [f"sweep: lanes is True, False or None, got {lanes!r}"])
    values = read_values(system, given, together=together, samples=samples, seed=seed, sampler=sampler)
    limits, movable = _read_budget(system, budget), read_repair(system, repair)
    single = _read_precision(system, precision, on)
    if single and options["rtol"] is None and "rtol" not in system.settings:
        options = {**options, "rtol": SINGLE_RTOL}
    task = _task(
        system, values, duration, times, options, events, keep, reduce, points, limits, certify, movable, single, lanes
    )
    _require_names(task)
    in_parts = stays_in_parts(task, folder)
    require_room(task, folder, in_parts, resume)
    task.make_shared()  # which says what values are missing
    began = read_about(folder) if resume and folder is not None else None
    sized = getattr(run, "chunk_size", chunk_size)
    size = sized(task, partial(run_in_thread, task)) if began is None else int(began["chunk"])
    store = None if folder is None else Store(folder, task, size, resume)
    if resume and store is not None and store.is_complete:
        return Ensemble.load(store.folder)
    gather = Gather(values.count, store, in_parts)
    if resume:
        gather.resume()
    starts = (first for first in range(0, values.count, size) if first not in gather.found)
    ranges = [(first, min(first + size, values.count)) for first in starts]
    with _told_what_stays(store):
        with Bar(system.name, values.count, gather.finished, progress) as bar:
            gather.show = bar.update
            if store is not None and isinstance(run, Cluster):
                run = replace(run, parts=store.parts, note=gather.note)
            if ranges:
                run(task, ranges, Control(limits), gather.finish, lambda: bar.update(gather.finished), threads)
        gather.complete()
        where = on if isinstance(on, str) else place_of(on)
        ensemble = _ensemble(task, gather, where, clock.perf_counter() - started)
        if store is not None:
            finish_folder(store, ensemble, in_parts)
    return ensemble


@contextmanager
def _told_what_stays(store: Store | None) -> Iterator[None]:
    """Where a folder takes no more, say that what is in it can be gone on with."""
    try:
        yield
    except OutputError as error:
        if store is None:
            raise
        stays = "what is finished stays there: once it can be written, resume the sweep (resume=True, --resume)"
        raise OutputError(f"{error}; {stays}") from None


def _task(
    system: System,
    values: Values,
    duration: float | None,
    times: ArrayLike | None,
    options: Mapping[str, Any],
    events: Any,
    keep: Any,
    reduce: Any,
    points: int | None,
    limits: Budget,
    certify: bool,
    repair: tuple[bool, ...] | None,
    single: bool,
    lanes: bool | None,
) -> Task:
    if events is not None:
        from dalembert.model.events import with_events

        system = with_events(system, events)
    wanted = read_wanted(system, keep, reduce)
    along = wanted.needs_points or certify
    if points is not None and times is not None:
        raise ModelError(system.name, ["sweep: give the number of output times, points=, or the times themselves"])
    if points is not None and (points := at_least(system, "points", points, 2)) > MAX_SAMPLES:
        raise ModelError(system.name, [f"sweep: points is {points}; at most {MAX_SAMPLES:,} are kept of each member"])
    if times is not None and "t" in values.initial:
        raise ModelError(system.name, ["sweep: members begin at different t: give duration= and points=, not times="])
    options = dict(options)
    if times is None:
        options["samples"] = (POINTS if points is None else points) if along else 2
    settings = (prepare_large if is_large(system) else prepare)(system, duration, times, options).settings
    task = Task(system, settings, values, wanted, limits, certify, repair, single, lanes)
    if task.observables is not None and task.observables.forces and task.together is None:
        why = "contacts" if needs_legs(system) else task.why_alone
        raise ModelError(
            system.name,
            [f"sweep: accelerations and constraint forces are not observed where members run alone ({why})"],
        )
    return task


def _require_names(task: Task) -> None:
    """Names that would be given to two things at once."""
    values, wanted = task.values, task.wanted
    taken = RESERVED | {values.label(name) for name in values.names} | set(values.dims)
    taken |= {f"{event}: {what}" for event in task.events for what in ("count", "time")}
    names = [*wanted.kept, *(reduction.name for reduction in wanted.reductions)]
    faults = [
        f"sweep: {name!r} is the name of something else in the result; choose another"
        for name in names
        if name in taken or name.startswith(GROUPS)
    ]
    if faults:
        raise ModelError(task.system.name, faults)


def _read_budget(system: System, given: Any) -> Budget:
    if given is None:
        return Budget()
    faults = []
    if not isinstance(given, Mapping):
        raise ModelError(system.name, [f"sweep: budget is {{'steps': …, 'seconds': …}}, either or both, got {given!r}"])
    for key, value in given.items():
        if key not in BUDGET:
            faults.append(f"sweep: budget has no {key!r}.{suggest(str(key), BUDGET)}")
        elif not 0 < number_of(value) < np.inf:
            faults.append(f"sweep: budget {key} is a positive number, got {value!r:.80}")
    if faults:
        raise ModelError(system.name, faults)
    steps = min(math.ceil(given.get("steps", 0)), MOST_STEPS)
    return Budget(steps, float(given.get("seconds", 0.0)))


def _read_precision(system: System, given: Any, on: Any) -> bool:
    """Whether GPUs compute in single precision."""
    if given is None or given == "double":
        return False
    if given not in PRECISIONS:
        raise ModelError(system.name, [f"sweep: there is no precision {given!r}.{suggest(str(given), PRECISIONS)}"])
    if place_of(on) != "cuda":
        raise ModelError(system.name, ["sweep: single precision is a GPU's: on='cuda', or leave precision away"])
    return True


def _ensemble(task: Task, gather: Gather, on: str, seconds: float) -> Ensemble:
    import xarray as xr

    values, settings = task.values, task.settings
    coordinates: dict[str, Any] = {
        values.label(name): (axis.name, column) for axis in values.axes for name, column in axis.columns.items()
    }
    found = gather.columns(values.dims, values.shape)
    if any("time" in variable.dims for variable in found.values()):
        # Where members begin at times of their own, it counts from there.
        coordinates["time"] = ("time", settings.times - (settings.times[0] if "t" in values.initial else 0.0))
    units = units_of_variables(task, map(str, (*found, *coordinates)))
    data = with_units(xr.Dataset(found, coordinates, {"name": task.system.name}), units)
    about = {
        "name": task.system.name, "version": __version__, "on": on, "seconds": seconds, "seed": values.seed,
        "sampler": values.sampler if values.seed is not None else None,
        "varied": [name for axis in values.axes for name in axis.columns], "fixed": dict(values.fixed),
        "initial": sorted(values.initial), "held": _names_held(task),
        "duration": float(settings.times[-1] - settings.times[0]),
        "rtol": settings.rtol, "method": settings.method, "precision": PRECISIONS[task.single],
        "events": list(task.events),
        "reductions": {r.name: f"{r.kind} {r.of}".strip() for r in task.wanted.reductions},
        "kept": list(task.wanted.kept), "variables": [name for name in found if name != REASON],
        "why_alone": task.why_alone, "why_no_lanes": why_no_lanes(task), "units": units,
    }  # fmt: skip
    if about["why_no_lanes"] is None and on == "threads" and not gather.some_in_lanes:
        about["why_no_lanes"] = ALL_LEFT
    if ON_CPU in found:
        ran = sum(int(piece[ON_CPU].to_numpy().sum()) for piece in pieces(data[[ON_CPU]], values.dims))
        about |= {ON_CPU: ran, "why_cpu": plan_of(task).why_cpu}
    meanings = ", ".join(f"{int(status)} {text}" for status, text in MEANING.items())
    data.variables["status"].attrs["meaning"] = meanings
    if task.events:
        data.variables["ended by"].attrs["meaning"] = ", ".join(f"{k} {name}" for k, name in enumerate(task.events))
    return Ensemble(data, about, model_text(task.system))


def _names_held(task: Task) -> list[str] | None:
    """What repaired starts keep of (q, q̇); None where starts are taken as they are."""
    if task.repair is None:
        return None
    names = [symbol.name for symbol in (*task.system.coordinates, *task.system.velocities)]
    return [name for name, moves in zip(names, task.repair, strict=True) if not moves]
