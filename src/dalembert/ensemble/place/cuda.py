"""Members on the GPUs of this machine, one in each of their threads; what these cannot take, on its processor.

Chunks are large, so that they fill a GPU. Threads of this process find the starts of a chunk, hand those members that
have nothing special about them to a GPU that is free, and put together what came of them. A member that a GPU does not
bring to its end begins anew on the processor, which does what `on="threads"` does, and says why where it fails.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.ask.wanted import OF_EVENTS, Reduction
from dalembert.ensemble.members import chunk_size as of_the_processor
from dalembert.ensemble.members.chunk import Chunk, compute, compute_block, start_members
from dalembert.ensemble.members.control import Cancelled, Control
from dalembert.ensemble.members.outcome import Outcome, Status
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.place import threads
from dalembert.ensemble.place.cuda_plan import OBSERVED, Plan, is_granted, pace_of, plan_of, program_of, wish_of
from dalembert.ensemble.place.executors import ON_CPU, has_run
from dalembert.ensemble.start.block import Block
from dalembert.errors import DalembertError
from dalembert.kernel.cuda import run as runner

# Members of a chunk: enough to fill a GPU twice, as few as keep memory small; and numbers that one may leave behind.
MOST, ROOM = 131_072, 16_000_000
# At least so many chunks, where there are members enough to fill a GPU with each.
CHUNKS, FILLS = 8, 32_768
# Threads run in groups of so many, each as long as the slowest of them. Where that is so many times what they take by
# themselves, members are put in the order of their steps by a first run with loose tolerance (benchmarks/gpu).
GROUP, DEAR = 32, 1.5
# Starts are found, and members run on the processor, so many at a time.
AT_A_TIME = 2048


def require() -> None:
    """`NoGpu` where there is no CuPy or no GPU."""
    runner._cupy()


class OnGpus:
    """See `Executor`. Its chunks have a size of their own."""

    def chunk_size(self, task: Task, run: Callable[[Callable[[], Chunk]], Chunk]) -> int:
        """As members/chunk_size.py."""
        plan = plan_of(task)
        if plan.source is None:
            return of_the_processor.chunk_size(task, run)
        numbers = 4 * task.n + task.settings.times.size * (2 * task.n * task.wanted.states + len(plan.kept))
        shared = max(-(-task.values.count // CHUNKS), FILLS)
        return max(1, min(MOST, shared, ROOM // numbers))

    def __call__(
        self,
        task: Task,
        ranges: Sequence[tuple[int, int]],
        control: Control,
        finish: Callable[[Chunk], None],
        wait: Callable[[], None],
        workers: int | None,
    ) -> None:
        """workers: threads that prepare and finish chunks."""
        plan = plan_of(task)
        by = _on_the_processor if plan.source is None else Gpus(task, plan).compute
        threads.execute(task, ranges, control, finish, wait, workers, by)


execute = OnGpus()


def _on_the_processor(task: Task, first: int, last: int, control: Control) -> Chunk:
    found = compute(task, first, last, control)
    return Chunk(first, found.arrays | {ON_CPU: has_run(found.arrays)}, found.reasons)


class Gpus:
    """All GPUs of the machine, with the source of a sweep. One thread at a time uses each."""

    def __init__(self, task: Task, plan: Plan) -> None:
        assert plan.source is not None
        cupy, first = runner._cupy(), task.blocks.between(0, 1)
        program = program_of(task, plan.source)
        self.plan, self.wish = plan, wish_of(task, plan, program, float(first.t[0]))
        self.pace = pace_of(task, first)
        self._free: queue.SimpleQueue[tuple[runner.Worker, int]] = queue.SimpleQueue()
        for device in range(cupy.cuda.runtime.getDeviceCount()):
            worker = self._try(device, partial(runner.Worker, cupy, program, self.wish, device))
            worker.pace = self.pace
            self._free.put((worker, max(1, worker.most_members(1))))
        self._inputs = program.inputs

    def compute(self, task: Task, first: int, last: int, control: Control) -> Chunk:
        """As `compute` of members/chunk.py."""
        block = task.blocks.between(first, last)
        block, plain = _plain_members(task, block)
        left = np.flatnonzero(~plain)
        found: list[tuple[np.ndarray, dict[str, Array]]] = []
        reasons: dict[int, str] = {}
        at = np.flatnonzero(plain)
        if at.size:
            for part in self._run(block.at(at), control):
                own = at[part.start : part.start + len(part.status)]
                spent = (part.status == runner.BUDGET) & (part.steps >= self.wish.most_steps)
                spent &= is_granted(task.budget.steps)
                mine = np.isin(part.status, (runner.DONE, runner.EVENT)) | spent
                left = np.concatenate([left, own[~mine]])
                places = np.flatnonzero(mine)
                found.append((own[mine], self._arrays(task, part, places, block.p[own[mine]])))
                for k in np.flatnonzero(spent).tolist():
                    reasons[int(own[k])] = f"t = {part.time[k]:.6g}: its budget was spent, after {part.steps[k]} steps"
        left.sort()
        for begin in range(0, left.size, AT_A_TIME):
            own = left[begin : begin + AT_A_TIME]
            arrays, why = compute_block(task, block.at(own), control)
            found.append((own, arrays | {ON_CPU: has_run(arrays)}))
            reasons |= {int(own[k]): text for k, text in why.items()}
        return Chunk(first, _arrays_of_all(last - first, found), {first + k: reasons[k] for k in sorted(reasons)})

    def _run(self, block: Block, control: Control) -> list[runner.Part]:
        """The members by a GPU that is free, as many at once as fit into its memory."""
        columns = np.concatenate([block.q, block.v, block.p], axis=1).T
        values = {name: x if np.ptp(x) else float(x[0]) for name, x in zip(self._inputs, columns, strict=True)}
        worker, most = self._free.get()
        parts = []
        try:
            for begin in range(0, block.count, most):
                if control.cancelled:
                    raise Cancelled
                end = min(begin + most, block.count)
                some = {name: x[begin:end] if isinstance(x, np.ndarray) else x for name, x in values.items()}
                parts.append(self._try(worker.device, partial(worker.run, some, begin, end - begin)))
                if slowdown(parts[-1].steps) > DEAR:  # of the next ones: a member's numbers do not depend on it
                    worker.wish = replace(worker.wish, sort=True)
        finally:
            self._free.put((worker, most))
        return parts

    def _try(self, device: int, do: Callable[[], Any]) -> Any:
        """What goes wrong on a GPU is said in one message: CuPy has a class of errors for each library."""
        try:
            return do()
        except DalembertError:
            raise
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            raise DalembertError(
                f"GPU {device} could not run the members: {text}. Is its memory free? on='threads' runs the same"
            ) from error

    def _arrays(self, task: Task, part: runner.Part, at: np.ndarray, p: Array) -> dict[str, Array]:
        """What is kept of the members at these places of a part, by the names of an ensemble's variables."""
        n, final = task.n, part.final[at].astype(float)
        status: Any = np.select(
            [part.status[at] == runner.DONE, part.status[at] == runner.EVENT],
            [Status.DONE, Status.ENDED],
            Status.BUDGET,
        ).astype(np.int8)
        good = status <= Status.ENDED
        steps = part.steps[at].astype(np.int64)
        found: dict[str, Array] = {"status": status, "steps": steps, "alone": np.zeros(at.size, dtype=bool)}
        found["in lanes"] = found["alone"]
        found |= {ON_CPU: np.zeros(at.size, dtype=bool), "final.t": part.time[at].astype(float)}
        names = [*(q.name for q in task.system.coordinates), *(v.name for v in task.system.velocities)]
        found |= {f"final.{name}": final[:, k] for k, name in enumerate(names)}
        if task.events:
            assert part.ended_by is not None
            assert part.event_count is not None
            assert part.event_time is not None
            found["ended by"] = part.ended_by[at].astype(np.int16)
            for e, name in enumerate(task.events):
                found[f"{name}: count"] = np.where(good, part.event_count[at, e], np.nan)
                found[f"{name}: time"] = part.event_time[at, e].astype(float)
        place = {name: k for k, name in enumerate(self.wish.observe)}
        if part.samples is not None:
            kept = {f"samples.{name}": name for name in names} if task.wanted.states else {}
            kept |= {name: OBSERVED + name for name in self.plan.kept}
            for name, own in kept.items():
                found[name] = np.where(good[:, None], part.samples[at, :, place[own]].astype(float), np.nan)
        ends: Array | None = None
        for reduction in task.wanted.reductions:
            if reduction.kind == "final":
                assert task.observables is not None
                if ends is None:
                    ends = task.observables.at(final[:, :n], final[:, n:], found["final.t"], p)
                values = ends[:, task.observables.names.index(reduction.of)]
            else:
                values = _reduced(task, reduction, part, at, place)
            found[reduction.name] = np.where(good, values, np.nan)
        return found


def slowdown(steps: np.ndarray) -> float:
    """How much longer groups of threads take than their members, which take so many steps, would by themselves."""
    whole = steps[: steps.size // GROUP * GROUP].reshape(-1, GROUP)
    return float(whole.max(axis=1).sum() * GROUP / max(whole.sum(), 1)) if whole.size else 1.0


def _reduced(task: Task, reduction: Reduction, part: runner.Part, at: np.ndarray, place: dict[str, int]) -> Array:
    """One number for each of the members at these places."""
    if reduction.kind in OF_EVENTS:
        columns = {"time": part.event_time, "last": part.event_last, "count": part.event_count}
        column = columns[reduction.kind]
        assert column is not None
        return np.asarray(column[at, task.events.index(reduction.of)], dtype=float)
    assert part.reduced is not None
    own = {kind: values[at, place[OBSERVED + reduction.of]].astype(float) for kind, values in part.reduced.items()}
    return np.asarray(own["max"] - own["min"] if reduction.kind == "range" else own[reduction.kind])


def _plain_members(task: Task, block: Block) -> tuple[Block, np.ndarray]:
    """The block with starts repaired where that is wished, and which members a GPU takes: their starts need no closer
    look, and all their constraints are independent.
    """
    parts, plain = [], []
    for begin in range(0, block.count, AT_A_TIME):
        some = block.at(np.arange(begin, min(begin + AT_A_TIME, block.count)))
        outcome = Outcome(some.count, 2, 2 * task.n + 3, len(task.events), False)
        some, starts, _ = start_members(task, some, outcome)
        parts.append(some)
        plain.append(starts.fit_one_kernel)
    whole = Block(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("q", "v", "t", "p")))
    return whole, np.concatenate(plain)


def _arrays_of_all(count: int, found: Sequence[tuple[np.ndarray, dict[str, Array]]]) -> dict[str, Array]:
    """One array for all members of each that some of them have."""
    whole: dict[str, Array] = {}
    for places, arrays in found:
        for name, values in arrays.items():
            if name not in whole:
                whole[name] = np.empty((count, *values.shape[1:]), dtype=values.dtype)
            whole[name][places] = values
    return whole
