"""Runs the CUDA source of a system for many members. Needs NumPy and CuPy only; no SymPy, CasADi, compiler.

`dalembert export MODEL --cuda FILE` writes the source FILE, its description FILE.json, and this file beside them:

    python FILE.run.py --vary v0=0:10:1000 --random "omega=0.5:2" --members 100000 --duration 20 --out results.npz

or, from Python,

    program = load("FILE.json")
    results = run(program, {"v0": speeds}, duration=20)          # all in memory
    for part in stream(program, values, count=10**9, …): …       # a chunk at a time

A member that fails has a status and what it reached; the others go on.
"""

from __future__ import annotations

import argparse
import difflib
import json
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

try:
    from dalembert.errors import DalembertError as Problem
except ImportError:  # beside the source, on a machine without dalembert

    class Problem(RuntimeError):  # type: ignore[no-redef]
        """What is wrong with what was given."""


FORMAT = 2
# As the enumeration in device/base.h.
DONE, NEEDS_CPU, BUDGET, EVENT = 0, 32, 33, 34
REASONS = {
    DONE: "done",
    1: "the step size fell below rounding",
    3: "the model has no finite value there",
    6: "the state could not be returned to the constraints",
    NEEDS_CPU: "near a singular configuration or over a corner of the constraints, which is left to the CPU",
    BUDGET: "more steps than allowed",
    EVENT: "ended by an event",
}
# What a member's arrays may take of the memory that is free on a GPU, and members of a chunk at most: enough to fill
# any GPU a hundred times over.
SHARE, MOST_MEMBERS = 0.6, 4_194_304
THREADS = 128
# What observables are reduced to, and what is known of events, where it is wanted.
REDUCED = ("min", "max", "mean", "rms")
EVENTS = ("event_time", "event_last", "event_count", "ended_by")

Values = Mapping[str, Any] | Callable[[int, int], Mapping[str, Any]]


class NoGpu(Problem):
    """There is no CuPy, or no GPU."""


@dataclass(frozen=True)
class Program:
    """A source and its description: names and defaults of all that goes in and comes out."""

    source: str
    about: Mapping[str, Any]

    @property
    def states(self) -> tuple[str, ...]:
        return (*self.about["coordinates"], *self.about["velocities"])

    @property
    def inputs(self) -> tuple[str, ...]:
        return (*self.states, *self.about["parameters"])


@dataclass(frozen=True)
class Part:
    """What came of the members from `start` on: final (members, 2n), the time each has reached, its status (see
    `REASONS`), and how many steps it took. samples (members, times, observables), reduced {"min", "max", "mean", "rms"}
    (members, observables), event_time, event_last and event_count (members, events) where they were wanted: when each
    event was first and last passed, NaN where it never was, and how often; ended_by (members,): the event that ended a
    member, by its number, or -1. seconds: of the GPU.
    """

    start: int
    final: np.ndarray
    time: np.ndarray
    status: np.ndarray
    steps: np.ndarray
    rejected: np.ndarray
    samples: np.ndarray | None
    reduced: Mapping[str, np.ndarray] | None
    event_time: np.ndarray | None
    event_last: np.ndarray | None
    event_count: np.ndarray | None
    ended_by: np.ndarray | None
    seconds: float
    device: int


@dataclass(frozen=True)
class Wish:
    """What is asked of a run. rtol and atol (0: from the size of the motion, as on the CPU), the interval, how many
    steps a member may take; observables at `times`, kept (samples) or reduced; float32 instead of float64.

    Where members take very different numbers of steps, sort: they are first run with a loose tolerance, then in the
    order of the steps that took; or refill: a thread that has finished one goes on with another.
    """

    duration: float
    t0: float
    rtol: float
    atol: float = 0.0
    most_steps: int = 100_000
    max_step: float | None = None
    times: np.ndarray | None = None
    observe: tuple[str, ...] = ()
    keep: bool = False
    reduce: bool = False
    events: bool = False
    single: bool = False
    refill: bool = False
    sort: bool = False
    threads: int = THREADS
    blocks: int = 1

    @property
    def looks(self) -> bool:
        return self.keep or self.reduce or self.events

    @property
    def real(self) -> Any:
        return np.float32 if self.single else np.float64


def load(path: str | Path) -> Program:
    """The program that a description (FILE.json) belongs to; its source lies beside it."""
    path = Path(path)
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        source = (path.parent / about["source"]).read_text(encoding="utf-8")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"{path}: not the description of a CUDA source: {error}") from None
    if about.get("format") != FORMAT:
        raise Problem(f"{path}: its format is {about.get('format')}, and this runner reads {FORMAT}: export it again")
    return Program(source, about)


def wish_of(program: Program, **options: Any) -> Wish:
    """Options with the defaults of the program. `samples`: so many times, evenly from start to end."""
    about = program.about
    given = {key: value for key, value in options.items() if value is not None}
    samples = given.pop("samples", None)
    duration = float(given.pop("duration", about["duration"] or 0.0))
    t0 = float(given.pop("t0", about["t0"]))
    if not (np.isfinite(duration) and duration > 0):
        raise Problem(f"the duration is {duration:g}; it must be positive")
    if given.get("keep") or given.get("reduce"):
        times = given.pop("times", None)
        times = t0 + np.linspace(0.0, duration, int(samples or 101)) if times is None else np.asarray(times, float)
        if times.size == 0 or np.any(np.diff(times) <= 0) or times[0] < t0 or times[-1] > t0 + duration:
            raise Problem(f"times must increase, from {t0:g} to {t0 + duration:g} at most")
        given["times"] = times
        given["observe"] = tuple(given.get("observe") or program.states)
        _require_known(given["observe"], about["observables"], "observable")
    given.setdefault("blocks", about["blocks"])
    return Wish(duration=duration, t0=t0, rtol=float(given.pop("rtol", about["rtol"])), **given)


def run(program: Program, values: Values, count: int | None = None, **options: Any) -> Part:
    """All members at once, in memory: see `stream`."""
    parts = sorted(stream(program, values, count, **options), key=lambda part: part.start)

    def joined(name: str) -> Any:
        first = getattr(parts[0], name)
        if first is None:
            return None
        if isinstance(first, Mapping):
            return {key: np.concatenate([getattr(part, name)[key] for part in parts]) for key in first}
        return np.concatenate([getattr(part, name) for part in parts])

    whole = {
        field.name: joined(field.name) for field in fields(Part) if field.name not in ("start", "seconds", "device")
    }
    return Part(start=0, **whole, seconds=sum(part.seconds for part in parts), device=parts[0].device)


def stream(
    program: Program,
    values: Values,
    count: int | None = None,
    *,
    chunk: int | None = None,
    devices: Sequence[int] | None = None,
    **options: Any,
) -> Iterator[Part]:
    """The members in chunks, as they are ready: no more in memory than fits, all GPUs of the machine at work.

    values: names of parameters, coordinates and velocities ("x'") with a number for all members or an array; or a
    function (start, stop) that gives such, for `count` members. What is not given has its default, and initial values
    that the model writes in terms of parameters follow these. options: the fields of `Wish`, and samples=.
    """
    wish = wish_of(program, **options)
    cupy = _cupy()
    devices = list(range(cupy.cuda.runtime.getDeviceCount())) if devices is None else list(devices)
    count = _count(values) if count is None else int(count)
    if count < 1:
        raise Problem("there are no members")
    if callable(values):
        _check(program, values(0, 1), 1)
    else:
        _check(program, values, count)
    size = min(chunk or MOST_MEMBERS, count)
    starts: queue.Queue[int] = queue.Queue()
    first = Worker(cupy, program, wish, devices[0])
    size = max(1, min(size, first.most_members(len(devices))))
    for start in range(0, count, size):
        starts.put(start)
    done: queue.Queue[Any] = queue.Queue(maxsize=2 * len(devices))
    stop = threading.Event()

    def put(item: Any) -> None:
        while not stop.is_set():
            try:
                done.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def work(device: int) -> None:
        try:
            worker = first if device == devices[0] else Worker(cupy, program, wish, device)
            while not stop.is_set():
                try:
                    start = starts.get_nowait()
                except queue.Empty:
                    break
                end = min(start + size, count)
                given = values(start, end) if callable(values) else _slice(values, start, end)
                put(worker.run(given, start, end - start))
        except BaseException as error:  # handed over to whoever reads the parts
            put(error)

    threads = [threading.Thread(target=work, args=(device,), daemon=True) for device in devices]
    for thread in threads:
        thread.start()
    try:
        for _ in range(-(-count // size)):
            part = done.get()
            if isinstance(part, BaseException):
                raise part
            yield part
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class Worker:
    """One GPU with the compiled source. pace: how long steps may be, from which times on; it may be changed between
    runs, but not from none to some.
    """

    def __init__(self, cupy: Any, program: Program, wish: Wish, device: int) -> None:
        self.cupy, self.program, self.wish, self.device = cupy, program, wish, device
        self.pace = _pace(program, wish)
        with cupy.cuda.Device(device):
            self.kernel = self._compile(wish.looks)

    def _compile(self, looks: bool) -> Any:
        wish = self.wish
        defined = {
            "DA_SINGLE": int(wish.single),
            "DA_LOOK": int(looks),
            "DA_PACED": int(len(self.pace[0]) > 0),
            "DA_THREADS": wish.threads,
            "DA_BLOCKS": wish.blocks,
        }
        options = ("--std=c++14", *(f"-D{name}={value}" for name, value in defined.items()))
        return self.cupy.RawModule(code=self.program.source, options=options).get_function("da_members")

    def most_members(self, workers: int) -> int:
        """How many fit into the memory that is free here."""
        about, wish = self.program.about, self.wish
        states, size = len(self.program.states), np.dtype(wish.real).itemsize
        reals = len(self.program.inputs) + states + 1
        if wish.looks:
            seen = len(wish.observe)
            reals += seen * (len(wish.times) if wish.keep and wish.times is not None else 0) + len(REDUCED) * seen
            reals += 3 * len(about["events"]) + 1
        with self.cupy.cuda.Device(self.device):
            free = self.cupy.cuda.runtime.memGetInfo()[0]
        return int(SHARE * free / (reals * size + 12))

    def run(self, values: Mapping[str, Any], start: int, count: int) -> Part:
        inputs = _inputs(self.program, values, count, self.wish.real)
        with self.cupy.cuda.Device(self.device):
            order, before = None, 0.0
            if self.wish.sort:
                quick, before = self._launch(inputs, count, max(self.wish.rtol, 1e-3))
                order = self.cupy.argsort(quick["steps"])
                shared, varied, row = inputs
                inputs = (shared, self.cupy.ascontiguousarray(self.cupy.asarray(varied)[:, order]), row)
            found, seconds = self._launch(inputs, count, self.wish.rtol)
            if order is not None:
                back = self.cupy.argsort(order)
                found = {key: value[..., back] for key, value in found.items()}
            return self._part(found, start, before + seconds)

    def _launch(self, inputs: tuple[Any, Any, Any], count: int, rtol: float) -> tuple[dict[str, Any], float]:
        cupy, wish, about = self.cupy, self.wish, self.program.about
        real, null = wish.real, np.uint64(0)
        shared, varied, row = (cupy.asarray(part) for part in inputs)
        next_member = cupy.zeros(1, dtype=np.uint64)
        starts, bounds = (cupy.asarray(part, dtype=real) for part in self.pace)
        found = {
            "final": cupy.empty((len(self.program.states), count), dtype=real),
            "time": cupy.empty(count, dtype=real),
            **{name: cupy.empty(count, dtype=np.int32) for name in ("status", "steps", "rejected")},
        }
        end = wish.t0 + wish.duration
        arguments = [np.int64(count), shared, varied, row, real(wish.t0), real(end), real(rtol), real(wish.atol)]
        arguments += [np.int32(wish.most_steps), next_member if wish.refill else null, starts, bounds]
        arguments += [np.int32(len(self.pace[0])), *found.values()]
        if wish.looks:
            times = cupy.asarray(np.zeros(1) if wish.times is None else wish.times, dtype=real)
            n_times = 0 if wish.times is None else len(wish.times)
            known = list(about["observables"])
            chosen = cupy.asarray([known.index(name) for name in wish.observe] or [0], dtype=np.int32)
            seen, events = len(wish.observe), len(about["events"])
            more = {}
            if wish.keep:
                more["samples"] = cupy.full((n_times, seen, count), np.nan, dtype=real)
            if wish.reduce:
                more["reduced"] = cupy.full((len(REDUCED), seen, count), np.nan, dtype=real)
            if wish.events and events:
                more["event_time"] = cupy.full((events, count), np.nan, dtype=real)
                more["event_last"] = cupy.full((events, count), np.nan, dtype=real)
                more["event_count"] = cupy.zeros((events, count), dtype=np.int32)
                more["ended_by"] = cupy.full(count, -1, dtype=np.int32)
            arguments += [times, np.int32(n_times), chosen, np.int32(seen)]
            outputs = ("samples", "reduced", "event_time", "event_last", "event_count", "ended_by")
            arguments += [more.get(name, null) for name in outputs]
            found |= more
        blocks = -(-count // wish.threads)
        if wish.refill:
            blocks = min(blocks, self.resident_blocks())
        begin, over = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        self.kernel((blocks,), (wish.threads,), tuple(arguments))
        over.record()
        over.synchronize()
        return found, float(cupy.cuda.get_elapsed_time(begin, over)) * 1e-3

    def resident_blocks(self) -> int:
        """How many blocks the GPU runs at once."""
        ask = self.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
        processors = self.cupy.cuda.Device(self.device).attributes["MultiProcessorCount"]
        return max(1, int(ask(self.kernel.kernel.ptr, self.wish.threads, 0))) * int(processors)

    def _part(self, found: Mapping[str, Any], start: int, seconds: float) -> Part:
        host = {key: self.cupy.asnumpy(value) for key, value in found.items()}
        events: dict[str, Any] = {name: host[name].T if name in host else None for name in EVENTS}
        reduced = None
        if "reduced" in host:
            reduced = {key: np.ascontiguousarray(host["reduced"][k].T) for k, key in enumerate(REDUCED)}
        return Part(
            start=start,
            final=np.ascontiguousarray(host["final"].T),
            **{name: host[name] for name in ("time", "status", "steps", "rejected")},
            samples=np.ascontiguousarray(host["samples"].transpose(2, 0, 1)) if "samples" in host else None,
            reduced=reduced,
            **events,
            seconds=seconds,
            device=self.device,
        )


def _cupy() -> Any:
    """CuPy with at least one GPU, or `NoGpu`."""
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError as error:
        raise NoGpu(
            f"CuPy is needed to run on a GPU: pip install cupy-cuda12x, or what suits the driver ({error})"
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy's own classes, of which it has one for each library
        raise NoGpu(f"CuPy finds no CUDA GPU here ({error}); the CPU runs the same: on='threads'") from None
    if count < 1:
        raise NoGpu("CuPy finds no CUDA GPU here; the CPU runs the same: on='threads'")
    return cupy


def _pace(program: Program, wish: Wish) -> tuple[np.ndarray, np.ndarray]:
    """How long steps may be, from which time on: what functions of time ask for, and what the user asked for."""
    pace = program.about.get("pace") or {"starts": [], "bounds": []}
    starts, bounds = np.asarray(pace["starts"], dtype=float), np.asarray(pace["bounds"], dtype=float)
    if wish.max_step is not None:
        if not wish.max_step > 0:
            raise Problem(f"max_step is {wish.max_step:g}; it must be positive")
        starts, bounds = (
            (starts, np.minimum(bounds, wish.max_step))
            if starts.size
            else (np.array([wish.t0]), np.array([wish.max_step]))
        )
    return starts, np.minimum(bounds, 1e30)


def _inputs(
    program: Program, values: Mapping[str, Any], count: int, real: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What device/members.h takes: values that all members share, rows of those that vary, and which is which."""
    about, names = program.about, program.inputs
    shared = np.array([*about["state"], *about["parameter_values"]], dtype=real)
    row = np.full(len(names), -1, dtype=np.int32)
    row[: len(program.states)][np.asarray(about["state_by_expression"], dtype=bool)] = -2
    rows: list[np.ndarray] = []
    for k, name in enumerate(names):
        if name not in values:
            continue
        array = np.asarray(values[name], dtype=real)
        row[k] = -1 if array.ndim == 0 else len(rows)
        if array.ndim == 0:
            shared[k] = array
        else:
            rows.append(array)
    varied = np.stack(rows) if rows else np.zeros((1, 1), dtype=real)
    return shared, np.ascontiguousarray(varied), row


def _check(program: Program, values: Mapping[str, Any], count: int) -> None:
    _require_known(values, program.inputs, "parameter, coordinate or velocity")
    for name, value in values.items():
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise Problem(f"{name}: numbers are wanted, got {value!r}") from None
        if array.ndim > 1 or (array.ndim == 1 and array.size != count):
            raise Problem(f"{name}: one number or {count} of them are wanted, got an array of shape {array.shape}")
        if not np.isfinite(array).all():
            raise Problem(f"{name}: not all of its values are finite")


def _require_known(names: Any, known: Sequence[str], what: str) -> None:
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}"
            raise Problem(f"there is no {what} {name!r}. {meant}")


def _count(values: Values) -> int:
    if callable(values):
        raise Problem("values as a function need count=, the number of members")
    sizes = {np.size(value) for value in values.values() if np.ndim(value)}
    return max(sizes, default=1)


def _slice(values: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    return {name: value if np.ndim(value) == 0 else np.asarray(value)[start:end] for name, value in values.items()}


def account(parts: Sequence[Part]) -> dict[str, Any]:
    """How many members there were, how many failed and why, and the seconds that the GPU took."""
    reasons: dict[str, int] = {}
    members = failed = 0
    for part in parts:
        members += len(part.status)
        for code, number in zip(*np.unique(part.status, return_counts=True), strict=True):
            if code not in (DONE, EVENT):
                failed += int(number)
                reasons[REASONS[int(code)]] = reasons.get(REASONS[int(code)], 0) + int(number)
    return {"members": members, "failed": failed, "reasons": reasons, "seconds": sum(p.seconds for p in parts)}


def main(words: Sequence[str] | None = None) -> int:
    """The command line of the file beside a source."""
    own = Path(sys.argv[0]).name
    beside = Path(sys.argv[0]).with_name(own.removesuffix(".run.py") + ".json") if own.endswith(".run.py") else None
    reader = argparse.ArgumentParser(description="Run many motions of a system on the GPUs of this machine.")
    reader.add_argument("--program", default=beside, help="the description, FILE.json; the one beside this file")
    reader.add_argument(
        "--vary", action="append", default=[], metavar="NAME=LOW:HIGH:NUMBER", help="a grid; repeatable"
    )
    reader.add_argument("--random", action="append", default=[], metavar="NAME=LOW:HIGH", help="uniform; repeatable")
    reader.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for all members; repeatable")
    reader.add_argument("--members", type=int, help="how many random members for each point of the grid")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--duration", type=float)
    reader.add_argument("--rtol", type=float)
    reader.add_argument("--single", action="store_true", help="float32")
    reader.add_argument("--samples", type=int, help="keep so many states of each member")
    reader.add_argument("--out", type=Path, help="an .npz file")
    given = reader.parse_args(words)
    try:
        if given.program is None:
            raise Problem("say which description to run: --program FILE.json")
        program = load(given.program)
        values = _values(given)
        part = run(
            program, values, duration=given.duration, rtol=given.rtol, single=given.single,
            keep=given.samples is not None, samples=given.samples,
        )  # fmt: skip
        if given.out is not None:
            kept = {"final": part.final, "time": part.time, "status": part.status, "steps": part.steps}
            kept |= {f"value {name}": np.asarray(value) for name, value in values.items()}
            if part.samples is not None:
                kept["samples"] = part.samples
            np.savez(given.out, **kept)  # type: ignore[arg-type]  # names are the file's, not arguments
    except (Problem, OSError) as error:
        print(f"{own}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(account([part]) | {"out": None if given.out is None else str(given.out)}, indent=1))
    return 0


def _values(given: argparse.Namespace) -> dict[str, Any]:
    """Grids as an outer product, each of its points with so many random members; numbers for all."""

    def read(text: str, parts: int) -> tuple[str, list[float]]:
        name, _, rest = text.partition("=")
        try:
            numbers = [float(word) for word in rest.split(":")]
        except ValueError:
            numbers = []
        if len(numbers) != parts or not np.isfinite(numbers).all():
            form = ("NAME=VALUE", "NAME=LOW:HIGH", "NAME=LOW:HIGH:NUMBER")[parts - 1]
            raise Problem(f"{text!r}: {form} is wanted")
        return name.strip(), numbers

    values: dict[str, Any] = {}
    grids = [read(text, 3) for text in given.vary]
    axes = []
    for name, (low, high, number) in grids:
        if number < 1 or number != int(number):
            raise Problem(f"{name}: a grid has a whole number of points, got {number:g}")
        axes.append(np.linspace(low, high, int(number)))
    points = np.meshgrid(*axes, indexing="ij") if axes else []
    number = int(np.prod([len(axis) for axis in axes])) if axes else 1
    each = given.members if given.random else 1
    if given.random and (each is None or each < 1):
        raise Problem("--random needs --members, at least 1")
    for (name, _), array in zip(grids, points, strict=True):
        values[name] = np.repeat(array.ravel(), each)
    chance = np.random.default_rng(given.seed)
    for text in given.random:
        name, (low, high) = read(text, 2)
        values[name] = chance.uniform(low, high, number * each)
    for text in given.set:
        name, (value,) = read(text, 1)
        values[name] = value
    return values


if __name__ == "__main__":
    sys.exit(main())
